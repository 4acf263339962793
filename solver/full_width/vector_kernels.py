# mypy: allow-untyped-defs, allow-untyped-calls
"""Full-width walks over vectors of buckets: CFR updates and exact best responses, with an explicit stack.

A node carries the opponent's reach by his buckets and returns the traverser's counterfactual values by his own. The
joint probabilities of the buckets enter at the ends of the game, as a matrix, so values need no further weight.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.primitives.prefetch_kernels import prefetch
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED
from foldwise.solver.regret_kernels import match_regrets


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
    action_value: np.ndarray  # float64[D, B * A]


@kernel
def multiply(flat, start, own, other, reach, scale, out):
    """out[i] = scale * sum_j reach[j] M[j, i], with M [other, own] at `start` of `flat`.

    Four rows at a time, so that `out` is loaded and stored a quarter as often: twice as fast with 25 buckets.
    """
    for i in range(own):
        out[i] = 0.0
    for j in range(0, other - 3, 4):
        w0, w1, w2, w3 = scale * reach[j], scale * reach[j + 1], scale * reach[j + 2], scale * reach[j + 3]
        if w0 != 0.0 or w1 != 0.0 or w2 != 0.0 or w3 != 0.0:
            first = start + j * own
            row0 = flat[first : first + own]
            row1 = flat[first + own : first + 2 * own]
            row2 = flat[first + 2 * own : first + 3 * own]
            row3 = flat[first + 3 * own : first + 4 * own]
            for i in range(own):
                out[i] += w0 * row0[i] + w1 * row1[i] + w2 * row2[i] + w3 * row3[i]
    for j in range(other - other % 4, other):
        weight = scale * reach[j]
        row = flat[start + j * own : start + (j + 1) * own]
        for i in range(own):
            out[i] += weight * row[i]


@kernel
def settle(game, node, traverser, reach, out):
    """Values at an end of the game: the matrix that settles it, times the opponent's reach."""
    street = node.street
    own = np.int64(game.num_buckets[street, traverser])
    other = np.int64(game.num_buckets[street, 1 - traverser])
    if node.kind == FOLDED:
        matrix = game.fold_matrix[street]
        scale = np.float64(-node.value if node.player == traverser else node.value)
    else:
        matrix = game.settle_matrix[street] + node.detail
        scale = np.float64(node.value if traverser == 0 else -node.value)
    start = game.offset[matrix]
    # Rows of the opponent's buckets, so that the inner loop runs along memory.
    flat = game.by_second if traverser == 0 else game.by_first
    multiply(flat, start, own, other, reach, scale, out)


@kernel
def expand(game, street, player, reach, out):
    """Reach on a street from reach on the one before: a bucket inherits its parent's."""
    start = game.parent_offset[street, player]
    for i in range(game.num_buckets[street, player]):
        out[i] = reach[game.parents[start + i]]


@kernel
def collapse(game, street, player, value, out):
    """Values of the street before: a bucket's is the sum over the buckets it becomes."""
    start = game.parent_offset[street, player]
    for i in range(game.num_buckets[street - 1, player]):
        out[i] = 0.0
    for i in range(game.num_buckets[street, player]):
        out[game.parents[start + i]] += value[i]


@kernel(_nrt=False, forceinline=True)
def _act(reach, shares, first, stride, count, out):
    """Reach behind an action: of bucket i, times the share at `first + i * stride`."""
    for i in range(count):
        out[i] = reach[i] * shares[first + i * stride]


@kernel(_nrt=False, forceinline=True)
def _copy(reach, count, out):
    for i in range(count):
        out[i] = reach[i]


@kernel(_nrt=False, forceinline=True)
def take_best(is_own, child_value, count, value):
    """Take the value of one more action into a best response: the larger of one's own, the sum of the opponent's."""
    if is_own:
        for i in range(count):
            value[i] = max(value[i], child_value[i])
    else:
        for i in range(count):
            value[i] += child_value[i]


@kernel(_nrt=False, forceinline=True)
def _go_down(nodes, node, action, table, width, depth, frames):
    """A frame for the child of an action, whose reach is there; asks for the next child's rows, `width` a base of `table`."""
    child = node.first_child + action
    if action + 1 < np.int64(node.num_children):
        prefetch(nodes, np.int64(nodes[child + 1].first_child))
        prefetch(table, width * nodes[child + 1].base)
    frames.node[depth + 1] = child
    frames.action[depth + 1] = -1
    return depth + 1


@kernel(_nrt=False, forceinline=True)
def _pass_chance(game, node, traverser, depth, frames):
    """A street change: first the reach of both goes down, then values come up; returns the depth that is next."""
    street, below = node.street + 1, depth + 1
    if frames.action[depth] >= 0:
        collapse(game, street, traverser, frames.value[below], frames.value[depth])
        return depth - 1
    expand(game, street, traverser, frames.own_reach[depth], frames.own_reach[below])
    expand(game, street, 1 - traverser, frames.opponent_reach[depth], frames.opponent_reach[below])
    frames.action[depth] = 0
    frames.node[below] = node.first_child
    frames.action[below] = -1
    return below


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
    frames.node[0], frames.action[0] = 0, -1
    depth = 0
    num_visited = 0
    while depth >= 0:
        node = nodes[frames.node[depth]]
        value = frames.value[depth]
        if node.kind != DECISION and node.kind != CHANCE:
            num_visited += 1
            settle(game, node, traverser, frames.opponent_reach[depth], value)
            depth -= 1
            continue
        street = node.street
        action = frames.action[depth]
        own_reach = frames.own_reach[depth]
        opponent_reach = frames.opponent_reach[depth]
        if node.kind == CHANCE:
            depth = _pass_chance(game, node, traverser, depth, frames)
            continue

        player = node.player
        num_actions = np.int64(node.num_children)
        num_own = game.num_buckets[street, traverser]
        num_acting = game.num_buckets[street, player]
        sigma = frames.sigma[depth]
        action_value = frames.action_value[depth]
        first_row = 2 * node.base
        if action < 0:
            num_visited += 1
            for i in range(num_own):
                value[i] = 0.0
            for i in range(num_acting):
                row = first_row + 2 * i * num_actions
                match_regrets(table, row, num_actions, sigma[i * num_actions : (i + 1) * num_actions])
        else:
            child_value = frames.value[depth + 1]
            if player == traverser:
                for i in range(num_own):
                    action_value[i * num_actions + action] = child_value[i]
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
                _act(own_reach, sigma, action, num_actions, num_own, child_own)
                _copy(opponent_reach, num_other, child_opponent)
            else:
                _copy(own_reach, num_own, child_own)
                _act(opponent_reach, sigma, action, num_actions, num_other, child_opponent)
            depth = _go_down(nodes, node, action, table, 2, depth, frames)
            continue
        if player == traverser:
            for i in range(num_own):
                row = first_row + 2 * i * num_actions
                weight = sum_weight * own_reach[i]
                for a in range(num_actions):
                    regret = table[row + a]
                    regret *= positive if regret > 0.0 else negative
                    table[row + a] = max(regret + (action_value[i * num_actions + a] - value[i]), floor)
                    sums = row + num_actions + a
                    table[sums] = table[sums] * sum_factor + weight * sigma[i * num_actions + a]
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
def walk_response(game, policy, traverser, frames):
    """The traverser's best response to the opponent's part of `policy` (float64[E]), and what his own part is worth.

    The best values of the root, by his buckets, are left in `frames.value[0]`; they sum to what he wins. Returns what
    he gets by playing `policy` too: summed over the ends of the game, by his own reach. The caller fills the reach
    vectors of frame 0.
    """
    opponent = 1 - traverser
    frames.node[0], frames.action[0] = 0, -1
    depth = 0
    policy_value = 0.0
    while depth >= 0:
        node = game.nodes[frames.node[depth]]
        street = node.street
        value = frames.value[depth]
        own_reach = frames.own_reach[depth]
        opponent_reach = frames.opponent_reach[depth]
        num_own = game.num_buckets[street, traverser]
        if node.kind != DECISION and node.kind != CHANCE:
            settle(game, node, traverser, opponent_reach, value)
            for i in range(num_own):
                policy_value += own_reach[i] * value[i]
            depth -= 1
            continue
        action = frames.action[depth]
        if node.kind == CHANCE:
            depth = _pass_chance(game, node, traverser, depth, frames)
            continue

        num_actions = np.int64(node.num_children)
        num_other = game.num_buckets[street, opponent]
        child_value = frames.value[depth + 1]
        if action < 0:
            reached = False
            for j in range(num_other):
                if opponent_reach[j] != 0.0:
                    reached = True
                    break
            start = -np.inf if node.player == traverser and reached else 0.0
            for i in range(num_own):
                value[i] = start
            if not reached:  # nothing below is worth anything
                depth -= 1
                continue
        else:
            take_best(node.player == traverser, child_value, num_own, value)
        action += 1
        if action == num_actions:
            depth -= 1
            continue
        frames.action[depth] = action
        child_own = frames.own_reach[depth + 1]
        child_opponent = frames.opponent_reach[depth + 1]
        entry = node.base + action
        if node.player == traverser:
            _act(own_reach, policy, entry, num_actions, num_own, child_own)
            _copy(opponent_reach, num_other, child_opponent)
        else:
            _copy(own_reach, num_own, child_own)
            _act(opponent_reach, policy, entry, num_actions, num_other, child_opponent)
        depth = _go_down(game.nodes, node, action, policy, 1, depth, frames)
    return policy_value
