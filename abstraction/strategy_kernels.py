# mypy: allow-untyped-defs, allow-untyped-calls
"""Packing average strategies into few bits, and back."""

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.trees.tree_kernels import DECISION

# An average may leave out the first iterations of a run: `earlier` [E] are the strategy sums as they were then, in the order
# of the entries, and `share` is what discounting has left of them since. None: nothing is left out.


@kernel
def later_sum(table, at, earlier, entry, share):
    """The strategy sum at `at` of a table, without what was there before."""
    if earlier is None:
        return table[at]
    # Threads that overwrite each other's additions can leave a sum a visit or two below its copy.
    return max(table[at] - share * earlier[entry], 0.0)


@kernel
def pack_floats(nodes, num_buckets, table, stored, earlier=None, share=1.0):  # [2E] -> float64[E]
    """Rows that sum to one, zeros where never reached; returns how many infosets were reached."""
    num_reached = 0
    for at in range(nodes.shape[0]):
        if nodes[at].kind != DECISION:
            continue
        num_actions = np.int64(nodes[at].num_children)
        entry = nodes[at].base
        for _ in range(num_buckets[nodes[at].street, nodes[at].player]):
            total = 0.0
            for a in range(num_actions):
                total += later_sum(table, 2 * entry + num_actions + a, earlier, entry + a, share)
            if total > 0.0:
                num_reached += 1
                for a in range(num_actions):
                    later = later_sum(table, 2 * entry + num_actions + a, earlier, entry + a, share)
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
        if nodes[at].kind != DECISION:
            continue
        num_actions = np.int64(nodes[at].num_children)
        entry = nodes[at].base
        for _ in range(num_buckets[nodes[at].street, nodes[at].player]):
            total = 0.0
            for a in range(num_actions):
                total += later_sum(table, 2 * entry + num_actions + a, earlier, entry + a, share)
            if total > 0.0:
                num_reached += 1
                left = full
                for a in range(num_actions):
                    later = later_sum(table, 2 * entry + num_actions + a, earlier, entry + a, share)
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
        if nodes[at].kind != DECISION:
            continue
        num_actions = np.int64(nodes[at].num_children)
        entry = nodes[at].base
        for _ in range(num_buckets[nodes[at].street, nodes[at].player]):
            total = 0.0
            for a in range(num_actions):
                total += stored[entry + a]
            for a in range(num_actions):
                policy[entry + a] = stored[entry + a] / total if total > 0.0 else 1.0 / num_actions
            entry += num_actions
