# mypy: allow-untyped-defs, allow-untyped-calls
"""Ends of a hand for eight ranges at once on one board: what `showdown_kernels` does for one, in lanes.

A hand's value at a showdown is the opponent's reach below it less the reach above it, among all hands and then without
the hands that share a card with it: for each card the same balance over its 46 hands, which stand in order of rank. The
sums of one card stay in the cache until they are used. For one range 3.0 us a showdown and 1.6 us a fold; in lanes 1.1
and 0.5 us a range, of which 0.3 to bring the ranges side by side and back (one core, 2.1 GHz, 1,081 hands).

n: hands; L: cards left in the deck, each in H = L - 1 hands.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.primitives.lane_kernels import (
    WIDTH,
    add_up_rows,
    put_balances,
    put_rests,
    sum_rows,
    take_balances,
)


class LaneBoard(NamedTuple):
    """A board's hands in order of rank; `members` card by card."""

    hands: np.ndarray  # uint16[n]: 0, 1, 2, ...
    below: np.ndarray  # uint16[n]: hands of lower rank
    up_to: np.ndarray  # uint16[n]: hands of lower or equal rank
    high: np.ndarray  # uint8[n]: the column of the higher card
    low: np.ndarray  # uint8[n]
    members: np.ndarray  # uint16[L * H]: at column * H + k, the k-th hand that holds the card
    members_below: np.ndarray  # uint8[L * H]: of the card's hands, those of lower rank
    members_up_to: np.ndarray  # uint8[L * H]


class LaneSums(NamedTuple):
    """Scratch of one thread, flat rows."""

    reach: np.ndarray  # float32[n * WIDTH]
    values: np.ndarray  # float32[n * WIDTH]
    by_hand: np.ndarray  # float32[(n + 1) * WIDTH]
    by_card: np.ndarray  # float32[(L + 1) * WIDTH]
    picked: np.ndarray  # int64[WIDTH]: which vectors are in the lanes
    targets: np.ndarray  # int64[WIDTH]: where their values go
    scales: np.ndarray  # float32[WIDTH]


@kernel(_nrt=False)
def settle_showdown_lanes(board, sums):
    """`sums.values` from `sums.reach`: reach a hand beats less reach it loses to."""
    num_hands = board.hands.size
    num_held = board.members.size // (sums.by_card.size // WIDTH - 1)
    add_up_rows(sums.by_hand, sums.reach, board.hands, 0, num_hands)
    put_balances(sums.values, sums.by_hand, board.below, board.up_to, num_hands)
    for first in range(0, board.members.size, num_held):
        add_up_rows(sums.by_card, sums.reach, board.members, first, num_held)
        take_balances(
            sums.values, sums.by_card, board.members, board.members_below, board.members_up_to, first, num_held
        )


@kernel(_nrt=False)
def settle_fold_lanes(board, sums):
    """`sums.values` from `sums.reach`: reach of the hands that share no card with a hand."""
    num_hands = board.hands.size
    num_cards = sums.by_card.size // WIDTH - 1
    num_held = board.members.size // num_cards
    for card in range(num_cards):
        sum_rows(sums.by_card, card, sums.reach, board.members, card * num_held, num_held)
    put_rests(sums.values, sums.reach, sums.by_card, board.high, board.low, num_cards, num_hands)
