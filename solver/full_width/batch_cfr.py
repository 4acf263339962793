"""CFR, CFR+, linear and discounted CFR, DCFR+ by street-by-street passes, for games of many buckets."""

from typing import Any

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.solver.config import SolverConfig
from foldwise.solver.full_width.batch_game import BatchGame
from foldwise.solver.full_width.batch_kernels import reach_by_regrets, update_regrets
from foldwise.solver.full_width.schedules import Schedule
from foldwise.solver.full_width.vector_cfr import VectorCfr
from foldwise.solver.full_width.vector_game import exact_matrices, is_wide
from foldwise.solver.samplers import load_rule


class BatchCfr:
    """Full-width CFR with alternating updates; the same iterations as `VectorCfr`, in single precision by default.

    Matrix products run on as many cores as BLAS is set to, the rest on the threads of the config.
    """

    def __init__(
        self,
        game: AbstractGame,
        config: SolverConfig,
        dtype: npt.DTypeLike = np.float32,
        schedule: Schedule | None = None,
    ):
        self.game = game
        self.config = config
        self.iteration = 0
        self.nodes = 0
        self.table: npt.NDArray[np.floating[Any]] = np.zeros(2 * game.num_entries, dtype=dtype)
        self.effective_iterations = 0.0
        self._schedule: Schedule = schedule or load_rule(config.sampler)
        self._batch = BatchGame(game, exact_matrices(game), dtype, config.threads)

    def arrays(self) -> dict[str, npt.NDArray[np.floating[Any]]]:
        """What a checkpoint keeps; there are no random streams."""
        return {"table": self.table}

    @property
    def largest_step(self) -> int:
        return 1 << 62

    def advance(self, iterations: int) -> None:
        """Run that many iterations, each updating both players in turn; 0 iterations only compile."""
        if iterations == 0:
            for traverser in range(2):
                self._update(traverser, 1.0, 1.0, 1.0, 0.0, -np.inf, is_trial=True)
        t = np.arange(self.iteration + 1.0, self.iteration + iterations + 1.0)
        steps = self._schedule(t)
        sum_weights = np.where(t > self.config.skip_iterations, steps.sum_weight, 0.0)
        for step in range(iterations):
            for traverser in range(2):
                self._update(
                    traverser,
                    float(steps.positive[step]),
                    float(steps.negative[step]),
                    float(steps.sum_factor[step]),
                    float(sum_weights[step]),
                    float(steps.floor[step]),
                )
            self.nodes += 2 * self._batch.num_visited
        self.iteration += iterations

    def _update(
        self,
        traverser: int,
        positive: float,
        negative: float,
        sum_factor: float,
        sum_weight: float,
        floor: float,
        is_trial: bool = False,
    ) -> None:
        batch, table = self._batch, self.table
        batch.pass_down(reach_by_regrets, table, traverser, sum_factor, sum_weight, is_trial=is_trial)
        batch.settle(traverser, is_trial)
        batch.pass_up(traverser, update_regrets, table, traverser, positive, negative, floor, is_trial=is_trial)


def make_full_width(game: AbstractGame, config: SolverConfig, schedule: Schedule | None = None) -> BatchCfr | VectorCfr:
    """Full-width CFR in the form that suits the game; the schedule is that of the config, or one of the caller's own."""
    if is_wide(game):
        return BatchCfr(game, config, schedule=schedule)
    return VectorCfr(game, config, schedule)
