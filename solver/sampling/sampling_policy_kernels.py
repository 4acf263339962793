# mypy: allow-untyped-defs, allow-untyped-calls
"""How a public node, which stands for a vector of infosets, draws an action for all of them (Li et al., 2020).

Policies are the mean of the infosets' strategies, current or average, alike or by range (eq. 4 to 7), mixed with
exploration (eq. 8, 9). Shared by all: `table` float64[2E]; `sigma` float64[n * A], the current strategies of a node's n
infosets; `taken` float64[A], the probability with which the walk takes each action, 0 where it does not.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.primitives.rng_kernels import next_uniform
from foldwise.solver.full_width.vector_kernels import multiply
from foldwise.solver.regret_kernels import draw_action

ALL_ACTIONS, UNIFORM_ACTIONS, POLICY_ACTION = 0, 1, 2  # what the traverser walks
BY_OWN_REACH, BY_OPPONENT_REACH = 1, 2  # bits of `weighting`
NO_EXPLORATION, COUNT_EXPLORATION, EPSILON_EXPLORATION = 0, 1, 2


class SamplingRules(NamedTuple):
    """How actions are drawn at public nodes."""

    traverser: int  # ALL_ACTIONS, UNIFORM_ACTIONS or POLICY_ACTION; the opponent always draws one by the policy
    num_sampled: int  # UNIFORM_ACTIONS: how many
    one_infoset: bool  # the policy is a random infoset's strategy, not a mean over infosets
    by_average: bool  # of average strategies, not of current ones
    weighting: int  # of the mean over infosets: bits; 0 counts them alike
    exploration: int
    epsilon: float  # EPSILON_EXPLORATION: share of uniform draws
    support_share: float  # share of uniform draws in any case


class SamplingStep(NamedTuple):
    """The numbers of one iteration."""

    alpha: float  # share of exploring draws
    beta: float  # how much they prefer what was rarely drawn
    regret_weight: float
    sum_weight: float


@kernel
def average_row(table, row, num_actions, out):
    """The average strategy of an infoset; uniform where it has none yet."""
    total = 0.0
    for a in range(num_actions):
        total += table[row + num_actions + a]
    for a in range(num_actions):
        out[a] = table[row + num_actions + a] / total if total > 0.0 else 1.0 / num_actions


@kernel
def _joint_row(game, street, player, hand):
    """Probability of each bucket of `player` together with the other's bucket `hand`."""
    num_own = np.int64(game.num_buckets[street, player])
    start = game.offset[game.fold_matrix[street]] + hand * num_own
    flat = game.by_second if player == 0 else game.by_first
    return flat[start : start + num_own]


@kernel
def weigh_by_ranges(game, probability, node, rules, own, other, out):
    """Weight of each infoset of a public node: how often it is dealt, and the reach of either player or of both.

    The papers' hands are dealt alike; with that weight, buckets of hands draw as the hands in them would. The other
    player's reach of an infoset is the sum over his buckets, by the probability that both are dealt.
    """
    player = node.player
    num_own = np.int64(game.num_buckets[node.street, player])
    if rules.weighting & BY_OPPONENT_REACH:
        num_other = np.int64(game.num_buckets[node.street, 1 - player])
        flat = game.by_second if player == 0 else game.by_first
        multiply(flat, game.offset[game.fold_matrix[node.street]], num_own, num_other, other, 1.0, out)
    else:
        out[:num_own] = probability[node.street, player, :num_own]
    if rules.weighting & BY_OWN_REACH:
        for i in range(num_own):
            out[i] *= own[i]


@kernel
def weigh_against_hand(game, probability, node, rules, own, hand, out):
    """The same where the other player has one hand."""
    num_own = np.int64(game.num_buckets[node.street, node.player])
    if rules.weighting & BY_OPPONENT_REACH:
        out[:num_own] = _joint_row(game, node.street, node.player, hand)
    else:
        out[:num_own] = probability[node.street, node.player, :num_own]
    if rules.weighting & BY_OWN_REACH:
        for i in range(num_own):
            out[i] *= own[i]


@kernel
def mean_strategy(table, node, num_infosets, rules, sigma, dealt, weights, rng, out):
    """The policy of a public node, eq. 4 to 7: RCS, MCS, WCS, MAS, WAS.

    `dealt` float64[n] is how often each infoset is dealt: RCS draws one by it, and it stands in for weights that are
    all zero.
    """
    num_actions = np.int64(node.num_children)
    if rules.one_infoset:
        chosen = draw_action(dealt, num_infosets, next_uniform(rng)) * num_actions
        out[:num_actions] = sigma[chosen : chosen + num_actions]
        return
    total = 0.0
    for i in range(num_infosets):
        total += weights[i]
    if total <= 0.0:
        weights[:num_infosets] = dealt[:num_infosets]
        total = 1.0
    out[:num_actions] = 0.0
    for i in range(num_infosets):
        if weights[i] == 0.0:
            continue
        share = weights[i] / total
        if rules.by_average:
            sums = 2 * (node.base + i * num_actions) + num_actions
            all_sums = 0.0
            for a in range(num_actions):
                all_sums += table[sums + a]
            for a in range(num_actions):
                out[a] += share * (table[sums + a] / all_sums if all_sums > 0.0 else 1.0 / num_actions)
        else:
            for a in range(num_actions):
                out[a] += share * sigma[i * num_actions + a]


@kernel
def explore(rules, step, counts, first_child, num_actions, out):
    """Mix exploration into a policy, eq. 8 and 9, and a share of uniform draws.

    An action never drawn counts as drawn once, as eq. 9 is not defined for it.
    """
    if rules.exploration == COUNT_EXPLORATION:
        total = 0.0
        for a in range(num_actions):
            total += 1.0 + step.beta / np.sqrt(max(counts[first_child + a], 1.0))
        for a in range(num_actions):
            bonus = 1.0 + step.beta / np.sqrt(max(counts[first_child + a], 1.0))
            out[a] = (1.0 - step.alpha) * out[a] + step.alpha * bonus / total
    elif rules.exploration == EPSILON_EXPLORATION:
        for a in range(num_actions):
            out[a] = (1.0 - rules.epsilon) * out[a] + rules.epsilon / num_actions
    for a in range(num_actions):
        out[a] = (1.0 - rules.support_share) * out[a] + rules.support_share / num_actions


@kernel
def take_one(num_actions, rng, taken):
    """Draw one action by the probabilities in `taken`, and leave its own there alone."""
    chosen = draw_action(taken, num_actions, next_uniform(rng))
    for a in range(num_actions):
        if a != chosen:
            taken[a] = 0.0


@kernel
def take_uniform(num_sampled, num_actions, rng, taken):
    """Draw so many distinct actions, each set of them alike (selection sampling: Knuth, volume 2, 3.4.2, S)."""
    left = min(num_sampled, num_actions)
    probability = left / num_actions
    for a in range(num_actions):
        candidates = num_actions - a
        if left == candidates or (left > 0 and next_uniform(rng) * candidates < left):
            taken[a] = probability
            left -= 1
        else:
            taken[a] = 0.0


@kernel
def next_taken(taken, action, num_actions):
    """The next action after `action` that the walk takes; `num_actions` after the last."""
    action += 1
    while action < num_actions and taken[action] == 0.0:
        action += 1
    return action


@kernel
def count_taken(drawn, first_child, num_actions, taken):
    for a in range(num_actions):
        if taken[a] > 0.0:
            drawn[first_child + a] += 1.0


@kernel
def multiply_averages(table, node, num_infosets, action, reach, out):
    """Reach by average strategies after an action."""
    num_actions = np.int64(node.num_children)
    for i in range(num_infosets):
        sums = 2 * (node.base + i * num_actions) + num_actions
        total = 0.0
        for a in range(num_actions):
            total += table[sums + a]
        out[i] = reach[i] * (table[sums + action] / total if total > 0.0 else 1.0 / num_actions)
