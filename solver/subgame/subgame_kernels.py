# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="arg-type"
"""Full-width CFR on the last streets of a hand, without card abstraction: vectors over all hands, in single precision.

The tree is cut into a trunk and pieces below its leaves. A piece is the rest of the game behind one or a few leaves on
one full board: on the turn every river card behind every leaf, on the river a part of the tree. Pieces share nothing they
write but the values at the leaves, and those are kept by group of boards: one thread takes a whole group, and the groups
are added in their order, so that any number of threads adds the same numbers in the same order.

Threads stay inside of one call for many iterations. The first walks the trunk and opens a pass; whoever is free, the first
too, takes the next of its tasks; when all are done the first goes on. A thread that the system does not run is not waited
for, unless it holds a task.

n: hands on a board, in its order of rank, padded (`cut.padded`) everywhere but in boards; A: most actions; D: depth; K:
leaves; B: boards; G: groups; T: actions of all decisions of a street, whose tables are float32[T, n], an action's hands side
by side: so the loops over hands vectorise.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.hands.showdown_kernels import ShowdownBoard, ShowdownSums, settle_fold, settle_showdown
from foldwise.game.hands.showdown_lane_kernels import LaneBoard
from foldwise.game.primitives.atomic_kernels import add_to_counter, claim_number, let_others_run, read_counter
from foldwise.game.trees.tree_kernels import DECISION, FOLDED
from foldwise.solver.subgame.gadget_kernels import enter_by_choice, learn_choice
from foldwise.solver.subgame.hand_kernels import (
    FROZEN,
    Rules,
    add,
    copy,
    learn_sums,
    match_hands,
    multiply,
    value_decision,
)
from foldwise.solver.subgame.subtree_kernels import BlockFrames, Blocks, settle_ends, walk_block, walk_down, walk_up


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
    """Where the trunk ends, and the nodes behind. `number` is -1 inside of the trunk."""

    number: np.ndarray  # int32[N]
    node: np.ndarray  # int32[K]


class Tasks(NamedTuple):
    """Pieces, and which of them one thread walks one after the other."""

    pieces: np.ndarray  # int32[P, 4]: first leaf and the one after the last, place of the board and group of each
    start: np.ndarray  # int32[tasks + 1]
    num_groups: int


class Trunk(NamedTuple):
    """The street of the root."""

    blocks: Blocks  # one
    leaf_at: np.ndarray  # int32[K]: place of each leaf in the block
    regrets: np.ndarray  # float32[T, n]
    sums: np.ndarray  # float32[T, n]
    board: LaneBoard
    frames: BlockFrames
    leaf_values: np.ndarray  # float32[G, K, n]


class Pieces(NamedTuple):
    """What stands behind the leaves."""

    leaf_nodes: np.ndarray  # int32[K]
    blocks: Blocks
    regrets: np.ndarray  # float32[B, T, n]
    sums: np.ndarray  # float32[B, T, n]
    boards: ShowdownBoard  # of arrays [B, ...]
    lane_boards: LaneBoard  # of arrays [B, ...]
    to_trunk: np.ndarray  # uint16[B, n]: the place in the trunk's order of each hand of a board


class Passes(NamedTuple):
    """What a call does: iterations, in each a pass for one traverser or for one after the other."""

    first_traverser: int
    num_traversers: int
    trunk_steps: np.ndarray  # float32[iterations, 5]: see `Rules`
    steps: np.ndarray  # float32[iterations, 5]: the same behind the leaves
    learns: bool
    averages: bool
    responds: bool
    tasks: Tasks
    order: np.ndarray  # int32[iterations, boards of an iteration]: the board at each place
    board_weight: np.float32  # chance of a board, both players' cards being known


class SubgameScratch(NamedTuple):
    """Memory of one thread."""

    frames: SubgameFrames
    block_frames: BlockFrames
    prefix_sums: ShowdownSums


# Counters, on cache lines of their own: passes opened, tasks taken and tasks done since the call began.
_OPENED, TAKEN, _DONE = 0, 8, 16
NUM_COUNTERS = 24
_PATIENCE = 20_000  # looks at a counter, a tenth of a millisecond, before a waiting thread lets others run


@kernel(_nrt=False)
def walk_subtree(nodes, root, traverser, regrets, sums, board, lane_board, blocks, rules, scratch):
    """Values of the traverser's hands at `root`, left in `frames.value[0, 0]`; his tables learn if the rules say so.

    Reach vectors of the root are the caller's, in frame 0. Blocks are walked as wholes. Returns nodes visited.
    """
    frames, block_frames = scratch.frames, scratch.block_frames
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
        if blocks.number[at] >= 0:
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
                settle_fold(board, reach, scale, scratch.prefix_sums, value)
            else:
                settle_showdown(board, reach, np.float32(node.value), scratch.prefix_sums, value)
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
def _enter(trunk, leaf, player, places, out):
    """A player's reach at a leaf of the trunk, in the order of a board behind it."""
    reach = trunk.frames.reach[player, trunk.frames.reach_at[player, trunk.leaf_at[leaf]]]
    for i in range(places.size):
        out[i] = reach[places[i]]


@kernel(_nrt=False)
def _leave(vector, places, weight, trunk_out):
    for i in range(places.size):
        trunk_out[places[i]] += weight * vector[i]


@kernel(_nrt=False)
def _walk_piece(nodes, first, last, b, traverser, trunk, pieces, board_weight, rules, scratch, leaf_values):
    """One walk behind the leaves from `first` on, on board b; their values are added. Returns nodes visited."""
    boards, lane_boards = pieces.boards, pieces.lane_boards
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
    frames, block_frames = scratch.frames, scratch.block_frames
    places, block = pieces.to_trunk[b], pieces.blocks.of_leaf[first]
    if block >= 0:
        for top in range(last - first):
            for side in range(2):
                _enter(trunk, first + top, side, places, block_frames.reach[side, top])
        num_visited = walk_block(
            nodes, pieces.blocks, block, traverser, pieces.regrets[b], pieces.sums[b], lane_board, rules, block_frames
        )
        for top in range(last - first):
            _leave(block_frames.value[top], places, board_weight, leaf_values[first + top])
        return np.int64(num_visited)
    for side in range(2):
        _enter(trunk, first, side, places, frames.reach[0, side])
    num_visited = walk_subtree(
        nodes,
        pieces.leaf_nodes[first],
        traverser,
        pieces.regrets[b],
        pieces.sums[b],
        board,
        lane_board,
        pieces.blocks,
        rules,
        scratch,
    )
    _leave(frames.value[0, 0], places, board_weight, leaf_values[first])
    return np.int64(num_visited)


@kernel(_nrt=False)
def _walk_task(nodes, task, iteration, traverser, trunk, pieces, passes, rules, scratch):
    num_visited = 0
    for p in range(passes.tasks.start[task], passes.tasks.start[task + 1]):
        piece = passes.tasks.pieces[p]
        first, last, place, group = piece[0], piece[1], piece[2], piece[3]
        leaf_values = trunk.leaf_values[group]
        if place == group:  # the first board of its group
            for leaf in range(first, last):
                for h in range(leaf_values.shape[1]):
                    leaf_values[leaf, h] = np.float32(0.0)
        num_visited += _walk_piece(
            nodes,
            first,
            last,
            passes.order[iteration, place],
            traverser,
            trunk,
            pieces,
            passes.board_weight,
            rules,
            scratch,
            leaf_values,
        )
    return num_visited


@kernel(_nrt=False)
def _rules_of(steps, passes):  # float32[5]
    return Rules(steps[0], steps[1], steps[2], steps[3], steps[4], passes.learns, passes.averages, passes.responds)


@kernel(_nrt=False)
def _begin_pass(nodes, traverser, other_reach, trunk, rules):
    """Down the trunk: after it, pieces know the reaches they begin with."""
    own, other = trunk.frames.reach[traverser, 0], trunk.frames.reach[1 - traverser, 0]
    for h in range(other_reach.size):
        own[h] = np.float32(1.0)
        other[h] = other_reach[h]
    walk_down(nodes, trunk.blocks, 0, traverser, trunk.regrets, trunk.sums, rules, trunk.frames)


@kernel(_nrt=False)
def _end_pass(nodes, traverser, trunk, num_groups, rules):
    """Up the trunk with the values of its leaves; returns its own nodes."""
    num_visited = trunk.blocks.kind.size - trunk.leaf_at.size
    for leaf in range(trunk.leaf_at.size):
        value = trunk.frames.value[trunk.leaf_at[leaf]]
        copy(trunk.leaf_values[0, leaf], value)
        for group in range(1, num_groups):
            add(trunk.leaf_values[group, leaf], value)
    walk_up(nodes, trunk.blocks, 0, traverser, trunk.regrets, rules, trunk.frames)
    return num_visited


@kernel(_nrt=False)
def _take_task(counters, num_passes, num_tasks, pass_under_way):
    """The number of a task of an open pass, counted from the start of the call, that no other thread takes; -1: none is left.

    The first thread, which names its pass, does not wait for the next one to open; others, with a pass of -1, do.
    """
    waited = 0
    while True:
        task = read_counter(counters, TAKEN)
        if task == num_passes * num_tasks:
            return -1
        if task < read_counter(counters, _OPENED) * num_tasks:
            if claim_number(counters, TAKEN, task):
                return task
        elif pass_under_way >= 0:
            return -1
        else:
            waited += 1
            if waited % _PATIENCE == 0:
                let_others_run()


@kernel(_nrt=False)
def _wait_for(counters, num_done):
    waited = 0
    while read_counter(counters, _DONE) < num_done:
        waited += 1
        if waited % _PATIENCE == 0:
            let_others_run()


@kernel(_nrt=False)
def lead_passes(nodes, trunk, pieces, ranges, choice, passes, scratch, counters):
    """All passes, as the first thread; returns hands times nodes that it visited. `ranges` float32[2, n]."""
    num_trunk_hands, num_hands = ranges.shape[1], pieces.to_trunk.shape[1]
    num_tasks = passes.tasks.start.size - 1
    num_passes = passes.steps.shape[0] * passes.num_traversers
    num_visited = 0
    for number in range(num_passes):
        iteration = number // passes.num_traversers
        traverser = passes.first_traverser + number % passes.num_traversers
        trunk_rules = _rules_of(passes.trunk_steps[iteration], passes)
        rules = _rules_of(passes.steps[iteration], passes)
        other_reach = choice.entering if choice.player == 1 - traverser else ranges[1 - traverser]
        _begin_pass(nodes, traverser, other_reach, trunk, trunk_rules)
        add_to_counter(counters, _OPENED, 1)
        settle_ends(nodes, trunk.blocks, 0, traverser, trunk.board, trunk.frames)
        while True:
            task = _take_task(counters, num_passes, num_tasks, number)
            if task < 0:
                break
            num_visited += num_hands * _walk_task(
                nodes, task % num_tasks, iteration, traverser, trunk, pieces, passes, rules, scratch
            )
            add_to_counter(counters, _DONE, 1)
        _wait_for(counters, (number + 1) * num_tasks)
        num_visited += num_trunk_hands * _end_pass(nodes, traverser, trunk, passes.tasks.num_groups, trunk_rules)
        if choice.player == traverser:
            inside = trunk.frames.value[0, :num_trunk_hands]
            learn_choice(choice, inside, trunk_rules)
            enter_by_choice(choice)
    return num_visited


@kernel(_nrt=False)
def help_passes(nodes, trunk, pieces, passes, scratch, counters):
    """Tasks of all passes, as another thread; returns hands times nodes that it visited."""
    num_tasks = passes.tasks.start.size - 1
    num_passes = passes.steps.shape[0] * passes.num_traversers
    num_visited = 0
    while True:
        task = _take_task(counters, num_passes, num_tasks, -1)
        if task < 0:
            return num_visited * pieces.to_trunk.shape[1]
        number = task // num_tasks
        iteration = number // passes.num_traversers
        traverser = passes.first_traverser + number % passes.num_traversers
        rules = _rules_of(passes.steps[iteration], passes)
        num_visited += _walk_task(nodes, task % num_tasks, iteration, traverser, trunk, pieces, passes, rules, scratch)
        add_to_counter(counters, _DONE, 1)
