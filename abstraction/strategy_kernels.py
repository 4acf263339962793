# mypy: allow-untyped-defs, allow-untyped-calls
"""Packing average strategies into few bits, and back."""

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.trees.tree_kernels import DECISION


@kernel
def pack_floats(nodes, num_buckets, table, stored):  # float64[2E] -> float64[E]; zeros where never reached
    """Rows that sum to one; returns how many infosets were reached."""
    num_reached = 0
    for at in range(nodes.shape[0]):
        if nodes[at].kind != DECISION:
            continue
        num_actions = np.int64(nodes[at].num_children)
        entry = nodes[at].base
        for _ in range(num_buckets[nodes[at].street, nodes[at].player]):
            total = 0.0
            for a in range(num_actions):
                total += table[2 * entry + num_actions + a]
            if total > 0.0:
                num_reached += 1
                for a in range(num_actions):
                    stored[entry + a] = table[2 * entry + num_actions + a] / total
            entry += num_actions
    return num_reached


@kernel
def quantise(nodes, num_buckets, table, stored):  # float64[2E] -> uint8[E] or uint16[E]; zeros where never reached
    """Rows of integers that sum to the largest the type holds; returns how many infosets were reached.

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
                total += table[2 * entry + num_actions + a]
            if total > 0.0:
                num_reached += 1
                left = full
                for a in range(num_actions):
                    exact = full * (table[2 * entry + num_actions + a] / total)
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
