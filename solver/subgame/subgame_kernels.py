# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="arg-type"
"""Full-width CFR on the last streets of a hand, without card abstraction: vectors over all hands, in single precision.

The tree is cut into a trunk and pieces below its leaves. A piece is the rest of the game behind one or a few leaves on
one full board: on the turn every river card behind every leaf, on the river a part of the tree. Pieces share nothing they
write but the values at the leaves, and those are kept by group of boards: one thread takes a whole group, and the groups
are added in their order, so that any number of threads adds the same numbers in the same order.

n: hands on a board, in its order of rank, padded (`cut.padded`) everywhere but in boards; A: most actions; D: depth; K:
leaves; B: boards; G: groups; T: actions of all decisions of a street, whose tables are float32[T, n], an action's hands side
by side: so the loops over hands vectorise.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.hands.showdown_kernels import ShowdownBoard, settle_fold, settle_showdown
from foldwise.game.hands.showdown_lane_kernels import LaneBoard
from foldwise.game.trees.tree_kernels import DECISION, FOLDED
from foldwise.solver.subgame.hand_kernels import FROZEN, copy, learn_sums, match_hands, multiply, value_decision
from foldwise.solver.subgame.subtree_kernels import walk_block


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


@kernel(_nrt=False)
def walk_subtree(
    nodes,
    root,
    traverser,
    regrets,
    sums,
    board,
    lane_board,
    prefix_sums,
    in_trunk,
    leaves,
    leaf_values,
    blocks,
    rules,
    frames,
    block_frames,
):
    """Values of the traverser's hands at `root`, left in `frames.value[0, 0]`; his tables learn if the rules say so.

    Reach vectors of the root are the caller's, in frame 0. In the trunk a leaf hands back its values, and the reach
    vectors it was reached with are kept. Outside of it, blocks are walked as wholes. Returns nodes visited.
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
            copy(frames.reach[frames.reach_at[depth, traverser], traverser], leaves.reach[leaf, 0])
            copy(frames.reach[frames.reach_at[depth, opponent], opponent], leaves.reach[leaf, 1])
            copy(leaf_values[leaf], value)
            depth -= 1
            continue
        if not in_trunk and blocks.number[at] >= 0:
            for side in range(2):
                copy(frames.reach[frames.reach_at[depth, side], side], block_frames.reach[side, 0])
            num_visited += walk_block(
                nodes, blocks, blocks.number[at], traverser, regrets, sums, lane_board, rules, block_frames
            )
            copy(block_frames.value[0], value)
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
            if player == traverser and rules.learns and node.detail != FROZEN:
                reach = frames.reach[frames.reach_at[depth, player], player]
                for a in range(num_actions):
                    learn_sums(sums[node.base + a], reach, sigma[a], rules.sum_factor, rules.sum_weight)
        action += 1
        if action < num_actions:
            frames.action[depth] = action
            reach = frames.reach[frames.reach_at[depth, player], player]
            multiply(reach, sigma[action], frames.reach[depth + 1, player])
            frames.reach_at[depth + 1, player] = depth + 1
            frames.reach_at[depth + 1, 1 - player] = frames.reach_at[depth, 1 - player]
            frames.node[depth + 1] = node.first_child + action
            frames.action[depth + 1] = -1
            depth += 1
            continue
        value_decision(node, traverser, sigma, frames.value[depth + 1], regrets, rules, value)
        depth -= 1
    return num_visited


@kernel(_nrt=False)
def _enter(trunk_vector, places, out):
    for i in range(places.size):
        out[i] = trunk_vector[places[i]]


@kernel(_nrt=False)
def _leave(vector, places, weight, trunk_out):
    for i in range(places.size):
        trunk_out[places[i]] += weight * vector[i]


@kernel(_nrt=False)
def walk_pieces(
    nodes,
    pieces,  # int32[P, 4]: first leaf and the one after the last, board and group of each
    traverser,
    regrets,  # float32[B, T, n]
    sums,
    boards,  # ShowdownBoard of arrays [B, ...]
    lane_boards,  # LaneBoard of arrays [B, ...]
    to_trunk,  # uint16[B, n]: the place in the trunk's order of each hand of a board
    board_weight,  # chance of a board, both players' cards being known
    prefix_sums,
    leaves,
    blocks,
    rules,
    frames,
    block_frames,
    leaf_values,  # float32[G, K, n of the trunk]: added to, at the piece's group
):
    """One walk in each of the pieces; returns hands times nodes visited."""
    num_visited = 0
    for p in range(pieces.shape[0]):
        first, last, b = pieces[p, 0], pieces[p, 1], pieces[p, 2]
        board = ShowdownBoard(boards.pairs[b], boards.ranks[b], boards.cards[b], boards.places[b], boards.members[b])
        lane_board = LaneBoard(
            lane_boards.hands[b],
            lane_boards.below[b],
            lane_boards.up_to[b],
            lane_boards.high[b],
            lane_boards.low[b],
            lane_boards.members[b],
            lane_boards.members_below[b],
            lane_boards.members_up_to[b],
        )
        places = to_trunk[b]
        out = leaf_values[pieces[p, 3]]
        block = blocks.of_leaf[first]
        if block >= 0:
            for top in range(last - first):
                _enter(leaves.reach[first + top, 0], places, block_frames.reach[traverser, top])
                _enter(leaves.reach[first + top, 1], places, block_frames.reach[1 - traverser, top])
            num_visited += walk_block(
                nodes, blocks, block, traverser, regrets[b], sums[b], lane_board, rules, block_frames
            )
            for top in range(last - first):
                _leave(block_frames.value[top], places, board_weight, out[first + top])
            continue
        _enter(leaves.reach[first, 0], places, frames.reach[0, traverser])
        _enter(leaves.reach[first, 1], places, frames.reach[0, 1 - traverser])
        num_visited += walk_subtree(
            nodes,
            leaves.node[first],
            traverser,
            regrets[b],
            sums[b],
            board,
            lane_board,
            prefix_sums,
            False,
            leaves,
            leaf_values[0],
            blocks,
            rules,
            frames,
            block_frames,
        )
        _leave(frames.value[0, 0], places, board_weight, out[first])
    return num_visited * to_trunk.shape[1]
