"""Vectorised Monte Carlo CFR (Li et al., 2020) on a game whose joint deals are known: rules, steps, mini-batches.

On one thread and with mini-batches of one walk, a walk adds to the table it reads. Otherwise the walks of a batch all
read the same table and add to arrays of their threads, which are added up, in order, after every batch: so a run does
not depend on how its threads were scheduled.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.deals.joint_deals import JointDeals
from foldwise.game.arrays import Float
from foldwise.game.errors import DefinitionError
from foldwise.game.primitives.rng import make_states
from foldwise.solver.config import SolverConfig
from foldwise.solver.full_width.vector_game import has_exact_response, make_vector_game
from foldwise.solver.sampling import sampling_policy_kernels as kernels
from foldwise.solver.sampling.sampling_policy_kernels import SamplingRules
from foldwise.solver.sampling.vector_sampling_kernels import SamplingFrames, run_semivector, run_vector
from foldwise.solver.side_by_side import side_by_side

_TRAVERSER = {
    "average": kernels.UNIFORM_ACTIONS,
    "robust": kernels.UNIFORM_ACTIONS,
    "outcome": kernels.POLICY_ACTION,
    "external": kernels.ALL_ACTIONS,
}
_EXPLORATION = {
    "none": kernels.NO_EXPLORATION,
    "count": kernels.COUNT_EXPLORATION,
    "epsilon-greedy": kernels.EPSILON_EXPLORATION,
}
_WEIGHTING = {
    "own": kernels.BY_OWN_REACH,
    "opponent": kernels.BY_OPPONENT_REACH,
    "both": kernels.BY_OWN_REACH | kernels.BY_OPPONENT_REACH,
}
# Walks a thread does between two meetings, unless the config says: a semi-vector walk is too short to meet after one.
_WALKS_PER_THREAD = {"vector": 1, "semivector": 16}
_BLOCK_ITERATIONS = 2048  # between two calls of a kernel


def make_rules(config: SolverConfig) -> SamplingRules:
    """What a config says of draws, as kernels read it. Average sampling is robust sampling of one action by MAS."""
    kind = config.sampler.partition("-")[2]
    policy = config.policy or ("mas" if kind == "average" else "mcs")
    return SamplingRules(
        traverser=_TRAVERSER[kind],
        num_sampled=config.sampled_actions if kind == "robust" else 1,
        one_infoset=policy == "rcs",
        by_average=policy in ("mas", "was"),
        weighting=_WEIGHTING[config.policy_weight] if policy in ("wcs", "was") else 0,
        exploration=_EXPLORATION[config.exploration],
        epsilon=config.epsilon if config.epsilon is not None else 0.5,
        support_share=config.support_share,
    )


def make_steps(config: SolverConfig, first: int, last: int) -> Float:
    """[T, 4] numbers of iterations first + 1 to last: alpha, beta, and what regrets and strategy sums weigh."""
    t = np.arange(first + 1.0, last + 1.0)
    weight = t**config.weight_power
    logarithm = np.log(t + 10.0)
    averaged = np.where(t > config.skip_iterations, weight, 0.0)
    return np.stack([1.0 / logarithm, logarithm, weight, averaged], axis=1)


def make_sampling_frames(game: AbstractGame) -> SamplingFrames:
    """A stack for one worker, with both reaches of the root at 1."""
    depth, most_buckets, most_actions = game.depth, int(game.deals.num_buckets.max()), game.max_actions
    return SamplingFrames(
        node=np.zeros(depth, dtype=np.int32),
        action=np.zeros(depth, dtype=np.int32),
        weight=np.ones(depth),
        hand_reach=np.ones(depth),
        taken=np.zeros((depth, most_actions)),
        reach=np.ones((depth, 2, most_buckets)),
        average_reach=np.ones((depth, 2, most_buckets)),
        value=np.zeros((depth, most_buckets)),
        sigma=np.zeros((depth, most_buckets * most_actions)),
        action_value=np.zeros((depth, most_buckets * most_actions)),
        infoset_weight=np.zeros(most_buckets),
    )


def bucket_probabilities(joint: JointDeals) -> Float:
    """[S, 2, B]: how often each player holds each bucket on each street."""
    result = np.zeros((joint.num_streets, 2, int(joint.num_buckets.max())))
    for street, pairs in enumerate(joint.fold_matrices):
        for player in range(2):
            sums = pairs.sum(axis=1 - player)
            result[street, player, : len(sums)] = sums
    return result


@dataclass
class _VectorWorker:
    """What one thread needs for itself; deals and walks draw from two streams, so that blocks may be cut anywhere."""

    deal_rng: npt.NDArray[np.uint64]
    walk_rng: npt.NDArray[np.uint64]
    frames: SamplingFrames
    updates: Float  # what its walks of a batch add to the table
    drawn: Float  # and to the counts


class VectorSampling:
    """One of the vector or semi-vector samplers on one game."""

    def __init__(self, game: AbstractGame, config: SolverConfig):
        joint = game.deals.joint
        if joint is None or not has_exact_response(game):
            raise DefinitionError(
                f"sampler {config.sampler!r} on {game.name!r}: both players' vectors need a list of all joint "
                "deals, and it has none (too many, or its buckets forget); use external or average"
            )
        self.game = game
        self.config = config
        self.iteration = 0
        self.nodes = 0
        self.table: Float = np.zeros(2 * game.num_entries)
        self.rng = make_states(config.seed, 2 * config.threads)
        self.counts: Float = np.zeros(len(game.tree.nodes))
        self.effective_iterations = 0.0
        self.sum_factor = 1.0  # its sums are never discounted
        self.rules = make_rules(config)
        form = config.sampler.partition("-")[0]
        default_batch = 1 if config.threads == 1 else config.threads * _WALKS_PER_THREAD[form]
        self.mini_batch = config.mini_batch or default_batch
        self._is_direct = config.threads == 1 and self.mini_batch == 1
        self._has_vectors = form == "vector"
        self._vector_game = make_vector_game(game)
        self._probability = bucket_probabilities(joint)
        self._workers = [self._make_worker(index) for index in range(config.threads)]

    def _make_worker(self, index: int) -> _VectorWorker:
        return _VectorWorker(
            deal_rng=self.rng[2 * index],
            walk_rng=self.rng[2 * index + 1],
            frames=make_sampling_frames(self.game),
            updates=self.table if self._is_direct else np.zeros_like(self.table),
            drawn=self.counts if self._is_direct else np.zeros_like(self.counts),
        )

    @property
    def largest_step(self) -> int:
        return 1 << 62

    def arrays(self) -> dict[str, npt.NDArray[np.float64] | npt.NDArray[np.uint64]]:
        """What a checkpoint keeps."""
        return {"table": self.table, "rng": self.rng, "counts": self.counts}

    def advance(self, iterations: int) -> None:
        """Run that many iterations, each a batch of walks for either player in turn."""
        left = iterations
        while True:
            block = min(left, _BLOCK_ITERATIONS)
            steps = make_steps(self.config, self.iteration, self.iteration + block)
            if self._is_direct or block == 0:
                self.nodes += self._work(steps, 0, 2, (self._workers[0], 1))
            else:
                self._advance_in_batches(steps)
            self.iteration += block
            left -= block
            if left == 0:
                return

    def _advance_in_batches(self, steps: Float) -> None:
        threads = len(self._workers)
        sizes = [self.mini_batch // threads + (index < self.mini_batch % threads) for index in range(threads)]
        shares = list(zip(self._workers, sizes))
        with ThreadPoolExecutor(threads) as pool:
            for t in range(len(steps)):
                for traverser in range(2):
                    walks = partial(self._work, steps[t : t + 1], traverser, traverser + 1)
                    self.nodes += sum(side_by_side(pool, walks, shares))
                    for worker in self._workers:
                        self.table += worker.updates
                        self.counts += worker.drawn
                        worker.updates[:] = 0.0
                        worker.drawn[:] = 0.0

    def _work(self, steps: Float, first: int, last: int, share: tuple[_VectorWorker, int]) -> int:
        """The walks of one thread: for each step and each traverser from first to last - 1, so many."""
        worker, num_walks = share
        rules = self.rules
        tables = self._vector_game, self._probability, self.table, worker.updates, self.counts, worker.drawn
        if self._has_vectors:
            return int(run_vector(*tables, rules, steps, first, last, num_walks, worker.frames, worker.walk_rng))
        deals = np.empty((len(steps) * (last - first) * num_walks, 2, self.game.num_streets), dtype=np.int32)
        self.game.deals.draw(worker.deal_rng, deals, np.empty(len(deals), dtype=np.int32))
        return int(run_semivector(*tables, rules, steps, first, last, num_walks, deals, worker.frames, worker.walk_rng))
