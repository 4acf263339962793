# mypy: allow-untyped-defs, allow-untyped-calls
"""Decisions of a strategy at a table: the row of an infoset, post-processing, the draw, and following a hand.

`seat` and `scratch` are a `Seat` and a `Scratch` of `agent.following.tracker`, `hand` is a row of `game.betting_kernels`.
One set of functions serves the player at a socket and the engine in memory, so that both play the same hands.
"""

import numpy as np

from foldwise.agent.following.tracker_kernels import (
    call_child,
    end_of_children,
    enter_street,
    largest_spent,
    raise_chips,
    read_raise,
    real_action,
    size_in_pots,
)
from foldwise.agent.postprocessing.postprocess_kernels import is_exempt, postprocess_row
from foldwise.game.betting import RAISE
from foldwise.game.betting_kernels import (
    HAND_ACTIONS,
    LARGEST,
    MAX_SPENT,
    PLAYER,
    SMALLEST,
    STREET,
    apply,
    start_hand,
    to_call,
)
from foldwise.game.compiled import kernel
from foldwise.game.primitives.rng_kernels import counter_uniform
from foldwise.postprocess.transforms import ALL_IN, BET
from foldwise.postprocess.transforms import CALL as CALL_KIND
from foldwise.postprocess.transforms import FOLD as FOLD_KIND

_FOLD_CODE, _CALL_CODE = -1, 0
FLOATS, WORDS, BYTES = 0, 1, 2  # which array of a `Seat` holds the probabilities

# Every random number of a strategy is drawn here. Action number n of a hand, counted from 0 over both players, has two:
# one chooses the action where it is ours, the other reads it where it is the opponent's.


@kernel
def action_draw(seed, hand_number, number):
    return counter_uniform(seed, np.uint64(hand_number), np.uint64(2 * number))


@kernel
def reading_draw(seed, hand_number, number):
    return counter_uniform(seed, np.uint64(hand_number), np.uint64(2 * number + 1))


@kernel
def describe_actions(tree, node, stack, kinds, sizes_pot):  # -, -, -, int8[>= A], float64[>= A]
    """Describe the children of a decision for post-processing; returns their number A."""
    first = np.int64(tree.nodes[node].first_child)
    num_actions = np.int64(tree.nodes[node].num_children)
    spent = largest_spent(tree, node)
    for a in range(num_actions):
        code = np.int64(tree.action[first + a])
        sizes_pot[a] = 0.0
        if code == _FOLD_CODE:
            kinds[a] = FOLD_KIND
        elif code == _CALL_CODE:
            kinds[a] = CALL_KIND
        else:
            kinds[a] = ALL_IN if code >= stack else BET
            sizes_pot[a] = size_in_pots(spent, code)
    return num_actions


@kernel
def fill_row(stored, start, row):  # any[E], -, float64[A]
    """Probabilities from `start` on; uniform, and False, if the solver never reached the row."""
    total = 0.0
    for a in range(row.size):
        row[a] = stored[start + a]
        total += row[a]
    for a in range(row.size):
        row[a] = row[a] / total if total > 0.0 else 1.0 / row.size
    return total > 0.0


@kernel
def read_row(seat, node, bucket, row):
    """The infoset's row of a strategy, whatever it is stored as."""
    start = seat.tree.nodes[node].base + np.int64(bucket) * row.size
    if seat.stored_as == FLOATS:
        return fill_row(seat.floats, start, row)
    if seat.stored_as == WORDS:
        return fill_row(seat.words, start, row)
    return fill_row(seat.bytes, start, row)


@kernel
def play_row(seat, node, bucket, street, first, row, scratch):  # row: float64[A], the infoset's as stored
    """Post-process a row in place; `scratch` describes the node's actions, as `describe_actions` left them.

    If a user's own rules are involved, their result for all rows is in `seat.played`.
    """
    if seat.played.size > 0:
        if not is_exempt(seat.program, street, first):
            start = seat.tree.nodes[node].base + np.int64(bucket) * row.size
            for a in range(row.size):
                row[a] = seat.played[start + a]
        return
    num_actions = row.size
    postprocess_row(
        row,
        scratch.kinds[:num_actions],
        scratch.sizes_pot[:num_actions],
        seat.program,
        street,
        first,
        scratch.inside[:num_actions],
        scratch.masses,
    )


@kernel
def drawn_action(row, draw):
    """The action of a row whose share of [0, 1) holds `draw`; never one of probability zero."""
    chosen = 0
    for a in range(row.size):
        if row[a] > 0.0:
            chosen = a
            draw -= row[a]
            if draw < 0.0:
                break
    return chosen


@kernel
def draw_child(seat, hand, node, bucket, first, hand_number, scratch):
    """The child drawn at our decision; leaves the row in `scratch.raw` and what was played in `scratch.row`."""
    tree = seat.tree
    stack = seat.stacks[hand[PLAYER]]
    num_actions = describe_actions(tree, node, stack, scratch.kinds, scratch.sizes_pot)
    row = scratch.row[:num_actions]
    scratch.reached[0] = read_row(seat, node, bucket, row)
    for a in range(num_actions):
        scratch.raw[a] = row[a]
    play_row(seat, node, bucket, hand[STREET], first, row, scratch)
    chosen = drawn_action(row, action_draw(seat.seed, hand_number, hand[HAND_ACTIONS]))
    return np.int64(tree.nodes[node].first_child) + chosen


@kernel
def to_real(seat, rules, hand, node, child):
    """(kind, raise_to) of an abstract action in the real hand."""
    stack = rules.stacks[hand[PLAYER]]
    smallest, largest = hand[SMALLEST], hand[LARGEST]
    return real_action(seat.tree, node, child, to_call(rules, hand), hand[MAX_SPENT], smallest, largest, stack)


@kernel
def decide(seat, rules, hand, node, bucket, first, hand_number, scratch):
    """Our answer: (child of the abstract node, kind, raise_to)."""
    child = draw_child(seat, hand, node, bucket, first, hand_number, scratch)
    kind, raise_to = to_real(seat, rules, hand, node, child)
    return child, kind, raise_to


@kernel
def follow_own_raise(seat, hand, node, raise_to, bucket, first, hand_number, scratch):
    """The child our own raise was: the one that makes these chips; of several, the one drawn, else the likeliest.

    A raise that is not ours (another hand's draw, or a typed state) is read as an opponent's, without a draw.
    """
    tree = seat.tree
    stack = seat.stacks[hand[PLAYER]]
    start = call_child(tree, node) + 1
    found, num_found = -1, 0
    for child in range(start, end_of_children(tree, node)):
        if raise_chips(tree, node, child, hand[MAX_SPENT], hand[SMALLEST], hand[LARGEST], stack) == raise_to:
            found = child
            num_found += 1
    if num_found == 1:
        return found
    if num_found == 0:
        randomised = bool(0)  # a literal False has its own type, and `read_raise` would be compiled twice
        smaller, larger, probability = read_raise(
            tree, node, hand[PLAYER], hand[MAX_SPENT], raise_to, seat.mapping, randomised, scratch.sizes_pot
        )
        return smaller if probability > 0.0 else larger
    drawn = draw_child(seat, hand, node, bucket, first, hand_number, scratch)
    likeliest = -1.0
    for child in range(start, end_of_children(tree, node)):
        if raise_chips(tree, node, child, hand[MAX_SPENT], hand[SMALLEST], hand[LARGEST], stack) == raise_to:
            if child == drawn:
                return drawn
            probability = scratch.row[child - tree.nodes[node].first_child]
            if probability > likeliest:
                found, likeliest = child, probability
    return found


@kernel
def follow_opponent(seat, hand, node, kind, raise_to, hand_number, scratch):
    """The node after the opponent's call or raise at `node`; `hand` is still before it. Leaves the reading in `scratch`."""
    smaller = larger = call_child(seat.tree, node)
    probability = 1.0
    if kind == RAISE:
        smaller, larger, probability = read_raise(
            seat.tree, node, hand[PLAYER], hand[MAX_SPENT], raise_to, seat.mapping, seat.randomised, scratch.sizes_pot
        )
    scratch.reading[0], scratch.reading[1], scratch.chance[0] = smaller, larger, probability
    return smaller if reading_draw(seat.seed, hand_number, hand[HAND_ACTIONS]) < probability else larger


@kernel
def follow_own(seat, hand, node, kind, raise_to, bucket, first, hand_number, scratch):
    """The node after our own call or raise."""
    child = call_child(seat.tree, node)
    if kind == RAISE:
        child = follow_own_raise(seat, hand, node, raise_to, bucket, first, hand_number, scratch)
    scratch.reading[0], scratch.reading[1], scratch.chance[0] = child, child, 1.0
    return child


@kernel
def answer(seat, rules, hand, position, hand_number, actions, buckets, scratch, trace):
    """Follow a whole history and decide: (node, child, kind, raise_to). `position` must be to act after it.

    actions: int64[n, 2] kind and raise_to; buckets: [streets] of `position`; trace: the tracker's `Trace`, overwritten.
    """
    start_hand(rules, hand)
    node = np.int64(0)
    acted = False
    for i in range(actions.shape[0]):
        kind, raise_to = actions[i, 0], actions[i, 1]
        if hand[PLAYER] == position:
            bucket = buckets[hand[STREET]]
            node = follow_own(seat, hand, node, kind, raise_to, bucket, not acted, hand_number, scratch)
            acted = True
        else:
            node = follow_opponent(seat, hand, node, kind, raise_to, hand_number, scratch)
        apply(rules, hand, kind, raise_to)
        node = enter_street(seat.tree, node, hand[STREET])
        trace.readings[i, 0], trace.readings[i, 1], trace.readings[i, 2] = scratch.reading[0], scratch.reading[1], node
        trace.chances[i] = scratch.chance[0]
    first = np.int64(seat.tree.nodes[node].first_child)
    for a in range(seat.tree.nodes[node].num_children):
        trace.answers[a, 0], trace.answers[a, 1] = to_real(seat, rules, hand, node, first + a)
    child, kind, raise_to = decide(seat, rules, hand, node, buckets[hand[STREET]], not acted, hand_number, scratch)
    return node, child, kind, raise_to
