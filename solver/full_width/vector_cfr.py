"""CFR, CFR+, linear and discounted CFR, DCFR+: one full-width loop, the schedule is data."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.game.arrays import Float
from foldwise.solver.config import SolverConfig
from foldwise.solver.full_width.vector_game import make_vector_frames, make_vector_game
from foldwise.solver.full_width.vector_kernels import run_full_width


class Steps(NamedTuple):
    """The numbers of iterations t: what old regrets and sums are multiplied by, and what new ones weigh. All [T]."""

    positive: Float
    negative: Float
    sum_factor: Float
    sum_weight: Float
    floor: Float


def _cfr(t: Float) -> Steps:
    """Zinkevich et al. (NIPS 2007)."""
    one = np.ones_like(t)
    return Steps(one, one, one, one, np.full_like(t, -np.inf))


def _cfr_plus(t: Float) -> Steps:
    """Tammelin et al. (IJCAI 2015): regret matching+, the average weighted by t."""
    one = np.ones_like(t)
    return Steps(one, one, one, t, np.zeros_like(t))


def _linear(t: Float) -> Steps:
    """Linear CFR, Brown and Sandholm (AAAI 2019): everything weighted by t."""
    share = (t - 1.0) / t
    return Steps(share, share, share, np.ones_like(t), np.full_like(t, -np.inf))


def _discounted(t: Float) -> Steps:
    """Discounted CFR with alpha 3/2, beta 0, gamma 2, Brown and Sandholm (AAAI 2019)."""
    last = t - 1.0
    positive = last**1.5 / (last**1.5 + 1.0)
    return Steps(positive, np.full_like(t, 0.5), (last / t) ** 2, np.ones_like(t), np.full_like(t, -np.inf))


def _discounted_plus(t: Float) -> Steps:
    """DCFR+ with alpha 3/2, gamma 4, Xu et al. (IJCAI 2024): discounted CFR whose regrets are floored as in CFR+."""
    return _discounted(t)._replace(sum_factor=((t - 1.0) / t) ** 4, floor=np.zeros_like(t))


Schedule = Callable[[Float], Steps]
SCHEDULES: dict[str, Schedule] = {
    "cfr": _cfr,
    "cfr+": _cfr_plus,
    "lcfr": _linear,
    "dcfr": _discounted,
    "dcfr+": _discounted_plus,
}


class VectorCfr:
    """Full-width CFR with alternating updates on a game whose joint deals are known.

    The schedule is that of the config, or one of the caller's own (docs/api/sampler.md).
    """

    def __init__(self, game: AbstractGame, config: SolverConfig, schedule: Schedule | None = None):
        self.game = game
        self.config = config
        self.iteration = 0
        self.nodes = 0
        self.table: Float = np.zeros(2 * game.num_entries)
        self.effective_iterations = 0.0
        self._schedule = schedule or SCHEDULES[config.sampler]
        self._vector_game = make_vector_game(game)
        self._frames = make_vector_frames(game)

    @property
    def largest_step(self) -> int:
        return 1 << 62

    def arrays(self) -> dict[str, Float]:
        """What a checkpoint keeps; nothing is drawn."""
        return {"table": self.table}

    def advance(self, iterations: int) -> None:
        """Run that many iterations, each updating both players in turn."""
        t = np.arange(self.iteration + 1.0, self.iteration + iterations + 1.0)
        steps = self._schedule(t)
        steps = steps._replace(sum_weight=np.where(t > self.config.skip_iterations, steps.sum_weight, 0.0))
        self.nodes += run_full_width(self._vector_game, self.table, np.stack(steps, axis=1), self._frames)
        self.iteration += iterations
