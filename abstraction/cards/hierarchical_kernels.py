# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Public clusters: Brown, Ganzfried and Sandholm (AAMAS 2015), algorithms 2 and 3. M public states, K clusters."""

import numpy as np

from foldwise.game.compiled import kernel


@kernel
def distance_block(transitions, num_private, first, last, out):  # [M, B], V, -, -, [M, M]
    """Algorithm 2: how many private states two public states do not send to the same base buckets."""
    num_buckets = transitions.shape[1]
    for i in range(first, last):
        out[i, i] = 0
        for j in range(i):
            same = np.int32(0)
            for b in range(num_buckets):
                same += min(transitions[i, b], transitions[j, b])
            out[i, j] = num_private - same
            out[j, i] = out[i, j]


@kernel
def cluster_sums(distances, labels, sums):  # [M, M], [M], [M, K] overwritten
    """Sum of distances from each state to each cluster's states."""
    sums[:] = 0
    for i in range(labels.size):
        for j in range(labels.size):
            sums[i, labels[j]] += distances[i, j]


@kernel
def reassign_in_place(distances, labels, sums, sizes, by_mean):  # [M, M], [M], [M, K], [K]; the last three change
    """One pass of algorithm 3 with the sums kept up to date after every move; returns how many states moved.

    A state that is alone in its cluster stays. `by_mean` compares mean distances (the paper's footnote 4).
    """
    moved = 0
    for i in range(labels.size):
        own = labels[i]
        if sizes[own] == 1:
            continue
        best, best_value = own, np.float64(sums[i, own])
        if by_mean:
            best_value /= sizes[own] - 1  # the state's distance to itself is zero and does not count
        for k in range(sizes.size):
            value = np.float64(sums[i, k])
            if by_mean:
                value /= sizes[k] - (k == own)
            if value < best_value:
                best, best_value = k, value
        if best != own:
            labels[i] = best
            sizes[own] -= 1
            sizes[best] += 1
            for j in range(labels.size):
                sums[j, own] -= distances[i, j]
                sums[j, best] += distances[i, j]
            moved += 1
    return moved


@kernel
def reassign_at_once(sums, labels, out):  # [M, K], [M], [M]
    """One pass of algorithm 3 as printed: every state by the clusters of the pass before; how many changed."""
    moved = 0
    for i in range(labels.size):
        out[i] = np.argmin(sums[i])
        if out[i] != labels[i]:
            moved += 1
    return moved
