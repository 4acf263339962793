# mypy: allow-untyped-defs, allow-untyped-calls
"""The betting of a flop for all its hands: reaches on the way down, values and regrets on the way up.

N nodes, breadth first, of which K are leaves; m: hands on the flop, padded; W: ways of going on behind a leaf. A leaf is a
decision too: which way each hand goes on in, before the turn is dealt.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.hands.showdown_kernels import settle_fold
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED
from foldwise.solver.subgame.hand_kernels import (
    FROZEN,
    add_products,
    copy,
    learn_regrets,
    learn_sums,
    match_hands,
    multiply,
    raise_to,
    value_decision,
)


class TrunkTables(NamedTuple):
    """What has been learned, and the strategies of the pass under way."""

    regrets: np.ndarray  # float32[rows, m]
    sums: np.ndarray  # float32[rows, m]
    sigma: np.ndarray  # float32[rows, m]
    way_regrets: np.ndarray  # float32[2, K, W, m]
    way_sums: np.ndarray  # float32[2, K, W, m]
    way_sigma: np.ndarray  # float32[2, K, W, m]


@kernel(_nrt=False)
def _match_rows(regrets, sums, sigma, is_frozen, is_own, reach, rules, total):
    """Strategy of one decision, or of one leaf's ways; its owner's sums learn on his own pass."""
    match_hands(sums if rules.averages else regrets, sigma, total)
    if rules.learns and is_own and not is_frozen:
        for a in range(sigma.shape[0]):
            learn_sums(sums[a], reach, sigma[a], rules.sum_factor, rules.sum_weight)


@kernel(_nrt=False)
def go_down(nodes, leaf_of, tables, traverser, rules, reach, leaf_reach, total):
    """Reaches of both players, [N, 2, m], from those of the root, and the other's at every leaf, way by way: [K, W, m].

    leaf_of: int32[N], the number of a leaf.
    """
    for node in range(nodes.size):
        if nodes[node].kind == DECISION:
            player = np.int64(nodes[node].player)
            base, count = nodes[node].base, np.int64(nodes[node].num_children)
            sigma = tables.sigma[base : base + count]
            own = reach[node, player]
            _match_rows(
                tables.regrets[base : base + count],
                tables.sums[base : base + count],
                sigma,
                nodes[node].detail == FROZEN,
                player == traverser,
                own,
                rules,
                total,
            )
            for a in range(count):
                child = nodes[node].first_child + a
                multiply(own, sigma[a], reach[child, player])
                copy(reach[node, 1 - player], reach[child, 1 - player])
        elif nodes[node].kind == CHANCE:
            leaf, other = leaf_of[node], 1 - traverser
            for chooser in range(2):
                _match_rows(
                    tables.way_regrets[chooser, leaf],
                    tables.way_sums[chooser, leaf],
                    tables.way_sigma[chooser, leaf],
                    False,
                    chooser == traverser,
                    reach[node, chooser],
                    rules,
                    total,
                )
            for way in range(leaf_reach.shape[1]):
                multiply(reach[node, other], tables.way_sigma[other, leaf, way], leaf_reach[leaf, way])


@kernel(_nrt=False)
def _value_leaf(ways, regrets, sigma, rules, value):  # [W, m] three times, -, [m]
    """What a leaf is worth to its hands, from what each way is worth; their regrets learn."""
    if rules.responds:
        copy(ways[0], value)
        for way in range(1, ways.shape[0]):
            raise_to(ways[way], value)
        return
    multiply(sigma[0], ways[0], value)
    for way in range(1, ways.shape[0]):
        add_products(sigma[way], ways[way], value)
    if rules.learns:
        for way in range(ways.shape[0]):
            learn_regrets(regrets[way], ways[way], value, rules.positive, rules.negative, rules.floor)


@kernel(_nrt=False)
def go_up(nodes, leaf_of, tables, traverser, rules, board, sums, reach, leaf_values, all_in_values, value):
    """Values of every node to the traverser's hands, [N, m]: those of leaves, [K, W, m], and all-ins, [N, m], are there."""
    for node in range(nodes.size - 1, -1, -1):
        out = value[node]
        kind = nodes[node].kind
        if kind == DECISION:
            base, count = nodes[node].base, np.int64(nodes[node].num_children)
            first = nodes[node].first_child
            sigma, below = tables.sigma[base : base + count], value[first : first + count]
            value_decision(nodes[node], traverser, sigma, below, tables.regrets, rules, out)
        elif kind == CHANCE:
            leaf = leaf_of[node]
            regrets, sigma = tables.way_regrets[traverser, leaf], tables.way_sigma[traverser, leaf]
            _value_leaf(leaf_values[leaf], regrets, sigma, rules, out)
        elif kind == FOLDED:
            scale = np.float32(-nodes[node].value if nodes[node].player == traverser else nodes[node].value)
            settle_fold(board, reach[node, 1 - traverser], scale, sums, out)
        else:
            copy(all_in_values[node], out)
