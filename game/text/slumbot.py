"""Slumbot's betting text: `k` check, `c` call, `f` fold, `bN` bet or raise to N chips on this street, `/` between streets.

The text is that of slumbot.com's HTTP interface. ACPC's text differs in two ways: there `c` is a check as well, and the
amount of a raise is what the player has put in over the whole hand.
"""

import re
from dataclasses import dataclass

from foldwise.game.betting import CALL_ACTION, FOLD_ACTION, RAISE, Action, BettingState
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import FormatError, IllegalActionError
from foldwise.game.text.match_state import behind_marks

_ACTION = re.compile(r"[kcf]|b(\d{1,9})")


@dataclass(frozen=True)
class StreetBetting:
    """The betting of a hand, and what everyone had put in before its present street."""

    betting: BettingState
    before: list[int]  # by position; blinds belong to the first street


def start_betting(definition: GameDefinition) -> StreetBetting:
    """A hand before its first action."""
    return StreetBetting(BettingState(definition), [0] * definition.num_players)


def play(state: StreetBetting, action: Action) -> StreetBetting:
    """The state after a legal action; `state.betting` changes in place."""
    betting = state.betting
    street = betting.round
    betting.apply(action)
    return StreetBetting(betting, betting.spent.copy()) if betting.round > street else state


def slumbot_text(betting: BettingState) -> str:
    """The betting of a hand as Slumbot writes it."""
    state = start_betting(betting.definition)
    streets = []
    for actions in betting.actions:
        words = []
        for _, action in actions:
            words.append(action_text(state, action))
            state = play(state, action)
        streets.append("".join(words))
    return "/".join(streets)


def action_text(state: StreetBetting, action: Action) -> str:
    """One action of the player to act."""
    betting = state.betting
    if action.kind == RAISE:
        return f"b{action.raise_to - state.before[betting.player_to_act]}"
    if action == FOLD_ACTION:
        return "f"
    return "c" if betting.can_fold() else "k"


def read_increment(text: str, state: StreetBetting) -> Action:
    """The action of a single `k`, `c`, `f` or `bN`; raises `IllegalActionError` that says what would be legal."""
    betting = state.betting
    match = _ACTION.fullmatch(text)
    if match is None:
        raise IllegalActionError(f"action {text[:20]!r}: expected k, c, f or bN with N the chips on this street")
    if betting.finished:
        raise IllegalActionError(f"action {text!r}: the hand is over")
    if text == "k" and betting.can_fold():
        raise IllegalActionError("action 'k' facing a bet: expected c, f or a raise bN")
    if text == "c" and not betting.can_fold():
        raise IllegalActionError("action 'c' without a bet to call: expected k or a bet bN")
    if text == "f" and not betting.can_fold():
        raise IllegalActionError("action 'f' where checking is free: expected k or a bet bN")
    if match[1] is None:
        return FOLD_ACTION if text == "f" else CALL_ACTION
    before = state.before[betting.player_to_act]
    bounds = betting.raise_range()
    if bounds is None:
        raise IllegalActionError(
            f"action {text!r} where no raise is possible: expected {'c or f' if betting.can_fold() else 'k'}"
        )
    smallest, largest = bounds
    action = Action(RAISE, before + int(match[1]))
    if not smallest <= action.raise_to <= largest:
        raise IllegalActionError(f"action {text!r}: expected b{smallest - before} to b{largest - before}")
    return action


def read_slumbot(text: str, definition: GameDefinition) -> StreetBetting:
    """The betting of a text. Separators between streets may be missing or repeated, as some servers send them."""
    state = start_betting(definition)
    at = behind_marks(text, 0)
    while at < len(text):
        match = _ACTION.match(text, at)
        try:
            if match is None:
                raise IllegalActionError("expected k, c, f or bN")
            state = play(state, read_increment(match[0], state))
        except IllegalActionError as error:
            raise FormatError(f"betting {text[:200]!r}, character {at + 1}: {error}") from None
        at = behind_marks(text, match.end())
    return state
