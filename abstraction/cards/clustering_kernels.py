# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""k-means kernels over int16 points, and the features they group: histograms of final strength, and OCHS.

n points, D dimensions, K centres. Distance is L1 (earth mover's distance, when points are cumulative histograms) or L2.
"""

import numpy as np

from foldwise.abstraction.cards.hand_strength_kernels import (
    NUM_PAIRS,
    NUM_RANKS,
    board_with,
    clashes,
    classes_on_board,
    end_of_tie,
    holds,
    sort_pairs,
)
from foldwise.game.compiled import kernel
from foldwise.game.hands.evaluator_kernels import rank_pairs_into

NUM_TURNS = 49  # cards that can come after a flop


@kernel(_nrt=False)
def distance_between(a, b, i, j, euclidean):  # [n, D], [m, D]
    """Distance of a[i] and b[j]."""
    total = np.int32(0)
    if euclidean:
        for d in range(a.shape[1]):
            difference = np.int32(a[i, d]) - np.int32(b[j, d])
            total += difference * difference
        return np.sqrt(np.float64(total))
    for d in range(a.shape[1]):
        total += abs(np.int32(a[i, d]) - np.int32(b[j, d]))
    return np.float64(total)


@kernel(_nrt=False)
def lower_distances_block(points, centres, newest, euclidean, first, last, nearest):  # nearest [n] overwritten
    """Distance to the nearest centre so far, when centre `newest` is added."""
    for i in range(first, last):
        nearest[i] = min(nearest[i], distance_between(points, centres, i, newest, euclidean))


@kernel(_nrt=False)
def nearest_centre(points, i, centres, spread, neighbours, euclidean, start):
    """Nearest centre of points[i] and its distance, searched outwards from centre `start`; ties go to the lowest.

    spread [K, K]: distances between centres, neighbours [K, K]: centres by rising distance from each. A centre is no
    nearer than its distance from `start` less the point's own (triangle inequality), nor is any after it. A nearer
    centre becomes the new start.
    """
    start_distance = distance_between(points, centres, i, start, euclidean)
    best, best_distance = start, start_distance
    n = 1
    while n < centres.shape[0]:
        k = neighbours[start, n]
        if spread[start, k] > start_distance + best_distance:
            break
        distance = distance_between(points, centres, i, k, euclidean)
        if distance < best_distance:
            start = best = k
            start_distance = best_distance = distance
            n = 1
            continue
        if distance == best_distance and k < best:
            best = k
        n += 1
    return best, best_distance


@kernel(_nrt=False)
def assign_block(points, centres, spread, neighbours, euclidean, first, last, labels, distances):
    """Nearest centre of each point, starting from its label so far; returns how many labels changed."""
    changed = 0
    for i in range(first, last):
        best, distances[i] = nearest_centre(points, i, centres, spread, neighbours, euclidean, labels[i])
        if best != labels[i]:
            labels[i] = best
            changed += 1
    return changed


@kernel(_nrt=False)
def sum_block(points, weights, labels, first, last, sums, totals):  # sums [K, D], totals [K]: one copy for each block
    for i in range(first, last):
        weight = np.int64(weights[i])
        totals[labels[i]] += weight
        for d in range(points.shape[1]):
            sums[labels[i], d] += weight * points[i, d]


@kernel
def turn_histograms_block(
    index, turns, rivers, pair_cards, strengths, bin_of, num_bins, unit, first, last, out
):  # HandIndexTables, Boards, Boards, -, [N5, 1326], [1981], -, -, -, -, [classes, D]
    """Cumulative histogram of final strength over 46 rivers by class; a count of one stands as `unit`."""
    counts = np.empty((NUM_PAIRS, num_bins), np.int32)
    for row in range(first, last):
        counts[:] = 0
        for card in range(52):
            if not holds(turns.cards[row], card):
                add_board(rivers, turns.cards[row], card, card, pair_cards, strengths, bin_of, counts)
        write_cumulative(index, turns.cards[row], pair_cards, counts, unit, out)


@kernel
def flop_histograms_block(index, flops, rivers, pair_cards, strengths, bin_of, num_bins, unit, first, last, out):
    """As on the turn, over the 1,081 turn and river pairs."""
    counts = np.empty((NUM_PAIRS, num_bins), np.int32)
    boards = np.empty((NUM_TURNS, 4), np.int64)
    for row in range(first, last):
        counts[:] = 0
        boards_after_flop(flops.cards[row], boards)
        for t in range(NUM_TURNS):
            turn = boards[t, 3]
            for river in range(turn):
                if not holds(flops.cards[row], river):
                    add_board(rivers, boards[t], river, turn, pair_cards, strengths, bin_of, counts)
        write_cumulative(index, flops.cards[row], pair_cards, counts, unit, out)


@kernel
def boards_after_flop(flop, out):  # [3], [NUM_TURNS, 4]
    """The flop with each card that can come on the turn."""
    t = 0
    for turn in range(52):
        if not holds(flop, turn):
            out[t, :3] = flop
            out[t, 3] = turn
            t += 1


@kernel
def add_board(rivers, board, card, other_card, pair_cards, strengths, bin_of, counts):
    """Count the bin of each pair's strength on one river board; pairs that hold one of the new cards are left out."""
    river, pairs = board_with(rivers, board, card)
    for pair in range(NUM_PAIRS):
        a, b = pair_cards[pair, 0], pair_cards[pair, 1]
        if a != card and b != card and a != other_card and b != other_card:
            counts[pair, bin_of[strengths[river, pairs[pair]]]] += 1


@kernel
def write_cumulative(index, board, pair_cards, counts, unit, out):
    classes = np.empty(NUM_PAIRS, np.int64)
    classes_on_board(index, board, pair_cards, classes)
    for pair in range(NUM_PAIRS):
        if classes[pair] >= 0:
            total = 0
            for d in range(out.shape[1]):
                total += counts[pair, d]
                out[classes[pair], d] = total * unit


@kernel
def preflop_histograms(rivers, pair_cards, classes, strengths, bin_of, counts):  # [1326] class, counts [169, bins]
    for row in range(rivers.cards.shape[0]):
        for pair in range(NUM_PAIRS):
            if not clashes(rivers.cards[row], pair_cards[pair, 0], pair_cards[pair, 1]):
                counts[classes[pair], bin_of[strengths[row, pair]]] += rivers.orbits[row]


@kernel
def ochs_row(evaluator, board, pair_cards, groups, ranks, order, counts, below, tied, below_with, tied_with, out):
    """Strength of every pair against each group of opponent hands (OCHS, Johanson et al., AAMAS 2013), out [1326, G].

    groups [1326]: the group of each opponent pair. Scaled to 0..255; 128 where card removal leaves a group empty.
    """
    num_groups = out.shape[1]
    rank_pairs_into(evaluator, board, 5, ranks)
    total = sort_pairs(ranks, counts, order)
    below[:] = 0
    below_with[:] = 0
    # First the size of each group after removal of the board, in all and by card.
    all_total = tied[1]
    all_with = tied_with[1]
    all_total[:] = 0
    all_with[:] = 0
    for i in range(total):
        pair = order[i]
        group = groups[pair]
        all_total[group] += 1
        all_with[pair_cards[pair, 0], group] += 1
        all_with[pair_cards[pair, 1], group] += 1
    now, now_with = tied[0], tied_with[0]
    now[:] = 0
    now_with[:] = 0
    first = 0
    while first < total:
        last = end_of_tie(ranks, order, first, total)
        for i in range(first, last):
            pair = order[i]
            group = groups[pair]
            now[group] += 1
            now_with[pair_cards[pair, 0], group] += 1
            now_with[pair_cards[pair, 1], group] += 1
        for i in range(first, last):
            pair = order[i]
            a, b = pair_cards[pair, 0], pair_cards[pair, 1]
            own = groups[pair]
            for group in range(num_groups):
                self_twice = 1 if group == own else 0
                beaten = below[group] - below_with[a, group] - below_with[b, group]
                ties = now[group] - now_with[a, group] - now_with[b, group] + self_twice
                hands = all_total[group] - all_with[a, group] - all_with[b, group] + self_twice
                out[pair, group] = 128 if hands == 0 else ((2 * beaten + ties) * 255 + hands) // (2 * hands)
        for i in range(first, last):
            pair = order[i]
            group = groups[pair]
            a, b = pair_cards[pair, 0], pair_cards[pair, 1]
            below[group] += 1
            below_with[a, group] += 1
            below_with[b, group] += 1
            now[group] = 0
            now_with[a, group] = 0
            now_with[b, group] = 0
        first = last


@kernel
def ochs_block(evaluator, rivers, rows, pair_cards, groups, num_groups, first, last, out):  # out [rows, 1326, G]
    """`ochs_row` of the boards rows[first] to rows[last]; pairs that clash hold zeros."""
    ranks = np.empty(NUM_PAIRS, np.uint16)
    order = np.empty(NUM_PAIRS, np.int64)
    counts = np.zeros(NUM_RANKS + 1, np.int64)
    below = np.empty(num_groups, np.int64)
    tied = np.empty((2, num_groups), np.int64)
    below_with = np.empty((52, num_groups), np.int64)
    tied_with = np.empty((2, 52, num_groups), np.int64)
    for i in range(first, last):
        out[i] = 0
        ochs_row(
            evaluator,
            rivers.cards[rows[i]],
            pair_cards,
            groups,
            ranks,
            order,
            counts,
            below,
            tied,
            below_with,
            tied_with,
            out[i],
        )


@kernel
def ochs_classes(
    index, rivers, rows, pair_cards, strengths, features
):  # strengths [rows, 1326, G], features [classes, G]
    """Write each class's OCHS vector."""
    classes = np.empty(NUM_PAIRS, np.int64)
    for i in range(rows.size):
        classes_on_board(index, rivers.cards[rows[i]], pair_cards, classes)
        for pair in range(NUM_PAIRS):
            if classes[pair] >= 0:
                for g in range(features.shape[1]):
                    features[classes[pair], g] = strengths[i, pair, g]


@kernel
def label_ochs(index, rivers, rows, pair_cards, strengths, centres, spread, neighbours, table):
    """Write the nearest centre of each class; strengths [rows * 1326, G]. A pair's search starts where it last ended."""
    classes = np.empty(NUM_PAIRS, np.int64)
    starts = np.zeros(NUM_PAIRS, np.int32)
    for i in range(rows.size):
        classes_on_board(index, rivers.cards[rows[i]], pair_cards, classes)
        for pair in range(NUM_PAIRS):
            if classes[pair] >= 0:
                start = starts[pair]
                best, _ = nearest_centre(strengths, i * NUM_PAIRS + pair, centres, spread, neighbours, True, start)
                starts[pair] = best
                table[classes[pair]] = best


@kernel
def mark_turn_classes(
    index, flops, rows, pair_cards, weights
):  # rows: flops of one cluster, weights [classes] added to
    """Weight of every unordered turn class among the deals whose flop is one of `rows`."""
    boards = np.empty((NUM_TURNS, 4), np.int64)
    classes = np.empty(NUM_PAIRS, np.int64)
    for i in range(rows.size):
        boards_after_flop(flops.cards[rows[i]], boards)
        for t in range(NUM_TURNS):
            classes_on_board(index, boards[t], pair_cards, classes)
            for pair in range(NUM_PAIRS):
                if classes[pair] >= 0:
                    weights[classes[pair]] += flops.orbits[rows[i]]


@kernel
def write_turn_buckets(unordered, ordered, flops, rows, pair_cards, bucket_by_class, table):
    """Bucket of every ordered turn class whose flop is one of `rows`, from its unordered class."""
    boards = np.empty((NUM_TURNS, 4), np.int64)
    source, target = np.empty(NUM_PAIRS, np.int64), np.empty(NUM_PAIRS, np.int64)
    for i in range(rows.size):
        boards_after_flop(flops.cards[rows[i]], boards)
        for t in range(NUM_TURNS):
            classes_on_board(unordered, boards[t], pair_cards, source)
            classes_on_board(ordered, boards[t], pair_cards, target)
            for pair in range(NUM_PAIRS):
                if target[pair] >= 0:
                    table[target[pair]] = bucket_by_class[source[pair]]
