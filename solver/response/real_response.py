"""Exact best responses with real cards inside a betting abstraction: what card abstraction costs, on small trees.

The responder sees his real cards and takes the best of the abstract tree's actions; the opponent plays his rows by
bucket. This is the vector best response of Johanson, Waugh, Bowling and Zinkevich, Accelerating best response
calculation in large extensive games (IJCAI 2011), over public boards with suit isomorphism: 1,755 flops, and below each
the turn and river cards that no relabelling of suits turns into each other.

Flops are independent pieces of work: threads take one at a time, finished ones are kept, and a run can be taken up again.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from foldwise.abstraction.cards.boards import RELABELLINGS, boards
from foldwise.abstraction.cards.card_abstraction import CardAbstraction
from foldwise.abstraction.storage import array_store
from foldwise.game.arrays import Float
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.hands.showdown import empty_board, empty_sums
from foldwise.game.hands.showdown_kernels import NUM_RANKS, ShowdownBoard, ShowdownSums
from foldwise.game.trees.tree import Tree
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, SHOWDOWN
from foldwise.solver.response import real_response_kernels as kernels

Policy = npt.NDArray[np.float32] | npt.NDArray[np.float64]

NUM_FLOPS: Final = 1755
NUM_CLASSES: Final = 169
MANIFEST: Final = "response.json"
_SAVE_SECONDS = 30.0
_MOST_BYTES = 4 << 30


class ResponseTree(NamedTuple):
    """A betting tree as one responder's walk reads it."""

    nodes: npt.NDArray[np.void]
    player: int  # who responds
    order: npt.NDArray[np.int32]  # [N] nodes by street, parents first
    starts: npt.NDArray[np.int64]  # [streets + 1] in `order`
    alias: npt.NDArray[np.int32]  # [N] the node whose reach this one has: the responder's actions change none
    early: npt.NDArray[np.int32]  # showdowns before the last street
    early_number: npt.NDArray[np.int32]  # [N] place in `early`
    carriers: npt.NDArray[np.int32]  # nodes of the first street that go on with a flop
    pair_cards: npt.NDArray[np.uint8]  # [1326, 2]
    classes: npt.NDArray[np.int64]  # [1326] of 169
    class_sizes: npt.NDArray[np.int64]  # [169]


class Symmetries(NamedTuple):
    """Relabellings of suits."""

    relabellings: npt.NDArray[np.int64]  # [24, 4]
    pairs: npt.NDArray[np.uint16]  # [24, 1326]


class ResponseMemory(NamedTuple):
    """Memory of one thread; N nodes, S streets, E early showdowns."""

    reach: Float  # [N, 1326]
    value: Float  # [N, 1326]
    live: npt.NDArray[np.bool_]  # [N] whether the opponent gets there with any hand
    run_out: Float  # [S, E, 1326] of early showdowns, on each street's board; the last street's in its order
    buckets: npt.NDArray[np.int64]  # [S, 1326]
    possible: npt.NDArray[np.bool_]  # [S, 1326]
    stabiliser: npt.NDArray[np.int64]  # [S, 24]
    num_stabiliser: npt.NDArray[np.int64]  # [S]
    next_card: npt.NDArray[np.int64]  # [S]
    board: npt.NDArray[np.int64]  # [5]
    cards: npt.NDArray[np.int64]  # [7]
    ranks: npt.NDArray[np.uint16]  # [1326]
    counts: npt.NDArray[np.int64]
    card_sums: Float  # [52]
    showdown: ShowdownBoard
    sums: ShowdownSums
    ordered: Float  # [n] a reach in the order of `showdown`
    unordered: Float  # [1326] values by pair number


def _preflop_classes() -> npt.NDArray[np.int64]:
    return hand_index((2,)).index_hands(PAIR_CARDS)


def _response_tree(tree: Tree, player: int, num_streets: int) -> ResponseTree:
    nodes = tree.nodes
    streets = nodes["street"].astype(np.int64)
    order = np.argsort(streets, kind="stable").astype(np.int32)
    alias = np.arange(len(nodes), dtype=np.int32)
    for node in range(1, len(nodes)):
        above = int(tree.parent[node])
        if nodes[above]["kind"] == DECISION and nodes[above]["player"] == player:
            alias[node] = alias[above]
    early = np.flatnonzero((nodes["kind"] == SHOWDOWN) & (streets < num_streets - 1)).astype(np.int32)
    early_number = np.zeros(len(nodes), np.int32)
    early_number[early] = np.arange(len(early))
    goes_on = (streets == 0) & ((nodes["kind"] == CHANCE) | (nodes["kind"] == SHOWDOWN))
    classes = _preflop_classes()
    return ResponseTree(
        nodes=nodes,
        player=player,
        order=order,
        starts=np.searchsorted(streets[order], np.arange(num_streets + 1)).astype(np.int64),
        alias=alias,
        early=early,
        early_number=early_number,
        carriers=np.flatnonzero(goes_on).astype(np.int32),
        pair_cards=PAIR_CARDS,
        classes=classes,
        class_sizes=np.bincount(classes, minlength=NUM_CLASSES),
    )


class ResponseManifest(BaseModel):
    """`response.json`: a best response with real cards, as far as it is computed."""

    model_config = ConfigDict(extra="forbid")

    format_version: int = 1
    kind: str = "foldwise real response"
    policy: str  # fingerprint of what is responded to
    done: list[list[int]]  # by player, the flops finished
    seconds: float
    arrays: dict[str, array_store.ArrayEntry]


@dataclass(frozen=True)
class ResponseProgress:
    """How far a computation is."""

    done: int  # flops, of both players
    total: int
    seconds_left: float


class RealResponse:
    """Best responses of both players to one policy, flop by flop."""

    def __init__(self, tree: Tree, cards: CardAbstraction, policy: Policy, num_streets: int):
        if num_streets < 2 or len(cards.streets) < num_streets:
            raise DefinitionError(
                f"a response with real cards needs hold'em with a flop, this game has {num_streets} streets"
            )
        if any(street.method == "raw" for street in cards.streets):
            raise DefinitionError(
                "cards of method 'raw' tell suits apart: a response over suit-distinct boards is not exact"
            )
        bytes_needed = 2 * 8 * NUM_PAIRS * len(tree.nodes)
        if bytes_needed > _MOST_BYTES:
            raise DefinitionError(
                f"a tree of {len(tree.nodes):,} nodes needs {bytes_needed / 2**30:.1f} GB for each thread: "
                "a response with real cards is for small trees, use lbr"
            )
        self.num_streets = num_streets
        self._last = num_streets - 1
        self._cards = cards
        self._policy = policy
        self._trees = [_response_tree(tree, player, num_streets) for player in range(2)]
        self._flops = boards(3)
        self._symmetries = Symmetries(RELABELLINGS, self._flops.pairs)
        self._memory = threading.local()

    @property
    def num_carriers(self) -> int:
        return len(self._trees[0].carriers)

    def _make_work(self, player: int) -> ResponseMemory:
        """Memory with the reach of the first street, which no board changes."""
        tree = self._trees[player]
        num_nodes, num_streets = len(tree.nodes), self.num_streets
        num_board = self._last + 2
        showdown = empty_board(num_board)
        work = ResponseMemory(
            reach=np.zeros((num_nodes, NUM_PAIRS)),
            value=np.zeros((num_nodes, NUM_PAIRS)),
            live=np.zeros(num_nodes, np.bool_),
            run_out=np.zeros((num_streets, len(tree.early), NUM_PAIRS)),
            buckets=np.zeros((num_streets, NUM_PAIRS), np.int64),
            possible=np.ones((num_streets, NUM_PAIRS), np.bool_),
            stabiliser=np.zeros((num_streets, len(RELABELLINGS)), np.int64),
            num_stabiliser=np.zeros(num_streets, np.int64),
            next_card=np.zeros(num_streets, np.int64),
            board=np.zeros(5, np.int64),
            cards=np.zeros(7, np.int64),
            ranks=np.zeros(NUM_PAIRS, np.uint16),
            counts=np.zeros(NUM_RANKS, np.int64),
            card_sums=np.zeros(52),
            showdown=showdown,
            sums=empty_sums(num_board),
            ordered=np.zeros(showdown.pairs.size),
            unordered=np.zeros(NUM_PAIRS),
        )
        work.buckets[0] = self._cards.bucket_hands(0, PAIR_CARDS)
        work.reach[0] = 1.0
        work.live[0] = True
        kernels.forward(tree, self._policy, 0, NUM_PAIRS, work)
        return work

    def flop_values(self, flop: int, player: int, best: bool = True) -> Float:
        """[carriers, 169]: what the responder wins after the first street on one class of flops."""
        if getattr(self._memory, "player", None) != player:
            self._memory.work, self._memory.player = self._make_work(player), player
        out = np.zeros((self.num_carriers, NUM_CLASSES))
        kernels.walk_flop(
            self._trees[player],
            self._cards.tables,
            evaluator_tables(),
            self._policy,
            self._symmetries,
            self._flops.cards[flop],
            self._last,
            best,
            self._memory.work,
            out,
        )
        return out

    def hand_values(self, values: Float, flops: npt.NDArray[np.int64], player: int, best: bool = True) -> Float:
        """[1326]: what each hand wins, in chips, from `flop_values` [flops, carriers, 169] of all classes of flops.

        Given fewer flops, the game is the one in which only they are dealt.
        """
        tree = self._trees[player]
        work = self._make_work(player)
        orbits = self._flops.orbits[flops].astype(np.float64)
        if len(flops) == NUM_FLOPS:
            weights = orbits / comb(48, 3)
        else:
            # The mean over the flops given, for a pair of hands: most flops, not all, go with it.
            weights = orbits / orbits.sum() * comb(52, 3) / comb(48, 3)
        summed = np.tensordot(weights, values, axes=1)
        for row, node in zip(summed, tree.carriers):
            work.value[node] = row[tree.classes]
        kernels.backward(tree, self._policy, 0, self._last, best, work)
        won: Float = work.value[0] / comb(50, 2)
        return won

    def flop_exploitability(self, flop: int, best: bool = True) -> float:
        """What best responses from one class of flops on win, in chips, mean of both players; both play their rows before.

        The mean over flops, weighted by their orbits, is a lower bound of the whole exploitability.
        """
        dealt = np.array([flop])
        won = 0.0
        for player in range(2):
            values = self.flop_values(flop, player, best)[None]
            won += float(self.hand_values(values, dealt, player, best=False).mean())
        return won / 2.0

    def run(
        self,
        fingerprint: str,
        threads: int,
        listen: Callable[[ResponseProgress], None],
        folder: Path | None = None,
        resume: bool = False,
        flops: int = NUM_FLOPS,
    ) -> tuple[float, float] | None:
        """Both players' best responses in chips; with `flops` below 1,755 only times that many, and returns None."""
        order = np.random.default_rng(0).permutation(NUM_FLOPS)  # so that the first ones tell how long all take
        values = np.zeros((2, NUM_FLOPS, self.num_carriers, NUM_CLASSES))
        done: list[list[int]] = [[], []]
        before = 0.0
        if folder is not None:
            done, before = self._open(folder, fingerprint, resume, values)
        self.flop_values(int(order[0]), 0)  # compiles, which must not count in the estimate
        start = saved = time.monotonic()
        num_before = sum(map(len, done))
        for player in range(2):
            finished = set(done[player])
            left = [int(flop) for flop in order[:flops] if int(flop) not in finished]
            try:
                for flop, found in self._walk_flops(left, player, threads):
                    values[player, flop] = found
                    done[player].append(flop)
                    count, now = sum(map(len, done)), time.monotonic()
                    rate = (now - start) / (count - num_before)
                    listen(ResponseProgress(count, 2 * NUM_FLOPS, rate * (2 * NUM_FLOPS - count)))
                    if folder is not None and now - saved > _SAVE_SECONDS:
                        self._save(folder, fingerprint, values, done, before + now - start)
                        saved = now
            finally:
                if folder is not None:
                    self._save(folder, fingerprint, values, done, before + time.monotonic() - start)
        if flops < NUM_FLOPS:
            return None
        everything = np.arange(NUM_FLOPS)
        first, second = (float(self.hand_values(values[player], everything, player).mean()) for player in range(2))
        return first, second

    def _walk_flops(self, flops: list[int], player: int, threads: int) -> Iterator[tuple[int, Float]]:
        """Values flop by flop, in order, from several threads."""
        with ThreadPoolExecutor(threads) as pool:
            try:
                yield from zip(flops, pool.map(lambda flop: self.flop_values(flop, player), flops))
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def _open(self, folder: Path, fingerprint: str, resume: bool, values: Float) -> tuple[list[list[int]], float]:
        array_store.check_writable(folder)
        if not (folder / MANIFEST).exists():
            return [[], []], 0.0
        if not resume:
            raise DefinitionError(f"{str(folder)!r} holds a response already: add --resume, or choose another folder")
        manifest = array_store.read_manifest(folder, MANIFEST, ResponseManifest, "folder of a response")
        if manifest.policy != fingerprint:
            raise FormatError(
                f"{str(folder)!r} holds a response to {manifest.policy}, not to {fingerprint}: choose another folder"
            )
        entry = array_store.find_entry(folder / MANIFEST, manifest.arrays, "values")
        array_store.verify_array(folder, entry)
        known = all(len({*flops}) == len(flops) and {*flops} <= set(range(NUM_FLOPS)) for flops in manifest.done)
        if entry.shape != values.shape or len(manifest.done) != 2 or not known:
            raise FormatError(f"{str(folder / MANIFEST)!r} is not of this game: choose another folder")
        values[:] = array_store.open_array(folder, entry)
        return manifest.done, manifest.seconds

    def _save(self, folder: Path, fingerprint: str, values: Float, done: list[list[int]], seconds: float) -> None:
        entries = {"values": array_store.write_array(folder, f"values-{sum(map(len, done))}", values)}
        manifest = ResponseManifest(policy=fingerprint, done=done, seconds=seconds, arrays=entries)
        array_store.commit_manifest(folder, MANIFEST, manifest)
        array_store.remove_stale(folder, "values-*.npy", entries)
