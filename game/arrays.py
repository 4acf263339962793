"""Names of the array types that every room uses, and arrays that begin on a cache line."""

import math

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
Single = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]

_LINE_BYTES = 64


def aligned_zeros(*shape: int) -> Single:
    """Zeros in single precision from the start of a cache line on: a vector loaded across two lines costs twice."""
    size = math.prod(shape)
    numbers = np.zeros(size + _LINE_BYTES // 4, dtype=np.float32)
    first = -numbers.ctypes.data % _LINE_BYTES // 4
    return numbers[first : first + size].reshape(shape)
