# mypy: allow-untyped-defs, allow-untyped-calls
"""How a public node, which stands for a vector of hands, draws an action for all of them (Li et al., 2020).

Policies are the mean of the hands' strategies, current or average, alike or by range (eq. 4 to 7), mixed with
exploration (eq. 8, 9). Shared by all: `table` float64[2E]; `own`, `other`: Hands of the player who acts and of the other;
`sigma` float64[n * A], current strategies of the n buckets his hands are in; `taken` float64[A], the probability with which
the walk takes each action, 0 where it does not.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.primitives.rng_kernels import next_uniform
from foldwise.solver.regret_kernels import draw_action
from foldwise.solver.sampling.public_kernels import meet_hands

ALL_ACTIONS, UNIFORM_ACTIONS, POLICY_ACTION = 0, 1, 2  # what the traverser walks
BY_OWN_REACH, BY_OPPONENT_REACH = 1, 2  # bits of `weighting`
MEAN_STRATEGY, ONE_BY_MARGINAL, ONE_BY_ITSELF = 0, 1, 2  # whose strategy draws, and what its draws are divided by
NO_EXPLORATION, COUNT_EXPLORATION, EPSILON_EXPLORATION = 0, 1, 2


class SamplingRules(NamedTuple):
    """How actions are drawn at public nodes."""

    traverser: int  # ALL_ACTIONS, UNIFORM_ACTIONS or POLICY_ACTION; the opponent always draws one by the policy
    num_sampled: int  # UNIFORM_ACTIONS: how many
    drawn_by: int  # MEAN_STRATEGY, or the strategy of one hand drawn at random, ONE_BY_MARGINAL or ONE_BY_ITSELF
    by_average: bool  # of average strategies, not of current ones
    weighting: int  # of the mean over hands: bits; 0 counts them as often as they are dealt
    exploration: int
    epsilon: float  # EPSILON_EXPLORATION: share of uniform draws
    support_share: float  # share of uniform draws in any case


class SamplingStep(NamedTuple):
    """The numbers of one iteration."""

    alpha: float  # share of exploring draws
    beta: float  # how much they prefer what was rarely drawn
    regret_weight: float
    sum_weight: float


@kernel(_nrt=False)
def weigh_hands(ends, player, own, other, rules, own_reach, other_reach, out):
    """Weight of each hand at a public node: how often it is dealt, and the reach of either player or of both.

    The papers' hands are dealt alike; with that weight, buckets of hands draw as the hands in them would. The other
    player's reach of a hand is the sum over his, by the probability that both are dealt.
    """
    if rules.weighting & BY_OPPONENT_REACH:
        meet_hands(ends, player, own, other, 1.0, other_reach, out)
    else:
        for i in range(own.num_hands):
            out[i] = own.weight[i]
    if rules.weighting & BY_OWN_REACH:
        for i in range(own.num_hands):
            out[i] *= own_reach[i]


@kernel(_nrt=False)
def mean_strategy(table, node, own, rules, sigma, hand_weight, bucket_weight, out):
    """The policy of a public node, eq. 4 to 7: MCS, WCS, MAS, WAS. Weights that are all zero count as those of the deal."""
    num_actions = np.int64(node.num_children)
    local, num_local = own.local[node.street], own.num_local[node.street]
    total = 0.0
    for i in range(own.num_hands):
        total += hand_weight[i]
    weights = hand_weight if total > 0.0 else own.weight
    if total <= 0.0:
        total = 1.0
    for b in range(num_local):
        bucket_weight[b] = 0.0
    for i in range(own.num_hands):
        bucket_weight[local[i]] += weights[i]
    for a in range(num_actions):
        out[a] = 0.0
    for b in range(num_local):
        share = bucket_weight[b] / total
        if share == 0.0:
            continue
        if rules.by_average:
            sums = 2 * (node.base + np.int64(own.buckets[node.street, b]) * num_actions) + num_actions
            all_sums = 0.0
            for a in range(num_actions):
                all_sums += table[sums + a]
            for a in range(num_actions):
                out[a] += share * (table[sums + a] / all_sums if all_sums > 0.0 else 1.0 / num_actions)
        else:
            for a in range(num_actions):
                out[a] += share * sigma[b * num_actions + a]


@kernel(_nrt=False)
def draw_by_one_hand(node, own, rules, step, counts, sigma, rng, policy, taken):
    """RCS: a hand drawn at random draws by its own strategy, for all. `taken` holds the mean of all their strategies.

    q in eq. 3 sums over the blocks that a history is in, so over the hands that might have been drawn: the probability is
    the marginal one, which is the mean, and RCS is MCS in law. ONE_BY_ITSELF divides by the drawn hand's own probability
    instead: unbiased as well, and noisier.
    """
    num_actions = np.int64(node.num_children)
    hand = draw_action(own.weight, own.num_hands, next_uniform(rng))
    row = own.local[node.street, hand] * num_actions
    for a in range(num_actions):
        policy[a] = sigma[row + a]
    explore(rules, step, counts, node.first_child, num_actions, policy)
    chosen = draw_action(policy, num_actions, next_uniform(rng))
    for a in range(num_actions):
        if a != chosen:
            taken[a] = 0.0
        elif rules.drawn_by == ONE_BY_ITSELF:
            taken[a] = policy[a]


@kernel(_nrt=False)
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


@kernel(_nrt=False)
def take_one(num_actions, rng, taken):
    """Draw one action by the probabilities in `taken`, and leave its own there alone."""
    chosen = draw_action(taken, num_actions, next_uniform(rng))
    for a in range(num_actions):
        if a != chosen:
            taken[a] = 0.0


@kernel(_nrt=False)
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


@kernel(_nrt=False)
def next_taken(taken, action, num_actions):
    """The next action after `action` that the walk takes; `num_actions` after the last."""
    action += 1
    while action < num_actions and taken[action] == 0.0:
        action += 1
    return action


@kernel(_nrt=False)
def count_taken(drawn, first_child, num_actions, taken):
    for a in range(num_actions):
        if taken[a] > 0.0:
            drawn[first_child + a] += 1.0


@kernel(_nrt=False)
def multiply_averages(table, node, own, action, reach, out):
    """Reach of every hand by average strategies after an action; uniform where a bucket has none yet."""
    num_actions = np.int64(node.num_children)
    for i in range(own.num_hands):
        bucket = np.int64(own.buckets[node.street, own.local[node.street, i]])
        sums = 2 * (node.base + bucket * num_actions) + num_actions
        total = 0.0
        for a in range(num_actions):
            total += table[sums + a]
        out[i] = reach[i] * (table[sums + action] / total if total > 0.0 else 1.0 / num_actions)
