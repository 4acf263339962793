"""A run: a solver driven to a stop condition, with evaluations, checkpoints and a strategy folder at the end."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.storage.array_store import find_entry
from foldwise.abstraction.strategy import Evaluation, StrategyManifest, save_strategy
from foldwise.game.library import PokerGame
from foldwise.solver.checkpoint import MANIFEST as CHECKPOINT
from foldwise.solver.checkpoint import (
    CheckpointManifest,
    Passed,
    Solver,
    SummingSolver,
    load_checkpoint,
    save_checkpoint,
)
from foldwise.solver.config import RunConfig
from foldwise.solver.kept_sums import EarlierSums, array_name, open_sums, write_sums
from foldwise.solver.milestones import Milestone, check_plan, plan_milestones
from foldwise.solver.regret_kernels import mean_positive_regret, normalise_sums
from foldwise.solver.response.best_response import Policy
from foldwise.solver.response.responses import has_response, make_response
from foldwise.solver.samplers import make_sampler
from foldwise.solver.sampling.mccfr import Mccfr

if TYPE_CHECKING:
    from foldwise.solver.distributed.batch import ChildProgress

_STEP_SECONDS = 0.2  # between two checks of the clock and of Ctrl-C
_FIRST_EVALUATION_SECONDS = 0.02
_EVALUATION_SPACING = 1.3  # evaluations lie evenly on a logarithmic axis of time
_NEVER = 1 << 62
_LARGE_ENTRIES = 10_000_000
_EVALUATION_COST = 10.0  # and take at most about a tenth of it
_PLANNED = ("iterations", "nodes", "seconds")  # keys that say how long a run is
_SHARE_ROUNDING = 1e-12


@dataclass(frozen=True)
class Progress:
    """A run's progress."""

    iterations: int
    nodes: int
    seconds: float  # of solving, evaluations and files left out
    share: float  # of the way to the nearest stop condition, 0 to 1
    last: Evaluation | None
    children: tuple["ChildProgress", ...] = ()  # of a distributed run
    waiting_share: float = 0.0  # of its head: time spent waiting for children

    @property
    def nodes_per_second(self) -> float:
        return self.nodes / self.seconds if self.seconds > 0.0 else 0.0


def _empty_policy(game: AbstractGame) -> Policy:
    """Double precision for small games, where tiny exploitabilities matter; single for large ones, to save memory."""
    if game.num_entries < _LARGE_ENTRIES:
        return np.empty(game.num_entries, dtype=np.float64)
    return np.empty(game.num_entries, dtype=np.float32)


def make_solver(game: AbstractGame, config: RunConfig) -> Solver:
    """The solver a config names."""
    return make_sampler(game, config.solver)


def config_fields(config: RunConfig) -> dict[str, Any]:
    """The fields of a strategy's manifest that describe its config."""
    source = config.find_game()
    return {
        "name": config.name,
        "game": config.game,
        "definition": source.definition.to_text() if isinstance(source, PokerGame) else None,
        "config": config.model_dump(mode="json"),
        "seed": config.solver.seed,
        "threads": config.solver.threads,
    }


class SolverRun:
    """One solve: iterate over it for progress; it ends at a stop condition, or when `stop` is set."""

    def __init__(self, game: AbstractGame, config: RunConfig, folder: Path, resume: bool):
        self.game = game
        self.config = config
        self.folder = folder
        self.stop = False
        self.seconds = 0.0
        self.history: list[Evaluation] = []
        check_plan(config.solver)
        self.solver = self._make_solver()
        self._passed = Passed()
        self._milestones = plan_milestones(config.solver, isinstance(self.solver, SummingSolver))
        self.solver.advance(0)  # compiles the walk, so that the clock measures solving
        self._response = make_response(game) if has_response(game) else None
        self._saved_iteration = -1
        self._start(resume)

    def _make_solver(self) -> Solver:
        return make_solver(self.game, self.config)

    def _start(self, resume: bool) -> None:
        """Resume from the checkpoint, if asked to."""
        if resume:
            checkpoint = load_checkpoint(self.folder, self.solver, self._config_dict, self.game.fingerprint)
            self.seconds = checkpoint.seconds
            self.history = checkpoint.history
            self._saved_iteration = checkpoint.iterations
            self._resume_plan(checkpoint)

    def _resume_plan(self, saved: CheckpointManifest) -> None:
        """Which milestones the run has passed; computed from its length if the planned length has changed."""
        place = self.folder / CHECKPOINT
        arrays = {array_name(part): find_entry(place, saved.arrays, array_name(part)) for part in saved.kept}
        self._passed = Passed(saved.passed_share or 0.0, saved.kept, arrays)
        before = saved.config["solver"]
        if saved.passed_share is None or any(before[key] != getattr(self.config.solver, key) for key in _PLANNED):
            share = self._share_done()
            self._milestones = [ahead for ahead in self._milestones if ahead.share >= share]
        else:
            self._milestones = [ahead for ahead in self._milestones if ahead.share > saved.passed_share]
        if isinstance(self.solver, Mccfr):
            self.solver.prunes = not any(ahead.prunes for ahead in self._milestones)

    @property
    def _config_dict(self) -> dict[str, object]:
        return self.config.model_dump(mode="json")

    def __iter__(self) -> Iterator[Progress]:
        solver, limits = self.solver, self.config.solver
        step = 1
        count_at = solver.iteration
        next_evaluation = max(_FIRST_EVALUATION_SECONDS, limits.evaluate_seconds, _EVALUATION_SPACING * self.seconds)
        last_checkpoint = time.monotonic()
        self._pass_milestones(with_nodes=True)  # a longer plan may have a milestone where the shorter one ended
        while not self.stop and not self._is_done(count_at):
            if solver.iteration >= count_at:
                count_at = self._next_count()
            step = min(step, self._to_next_iteration(), count_at - solver.iteration, solver.largest_step)
            start = time.perf_counter()
            solver.advance(step)
            took = time.perf_counter() - start
            self.seconds += took
            self._pass_milestones(with_nodes=solver.iteration >= count_at)
            if self.seconds >= next_evaluation:
                is_first = not self.history
                cost = self._evaluate()
                if is_first:  # the first one included compilation
                    cost = 0.0
                next_evaluation = max(
                    _EVALUATION_SPACING * self.seconds,
                    self.seconds + max(limits.evaluate_seconds, _EVALUATION_COST * cost),
                )
            if time.monotonic() - last_checkpoint >= limits.checkpoint_seconds:
                self.checkpoint()
                last_checkpoint = time.monotonic()
            step = max(1, math.ceil(step * min(4.0, _STEP_SECONDS / max(took, 1e-9))))
            yield self.progress()
        if not self.history or self.history[-1].iterations != solver.iteration:
            self._evaluate()
        yield self.progress()

    def progress(self) -> Progress:
        return Progress(
            iterations=self.solver.iteration,
            nodes=self.solver.nodes,
            seconds=self.seconds,
            share=self._share_done(),
            last=self.history[-1] if self.history else None,
        )

    def _part_of(self, limit: int) -> int:
        """The part of a limit reached at the next milestone; all of it after the last."""
        share = self._milestones[0].share if self._milestones else 1.0
        return math.ceil(share * limit * (1.0 - _SHARE_ROUNDING)) if share < 1.0 else limit

    def _to_next_iteration(self) -> int:
        """Iterations to the next milestone or the end, where they are planned in iterations."""
        limit = self.config.solver.iterations
        if limit is None:
            return _NEVER
        return max(1, self._part_of(limit) - self.solver.iteration)

    def _pass_milestones(self, with_nodes: bool) -> None:
        """Do what the plan says for the share of the run that is done."""
        share = self._share_done(with_nodes)
        while self._milestones and self._milestones[0].share <= share + _SHARE_ROUNDING:
            milestone = self._milestones.pop(0)
            self._pass(milestone)
            self._passed.share = milestone.share

    def _pass(self, milestone: Milestone) -> None:
        if milestone.part:
            write_sums(self.folder, self.game, self.solver, milestone.part, self.seconds, self._passed)
        else:
            assert isinstance(
                self.solver, Mccfr
            )  # `SolverConfig` allows the keys for the other milestones only with it
            if milestone.prunes:
                self.solver.prunes = True
            else:
                self.solver.discount(milestone.epoch)

    def _next_count(self) -> int:
        """The next iteration at which nodes are compared with their limit, or with a milestone's share of it.

        Derived from counts alone, although steps follow the clock, so that a repeated run of one thread ends at the same
        iteration.
        Half of the remaining way at the rate of nodes so far, and at most a doubling of the iterations.
        """
        limit, done, nodes = self.config.solver.nodes, self.solver.iteration, self.solver.nodes
        if limit is None:
            return _NEVER
        half = (self._part_of(limit) - nodes) * done // (2 * nodes) if nodes > 0 else 0
        return done + max(1, min(half, done))

    def _is_done(self, count_at: int) -> bool:
        return self._share_done(with_nodes=self.solver.iteration >= count_at) >= 1.0

    def _share_done(self, with_nodes: bool = True) -> float:
        limits = self.config.solver
        shares = [0.0]
        if limits.iterations is not None:
            shares.append(self.solver.iteration / limits.iterations)
        if limits.nodes is not None and with_nodes:
            shares.append(self.solver.nodes / limits.nodes)
        if limits.seconds is not None:
            shares.append(self.seconds / limits.seconds)
        if limits.exploitability_mbb is not None and self.history:
            reached = self.history[-1].exploitability_mbb
            if reached is not None and reached <= limits.exploitability_mbb:
                shares.append(1.0)
        return min(1.0, max(shares))

    def _evaluate(self) -> float:
        """Add a point to the history; returns the seconds it took."""
        start = time.perf_counter()
        game, solver = self.game, self.solver
        exploitability = mean_regret = None
        if self._response is not None:
            policy = _empty_policy(game)
            left_out = self._left_out()
            normalise_sums(
                game.tree.nodes, game.deals.num_buckets, solver.table, policy, left_out.earlier, left_out.share
            )
            exploitability = self._response.exploitability(policy).exploitability_mbb
        else:
            mean_regret = 1000.0 * self._mean_regret() / (game.unit_chips * max(1, solver.iteration))
        self.history.append(
            Evaluation(
                iterations=solver.iteration,
                nodes=solver.nodes,
                seconds=self.seconds,
                exploitability_mbb=exploitability,
                mean_regret_mbb=mean_regret,
            )
        )
        return time.perf_counter() - start

    def _mean_regret(self) -> float:
        return float(mean_positive_regret(self.game.tree.nodes, self.game.deals.num_buckets, self.solver.table))

    def checkpoint(self) -> None:
        """Save the state of the run."""
        if self._saved_iteration == self.solver.iteration:
            return
        save_checkpoint(
            self.folder,
            self.solver,
            self._config_dict,
            self.game.fingerprint,
            self.seconds,
            self.history,
            self._passed,
        )
        self._saved_iteration = self.solver.iteration

    def save(self) -> StrategyManifest:
        """Write the checkpoint and the strategy folder."""
        self.checkpoint()
        return self._save_strategy(
            {
                **config_fields(self.config),
                "abstraction": self.game.fingerprint,
                "iterations": self.solver.iteration,
                "nodes": self.solver.nodes,
                "seconds": self.seconds,
                "history": self.history,
            }
        )

    def _save_strategy(self, fields: dict[str, Any]) -> StrategyManifest:
        left_out = self._left_out()
        fields["averaged_from"] = max(left_out.iterations, self.config.solver.skip_iterations)
        return save_strategy(self.folder, self.game, self.solver.table, fields, left_out.earlier, left_out.share)

    def _left_out(self) -> EarlierSums:
        """What the average leaves out: nothing until the run has reached the part that the config names."""
        part, passed = self.config.solver.average_from, self._passed
        if part not in passed.kept:
            return EarlierSums()
        assert isinstance(self.solver, SummingSolver)
        return open_sums(self.folder, passed.arrays[array_name(part)], passed.kept[part], self.solver.sum_factor)

    def close(self) -> None:
        """Release what the solver holds; local solvers hold nothing."""
