# mypy: allow-untyped-defs, allow-untyped-calls
"""Packing average strategies into few bits, and back."""

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.trees.tree_kernels import DECISION

# Every table has the rows of a decision one behind the other, a row for each bucket. `entry` is where a row begins in a
# policy; in a table of regrets and strategy sums it begins at `2 * entry`, regrets first.
# An average may leave out the first iterations of a run: `earlier` [E] are the strategy sums as they were then, in the order
# of the entries, and `share` is what discounting has left of them since. None: nothing is left out.


@kernel
def rows_of(node, num_buckets):  # NODE_DTYPE, int32[S, 2]
    """The rows of a node: the entry of the first, how many there are (none where nobody decides), and their actions."""
    if node.kind != DECISION:
        return np.int64(0), np.int64(0), np.int64(0)
    return np.int64(node.base), np.int64(num_buckets[node.street, node.player]), np.int64(node.num_children)


@kernel
def later_sum(table, entry, num_actions, action, earlier, share):
    """The strategy sum of an action, without what was there before."""
    here = table[2 * entry + num_actions + action]
    if earlier is None:
        return here
    # Threads that overwrite each other's additions can leave a sum a visit or two below its copy.
    return max(here - share * earlier[entry + action], 0.0)


@kernel
def later_total(table, entry, num_actions, earlier, share):
    """`later_sum` over the actions of a row."""
    total = 0.0
    for a in range(num_actions):
        total += later_sum(table, entry, num_actions, a, earlier, share)
    return total


@kernel
def pack_floats(nodes, num_buckets, table, stored, earlier=None, share=1.0):  # [2E] -> float64[E]
    """Rows that sum to one, zeros where never reached; returns how many infosets were reached."""
    num_reached = 0
    for at in range(nodes.shape[0]):
        entry, num_rows, num_actions = rows_of(nodes[at], num_buckets)
        for _ in range(num_rows):
            total = later_total(table, entry, num_actions, earlier, share)
            if total > 0.0:
                num_reached += 1
                for a in range(num_actions):
                    later = later_sum(table, entry, num_actions, a, earlier, share)
                    stored[entry + a] = later / total
            entry += num_actions
    return num_reached


@kernel
def quantise(nodes, num_buckets, table, stored, earlier=None, share=1.0):  # [2E] -> uint8[E] or uint16[E]
    """Rows of integers that sum to the largest the type holds, zeros where never reached; returns how many were reached.

    Each share is rounded down and the rest goes to the largest remainders, so that no entry is off by one or more and
    an action that is never played stays at zero.
    """
    full = 255 if stored.itemsize == 1 else 65535
    remainder = np.empty(nodes["num_children"].max())
    num_reached = 0
    for at in range(nodes.shape[0]):
        entry, num_rows, num_actions = rows_of(nodes[at], num_buckets)
        for _ in range(num_rows):
            total = later_total(table, entry, num_actions, earlier, share)
            if total > 0.0:
                num_reached += 1
                left = full
                for a in range(num_actions):
                    later = later_sum(table, entry, num_actions, a, earlier, share)
                    exact = full * (later / total)
                    whole = int(exact)
                    stored[entry + a] = whole
                    remainder[a] = exact - whole
                    left -= whole
                for _ in range(left):
                    largest = 0
                    for a in range(1, num_actions):
                        if remainder[a] > remainder[largest]:
                            largest = a
                    stored[entry + largest] += 1
                    remainder[largest] -= 1.0
            entry += num_actions
    return num_reached


@kernel
def dequantise(nodes, num_buckets, stored, policy):  # any[E] -> float32[E]
    """Rows that sum to one; uniform where never reached."""
    for at in range(nodes.shape[0]):
        entry, num_rows, num_actions = rows_of(nodes[at], num_buckets)
        for _ in range(num_rows):
            total = 0.0
            for a in range(num_actions):
                total += stored[entry + a]
            for a in range(num_actions):
                policy[entry + a] = stored[entry + a] / total if total > 0.0 else 1.0 / num_actions
            entry += num_actions
