# mypy: allow-untyped-defs, allow-untyped-calls
"""A child's share: real flops that its hands leave, deals on them, and the walks from the head's continuations."""

import numpy as np

from foldwise.abstraction.cards.card_abstraction_kernels import buckets_into
from foldwise.game.compiled import kernel
from foldwise.game.hands.evaluator_kernels import rank_of_hand
from foldwise.game.primitives.rng_kernels import next_below
from foldwise.solver.sampling.sampling_kernels import walk_external_from


@kernel
def flop_number(a, b, c):
    """Combination number of three cards: 0 to 22,099."""
    top = max(a, b, c)
    bottom = min(a, b, c)
    middle = a + b + c - top - bottom
    return top * (top - 1) * (top - 2) // 6 + middle * (middle - 1) // 2 + bottom


@kernel
def pair_number(a, b):
    """Combination number of two cards: 0 to 1,325."""
    top = max(a, b)
    return top * (top - 1) // 2 + min(a, b)


@kernel
def count_flops(flops, hands, counts):  # FlopTables, uint8[W, 4], int64[W]
    """F_{n,h}: flops of the piece that hold none of the four hole cards, by inclusion and exclusion."""
    for walk in range(hands.shape[0]):
        count = np.int64(flops.cards.shape[0])
        for i in range(4):
            a = np.int64(hands[walk, i])
            count -= flops.with_card[a]
            for j in range(i):
                b = np.int64(hands[walk, j])
                count += flops.with_pair[pair_number(a, b)]
                for k in range(j):
                    count -= flops.is_own[flop_number(a, b, np.int64(hands[walk, k]))]
        counts[walk] = count


@kernel
def draw_boards(rng, flops, cards, evaluator, num_streets, num_board, cluster_buckets, hands, counts, buckets, rows):
    """One board for every walk: a flop drawn uniformly among those left, turn and river among the cards left.

    cluster_buckets int64[S], buckets of one cluster on each street; hands uint8[W, 4]; counts int64[W], F_{n,h};
    buckets int32[W, 2, S], by the piece's own numbers; rows int32[W], the outcome 0, 1, 2: player 0 loses, ties, wins.
    A walk whose hands leave no flop is not walked, and its entries stay unchanged.
    """
    dealt = np.empty((2, 2 + num_board), dtype=np.int64)
    found = np.empty(num_streets, dtype=np.int64)
    for walk in range(hands.shape[0]):
        if counts[walk] == 0:
            continue
        used = np.int64(0)
        for i in range(4):
            dealt[i // 2, i % 2] = hands[walk, i]
            used |= np.int64(1) << np.int64(hands[walk, i])
        place = next_below(rng, flops.cards.shape[0])
        while flops.masks[place] & used:
            place = next_below(rng, flops.cards.shape[0])
        used |= flops.masks[place]
        for i in range(num_board):
            if i < 3:
                card = np.int64(flops.cards[place, i])
            else:
                card = next_below(rng, 52)
                while used >> card & 1:
                    card = next_below(rng, 52)
                used |= np.int64(1) << card
            dealt[0, 2 + i] = card
            dealt[1, 2 + i] = card
        for player in range(2):
            buckets_into(cards, num_streets, dealt[player], found)
            for street in range(1, num_streets):
                buckets[walk, player, street] = found[street] - flops.shift[place] * cluster_buckets[street]
        first = rank_of_hand(evaluator, dealt[0], 2 + num_board)
        second = rank_of_hand(evaluator, dealt[1], 2 + num_board)
        rows[walk] = 1 + int(first > second) - int(first < second)


@kernel
def run_continuations(
    nodes,
    table,
    deals,
    outcome_rows,
    outcomes,
    weights,
    first,
    reached,
    pruning,
    last_street,
    options,
    frames,
    rng,
    values,
):
    """External sampling from every continuation of a batch, changes times the walk's weight; returns the nodes.

    deals int32[W, 2, S]; outcome_rows int32[W]; weights float64[W], 0 where the hands leave no flop: such a walk is
    passed over and its values are 0; first int32[W + 1] and reached int32[C] as the head's first pass left them;
    values float64[C], to the traverser, filled.
    """
    num_visited = 0
    for walk in range(deals.shape[0]):
        for place in range(first[walk], first[walk + 1]):
            values[place] = 0.0
            if weights[walk] > 0.0:
                values[place], visited = walk_external_from(
                    nodes,
                    table,
                    deals[walk],
                    outcomes[outcome_rows[walk]],
                    np.int64(reached[place]),
                    weights[walk],
                    walk & 1,
                    last_street,
                    pruning[walk],
                    options,
                    frames,
                    rng,
                )
                num_visited += visited
    return num_visited


@kernel
def copy_clusters(from_nodes, to_nodes, cluster_entries, pairs, width, factor, source, target):
    """Copy the rows of clusters from one piece's array to another's, times `factor`.

    cluster_entries int64[N]: entries of one cluster at each node, 0 where the piece has none; pairs int64[P, 2]: the
    place of a cluster in either piece; width: 1 for a policy, 2 for a table of regrets and sums.
    """
    for at in range(from_nodes.shape[0]):
        count = width * cluster_entries[at]
        if count == 0:
            continue
        for p in range(pairs.shape[0]):
            start = width * from_nodes[at].base + pairs[p, 0] * count
            goal = width * to_nodes[at].base + pairs[p, 1] * count
            for i in range(count):
                target[goal + i] = factor * source[start + i]
