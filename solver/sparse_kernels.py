# mypy: allow-untyped-defs, allow-untyped-calls
"""A matrix of mostly zeros times a full one: what the ends of a street cost once players have given up most actions.

Regret matching plays an action with no positive regret never, so after some iterations nine tenths of the reaches at the
ends of a big game are exactly zero. The others are listed, and only their rows of the full matrix are added up. That
matrix is taken in tiles of DEPTH rows and WIDTH columns, which stay in the second cache of a core while all sums pass.
"""

import numpy as np

from game.compiled import kernel

DEPTH = 256
WIDTH = 256


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


@kernel(fastmath={"contract"})
def _add_four(target, row0, row1, row2, row3, weight0, weight1, weight2, weight3):
    for i in range(target.size):
        target[i] += (weight0 * row0[i] + weight1 * row1[i]) + (weight2 * row2[i] + weight3 * row3[i])


@kernel(fastmath={"contract"})
def _add_one(target, row, weight):
    for i in range(target.size):
        target[i] += weight * row[i]


@kernel
def multiply_entries(first, last, starts, places, weights, matrix, out):
    """Columns `first` to `last` of out = (the rows listed) times matrix."""
    depth = matrix.shape[0]
    num_stretches = (depth + DEPTH - 1) // DEPTH
    tile = np.empty((DEPTH, WIDTH), matrix.dtype)
    out[:, first:last] = 0
    for left in range(first, last, WIDTH):
        right = min(left + WIDTH, last)
        for stretch in range(num_stretches):
            top = stretch * DEPTH
            bottom = min(top + DEPTH, depth)
            tile[: bottom - top, : right - left] = matrix[top:bottom, left:right]
            for k in range(out.shape[0]):
                at, end = starts[k * num_stretches + stretch], starts[k * num_stretches + stretch + 1]
                target = out[k][left:right]
                while at + 4 <= end:
                    _add_four(
                        target,
                        tile[places[at]],
                        tile[places[at + 1]],
                        tile[places[at + 2]],
                        tile[places[at + 3]],
                        weights[at],
                        weights[at + 1],
                        weights[at + 2],
                        weights[at + 3],
                    )
                    at += 4
                while at < end:
                    _add_one(target, tile[places[at]], weights[at])
                    at += 1
