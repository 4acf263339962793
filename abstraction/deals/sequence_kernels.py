# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Counting kernels of the joint distribution of both players' bucket sequences.

S: sequences, numbered as the buckets of the river within nested buckets. One board of five cards is ranked once and
counted in all 20 orders it can be dealt in (ten flops, either remaining card on the turn). Within one order the 1,081
hands fall into L sequences, few beside S: pairs are counted in a matrix [L, L] that stays in the cache, and then added
to the accumulator [S, S] at the weight of the board.
"""

from typing import NamedTuple

import numpy as np

from foldwise.abstraction.cards.hand_strength_kernels import (
    NUM_PAIRS,
    clashes,
    combination_number,
    sort_pairs,
    sweep_strengths,
)
from foldwise.game.compiled import kernel
from foldwise.game.hands.evaluator_kernels import rank_pairs_into
from foldwise.game.hands.hand_index_kernels import index_cards
from foldwise.game.primitives.prefetch_kernels import prefetch

NUM_LIVE = 1081  # hands that five board cards leave
HANDS_WITH_CARD = 46


class SequenceTables(NamedTuple):
    """Nested buckets of all hands by representative board, as the counting reads them."""

    flop_buckets: np.ndarray  # int32[1755, 1326]
    turn_cells: np.ndarray  # uint16[16432, 1326]
    turn_buckets: np.ndarray  # int32[flop buckets, cells]
    river_buckets: np.ndarray  # int32[turn buckets, strengths]


class Sorted(NamedTuple):
    """Scratch of one board: its live hands by rising rank. H = NUM_LIVE."""

    ranks: np.ndarray  # uint16[1326]
    order: np.ndarray  # int64[1326]: pairs by rising rank
    rank_counts: np.ndarray  # int64[NUM_RANKS + 1], zero between calls
    strength: np.ndarray  # uint16[1326], by pair
    tied_from: np.ndarray  # int32[H]: first place of the same rank
    with_card: np.ndarray  # int32[52, 46]: places of the hands that hold a card
    num_with: np.ndarray  # int32[52]
    flop_bucket: np.ndarray  # int32[10, H]
    turn_cell: np.ndarray  # int32[5, H]: by the card that is not on the turn yet


class Local(NamedTuple):
    """Scratch of one order of dealing."""

    number: np.ndarray  # int32[S]: local number of a sequence, zero between calls
    sequence: np.ndarray  # int32[H]: sequence of a local number
    of_hand: np.ndarray  # int32[H]
    tied: np.ndarray  # int32[H], by local number: hands of one rank, zero between calls
    below: np.ndarray  # int32[H]: hands of strictly lower rank
    wins: np.ndarray  # int32[H * H], of which L * L are used: disjoint hand pairs, the first beats the second
    ties: np.ndarray  # int32[H * H]


@kernel
def turn_cells_block(index, turns, pair_cards, table, first, last, out):
    """Cell of every pair on each representative turn board, 0 where cards clash."""
    cards = np.empty(6, np.int64)
    for row in range(first, last):
        for i in range(4):
            cards[2 + i] = turns.cards[row, i]
        for pair in range(NUM_PAIRS):
            cards[0], cards[1] = pair_cards[pair, 0], pair_cards[pair, 1]
            if clashes(turns.cards[row], cards[0], cards[1]):
                out[row, pair] = 0
            else:
                out[row, pair] = table[index_cards(index, cards)]


@kernel
def sort_board(evaluator, board, pair_cards, scratch):
    """Rank and sort the hands of one board, and list by card the places of those that hold it."""
    rank_pairs_into(evaluator, board, 5, scratch.ranks)
    total = sort_pairs(scratch.ranks, scratch.rank_counts, scratch.order)
    sweep_strengths(scratch.ranks, scratch.order, total, pair_cards, scratch.strength)
    scratch.num_with[:] = 0
    first = 0
    for k in range(total):
        pair = scratch.order[k]
        if scratch.ranks[pair] != scratch.ranks[scratch.order[first]]:
            first = k
        scratch.tied_from[k] = first
        for i in range(2):
            card = pair_cards[pair, i]
            scratch.with_card[card, scratch.num_with[card]] = k
            scratch.num_with[card] += 1


@kernel
def look_up_board(tables, flops, turns, board, scratch):
    """Flop buckets on the ten flops of a board and turn cells on its five turns, by place in rank order."""
    cards = np.empty(4, np.int64)
    flop_number = 0
    for i in range(5):
        for j in range(i):  # the two cards that are not on the flop
            taken = 0
            for k in range(5):
                if k != i and k != j:
                    cards[taken] = board[k]
                    taken += 1
            place = flops.places[combination_number(flops.choose, cards[:3], -1)]
            source = tables.flop_buckets[place >> 5]
            pairs = flops.pairs[place & 31]
            for k in range(NUM_LIVE):
                scratch.flop_bucket[flop_number, k] = source[pairs[scratch.order[k]]]
            flop_number += 1
    for i in range(5):
        taken = 0
        for k in range(5):
            if k != i:
                cards[taken] = board[k]
                taken += 1
        place = turns.places[combination_number(turns.choose, cards, -1)]
        cells = tables.turn_cells[place >> 5]
        pairs = turns.pairs[place & 31]
        for k in range(NUM_LIVE):
            scratch.turn_cell[i, k] = cells[pairs[scratch.order[k]]]


@kernel
def number_sequences(tables, scratch, flop_number, river, local):
    """Give the sequences of one order of dealing local numbers, rising with them; returns how many there are."""
    number = local.number
    for k in range(NUM_LIVE):
        turn = tables.turn_buckets[scratch.flop_bucket[flop_number, k], scratch.turn_cell[river, k]]
        sequence = tables.river_buckets[turn, scratch.strength[scratch.order[k]]]
        local.of_hand[k] = sequence
        number[sequence] = 1
    num_local = 0
    for sequence in range(number.size):
        if number[sequence] > 0:
            number[sequence] = num_local
            local.sequence[num_local] = sequence
            num_local += 1
    for k in range(NUM_LIVE):
        local.of_hand[k] = number[local.of_hand[k]]
    for a in range(num_local):
        number[local.sequence[a]] = 0
    return num_local


@kernel
def count_pairs(scratch, num_local, local):
    """Ordered pairs of disjoint hands by local numbers: `wins` where the first beats the second, `ties` both ways.

    A sweep over rising ranks counts all pairs: hands of one sequence and rank at once, against the counts of everything
    below. Pairs that share a card, 90 of a hand's 1,080, are then subtracted card by card.
    """
    # Close together, so that they stay in the cache.
    wins = local.wins[: num_local * num_local].reshape(num_local, num_local)
    ties = local.ties[: num_local * num_local].reshape(num_local, num_local)
    wins[:] = 0
    ties[:] = 0
    count = local.tied
    below = local.below[:num_local]
    below[:] = 0
    first = 0
    distinct = np.empty(NUM_LIVE, np.int64)
    while first < NUM_LIVE:
        last = first
        num_distinct = 0
        while last < NUM_LIVE and scratch.tied_from[last] == first:
            number = local.of_hand[last]
            if count[number] == 0:
                distinct[num_distinct] = number
                num_distinct += 1
            count[number] += 1
            ties[number, number] -= 1  # the hand with itself
            last += 1
        for i in range(num_distinct):
            a = distinct[i]
            same = count[a]
            row = wins[a]
            for b in range(num_local):
                row[b] += same * below[b]
            tied_row = ties[a]
            for j in range(num_distinct):
                tied_row[distinct[j]] += same * count[distinct[j]]
        for i in range(num_distinct):
            below[distinct[i]] += count[distinct[i]]
            count[distinct[i]] = 0
        first = last
    for card in range(52):
        if scratch.num_with[card] > 0:
            _take_off_card(scratch, card, local.of_hand, count, wins, ties)


@kernel
def _take_off_card(scratch, card, of_hand, place_of, wins, ties):  # place_of int32[H], zero between calls
    """Subtract the pairs of hands that share a card: those of one sequence and rank, a *cell*, at once."""
    cell_number = np.empty(HANDS_WITH_CARD, np.uint32)  # unsigned: an index that needs no test for its sign
    cell_count = np.empty(HANDS_WITH_CARD, np.int32)
    places = scratch.with_card[card]
    num_with = scratch.num_with[card]
    num_cells = 0
    i = 0
    while i < num_with:
        first_tied = num_cells
        tied_from = scratch.tied_from[places[i]]
        while i < num_with and scratch.tied_from[places[i]] == tied_from:
            number = of_hand[places[i]]
            if place_of[number] == 0:
                cell_number[num_cells] = number
                cell_count[num_cells] = 0
                num_cells += 1
                place_of[number] = num_cells
            cell_count[place_of[number] - 1] += 1
            i += 1
        for cell in range(first_tied, num_cells):
            number, same = cell_number[cell], cell_count[cell]
            place_of[number] = 0
            row = wins[number]
            for other in range(first_tied):
                row[cell_number[other]] -= same * cell_count[other]
            tied_row = ties[number]
            for other in range(first_tied, num_cells):
                tied_row[cell_number[other]] -= same * cell_count[other]
            tied_row[number] += same  # a hand and itself are not a pair


@kernel
def add_pairs(local, num_local, weight, out):
    """Add the pairs of one order of dealing to the accumulator.

    With 10,000 sequences that has 800 MB, and every pair is a cache line of its own: the next row's are asked for early.
    """
    wins = local.wins[: num_local * num_local].reshape(num_local, num_local)
    ties = local.ties[: num_local * num_local].reshape(num_local, num_local)
    sequence = local.sequence[:num_local]
    for a in range(num_local):
        target, following = out[sequence[a]], out[sequence[min(a + 1, num_local - 1)]]
        for b in range(a):
            prefetch(following, sequence[b])
            target[sequence[b]] += weight * (wins[a, b] - wins[b, a])
        for b in range(a, num_local):
            prefetch(following, sequence[b])
            target[sequence[b]] += weight * (wins[a, b] + wins[b, a] + ties[a, b])


@kernel
def count_boards(evaluator, tables, flops, turns, rivers, pair_cards, rows, first, last, scratch, local, out):
    """Add the boards rows[first..last] to `out` float64[S, S]: from the diagonal on the pairs, below it the balance.

    out[s, t] is, for t >= s, the number of deals in which the players have sequences s and t; for t < s, in how many
    of them s wins less in how many it loses. Deals are whole numbers far below 2^53: float64 counts them exactly.
    """
    for at in range(first, last):
        row = rows[at]
        board = rivers.cards[row]
        weight = np.float64(rivers.orbits[row])
        sort_board(evaluator, board, pair_cards, scratch)
        look_up_board(tables, flops, turns, board, scratch)
        flop_number = 0
        for i in range(5):
            for j in range(i):
                for river in (i, j):
                    num_local = number_sequences(tables, scratch, flop_number, river, local)
                    count_pairs(scratch, num_local, local)
                    add_pairs(local, num_local, weight, out)
                flop_number += 1
