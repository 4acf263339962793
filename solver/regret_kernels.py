# mypy: allow-untyped-defs, allow-untyped-calls
"""Regret kernels over one interleaved table.

The row of an infoset with A actions takes 2A entries: A regrets, then A strategy sums, so that one visit touches one
run of memory. `row` is the place of its first regret, `2 * (base + bucket * A)`.
"""

import numpy as np

from foldwise.abstraction.strategy_kernels import later_sum, later_total, rows_of
from foldwise.game.compiled import kernel

_LEAST_TOTAL = 1e-300  # its inverse is finite; the inverse of a subnormal number is not


@kernel
def match_regrets(table, row, num_actions, out):  # out: float64[>= A]
    """Current strategy from regrets: regret matching, Zinkevich et al. (NIPS 2007), eq. 8.

    Uniform when no regret is positive (or all are below 1e-300). Serves RM+ too, whose regrets are floored when stored.
    """
    total = 0.0
    for a in range(num_actions):
        regret = table[row + a]
        if regret > 0.0:
            out[a] = regret
            total += regret
        else:
            out[a] = 0.0
    if total > _LEAST_TOTAL:
        scale = 1.0 / total
        for a in range(num_actions):
            out[a] *= scale
    else:
        for a in range(num_actions):
            out[a] = 1.0 / num_actions


@kernel
def draw_action(sigma, num_actions, uniform):  # float64[>= A], uniform in [0, 1)
    """The action whose share of [0, 1) holds `uniform`; never one of probability zero."""
    chosen = 0
    below = 0.0
    for a in range(num_actions):
        if sigma[a] > 0.0:
            chosen = a
            below += sigma[a]
            if uniform < below:
                break
    return chosen


@kernel
def scale_tables(nodes, num_buckets, table, positive, negative, sums):  # NODE_DTYPE[N], int32[S, 2], float64[2E]
    """Discount everything: positive regrets, negative regrets and strategy sums, each by its factor."""
    for at in range(nodes.shape[0]):
        first, num_rows, num_actions = rows_of(nodes[at], num_buckets)
        row = 2 * first
        for _ in range(num_rows):
            for a in range(num_actions):
                regret = table[row + a]
                table[row + a] = regret * (positive if regret > 0.0 else negative)
                table[row + num_actions + a] *= sums
            row += 2 * num_actions


@kernel
def normalise_sums(nodes, num_buckets, table, policy, earlier=None, share=1.0):  # float64[2E] -> float64[E]
    """The average strategy of every infoset: uniform where it was never reached. `earlier`: see `later_sum`."""
    for at in range(nodes.shape[0]):
        entry, num_rows, num_actions = rows_of(nodes[at], num_buckets)
        for _ in range(num_rows):
            total = later_total(table, entry, num_actions, earlier, share)
            for a in range(num_actions):
                later = later_sum(table, entry, num_actions, a, earlier, share)
                policy[entry + a] = later / total if total > 0.0 else 1.0 / num_actions
            entry += num_actions


@kernel
def copy_sums(nodes, num_buckets, table, sums):  # NODE_DTYPE[n], [2E] -> [entries of these nodes]
    """The strategy sums of some nodes that stand one behind the other, in the order of their entries."""
    place = np.int64(0)
    for at in range(nodes.shape[0]):
        first, num_rows, num_actions = rows_of(nodes[at], num_buckets)
        row = 2 * first
        for _ in range(num_rows):
            for a in range(num_actions):
                sums[place + a] = table[row + num_actions + a]
            place += num_actions
            row += 2 * num_actions


@kernel
def current_policy(nodes, num_buckets, table, policy):  # float64[2E] -> float64[E]
    """The current strategy of every infoset, by regret matching."""
    for at in range(nodes.shape[0]):
        entry, num_rows, num_actions = rows_of(nodes[at], num_buckets)
        for _ in range(num_rows):
            match_regrets(table, 2 * entry, num_actions, policy[entry : entry + num_actions])
            entry += num_actions


@kernel
def mean_positive_regret(nodes, num_buckets, table):  # float64[2E]
    """Mean over infosets of the largest positive regret: what is known of convergence without a best response."""
    total = 0.0
    num_infosets = 0
    for at in range(nodes.shape[0]):
        first, num_rows, num_actions = rows_of(nodes[at], num_buckets)
        row = 2 * first
        for _ in range(num_rows):
            largest = 0.0
            for a in range(num_actions):
                largest = max(largest, table[row + a])
            total += largest
            num_infosets += 1
            row += 2 * num_actions
    return total / num_infosets
