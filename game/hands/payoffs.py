"""What a finished hand pays, from its betting and its cards."""

from collections.abc import Sequence

from foldwise.game.betting import BettingState
from foldwise.game.hands.evaluator import rank_hand


def payoffs(betting: BettingState, hole_cards: Sequence[tuple[int, ...]], board: tuple[int, ...]) -> list[float] | None:
    """Profit of each position; None where a hand that takes part in the showdown is not known."""
    if not betting.is_showdown():
        return betting.settle()
    if not all(cards or betting.folded[position] for position, cards in enumerate(hole_cards)):
        return None
    return betting.settle([rank_hand(cards + board) if cards else -1 for cards in hole_cards])
