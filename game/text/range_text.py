"""Ranges as people write them: `22+, AKs, 0.5(QQ)`, or hands with a weight each. By pair number, never normalised."""

from collections.abc import Mapping

import eval7
import numpy as np
from eval7.rangestring import RangeStringError

from foldwise.game.arrays import Float
from foldwise.game.cards import cards_text, parse_cards
from foldwise.game.errors import FormatError
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS, pair_number


def pair_text(pair: int) -> str:
    """A hand's cards, the higher first: `AsKd`."""
    return cards_text(PAIR_CARDS[pair].tolist())


def parse_range(given: str | Mapping[str, float]) -> Float:
    """Weights of all 1,326 hands, from a text in the usual notation or from hands and their weights.

    A hand that appears more than once in a text has its last weight: `22+, 0.5(QQ)` is all pairs, queens half.
    """
    return _from_text(given) if isinstance(given, str) else _from_hands(given)


def _from_text(text: str) -> Float:
    weights = np.zeros(NUM_PAIRS)
    try:
        parsed = eval7.HandRange(text).hands
    except RangeStringError:
        raise FormatError(f"range {text!r}: expected hands such as 22+, AKs, A5s-A2s, QJo, AhKh, 0.5(QQ)") from None
    for cards, weight in parsed:
        weights[pair_number(*parse_cards("".join(map(str, cards))))] = weight
    return weights


def _from_hands(hands: Mapping[str, float]) -> Float:
    weights = np.zeros(NUM_PAIRS)
    for text, weight in hands.items():
        cards = parse_cards(text)
        if len(cards) != 2:
            raise FormatError(f"hand {text!r} of a range: expected two cards, as in AsKs")
        if not 0.0 <= weight < np.inf:
            raise FormatError(f"weight {weight} of {text!r} in a range: expected a number of at least 0")
        weights[pair_number(*cards)] = weight
    return weights
