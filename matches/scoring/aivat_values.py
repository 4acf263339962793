"""The value function of AIVAT: what each bucket is worth at each node of a strategy that plays itself.

`values[player, row of the node + bucket]` is the mean, in chips, that the player wins from there on with a hand of the
bucket against the other player's hands that come there, weighted by how often they do; both go on as the strategy says.
It is computed on sampled boards, on all hands of both players at once, and exactly where a game has few boards. It is
made before any hand is scored and kept in `values/` beside the strategy, so that a score never fits its own data.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.card_lookup import CardLookup
from foldwise.abstraction.storage.array_folder import load_arrays, save_arrays
from foldwise.abstraction.strategy import Strategy
from foldwise.agent.following.tracker import Seat
from foldwise.agent.strategy_player import OpenStrategy, StrategyPlayer
from foldwise.game.arrays import Float
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import FormatError
from foldwise.game.trees.tree import Tree
from foldwise.game.trees.tree_kernels import DECISION, SHOWDOWN
from foldwise.matches.scoring.aivat_values_kernels import add_board
from foldwise.matches.scoring.expectation import match_boards
from foldwise.matches.scoring.ranges import all_boards, board_view, range_board
from foldwise.postprocess.pipeline import Pipeline

FOLDER = "values"
KIND = "strategy values"
VERSION = 1
DEFAULT_BOARDS = 200
Listener = Callable[[int], None]  # boards done


class Values(NamedTuple):
    """The values as kernels read them."""

    starts: npt.NDArray[np.int64]  # [nodes]
    num_buckets: npt.NDArray[np.int64]  # [streets]
    values: npt.NDArray[np.float32]  # [2, entries] in chips, to each player


class ValueFrames(NamedTuple):
    """The path being walked; D deep, n hands."""

    node: npt.NDArray[np.int64]  # [D]
    child: npt.NDArray[np.int64]  # [D]: the next one
    reach: Float  # [D, 2, n]
    values: Float  # [D, 2, n]
    rows: Float  # [D, n, A]


def street_buckets(seat: Seat) -> npt.NDArray[np.int64]:
    """Buckets of each street, as the rows of the tree have room for."""
    nodes = seat.tree.nodes
    decisions = nodes[nodes["kind"] == DECISION]
    decisions = decisions[np.argsort(decisions["base"], kind="stable")]
    num_entries = max(seat.floats.size, seat.words.size, seat.bytes.size)
    ends = np.append(decisions["base"][1:], num_entries)
    buckets = (ends - decisions["base"]) // decisions["num_children"]
    num_streets = int(nodes["street"].max()) + 1
    return np.array([buckets[decisions["street"] == street].max() for street in range(num_streets)], np.int64)


def row_starts(tree: Tree, num_buckets: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], int]:
    """Where each node's row begins, and the entries of all."""
    street = tree.nodes["street"].astype(np.int64)
    # From a street on: the rows of an all-in hand.
    to_come = np.cumsum(num_buckets[::-1])[::-1]
    lengths = np.where(tree.nodes["kind"] == SHOWDOWN, to_come[street], num_buckets[street])
    ends = np.cumsum(lengths)
    return ends - lengths, int(ends[-1])


def _depth(tree: Tree) -> int:
    depth = np.ones(tree.num_nodes, np.int64)
    for node in range(1, tree.num_nodes):
        depth[node] = depth[tree.parent[node]] + 1
    return int(depth.max())


def fit_values(
    definition: GameDefinition,
    seat: Seat,
    lookup: CardLookup,
    num_boards: int = DEFAULT_BOARDS,
    seed: int = 0,
    threads: int = 1,
    listen: Listener | None = None,
) -> Values:
    """The values of a strategy, from `num_boards` random boards or from all where they are few."""
    num_buckets = street_buckets(seat)
    starts, num_entries = row_starts(seat.tree, num_buckets)
    every = all_boards(definition)
    boards = match_boards(definition, seed, num_boards).tolist() if every is None else every
    depth, most = _depth(seat.tree), int(seat.tree.nodes["num_children"].max())

    def add(part: list[tuple[int, ...]], told: Listener | None) -> Float:
        sums = np.zeros((2, 2, num_entries))
        for done, cards in enumerate(part, start=1):
            if stop.is_set():
                break
            board = range_board(definition, cards)
            count = len(board.hands)
            frames = ValueFrames(
                np.zeros(depth, np.int64),
                np.zeros(depth, np.int64),
                np.zeros((depth, 2, count)),
                np.zeros((depth, 2, count)),
                np.zeros((depth, count, most)),
            )
            view = board_view(definition, lookup, board)
            add_board(seat, num_buckets, starts, view, board.ends, frames, np.zeros(count), sums)
            if told is not None:
                told(done * threads)
        return sums

    stop = threading.Event()
    with ThreadPoolExecutor(threads) as pool:
        parts = [boards[thread::threads] for thread in range(threads)]
        try:
            # One thread reports for all.
            total: Float = np.sum(list(pool.map(add, parts, [listen, *[None] * (threads - 1)])), axis=0)
        finally:  # do not wait for the remaining boards on an interrupt
            stop.set()
    return frozen(Values(starts, num_buckets, _means(total, starts, num_entries).astype(np.float32)))


def frozen(values: Values) -> Values:
    """Read-only views, as memory-mapped arrays are: kernels compile for one kind of array only."""
    copy = Values(values.starts.view(), values.num_buckets.view(), values.values.view())
    for array in copy:
        array.setflags(write=False)
    return copy


def _means(sums: Float, starts: npt.NDArray[np.int64], num_entries: int) -> Float:
    """Value by weight; a bucket that never came takes the mean of its node."""
    lengths = np.diff(np.append(starts, num_entries))
    means = np.empty((2, num_entries))
    for player in range(2):
        value, weight = sums[player]
        of_node = np.add.reduceat(value, starts), np.add.reduceat(weight, starts)
        node_mean = np.divide(of_node[0], of_node[1], out=np.zeros(len(starts)), where=of_node[1] > 0)
        means[player] = np.divide(value, weight, out=np.repeat(node_mean, lengths), where=weight > 0)
    return means


def strategy_fingerprint(strategy: Strategy) -> str:
    """Identifies the probabilities that values were made from."""
    return "-".join(strategy.manifest.arrays[name].sha256[:16] for name in ("nodes", "probabilities"))


def load_values(strategy: Strategy) -> Values | None:
    """The values kept beside a strategy; None if there are none. `FormatError` if they belong to another strategy."""
    folder = strategy.folder / FOLDER
    if not (folder / "manifest.json").exists():
        return None
    manifest, arrays = load_arrays(folder, KIND, VERSION)
    if set(arrays) != set(Values._fields):
        raise FormatError(f"{str(folder)!r} holds {', '.join(sorted(arrays))}: make values again with 'score --fit'")
    if manifest.fingerprint != strategy_fingerprint(strategy):
        raise FormatError(
            f"{str(folder)!r} holds values of an earlier solution: make them again with "
            f"'foldwise score --fit --strategy {strategy.folder}'"
        )
    return frozen(Values(arrays["starts"], arrays["num_buckets"], arrays["values"]))


def make_values(
    opened: OpenStrategy, num_boards: int, seed: int, threads: int, listen: Listener | None = None
) -> Values:
    """Fit a strategy's values and keep them beside it."""
    player: StrategyPlayer = opened.player(Pipeline(), 0)
    values = fit_values(opened.definition, player.seat, opened.lookup, num_boards, seed, threads, listen)
    made_from = {"boards": num_boards, "seed": seed, "strategy": opened.strategy.manifest.name}
    save_arrays(
        Path(opened.strategy.folder) / FOLDER,
        KIND,
        VERSION,
        strategy_fingerprint(opened.strategy),
        made_from,
        values._asdict(),
    )
    return values
