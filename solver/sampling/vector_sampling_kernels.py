# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="arg-type"
"""Monte Carlo CFR on the public tree in vector, semi-vector and value form (Li et al., 2020): one walk serves all three.

A public node is a sequence of actions on known boards: public chance is drawn before the walk, as in `public_kernels`. A
player has all his hands (vector form), or one that was drawn: the opponent in the semi-vector form, both in the value form,
where a node is a vector of one.

`weight` is 1 / q, with q the probability of all draws of actions so far, of both players.
Everything a walk adds carries it, so every update has the full-width one as its mean (eq. 3), wherever the draws leave no
action out that counts.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.trees.tree_kernels import CHANCE, DECISION
from foldwise.solver.regret_kernels import match_regrets
from foldwise.solver.sampling.public_deal_kernels import deal_board, draw_part
from foldwise.solver.sampling.public_kernels import draw_hand, draw_met_hand, settle_end
from foldwise.solver.sampling.sampling_policy_kernels import (
    ALL_ACTIONS,
    MEAN_STRATEGY,
    UNIFORM_ACTIONS,
    SamplingStep,
    count_taken,
    draw_by_one_hand,
    explore,
    mean_strategy,
    multiply_averages,
    next_taken,
    take_one,
    take_uniform,
    weigh_hands,
)

VECTOR, SEMIVECTOR, VALUE = 0, 1, 2  # forms


class SampledTables(NamedTuple):
    """What a walk reads and what it adds to: these may be the same, since it comes to a row once and adds as it leaves."""

    nodes: np.ndarray  # NODE_DTYPE[N]
    table: np.ndarray  # float64[2E]
    updates: np.ndarray  # float64[2E]: added to
    counts: np.ndarray  # float64[N]: how often each child was drawn at its node
    drawn: np.ndarray  # float64[N]: added to


class SamplingFrames(NamedTuple):
    """The stack, vectors of a node at its depth, and scratch. N: most hands; A: most actions."""

    node: np.ndarray  # int32[D]
    action: np.ndarray  # int32[D]: the one under way; -1 before the first
    weight: np.ndarray  # float64[D]: 1 / probability of the draws so far
    taken: np.ndarray  # float64[D, A]: probability that the walk takes an action; 0 where it does not
    reach: np.ndarray  # float64[D, 2, N]: of each player's hands, by current strategies
    average_reach: np.ndarray  # float64[D, 2, N]: by average strategies, where the policy wants it
    value: np.ndarray  # float64[D, N]: of the traverser's hands
    sigma: np.ndarray  # float64[D, N * A], by local bucket
    action_value: np.ndarray  # float64[D, N * A], by local bucket: sum over its hands
    hand_weight: np.ndarray  # float64[N]
    bucket_weight: np.ndarray  # float64[N]
    policy: np.ndarray  # float64[A]


@kernel(_nrt=False)
def _choose(tables, rules, step, ends, hands, node, depth, is_traverser, frames, rng):
    """Draw what the walk takes at a node: probabilities go to `taken`."""
    counts = tables.counts
    num_actions = np.int64(node.num_children)
    taken = frames.taken[depth]
    if is_traverser and rules.traverser == ALL_ACTIONS:
        for a in range(num_actions):
            taken[a] = 1.0
        return
    if is_traverser and rules.traverser == UNIFORM_ACTIONS:
        take_uniform(rules.num_sampled, num_actions, rng, taken)
    else:
        player = int(node.player)
        own, other = hands[player], hands[1 - player]
        reach = frames.average_reach[depth] if rules.by_average and rules.weighting != 0 else frames.reach[depth]
        weigh_hands(ends, player, own, other, rules, reach[player], reach[1 - player], frames.hand_weight)
        sigma = frames.sigma[depth]
        mean_strategy(tables.table, node, own, rules, sigma, frames.hand_weight, frames.bucket_weight, taken)
        explore(rules, step, counts, node.first_child, num_actions, taken)
        if rules.drawn_by == MEAN_STRATEGY:
            take_one(num_actions, rng, taken)
        else:
            draw_by_one_hand(node, own, rules, step, counts, sigma, rng, frames.policy, taken)
    count_taken(tables.drawn, node.first_child, num_actions, taken)


@kernel(_nrt=False)
def walk_sampled(
    tables, rules, step, hands, ends, traverser, averaged, frames, rng
):  # hands: (Hands, Hands); averaged: whose average strategy grows
    """One walk for the traverser on known public chance. Returns public nodes visited."""
    nodes, table, updates = tables.nodes, tables.table, tables.updates
    opponent = 1 - traverser
    mine = hands[traverser]
    weighs_averages = rules.by_average and rules.weighting != 0
    for player in range(2):
        for i in range(hands[player].num_hands):
            frames.reach[0, player, i] = 1.0
            frames.average_reach[0, player, i] = 1.0
    frames.node[0] = 0
    frames.action[0] = -1
    frames.weight[0] = 1.0
    depth = 0
    num_visited = 0
    while depth >= 0:
        node = nodes[frames.node[depth]]
        value = frames.value[depth]
        reach = frames.reach[depth]
        if node.kind == CHANCE:  # its cards are known
            frames.node[depth] = node.first_child
            continue
        if node.kind != DECISION:
            num_visited += 1
            settle_end(ends, node, traverser, mine, hands[opponent], reach[opponent], value)
            for i in range(mine.num_hands):
                value[i] *= frames.weight[depth]
            depth -= 1
            continue

        player = int(node.player)
        other = 1 - player
        street = node.street
        own = hands[player]
        local, num_local = own.local[street], own.num_local[street]
        num_actions = np.int64(node.num_children)
        sigma, taken, action_value = frames.sigma[depth], frames.taken[depth], frames.action_value[depth]
        action = frames.action[depth]
        if action < 0:
            num_visited += 1
            for i in range(mine.num_hands):
                value[i] = 0.0
            for b in range(num_local):
                row = 2 * (node.base + np.int64(own.buckets[street, b]) * num_actions)
                match_regrets(table, row, num_actions, sigma[b * num_actions : (b + 1) * num_actions])
            for entry in range(num_local * num_actions):
                action_value[entry] = 0.0
            _choose(tables, rules, step, ends, hands, node, depth, player == traverser, frames, rng)
        else:
            child_value = frames.value[depth + 1]
            for i in range(mine.num_hands):
                if player == traverser:
                    entry = local[i] * num_actions + action
                    value[i] += sigma[entry] * child_value[i]
                    action_value[entry] += child_value[i]
                else:
                    value[i] += child_value[i]

        action = next_taken(taken, action, num_actions)
        if action < num_actions:
            child_reach = frames.reach[depth + 1]
            for i in range(own.num_hands):
                child_reach[player, i] = reach[player, i] * sigma[local[i] * num_actions + action]
            for i in range(hands[other].num_hands):
                child_reach[other, i] = reach[other, i]
            if weighs_averages:
                average_reach, child_average = frames.average_reach[depth], frames.average_reach[depth + 1]
                multiply_averages(table, node, own, action, average_reach[player], child_average[player])
                for i in range(hands[other].num_hands):
                    child_average[other, i] = average_reach[other, i]
            frames.action[depth] = action
            frames.node[depth + 1] = node.first_child + action
            frames.action[depth + 1] = -1
            frames.weight[depth + 1] = frames.weight[depth] / taken[action]
            depth += 1
            continue
        if player == traverser:
            _add_regrets(updates, node, own, step.regret_weight, sigma, action_value)
        if player == averaged:
            _add_sums(updates, node, own, step.sum_weight * frames.weight[depth], sigma, reach[player], frames)
        depth -= 1
    return num_visited


@kernel(_nrt=False)
def _add_regrets(updates, node, own, regret_weight, sigma, action_value):
    """Regrets of a public node; an action not taken is worth its estimate, 0."""
    num_actions = np.int64(node.num_children)
    for b in range(own.num_local[node.street]):
        row = 2 * (node.base + np.int64(own.buckets[node.street, b]) * num_actions)
        start = b * num_actions
        value = 0.0
        for a in range(num_actions):
            value += sigma[start + a] * action_value[start + a]
        for a in range(num_actions):
            updates[row + a] += regret_weight * (action_value[start + a] - value)


@kernel(_nrt=False)
def _add_sums(updates, node, own, sum_weight, sigma, reach, frames):
    """Strategy sums of a public node: by how often a hand is dealt and its reach, over q."""
    num_actions = np.int64(node.num_children)
    bucket_weight = frames.bucket_weight
    for b in range(own.num_local[node.street]):
        bucket_weight[b] = 0.0
    for i in range(own.num_hands):
        bucket_weight[own.local[node.street, i]] += own.weight[i] * reach[i]
    for b in range(own.num_local[node.street]):
        sums = 2 * (node.base + np.int64(own.buckets[node.street, b]) * num_actions) + num_actions
        for a in range(num_actions):
            updates[sums + a] += sum_weight * bucket_weight[b] * sigma[b * num_actions + a]


@kernel(_nrt=False)
def walk_form(
    tables, rules, step, hands, ends, singles, form, traverser, frames, rng
):  # hands, singles: (Hands, Hands); singles lend memory for one hand
    """A walk with the hands of a form: all, the traverser's all, or one each. Returns public nodes visited."""
    opponent = 1 - traverser
    both, averaged = hands, traverser
    if form != VECTOR:
        averaged = opponent
        his = draw_hand(hands[opponent], rng, singles[opponent])
        mine = hands[traverser]
        if form == VALUE:
            mine = draw_met_hand(ends, traverser, mine, his, rng, singles[traverser])
        both = (mine, his) if traverser == 0 else (his, mine)
    return walk_sampled(tables, rules, step, both, ends, traverser, averaged, frames, rng)


@kernel
def run_on_boards(
    tables, rules, steps, first, last, num_walks, deals, ends, singles, form, frames, deal_rng, walk_rng
):  # steps float64[T, 4]
    """Iterations in a row: for traversers first to last - 1, so many walks each, every walk on a board of its own."""
    num_visited = 0
    for t in range(steps.shape[0]):
        step = SamplingStep(steps[t, 0], steps[t, 1], steps[t, 2], steps[t, 3])
        for traverser in range(first, last):
            for _ in range(num_walks):
                deal_board(deal_rng, deals, ends.board)
                hands = (deals.hands, deals.hands)
                num_visited += walk_form(tables, rules, step, hands, ends, singles, form, traverser, frames, walk_rng)
    return num_visited


@kernel
def run_on_parts(tables, rules, steps, first, last, num_walks, parts, ends, singles, form, frames, deal_rng, walk_rng):
    """The same on the parts of a small game, each drawn by its probability."""
    num_visited = 0
    for t in range(steps.shape[0]):
        step = SamplingStep(steps[t, 0], steps[t, 1], steps[t, 2], steps[t, 3])
        for traverser in range(first, last):
            for _ in range(num_walks):
                hands, own_ends = draw_part(deal_rng, parts, ends)
                num_visited += walk_form(
                    tables, rules, step, hands, own_ends, singles, form, traverser, frames, walk_rng
                )
    return num_visited
