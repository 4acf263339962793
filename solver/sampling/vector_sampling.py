"""Monte Carlo CFR in vector, semi-vector and value form (Li et al., 2020): rules, steps, public chance, mini-batches.

Public chance is drawn before every walk, as in public chance sampling: boards from the deck where a game of several streets
has a card abstraction, parts of a game of few deals otherwise.

On one thread and with mini-batches of one walk, a walk adds to the table it reads. Otherwise the walks of a batch all
read the same table and add to arrays of their threads, which are added up, in order, after every batch: so a run does
not depend on how its threads were scheduled.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.game.arrays import Float
from foldwise.game.errors import DefinitionError
from foldwise.game.primitives.rng import make_states
from foldwise.solver.config import SolverConfig
from foldwise.solver.sampling import sampling_policy_kernels as kernels
from foldwise.solver.sampling import vector_sampling_kernels as walks
from foldwise.solver.sampling.public_chance import (
    RUN_OUT_CARDS,
    make_board_deals,
    make_ends,
    make_hands,
    split_by_public_chance,
)
from foldwise.solver.sampling.public_deal_kernels import PartSet
from foldwise.solver.sampling.sampling_policy_kernels import SamplingRules
from foldwise.solver.sampling.vector_sampling_kernels import SampledTables, SamplingFrames, run_on_boards, run_on_parts
from foldwise.solver.side_by_side import side_by_side

_FORMS = {"vector": walks.VECTOR, "semivector": walks.SEMIVECTOR, "value": walks.VALUE}
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
_DRAWN_BY = {"rcs": kernels.ONE_BY_MARGINAL, "rcs-drawn": kernels.ONE_BY_ITSELF}
# Walks per thread between two synchronisations, by default: a walk of single hands is too short to synchronise each.
_WALKS_PER_THREAD = {"vector": 1, "semivector": 16, "value": 64}
_BLOCK_ITERATIONS = 2048  # between two calls of a kernel


def make_rules(config: SolverConfig) -> SamplingRules:
    """The config's sampling rules as kernels read them. Average sampling is robust sampling of one action by MAS."""
    kind = config.sampler.partition("-")[2]
    policy = config.policy or ("mas" if kind == "average" else "mcs")
    return SamplingRules(
        traverser=_TRAVERSER[kind],
        num_sampled=config.sampled_actions if kind == "robust" else 1,
        drawn_by=_DRAWN_BY.get(policy, kernels.MEAN_STRATEGY),
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


def make_sampling_frames(game: AbstractGame, most_hands: int) -> SamplingFrames:
    """A stack for one worker."""
    depth, most_actions = game.depth, game.max_actions
    return SamplingFrames(
        node=np.zeros(depth, dtype=np.int32),
        action=np.zeros(depth, dtype=np.int32),
        weight=np.ones(depth),
        taken=np.zeros((depth, most_actions)),
        reach=np.ones((depth, 2, most_hands)),
        average_reach=np.ones((depth, 2, most_hands)),
        value=np.zeros((depth, most_hands)),
        sigma=np.zeros((depth, most_hands * most_actions)),
        action_value=np.zeros((depth, most_hands * most_actions)),
        hand_weight=np.zeros(most_hands),
        bucket_weight=np.zeros(most_hands),
        policy=np.zeros(most_actions),
    )


class _PublicChance:
    """What one thread draws public chance with: boards, or parts of a small game."""

    def __init__(self, game: AbstractGame, parts: PartSet | None):
        self._singles = make_hands(1, game.num_streets), make_hands(1, game.num_streets)
        self._run: Any
        self._deals: tuple[Any, ...]
        if parts is not None:
            self.most_hands = parts.weight.shape[2]
            self._run, self._deals = run_on_parts, (parts, make_ends(RUN_OUT_CARDS))  # unused memory: matrices decide
            return
        assert game.cards is not None
        deals = make_board_deals(game, game.cards)
        self.most_hands = deals.hands.num_hands
        self._run, self._deals = run_on_boards, (deals, make_ends(deals.num_board))

    def run(self, *arguments: Any, form: int, frames: SamplingFrames, rngs: tuple[Any, Any]) -> int:
        """Walks, each on public chance of its own; returns public nodes visited."""
        return int(self._run(*arguments, *self._deals, self._singles, form, frames, *rngs))


@dataclass
class _VectorWorker:
    """What one thread needs for itself; deals and walks draw from two streams, so that blocks may be cut anywhere."""

    deal_rng: npt.NDArray[np.uint64]
    walk_rng: npt.NDArray[np.uint64]
    chance: _PublicChance
    frames: SamplingFrames
    updates: Float  # what its walks of a batch add to the table
    drawn: Float  # and to the counts


class VectorSampling:
    """One of the vector, semi-vector or value-form samplers on one game."""

    def __init__(self, game: AbstractGame, config: SolverConfig):
        joint = game.deals.joint
        if joint is None and game.cards is None:
            raise DefinitionError(
                f"sampler {config.sampler!r} on {game.name!r}: vectors of hands need a card abstraction, or few enough deals "
                "to list, and it has neither; use external or average"
            )
        has_boards = game.cards is not None and (game.num_streets > 1 or joint is None)
        self._parts = None if has_boards or joint is None else split_by_public_chance(joint)
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
        self._form = _FORMS[form]
        self._workers = [self._make_worker(index) for index in range(config.threads)]

    def _make_worker(self, index: int) -> _VectorWorker:
        chance = _PublicChance(self.game, self._parts)
        return _VectorWorker(
            deal_rng=self.rng[2 * index],
            walk_rng=self.rng[2 * index + 1],
            chance=chance,
            frames=make_sampling_frames(self.game, chance.most_hands),
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
        tables = SampledTables(self.game.tree.nodes, self.table, worker.updates, self.counts, worker.drawn)
        rngs = worker.deal_rng, worker.walk_rng
        return worker.chance.run(
            tables, self.rules, steps, first, last, num_walks, form=self._form, frames=worker.frames, rngs=rngs
        )
