# mypy: allow-untyped-defs, allow-untyped-calls
"""The expected value of one strategy against another on one board, over all hands, actions and readings of bets.

The walk is over real betting. A branch of it is a betting state, where each player's tracker stands in his own abstract
tree, the chance that bets were read so, and both players' reach of every hand. Values are only summed at the ends, so
a branch needs nothing of its siblings, and a last-in-first-out stack of branches is the whole walk.
"""

import numpy as np

from foldwise.agent.following.decision_kernels import to_real
from foldwise.agent.following.tracker_kernels import call_child, enter_street, read_raise
from foldwise.game.betting import FOLD, RAISE
from foldwise.game.betting_kernels import FINISHED, LARGEST, MAX_SPENT, PLAYER, SPENT, STREET, apply, start_hand
from foldwise.game.compiled import kernel
from foldwise.game.primitives.rng_kernels import counter_uniform
from foldwise.matches.scoring.range_kernels import end_value, fill_rows, take_action


@kernel
def read_action(seat, hand, node, kind, raise_to, sizes_pot):
    """The two nodes the other player's action may be read as, and the chance of the first; `hand` is before it."""
    if kind != RAISE:
        call = call_child(seat.tree, node)
        return call, call, 1.0
    return read_raise(
        seat.tree, node, hand[PLAYER], hand[MAX_SPENT], raise_to, seat.mapping, seat.randomised, sizes_pot
    )


@kernel
def expected_value(rules, seats, views, ends, num_pairs, least_chips, seed, number, stack, work):
    """What player 0 wins on a board: (mean over all pairs of hands, branches walked), or (0, -1) when `stack` is full.

    seats, views: of positions 0 and 1; stack: a `matches.scoring.expectation.Stack`; work: its `ExpectationMemory`.
    A branch that carries fewer than `least_chips`, its probability times the chips a player has in it, is walked with
    probability branch / least and then counts least / branch times (Russian roulette: the mean stays the same).
    Draws come by counter from (seed, number).
    """
    hand, after, reach, acted = work.hand, work.after, work.reach, work.acted
    tree_0, tree_1 = seats[0].tree, seats[1].tree
    start_hand(rules, stack.hands[0])
    stack.nodes[0, :] = 0
    stack.acted[0, :] = False
    stack.weight[0] = 1.0
    stack.reach[0, :, :] = 1.0
    top, walked, draws = 1, 0, 0
    total = 0.0
    while top > 0:
        top -= 1
        walked += 1
        hand[:] = stack.hands[top]
        reach[:, :] = stack.reach[top]
        acted[:] = stack.acted[top]
        weight = stack.weight[top]
        node_0, node_1 = stack.nodes[top, 0], stack.nodes[top, 1]
        player = hand[PLAYER]
        if player == 0:
            num_actions = fill_rows(seats[0], views[0], hand, node_0, not acted[0], work.decision, work.rows)
            classes = views[0].classes[hand[STREET]]
            first = np.int64(tree_0.nodes[node_0].first_child)
        else:
            num_actions = fill_rows(seats[1], views[1], hand, node_1, not acted[1], work.decision, work.rows)
            classes = views[1].classes[hand[STREET]]
            first = np.int64(tree_1.nodes[node_1].first_child)
        acted[player] = True
        others_mass = reach[1 - player].sum()
        for a in range(num_actions):
            mass = take_action(reach[player], work.rows, classes, a, work.played)
            if mass <= 0.0:
                continue
            child = first + a
            if player == 0:
                reach_0, reach_1 = work.played, reach[1]
                kind, raise_to = to_real(seats[0], rules, hand, node_0, child)
            else:
                reach_0, reach_1 = reach[0], work.played
                kind, raise_to = to_real(seats[1], rules, hand, node_1, child)
            if kind == FOLD:
                lost = hand[SPENT + player]
                scale = weight * (lost if player == 1 else -lost)
                total += end_value(ends, True, reach_0, reach_1, scale, work.values)
                continue
            if rules.limit and kind == RAISE:
                raise_to = hand[LARGEST]
            after[:] = hand
            apply(rules, after, kind, raise_to)
            if after[FINISHED] == 1:
                at_stake = min(after[SPENT], after[SPENT + 1])
                total += end_value(ends, False, reach_0, reach_1, weight * at_stake, work.values)
                continue
            own = child
            if player == 0:
                if kind != RAISE:
                    own = call_child(tree_0, node_0)
                smaller, larger, chance = read_action(seats[1], hand, node_1, kind, raise_to, work.decision.sizes_pot)
            else:
                if kind != RAISE:
                    own = call_child(tree_1, node_1)
                smaller, larger, chance = read_action(seats[0], hand, node_0, kind, raise_to, work.decision.sizes_pot)
            if smaller == larger:
                chance = 1.0
            for reading in range(2):
                share = chance if reading == 0 else 1.0 - chance
                if share <= 0.0:
                    continue
                read = smaller if reading == 0 else larger
                branch_weight = weight * share
                chips = branch_weight * mass * others_mass / num_pairs * after[MAX_SPENT]
                if chips < least_chips:
                    draws += 1
                    if counter_uniform(seed, np.uint64(number), np.uint64(draws)) * least_chips >= chips:
                        continue
                    branch_weight *= least_chips / chips
                if top == stack.weight.size:
                    return 0.0, -1
                stack.hands[top, :] = after
                stack.weight[top] = branch_weight
                stack.acted[top, :] = acted
                stack.reach[top, 0, :] = reach_0
                stack.reach[top, 1, :] = reach_1
                street = after[STREET]
                if player == 0:
                    stack.nodes[top, 0] = enter_street(tree_0, own, street)
                    stack.nodes[top, 1] = enter_street(tree_1, read, street)
                else:
                    stack.nodes[top, 0] = enter_street(tree_0, read, street)
                    stack.nodes[top, 1] = enter_street(tree_1, own, street)
                top += 1
    return total / num_pairs, walked
