# mypy: allow-untyped-defs, allow-untyped-calls
"""Ranges through a hand: what each action says about all 1,326 hands. The rules are stated in `search/ranges.py`.

`seat` and `scratch` are a `Seat` and a `Scratch` of `agent.following.tracker`, `hand` is a row of `game.betting_kernels`.
Buckets are -1 for a hand that clashes with the board. A: actions of a node; S: streets.
"""

import numpy as np

from foldwise.agent.following.decision_kernels import (
    describe_actions,
    follow_opponent,
    follow_own,
    play_row,
    read_row,
    to_real,
)
from foldwise.agent.following.tracker_kernels import enter_street
from foldwise.game.betting import RAISE
from foldwise.game.betting_kernels import PLAYER, STREET, apply, start_hand
from foldwise.game.compiled import kernel
from foldwise.game.trees.tree_kernels import DECISION, SHOWDOWN

NUM_PAIRS = 1326
_UNKNOWN = -1.0


@kernel
def fill_played(seat, hand, node, buckets, first, scratch, rows):  # -, -, -, [1326], bool, -, [1326, >= A]
    """What every hand plays at our decision, after post-processing; zero for hands that clash. Returns A."""
    num_actions = describe_actions(seat.tree, node, seat.stacks[hand[PLAYER]], scratch.kinds, scratch.sizes_pot)
    for h in range(NUM_PAIRS):
        row = rows[h, :num_actions]
        if buckets[h] < 0:
            for a in range(num_actions):
                row[a] = 0.0
            continue
        read_row(seat, node, buckets[h], row)
        play_row(seat, node, buckets[h], hand[STREET], first, row, scratch)
    return num_actions


@kernel
def own_factors(seat, rules, hand, node, kind, raise_to, after, buckets, first, scratch, rows, factors):
    """Probability of our action for every hand, summed over the abstract actions that come to these chips.

    An action that none of them makes (a typed state) counts as the child it was followed to, or for nothing.
    """
    num_actions = fill_played(seat, hand, node, buckets, first, scratch, rows)
    first_child = np.int64(seat.tree.nodes[node].first_child)
    num_found = 0
    factors[:] = 0.0
    for a in range(num_actions):
        other, chips = to_real(seat, rules, hand, node, first_child + a)
        if other == kind and (kind != RAISE or chips == raise_to):
            num_found += 1
            for h in range(NUM_PAIRS):
                factors[h] += rows[h, a]
    if num_found == 0:
        a = after - first_child
        for h in range(NUM_PAIRS):
            factors[h] = rows[h, a] if 0 <= a < num_actions else _UNKNOWN


@kernel
def others_factors(seat, player, buckets, scratch, row, factors):  # -, -, [1326], -, [>= A], [1326]
    """Probability of the opponent's action for every hand, by his rows as stored, over both readings of his bet.

    The readings are those `follow_opponent` left in `scratch`. A row the solver never reached is unknown, and so is an
    action that is no child of a decision of his.
    """
    tree = seat.tree
    smaller, larger = np.int64(scratch.reading[0]), np.int64(scratch.reading[1])
    chance = scratch.chance[0]
    node = np.int64(tree.parent[smaller])
    factors[:] = _UNKNOWN
    if node < 0 or tree.nodes[node].kind != DECISION or tree.nodes[node].player != player:
        return
    num_actions = np.int64(tree.nodes[node].num_children)
    first_child = np.int64(tree.nodes[node].first_child)
    for h in range(NUM_PAIRS):
        if buckets[h] >= 0 and read_row(seat, node, buckets[h], row[:num_actions]):
            factors[h] = chance * row[smaller - first_child] + (1.0 - chance) * row[larger - first_child]


@kernel
def multiply_known(weights, factors, buckets):  # [1326], [1326] with _UNKNOWN among them, [1326]
    """Update a range by an action; False, and the range unchanged, if it says nothing or contradicts every hand.

    A hand about which the action says nothing keeps its share: it gets the mean factor of the others.
    """
    before, after = 0.0, 0.0
    for h in range(NUM_PAIRS):
        if buckets[h] >= 0 and factors[h] >= 0.0:
            before += weights[h]
            after += weights[h] * factors[h]
    if after <= 0.0:
        return False
    mean = after / before
    for h in range(NUM_PAIRS):
        weights[h] *= factors[h] if factors[h] >= 0.0 else mean
    return True


@kernel
def follow_ranges(seat, rules, hand, position, hand_number, actions, own_buckets, buckets, scratch, rows, factors, out):
    """Follow a history that is not over from `position`'s seat, and both ranges with it.

    actions: int64[n, 2] kind and raise_to; own_buckets: [S] of the hand held; buckets: [S, 1326]; out: [2, 1326], the
    ranges by player. Returns the abstract node, whether `position` has acted, the actions that told nothing, and whether the
    abstract hand was over before the real one and had to be opened again.
    """
    for h in range(NUM_PAIRS):
        out[0, h] = out[1, h] = 1.0
    start_hand(rules, hand)
    node = np.int64(0)
    acted = False
    reopened = False
    num_unknown = 0
    for i in range(actions.shape[0]):
        kind, raise_to = actions[i, 0], actions[i, 1]
        player, street = hand[PLAYER], hand[STREET]
        if player == position:
            after = follow_own(seat, hand, node, kind, raise_to, own_buckets[street], not acted, hand_number, scratch)
            own_factors(
                seat, rules, hand, node, kind, raise_to, after, buckets[street], not acted, scratch, rows, factors
            )
            acted = True
        else:
            after = follow_opponent(seat, hand, node, kind, raise_to, hand_number, scratch)
            others_factors(seat, player, buckets[street], scratch, scratch.raw, factors)
        if not multiply_known(out[player], factors, buckets[street]):
            num_unknown += 1
        apply(rules, hand, kind, raise_to)
        reopened = reopened or seat.tree.nodes[after].kind == SHOWDOWN
        node = enter_street(seat.tree, after, hand[STREET])
    for h in range(NUM_PAIRS):
        if buckets[hand[STREET], h] < 0:
            out[0, h] = out[1, h] = 0.0
    return node, acted, num_unknown, reopened


@kernel
def fill_policy(seat, rules, hand, node, buckets, first, scratch, rows, real):
    """Rows of all hands at our decision, [1326, >= A], and what each abstract action is in chips, [>= A, 2]; returns A."""
    num_actions = fill_played(seat, hand, node, buckets, first, scratch, rows)
    first_child = np.int64(seat.tree.nodes[node].first_child)
    for a in range(num_actions):
        real[a, 0], real[a, 1] = to_real(seat, rules, hand, node, first_child + a)
    return num_actions
