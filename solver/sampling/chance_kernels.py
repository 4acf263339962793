# mypy: allow-untyped-defs, allow-untyped-calls
"""Chance sampling: both players' whole trees below one sampled deal, in two passes over the decisions that are reached.

Down, breadth first: a decision's row gives its strategy, and its children join the end of a list. Up, the list backwards:
values and regrets. The walks of `sampling_kernels` go down one branch at a time and wait for the memory of each; here what is
read next has been asked for many decisions before. Every row is visited once, so the tables are the same to the last bit.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.primitives.prefetch_kernels import prefetch
from foldwise.game.trees.tree_kernels import CHANCE, DECISION
from foldwise.solver.regret_kernels import match_regrets
from foldwise.solver.sampling.rounding_kernels import rounding_bits
from foldwise.solver.sampling.sampling_kernels import (
    PASSED_OVER,
    is_hopeless,
    prunes,
    row_of,
    terminal_value,
    update_regrets,
)


class Reached(NamedTuple):
    """The decisions that a walk reaches, parents first."""

    node: np.ndarray  # int32[D]
    parent: np.ndarray  # int32[D]: its place here
    action: np.ndarray  # int32[D]: of the parent, that leads here
    row: np.ndarray  # int64[D]
    reach: np.ndarray  # float64[D, 2]: of both players
    sigma: np.ndarray  # float64[D, A]
    value: np.ndarray  # float64[D, A]: of the actions, to player 0


@kernel
def walk_chance(nodes, table, deal, outcomes, last_street, options, reached, rng):
    """Chance sampling: every action of both players, both updated in one paired walk (Zinkevich et al. 2007, A.4).

    With p the players' reach probabilities: regret(a) += p_opponent (u(a) - u), sum(a) += p_own sigma(a). A subtree
    that neither player reaches changes nothing and is left out.
    """
    num_visited, _ = walk_chance_from(nodes, table, deal, outcomes, last_street, options, reached, rng, 0, (1.0, 1.0))
    return num_visited


@kernel(_nrt=False)
def walk_chance_from(nodes, table, deal, outcomes, last_street, options, reached, rng, start, start_reach):
    """The part of `walk_chance` at and below node `start`, reached so; returns also what it is worth to player 0."""
    pruning = prunes(rng, options)
    at = _after_chance(nodes, np.int64(start))
    if nodes[at].kind != DECISION:
        return 1, terminal_value(nodes[at], outcomes, 0)
    _append(reached, 0, at, -1, -1, row_of(nodes[at], deal))
    reached.reach[0, 0], reached.reach[0, 1] = start_reach
    num_reached, num_visited = 1, 0
    place = 0
    while place < num_reached:
        at, row = np.int64(reached.node[place]), reached.row[place]
        node = nodes[at]
        player, num_actions = np.int64(node.player), np.int64(node.num_children)
        own, opponents = reached.reach[place, player], reached.reach[place, 1 - player]
        match_regrets(table, row, num_actions, reached.sigma[place])
        _add_to_sums(table, row + num_actions, num_actions, own * options.sum_weight, reached.sigma[place])
        for a in range(num_actions):
            sigma = reached.sigma[place, a]
            unreached = opponents == 0.0 and sigma == 0.0
            if unreached or (pruning and is_hopeless(nodes, table, at, row, sigma, a, last_street, options)):
                reached.sigma[place, a] = PASSED_OVER
                reached.value[place, a] = 0.0
                continue
            next_at = _after_chance(nodes, np.int64(node.first_child) + a)
            child = nodes[next_at]
            if child.kind != DECISION:
                num_visited += 1
                reached.value[place, a] = terminal_value(child, outcomes, 0)
                continue
            child_row = row_of(child, deal)
            prefetch(table, child_row)
            prefetch(table, child_row + 2 * np.int64(child.num_children) - 1)  # a row may lie in two lines of the cache
            _append(reached, num_reached, next_at, place, a, child_row)
            reached.reach[num_reached, player] = own * sigma
            reached.reach[num_reached, 1 - player] = opponents
            num_reached += 1
        place += 1
    value = 0.0
    for place in range(num_reached - 1, -1, -1):
        value = _leave(nodes, table, reached, place, options, rng)
        if place > 0:
            reached.value[reached.parent[place], reached.action[place]] = value
    return num_reached + num_visited, value


@kernel(_nrt=False, forceinline=True)
def _after_chance(nodes, at):
    """The node where cards have been dealt: chance has one child, whatever is dealt."""
    while nodes[at].kind == CHANCE:
        at = np.int64(nodes[at].first_child)
    return at


@kernel(_nrt=False, forceinline=True)
def _append(reached, place, at, parent, action, row):
    reached.node[place] = at
    reached.parent[place] = parent
    reached.action[place] = action
    reached.row[place] = row


@kernel(_nrt=False, forceinline=True)
def _add_to_sums(table, first, num_actions, weight, sigma):
    if weight > 0.0:
        for a in range(num_actions):
            table[first + a] += weight * sigma[a]


@kernel(_nrt=False, forceinline=True)
def _leave(nodes, table, reached, place, options, rng):
    """Update the regrets of a decision whose actions all have values; returns its own."""
    node = nodes[reached.node[place]]
    scale = reached.reach[place, 1] if node.player == 0 else -reached.reach[place, 0]
    return update_regrets(
        table,
        reached.row[place],
        np.int64(node.num_children),
        reached.sigma[place],
        reached.value[place],
        scale,
        options.regret_floor,
        rounding_bits(table, rng),
    )
