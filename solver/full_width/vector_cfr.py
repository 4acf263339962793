"""CFR, CFR+, linear and discounted CFR, DCFR+ by walks: one full-width loop, the schedule is data."""

import numpy as np

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.game.arrays import Float
from foldwise.solver.config import SolverConfig
from foldwise.solver.full_width.schedules import Schedule
from foldwise.solver.full_width.vector_game import make_vector_frames, make_vector_game
from foldwise.solver.full_width.vector_kernels import run_full_width
from foldwise.solver.samplers import load_rule


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
        self._schedule: Schedule = schedule or load_rule(config.sampler)
        self._vector_game = make_vector_game(game)
        self._frames = make_vector_frames(game)

    @property
    def largest_step(self) -> int:
        return 1 << 62

    def arrays(self) -> dict[str, Float]:
        """What a checkpoint keeps; there are no random streams."""
        return {"table": self.table}

    def advance(self, iterations: int) -> None:
        """Run that many iterations, each updating both players in turn."""
        t = np.arange(self.iteration + 1.0, self.iteration + iterations + 1.0)
        steps = self._schedule(t)
        steps = steps._replace(sum_weight=np.where(t > self.config.skip_iterations, steps.sum_weight, 0.0))
        self.nodes += run_full_width(self._vector_game, self.table, np.stack(steps, axis=1), self._frames)
        self.iteration += iterations
