# mypy: allow-untyped-defs, allow-untyped-calls
"""A mostly zero matrix times a full one: the cost of a street's ends once most actions are no longer played.

Regret matching never plays an action without positive regret, so after some iterations nine tenths of the reaches at the
ends of a big game are exactly zero. The others are listed, and only their rows of the full matrix are added up. That
matrix is taken in tiles of DEPTH rows and WIDTH columns (256 KB in single precision), which stay in the second cache of
a core while all sums pass.
"""

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.solver.full_width.row_sum_kernels import WIDTH, add_rows

DEPTH = 512


@kernel
def count_entries(first, last, rows, picked, counts):
    """What is not zero in the rows picked `first` to `last`, by stretches of DEPTH; counts: [picked, stretches]."""
    for k in range(first, last):
        row = rows[picked[k]]
        for stretch in range(counts.shape[1]):
            count = 0
            for j in range(stretch * DEPTH, min((stretch + 1) * DEPTH, row.size)):
                count += row[j] != 0
            counts[k, stretch] = count


@kernel
def list_entries(first, last, rows, picked, starts, places, weights):
    """Where the entries stand in their stretch, and what they are; starts: [picked * stretches + 1]."""
    num_stretches = (rows.shape[1] + DEPTH - 1) // DEPTH
    for k in range(first, last):
        row = rows[picked[k]]
        to = starts[k * num_stretches]
        for j in range(row.size):
            if row[j] != 0:
                places[to] = j % DEPTH
                weights[to] = row[j]
                to += 1


@kernel
def multiply_entries(first, last, starts, places, weights, matrix, targets, out):
    """Columns `first` to `last` of out[targets] = (the rows listed) times matrix."""
    depth = matrix.shape[0]
    num_stretches = (depth + DEPTH - 1) // DEPTH
    tile = np.zeros((DEPTH, WIDTH), matrix.dtype)
    sums = np.empty((targets.size, WIDTH), matrix.dtype)  # side by side: rows of `out` are pages apart
    for left in range(first, last, WIDTH):
        right = min(left + WIDTH, last)
        sums[:] = 0
        for stretch in range(num_stretches):
            top = stretch * DEPTH
            bottom = min(top + DEPTH, depth)
            tile[: bottom - top, : right - left] = matrix[top:bottom, left:right]
            for k in range(targets.size):
                at = k * num_stretches + stretch
                add_rows(sums[k], tile, places, weights, starts[at], starts[at + 1])
        for k in range(targets.size):
            out[targets[k], left:right] = sums[k, : right - left]
