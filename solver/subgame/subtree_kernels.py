# mypy: allow-untyped-defs, allow-untyped-calls
"""Small subtrees on one board walked level by level instead of depth first: their ends are settled in lanes.

A block is one or more of them, enough to fill lanes and few enough to stay in the cache. Down the block strategies and
reaches, then all showdowns and all folds, eight at a time, then values up the block. The trunk of a subgame is a block too:
what its leaves are worth is put between the way down and the way up.

n: hands of the board, padded (`cut.padded`); M: most nodes of a block; R: most actions of its decisions together.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.hands.showdown_lane_kernels import LaneSums, settle_fold_lanes, settle_showdown_lanes
from foldwise.game.primitives.lane_kernels import WIDTH, from_lanes, to_lanes
from foldwise.game.trees.tree_kernels import DECISION, FOLDED, SHOWDOWN
from foldwise.solver.subgame.fused_kernels import play_and_add, play_decision, share_reach
from foldwise.solver.subgame.hand_kernels import FROZEN, value_decision

LEAF = -1  # kind of a node at which the trunk ends


class Blocks(NamedTuple):
    """Subtrees that are walked as wholes. In `node` the tops come first, and children side by side after their parent."""

    number: np.ndarray  # int32[N]: the block of which a node inside of a piece is the only top; else -1
    of_leaf: np.ndarray  # int32[K]: the block whose first top stands behind a leaf; else -1
    num_tops: np.ndarray  # int32[blocks]
    start: np.ndarray  # int32[blocks + 1]: where each begins in the next four
    node: np.ndarray  # int32[nodes of all]
    kind: np.ndarray  # int32[nodes of all]: of the node, or LEAF
    child: np.ndarray  # int32[nodes of all]: place within the block of the first child
    row: np.ndarray  # int32[nodes of all]: of a decision's first action, among the block's actions


class BlockFrames(NamedTuple):
    """Scratch of one thread."""

    reach: np.ndarray  # float32[2, M, n]
    reach_at: np.ndarray  # int32[2, M]: where the player's reach at a node is stored
    sigma: np.ndarray  # float32[R, n]
    value: np.ndarray  # float32[M, n]
    ends: np.ndarray  # int64[M]
    lanes: LaneSums


@kernel(_nrt=False)
def _settle(nodes, blocks, block, kind, traverser, board, frames):
    """Values of all ends of one kind."""
    first, last = blocks.start[block], blocks.start[block + 1]
    block_nodes, kinds = blocks.node[first:last], blocks.kind[first:last]
    count = 0
    for i in range(kinds.size):
        if kinds[i] == kind:
            frames.ends[count] = i
            count += 1
    lanes = frames.lanes
    reach_at = frames.reach_at[1 - traverser]
    for begin in range(0, count, WIDTH):
        for lane in range(WIDTH):
            i = frames.ends[min(begin + lane, count - 1)]  # spare lanes repeat the last one
            node = nodes[block_nodes[i]]
            lanes.picked[lane] = reach_at[i]
            lanes.targets[lane] = i
            lanes.scales[lane] = -node.value if kind == FOLDED and node.player == traverser else node.value
        to_lanes(frames.reach[1 - traverser], lanes.picked, lanes.reach)
        if kind == FOLDED:
            settle_fold_lanes(board, lanes)
        else:
            settle_showdown_lanes(board, lanes)
        from_lanes(lanes.values, lanes.scales, lanes.targets, frames.value)


@kernel(_nrt=False)
def walk_down(nodes, blocks, block, traverser, regrets, sums, rules, frames):
    """Strategies and reaches of a block; the traverser's sums learn. Reaches of the tops are the caller's."""
    first, last = blocks.start[block], blocks.start[block + 1]
    block_nodes, kinds = blocks.node[first:last], blocks.kind[first:last]
    child, row = blocks.child[first:last], blocks.row[first:last]
    source = sums if rules.averages else regrets
    for top in range(blocks.num_tops[block]):
        frames.reach_at[0, top] = top
        frames.reach_at[1, top] = top
    for i in range(kinds.size):
        if kinds[i] != DECISION:
            continue
        node = nodes[block_nodes[i]]
        player, num_actions = np.int64(node.player), np.int64(node.num_children)
        weights = source[node.base : node.base + num_actions]
        reach = frames.reach[player, frames.reach_at[player, i]]
        below = child[i]
        after = i + 1
        while after < kinds.size and kinds[after] != DECISION:
            after += 1
        ahead, ahead_sums = source[:0], sums[:0]
        if after < kinds.size:
            follower = nodes[block_nodes[after]]
            end = follower.base + np.int64(follower.num_children)
            ahead = source[follower.base : end]
            if follower.player == traverser:
                ahead_sums = sums[follower.base : end]
        for a in range(num_actions):
            frames.reach_at[1 - player, below + a] = frames.reach_at[1 - player, i]
            frames.reach_at[player, below + a] = below + a
        reaches = frames.reach[player, below : below + num_actions]
        sigma = frames.sigma[row[i] : row[i] + num_actions]
        if player != traverser:
            share_reach(weights, reach, reaches, ahead, ahead_sums)
        elif rules.learns and node.detail != FROZEN:
            own_sums = sums[node.base : node.base + num_actions]
            play_and_add(
                weights, reach, sigma, reaches, own_sums, rules.sum_factor, rules.sum_weight, ahead, ahead_sums
            )
        else:
            play_decision(weights, reach, sigma, reaches)


@kernel(_nrt=False)
def settle_ends(nodes, blocks, block, traverser, board, frames):
    """Values of the ends of a block's hands."""
    _settle(nodes, blocks, block, SHOWDOWN, traverser, board, frames)
    _settle(nodes, blocks, block, FOLDED, traverser, board, frames)


@kernel(_nrt=False)
def walk_up(nodes, blocks, block, traverser, regrets, rules, frames):
    """Values of the traverser's hands, left in `frames.value`, those of the tops first; his regrets learn."""
    first, last = blocks.start[block], blocks.start[block + 1]
    block_nodes, kinds = blocks.node[first:last], blocks.kind[first:last]
    child, row = blocks.child[first:last], blocks.row[first:last]
    for i in range(kinds.size - 1, -1, -1):
        if kinds[i] == DECISION:
            node = nodes[block_nodes[i]]
            num_actions = np.int64(node.num_children)
            value_decision(
                node,
                traverser,
                frames.sigma[row[i] : row[i] + num_actions],
                frames.value[child[i] : child[i] + num_actions],
                regrets,
                rules,
                frames.value[i],
            )


@kernel(_nrt=False)
def walk_block(nodes, blocks, block, traverser, regrets, sums, board, rules, frames):
    """Down and up; returns nodes visited."""
    walk_down(nodes, blocks, block, traverser, regrets, sums, rules, frames)
    settle_ends(nodes, blocks, block, traverser, board, frames)
    walk_up(nodes, blocks, block, traverser, regrets, rules, frames)
    return blocks.start[block + 1] - blocks.start[block]
