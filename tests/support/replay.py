"""Betting texts played through, action by action."""

from foldwise.game.betting import BettingState
from foldwise.game.definition import GameDefinition
from foldwise.game.text.match_state import behind_marks, read_action


def states_of(game: GameDefinition, betting: str) -> list[BettingState]:
    """The start, and the state after each action; rounds must change exactly where the text says so."""
    states = [BettingState(game)]
    at = behind_marks(betting, 0)
    while at < len(betting):
        action, end = read_action(betting, at, game)
        assert action is not None
        states.append(states[-1].copy())
        states[-1].apply(action)
        at = behind_marks(betting, end)
    assert states[-1].betting_text() == betting
    return states
