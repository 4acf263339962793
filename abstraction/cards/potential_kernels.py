# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Kernels of potential-aware buckets. A point is the clusters its N next cards lead to, of C; a mean is their shares [C].

spread [C, C]: distances between clusters, order [C, C]: clusters by rising distance from each, itself first.
"""

import numpy as np

from foldwise.abstraction.cards.hand_strength_kernels import NUM_PAIRS, clashes, holds
from foldwise.game.compiled import kernel
from foldwise.game.hands.hand_index_kernels import index_cards

_NOTHING = 1e-9  # of a point's mass: rounding error


@kernel(_nrt=False)
def greedy_distance(cells, i, mean, spread, order, targets, remaining):  # [n, N], -, [C], ..., scratch [N], [C]
    """Approximate earth mover's distance of point i and a mean: every next card takes mass from the nearest clusters left.

    Ganzfried and Sandholm, Potential-aware imperfect-recall abstraction with earth mover's distance (AAAI 2014), their
    fast heuristic. The cards take turns, all from their nearest cluster first, then all from the second. What is moved is
    a transport, so the result is never below the exact distance.
    """
    num_cells = cells.shape[1]
    for c in range(mean.size):
        remaining[c] = mean[c]
    for j in range(num_cells):
        targets[j] = 1.0 / num_cells
    total = 0.0
    for rank in range(mean.size):
        is_done = True
        for j in range(num_cells):
            if targets[j] <= _NOTHING:
                continue
            near = order[cells[i, j], rank]
            amount = min(targets[j], remaining[near])
            if amount > 0.0:
                total += amount * spread[cells[i, j], near]
                targets[j] -= amount
                remaining[near] -= amount
            if targets[j] > _NOTHING:
                is_done = False
        if is_done:
            break
    return total


@kernel(_nrt=False)
def project(cells, i, positions, out):  # [n, N], -, [C, D], [D]
    """Mean position of a point's clusters."""
    for d in range(out.size):
        out[d] = 0.0
    for j in range(cells.shape[1]):
        for d in range(out.size):
            out[d] += positions[cells[i, j], d]
    for d in range(out.size):
        out[d] /= cells.shape[1]


@kernel
def nearest_means_block(
    cells, means, positions, mean_positions, spread, order, first, last, labels, distances
):  # [n, N], [K, C], [C, D], [K, D], -, -, -, -, [n] and [n] overwritten
    """Nearest mean of each point by `greedy_distance`, of equals the lowest; returns how many were measured.

    Where clusters lie at positions and their distance is L1, moving mass moves its mean position no farther than it
    costs: the L1 distance of mean positions bounds the exact distance from below, and the greedy one too. A mean whose
    bound is above the best so far is skipped, which does not change the answer.
    """
    targets = np.empty(cells.shape[1])
    remaining = np.empty(means.shape[1])
    position = np.empty(positions.shape[1])
    bounds = np.empty(len(means))
    num_measured = 0
    for i in range(first, last):
        project(cells, i, positions, position)
        best = 0
        for k in range(len(means)):
            bound = 0.0
            for d in range(position.size):
                bound += abs(position[d] - mean_positions[k, d])
            bounds[k] = bound
            if bound < bounds[best]:
                best = k
        start = best
        best_distance = greedy_distance(cells, i, means[best], spread, order, targets, remaining)
        num_measured += 1
        for k in range(len(means)):
            # Slightly lower, because the bound and the distance are rounded differently.
            if k == start or bounds[k] * (1.0 - 1e-9) > best_distance:
                continue
            distance = greedy_distance(cells, i, means[k], spread, order, targets, remaining)
            num_measured += 1
            if distance < best_distance or (distance == best_distance and k < best):
                best, best_distance = k, distance
        labels[i] = best
        distances[i] = best_distance
    return num_measured


@kernel(_nrt=False)
def add_points(cells, weights, labels, sums, totals):  # [n, N], [n], [n], [K, C] and [K] added to
    """Mass of every mean's points, by cluster and in all."""
    for i in range(len(cells)):
        for j in range(cells.shape[1]):
            sums[labels[i], cells[i, j]] += weights[i]
        totals[labels[i]] += weights[i] * cells.shape[1]


@kernel
def flop_cells_block(flop_index, turn_index, flops, pair_cards, turn_labels, first, last, cells):  # cells [classes, 47]
    """The turn clusters that each flop class's 47 turn cards lead to."""
    cards = np.empty(6, np.int64)
    for row in range(first, last):
        flop = flops.cards[row]
        for c in range(3):
            cards[2 + c] = flop[c]
        for pair in range(NUM_PAIRS):
            cards[0], cards[1] = pair_cards[pair, 0], pair_cards[pair, 1]
            if clashes(flop, cards[0], cards[1]):
                continue
            place = index_cards(flop_index, cards)
            j = 0
            for turn in range(52):
                if turn != cards[0] and turn != cards[1] and not holds(flop, turn):
                    cards[5] = turn
                    cells[place, j] = turn_labels[index_cards(turn_index, cards)]
                    j += 1
