"""What hands are worth below a node of the blueprint on a real board: exact over all hands and rivers.

The other player plays his rows, each bucket's row for all its hands, from his range; the responder takes the best
action of each hand, or plays his own rows. This is the vector walk of Johanson, Waugh, Bowling and Zinkevich (IJCAI 2011)
for one board. It prices what an opponent could have had without search, which a gadget has to offer him.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.game.arrays import Float, Single
from foldwise.game.hands.hole_cards import NUM_PAIRS
from foldwise.game.hands.showdown import empty_sums, make_board
from foldwise.game.hands.showdown_kernels import ShowdownBoard
from foldwise.game.trees.tree import Tree
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, SHOWDOWN
from foldwise.search import blueprint_kernels as kernels
from foldwise.search.ranges import TableRanges
from foldwise.solver.subgame.workspace import Workspace

_HIDDEN_RIVERS = 44  # possible river cards once both hands and the turn are known
_KEPT_RESTS = 32
_FULL_BOARD = 5


class _Rest(NamedTuple):
    """The tree below a node, with normalised rows."""

    rest: kernels.Rest
    policy: Single
    is_known: bool  # whether the solver ever reached any row of the root


class _Boards(NamedTuple):
    """A board, and every full board that can follow it."""

    trunk: ShowdownBoard
    full: ShowdownBoard  # of arrays [B, ...]
    rivers: list[tuple[int, ...]]
    to_trunk: npt.NDArray[np.uint16]  # [B, n]


class BlueprintValues:
    """Values in one blueprint; several seats may share it, but not at the same time."""

    def __init__(self, ranges: TableRanges, workspace: Workspace, threads: int = 1):
        self._ranges = ranges
        self._workspace = workspace
        self._threads = threads
        self._tree = ranges.player.seat.tree
        self._rests: dict[int, _Rest] = {}

    def is_known(self, node: int) -> bool:
        """Whether the solver ever reached this decision, with any bucket."""
        return self._rest(node).is_known

    def response(self, node: int, board: Sequence[int], player: int, other_range: Float, best: bool = True) -> Float:
        """What each hand of `player` wins, counted over the whole hand, from a decision on the turn or the river on.

        [1326] in chips times the other's reach; 0 for hands that clash with the board.
        """
        rest, policy, _ = self._rest(node)
        boards = _boards_below(tuple(board))
        trunk, street = boards.trunk, int(self._tree.nodes[node]["street"])
        mass = max(float(other_range[trunk.pairs].sum()), 1e-300)
        end = int(rest.starts[1])
        reach = np.zeros((end, trunk.pairs.size), np.float32)
        value = np.zeros_like(reach)
        reach[0] = other_range[trunk.pairs] / mass
        buckets = self._ranges.buckets(street, board)[trunk.pairs]
        kernels.go_forward(rest, 0, end, player, policy, buckets, reach)
        leaves = np.flatnonzero(rest.kind[:end] == kernels.LEAF)
        if len(leaves):
            value[leaves] = self._behind_leaves(rest, policy, boards, street, player, best, reach[leaves])
        sums = empty_sums(len(board), np.float32)
        kernels.go_back(rest, 0, end, player, best, policy, buckets, trunk, sums, reach, value)
        out = np.zeros(NUM_PAIRS)
        out[trunk.pairs] = mass * value[0]
        return out

    def _behind_leaves(
        self, rest: kernels.Rest, policy: Single, boards: _Boards, street: int, player: int, best: bool, reach: Single
    ) -> Single:
        """[K, m] values of the leaves, summed over rivers in a fixed order, whatever the number of threads."""
        num_boards, num_hands = boards.full.pairs.shape
        buckets = np.array(
            [self._ranges.buckets(street + 1, river)[pairs] for river, pairs in zip(boards.rivers, boards.full.pairs)]
        )
        out = np.zeros((num_boards, *reach.shape), np.float32)
        largest = int(np.diff(rest.starts[1:]).max())

        def walk(share: tuple[int, int]) -> None:
            scratch = np.zeros((2, largest, num_hands), np.float32)
            kernels.respond_on_boards(
                rest,
                *share,
                player,
                best,
                policy,
                boards.full,
                boards.to_trunk,
                buckets,
                reach,
                empty_sums(_FULL_BOARD, np.float32),
                scratch[0],
                scratch[1],
                out,
            )

        cuts = np.linspace(0, num_boards, self._threads + 1).astype(int).tolist()
        list(self._workspace.pool.map(walk, pairwise(cuts)))
        total: Single = out.sum(axis=0) / np.float32(_HIDDEN_RIVERS)
        return total

    def _rest(self, node: int) -> _Rest:
        if node not in self._rests:
            if len(self._rests) >= _KEPT_RESTS:
                self._rests.clear()
            self._rests[node] = self._make_rest(node)
        return self._rests[node]

    def _make_rest(self, root: int) -> _Rest:
        rest, decisions, sources = cut_rest(self._tree, root)
        counts = rest.size[decisions].astype(np.int64)
        num_buckets = self._ranges.num_buckets[sources]
        ends = np.cumsum(counts * num_buckets)
        rest.base[decisions] = ends - counts * num_buckets
        policy = np.zeros(int(ends[-1]), np.float32)
        bases = self._tree.nodes["base"][sources].astype(np.int64)
        fill = partial(kernels.normalise_rows, self._ranges.stored)
        fill(bases, counts, num_buckets, rest.base[decisions], policy)
        at_root = slice(0, 1)  # the root is the first decision
        unknown = fill(
            bases[at_root], counts[at_root], num_buckets[at_root], np.zeros(1, np.int64), np.zeros_like(policy)
        )
        return _Rest(rest, policy, bool(unknown < num_buckets[0]))


def cut_rest(tree: Tree, root: int) -> tuple[kernels.Rest, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The nodes below a decision, its own street first; which of them are decisions, and their numbers in the tree."""
    street = int(tree.nodes[root]["street"])
    parts: list[list[int]] = [same_street(tree, root)]
    leaves = []
    for node in parts[0]:
        kind = int(tree.nodes[node]["kind"])
        if kind == CHANCE:
            leaves.append(node)
            parts.append(same_street(tree, int(tree.nodes[node]["first_child"])))
        elif kind == SHOWDOWN and street < int(tree.nodes["street"].max()):
            leaves.append(node)
            parts.append([node])
    order = [node for part in parts for node in part]
    starts = np.cumsum([0, *map(len, parts)]).astype(np.int32)
    records = tree.nodes[order]
    first = np.zeros(len(order), np.int32)
    for part, start in zip(parts, starts):
        place = {node: int(start) + i for i, node in enumerate(part)}
        for i, node in enumerate(part):
            first[start + i] = place.get(int(tree.nodes[node]["first_child"]), 0)
    kinds = records["kind"].copy()
    trunk = {node: i for i, node in enumerate(parts[0])}
    for number, leaf in enumerate(leaves):
        kinds[trunk[leaf]] = kernels.LEAF
        first[trunk[leaf]] = number
    decisions = np.flatnonzero(kinds == DECISION)
    rest = kernels.Rest(
        kind=kinds,
        player=records["player"].copy(),
        value=records["value"].astype(np.float32),
        first=first,
        size=records["num_children"].astype(np.int32),
        base=np.zeros(len(order), np.int64),
        starts=starts,
    )
    return rest, decisions, np.array(order, np.int64)[decisions]


def same_street(tree: Tree, root: int) -> list[int]:
    """The nodes from a decision to the end of its street, breadth first, so that siblings are adjacent."""
    found = [root]
    for node in found:
        if tree.nodes[node]["kind"] == DECISION:
            first = int(tree.nodes[node]["first_child"])
            found.extend(range(first, first + int(tree.nodes[node]["num_children"])))
    return found


@lru_cache(maxsize=4)  # both players' values are needed on one board
def _boards_below(board: tuple[int, ...]) -> _Boards:
    trunk = make_board(board)
    rivers = [board] if len(board) == _FULL_BOARD else [(*board, card) for card in range(52) if card not in board]
    full = ShowdownBoard(*(np.stack(arrays) for arrays in zip(*map(make_board, rivers))))
    place = np.zeros(NUM_PAIRS, np.uint16)
    place[trunk.pairs] = np.arange(trunk.pairs.size)
    return _Boards(trunk, full, rivers, place[full.pairs])
