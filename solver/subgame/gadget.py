"""The opponent's choice before a subgame that is solved again: enter it, or take the value he had.

Without it a new solution trusts the opponent's range, and may give more than before to hands that are rare in that
range. CFR-D's gadget (Burch, Johanson and Bowling, AAAI 2014, section 5) lets each of his hands choose between the value
it already has and the subgame, so that a solution pays for each hand that prefers to enter.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from foldwise.game.arrays import Float, Single
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.hole_cards import NUM_PAIRS
from foldwise.solver.subgame.gadget_kernels import enter_by_choice, learn_choice
from foldwise.solver.subgame.hand_kernels import Rules


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


class RootChoice:
    """What the hands of a gadget's player have learned about entering."""

    def __init__(self, gadget: Gadget, pairs: npt.NDArray[np.uint16], own_range: Float, searcher_mass: float):
        """`own_range` is that of the subgame; `searcher_mass` what the reach behind the values was divided by."""
        _check(gadget)
        own = own_range if gadget.range is None else gadget.range
        own = own[pairs] / max(float(own[pairs].sum()), 1e-300)
        num_hands = len(pairs)
        self.player = gadget.player
        self.entering = np.zeros(num_hands, dtype=np.float32)
        self._forced = (gadget.own * own + gadget.uniform / num_hands).astype(np.float32)
        self._offered = np.float32(gadget.offered / num_hands)
        self._outside = (gadget.values[pairs] / searcher_mass).astype(np.float32)
        self._regrets = np.zeros((2, num_hands), dtype=np.float32)
        self._sigma = np.zeros_like(self._regrets)
        self._total = np.zeros(num_hands, dtype=np.float32)
        self._decide()

    def _decide(self) -> None:
        enter_by_choice(self._regrets, self._forced, self._offered, self._sigma, self._total, self.entering)

    def learn(self, inside: Single, rules: Rules) -> None:
        """Update after a walk for the choosing player: each hand's value inside against the value offered."""
        learn_choice(self._regrets, self._sigma, inside, self._outside, self._total, rules)
        self._decide()


def _check(gadget: Gadget) -> None:
    weights = (gadget.own, gadget.offered, gadget.uniform)
    if min(weights) < 0.0 or sum(weights) <= 0.0:
        raise DefinitionError(f"weights {weights} of a gadget: expected none below 0 and one above")
    for name, vector in (("values", gadget.values), ("range", gadget.range)):
        if vector is not None and (vector.shape != (NUM_PAIRS,) or not np.isfinite(vector).all()):
            raise DefinitionError(f"{name} of a gadget: expected {NUM_PAIRS} finite numbers")
