"""Joining a strategy with a post-processing pipeline: what no single room may know."""

import numpy as np
import numpy.typing as npt

from abstraction.abstract_game import AbstractGame
from abstraction.strategy import Strategy
from game.tree import CALL_CODE, FOLD_CODE
from game.tree_kernels import DECISION
from postprocess import transforms
from postprocess.pipeline import Pipeline
from postprocess.transforms import Actions


def node_actions(strategy: Strategy, node: int) -> Actions:
    """Kinds and sizes of the actions of a decision node: a bet's size is its raise over the pot after calling."""
    tree = strategy.tree
    record = tree.nodes[node]
    children = np.arange(record["first_child"], record["first_child"] + record["num_children"])
    codes = tree.action[children]
    spent = tree.spent[children].max(axis=1)
    max_spent = tree.spent[node].max()
    stack = tree.spent[:, record["player"]].max()
    kinds = np.full(len(codes), transforms.BET)
    kinds[codes == FOLD_CODE] = transforms.FOLD
    kinds[codes == CALL_CODE] = transforms.CALL
    kinds[(codes > CALL_CODE) & (codes >= stack)] = transforms.ALL_IN
    sizes_pot = np.where(codes > CALL_CODE, (spent - max_spent) / max(2.0 * max_spent, 1.0), 0.0)
    return Actions(kinds, sizes_pot)


def postprocessed_policy(strategy: Strategy, game: AbstractGame, pipeline: Pipeline) -> npt.NDArray[np.float32]:
    """Every row of a strategy after post-processing."""
    policy = strategy.policy(game)
    if not pipeline.steps:
        return policy
    nodes = game.tree.nodes
    first = _first_decisions(game)
    for node in np.flatnonzero(nodes["kind"] == DECISION):
        record = nodes[node]
        num_rows = int(game.deals.num_buckets[record["street"], record["player"]])
        num_actions = int(record["num_children"])
        part = slice(int(record["base"]), int(record["base"]) + num_rows * num_actions)
        table = policy[part].reshape(num_rows, num_actions)
        actions = node_actions(strategy, int(node))
        policy[part] = pipeline.apply(table, actions, street=int(record["street"]), first=bool(first[node])).reshape(-1)
    return policy


def _first_decisions(game: AbstractGame) -> npt.NDArray[np.bool_]:
    """Whether a decision is its player's first of the hand."""
    nodes, parent = game.tree.nodes, game.tree.parent
    acted = np.zeros((len(nodes), 2), dtype=np.bool_)
    for node in range(1, len(nodes)):
        above = parent[node]
        acted[node] = acted[above]
        if nodes[above]["kind"] == DECISION:
            acted[node, nodes[above]["player"]] = True
    first: npt.NDArray[np.bool_] = ~acted[np.arange(len(nodes)), np.minimum(nodes["player"], 1)]
    return first
