# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Hand strength kernels. Strengths are integers: twice the opponent hands beaten plus those tied, of 2 * 990.

N boards of one size, 1,326 pairs in the order of `game.hands.hole_cards`; a pair that clashes with the board holds zero, so
sums over further cards need no test. Work comes in blocks of boards, `first` to `last`, for threads side by side.
"""

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.hands.evaluator_kernels import rank_pairs_into
from foldwise.game.hands.hand_index_kernels import index_cards

NUM_PAIRS = 1326
NUM_RANKS = 7463


@kernel
def combination_number(choose, cards, extra):  # [52, 6], [n] cards, one more card or -1
    """Number of a set of cards among sets of its size: the sum of C(card, place from 1) in ascending order."""
    mask = 0
    for i in range(cards.size):
        mask |= 1 << np.int64(cards[i])
    if extra >= 0:
        mask |= 1 << np.int64(extra)
    number = 0
    place = 0
    for card in range(52):
        if mask >> card & 1:
            place += 1
            number += choose[card, place]
    return number


@kernel
def place_boards(representatives, relabellings, choose, places, orbits):  # [N, size], [24, 4], -, [C(52, size)], [N]
    """Fill `places` of every board with 32 * row + a relabelling that turns the board into its representative."""
    size = representatives.shape[1]
    moved = np.empty(size, np.int64)
    for row in range(representatives.shape[0]):
        for r in range(relabellings.shape[0]):
            # The board whose suit relabellings[r, s] stands where the representative has suit s goes back by r.
            for i in range(size):
                card = np.int64(representatives[row, i])
                for suit in range(4):
                    if relabellings[r, suit] == card & 3:
                        moved[i] = (card & ~3) | suit
            number = combination_number(choose, moved, -1)
            if places[number] < 0:
                places[number] = 32 * row + r
                orbits[row] += 1


@kernel
def sort_pairs(ranks, counts, order):  # [1326], [NUM_RANKS + 1] zeroed scratch, [1326]
    """Numbers of the pairs that do not clash, by rising rank (counting sort); how many there are."""
    lowest, highest = NUM_RANKS, 0
    for pair in range(NUM_PAIRS):
        rank = np.int64(ranks[pair])
        if rank > 0:
            counts[rank] += 1
            lowest = min(lowest, rank)
            highest = max(highest, rank)
    total = 0
    for rank in range(lowest, highest + 1):
        here = counts[rank]
        counts[rank] = total
        total += here
    for pair in range(NUM_PAIRS):
        rank = np.int64(ranks[pair])
        if rank > 0:
            order[counts[rank]] = pair
            counts[rank] += 1
    counts[lowest : highest + 1] = 0
    return total


@kernel(_nrt=False, forceinline=True)
def end_of_tie(ranks, order, first, total):
    """The place behind the sorted pairs that rank as the one at `first` does."""
    last = first + 1
    while last < total and ranks[order[last]] == ranks[order[first]]:
        last += 1
    return last


@kernel
def sweep_strengths(ranks, order, total, pair_cards, out):  # [1326], [1326], -, [1326, 2], [1326]
    """Strength of every pair against a uniform opponent, by one sweep over the sorted pairs.

    Opponent hands that share a card are subtracted by counting, for each card, the hands below that hold it.
    """
    out[:] = 0
    below_with = np.zeros(52, np.int64)
    tied_with = np.zeros(52, np.int64)
    first = 0
    while first < total:
        last = end_of_tie(ranks, order, first, total)
        for i in range(first, last):
            tied_with[pair_cards[order[i], 0]] += 1
            tied_with[pair_cards[order[i], 1]] += 1
        for i in range(first, last):
            pair = order[i]
            a, b = pair_cards[pair, 0], pair_cards[pair, 1]
            beaten = first - below_with[a] - below_with[b]
            tied = last - first - tied_with[a] - tied_with[b] + 1  # the pair itself was subtracted twice
            out[pair] = 2 * beaten + tied
        for i in range(first, last):
            a, b = pair_cards[order[i], 0], pair_cards[order[i], 1]
            below_with[a] += 1
            below_with[b] += 1
            tied_with[a] = 0
            tied_with[b] = 0
        first = last


@kernel
def river_block(evaluator, board_cards, pair_cards, first, last, out):  # -, [N, 5], [1326, 2], -, -, [N, 1326]
    """Strength of every pair on boards `first` to `last`."""
    ranks = np.empty(NUM_PAIRS, np.uint16)
    order = np.empty(NUM_PAIRS, np.int64)
    counts = np.zeros(NUM_RANKS + 1, np.int64)
    for row in range(first, last):
        rank_pairs_into(evaluator, board_cards[row], 5, ranks)
        total = sort_pairs(ranks, counts, order)
        sweep_strengths(ranks, order, total, pair_cards, out[row])


@kernel
def board_with(boards, cards, card):  # Boards of one card more, [n], -
    """The row of a board with one card more, and the numbers its suits give to pairs there."""
    place = boards.places[combination_number(boards.choose, cards, card)]
    return place >> 5, boards.pairs[place & 31]


@kernel
def turn_block(
    turns, rivers, strengths, first, last, sums, squares
):  # Boards, Boards, [N5, 1326], -, -, [N4, 1326] x 2
    """Sums of strength and of its square over the 46 rivers of each pair."""
    for row in range(first, last):
        sums[row] = 0
        squares[row] = 0
        for card in range(52):
            if holds(turns.cards[row], card):
                continue
            river, pairs = board_with(rivers, turns.cards[row], card)
            source = strengths[river]
            for pair in range(NUM_PAIRS):
                strength = np.uint32(source[pairs[pair]])
                sums[row, pair] += strength
                squares[row, pair] += strength * strength


@kernel
def flop_block(flops, turns, turn_sums, turn_squares, first, last, sums, squares):  # as turn_block, one street earlier
    """Sums over the 47 turns of each pair of the turn's sums: every pair of further cards counts twice."""
    for row in range(first, last):
        sums[row] = 0
        squares[row] = 0
        for card in range(52):
            if holds(flops.cards[row], card):
                continue
            turn, pairs = board_with(turns, flops.cards[row], card)
            for pair in range(NUM_PAIRS):
                sums[row, pair] += turn_sums[turn, pairs[pair]]
                squares[row, pair] += turn_squares[turn, pairs[pair]]


@kernel
def holds(cards, card):
    for i in range(cards.size):
        if cards[i] == card:
            return True
    return False


@kernel
def clashes(board, high, low):
    return holds(board, high) or holds(board, low)


@kernel
def classes_on_board(index, board, pair_cards, out):  # HandIndexTables, [size], [1326, 2], [1326]
    """Class of every pair on a board, -1 where cards clash."""
    cards = np.empty(2 + board.size, np.int64)
    cards[2:] = board
    for pair in range(NUM_PAIRS):
        cards[0], cards[1] = pair_cards[pair, 0], pair_cards[pair, 1]
        out[pair] = -1 if clashes(board, cards[0], cards[1]) else index_cards(index, cards)


@kernel
def class_block(
    index, boards, pair_cards, first, last, values, out
):  # HandIndexTables, Boards, [1326, 2], [N, 1326], [classes]
    """Write the board rows' values at the class of (pair, board). Every class is met; equal classes write equal values,
    so threads need no lock."""
    classes = np.empty(NUM_PAIRS, np.int64)
    for row in range(first, last):
        classes_on_board(index, boards.cards[row], pair_cards, classes)
        for pair in range(NUM_PAIRS):
            if classes[pair] >= 0:
                out[classes[pair]] = values[row, pair]


@kernel
def class_sums_block(index, boards, pair_cards, first, last, sums, squares, out_sums, out_squares, out_masses):
    """`class_block` for sums and squares at once, and the number of card combinations in every class."""
    cards = np.empty(2 + boards.cards.shape[1], np.int64)
    classes = np.empty(NUM_PAIRS, np.int64)
    for row in range(first, last):
        cards[2:] = boards.cards[row]
        classes_on_board(index, boards.cards[row], pair_cards, classes)
        for pair in range(NUM_PAIRS):
            place = classes[pair]
            if place >= 0:
                cards[0], cards[1] = pair_cards[pair, 0], pair_cards[pair, 1]
                out_sums[place] = sums[row, pair]
                out_squares[place] = squares[row, pair]
                out_masses[place] = combinations_in_class(cards)


@kernel
def combinations_in_class(cards):  # [2 + board size], hole cards first
    """How many relabellings of suits lead to different cards: 24 over the orders of suits that hold the same."""
    hole = 1 << (16 * (cards[0] & 3) + (cards[0] >> 2)) | 1 << (16 * (cards[1] & 3) + (cards[1] >> 2))
    board = 0
    for i in range(2, cards.size):
        board |= 1 << (16 * (cards[i] & 3) + (cards[i] >> 2))
    distinct = 24
    for suit in range(4):
        same = 1
        for other in range(suit):
            if (hole >> (16 * suit)) & 0x1FFF == (hole >> (16 * other)) & 0x1FFF and (
                board >> (16 * suit)
            ) & 0x1FFF == (board >> (16 * other)) & 0x1FFF:
                same += 1
        distinct //= same
    return distinct
