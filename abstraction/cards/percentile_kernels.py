# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Kernels that walk all deals in the order of play, flop row by flop row, for buckets within buckets.

`parents` [1755, 1326]: bucket or cluster a pair is in on each suit-distinct flop, -1 where cards clash.
"""

import numpy as np

from foldwise.abstraction.cards.card_abstraction_kernels import street_bucket
from foldwise.abstraction.cards.hand_strength_kernels import (
    NUM_PAIRS,
    board_with,
    clashes,
    classes_on_board,
    holds,
)
from foldwise.game.compiled import kernel

ORBIT_BITS = 5  # a flop's class has at most 24 flops


@kernel
def flop_classes(index, flops, pair_cards, out):  # HandIndexTables, Boards, [1326, 2], [1755, 1326]
    """Class of every pair on each flop, -1 where cards clash."""
    for row in range(out.shape[0]):
        classes_on_board(index, flops.cards[row], pair_cards, out[row])


@kernel
def count_turns(parents, counts):  # [1755, 1326], [1755, P]
    """How many (pair, turn card) each flop row has in each parent."""
    for row in range(parents.shape[0]):
        for pair in range(NUM_PAIRS):
            if parents[row, pair] >= 0:
                counts[row, parents[row, pair]] += 47


@kernel
def turn_keys_block(flops, turns, pair_cards, values, parents, starts, first, last, keys):
    """Write value << ORBIT_BITS | orbit of every (flop row, pair, turn card) into the segment of its parent."""
    for row in range(first, last):
        next_place = starts[row].copy()
        orbit = np.uint64(flops.orbits[row])
        for card in range(52):
            if holds(flops.cards[row], card):
                continue
            turn, pairs = board_with(turns, flops.cards[row], card)
            for pair in range(NUM_PAIRS):
                parent = parents[row, pair]
                if parent >= 0 and pair_cards[pair, 0] != card and pair_cards[pair, 1] != card:
                    keys[next_place[parent]] = np.uint64(values[turn, pairs[pair]]) << np.uint64(ORBIT_BITS) | orbit
                    next_place[parent] += 1


@kernel
def river_counts_block(
    flops, turns, rivers, pair_cards, strengths, tables, flop_parents, by_turn_bucket, first, last, counts
):  # counts [P, 1981]: one copy for each block
    """Count strengths on the river by parent: the turn's bucket, or else what `flop_parents` says."""
    cards = np.empty(6, np.int64)
    live = np.empty(NUM_PAIRS, np.int64)
    live_parent = np.empty(NUM_PAIRS, np.int64)
    board = np.empty(4, np.int64)
    for row in range(first, last):
        orbit = flops.orbits[row]
        for i in range(3):
            cards[2 + i] = flops.cards[row, i]
            board[i] = flops.cards[row, i]
        for turn in range(52):
            if holds(flops.cards[row], turn):
                continue
            cards[5] = turn
            board[3] = turn
            num_live = 0
            for pair in range(NUM_PAIRS):
                parent = flop_parents[row, pair]
                if parent < 0 or pair_cards[pair, 0] == turn or pair_cards[pair, 1] == turn:
                    continue
                if by_turn_bucket:
                    cards[0], cards[1] = pair_cards[pair, 0], pair_cards[pair, 1]
                    parent = street_bucket(tables, 2, parent, cards)
                live[num_live] = pair
                live_parent[num_live] = parent
                num_live += 1
            for river in range(52):
                if holds(board, river):
                    continue
                row_of_river, pairs = board_with(rivers, board, river)
                for i in range(num_live):
                    pair = live[i]
                    if pair_cards[pair, 0] != river and pair_cards[pair, 1] != river:
                        counts[live_parent[i], strengths[row_of_river, pairs[pair]]] += orbit


@kernel
def river_counts_alone_block(rivers, pair_cards, strengths, first, last, counts):  # counts [1, 1981]
    """Count strengths over all river boards, whatever came before."""
    for row in range(first, last):
        for pair in range(NUM_PAIRS):
            if not clashes(rivers.cards[row], pair_cards[pair, 0], pair_cards[pair, 1]):
                counts[0, strengths[row, pair]] += rivers.orbits[row]
