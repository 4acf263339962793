"""Monte Carlo CFR: blocks of iterations on one table, by one or more threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.game.primitives.rng import make_states
from foldwise.solver.config import SolverConfig
from foldwise.solver.regret_kernels import scale_tables
from foldwise.solver.samplers import load_rule
from foldwise.solver.sampling.chance_kernels import Reached
from foldwise.solver.sampling.frames import make_frames, make_reached
from foldwise.solver.sampling.sampling_kernels import Frames, WalkOptions

State = npt.NDArray[np.uint64]

# Walks a block of deals: the signature of `solver.sampling.block_kernels`; returns the nodes visited.
RunBlock = Callable[..., int]
# Threads add to one shared table without locks; on a table this small they would overwrite each other's additions too
# often (docs/deviations.md), so there each works on a copy and the differences are added up after every block.
_PRIVATE_TABLE_ENTRIES = 1 << 17
_PRIVATE_BLOCK_ITERATIONS = 256
_PRIVATE_BLOCK_SHARE = 50
_BLOCK_DEALS = 4096
_WEIGHT_BITS = 7  # of a linear weight: it changes 64 times per doubling of the iterations, so that steps stay long


class ThreadWorker(Protocol):
    """What one thread needs for itself."""

    def work(self, table: npt.NDArray[Any], iterations: int, options: WalkOptions) -> int:
        """Deal and walk this many iterations; returns nodes visited."""


class _DealWorker:
    """Walks on deals of both players. Deals and walks draw from two streams, so that blocks may be cut anywhere."""

    def __init__(
        self,
        game: AbstractGame,
        run_block: RunBlock,
        deals_per_iteration: int,
        scratch: Frames | Reached,
        deal_rng: State,
        walk_rng: State,
    ):
        self._game = game
        self._run_block = run_block
        self._deals_per_iteration = deals_per_iteration
        self._deal_rng = deal_rng
        self._walk_rng = walk_rng
        self._scratch = scratch
        self._buckets = np.zeros((_BLOCK_DEALS, 2, game.num_streets), dtype=np.int32)
        self._outcome_rows = np.zeros(_BLOCK_DEALS, dtype=np.int32)

    def work(self, table: npt.NDArray[Any], iterations: int, options: WalkOptions) -> int:
        """Deal and walk; returns nodes visited."""
        game = self._game
        num_visited: int = 0
        left = iterations * self._deals_per_iteration
        while True:
            count = min(left, _BLOCK_DEALS)
            buckets, outcome_rows = self._buckets[:count], self._outcome_rows[:count]
            game.deals.draw(self._deal_rng, buckets, outcome_rows)
            num_visited += int(
                self._run_block(
                    game.tree.nodes,
                    table,
                    buckets,
                    outcome_rows,
                    game.deals.outcomes,
                    game.num_streets - 1,
                    options,
                    self._scratch,
                    self._walk_rng,
                )
            )
            left -= count
            if left == 0:
                return num_visited


class Mccfr:
    """One of the samplers on one game: the config's, or the caller's own `run_block` (docs/api/sampler.md)."""

    def __init__(self, game: AbstractGame, config: SolverConfig, run_block: RunBlock | None = None):
        self.game = game
        self.config = config
        self.iteration = 0
        self.nodes = 0
        dtype = np.float32 if config.precision == "single" else np.float64
        self.table: npt.NDArray[Any] = np.zeros(2 * game.num_entries, dtype=dtype)
        self.rng = make_states(config.seed, 2 * config.threads)
        self.effective_iterations = 0.0  # iterations in the average, each at its discounted weight
        self.sum_factor = 1.0  # the product of all discounts of strategy sums so far
        self.prunes = config.prune_from_share == 0.0
        self._own_block = run_block
        self._workers = [self._make_worker(index) for index in range(config.threads)]

    def _make_worker(self, index: int) -> ThreadWorker:
        sampler = self.config.sampler
        run_block = self._own_block or load_rule(sampler)
        if sampler == "chance":
            return _DealWorker(self.game, run_block, 1, make_reached(self.game), *self.rng[2 * index : 2 * index + 2])
        return _DealWorker(self.game, run_block, 2, make_frames(self.game), *self.rng[2 * index : 2 * index + 2])

    @property
    def largest_step(self) -> int:
        """Iterations `advance` may be asked for at once: up to the next change of the rules."""
        discount = self.config.discount
        limits = [1 << 62]
        if self.iteration < self.config.skip_iterations:
            limits.append(self.config.skip_iterations - self.iteration)
        if discount.scheme != "none" and discount.share is None:
            limits.append(discount.epoch_iterations - self.iteration % discount.epoch_iterations)
        if self.config.average_weights == "linear":
            weight, unit = _linear_weight(self.iteration + 1)
            limits.append(weight + unit - (self.iteration + 1))
        return min(limits)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What a checkpoint keeps."""
        return {"table": self.table, "rng": self.rng}

    def advance(self, iterations: int) -> None:
        """Run that many iterations, at most `largest_step`."""
        options = self._options()
        if self.config.threads == 1 or iterations == 0:
            self.nodes += self._workers[0].work(self.table, iterations, options)
        else:
            self._advance_together(iterations, options)
        self.iteration += iterations
        self.effective_iterations += iterations * options.sum_weight
        epoch = self.config.discount.ends_epoch(self.iteration)
        if iterations > 0 and epoch > 0:
            self.discount(epoch)

    def _options(self) -> WalkOptions:
        config = self.config
        averaged = max(self.iteration - config.skip_iterations, 0)
        prunes = self.prunes and config.prune_below_chips is not None
        return WalkOptions(
            sum_weight=self._sum_weight() if self.iteration >= config.skip_iterations else 0.0,
            regret_floor=-np.inf if config.regret_floor_chips is None else config.regret_floor_chips,
            prune_below=-np.inf if config.prune_below_chips is None else config.prune_below_chips,
            prune_share=config.prune_share if prunes else 0.0,
            epsilon=config.walk_epsilon,
            tau=config.tau,
            beta=config.walk_beta,
            sum_scale=averaged / self.effective_iterations if self.effective_iterations > 0.0 else 1.0,
        )

    def _sum_weight(self) -> float:
        """The weight of the next iterations in the average."""
        return float(_linear_weight(self.iteration + 1)[0]) if self.config.average_weights == "linear" else 1.0

    def _advance_together(self, iterations: int, options: WalkOptions) -> None:
        threads = self.config.threads
        # Differences added in single precision would lose what the walks' stochastic rounding preserves.
        private = self.game.num_entries <= _PRIVATE_TABLE_ENTRIES and self.table.dtype == np.float64
        with ThreadPoolExecutor(threads) as pool:
            left = iterations
            while left > 0:
                block = min(left, threads * self._private_block()) if private else left
                shares = [block // threads + (index < block % threads) for index in range(threads)]
                tables = [self.table.copy() for _ in self._workers] if private else [self.table] * threads
                work = [
                    pool.submit(worker.work, table, share, options)
                    for worker, table, share in zip(self._workers, tables, shares)
                ]
                self.nodes += sum(future.result() for future in work)
                if private:
                    start = self.table.copy()
                    for table in tables:
                        self.table += table - start
                left -= block

    def _private_block(self) -> int:
        """Iterations a thread works on its copy: few enough that missing the others' updates hardly matters."""
        return max(_PRIVATE_BLOCK_ITERATIONS, self.iteration // _PRIVATE_BLOCK_SHARE)

    def discount(self, epoch: int) -> None:
        """Discount regrets and sums as after epoch 1, 2, ... (Brown and Sandholm 2019, in the form for sampling)."""
        positive, negative, sums = self.config.discount.factors(epoch)
        scale_tables(self.game.tree.nodes, self.game.deals.num_buckets, self.table, positive, negative, sums)
        self.effective_iterations *= sums
        self.sum_factor *= sums


def _linear_weight(iteration: int) -> tuple[int, int]:
    """The number of an iteration, rounded down to its leading bits, and how many iterations in a row share it."""
    unit = 1 << max(0, iteration.bit_length() - _WEIGHT_BITS)
    return iteration // unit * unit, unit
