"""Betting texts played through, action by action."""

from foldwise.game.betting import BettingState
from foldwise.game.definition import GameDefinition
from foldwise.game.text.match_state import read_action


def states_of(game: GameDefinition, betting: str) -> list[BettingState]:
    """The start, and the state after each action; rounds must change exactly where the text says so."""
    states = [BettingState(game)]
    at = 0
    while at < len(betting):
        if betting[at] == "/":
            at += 1
            continue
        action, at = read_action(betting, at, game)
        assert action is not None
        states.append(states[-1].copy())
        states[-1].apply(action)
    assert states[-1].betting_text() == betting
    return states
