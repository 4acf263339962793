"""The opponent's choice before a subgame that is solved again: enter it, or take the value he had.

Without it a new solution trusts the opponent's range, and may give more than before to hands that are rare in that
range. CFR-D's gadget (Burch, Johanson and Bowling, AAAI 2014, section 5) lets each of his hands choose between the value
it already has and the subgame, so that a solution pays for each hand that prefers to enter.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from foldwise.game.arrays import Float
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.hole_cards import NUM_PAIRS
from foldwise.solver.subgame.gadget_kernels import EntryChoice, enter_by_choice


@dataclass(frozen=True)
class Gadget:
    """Who chooses, the values offered, and the weights of the hands, by pair number.

    The opponent enters with three parts, each spread over hands with a sum of at most its weight: `own` times his range,
    which has no choice; `offered` times all hands equally, each as often as it chooses to; `uniform` times all hands
    equally, without a choice. (0, 1, 0) is the gadget of the paper; with `own` it is the mixture that
    the search calls `combined`: neither his range nor the gadget decides alone.
    """

    player: int
    values: Float  # [1326] counterfactual: chips won over the whole hand, times the searching player's reach as given
    range: Float | None = None  # [1326]; None: that of the subgame
    own: float = 1.0
    offered: float = 0.5
    uniform: float = 0.02

    @staticmethod
    def resolve(player: int, values: Float) -> "Gadget":
        """The gadget of CFR-D alone."""
        return Gadget(player, values, own=0.0, offered=1.0, uniform=0.0)


def make_choice(
    gadget: Gadget | None, pairs: npt.NDArray[np.uint16], ranges: tuple[Float, Float], masses: Sequence[float]
) -> EntryChoice:
    """What the hands of a gadget's player have learned about entering: nothing yet. Without a gadget nobody chooses.

    `ranges` are those of the subgame, `masses` what they were divided by.
    """
    num_hands = len(pairs) if gadget is not None else 0
    entering, forced, outside, total = (np.zeros(num_hands, dtype=np.float32) for _ in range(4))
    regrets, sigma = (np.zeros((2, num_hands), dtype=np.float32) for _ in range(2))
    if gadget is None:
        return EntryChoice(-1, entering, forced, np.float32(0.0), outside, regrets, sigma, total)
    _check(gadget)
    own = ranges[gadget.player] if gadget.range is None else gadget.range
    own = own[pairs] / max(float(own[pairs].sum()), 1e-300)
    forced[:] = gadget.own * own + gadget.uniform / num_hands
    outside[:] = gadget.values[pairs] / masses[1 - gadget.player]
    offered = np.float32(gadget.offered / num_hands)
    choice = EntryChoice(gadget.player, entering, forced, offered, outside, regrets, sigma, total)
    enter_by_choice(choice)
    return choice


def _check(gadget: Gadget) -> None:
    weights = (gadget.own, gadget.offered, gadget.uniform)
    if min(weights) < 0.0 or sum(weights) <= 0.0:
        raise DefinitionError(f"weights {weights} of a gadget: expected none below 0 and one above")
    for name, vector in (("values", gadget.values), ("range", gadget.range)):
        if vector is not None and (vector.shape != (NUM_PAIRS,) or not np.isfinite(vector).all()):
            raise DefinitionError(f"{name} of a gadget: expected {NUM_PAIRS} finite numbers")
