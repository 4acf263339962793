"""The head: the preflop tables, and iterations sent to the children in batches.

A batch is walked twice (Brown et al. 2015, section 3). The first pass only records where walks leave the preflop; the
batch goes to the children; with their values the second pass repeats the first, on the same regrets and the same random
numbers, and makes the updates. The regrets of the first pass are kept with a batch in flight, because others change the
tables in between. Values are averaged over children by the flops that the hands leave each of them.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.game.arrays import Float
from foldwise.game.primitives.rng import make_states
from foldwise.game.trees.tree_kernels import CHANCE, SHOWDOWN
from foldwise.solver.config import RunConfig
from foldwise.solver.distributed.batch import Batch, ChildAnswer, ChildProgress, ChildReport, external_options
from foldwise.solver.distributed.child import HEAD_STREAMS
from foldwise.solver.distributed.engine import Engine
from foldwise.solver.distributed.pieces import Piece, child_piece, top_piece, whole_pieces
from foldwise.solver.distributed.top_kernels import deal_hands, run_top
from foldwise.solver.regret_kernels import mean_positive_regret, scale_tables
from foldwise.solver.sampling.frames import make_frames

# A batch uses regrets that are as old as the batches in flight, and updates them all at once. Where actions are mixed,
# regrets fluctuate by about the square root of the visits; a batch should bring only a fraction of that many visits to
# an infoset, or the strategy oscillates between batches. So batches grow with the root of the iterations done.
_BATCH_SHARE = 0.125
_LEAST_BATCH = 8


@dataclass(frozen=True)
class Flight:
    """A batch in flight, with what its second pass needs."""

    batch: Batch
    buckets: npt.NDArray[np.int32]  # [W, 2, 1]: preflop, as a deal of one street
    regrets: Float  # the tables as the first pass saw them
    rng: npt.NDArray[np.uint64]  # the generator's state before the first pass
    answers: Callable[[], list[ChildAnswer]]


def weighted_values(batch: Batch, answers: Sequence[ChildAnswer]) -> Float:
    """Value of every continuation: the mean over children, weighted by F_{n,h}."""
    counts = np.stack([answer.flops for answer in answers])  # [N, W]
    totals = counts.sum(axis=0)
    walk_of = np.repeat(np.arange(len(batch.hands)), np.diff(batch.first))  # [C]
    values = np.zeros(len(batch.reached))
    for answer in answers:
        values += answer.flops[walk_of] * answer.values
    weighted: Float = values / totals[walk_of]
    return weighted


class Head:
    """Drives the children of an engine; a solver as `solver.run` knows it."""

    def __init__(self, game: AbstractGame, config: RunConfig, engine: Engine, piece: Piece | None = None):
        self.game = game
        self.config = config
        self.engine = engine
        self.piece = piece or top_piece(game)
        self.iteration = 0
        self.nodes = 0
        self.effective_iterations = 0.0
        self.top_table: Float = np.zeros(2 * self.piece.num_entries)
        self.rng = make_states(config.solver.seed, HEAD_STREAMS)
        self.waiting_seconds = 0.0
        self.solving_seconds = 0.0
        self._sent = 0  # iterations in batches done or in flight
        self._flights: deque[Flight] = deque()
        self._frames = make_frames(game)
        self._unread: Float = np.zeros_like(self.top_table)  # where the first pass adds
        self._most_continuations = _count_continuations(self.piece)
        self._num_buckets = int(self.piece.num_buckets[0, 0])
        self._reports: list[ChildReport] = engine.call_all("report")()
        self._child_nodes = [0] * len(self._reports)
        self._child_seconds = [0.0] * len(self._reports)

    @property
    def table(self) -> Float:
        """The whole game's table, put together: for games small enough."""
        table = np.zeros(2 * self.game.num_entries)
        top, rest = whole_pieces(self.game)
        self.piece.copy_to(top, 2, self.top_table, table)
        for report, own in zip(self._reports, self.engine.call_all("tables")()):
            child_piece(self.game, report.clusters).copy_to(rest, 2, own, table)
        return table

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The head's own state for a checkpoint; the children keep theirs."""
        return {"table": self.top_table, "rng": self.rng}

    @property
    def largest_step(self) -> int:
        """Iterations `advance` may be asked for at once."""
        return 1 << 62

    def advance(self, iterations: int) -> None:
        """Run this many iterations, rounded up to whole batches; further batches may stay in flight."""
        start = time.perf_counter()
        if iterations == 0:  # compiles everything, off the clock
            self._receive(self._send(0))
            return
        goal = self.iteration + iterations
        while self.iteration < goal:
            self._fill()
            if not self._flights:  # the config's last iteration is done
                break
            self._receive(self._flights.popleft())
        self.solving_seconds += time.perf_counter() - start

    def drain(self) -> None:
        """Finish the batches in flight, so that head and children are at the same iteration."""
        start = time.perf_counter()
        while self._flights:
            self._receive(self._flights.popleft())
        self.solving_seconds += time.perf_counter() - start

    def _fill(self) -> None:
        """Send batches until as many as allowed are in flight."""
        while len(self._flights) < self.config.distributed_options.in_flight:
            size = self._next_size()
            if size == 0:
                return
            self._flights.append(self._send(size))

    def _next_size(self) -> int:
        """Iterations of the next batch: up to the next change of the rules; 0 if batches in flight must finish first."""
        solver, done = self.config.solver, self._sent
        calm = int(_BATCH_SHARE * math.sqrt(done * self._num_buckets))
        size = min(self.config.distributed_options.batch_iterations, max(_LEAST_BATCH, calm))
        if solver.iterations is not None:
            size = min(size, solver.iterations - done)
        if done < solver.skip_iterations:
            size = min(size, solver.skip_iterations - done)
        if solver.discount.scheme != "none":
            epoch = solver.discount.epoch_iterations
            if done % epoch == 0 and self.iteration < done:  # the discount comes first
                return 0
            size = min(size, epoch - done % epoch)
        return max(size, 0)

    def _send(self, iterations: int) -> Flight:
        """Deal, walk the first pass, and give the batch to the children."""
        num_walks = 2 * iterations
        hands = np.empty((num_walks, 4), dtype=np.uint8)
        deal_hands(self.rng[0], hands)
        buckets = self._preflop_buckets(hands)
        first = np.zeros(num_walks + 1, dtype=np.int32)
        reached = np.empty(num_walks * self._most_continuations, dtype=np.int32)
        pruning = np.zeros(num_walks, dtype=np.bool_)
        rng, regrets = self.rng[1].copy(), self.top_table.copy()
        sum_weight = 1.0 if self._sent >= self.config.solver.skip_iterations else 0.0
        zeros = np.zeros(len(reached))
        self._pass(self._unread, regrets, self.rng[1], buckets, sum_weight, zeros, reached, first, pruning)
        batch = Batch(hands, first, reached[: first[-1]].copy(), pruning, sum_weight)
        self._sent += iterations
        return Flight(batch, buckets, regrets, rng, self.engine.call_all("walk", batch))

    def _receive(self, flight: Flight) -> None:
        """Take the children's values and walk the second pass."""
        start = time.perf_counter()
        answers = flight.answers()
        waited = time.perf_counter() - start
        batch = flight.batch
        values = weighted_values(batch, answers)
        reached, first, pruning = np.empty_like(batch.reached), np.empty_like(batch.first), batch.pruning.copy()
        self.nodes += self._pass(
            self.top_table,
            flight.regrets,
            flight.rng,
            flight.buckets,
            batch.sum_weight,
            values,
            reached,
            first,
            pruning,
        )
        assert np.array_equal(reached, batch.reached), "the second pass left the path of the first"
        iterations = len(batch.hands) // 2
        if iterations == 0:
            return
        self.waiting_seconds += waited
        for child, answer in enumerate(answers):
            self.nodes += answer.nodes
            self._child_nodes[child] += answer.nodes
            self._child_seconds[child] += answer.busy_seconds
        self.iteration += iterations
        self.effective_iterations += batch.sum_weight * iterations
        self._discount_after_epoch()

    def _pass(
        self,
        table: Float,
        regrets: Float,
        rng: npt.NDArray[np.uint64],
        buckets: npt.NDArray[np.int32],
        sum_weight: float,
        values: Float,
        reached: npt.NDArray[np.int32],
        first: npt.NDArray[np.int32],
        pruning: npt.NDArray[np.bool_],
    ) -> int:
        options = external_options(self.config.solver, sum_weight)
        last_street = self.game.num_streets - 1
        visited = run_top(
            self.piece.nodes,
            regrets,
            table,
            buckets,
            last_street,
            options,
            self._frames,
            rng,
            values,
            reached,
            first,
            pruning,
        )
        return int(visited)

    def _preflop_buckets(self, hands: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
        assert self.game.cards is not None
        both = self.game.cards.bucket_hands(0, hands.reshape(-1, 2))
        return both.reshape(-1, 2, 1).astype(np.int32)

    def _discount_after_epoch(self) -> None:
        discount = self.config.solver.discount
        epoch = discount.ends_epoch(self.iteration)
        if epoch == 0:
            return
        factors = discount.factors(epoch)
        scale_tables(self.piece.nodes, self.piece.num_buckets, self.top_table, *factors)
        self.engine.call_all("discount", *factors)()
        self.effective_iterations *= factors[2]

    def mean_regret(self) -> float:
        """Mean positive regret over the infosets of head and children, on the local solver's scale."""
        own = float(mean_positive_regret(self.piece.nodes, self.piece.num_buckets, self.top_table))
        parts: list[tuple[float, int]] = [(own, self.piece.num_infosets), *self.engine.call_all("mean_regret")()]
        return sum(mean * count for mean, count in parts) / sum(count for _, count in parts)

    def children(self) -> tuple[ChildProgress, ...]:
        """Rate, waiting share and memory of every child."""
        elapsed = max(self.solving_seconds, 1e-9)
        return tuple(
            ChildProgress(
                child=child,
                clusters=len(report.clusters),
                nodes=nodes,
                nodes_per_second=nodes / busy if busy > 0.0 else 0.0,
                waiting_share=max(0.0, 1.0 - busy / elapsed),
                memory_bytes=report.memory_bytes,
                process=report.process,
            )
            for child, (report, nodes, busy) in enumerate(zip(self._reports, self._child_nodes, self._child_seconds))
        )

    @property
    def child_clusters(self) -> list[tuple[int, ...]]:
        """Clusters of each child."""
        return [report.clusters for report in self._reports]

    @property
    def waiting_share(self) -> float:
        """Share of the solving time in which the head waited for its children."""
        return self.waiting_seconds / max(self.solving_seconds, 1e-9)

    def restore(self, iteration: int, nodes: int, effective_iterations: float) -> None:
        """Continue from the counts of a checkpoint."""
        self.iteration = self._sent = iteration
        self.nodes = nodes
        self.effective_iterations = effective_iterations


def _count_continuations(piece: Piece) -> int:
    """Preflop nodes a walk can leave from: street changes, and all-ins that only the board settles."""
    kind = piece.nodes["kind"]
    return int(((piece.nodes["street"] == 0) & ((kind == CHANCE) | (kind == SHOWDOWN))).sum())
