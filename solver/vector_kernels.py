# mypy: allow-untyped-defs, allow-untyped-calls
"""Full-width walks over vectors of buckets: CFR updates and exact best responses, with an explicit stack.

A node carries the opponent's reach by his buckets and returns the traverser's counterfactual values by his own. The
joint probabilities of the buckets enter at the ends of the game, as a matrix, so values need no further weight.
"""

from typing import NamedTuple

import numpy as np

from game.compiled import kernel
from game.tree_kernels import CHANCE, DECISION, FOLDED
from solver.regret_kernels import match_regrets


class VectorGame(NamedTuple):
    """A tree with the matrices of its exact joint deals, flattened for kernels."""

    nodes: np.ndarray  # NODE_DTYPE[N]
    num_buckets: np.ndarray  # int32[S, 2]
    by_first: np.ndarray  # float64: every matrix [n0, n1], one after the other
    by_second: np.ndarray  # the same, transposed [n1, n0]
    offset: np.ndarray  # int64[M]: where a matrix begins
    fold_matrix: np.ndarray  # int32[S]: which matrix settles a fold on a street
    settle_matrix: np.ndarray  # int32[S]: which one the first detail of a showdown or challenge
    parents: np.ndarray  # int32: for streets after the first, each bucket's bucket on the street before
    parent_offset: np.ndarray  # int64[S, 2]


class VectorFrames(NamedTuple):
    """The stack: vectors of a node at its depth. B: most buckets; A: most actions."""

    node: np.ndarray  # int32[D]
    action: np.ndarray  # int32[D]: the one under way; -1 before the first
    own_reach: np.ndarray  # float64[D, B]
    opponent_reach: np.ndarray  # float64[D, B]
    value: np.ndarray  # float64[D, B]
    sigma: np.ndarray  # float64[D, B * A]


@kernel
def _settle(game, node, traverser, reach, out):
    """Values at an end of the game: the matrix that settles it, times the opponent's reach."""
    street = node.street
    own = game.num_buckets[street, traverser]
    other = game.num_buckets[street, 1 - traverser]
    if node.kind == FOLDED:
        matrix = game.fold_matrix[street]
        scale = -node.value if node.player == traverser else node.value
    else:
        matrix = game.settle_matrix[street] + node.detail
        scale = node.value if traverser == 0 else -node.value
    start = game.offset[matrix]
    # Rows of the opponent's buckets, so that the inner loop runs along memory.
    flat = game.by_second if traverser == 0 else game.by_first
    for i in range(own):
        out[i] = 0.0
    for j in range(other):
        weight = reach[j] * scale
        if weight != 0.0:
            row = flat[start + j * own : start + (j + 1) * own]
            for i in range(own):
                out[i] += weight * row[i]


@kernel
def _expand(game, street, player, reach, out):
    """Reach on a street from reach on the one before: a bucket inherits its parent's."""
    start = game.parent_offset[street, player]
    for i in range(game.num_buckets[street, player]):
        out[i] = reach[game.parents[start + i]]


@kernel
def _collapse(game, street, player, value, out):
    """Values of the street before: a bucket's is the sum over the buckets it becomes."""
    start = game.parent_offset[street, player]
    for i in range(game.num_buckets[street - 1, player]):
        out[i] = 0.0
    for i in range(game.num_buckets[street, player]):
        out[game.parents[start + i]] += value[i]


@kernel
def walk_full_width(game, table, traverser, positive, negative, sum_factor, sum_weight, floor, frames):
    """One update of the traverser everywhere, opponent fixed: vector-form CFR with a schedule of discounts.

    Before this iteration's regrets are added, positive and negative regrets and strategy sums are multiplied by their
    factors; afterwards regrets below `floor` are raised to it (0 for regret matching+, Tammelin et al., IJCAI 2015).
    CFR, CFR+, linear and discounted CFR (Brown and Sandholm, AAAI 2019) differ in these numbers alone. Reach vectors
    of the root are the caller's, in frame 0; the root's values are left in `frames.value[0]`. Returns nodes visited.
    """
    nodes = game.nodes
    opponent = 1 - traverser
    frames.node[0] = 0
    frames.action[0] = -1
    depth = 0
    num_visited = 0
    while depth >= 0:
        at = frames.node[depth]
        node = nodes[at]
        value = frames.value[depth]
        if node.kind != DECISION and node.kind != CHANCE:
            num_visited += 1
            _settle(game, node, traverser, frames.opponent_reach[depth], value)
            depth -= 1
            continue
        street = node.street
        action = frames.action[depth]
        own_reach = frames.own_reach[depth]
        opponent_reach = frames.opponent_reach[depth]
        if node.kind == CHANCE:
            if action < 0:
                _expand(game, street + 1, traverser, own_reach, frames.own_reach[depth + 1])
                _expand(game, street + 1, opponent, opponent_reach, frames.opponent_reach[depth + 1])
                frames.action[depth] = 0
                frames.node[depth + 1] = node.first_child
                frames.action[depth + 1] = -1
                depth += 1
            else:
                _collapse(game, street + 1, traverser, frames.value[depth + 1], value)
                depth -= 1
            continue

        player = node.player
        num_actions = np.int64(node.num_children)
        num_own = game.num_buckets[street, traverser]
        num_acting = game.num_buckets[street, player]
        sigma = frames.sigma[depth]
        first_row = 2 * node.base
        if action < 0:
            num_visited += 1
            for i in range(num_own):
                value[i] = 0.0
            for i in range(num_acting):
                row = first_row + 2 * i * num_actions
                match_regrets(table, row, num_actions, sigma[i * num_actions : (i + 1) * num_actions])
                if player == traverser:
                    for a in range(num_actions):
                        regret = table[row + a]
                        table[row + a] = regret * (positive if regret > 0.0 else negative)
        else:
            child_value = frames.value[depth + 1]
            if player == traverser:
                for i in range(num_own):
                    table[first_row + 2 * i * num_actions + action] += child_value[i]
                    value[i] += sigma[i * num_actions + action] * child_value[i]
            else:
                for i in range(num_own):
                    value[i] += child_value[i]
        action += 1
        if action < num_actions:
            frames.action[depth] = action
            child_own = frames.own_reach[depth + 1]
            child_opponent = frames.opponent_reach[depth + 1]
            num_other = game.num_buckets[street, opponent]
            if player == traverser:
                for i in range(num_own):
                    child_own[i] = own_reach[i] * sigma[i * num_actions + action]
                for j in range(num_other):
                    child_opponent[j] = opponent_reach[j]
            else:
                for i in range(num_own):
                    child_own[i] = own_reach[i]
                for j in range(num_other):
                    child_opponent[j] = opponent_reach[j] * sigma[j * num_actions + action]
            frames.node[depth + 1] = node.first_child + action
            frames.action[depth + 1] = -1
            depth += 1
            continue
        if player == traverser:
            for i in range(num_own):
                row = first_row + 2 * i * num_actions
                for a in range(num_actions):
                    table[row + a] = max(table[row + a] - value[i], floor)
                    sums = row + num_actions + a
                    table[sums] = table[sums] * sum_factor + sum_weight * own_reach[i] * sigma[i * num_actions + a]
        depth -= 1
    return num_visited


@kernel
def run_full_width(game, table, steps, frames):  # steps float64[T, 5]: the last five numbers of `walk_full_width`
    """Iterations in a row, each updating both players in turn; returns nodes visited."""
    num_visited = 0
    for t in range(steps.shape[0]):
        for traverser in range(2):
            num_visited += walk_full_width(
                game, table, traverser, steps[t, 0], steps[t, 1], steps[t, 2], steps[t, 3], steps[t, 4], frames
            )
    return num_visited


@kernel
def walk_response(game, policy, traverser, best, frames):
    """Values of the traverser against the opponent's `policy` (float64[E]): his best response, or his own policy.

    `best` takes the largest value at his nodes; otherwise he plays `policy` too. The root's values, by his buckets, are
    left in `frames.value[0]`; they sum to the value of the game to him. The caller fills the reach of frame 0.
    """
    nodes = game.nodes
    opponent = 1 - traverser
    frames.node[0] = 0
    frames.action[0] = -1
    depth = 0
    while depth >= 0:
        at = frames.node[depth]
        node = nodes[at]
        value = frames.value[depth]
        if node.kind != DECISION and node.kind != CHANCE:
            _settle(game, node, traverser, frames.opponent_reach[depth], value)
            depth -= 1
            continue
        street = node.street
        action = frames.action[depth]
        opponent_reach = frames.opponent_reach[depth]
        if node.kind == CHANCE:
            if action < 0:
                _expand(game, street + 1, opponent, opponent_reach, frames.opponent_reach[depth + 1])
                frames.action[depth] = 0
                frames.node[depth + 1] = node.first_child
                frames.action[depth + 1] = -1
                depth += 1
            else:
                _collapse(game, street + 1, traverser, frames.value[depth + 1], value)
                depth -= 1
            continue

        num_actions = np.int64(node.num_children)
        num_own = game.num_buckets[street, traverser]
        num_other = game.num_buckets[street, opponent]
        if action < 0:
            reached = False
            for j in range(num_other):
                if opponent_reach[j] != 0.0:
                    reached = True
                    break
            start = -np.inf if best and node.player == traverser and reached else 0.0
            for i in range(num_own):
                value[i] = start
            if not reached:  # nothing below is worth anything
                depth -= 1
                continue
        else:
            child_value = frames.value[depth + 1]
            if node.player != traverser:
                for i in range(num_own):
                    value[i] += child_value[i]
            elif best:
                for i in range(num_own):
                    value[i] = max(value[i], child_value[i])
            else:
                for i in range(num_own):
                    value[i] += policy[node.base + i * num_actions + action] * child_value[i]
        action += 1
        if action == num_actions:
            depth -= 1
            continue
        frames.action[depth] = action
        child_opponent = frames.opponent_reach[depth + 1]
        if node.player == traverser:
            for j in range(num_other):
                child_opponent[j] = opponent_reach[j]
        else:
            for j in range(num_other):
                child_opponent[j] = opponent_reach[j] * policy[node.base + j * num_actions + action]
        frames.node[depth + 1] = node.first_child + action
        frames.action[depth + 1] = -1
        depth += 1
