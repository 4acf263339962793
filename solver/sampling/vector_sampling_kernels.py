# mypy: allow-untyped-defs, allow-untyped-calls
"""Vectorised Monte Carlo CFR on the public tree (Li et al., 2020): a walk of both vectors, and one against one hand.

Shared by all: `game`, a VectorGame; `probability` float64[S, 2, B] of each player's buckets; `table` float64[2E], what
the walk reads; `updates` float64[2E], what it adds to, which may be the table itself, since a walk comes to a row once
and adds to it when it leaves; `counts` and `drawn` float64[N], likewise: how often each child was drawn at its public
node. `weight` is 1 / q, with q the probability of all draws so far, of both players, as they were made. Everything a
walk adds carries it, so every update has the full-width one as its mean (eq. 3), wherever the draws leave no action
out that counts.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED
from foldwise.solver.full_width.vector_kernels import collapse, expand, settle
from foldwise.solver.regret_kernels import match_regrets
from foldwise.solver.sampling.sampling_policy_kernels import (
    ALL_ACTIONS,
    UNIFORM_ACTIONS,
    SamplingStep,
    average_row,
    count_taken,
    explore,
    mean_strategy,
    multiply_averages,
    next_taken,
    take_one,
    take_uniform,
    weigh_against_hand,
    weigh_by_ranges,
)


class SamplingFrames(NamedTuple):
    """The stack, vectors of a node at its depth, and scratch. B: most buckets; A: most actions."""

    node: np.ndarray  # int32[D]
    action: np.ndarray  # int32[D]: the one under way; -1 before the first
    weight: np.ndarray  # float64[D]: 1 / probability of the draws so far
    hand_reach: np.ndarray  # float64[D]: of the opponent's one hand, in the semi-vector form
    taken: np.ndarray  # float64[D, A]: probability that the walk takes an action; 0 where it does not
    reach: np.ndarray  # float64[D, 2, B]: of each player, by current strategies
    average_reach: np.ndarray  # float64[D, 2, B]: by average strategies, where the policy wants it
    value: np.ndarray  # float64[D, B]
    sigma: np.ndarray  # float64[D, B * A]
    action_value: np.ndarray  # float64[D, B * A]
    infoset_weight: np.ndarray  # float64[B]: scratch


@kernel
def _collect(sigma, action_value, action, num_actions, num_own, child_value, value):
    """Take in what an action of the traverser is worth."""
    for i in range(num_own):
        action_value[i * num_actions + action] = child_value[i]
        value[i] += sigma[i * num_actions + action] * child_value[i]


@kernel
def _add_regrets(updates, node, num_own, regret_weight, action_value, value):
    """Regrets of a public node; an action not taken is worth its estimate, 0."""
    num_actions = np.int64(node.num_children)
    for i in range(num_own):
        row = 2 * (node.base + i * num_actions)
        for a in range(num_actions):
            updates[row + a] += regret_weight * (action_value[i * num_actions + a] - value[i])


@kernel
def walk_vector(game, probability, table, updates, counts, drawn, rules, step, traverser, frames, rng):
    """Vector form: both players' buckets as vectors, one sequence of draws for all. Returns nodes visited.

    The traverser's average strategy grows at his own nodes, by his reach times his strategy over q. The root's reach
    vectors are the caller's, in frame 0.
    """
    nodes = game.nodes
    opponent = 1 - traverser
    weighs_averages = rules.by_average and rules.weighting != 0
    frames.node[0] = 0
    frames.action[0] = -1
    frames.weight[0] = 1.0
    depth = 0
    num_visited = 0
    while depth >= 0:
        node = nodes[frames.node[depth]]
        street = node.street
        num_own = np.int64(game.num_buckets[street, traverser])
        value = frames.value[depth]
        reach = frames.reach[depth]
        average_reach = frames.average_reach[depth]
        action = frames.action[depth]
        if node.kind != DECISION and node.kind != CHANCE:
            num_visited += 1
            settle(game, node, traverser, reach[opponent], value)
            for i in range(num_own):
                value[i] *= frames.weight[depth]
            depth -= 1
            continue
        if node.kind == CHANCE:
            if action < 0:
                for player in range(2):
                    expand(game, street + 1, player, reach[player], frames.reach[depth + 1, player])
                    if weighs_averages:
                        expand(game, street + 1, player, average_reach[player], frames.average_reach[depth + 1, player])
                frames.action[depth] = 0
                frames.node[depth + 1] = node.first_child
                frames.action[depth + 1] = -1
                frames.weight[depth + 1] = frames.weight[depth]
                depth += 1
            else:
                collapse(game, street + 1, traverser, frames.value[depth + 1], value)
                depth -= 1
            continue

        player = node.player
        other = 1 - player
        num_actions = np.int64(node.num_children)
        num_acting = np.int64(game.num_buckets[street, player])
        sigma = frames.sigma[depth]
        taken = frames.taken[depth]
        action_value = frames.action_value[depth]
        if action < 0:
            num_visited += 1
            value[:num_own] = 0.0
            if player == traverser:
                action_value[: num_own * num_actions] = 0.0
            for i in range(num_acting):
                row = 2 * (node.base + i * num_actions)
                match_regrets(table, row, num_actions, sigma[i * num_actions : (i + 1) * num_actions])
            if player == traverser and rules.traverser == ALL_ACTIONS:
                taken[:num_actions] = 1.0
            else:
                if player == traverser and rules.traverser == UNIFORM_ACTIONS:
                    take_uniform(rules.num_sampled, num_actions, rng, taken)
                else:
                    weights = frames.infoset_weight
                    ranges = average_reach if weighs_averages else reach
                    weigh_by_ranges(game, probability, node, rules, ranges[player], ranges[other], weights)
                    mean_strategy(
                        table, node, num_acting, rules, sigma, probability[street, player], weights, rng, taken
                    )
                    explore(rules, step, counts, node.first_child, num_actions, taken)
                    take_one(num_actions, rng, taken)
                count_taken(drawn, node.first_child, num_actions, taken)
        elif player == traverser:
            _collect(sigma, action_value, action, num_actions, num_own, frames.value[depth + 1], value)
        else:
            value[:num_own] = frames.value[depth + 1, :num_own]

        action = next_taken(taken, action, num_actions)
        if action < num_actions:
            child_reach = frames.reach[depth + 1]
            for i in range(num_acting):
                child_reach[player, i] = reach[player, i] * sigma[i * num_actions + action]
            num_other = np.int64(game.num_buckets[street, other])
            child_reach[other, :num_other] = reach[other, :num_other]
            if weighs_averages:
                child_average = frames.average_reach[depth + 1]
                multiply_averages(table, node, num_acting, action, average_reach[player], child_average[player])
                child_average[other, :num_other] = average_reach[other, :num_other]
            frames.action[depth] = action
            frames.node[depth + 1] = node.first_child + action
            frames.action[depth + 1] = -1
            frames.weight[depth + 1] = frames.weight[depth] / taken[action]
            depth += 1
            continue
        if player == traverser:
            _add_regrets(updates, node, num_own, step.regret_weight, action_value, value)
            sum_weight = step.sum_weight * frames.weight[depth]
            for i in range(num_own):
                sums = 2 * (node.base + i * num_actions) + num_actions
                for a in range(num_actions):
                    updates[sums + a] += sum_weight * reach[traverser, i] * sigma[i * num_actions + a]
        depth -= 1
    return num_visited


@kernel
def walk_semivector(game, probability, table, updates, counts, drawn, rules, step, hand, traverser, frames, rng):
    """Semi-vector form: the traverser's buckets as a vector against one sampled hand. Returns nodes visited.

    `hand` int32[S] is the opponent's bucket on each street, drawn with its probability, which values are divided by; an
    end of the game then reads one row of its matrix. The opponent's average strategy grows at that hand, by its reach
    times its strategy over q; the draw of the hand weighs it by chance's probability, a constant of each infoset.
    """
    nodes = game.nodes
    opponent = 1 - traverser
    weighs_averages = rules.by_average and rules.weighting != 0
    frames.node[0] = 0
    frames.action[0] = -1
    frames.weight[0] = 1.0
    frames.hand_reach[0] = 1.0
    depth = 0
    num_visited = 0
    while depth >= 0:
        node = nodes[frames.node[depth]]
        street = node.street
        num_own = np.int64(game.num_buckets[street, traverser])
        value = frames.value[depth]
        reach = frames.reach[depth, traverser]
        average_reach = frames.average_reach[depth, traverser]
        hand_reach = frames.hand_reach[depth]
        action = frames.action[depth]
        if node.kind != DECISION and node.kind != CHANCE:
            num_visited += 1
            settle_against_hand(game, node, traverser, hand[street], value)
            scale = hand_reach * frames.weight[depth] / probability[street, opponent, hand[street]]
            for i in range(num_own):
                value[i] *= scale
            depth -= 1
            continue
        if node.kind == CHANCE:
            if action < 0:
                expand(game, street + 1, traverser, reach, frames.reach[depth + 1, traverser])
                if weighs_averages:
                    expand(game, street + 1, traverser, average_reach, frames.average_reach[depth + 1, traverser])
                frames.action[depth] = 0
                frames.node[depth + 1] = node.first_child
                frames.action[depth + 1] = -1
                frames.weight[depth + 1] = frames.weight[depth]
                frames.hand_reach[depth + 1] = hand_reach
                depth += 1
            else:
                collapse(game, street + 1, traverser, frames.value[depth + 1], value)
                depth -= 1
            continue

        num_actions = np.int64(node.num_children)
        sigma = frames.sigma[depth]
        taken = frames.taken[depth]
        action_value = frames.action_value[depth]
        if node.player != traverser:
            row = 2 * (node.base + np.int64(hand[street]) * num_actions)
            if action < 0:
                num_visited += 1
                match_regrets(table, row, num_actions, sigma)
                if rules.by_average:
                    average_row(table, row, num_actions, taken)
                else:
                    taken[:num_actions] = sigma[:num_actions]
                explore(rules, step, counts, node.first_child, num_actions, taken)
                take_one(num_actions, rng, taken)
                count_taken(drawn, node.first_child, num_actions, taken)
        elif action < 0:
            num_visited += 1
            value[:num_own] = 0.0
            action_value[: num_own * num_actions] = 0.0
            for i in range(num_own):
                row = 2 * (node.base + i * num_actions)
                match_regrets(table, row, num_actions, sigma[i * num_actions : (i + 1) * num_actions])
            if rules.traverser == ALL_ACTIONS:
                taken[:num_actions] = 1.0
            else:
                if rules.traverser == UNIFORM_ACTIONS:
                    take_uniform(rules.num_sampled, num_actions, rng, taken)
                else:
                    weights = frames.infoset_weight
                    own = average_reach if weighs_averages else reach
                    weigh_against_hand(game, probability, node, rules, own, hand[street], weights)
                    mean_strategy(
                        table, node, num_own, rules, sigma, probability[street, traverser], weights, rng, taken
                    )
                    explore(rules, step, counts, node.first_child, num_actions, taken)
                    take_one(num_actions, rng, taken)
                count_taken(drawn, node.first_child, num_actions, taken)
        else:
            _collect(sigma, action_value, action, num_actions, num_own, frames.value[depth + 1], value)

        action = next_taken(taken, action, num_actions)
        if action < num_actions:
            child_reach = frames.reach[depth + 1, traverser]
            child_average = frames.average_reach[depth + 1, traverser]
            if node.player == traverser:
                for i in range(num_own):
                    child_reach[i] = reach[i] * sigma[i * num_actions + action]
                if weighs_averages:
                    multiply_averages(table, node, num_own, action, average_reach, child_average)
                frames.hand_reach[depth + 1] = hand_reach
            else:
                child_reach[:num_own] = reach[:num_own]
                if weighs_averages:
                    child_average[:num_own] = average_reach[:num_own]
                frames.hand_reach[depth + 1] = hand_reach * sigma[action]
            frames.action[depth] = action
            frames.node[depth + 1] = node.first_child + action
            frames.action[depth + 1] = -1
            frames.weight[depth + 1] = frames.weight[depth] / taken[action]
            depth += 1
            continue
        if node.player == traverser:
            _add_regrets(updates, node, num_own, step.regret_weight, action_value, value)
        else:
            value[:num_own] = frames.value[depth + 1, :num_own]
            sums = 2 * (node.base + np.int64(hand[street]) * num_actions) + num_actions
            sum_weight = step.sum_weight * frames.weight[depth] * hand_reach
            for a in range(num_actions):
                updates[sums + a] += sum_weight * sigma[a]
        depth -= 1
    return num_visited


@kernel
def settle_against_hand(game, node, traverser, hand, out):
    """Values at an end of the game against one hand: its row of the matrix that settles it."""
    street = node.street
    num_own = np.int64(game.num_buckets[street, traverser])
    if node.kind == FOLDED:
        matrix = game.fold_matrix[street]
        scale = np.float64(-node.value if node.player == traverser else node.value)
    else:
        matrix = game.settle_matrix[street] + node.detail
        scale = np.float64(node.value if traverser == 0 else -node.value)
    start = game.offset[matrix] + hand * num_own
    flat = game.by_second if traverser == 0 else game.by_first
    for i in range(num_own):
        out[i] = scale * flat[start + i]


@kernel
def run_vector(game, probability, table, updates, counts, drawn, rules, steps, first, last, num_walks, frames, rng):
    """Iterations in a row, steps float64[T, 4]: for traversers first to last - 1, so many walks each."""
    num_visited = 0
    for t in range(steps.shape[0]):
        step = SamplingStep(steps[t, 0], steps[t, 1], steps[t, 2], steps[t, 3])
        for traverser in range(first, last):
            for _ in range(num_walks):
                num_visited += walk_vector(
                    game, probability, table, updates, counts, drawn, rules, step, traverser, frames, rng
                )
    return num_visited


@kernel
def run_semivector(
    game, probability, table, updates, counts, drawn, rules, steps, first, last, num_walks, deals, frames, rng
):
    """The same with a deal for every walk, in their order: deals int32[T * (last - first) * num_walks, 2, S]."""
    num_visited = 0
    walk = 0
    for t in range(steps.shape[0]):
        step = SamplingStep(steps[t, 0], steps[t, 1], steps[t, 2], steps[t, 3])
        for traverser in range(first, last):
            for _ in range(num_walks):
                hand = deals[walk, 1 - traverser]
                num_visited += walk_semivector(
                    game, probability, table, updates, counts, drawn, rules, step, hand, traverser, frames, rng
                )
                walk += 1
    return num_visited
