"""The rows of a strategy node by node, as stored and as played: for display, and for rules written in Python."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.agent.following.decision_kernels import describe_actions
from foldwise.agent.postprocessing.python_rules import load_rules
from foldwise.game.arrays import Float, Single
from foldwise.game.trees.tree import Tree
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.postprocess.pipeline import Pipeline
from foldwise.postprocess.transforms import Actions

NO_STACKS = (2**31 - 1, 2**31 - 1)  # for games without chips: nothing is all-in


class NodeTable(NamedTuple):
    """All rows of one decision, by bucket."""

    raw: Float  # [buckets, A]
    played: Float  # [buckets, A]: post-processed
    reached: npt.NDArray[np.bool_]  # [buckets]


class NodeRows:
    """Every row of a strategy, from its tree and the probabilities stored for it."""

    def __init__(self, tree: Tree, stored: npt.NDArray[Any], stacks: Sequence[int], pipeline: Pipeline):
        self._tree = tree
        self._stored = stored
        self._stacks = stacks
        self._pipeline = load_rules(pipeline)
        self.decisions = np.flatnonzero(tree.nodes["kind"] == DECISION)
        records = tree.nodes[self.decisions]
        entries = np.diff(np.append(records["base"].astype(np.int64), len(stored)))
        self.num_buckets = entries // records["num_children"]

    def table(self, node: int, first: bool) -> NodeTable:
        """All rows of one decision; `first`: whether it counts as its player's first of the hand."""
        record = self._tree.nodes[node]
        count = int(record["num_children"])
        rows = self._stored[self._entries(node)].reshape(-1, count).astype(np.float64)
        totals = rows.sum(axis=1, keepdims=True)
        reached = totals[:, 0] > 0.0
        raw = np.where(totals > 0.0, rows / np.where(totals > 0.0, totals, 1.0), 1.0 / count)
        if not self._pipeline.steps:
            return NodeTable(raw, raw, reached)
        kinds, sizes = np.zeros(count, np.int8), np.zeros(count)
        describe_actions(self._tree, node, self._stacks[int(record["player"])], kinds, sizes)
        played = self._pipeline.apply(raw, Actions(kinds, sizes), street=int(record["street"]), first=first)
        return NodeTable(raw, played, reached)

    def _entries(self, node: int) -> slice:
        record = self._tree.nodes[node]
        base, place = int(record["base"]), int(np.searchsorted(self.decisions, node))
        return slice(base, base + int(record["num_children"]) * int(self.num_buckets[place]))

    def is_first(self, node: int) -> bool:
        """Whether the same player has no decision above it in the tree."""
        tree = self._tree
        player, node = int(tree.nodes[node]["player"]), int(tree.parent[node])
        while node >= 0:
            if tree.nodes[node]["kind"] == DECISION and tree.nodes[node]["player"] == player:
                return False
            node = int(tree.parent[node])
        return True

    def played(self, with_first: bool) -> Single:
        """[E]: every row as played. `with_first`: the tree's first decisions count as such; else none does."""
        result: Single = np.empty(len(self._stored), np.float32)
        for node in self.decisions.tolist():
            first = with_first and self.is_first(node)
            result[self._entries(node)] = self.table(node, first).played.ravel()
        return result
