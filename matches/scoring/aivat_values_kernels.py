# mypy: allow-untyped-defs, allow-untyped-calls
"""Values of a strategy against itself, by node and bucket: one walk of its own tree on one full board.

n: hands on the board; D: depth of the tree. Every node has a row of buckets for each player, at `starts[node]`; where
the hand is all-in before the last street it has one more for each street to come, one behind the other.
"""

import numpy as np

from foldwise.agent.following.decision_kernels import read_row
from foldwise.game.compiled import kernel
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED, SHOWDOWN
from foldwise.matches.scoring.range_kernels import settle, take_action


@kernel
def add_to_row(row, view, street, values, masses, sums):  # -, View, -, [n], [n], [2, entries]
    """Add what every hand gets, and the weight it is got with, to the hand's bucket in a row."""
    for h in range(values.size):
        at = row + view.buckets[street, view.classes[street, h]]
        sums[0, at] += values[h]
        sums[1, at] += masses[h]


@kernel
def add_node(tree, node, num_buckets, starts, view, ends, frames, depth, out, sums):
    """Add a node's values to both players' rows of it."""
    street = np.int64(tree.nodes[node].street)
    last = street
    if tree.nodes[node].kind == SHOWDOWN:
        last = num_buckets.size - 1
    for player in range(2):
        settle(ends, True, frames.reach[depth, 1 - player], 1.0, out)
        row = starts[node]
        for s in range(street, last + 1):
            add_to_row(row, view, s, frames.values[depth, player], out, sums[player])
            row += num_buckets[s]


@kernel
def settle_node(tree, node, ends, frames, depth):
    """Both players' values of all hands at an end of the tree."""
    reach, values = frames.reach[depth], frames.values[depth]
    spent_0, spent_1 = tree.spent[node, 0], tree.spent[node, 1]
    if tree.nodes[node].kind == FOLDED:
        amount = spent_0 if tree.nodes[node].player == 0 else spent_1
        sign = -1.0 if tree.nodes[node].player == 0 else 1.0
        settle(ends, True, reach[1], sign * amount, values[0])
        settle(ends, True, reach[0], -sign * amount, values[1])
    else:
        settle(ends, False, reach[1], 1.0 * min(spent_0, spent_1), values[0])
        settle(ends, False, reach[0], 1.0 * min(spent_0, spent_1), values[1])


@kernel
def enter(seat, view, node, frames, depth, rows):
    """Prepare a node for the walk: its rows if it is a decision, and zero values."""
    frames.node[depth] = node
    frames.child[depth] = 0
    frames.values[depth, :, :] = 0.0
    if seat.tree.nodes[node].kind == DECISION:
        street = np.int64(seat.tree.nodes[node].street)
        num_actions = np.int64(seat.tree.nodes[node].num_children)
        for c in range(view.counts[street]):
            read_row(seat, node, view.buckets[street, c], rows[c, :num_actions])


@kernel
def add_board(seat, num_buckets, starts, view, ends, frames, out, sums):
    """Walk the tree of a strategy that plays itself on one board and add values to `sums` [2 players, 2, entries].

    frames: a `matches.scoring.aivat_values.ValueFrames`; out: [n] scratch. A branch that neither player reaches is skipped.
    """
    tree = seat.tree
    frames.reach[0, :, :] = 1.0
    enter(seat, view, np.int64(0), frames, 0, frames.rows[0])
    depth = 0
    while depth >= 0:
        node = frames.node[depth]
        kind = tree.nodes[node].kind
        a = frames.child[depth]
        if kind == FOLDED or kind == SHOWDOWN:
            settle_node(tree, node, ends, frames, depth)
        elif a < tree.nodes[node].num_children:
            frames.child[depth] += 1
            frames.reach[depth + 1, :, :] = frames.reach[depth]
            if kind == DECISION:
                player = tree.nodes[node].player
                classes = view.classes[np.int64(tree.nodes[node].street)]
                take_action(
                    frames.reach[depth, player], frames.rows[depth], classes, a, frames.reach[depth + 1, player]
                )
            if frames.reach[depth + 1, 0].sum() > 0.0 or frames.reach[depth + 1, 1].sum() > 0.0:
                depth += 1
                enter(seat, view, np.int64(tree.nodes[node].first_child) + a, frames, depth, frames.rows[depth])
            continue
        add_node(tree, node, num_buckets, starts, view, ends, frames, depth, out, sums)
        if depth > 0:
            above = frames.node[depth - 1]
            if tree.nodes[above].kind == CHANCE:
                frames.values[depth - 1, :, :] += frames.values[depth]
            else:
                player = tree.nodes[above].player
                classes = view.classes[np.int64(tree.nodes[above].street)]
                a = frames.child[depth - 1] - 1
                for h in range(out.size):
                    share = frames.rows[depth - 1, classes[h], a]
                    frames.values[depth - 1, player, h] += share * frames.values[depth, player, h]
                    frames.values[depth - 1, 1 - player, h] += frames.values[depth, 1 - player, h]
        depth -= 1
