"""How the tree of a subgame is cut into a trunk and pieces, and the pieces into tasks for threads."""

import numpy as np

from foldwise.game.arrays import Ints, aligned_zeros
from foldwise.game.hands.showdown import empty_lane_sums
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, SHOWDOWN
from foldwise.solver.subgame.fused_kernels import CHUNK
from foldwise.solver.subgame.subgame_kernels import Leaves, Tasks
from foldwise.solver.subgame.subgame_tree import Nodes
from foldwise.solver.subgame.subtree_kernels import LEAF, BlockFrames, Blocks

_RIVER_PIECES = 16
_BLOCK_NODES = 96  # fewer fill lanes badly, more leave the cache
_NUM_GROUPS = 16  # of boards, each added up by one thread: more threads than this do not help on a turn


def padded(num_hands: int) -> int:
    """The length of vectors over so many hands: whole chunks. The hands beyond them meet nobody."""
    return -(-num_hands // CHUNK) * CHUNK


def children(nodes: Nodes, at: int) -> range:
    first = int(nodes[at]["first_child"])
    return range(first, first + int(nodes[at]["num_children"]))


def subtree_depth(nodes: Nodes, at: int = 0) -> int:
    return 1 + max((subtree_depth(nodes, child) for child in children(nodes, at)), default=0)


def _subtree_size(nodes: Nodes, at: int) -> int:
    return 1 + sum(_subtree_size(nodes, child) for child in children(nodes, at))


def cut_turn(nodes: Nodes) -> Leaves:
    """Leaves where the river is dealt or both players are all-in."""
    here = np.flatnonzero(nodes["street"] == nodes[0]["street"])
    starts = {int(at): int(nodes[at]["first_child"]) for at in here if nodes[at]["kind"] == CHANCE}
    starts |= {int(at): int(at) for at in here if nodes[at]["kind"] == SHOWDOWN}
    return _make_leaves(nodes, starts)


def cut_river(nodes: Nodes) -> Leaves:
    """Leaves below the top of the tree, enough of them for threads to share; a small tree stays whole."""
    cut = [0]
    while len(cut) < _RIVER_PIECES:
        opened = [at for at in cut if _subtree_size(nodes, at) > _BLOCK_NODES]
        if not opened:
            break
        largest = max(opened, key=lambda at: _subtree_size(nodes, at))
        cut.remove(largest)
        cut.extend(children(nodes, largest))
    return _make_leaves(nodes, {at: at for at in cut if nodes[at]["kind"] == DECISION})


def gather_leaves(nodes: Nodes, leaves: Leaves) -> list[range]:
    """Runs of leaves that fit into one block; a leaf with a larger subtree stands alone."""
    runs: list[range] = []
    size = 0
    for leaf, at in enumerate(leaves.node.tolist()):
        added = _subtree_size(nodes, at)
        if runs and size + added <= _BLOCK_NODES:
            runs[-1] = range(runs[-1].start, leaf + 1)
            size += added
        else:
            runs.append(range(leaf, leaf + 1))
            size = added
    return runs


def cut_blocks(nodes: Nodes, leaves: Leaves, runs: list[range]) -> Blocks:
    """One block for each run of leaves; a larger piece is cut into the largest subtrees that fit."""
    number = np.full(len(nodes), -1, dtype=np.int32)
    of_leaf = np.full(leaves.node.size, -1, dtype=np.int32)
    tops: list[list[int]] = []
    for run in runs:
        behind = leaves.node[run.start : run.stop].tolist()
        if sum(_subtree_size(nodes, at) for at in behind) <= _BLOCK_NODES:
            of_leaf[run.start] = len(tops)
            tops.append(behind)
            continue
        while behind:
            at = behind.pop()
            if nodes[at]["kind"] != DECISION:
                continue
            if _subtree_size(nodes, at) > _BLOCK_NODES:
                behind.extend(children(nodes, at))
            else:
                number[at] = len(tops)
                tops.append([at])
    return _make_blocks(nodes, number, of_leaf, tops, set())


def cut_trunk(nodes: Nodes, leaves: Leaves) -> Blocks:
    """The trunk as one block, which ends at the leaves."""
    nowhere = np.full(0, -1, dtype=np.int32)
    return _make_blocks(nodes, nowhere, nowhere, [[0]], set(np.flatnonzero(leaves.number >= 0).tolist()))


def _make_blocks(nodes: Nodes, number: Ints, of_leaf: Ints, tops: list[list[int]], ends: set[int]) -> Blocks:
    start, order, first_child, rows = [0], [], [], []
    for block in tops:
        inside, row = block.copy(), 0
        for at in inside:  # grows while iterating: breadth first
            first_child.append(len(inside))
            rows.append(row)
            if at not in ends:
                inside.extend(children(nodes, at))
                row += len(children(nodes, at))
        order.extend(inside)
        start.append(len(order))
    kinds = [LEAF if at in ends else int(nodes[at]["kind"]) for at in order]
    lists = ([len(block) for block in tops], start, order, kinds, first_child, rows)
    return Blocks(number, of_leaf, *(np.array(numbers, dtype=np.int32) for numbers in lists))


def make_block_frames(blocks: Blocks, num_board: int, num_hands: int) -> BlockFrames:
    """Scratch of one thread for any of the blocks, on boards of that many cards."""
    sizes = np.diff(blocks.start)
    most = int(sizes.max(initial=1))
    return BlockFrames(
        reach=aligned_zeros(2, most, num_hands),
        reach_at=np.zeros((2, most), dtype=np.int32),
        sigma=aligned_zeros(most, num_hands),  # every node but the top is an action's
        value=aligned_zeros(most, num_hands),
        ends=np.zeros(most, dtype=np.int64),
        lanes=empty_lane_sums(num_board, num_hands),
    )


def _make_leaves(nodes: Nodes, starts: dict[int, int]) -> Leaves:
    number = np.full(len(nodes), -1, dtype=np.int32)
    number[list(starts)] = np.arange(len(starts))
    return Leaves(number=number, node=np.array(list(starts.values()), dtype=np.int32))


def number_actions(nodes: Nodes) -> list[int]:
    """Give every decision the place of its first action among those of its street; returns actions by street left."""
    counts = []
    is_decision = nodes["kind"] == DECISION
    for street in range(int(nodes[0]["street"]), int(nodes["street"].max()) + 1):
        inside = is_decision & (nodes["street"] == street)
        ends = np.cumsum(nodes["num_children"][inside].astype(np.int64))
        nodes["base"][inside] = ends - nodes["num_children"][inside]
        counts.append(int(ends[-1]) if ends.size else 0)
    return counts


def board_tasks(runs: list[range], num_boards: int) -> Tasks:
    """What threads take one after the other on a turn: groups of boards.

    A board's pieces stand together, so that its sorted hands stay in the cache from piece to piece.
    """
    groups = num_groups(num_boards)
    return _make_tasks(
        [
            [(run.start, run.stop, board, group) for board in range(group, num_boards, groups) for run in runs]
            for group in range(groups)
        ],
        groups,
    )


def piece_tasks(nodes: Nodes, leaves: Leaves) -> Tasks:
    """The same on one board, leaf by leaf: the largest first."""
    sizes = [_subtree_size(nodes, int(at)) for at in leaves.node]
    order = sorted(range(len(sizes)), key=lambda leaf: -sizes[leaf])
    return _make_tasks([[(leaf, leaf + 1, 0, 0)] for leaf in order], 1)


def _make_tasks(tasks: list[list[tuple[int, int, int, int]]], groups: int) -> Tasks:
    pieces = [piece for task in tasks for piece in task]
    starts = np.cumsum([0, *(len(task) for task in tasks)])
    return Tasks(np.array(pieces, dtype=np.int32).reshape(-1, 4), starts.astype(np.int32), groups)


def num_groups(num_boards: int) -> int:
    return min(num_boards, _NUM_GROUPS)
