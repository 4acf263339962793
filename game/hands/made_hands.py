"""What two hole cards make of a board, in the words players use: set, top pair, flush draw.

By the evaluator's rank, with pairs distinguished by the board's cards. What the board makes by itself does not count:
with a pair or a straight on the board alone, a hand has only its high card.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from foldwise.game.hands.evaluator import CATEGORIES, category_of, rank_hand, rank_pairs
from foldwise.game.hands.hole_cards import PAIR_CARDS

MADE = (
    *("straight flush", "four of a kind", "full house", "flush", "straight", "set", "trips", "two pair"),
    *("overpair", "top pair", "second pair", "lower pair", "underpair", "ace high", "no pair"),
)
DRAWS = ("flush draw", "open-ended straight draw", "gutshot")
_PAIRED = ("pair", "two pair", "three of a kind", "full house", "four of a kind")
_ACE = 12
_WINDOWS = [frozenset([_ACE, 0, 1, 2, 3]), *(frozenset(range(low, low + 5)) for low in range(9))]
_RIVER_CARDS = 5


class MadeHand(NamedTuple):
    """One hand on a board."""

    made: str  # of MADE
    draws: tuple[str, ...]  # of DRAWS, before the river


def made_hands(board: Sequence[int]) -> list[MadeHand | None]:
    """Every two hole cards on a board of 3 to 5 cards, as `game.hands.hole_cards` numbers them; None: a card of the board."""
    ranks = rank_pairs(board)
    board_rank = rank_hand(board)
    found: list[MadeHand | None] = []
    for rank, (high, low) in zip(ranks.tolist(), PAIR_CARDS.astype(np.int64).tolist()):
        if not rank:
            found.append(None)
            continue
        made = _made(rank, (high, low), board, board_rank)
        is_open = len(board) < _RIVER_CARDS and MADE.index(made) > MADE.index("straight")
        found.append(MadeHand(made, _draws((high, low), board) if is_open else ()))
    return found


def _made(rank: int, hole: tuple[int, int], board: Sequence[int], board_rank: int) -> str:
    category, on_board = category_of(rank), category_of(board_rank)
    first, second = hole[0] >> 2, hole[1] >> 2
    board_ranks = sorted({card >> 2 for card in board}, reverse=True)
    matches = first == second or first in board_ranks or second in board_ranks
    is_shared = category == on_board and (not matches if category in _PAIRED else rank == board_rank)
    if category == CATEGORIES[0] or is_shared:
        return "ace high" if _ACE in (first, second) else "no pair"
    if category == "three of a kind":
        return "set" if first == second else "trips"
    if category != "pair":
        return category
    if first == second:
        return "overpair" if first > board_ranks[0] else "underpair"
    place = board_ranks.index(first if first in board_ranks else second)
    return ("top pair", "second pair")[place] if place < 2 else "lower pair"


def _draws(hole: tuple[int, int], board: Sequence[int]) -> tuple[str, ...]:
    """What one more card may complete, using a hole card."""
    draws = []
    for suit in {card & 3 for card in hole}:
        if sum(card & 3 == suit for card in (*hole, *board)) == _RIVER_CARDS - 1:
            draws.append(DRAWS[0])
    shared = {card >> 2 for card in board}
    outs = _straight_outs(shared | {card >> 2 for card in hole}) - _straight_outs(shared)
    if outs:
        draws.append(DRAWS[1] if len(outs) > 1 else DRAWS[2])
    return tuple(draws)


def _straight_outs(ranks: set[int]) -> set[int]:
    """Ranks that complete a straight."""
    return {rank for window in _WINDOWS if len(missing := window - ranks) == 1 for rank in missing}
