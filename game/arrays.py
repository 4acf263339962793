"""Names of the array types that every room uses."""

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
Single = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
