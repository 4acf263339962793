"""Showdowns and folds of range against range: boards prepared once, values of a whole range in O(n)."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import DTypeLike, NDArray

from foldwise.game.arrays import aligned_zeros
from foldwise.game.hands.evaluator import rank_pairs
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.hands.showdown_kernels import (
    BELOW,
    HIGH,
    HIGH_BELOW,
    HIGH_UP_TO,
    LOW,
    LOW_BELOW,
    LOW_UP_TO,
    NUM_PLACES,
    NUM_RANKS,
    UP_TO,
    ShowdownBoard,
    ShowdownSums,
    prepare_board,
    settle_fold,
    settle_showdown,
)
from foldwise.game.hands.showdown_lane_kernels import LaneBoard, LaneSums
from foldwise.game.primitives.lane_kernels import WIDTH


def empty_board(num_board: int) -> ShowdownBoard:
    """Memory for `prepare_board` on boards of 0, 3, 4 or 5 cards."""
    left = 52 - num_board
    hands = left * (left - 1) // 2
    return ShowdownBoard(
        pairs=np.zeros(hands, np.uint16),
        ranks=np.zeros(hands, np.uint16),
        cards=np.zeros((hands, 2), np.uint8),
        places=np.zeros((hands, NUM_PLACES), np.uint16),
        members=np.zeros((left - 1) * left, np.uint16),
    )


def empty_sums(num_board: int, dtype: DTypeLike = np.float64) -> ShowdownSums:
    """Scratch for values on boards of that size; one for each thread."""
    left = 52 - num_board
    return ShowdownSums(np.zeros(left * (left - 1) // 2 + 1, dtype), np.zeros(left * left, dtype))


def make_board(board: Sequence[int]) -> ShowdownBoard:
    """The hands possible on a board of 3 to 5 cards, by rising rank. Without a board all 1,326, of equal rank.

    `ValueError` for a board that cannot be dealt: a card twice leaves more hands than the memory made for its size.
    """
    if len(board) not in (0, 3, 4, 5) or len(set(board)) != len(board) or not all(0 <= card < 52 for card in board):
        raise ValueError(f"board {list(board)}: expected none or 3 to 5 different cards from 0 to 51")
    ranks = rank_pairs(board) if len(board) else np.ones(NUM_PAIRS, np.uint16)
    prepared = empty_board(len(board))
    count = prepare_board(ranks, PAIR_CARDS, np.zeros(NUM_RANKS, np.int64), prepared)
    assert count == prepared.pairs.size
    return prepared


def make_lane_board(board: ShowdownBoard) -> LaneBoard:
    """The same hands for work in lanes."""
    num_hands = len(board.pairs)
    num_cards = int(board.places[:, (HIGH, LOW)].max()) + 1
    members = np.ascontiguousarray(board.members.reshape(-1, num_cards).T)  # [cards, hands of each]
    columns = np.arange(num_cards)[:, None]
    is_high = board.places[members, HIGH] == columns
    below, up_to = (
        np.where(is_high, board.places[members, high], board.places[members, low]) // num_cards
        for high, low in ((HIGH_BELOW, LOW_BELOW), (HIGH_UP_TO, LOW_UP_TO))
    )
    return LaneBoard(
        hands=np.arange(num_hands, dtype=np.uint16),
        below=board.places[:, BELOW].copy(),
        up_to=board.places[:, UP_TO].copy(),
        high=board.places[:, HIGH].astype(np.uint8),
        low=board.places[:, LOW].astype(np.uint8),
        members=members.ravel(),
        members_below=below.astype(np.uint8).ravel(),
        members_up_to=up_to.astype(np.uint8).ravel(),
    )


def empty_lane_sums(num_board: int, length: int | None = None) -> LaneSums:
    """Scratch for work in lanes on boards of that size; one for each thread. Vectors may be longer than the hands."""
    left = 52 - num_board
    hands = left * (left - 1) // 2
    return LaneSums(
        reach=aligned_zeros((length or hands) * WIDTH),
        values=aligned_zeros((length or hands) * WIDTH),
        by_hand=aligned_zeros((hands + 1) * WIDTH),
        by_card=aligned_zeros((left + 1) * WIDTH),
        picked=np.zeros(WIDTH, np.int64),
        targets=np.zeros(WIDTH, np.int64),
        scales=np.zeros(WIDTH, np.float32),
    )


@cache
def all_hands() -> ShowdownBoard:
    """Every hand before the flop; for folds."""
    return make_board(())


class RangeShowdown:
    """Values of a whole range on one board, by pair number: 1,326 entries, 0 for hands that clash with the board."""

    def __init__(self, board: Sequence[int]):
        self.board = make_board(board)
        self._sums = empty_sums(len(board))

    def showdown(self, opponent_reach: NDArray[np.float64]) -> NDArray[np.float64]:
        """For every hand, the opponent's reach it beats less what it loses to."""
        return self._settle(settle_showdown, opponent_reach)

    def fold(self, opponent_reach: NDArray[np.float64]) -> NDArray[np.float64]:
        """For every hand, the opponent's reach of hands that share no card with it."""
        return self._settle(settle_fold, opponent_reach)

    def meets(self, opponent_reach: NDArray[np.float64]) -> NDArray[np.bool_]:
        """For every hand, whether the opponent can hold any hand that shares no card with it.

        Hands are counted: what is left of a sum of weights may be a rounding error where nothing is.
        """
        return self.fold((opponent_reach > 0.0).astype(np.float64)) > 0.5

    def _settle(self, kernel: object, opponent_reach: NDArray[np.float64]) -> NDArray[np.float64]:
        assert callable(kernel)
        values = np.empty(self.board.pairs.size)
        kernel(self.board, opponent_reach[self.board.pairs].astype(np.float64), 1.0, self._sums, values)
        out = np.zeros(NUM_PAIRS)
        out[self.board.pairs] = values
        return out
