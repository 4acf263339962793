"""Score any ACPC log of two players by every method that applies. Every hand is replayed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from foldwise.game.cards import cards_text
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.hands.payoffs import payoffs
from foldwise.matches.scoring.all_in import expected_values, is_all_in
from foldwise.matches.statistics import Estimate, estimate
from foldwise.matches.table.hand import format_value
from foldwise.matches.table.log import LoggedHand, parse_state_line, state_lines

_REPORT_HANDS = 200
_HALF_DIGIT = 1e-6  # a log has six decimals
Listener = Callable[[str, float], None]


@dataclass(frozen=True)
class MethodScore:
    """What a player wins per hand by one method. Hands are independent: a duplicate pair is split over two logs."""

    method: str  # raw, all-in or aivat
    estimate: Estimate


def score_log(
    path: Path,
    definition: GameDefinition,
    player: str | None,
    aivat: Callable[[LoggedHand, int], float] | None,
    listen: Listener,
) -> tuple[str, list[MethodScore]]:
    """The player's name and scores; by AIVAT where it is given."""
    lines = list(state_lines(path))
    if not lines:
        raise DefinitionError(f"log {str(path)!r}: no STATE lines; give a dealer's .log file")
    name = player if player is not None else parse_state_line(lines[0], definition, hidden=True).names[0]
    methods: dict[str, Callable[[LoggedHand, int], float]] = {
        "raw": lambda hand, position: hand.values[position],
        "all-in": lambda hand, position: (hand.values if hand.hidden else expected_values(hand))[position],
    }
    if aivat is not None:
        methods["aivat"] = aivat
    values = np.empty((len(methods), len(lines)))
    all_in_known = True
    for number, line in enumerate(lines):
        hand = parse_state_line(line, definition, hidden=True)
        _check_cards(hand, definition)
        check_values(hand)
        position = _position(hand, name)
        all_in_known = all_in_known and not (hand.hidden and is_all_in(line))
        if aivat is not None and hand.hidden:
            raise FormatError(
                f"hand {hand.number}: not all hole cards are known: AIVAT needs them; score it without --strategy"
            )
        values[:, number] = [score(hand, position) for score in methods.values()]
        if number % _REPORT_HANDS == 0:
            listen(f"{number} hands", number / len(lines))
    unit = definition.big_blind
    # An all-in with hidden cards has no expectation, and leaving hands out by how they ended would bias the mean.
    scores = [MethodScore(method, estimate(row, unit)) for method, row in zip(methods, values)]
    return name, [score for score in scores if all_in_known or score.method != "all-in"]


def _check_cards(hand: LoggedHand, definition: GameDefinition) -> None:
    foreign = {*hand.board, *(card for hole in hand.hole_cards for card in hole)} - set(definition.deck)
    if foreign:
        raise FormatError(
            f"hand {hand.number}: {cards_text(sorted(foreign))} is not in the game's deck: give the log's own --game"
        )


def check_values(hand: LoggedHand) -> None:
    """Check that the log's values are what betting and cards pay, if all cards are known."""
    values = payoffs(hand.betting, hand.hole_cards, hand.board)
    if values is None:
        if abs(sum(hand.values)) > _HALF_DIGIT * len(hand.values):
            raise FormatError(f"hand {hand.number}: the log pays {_amounts(hand.values)}: expected nothing in all")
    elif any(abs(logged - paid) > _HALF_DIGIT for logged, paid in zip(hand.values, values)):
        raise FormatError(
            f"hand {hand.number}: the log pays {_amounts(hand.values)}, the hand gives {_amounts(values)}: "
            "the log is damaged, or of another game: give its own --game"
        )


def _amounts(values: Sequence[float]) -> str:
    return "|".join(map(format_value, values))


def _position(hand: LoggedHand, name: str) -> int:
    if name not in hand.names:
        raise DefinitionError(f"hand {hand.number}: no player {name!r}, the log has {' and '.join(hand.names)}")
    return hand.names.index(name)
