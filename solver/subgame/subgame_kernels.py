# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="arg-type"
"""Full-width CFR on the last streets of a hand, without card abstraction: vectors over all hands, in single precision.

The tree is cut into a trunk and pieces below its leaves. A piece is the rest of the game behind one leaf on one full
board: on the turn every river card behind every leaf, on the river a part of the tree. Pieces share nothing they
write but the values at the leaves, and those are kept by group of boards: one thread takes a whole group, and the groups
are added in their order, so that any number of threads adds the same numbers in the same order.

n: hands on a board, in its order of rank; A: most actions; D: depth; K: leaves; B: boards; G: groups; T: actions of all
decisions of a street, whose tables are float32[T, n], an action's hands side by side: so the loops over hands vectorise.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.showdown_kernels import ShowdownBoard, settle_fold, settle_showdown
from foldwise.game.tree_kernels import DECISION, FOLDED

_LEAST_TOTAL = 1e-30  # its inverse is finite in single precision
FROZEN = 1  # `detail` of a decision whose rows are played as they stand: nobody learns there, nor responds


class SubgameFrames(NamedTuple):
    """The stack and scratch of one thread."""

    node: np.ndarray  # int32[D]
    action: np.ndarray  # int32[D]: the one under way; -1 before the first
    reach_at: np.ndarray  # int32[D, 2]: depth at which the player's reach here was stored
    reach: np.ndarray  # float32[D, 2, n]
    sigma: np.ndarray  # float32[D, A, n]
    value: np.ndarray  # float32[D + 1, A, n]: at [d, a], what the a-th child of the node at depth d - 1 is worth
    total: np.ndarray  # float32[n]


class Leaves(NamedTuple):
    """Where the trunk ends. `number` is -1 inside of it."""

    number: np.ndarray  # int32[N]
    node: np.ndarray  # int32[K]
    reach: np.ndarray  # float32[K, 2, n of the trunk]: the traverser's, the opponent's


class Rules(NamedTuple):
    """Numbers of one iteration (see `solver.full_width.vector_cfr.Steps`) and what a walk is for."""

    positive: np.float32
    negative: np.float32
    sum_factor: np.float32
    sum_weight: np.float32
    floor: np.float32
    learns: bool  # tables change
    averages: bool  # strategies are the averages instead of the current ones
    responds: bool  # the traverser plays his best action instead of his strategy


@kernel(_nrt=False)
def match_hands(weights, sigma, total):  # float32[actions, n] regrets or sums, [A, n], [n]
    """Strategies of all hands in proportion to their positive weights; uniform without any."""
    num_actions, num_hands = weights.shape
    uniform = np.float32(1.0 / num_actions)
    zero = np.float32(0.0)
    total[:] = zero
    for a in range(num_actions):
        row, out = weights[a], sigma[a]
        for h in range(num_hands):
            weight = row[h] if row[h] > zero else zero
            out[h] = weight
            total[h] += weight
    for h in range(num_hands):
        total[h] = np.float32(1.0) / total[h] if total[h] > np.float32(_LEAST_TOTAL) else zero
    for a in range(num_actions):
        out = sigma[a]
        for h in range(num_hands):
            out[h] = out[h] * total[h] if total[h] > zero else uniform


@kernel(_nrt=False)
def _copy(source, out):  # an assignment of whole arrays would allocate, in case they overlap
    for h in range(out.size):
        out[h] = source[h]


@kernel(_nrt=False)
def _add_products(left, right, out):
    for h in range(out.size):
        out[h] += left[h] * right[h]


@kernel(_nrt=False)
def _multiply(left, right, out):
    for h in range(out.size):
        out[h] = left[h] * right[h]


@kernel(_nrt=False)
def _add(part, out):
    for h in range(out.size):
        out[h] += part[h]


@kernel(_nrt=False)
def _raise_to(part, out):
    for h in range(out.size):
        out[h] = part[h] if part[h] > out[h] else out[h]


@kernel(_nrt=False)
def _learn_regrets(regret, action_value, value, positive, negative, floor):
    for h in range(regret.size):
        kept = regret[h] * (positive if regret[h] > np.float32(0.0) else negative)
        changed = kept + (action_value[h] - value[h])
        regret[h] = changed if changed > floor else floor


@kernel(_nrt=False)
def _learn_sums(strategy_sum, reach, sigma, factor, weight):
    for h in range(strategy_sum.size):
        strategy_sum[h] = strategy_sum[h] * factor + weight * reach[h] * sigma[h]


@kernel(_nrt=False)
def walk_subtree(
    nodes, root, traverser, regrets, sums, board, prefix_sums, in_trunk, leaves, leaf_values, rules, frames
):
    """Values of the traverser's hands at `root`, left in `frames.value[0, 0]`; his tables learn if the rules say so.

    Reach vectors of the root are the caller's, in frame 0. In the trunk a leaf hands back its values, and the reach
    vectors it was reached with are kept. Returns nodes visited.
    """
    frames.node[0] = root
    frames.action[0] = -1
    frames.reach_at[0, 0] = 0
    frames.reach_at[0, 1] = 0
    opponent = 1 - traverser
    source = sums if rules.averages else regrets
    depth = 0
    num_visited = 0
    while depth >= 0:
        at = frames.node[depth]
        node = nodes[at]
        value = frames.value[depth, frames.action[depth - 1] if depth > 0 else 0]
        if in_trunk and leaves.number[at] >= 0:
            leaf = leaves.number[at]
            _copy(frames.reach[frames.reach_at[depth, traverser], traverser], leaves.reach[leaf, 0])
            _copy(frames.reach[frames.reach_at[depth, opponent], opponent], leaves.reach[leaf, 1])
            _copy(leaf_values[leaf], value)
            depth -= 1
            continue
        if node.kind != DECISION:
            num_visited += 1
            reach = frames.reach[frames.reach_at[depth, opponent], opponent]
            if node.kind == FOLDED:
                scale = np.float32(-node.value if node.player == traverser else node.value)
                settle_fold(board, reach, scale, prefix_sums, value)
            else:
                settle_showdown(board, reach, np.float32(node.value), prefix_sums, value)
            depth -= 1
            continue

        player = np.int64(node.player)
        num_actions = np.int64(node.num_children)
        sigma = frames.sigma[depth]
        action = frames.action[depth]
        if action < 0:
            num_visited += 1
            match_hands(source[node.base : node.base + num_actions], sigma, frames.total)
        action += 1
        if action < num_actions:
            frames.action[depth] = action
            reach = frames.reach[frames.reach_at[depth, player], player]
            _multiply(reach, sigma[action], frames.reach[depth + 1, player])
            frames.reach_at[depth + 1, player] = depth + 1
            frames.reach_at[depth + 1, 1 - player] = frames.reach_at[depth, 1 - player]
            frames.node[depth + 1] = node.first_child + action
            frames.action[depth + 1] = -1
            depth += 1
            continue
        action_value = frames.value[depth + 1]
        if player != traverser:
            _copy(action_value[0], value)
            for a in range(1, num_actions):
                _add(action_value[a], value)
        elif rules.responds and node.detail != FROZEN:
            _copy(action_value[0], value)
            for a in range(1, num_actions):
                _raise_to(action_value[a], value)
        else:
            _multiply(sigma[0], action_value[0], value)
            for a in range(1, num_actions):
                _add_products(sigma[a], action_value[a], value)
        if player == traverser and rules.learns and node.detail != FROZEN:
            reach = frames.reach[frames.reach_at[depth, player], player]
            for a in range(num_actions):
                _learn_regrets(
                    regrets[node.base + a], action_value[a], value, rules.positive, rules.negative, rules.floor
                )
                _learn_sums(sums[node.base + a], reach, sigma[a], rules.sum_factor, rules.sum_weight)
        depth -= 1
    return num_visited


@kernel(_nrt=False)
def walk_pieces(
    nodes,
    pieces,  # int32[P, 3]: leaf, board and group of each
    traverser,
    regrets,  # float32[B, T, n]
    sums,
    boards,  # ShowdownBoard of arrays [B, ...]
    to_trunk,  # uint16[B, n]: the place in the trunk's order of each hand of a board
    board_weight,  # chance of a board, both players' cards being known
    prefix_sums,
    leaves,
    rules,
    frames,
    leaf_values,  # float32[G, K, n of the trunk]: added to, at the piece's group
):
    """One walk in each of the pieces; returns hands times nodes visited."""
    num_visited = 0
    for p in range(pieces.shape[0]):
        leaf, b = pieces[p, 0], pieces[p, 1]
        board = ShowdownBoard(boards.pairs[b], boards.ranks[b], boards.cards[b], boards.places[b], boards.members[b])
        places = to_trunk[b]
        own, other = leaves.reach[leaf, 0], leaves.reach[leaf, 1]
        own_reach, other_reach = frames.reach[0, traverser], frames.reach[0, 1 - traverser]
        for i in range(places.size):
            own_reach[i] = own[places[i]]
            other_reach[i] = other[places[i]]
        num_visited += walk_subtree(
            nodes,
            leaves.node[leaf],
            traverser,
            regrets[b],
            sums[b],
            board,
            prefix_sums,
            False,
            leaves,
            leaf_values[0],
            rules,
            frames,
        )
        value, out = frames.value[0, 0], leaf_values[pieces[p, 2], leaf]
        for i in range(places.size):
            out[places[i]] += board_weight * value[i]
    return num_visited * to_trunk.shape[1]


@kernel(_nrt=False)
def enter_by_choice(regrets, forced, offered, sigma, total, out):  # float32[2, n], [n], scalar, [2, n], [n], [n]
    """With what each hand comes in: what must, and the share of what is offered a choice that chooses so."""
    match_hands(regrets, sigma, total)
    for h in range(out.size):
        out[h] = forced[h] + offered * sigma[0, h]


@kernel(_nrt=False)
def learn_choice(regrets, sigma, inside, outside, total, rules):  # as above; values [n] of coming in and of staying out
    """Regrets of the choice between coming in and staying out."""
    _multiply(sigma[0], inside, total)
    _add_products(sigma[1], outside, total)
    _learn_regrets(regrets[0], inside, total, rules.positive, rules.negative, rules.floor)
    _learn_regrets(regrets[1], outside, total, rules.positive, rules.negative, rules.floor)
