# mypy: allow-untyped-defs, allow-untyped-calls
"""Ends of a hand for whole ranges at once, in O(n): every hand of one player against all hands of the other.

The hands possible on a board stand in order of rank, so the hands that lose to one are the first so many. Sums of the
opponent's reach over those, less the hands that hold one of the own two cards, come from prefix sums: one over all
hands and one for each card, whose hands stand in order of rank as well (Johanson et al., AAMAS 2012, fast terminal
node evaluation; their sweep has the same sums, one hand at a time). Where each hand looks in them depends on the board
alone and is found once, so the work on a vector has no branch and takes six loads a hand: 3 to 4 us for the 1,081 hands
of a river, where a sweep that branches at every change of rank takes 10.

n: hands, every pair of the L cards left in the deck; each card is in H = L - 1 of them. Indexes are unsigned because
numba would test signed ones for being negative.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel

NUM_PAIRS = 1326
NUM_RANKS = 7463  # with the rank 0 of a pair that clashes with the board


# Columns of `ShowdownBoard.places`: the first two in `ShowdownSums.hands`, the next four in `by_card`.
BELOW, UP_TO, HIGH_BELOW, HIGH_UP_TO, LOW_BELOW, LOW_UP_TO, HIGH, LOW, NUM_PLACES = range(9)


class ShowdownBoard(NamedTuple):
    """A board's hands by rising rank, and where each looks in prefix sums."""

    pairs: np.ndarray  # uint16[n]: number of the hand, see `game.hands.hole_cards`
    ranks: np.ndarray  # uint16[n]
    cards: np.ndarray  # uint8[n, 2]: the higher card first
    places: np.ndarray  # uint16[n, 8]: one cache line for four hands
    members: np.ndarray  # uint16[H * L]: at k * L + column, the k-th hand, by rank, that holds the column's card


class ShowdownSums(NamedTuple):
    """Scratch of one thread: prefix sums, each less half of its total."""

    hands: np.ndarray  # float[n + 1]
    by_card: np.ndarray  # float[(H + 1) * L]: at k * L + column, over the card's first k hands


@kernel
def prepare_board(ranks, pair_cards, counts, board):  # [1326] 0 where cards clash, [1326, 2], int64[NUM_RANKS], -
    """Fill a `ShowdownBoard` by counting sort; returns the number of hands. `counts` is scratch, zero before and after."""
    column = np.full(52, -1, np.int64)
    for pair in range(NUM_PAIRS):
        counts[ranks[pair]] += 1
        if ranks[pair] > 0:
            column[pair_cards[pair, 0]] = 0
            column[pair_cards[pair, 1]] = 0
    num_columns = 0
    for card in range(52):
        if column[card] == 0:
            column[card] = num_columns
            num_columns += 1
    total = 0
    for rank in range(1, NUM_RANKS):
        here = counts[rank]
        counts[rank] = total
        total += here
    for pair in range(NUM_PAIRS):
        rank = ranks[pair]
        if rank > 0:
            i = counts[rank]
            counts[rank] += 1
            board.pairs[i] = pair
            board.ranks[i] = rank
            board.cards[i, 0] = pair_cards[pair, 0]
            board.cards[i, 1] = pair_cards[pair, 1]
    counts[:] = 0
    _find_places(board, total, column, num_columns)
    return total


@kernel
def _find_places(board, total, column, num_columns):
    """For every hand, how many hands are below it and up to its rank: among all, and among those with each card."""
    held = np.zeros(52, np.int64)  # hands so far that hold the card
    first = 0
    while first < total:
        last = first + 1
        while last < total and board.ranks[last] == board.ranks[first]:
            last += 1
        for i in range(first, last):
            places = board.places[i]
            high, low = board.cards[i, 0], board.cards[i, 1]
            places[BELOW], places[UP_TO] = first, last
            places[HIGH], places[LOW] = column[high], column[low]
            places[HIGH_BELOW] = held[high] * num_columns + column[high]
            places[LOW_BELOW] = held[low] * num_columns + column[low]
        for i in range(first, last):
            for k in range(2):
                card = board.cards[i, k]
                board.members[held[card] * num_columns + column[card]] = i
                held[card] += 1
        for i in range(first, last):
            high, low = board.cards[i, 0], board.cards[i, 1]
            board.places[i, HIGH_UP_TO] = held[high] * num_columns + column[high]
            board.places[i, LOW_UP_TO] = held[low] * num_columns + column[low]
        first = last


@kernel(_nrt=False)
def settle_showdown(board, reach, scale, sums, out):  # reach, out: float[n] in the board's order
    """Value of every hand at a showdown: scale * (opponent's reach it beats - reach it loses to); ties are worth 0.

    With B the reach below, U the reach below or equal and T all of it, each of the hands that share no card, the value
    is B - (T - U) = (B - T / 2) + (U - T / 2); the hand itself cancels.
    """
    num_hands = board.pairs.size
    hands, by_card = sums.hands, sums.by_card
    num_columns = by_card.size - board.members.size
    half = by_card.dtype.type(0.5)
    total = by_card.dtype.type(0.0)

    for c in range(num_columns):
        by_card[c] = total
    for place in range(board.members.size):
        by_card[np.uint64(place + num_columns)] = by_card[np.uint64(place)] + reach[board.members[place]]
    last = by_card[board.members.size :]
    for c in range(num_columns):
        total += last[c]
        last[c] *= half
    total *= half  # every hand holds two cards
    for start in range(0, board.members.size, num_columns):
        row = by_card[start : start + num_columns]
        for c in range(num_columns):
            row[c] -= last[c]

    # From both ends at once: two independent chains of additions.
    up, down = -half * total, half * total
    hands[num_hands] = down
    for i in range(num_hands // 2):
        hands[i] = up
        up += reach[i]
        down -= reach[num_hands - 1 - i]
        hands[num_hands - 1 - i] = down
    if num_hands & 1:
        hands[num_hands // 2] = up

    for i in range(num_hands):
        places = board.places[i]
        out[i] = scale * (
            (hands[places[BELOW]] + hands[places[UP_TO]])
            - (by_card[places[HIGH_BELOW]] + by_card[places[HIGH_UP_TO]])
            - (by_card[places[LOW_BELOW]] + by_card[places[LOW_UP_TO]])
        )


@kernel(_nrt=False)
def settle_fold(board, reach, scale, sums, out):  # as settle_showdown
    """Value of every hand where a player folded: scale * opponent's reach of the hands that share no card with it."""
    num_hands = board.pairs.size
    num_columns = sums.by_card.size - board.members.size
    card_sums = sums.by_card[:num_columns]
    total = card_sums.dtype.type(0.0)
    for c in range(num_columns):
        card_sums[c] = total
    for start in range(0, board.members.size, num_columns):
        members = board.members[start : start + num_columns]
        for c in range(num_columns):
            card_sums[c] += reach[members[c]]
    for c in range(num_columns):
        total += card_sums[c]
    total *= card_sums.dtype.type(0.5)  # every hand holds two cards
    for i in range(num_hands):
        places = board.places[i]
        out[i] = scale * (total - card_sums[places[HIGH]] - card_sums[places[LOW]] + reach[i])
