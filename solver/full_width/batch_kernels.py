# mypy: allow-untyped-defs, allow-untyped-calls
"""Full-width passes street by street: reaches down, values up, over vectors of buckets.

The subgames of a street (one for each way the betting came there) are passed in blocks, `first` to `last`. Between the
passes the caller settles all ends of a street at once by matrix products. Vectors are in single or double precision, as
the caller's arrays are; n: buckets of a player on the street.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.trees.tree_kernels import CHANCE, DECISION
from foldwise.solver.regret_kernels import match_regrets


class BatchTree(NamedTuple):
    """Where a tree's nodes keep their vectors."""

    nodes: np.ndarray  # NODE_DTYPE[N]
    parent: np.ndarray  # int32[N]
    reach_row: np.ndarray  # int32[N, 2]: of each player's reach, among those of the street; siblings side by side
    value_row: np.ndarray  # int32[N]: of the traverser's values, among those of the street
    scale: np.ndarray  # float64[2, N]: by traverser, what a value is multiplied by: the stake at an end, else 1


class Subgames(NamedTuple):
    """The nodes of one street, subgame by subgame, each from its root on."""

    order: np.ndarray  # int32[nodes of the street]
    starts: np.ndarray  # int64[G + 1]


@kernel
def _enter(tree, subgames, first, last, reach, before, parents):
    """Reach at the roots of subgames: a bucket inherits what its bucket on the street before has."""
    for subgame in range(first, last):
        root = subgames.order[subgames.starts[subgame]]
        for player in range(2):
            target = reach[player][tree.reach_row[root, player]]
            if root == 0:
                target[:] = 1.0
            else:
                source = before[player][tree.reach_row[tree.parent[root], player]]
                parent = parents[player]
                for i in range(target.size):
                    target[i] = source[parent[i]]


@kernel
def _acting_reach(tree, at, reach):
    """At a decision: the reaches of the player to act on the street, his own there, and the row of its first child's."""
    node = tree.nodes[at]
    rows = reach[node.player]
    return rows, rows[tree.reach_row[at, node.player]], tree.reach_row[node.first_child, node.player]


@kernel
def _match_two(table, row, zero, share):
    """Regret matching of a row of two actions, `share` each where no regret is positive.

    `zero` and `share` have the table's type, so that everything is computed in it; there is no branch on a single
    regret, whose sign is unpredictable.
    """
    first, second = max(table[row], zero), max(table[row + 1], zero)
    total = first + second
    if total > zero:
        return first / total, second / total
    return share, share


@kernel
def _match_three(table, row, zero, share):
    """Regret matching of a row of three actions."""
    first, second, third = max(table[row], zero), max(table[row + 1], zero), max(table[row + 2], zero)
    total = first + second + third
    if total > zero:
        return first / total, second / total, third / total
    return share, share, share


@kernel
def _act(table, row, num_actions, own, rows, children, sigma, zero):
    """Reach of the children of one node, from the reach of the player who acts there."""
    share = table.dtype.type(1.0 / num_actions)
    if num_actions == 2:
        first, second = rows[children], rows[children + 1]
        for i in range(own.size):
            s0, s1 = _match_two(table, row + 4 * i, zero, share)
            first[i] = own[i] * s0
            second[i] = own[i] * s1
    elif num_actions == 3:
        first, second, third = rows[children], rows[children + 1], rows[children + 2]
        for i in range(own.size):
            s0, s1, s2 = _match_three(table, row + 6 * i, zero, share)
            first[i] = own[i] * s0
            second[i] = own[i] * s1
            third[i] = own[i] * s2
    else:
        for i in range(own.size):
            match_regrets(table, row + 2 * num_actions * i, num_actions, sigma)
            for a in range(num_actions):
                rows[children + a, i] = own[i] * sigma[a]


@kernel
def reach_by_regrets(tree, subgames, first, last, reach, before, parents, table, traverser, sum_factor, sum_weight):
    """Both players' reach under the current strategy; the traverser's strategy sums are discounted and added to.

    reach, before: pairs of arrays [rows, n], of the street and of the one before; parents: pair of int32[n].
    """
    sigma = np.empty(_most_actions(tree, subgames, first, last), table.dtype)
    factor, weight = table.dtype.type(sum_factor), table.dtype.type(sum_weight)
    zero = table.dtype.type(0.0)
    _enter(tree, subgames, first, last, reach, before, parents)
    for k in range(subgames.starts[first], subgames.starts[last]):
        at = subgames.order[k]
        node = tree.nodes[at]
        if node.kind == DECISION:
            rows, own, children = _acting_reach(tree, at, reach)
            num_actions = np.int64(node.num_children)
            _act(table, 2 * node.base, num_actions, own, rows, children, sigma, zero)
            if node.player == traverser:
                for a in range(num_actions):
                    reached = rows[children + a]
                    sums = 2 * node.base + num_actions + a
                    for i in range(own.size):
                        table[sums + 2 * num_actions * i] = (
                            table[sums + 2 * num_actions * i] * factor + weight * reached[i]
                        )


@kernel
def _most_actions(tree, subgames, first, last):
    most = 0
    for k in range(subgames.starts[first], subgames.starts[last]):
        most = max(most, int(tree.nodes[subgames.order[k]].num_children))
    return most


@kernel
def reach_by_policy(tree, subgames, first, last, reach, before, parents, policy):
    """Both players' reach under a policy [E]."""
    _enter(tree, subgames, first, last, reach, before, parents)
    for k in range(subgames.starts[first], subgames.starts[last]):
        at = subgames.order[k]
        if tree.nodes[at].kind == DECISION:
            rows, own, children = _acting_reach(tree, at, reach)
            base, num_actions = tree.nodes[at].base, np.int64(tree.nodes[at].num_children)
            for i in range(own.size):
                for a in range(num_actions):
                    rows[children + a, i] = own[i] * policy[base + i * num_actions + a]


@kernel
def _leave(tree, at, values, after, parent):
    """Values of a chance node: a bucket's is the sum over the buckets it becomes."""
    out = values[tree.value_row[at]]
    source = after[tree.value_row[tree.nodes[at].first_child]]
    out[:] = 0.0
    for i in range(source.size):
        out[parent[i]] += source[i]


@kernel
def _add_children(tree, at, traverser, values):
    """Values where the opponent acts: his strategy is in his reach already."""
    node = tree.nodes[at]
    out = values[tree.value_row[at]]
    out[:] = 0.0
    for a in range(node.num_children):
        child = node.first_child + a
        scale = values.dtype.type(tree.scale[traverser, child])
        source = values[tree.value_row[child]]
        for i in range(out.size):
            out[i] += scale * source[i]


@kernel
def _update_two(table, row, first, second, scale, out, positive, negative, floor, zero):
    """Values and regrets of one node with two actions."""
    share = table.dtype.type(0.5)
    for i in range(out.size):
        at = row + 4 * i
        s0, s1 = _match_two(table, at, zero, share)
        w0, w1 = scale[0] * first[i], scale[1] * second[i]
        value = s0 * w0 + s1 * w1
        out[i] = value
        r0, r1 = table[at], table[at + 1]
        table[at] = max(r0 * (positive if r0 > zero else negative) + (w0 - value), floor)
        table[at + 1] = max(r1 * (positive if r1 > zero else negative) + (w1 - value), floor)


@kernel
def _update_three(table, row, first, second, third, scale, out, positive, negative, floor, zero):
    """Values and regrets of one node with three actions."""
    share = table.dtype.type(1.0 / 3.0)
    for i in range(out.size):
        at = row + 6 * i
        s0, s1, s2 = _match_three(table, at, zero, share)
        w0, w1, w2 = scale[0] * first[i], scale[1] * second[i], scale[2] * third[i]
        value = s0 * w0 + s1 * w1 + s2 * w2
        out[i] = value
        r0, r1, r2 = table[at], table[at + 1], table[at + 2]
        table[at] = max(r0 * (positive if r0 > zero else negative) + (w0 - value), floor)
        table[at + 1] = max(r1 * (positive if r1 > zero else negative) + (w1 - value), floor)
        table[at + 2] = max(r2 * (positive if r2 > zero else negative) + (w2 - value), floor)


@kernel
def _value_others(tree, at, values, after, parent, traverser):
    """Values where the traverser does not act; returns whether he does, and they are still to be found."""
    node = tree.nodes[at]
    if node.kind == CHANCE:
        _leave(tree, at, values, after, parent)
    elif node.kind == DECISION and node.player != traverser:
        _add_children(tree, at, traverser, values)
    return node.kind == DECISION and node.player == traverser


@kernel
def update_regrets(
    tree, subgames, first, last, values, after, parent, table, traverser, positive, negative, floor
):  # values, after [rows, n], of the street and of the next; parent int32[n of the next]
    """Values under the current strategy, from the ends of the street up, and the traverser's regrets with them."""
    most_actions = _most_actions(tree, subgames, first, last)
    sigma = np.empty(most_actions, table.dtype)
    worth = np.empty(most_actions, values.dtype)
    scale = np.empty(most_actions, values.dtype)
    gain, loss, least = table.dtype.type(positive), table.dtype.type(negative), table.dtype.type(floor)
    zero = table.dtype.type(0.0)
    for k in range(subgames.starts[last] - 1, subgames.starts[first] - 1, -1):
        at = subgames.order[k]
        if _value_others(tree, at, values, after, parent, traverser):
            node = tree.nodes[at]
            num_actions = np.int64(node.num_children)
            child = tree.value_row[node.first_child : node.first_child + num_actions]
            for a in range(num_actions):
                scale[a] = tree.scale[traverser, node.first_child + a]
            out = values[tree.value_row[at]]
            row = 2 * node.base
            if num_actions == 2:
                _update_two(table, row, values[child[0]], values[child[1]], scale, out, gain, loss, least, zero)
            elif num_actions == 3:
                one, two, three = values[child[0]], values[child[1]], values[child[2]]
                _update_three(table, row, one, two, three, scale, out, gain, loss, least, zero)
            else:
                for i in range(out.size):
                    match_regrets(table, row, num_actions, sigma)
                    value = 0.0
                    for a in range(num_actions):
                        worth[a] = scale[a] * values[child[a], i]
                        value += sigma[a] * worth[a]
                    out[i] = value
                    for a in range(num_actions):
                        regret = table[row + a]
                        regret *= gain if regret > 0.0 else loss
                        table[row + a] = max(regret + (worth[a] - value), least)
                    row += 2 * num_actions


@kernel
def value_of_policy(tree, subgames, first, last, values, after, parent, policy, traverser, is_best):
    """The traverser's values from the ends of the street up: of his best actions, or of what `policy` [E] plays."""
    for k in range(subgames.starts[last] - 1, subgames.starts[first] - 1, -1):
        at = subgames.order[k]
        if _value_others(tree, at, values, after, parent, traverser):
            out, node = values[tree.value_row[at]], tree.nodes[at]
            num_actions = np.int64(node.num_children)
            for a in range(num_actions):
                child = node.first_child + a
                scale = tree.scale[traverser, child]
                source = values[tree.value_row[child]]
                for i in range(out.size):
                    worth = scale * source[i]
                    if not is_best:
                        worth *= policy[node.base + i * num_actions + a]
                    if a == 0:
                        out[i] = worth
                    elif is_best:
                        out[i] = max(out[i], worth)
                    else:
                        out[i] += worth
