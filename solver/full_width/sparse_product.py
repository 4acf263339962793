"""Products with reach matrices that are mostly zero once most actions are no longer played."""

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

import numpy as np
import numpy.typing as npt

from foldwise.solver.full_width.sparse_kernels import DEPTH, count_entries, list_entries, multiply_entries
from foldwise.solver.side_by_side import side_by_side

Floats = npt.NDArray[np.floating[Any]]

# Up to this share of non-zero entries in a row, adding up the selected rows of the matrix is faster than BLAS
# (benchmarks/sparse_product.py).
_MOST_ENTRIES_SHARE = 0.33


def multiply(
    reach: Floats, rows: npt.NDArray[np.intp], matrix: Floats, out: Floats, pool: Executor | None, threads: int
) -> None:
    """out = reach[rows] @ matrix: sparse rows by their non-zero entries, the others by BLAS."""

    def share_out(total: int, kernel: Callable[..., Any], *arguments: Any) -> None:
        """Call `kernel` on 0 to `total`, an equal share for every thread."""
        if pool is None:
            kernel(0, total, *arguments)
            return
        edges = [(total * share // threads, total * (share + 1) // threads) for share in range(threads)]
        side_by_side(pool, lambda edge: kernel(*edge, *arguments), edges)

    counts = np.empty((len(rows), -(-reach.shape[1] // DEPTH)), dtype=np.int32)
    share_out(len(rows), count_entries, reach, rows, counts)
    is_full = counts.sum(axis=1) > _MOST_ENTRIES_SHARE * reach.shape[1]
    full, sparse = np.flatnonzero(is_full), np.flatnonzero(~is_full)
    if len(full) == len(rows) > 0:  # of no rows, the kernels compile
        np.matmul(reach[rows], matrix, out=out)
        return
    if len(full) > 0:
        out[full] = reach[rows[full]] @ matrix
    picked = rows[sparse]
    starts = np.zeros(len(sparse) * counts.shape[1] + 1, dtype=np.int64)
    np.cumsum(counts[sparse].ravel(), out=starts[1:])
    places, weights = np.empty(starts[-1], dtype=np.uint16), np.empty(starts[-1], dtype=reach.dtype)
    share_out(len(sparse), list_entries, reach, picked, starts, places, weights)
    share_out(out.shape[1], multiply_entries, starts, places, weights, matrix, sparse, out)
