"""Where a hand of hold'em ends for two whole ranges: folds, showdowns, and what is still to be dealt after an all-in."""

from functools import lru_cache
from typing import Final

import numpy as np

from foldwise.game.arrays import Float
from foldwise.game.betting import BettingState
from foldwise.game.hands.showdown import RangeShowdown
from foldwise.search.street import without_card

HIDDEN_RIVERS: Final = 44  # possible river cards once both hands and the turn are known
_TURN_CARDS, _RIVER_CARDS = 4, 5


@lru_cache(maxsize=256)
def showdown_on(board: tuple[int, ...]) -> RangeShowdown:
    """A prepared board, cached because a turn's rivers are needed repeatedly."""
    return RangeShowdown(board)


def unseen(board: tuple[int, ...]) -> list[int]:
    """Cards that can be dealt next."""
    return [card for card in range(52) if card not in board]


def showdown_values(board: tuple[int, ...], reach: Float) -> Float:
    """[1326] what each hand wins of the other's reach at a showdown, a chip at stake; on a turn over all rivers."""
    if len(board) == _RIVER_CARDS:
        return showdown_on(board).showdown(reach)
    assert len(board) == _TURN_CARDS
    total = np.zeros_like(reach)
    for card in unseen(board):
        total += showdown_on((*board, card)).showdown(without_card(reach, card))
    return total / HIDDEN_RIVERS


def end_value(betting: BettingState, board: tuple[int, ...], ranges: tuple[Float, Float]) -> float:
    """What player 0 wins where the betting is over, times both reaches."""
    if betting.is_showdown():
        return min(betting.spent) * float(ranges[0] @ showdown_values(board, ranges[1]))
    folder = betting.folded.index(True)
    won = betting.spent[folder] if folder == 1 else -betting.spent[folder]
    return won * float(ranges[0] @ showdown_on(board).fold(ranges[1]))
