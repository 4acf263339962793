"""What the opponent could have had: the values a gadget offers him before a street is solved again.

`unsafe` offers nothing and trusts his range. `resolve` (Burch, Johanson and Bowling, AAAI 2014) lets each of his hands
choose between the street and what it was worth before. `combined` lets him come in with his range, plus a bounded share
of the hands the gadget lets in, plus a little of every hand.

The value of the alternative is a best response's, not the strategy's own: on the turn through the blueprint's tree on this
board against our range, on the river through the turn's solution. Both players' best responses win more together than
there is to win, so half of that excess is taken from each: the values add up to zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from foldwise.game.arrays import Float
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.hole_cards import NUM_PAIRS
from foldwise.game.hands.showdown import RangeShowdown
from foldwise.solver.subgame.gadget import Gadget

GADGETS: Final = ("unsafe", "resolve", "combined")


@dataclass(frozen=True)
class GadgetWeights:
    """Weights of the opponent's hands in the solve, relative to his own range, which has weight 1."""

    offered: float = 0.1  # uniform over hands, each as often as it chooses to enter
    uniform: float = 0.02  # uniform over hands, without a choice


DEFAULT_WEIGHTS: Final = GadgetWeights()


def check_gadget(name: str) -> None:
    if name not in GADGETS:
        raise DefinitionError(f"gadget {name!r}: expected {', '.join(GADGETS)}")


def make_gadget(
    name: str, opponent: int, values: Float | None, weights: GadgetWeights = DEFAULT_WEIGHTS
) -> Gadget | None:
    """The gadget with this name; without values to offer, his range plus a little of every hand."""
    if name == "unsafe":
        return None
    if values is None:
        return Gadget(opponent, np.zeros(NUM_PAIRS), offered=0.0, uniform=weights.uniform)
    if name == "resolve":
        return Gadget.resolve(opponent, values)
    return Gadget(opponent, values, offered=weights.offered, uniform=weights.uniform)


def zero_sum(
    board: Sequence[int], ranges: tuple[Float, Float], values: tuple[Float, Float], player: int
) -> Float | None:
    """A player's values less half of what both best responses win together; None if the ranges share no possible deal.

    Values are counterfactual: chips times the other's reach.
    """
    showdown = RangeShowdown(board)
    met = showdown.fold(ranges[1 - player])
    mass = float(ranges[player] @ met)
    if mass <= 0.0 or not np.any(showdown.meets(ranges[1 - player]) & (ranges[player] > 0.0)):
        return None
    excess = sum(float(one @ own) for one, own in zip(ranges, values)) / 2.0
    return values[player] - excess / mass * met
