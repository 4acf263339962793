"""A child: all later rows of its flop clusters, and external sampling on them from the head's continuations."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame, make_abstract_game
from foldwise.abstraction.build import config_tree
from foldwise.abstraction.cards.card_abstraction import CardAbstraction
from foldwise.abstraction.config import check_config
from foldwise.abstraction.deals.holdem_deals import BOARD_SIZES, CardSource
from foldwise.abstraction.storage.array_store import ArrayEntry, write_array
from foldwise.abstraction.strategy import CARDS, pack_strategy, stored_dtype
from foldwise.game.arrays import Counts, Float
from foldwise.game.errors import DefinitionError
from foldwise.game.library import PokerGame
from foldwise.game.primitives.rng import make_states
from foldwise.solver.config import RunConfig
from foldwise.solver.distributed.batch import Batch, ChildAnswer, ChildReport, external_options
from foldwise.solver.distributed.checkpoint import Shard, load_shard
from foldwise.solver.distributed.child_kernels import run_continuations
from foldwise.solver.distributed.flops import FlopDeals, PublicDeals, make_flop_tables
from foldwise.solver.distributed.pieces import Piece, child_piece
from foldwise.solver.memory_estimate import available_bytes
from foldwise.solver.regret_kernels import mean_positive_regret, scale_tables
from foldwise.solver.sampling.frames import make_frames
from foldwise.solver.sampling.sampling_kernels import Frames, WalkOptions

HEAD_STREAMS = 2  # random streams 0 and 1 are the head's: hands, and its walks


@dataclass(frozen=True)
class ChildSpec:
    """Everything a child is made from, on any machine; a restarted child is made from the same."""

    config: dict[str, Any]  # the run's, as JSON
    folder: str  # of the run, on a disk that head and children share
    run: str  # whose checkpoint to reload
    number: int
    clusters: tuple[int, ...]


@dataclass
class _ClusterWorker:
    """What one thread needs for itself."""

    deal_rng: npt.NDArray[np.uint64]
    walk_rng: npt.NDArray[np.uint64]
    frames: Frames


class ClusterChild:
    """One piece of the game with its deals and random streams."""

    def __init__(self, game: AbstractGame, piece: Piece, deals: PublicDeals, config: RunConfig, number: int):
        self.game = game
        self.piece = piece
        self.deals = deals
        self.config = config
        self.number = number
        self.table: Float = np.zeros(2 * piece.num_entries)
        threads = config.solver.threads
        streams = HEAD_STREAMS + 2 * threads * number
        self.rng = make_states(config.solver.seed, streams + 2 * threads)[streams:]
        self._workers = [
            _ClusterWorker(self.rng[2 * thread], self.rng[2 * thread + 1], make_frames(game))
            for thread in range(threads)
        ]
        # The factor by which its regrets grow faster than the local solver's: every iteration visits its flops alone.
        self.scale = threads / deals.share

    def walk(self, batch: Batch) -> ChildAnswer:
        """Walk from every continuation of a batch, on all threads alike; the values are their mean."""
        start = time.perf_counter()
        counts = self.deals.count(batch.hands)
        if self.config.distributed_options.weigh_by_flops:
            weights = counts / self.deals.mean_flops
        else:
            weights = (counts > 0).astype(np.float64)
        options = external_options(self.config.solver, batch.sum_weight, self.scale)
        if len(self._workers) == 1:
            parts = [self._work(self._workers[0], batch, counts, weights, options)]
        else:
            with ThreadPoolExecutor(len(self._workers)) as pool:
                work = [pool.submit(self._work, worker, batch, counts, weights, options) for worker in self._workers]
                parts = [part.result() for part in work]
        values = np.mean([part[0] for part in parts], axis=0)
        nodes = sum(part[1] for part in parts)
        return ChildAnswer(values, counts, nodes, time.perf_counter() - start)

    def _work(
        self, worker: _ClusterWorker, batch: Batch, counts: Counts, weights: Float, options: WalkOptions
    ) -> tuple[Float, int]:
        """One thread's work: the same inputs, its own boards and draws."""
        num_walks = len(batch.hands)
        buckets = np.zeros((num_walks, 2, self.game.num_streets), dtype=np.int32)
        outcome_rows = np.zeros(num_walks, dtype=np.int32)
        values = np.empty(len(batch.reached))
        self.deals.draw(worker.deal_rng, batch.hands, counts, buckets, outcome_rows)
        nodes = run_continuations(
            self.piece.nodes,
            self.table,
            buckets,
            outcome_rows,
            self.deals.outcomes,
            weights,
            batch.first,
            batch.reached,
            batch.pruning,
            self.game.num_streets - 1,
            options,
            worker.frames,
            worker.walk_rng,
            values,
        )
        return values, int(nodes)

    def discount(self, positive: float, negative: float, sums: float) -> None:
        """Discount everything, as the head does with its own."""
        scale_tables(self.piece.nodes, self.piece.num_buckets, self.table, positive, negative, sums)

    def mean_regret(self) -> tuple[float, int]:
        """Mean positive regret on the local solver's scale, and over how many infosets."""
        mean = float(mean_positive_regret(self.piece.nodes, self.piece.num_buckets, self.table))
        return mean / self.scale, self.piece.num_infosets

    def tables(self) -> Float:
        """A copy of regrets and sums, for games small enough to be put together."""
        return self.table.copy()

    def save(self, folder: str, iteration: int) -> Shard:
        """Write the shard of a checkpoint; the head's manifest makes it count."""
        return Shard(
            clusters=list(self.piece.clusters),
            scale=self.scale,
            table=write_array(Path(folder), f"shard-{self.number}-table-{iteration}", self.table),
            rng=write_array(Path(folder), f"shard-{self.number}-rng-{iteration}", self.rng),
        )

    def save_strategy(self, folder: str, iteration: int) -> tuple[ArrayEntry, int]:
        """Write the piece's average strategy as the strategy file will hold it; also how many infosets were reached."""
        dtype = stored_dtype(self.game.num_entries)
        stored, reached = pack_strategy(self.piece.nodes, self.piece.num_buckets, self.table, dtype)
        return write_array(Path(folder), f"piece-{self.number}-{iteration}", stored), reached

    def report(self) -> ChildReport:
        return ChildReport(
            clusters=self.piece.clusters,
            memory_bytes=self.table.nbytes + self.piece.nodes.nbytes,
            process=os.getpid(),
        )


def card_game(config: RunConfig, cards: CardAbstraction) -> tuple[AbstractGame, int]:
    """The abstract game with sampled deals, without the long counting an exact one takes; and its board cards."""
    game = config.find_game()
    assert isinstance(game, PokerGame)
    board_cards = BOARD_SIZES[game.num_streets - 1] + game.run_out_cards
    source = CardSource(cards, game.num_streets, board_cards)
    return make_abstract_game(config.name, config_tree(config), source, game.unit_chips, cards), board_cards


def make_child(spec: ChildSpec) -> ClusterChild:
    """Make a child from its spec and the run's folder, at the run's last checkpoint if there is one."""
    config = check_config(spec.config, RunConfig, f"child {spec.number}")
    folder = Path(spec.folder)
    cards = CardAbstraction.load(folder / CARDS)
    game, board_cards = card_game(config, cards)
    piece = child_piece(game, spec.clusters)
    needed, available = 16 * piece.num_entries, available_bytes()
    if needed > available:
        raise DefinitionError(
            f"child {spec.number} needs {needed / 1e9:.1f} GB for {piece.num_entries:,} infoset-actions, "
            f"{available / 1e9:.1f} GB are free: use more children or machines"
        )
    deals = FlopDeals(cards, make_flop_tables(cards, spec.clusters), piece.cluster_buckets, board_cards)
    child = ClusterChild(game, piece, deals, config, spec.number)
    load_shard(folder, spec.run, game, piece, child.scale, child.table, child.rng)
    return child
