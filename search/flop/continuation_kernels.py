# mypy: allow-untyped-defs, allow-untyped-calls
"""How the blueprint goes on behind a flop, on one turn and river, for all hands: the leaves of a flop search.

Behind a leaf stands a block of nodes for the turn and one for each river that it can lead to, parents
first; river blocks are walked one after the other in the same memory, which stays in the cache. The player whose values are
wanted is the traverser. The other's reach comes in once for each of his WAYS of going on and is added up where a
hand ends; the traverser's ways differ only where he decides. So all ways cost far less than as many walks, and as they stand
side by side, hand by hand, one lookup of a row serves all: policy[(base + action * buckets + bucket) * WAYS + way].
Ends are settled eight at a time (`game.hands.showdown_lane_kernels`).

n: hands on the full board, padded (`solver.subgame.cut.padded`); M: most places behind a leaf; W: WAYS.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.hands.showdown_lane_kernels import LaneBoard, LaneSums, settle_fold_lanes, settle_showdown_lanes
from foldwise.game.primitives.lane_kernels import WIDTH, from_lanes, to_lanes
from foldwise.game.trees.tree_kernels import DECISION, FOLDED, SHOWDOWN
from foldwise.search.flop.way_kernels import WAYS, add_multiplied_ways, add_played, multiply_ways, put_played

FOLDS, CALLS, RAISES = range(3)


class Behind(NamedTuple):
    """What follows each of K leaves, L nodes in all."""

    kind: np.ndarray  # uint8[L]
    player: np.ndarray  # uint8[L]: who acts, or who folded
    value: np.ndarray  # float32[L]: chips at stake in an end, as real ones
    child: np.ndarray  # int32[all children]
    first: np.ndarray  # int32[L]: of a decision's children among these
    size: np.ndarray  # int32[L]: how many they are
    base: np.ndarray  # int64[L]: of a decision's rows in the policies
    num_buckets: np.ndarray  # int64[L]
    decides: np.ndarray  # bool[2, L]: whether a player has a decision here or below
    place: np.ndarray  # int32[L]: where a node's vectors are kept; river blocks share places, but for their first nodes
    blocks: np.ndarray  # int32[blocks + 1]: where each begins
    first_block: np.ndarray  # int32[K + 1]: of each leaf, its turn


class Runouts(NamedTuple):
    """Turns and rivers behind a flop, R of them; h: hands on a full board."""

    boards: LaneBoard  # of arrays [R, ...]
    to_trunk: np.ndarray  # uint16[R, h]: the place of each hand in the flop's order
    turn_buckets: np.ndarray  # uint32[R, h]
    river_buckets: np.ndarray  # uint32[R, h]


class LeafScratch(NamedTuple):
    """Memory of one thread. Hands beyond those of a board have no reach."""

    reach_at: np.ndarray  # int32[M]: the place of the other's reach at a decision
    reach: np.ndarray  # float32[M, n * W]
    arriving_at: np.ndarray  # int32[M]: the place of the other's reach at an end
    arriving: np.ndarray  # float32[M, n]: all his ways together
    value: np.ndarray  # float32[M, n]: where the traverser's ways are worth the same
    way_values: np.ndarray  # float32[M, n * W]: where they differ
    ends: np.ndarray  # int64[M]
    lanes: LaneSums


@kernel
def fill_policies(stored, bases, counts, num_buckets, classes, factors, out_bases, out):
    """Rows of decisions, [D] each, in every way of going on: float32[P * W].

    classes: int64[D, A] of actions; factors: [W, 3], what a way multiplies the probability of a class by. A row never reached
    counts as uniform.
    """
    for d in range(bases.size):
        count, size = counts[d], num_buckets[d]
        for bucket in range(size):
            source = bases[d] + bucket * count
            total = 0.0
            for a in range(count):
                total += stored[source + a]
            for way in range(WAYS):
                mass = 0.0
                for a in range(count):
                    share = stored[source + a] / total if total > 0.0 else 1.0 / count
                    mass += share * factors[way, classes[d, a]]
                for a in range(count):
                    share = stored[source + a] / total if total > 0.0 else 1.0 / count
                    place = out_bases[d] + a * size + bucket
                    out[place * WAYS + way] = share * factors[way, classes[d, a]] / mass


@kernel(_nrt=False)
def _add_value(is_first, is_wide, single, wide, out):  # [n], [n * W], [n * W]
    """Add what a node is worth to each way's values."""
    for h in range(single.size):
        at = np.uint64(h) * np.uint64(WAYS)
        for way in range(WAYS):
            worth = wide[at + np.uint64(way)] if is_wide else single[h]
            out[at + np.uint64(way)] = worth if is_first else out[at + np.uint64(way)] + worth


@kernel(_nrt=False)
def _add_ways(reach, out):  # [n * W], [n]
    for h in range(out.size):
        at = np.uint64(h) * np.uint64(WAYS)
        total = reach[at]
        for way in range(1, WAYS):
            total += reach[at + np.uint64(way)]
        out[h] = total


@kernel(_nrt=False)
def _go_forward(behind, block, traverser, policies, buckets, scratch):
    """The other's reach at every node after a decision of the block, way by way, and in ends all ways together.

    Where the traverser acts it is the parent's.
    """
    for node in range(behind.blocks[block], behind.blocks[block + 1]):
        if behind.kind[node] != DECISION:
            continue
        at = behind.place[node]
        here = scratch.reach[scratch.reach_at[at]]
        size = behind.num_buckets[node] * WAYS
        is_added = False
        for a in range(behind.size[node]):
            after = behind.child[behind.first[node] + a]
            is_end, child = behind.kind[after] != DECISION, behind.place[after]
            row = behind.base[node] * WAYS + a * size
            if behind.player[node] == traverser:
                scratch.reach_at[child] = scratch.reach_at[at]
                scratch.arriving_at[child] = at
                if is_end and not is_added:
                    _add_ways(here, scratch.arriving[at])
                    is_added = True
            elif is_end:
                scratch.arriving_at[child] = child
                add_multiplied_ways(here, policies[row : row + size], buckets, scratch.arriving[child])
            else:
                scratch.reach_at[child] = child
                multiply_ways(here, policies[row : row + size], buckets, scratch.reach[child])


@kernel(_nrt=False)
def _settle(behind, block, kind, traverser, board, scratch):
    """Values of all ends of one kind in a block."""
    count = 0
    for node in range(behind.blocks[block], behind.blocks[block + 1]):
        if behind.kind[node] == kind:
            scratch.ends[count] = node
            count += 1
    lanes = scratch.lanes
    for begin in range(0, count, WIDTH):
        for lane in range(WIDTH):
            node = scratch.ends[min(begin + lane, count - 1)]  # spare lanes repeat the last one
            worth = behind.value[node]
            lanes.picked[lane] = scratch.arriving_at[behind.place[node]]
            lanes.targets[lane] = behind.place[node]
            lanes.scales[lane] = -worth if kind == FOLDED and behind.player[node] == traverser else worth
        to_lanes(scratch.arriving, lanes.picked, lanes.reach)
        if kind == FOLDED:
            settle_fold_lanes(board, lanes)
        else:
            settle_showdown_lanes(board, lanes)
        from_lanes(lanes.values, lanes.scales, lanes.targets, scratch.value)


@kernel(_nrt=False)
def _go_back(behind, block, traverser, policies, buckets, scratch):
    """Value of every decision to the traverser's hands: in each of his ways where he still decides."""
    decides = behind.decides[traverser]
    for node in range(behind.blocks[block + 1] - 1, behind.blocks[block] - 1, -1):
        if behind.kind[node] != DECISION:
            continue
        at, first, size = behind.place[node], behind.first[node], behind.num_buckets[node] * WAYS
        for a in range(behind.size[node]):
            after = behind.child[first + a]
            child, is_wide = behind.place[after], decides[after]
            single, wide = scratch.value[child], scratch.way_values[child]
            if behind.player[node] == traverser:
                row = behind.base[node] * WAYS + a * size
                rows, out = policies[row : row + size], scratch.way_values[at]
                if a == 0:
                    put_played(rows, buckets, is_wide, single, wide, out)
                else:
                    add_played(rows, buckets, is_wide, single, wide, out)
            elif decides[node]:
                _add_value(a == 0, is_wide, single, wide, scratch.way_values[at])
            else:
                total = scratch.value[at]
                for h in range(total.size):
                    total[h] = single[h] if a == 0 else total[h] + single[h]


@kernel(_nrt=False)
def _settle_and_go_back(behind, block, traverser, policies, buckets, board, scratch):
    _settle(behind, block, SHOWDOWN, traverser, board, scratch)
    _settle(behind, block, FOLDED, traverser, board, scratch)
    _go_back(behind, block, traverser, policies, buckets, scratch)


@kernel(_nrt=False)
def value_leaf(behind, leaf, traverser, policies, runouts, which, leaf_reach, scratch, out):
    """What a leaf is worth on one runout to the traverser's ways, [W, m], from the other's reach in each of his, [W, m].

    0 where a hand clashes with the runout.
    """
    turn, end = behind.first_block[leaf], behind.first_block[leaf + 1]
    boards = runouts.boards
    board = LaneBoard(
        boards.hands[which],
        boards.below[which],
        boards.up_to[which],
        boards.high[which],
        boards.low[which],
        boards.members[which],
        boards.members_below[which],
        boards.members_up_to[which],
    )
    places = runouts.to_trunk[which]
    turn_buckets, river_buckets = runouts.turn_buckets[which], runouts.river_buckets[which]
    for way in range(WAYS):
        for i in range(places.size):
            scratch.reach[0, i * WAYS + way] = leaf_reach[way, places[i]]
    scratch.reach_at[0] = 0
    _go_forward(behind, turn, traverser, policies, turn_buckets, scratch)
    for river in range(turn + 1, end):
        _go_forward(behind, river, traverser, policies, river_buckets, scratch)
        _settle_and_go_back(behind, river, traverser, policies, river_buckets, board, scratch)
    _settle_and_go_back(behind, turn, traverser, policies, turn_buckets, board, scratch)
    is_wide = behind.decides[traverser, behind.blocks[turn]]
    for way in range(WAYS):
        for i in range(out.shape[1]):
            out[way, i] = np.float32(0.0)
        for i in range(places.size):
            out[way, places[i]] = scratch.way_values[0, i * WAYS + way] if is_wide else scratch.value[0, i]
