"""The betting of a hand in one line of words, street by street."""

from foldwise.game.betting import BettingState
from foldwise.game.text.action_words import spoken_actions
from foldwise.matches.report.replay import position_names, street_names


def betting_words(betting: BettingState) -> str:
    """`button raises to 300, big blind calls 200; flop: big blind checks`; empty before the first action."""
    words = iter(spoken_actions(betting, position_names(betting.definition)))
    streets: list[str] = []
    for name, actions in zip(street_names(betting.definition), betting.actions):
        said = ", ".join(next(words) for _ in actions)
        if said:
            streets.append(f"{name}: {said}" if streets else said)
    return "; ".join(streets)
