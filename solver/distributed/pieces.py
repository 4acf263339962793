"""Disjoint pieces of a hierarchical game: the preflop rows are the head's, every flop cluster's rows one child's.

Buckets of later streets are numbered cluster by cluster, so the rows of a cluster lie side by side at every node. A
piece keeps the rows of its clusters in the same order under bases of its own: its nodes are the game's with other
bases, and every kernel over nodes and a table works on a piece as on a whole game.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.game.errors import DefinitionError
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.solver.distributed.child_kernels import copy_clusters


@dataclass(frozen=True)
class Piece:
    """Rows of some clusters, or of the preflop."""

    nodes: npt.NDArray[np.void]  # NODE_DTYPE[N]: the game's, with the piece's own bases
    num_buckets: npt.NDArray[np.int32]  # [S, 2]; 0 on streets of other pieces
    cluster_buckets: npt.NDArray[np.int64]  # [S]: of one cluster; 0 on streets of other pieces
    clusters: tuple[int, ...]  # in the order of the rows; the preflop counts as one cluster, 0
    num_entries: int

    @cached_property
    def num_infosets(self) -> int:
        decisions = self.nodes[self.nodes["kind"] == DECISION]
        return int(self.num_buckets[decisions["street"], decisions["player"]].astype(np.int64).sum())

    @cached_property
    def cluster_entries(self) -> npt.NDArray[np.int64]:
        """[N]: entries of one cluster at each node."""
        per_node = self.cluster_buckets[self.nodes["street"]] * self.nodes["num_children"]
        entries: npt.NDArray[np.int64] = np.where(self.nodes["kind"] == DECISION, per_node, 0)
        return entries

    def copy_to(
        self, other: "Piece", width: int, source: npt.NDArray[Any], target: npt.NDArray[Any], factor: float = 1.0
    ) -> None:
        """Copy the rows of the clusters both have, times `factor`; `width` is 2 for tables, 1 for policies."""
        places = {cluster: place for place, cluster in enumerate(other.clusters)}
        shared = [(own, places[cluster]) for own, cluster in enumerate(self.clusters) if cluster in places]
        if shared:
            pairs = np.array(shared, dtype=np.int64)
            copy_clusters(self.nodes, other.nodes, self.cluster_entries, pairs, width, factor, source, target)


def num_clusters(game: AbstractGame) -> int:
    """Public flop clusters of a game; refuses a game without them."""
    if game.cards is None or not game.cards.clusters.size:
        raise no_clusters(game.name)
    return int(game.cards.clusters.max()) + 1


def no_clusters(name: str) -> DefinitionError:
    """The error for a game without clusters."""
    return DefinitionError(
        f"game {name!r} has no public flop clusters to share among children: give it [cards.public], "
        "as in configs/hunl-hierarchical.toml"
    )


def check_children(num_children: int, num_clusters: int) -> None:
    """Refuse more children than there are clusters."""
    if not 1 <= num_children <= num_clusters:
        raise DefinitionError(f"{num_children} children for {num_clusters} flop clusters: expected 1 to {num_clusters}")


def make_piece(game: AbstractGame, cluster_buckets: Sequence[int], clusters: tuple[int, ...]) -> Piece:
    """The piece with so many buckets of each cluster on each street; 0 on streets that are another's."""
    sizes = np.array(cluster_buckets, dtype=np.int64)
    num_buckets = np.repeat(len(clusters) * sizes, 2).reshape(-1, 2).astype(np.int32)
    nodes = game.tree.nodes.copy()
    is_decision = nodes["kind"] == DECISION
    street, player = nodes["street"][is_decision], nodes["player"][is_decision]
    entries = num_buckets[street, player].astype(np.int64) * nodes["num_children"][is_decision]
    ends = np.cumsum(entries)
    nodes["base"][is_decision] = ends - entries
    return Piece(nodes, num_buckets, sizes, clusters, int(ends[-1]))


def _cluster_buckets(game: AbstractGame) -> list[int]:
    """Buckets of one cluster on each later street; 0 before the flop."""
    clusters = num_clusters(game)
    assert game.cards is not None
    return [0, *(count // clusters for count in game.cards.num_buckets[1:])]


def top_piece(game: AbstractGame) -> Piece:
    """The head's piece: the preflop rows."""
    buckets = int(game.deals.num_buckets[0, 0])
    return make_piece(game, [buckets] + [0] * (game.num_streets - 1), (0,))


def child_piece(game: AbstractGame, clusters: Sequence[int]) -> Piece:
    """A child's piece: every later row of its clusters."""
    return make_piece(game, _cluster_buckets(game), tuple(clusters))


def whole_pieces(game: AbstractGame) -> tuple[Piece, Piece]:
    """The game's own rows seen as pieces, for copying to and from: the preflop, and all clusters in order."""
    top = Piece(game.tree.nodes, game.deals.num_buckets, top_piece(game).cluster_buckets, (0,), game.num_entries)
    rest = Piece(
        game.tree.nodes,
        game.deals.num_buckets,
        np.array(_cluster_buckets(game), dtype=np.int64),
        tuple(range(num_clusters(game))),
        game.num_entries,
    )
    return top, rest


def assign_clusters(
    flops: npt.NDArray[np.int64], num_children: int, pinned: Sequence[Sequence[int]] | None = None
) -> list[tuple[int, ...]]:
    """Clusters of each child; `flops` [K] is the number of real flops of each cluster.

    A child walks one flop per iteration whatever it holds, so equal work per flop means equally many flops per child;
    memory goes by clusters. The largest cluster goes first, to the child with the fewest flops that has not reached its
    share of clusters. `pinned`, if given, decides instead.
    """
    count = len(flops)
    check_children(num_children, count)
    if pinned is not None:
        if len(pinned) != num_children or sorted(c for own in pinned for c in own) != list(range(count)):
            raise DefinitionError(
                f"distributed.assignment names {len(pinned)} children: expected {num_children} lists "
                f"that hold each of the clusters 0 to {count - 1} once"
            )
        if not all(pinned):
            raise DefinitionError("distributed.assignment leaves a child without clusters: give each at least one")
        return [tuple(sorted(own)) for own in pinned]
    most = -(-count // num_children)
    own: list[list[int]] = [[] for _ in range(num_children)]
    load = [0] * num_children
    for left, cluster in zip(range(count, 0, -1), np.argsort(-flops, kind="stable").tolist()):
        empty = [child for child in range(num_children) if not own[child]]
        open_children = empty if len(empty) == left else [c for c in range(num_children) if len(own[c]) < most]
        child = min(open_children, key=lambda c: (load[c], len(own[c]), c))
        own[child].append(cluster)
        load[child] += int(flops[cluster])
    return [tuple(sorted(clusters)) for clusters in own]
