"""How the tree of a subgame is cut into a trunk and pieces, and the pieces into shares for threads."""

import numpy as np

from foldwise.game.arrays import Ints, aligned_zeros
from foldwise.game.hands.showdown import empty_lane_sums
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, SHOWDOWN
from foldwise.solver.subgame.fused_kernels import CHUNK
from foldwise.solver.subgame.subgame_kernels import Leaves
from foldwise.solver.subgame.subgame_tree import Nodes
from foldwise.solver.subgame.subtree_kernels import BlockFrames, Blocks

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


def cut_turn(nodes: Nodes, num_hands: int) -> Leaves:
    """Leaves where the river is dealt or both players are all-in."""
    here = np.flatnonzero(nodes["street"] == nodes[0]["street"])
    starts = {int(at): int(nodes[at]["first_child"]) for at in here if nodes[at]["kind"] == CHANCE}
    starts |= {int(at): int(at) for at in here if nodes[at]["kind"] == SHOWDOWN}
    return _make_leaves(nodes, starts, num_hands)


def cut_river(nodes: Nodes, num_hands: int) -> Leaves:
    """Leaves below the top of the tree, enough of them for threads to share; a small tree stays whole."""
    cut = [0]
    while len(cut) < _RIVER_PIECES:
        opened = [at for at in cut if _subtree_size(nodes, at) > _BLOCK_NODES]
        if not opened:
            break
        largest = max(opened, key=lambda at: _subtree_size(nodes, at))
        cut.remove(largest)
        cut.extend(children(nodes, largest))
    return _make_leaves(nodes, {at: at for at in cut if nodes[at]["kind"] == DECISION}, num_hands)


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
    start, order, first_child, rows = [0], [], [], []
    for block in tops:
        inside, row = block.copy(), 0
        for at in inside:  # grows while iterating: breadth first
            first_child.append(len(inside))
            rows.append(row)
            inside.extend(children(nodes, at))
            row += len(children(nodes, at))
        order.extend(inside)
        start.append(len(order))
    lists = ([len(block) for block in tops], start, order, first_child, rows)
    return Blocks(number, of_leaf, *(np.array(numbers, dtype=np.int32) for numbers in lists))


def make_block_frames(nodes: Nodes, blocks: Blocks, num_hands: int) -> BlockFrames:
    """Scratch of one thread for any of the blocks."""
    sizes = np.diff(blocks.start)
    most = int(sizes.max(initial=1))
    return BlockFrames(
        reach=aligned_zeros(2, most, num_hands),
        reach_at=np.zeros((2, most), dtype=np.int32),
        sigma=aligned_zeros(most, num_hands),  # every node but the top is an action's
        value=aligned_zeros(most, num_hands),
        ends=np.zeros(most, dtype=np.int64),
        lanes=empty_lane_sums(5, num_hands),
    )


def _make_leaves(nodes: Nodes, starts: dict[int, int], num_hands: int) -> Leaves:
    number = np.full(len(nodes), -1, dtype=np.int32)
    number[list(starts)] = np.arange(len(starts))
    return Leaves(
        number=number,
        node=np.array(list(starts.values()), dtype=np.int32),
        reach=aligned_zeros(len(starts), 2, num_hands),
    )


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


def share_boards(runs: list[range], num_boards: int, threads: int) -> list[Ints]:
    """For each thread rows of first leaf, the one after the last, board and group; whole groups to each.

    A board's pieces stand together, so that its sorted hands stay in the cache from piece to piece.
    """
    shares: list[list[tuple[int, int, int, int]]] = [[] for _ in range(threads)]
    for board in range(num_boards):
        group = board % _NUM_GROUPS
        shares[group % threads].extend((run.start, run.stop, board, group) for run in runs)
    return [_as_pieces(share) for share in shares]


def share_pieces(nodes: Nodes, leaves: Leaves, threads: int) -> list[Ints]:
    """The same on one board, leaf by leaf: the largest first, to the thread with the least to do."""
    sizes = [_subtree_size(nodes, int(at)) for at in leaves.node]
    shares: list[list[tuple[int, int, int, int]]] = [[] for _ in range(threads)]
    load = [0] * threads
    for leaf in sorted(range(len(sizes)), key=lambda leaf: -sizes[leaf]):
        least = load.index(min(load))
        shares[least].append((leaf, leaf + 1, 0, 0))
        load[least] += sizes[leaf]
    return [_as_pieces(share) for share in shares]


def _as_pieces(rows: list[tuple[int, int, int, int]]) -> Ints:
    return np.array(rows, dtype=np.int32).reshape(-1, 4)


def num_groups(num_boards: int) -> int:
    return min(num_boards, _NUM_GROUPS)
