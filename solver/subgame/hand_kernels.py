# mypy: allow-untyped-defs, allow-untyped-calls
"""Vectors over all hands of a board, in single precision: strategies, reaches, values, regrets and sums of one decision.

n: hands, padded (`cut.padded`); A: most actions. Loops over hands are innermost and simple, so that they vectorise.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.solver.subgame.fused_kernels import learn_decision

_LEAST_TOTAL = 1e-30  # its inverse is finite in single precision
FROZEN = 1  # `detail` of a decision with fixed rows: nobody learns or responds there


class Rules(NamedTuple):
    """Numbers of one iteration (see `solver.full_width.schedules.Steps`) and what a walk is for."""

    positive: np.float32
    negative: np.float32
    sum_factor: np.float32
    sum_weight: np.float32
    floor: np.float32
    learns: bool  # tables change
    averages: bool  # strategies are the averages instead of the current ones
    responds: bool  # the traverser plays his best action instead of his strategy


@kernel(_nrt=False)
def match_hands(weights, sigma, total):  # float32[actions, n] regrets or sums, [A, n], [n]
    """Strategies of all hands in proportion to their positive weights; uniform without any."""
    num_actions, num_hands = weights.shape
    uniform = np.float32(1.0 / num_actions)
    zero = np.float32(0.0)
    total[:] = zero
    for a in range(num_actions):
        row, out = weights[a], sigma[a]
        for h in range(num_hands):
            weight = row[h] if row[h] > zero else zero
            out[h] = weight
            total[h] += weight
    for h in range(num_hands):
        total[h] = np.float32(1.0) / total[h] if total[h] > np.float32(_LEAST_TOTAL) else zero
    for a in range(num_actions):
        out = sigma[a]
        for h in range(num_hands):
            out[h] = out[h] * total[h] if total[h] > zero else uniform


@kernel(_nrt=False)
def copy(source, out):  # an assignment of whole arrays would allocate, in case they overlap
    for h in range(out.size):
        out[h] = source[h]


@kernel(_nrt=False)
def add_products(left, right, out):
    for h in range(out.size):
        out[h] += left[h] * right[h]


@kernel(_nrt=False)
def multiply(left, right, out):
    for h in range(out.size):
        out[h] = left[h] * right[h]


@kernel(_nrt=False)
def add(part, out):
    for h in range(out.size):
        out[h] += part[h]


@kernel(_nrt=False)
def raise_to(part, out):
    for h in range(out.size):
        out[h] = part[h] if part[h] > out[h] else out[h]


@kernel(_nrt=False)
def learn_regrets(regret, action_value, value, positive, negative, floor):
    for h in range(regret.size):
        kept = regret[h] * (positive if regret[h] > np.float32(0.0) else negative)
        changed = kept + (action_value[h] - value[h])
        regret[h] = changed if changed > floor else floor


@kernel(_nrt=False)
def learn_sums(strategy_sum, reach, sigma, factor, weight):
    for h in range(strategy_sum.size):
        strategy_sum[h] = strategy_sum[h] * factor + weight * reach[h] * sigma[h]


@kernel(_nrt=False)
def value_decision(node, traverser, sigma, action_value, regrets, rules, value):  # [A, n], [A, n], ..., [n]
    """What a decision is worth to the traverser's hands, from what its actions are worth; his regrets learn."""
    num_actions = np.int64(node.num_children)
    if node.player != traverser:
        copy(action_value[0], value)
        for a in range(1, num_actions):
            add(action_value[a], value)
    elif rules.learns and node.detail != FROZEN:
        learn_decision(
            sigma[:num_actions],
            action_value[:num_actions],
            regrets[node.base : node.base + num_actions],
            rules.positive,
            rules.negative,
            rules.floor,
            value,
        )
    elif rules.responds and node.detail != FROZEN:
        copy(action_value[0], value)
        for a in range(1, num_actions):
            raise_to(action_value[a], value)
    else:
        multiply(sigma[0], action_value[0], value)
        for a in range(1, num_actions):
            add_products(sigma[a], action_value[a], value)
