"""A game as street-by-street passes read it: all ends of a street that one matrix settles are one matrix product.

The stack walk of `vector_kernels` multiplies a matrix by a vector at every end of the game: the matrix is read each
time. Limit hold'em with nested buckets has 9,639 ends on the river and a matrix of 625 x 625 to 10,000 x 10,000: as two
products of matrices they run at the pace of BLAS, on all cores, or faster where few reaches are left (`sparse_product`).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame, Matrices
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED
from foldwise.solver.full_width.batch_kernels import BatchTree, Subgames
from foldwise.solver.full_width.sparse_product import multiply

Floats = npt.NDArray[np.floating[Any]]
Pair = tuple[Floats, Floats]

_LEAST_PARALLEL_SUBGAMES = 16


@dataclass(frozen=True)
class StreetEnds:
    """The ends of a street that one matrix settles."""

    matrix: Floats  # [n0, n1]
    rows: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]  # of each player's reach there
    first: int  # their values stand in rows `first` to `last` of the street
    last: int


class BatchGame:
    """Tree, matrices and vectors of one game, in one precision; serves one pass at a time."""

    def __init__(self, game: AbstractGame, matrices: Matrices, dtype: npt.DTypeLike, threads: int):
        self.game = game
        self.dtype = np.dtype(dtype)
        nodes, num_streets = game.tree.nodes, game.num_streets
        num_nodes = len(nodes)
        self.subgames = [_subgames(game, street) for street in range(num_streets)]
        reach_row = np.zeros((num_nodes, 2), dtype=np.int32)
        value_row = np.zeros(num_nodes, dtype=np.int32)
        self.tree = BatchTree(nodes, game.tree.parent, reach_row, value_row, _scales(game))
        num_reaches = [_place_reaches(self.tree, subgames) for subgames in self.subgames]
        self.ends: list[list[StreetEnds]] = []
        self.reach: list[Pair] = []
        self._values: list[Floats] = []
        for street, counts in enumerate(matrices.num_buckets.tolist()):
            self.ends.append(self._place_values(matrices, street))
            first, second = (
                np.zeros((rows, count), dtype=self.dtype) for rows, count in zip(num_reaches[street], counts)
            )
            self.reach.append((first, second))
            self._values.append(np.zeros(len(self.subgames[street].order) * max(counts), dtype=self.dtype))
        nothing = np.zeros(0, dtype=np.int32)
        self._parents = [(nothing, nothing), *((first, second) for first, second in matrices.parents or [])]
        self._num_buckets = matrices.num_buckets
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._threads = threads
        self.num_visited = int(np.count_nonzero(nodes["kind"] != CHANCE))

    def _place_values(self, matrices: Matrices, street: int) -> list[StreetEnds]:
        """Give every node of a street its row of values: ends first, grouped by the matrix that settles them."""
        nodes, order = self.game.tree.nodes, self.subgames[street].order
        kind, detail = nodes["kind"][order], nodes["detail"][order]
        is_end = (kind != DECISION) & (kind != CHANCE)
        groups = [(is_end & (kind == FOLDED), matrices.fold_matrices[street])]
        for number, matrix in enumerate(matrices.settle_matrices[street]):
            groups.append((is_end & (kind != FOLDED) & (detail == number), matrix))
        result, row = [], 0
        for which, matrix in groups:
            own = order[which]
            if len(own) == 0:
                continue
            self.tree.value_row[own] = np.arange(row, row + len(own))
            rows = (self.tree.reach_row[own, 0].astype(np.intp), self.tree.reach_row[own, 1].astype(np.intp))
            result.append(StreetEnds(np.ascontiguousarray(matrix, dtype=self.dtype), rows, row, row + len(own)))
            row += len(own)
        rest = order[~is_end]
        self.tree.value_row[rest] = np.arange(row, row + len(rest))
        return result

    def values(self, street: int, traverser: int) -> Floats:
        """[rows, n] the traverser's values on a street."""
        count = int(self._num_buckets[street, traverser])
        rows = len(self.subgames[street].order)
        return self._values[street][: rows * count].reshape(rows, count)

    def _in_blocks(self, street: int, is_trial: bool, kernel: Callable[..., Any], *arguments: Any) -> None:
        """Call `kernel` on all subgames of a street, in blocks for the threads; on none if only compiling."""
        subgames = self.subgames[street]

        def work(first: int, last: int) -> None:
            kernel(self.tree, subgames, first, last, *arguments)

        total = 0 if is_trial else len(subgames.starts) - 1
        if self._pool is None or total < _LEAST_PARALLEL_SUBGAMES:
            work(0, total)
            return
        blocks = 4 * self._threads
        edges = [total * block // blocks for block in range(blocks + 1)]
        list(self._pool.map(work, edges[:-1], edges[1:]))

    def pass_down(self, kernel: Callable[..., Any], *arguments: Any, is_trial: bool = False) -> None:
        """Reaches of both players by `kernel`, street after street; a trial only compiles."""
        for street in range(len(self.subgames)):
            reach, before = self.reach[street], self.reach[max(street - 1, 0)]
            self._in_blocks(street, is_trial, kernel, reach, before, self._parents[street], *arguments)

    def settle(self, traverser: int, is_trial: bool = False) -> None:
        """Values at all ends of the game, from the opponent's reach; what is at stake is multiplied in on the way up."""
        for street, groups in enumerate(self.ends):
            values, reach = self.values(street, traverser), self.reach[street][1 - traverser]
            for ends in groups:
                matrix = ends.matrix.T if traverser == 0 else ends.matrix
                count = 0 if is_trial else ends.last - ends.first
                rows, out = ends.rows[1 - traverser][:count], values[ends.first : ends.first + count]
                multiply(reach, rows, matrix, out, self._pool, self._threads)

    def pass_up(self, traverser: int, kernel: Callable[..., Any], *arguments: Any, is_trial: bool = False) -> Floats:
        """Values by `kernel`, street after street from the last; returns those of the root."""
        last_street = len(self.subgames) - 1
        for street in range(last_street, -1, -1):
            below = min(street + 1, last_street)
            values, after = self.values(street, traverser), self.values(below, traverser)
            self._in_blocks(street, is_trial, kernel, values, after, self._parents[below][traverser], *arguments)
        root: Floats = self.values(0, traverser)[self.tree.value_row[0]]
        return root


def _subgames(game: AbstractGame, street: int) -> Subgames:
    """The street's nodes by subgame; within one a parent stands before its children, as it does in the tree."""
    nodes, parent = game.tree.nodes, game.tree.parent
    own = np.flatnonzero(nodes["street"] == street).astype(np.int32)
    root = np.arange(len(nodes), dtype=np.int32)
    for at in own.tolist():
        before = parent[at]
        if before >= 0 and nodes["kind"][before] != CHANCE:
            root[at] = root[before]
    order = own[np.argsort(root[own], kind="stable")]
    starts = np.flatnonzero(root[order] == order)
    return Subgames(order, np.append(starts, len(order)).astype(np.int64))


def _place_reaches(tree: BatchTree, subgames: Subgames) -> tuple[int, int]:
    """Rows of reach on one street: new ones for a subgame's root and, after a decision, for the player who acted."""
    count = [0, 0]
    roots = set(subgames.starts[:-1].tolist())
    for place, at in enumerate(subgames.order.tolist()):
        if place in roots:
            for player in range(2):
                tree.reach_row[at, player] = count[player]
                count[player] += 1
        node = tree.nodes[at]
        if node["kind"] != DECISION:
            continue
        acting = int(node["player"])
        for child in range(node["first_child"], node["first_child"] + node["num_children"]):
            tree.reach_row[child, 1 - acting] = tree.reach_row[at, 1 - acting]
            tree.reach_row[child, acting] = count[acting]
            count[acting] += 1
    return count[0], count[1]


def _scales(game: AbstractGame) -> npt.NDArray[np.float64]:
    """[2, N] by traverser: the stake at an end with his sign, 1 elsewhere."""
    nodes = game.tree.nodes
    scale = np.ones((2, len(nodes)))
    is_end = (nodes["kind"] != DECISION) & (nodes["kind"] != CHANCE)
    is_fold = nodes["kind"] == FOLDED
    value = nodes["value"].astype(np.float64)
    for traverser in range(2):
        folded = np.where(nodes["player"] == traverser, -value, value)
        settled = value if traverser == 0 else -value
        scale[traverser] = np.where(is_end, np.where(is_fold, folded, settled), 1.0)
    return scale
