# mypy: allow-untyped-defs, allow-untyped-calls
"""The walk of a best response that may bet every legal chip. What it computes is stated in `matches/scoring/real_bets.py`.

The walk is over real betting, depth first, with a frame for each state on the way. A frame holds the real hand, the agent's
particles (abstract nodes where its tracker may stand, with a weight for each of its hands there) and, for each hand of
the responder, what it wins times the agent's weights. n: hands, P: particles, D: frames, A: actions of a node, B: boards.
`frames` and `cards` are `real_bets.BettingFrames` and `real_bets.Cards`; frame d + 1 is always a child of frame d.

What may happen in a state is numbered, so that one loop serves all three kinds of states: -1 folds, 0 calls, above that are
the chips of a raise; where a card is dealt, the boards from 1 on.
"""

import numpy as np

from foldwise.agent.following.decision_kernels import to_real
from foldwise.agent.following.tracker_kernels import call_child, enter_street
from foldwise.game.betting import CALL, FOLD, RAISE
from foldwise.game.betting_kernels import (
    FINISHED,
    FOLDED,
    LARGEST,
    PLAYER,
    SMALLEST,
    SPENT,
    STREET,
    apply,
    start_hand,
    to_call,
)
from foldwise.game.compiled import kernel
from foldwise.matches.scoring.expectation_kernels import read_action
from foldwise.matches.scoring.range_kernels import fill_rows, take_action
from foldwise.matches.scoring.ranges import View

AGENT, RESPONDER, DEAL = 0, 1, 2  # what a frame waits for
FULL, TOO_MANY = -1, -2  # instead of a count of states: no room for a particle; more states than allowed
_FOLD_CODE, _CALL_CODE, _BEFORE_ALL = -1, 0, -2
_NO_CODE = 2**62


@kernel
def add_particle(frames, at, node, weights, share):  # -, -, -, [n], -
    """Give `share` of the weights to the particle of a node in a frame; False where there is no room for a new one."""
    k = 0
    while k < frames.counts[at] and frames.nodes[at, k] != node:
        k += 1
    if k == frames.nodes.shape[1]:
        return False
    if k == frames.counts[at]:
        frames.counts[at] += 1
        frames.nodes[at, k] = node
        frames.weights[at, k, :] = 0.0
    for h in range(weights.size):
        frames.weights[at, k, h] += share * weights[h]
    return True


@kernel
def open_frame(rules, seat, agent, cards, frames, at, dealt, work):
    """Prepare a frame whose hand and particles are there; `dealt`: whether its street has its cards."""
    hand = frames.hands[at]
    frames.codes[at] = _BEFORE_ALL
    frames.values[at, :] = 0.0
    if not dealt:
        frames.kinds[at] = DEAL
        frames.codes[at] = 0
    elif hand[PLAYER] != agent:
        frames.kinds[at] = RESPONDER
        frames.values[at, :] = -np.inf
    else:
        frames.kinds[at] = AGENT
        board = frames.boards[at]
        view = View(cards.buckets[board], cards.classes, cards.counts)
        for k in range(frames.counts[at]):
            node = frames.nodes[at, k]
            rows = frames.rows[at, k]
            num_actions = fill_rows(seat, view, hand, node, not frames.acted[at], work.decision, rows)
            first = np.int64(seat.tree.nodes[node].first_child)
            for a in range(num_actions):
                frames.answers[at, k, a] = code_of(rules, hand, *to_real(seat, rules, hand, node, first + a))
                if take_action(frames.weights[at, k], rows, cards.classes[0], a, work.played) <= 0.0:
                    frames.answers[at, k, a] = _NO_CODE
            frames.num_answers[at, k] = num_actions


@kernel
def code_of(rules, hand, kind, raise_to):
    """The number of a real action; a limit raise by the chips it makes."""
    if kind == FOLD:
        return np.int64(_FOLD_CODE)
    if kind == CALL:
        return np.int64(_CALL_CODE)
    return np.int64(hand[LARGEST] if rules.limit else raise_to)


@kernel
def next_code(rules, cards, frames, at):
    """What is to be walked next from a frame, in ascending order; `_NO_CODE` when all is done."""
    last, kind, hand = frames.codes[at], frames.kinds[at], frames.hands[at]
    if kind == DEAL:
        return last + 1 if last + 1 < cards.beats.shape[0] else np.int64(_NO_CODE)
    if kind == RESPONDER:
        if last < _FOLD_CODE and to_call(rules, hand) > 0:
            return np.int64(_FOLD_CODE)
        if last < _CALL_CODE:
            return np.int64(_CALL_CODE)
        following = max(last + 1, hand[SMALLEST])
        return following if following <= hand[LARGEST] else np.int64(_NO_CODE)
    following = np.int64(_NO_CODE)
    for k in range(frames.counts[at]):
        for a in range(frames.num_answers[at, k]):
            if last < frames.answers[at, k, a] < following:
                following = frames.answers[at, k, a]
    return following


@kernel
def descend(rules, seat, cards, frames, at, code, work):
    """Fill the frame below `at` with the hand and the particles after `code`; False where there is no room for them."""
    below = at + 1
    hand, after = frames.hands[at], frames.hands[below]
    after[:] = hand
    frames.counts[below] = 0
    frames.boards[below] = frames.boards[at]
    frames.acted[below] = frames.acted[at] or frames.kinds[at] == AGENT
    if frames.kinds[at] == DEAL:
        frames.boards[below] = code
        for k in range(frames.counts[at]):
            frames.weights[below, k, :] = frames.weights[at, k] * cards.free[code]
            frames.nodes[below, k] = frames.nodes[at, k]
        frames.counts[below] = frames.counts[at]
        return True
    kind = RAISE if code > _CALL_CODE else (CALL if code == _CALL_CODE else FOLD)
    apply(rules, after, kind, code)
    goes_on = after[FINISHED] == 0
    for k in range(frames.counts[at]):
        node, weights = frames.nodes[at, k], frames.weights[at, k]
        if frames.kinds[at] == RESPONDER:
            smaller, larger, chance = node, node, 1.0
            if goes_on:  # how the last action is read does not matter
                smaller, larger, chance = read_action(seat, hand, node, kind, code, work.decision.sizes_pot)
                smaller = enter_street(seat.tree, smaller, after[STREET]) if chance > 0.0 else smaller
                larger = enter_street(seat.tree, larger, after[STREET]) if chance < 1.0 else larger
            if chance > 0.0 and not add_particle(frames, below, smaller, weights, chance):
                return False
            if chance < 1.0 and not add_particle(frames, below, larger, weights, 1.0 - chance):
                return False
            continue
        for a in range(frames.num_answers[at, k]):
            if frames.answers[at, k, a] != code:
                continue
            child = node
            if goes_on:
                # What became a call is followed as a call.
                child = call_child(seat.tree, node)
                if kind == RAISE:
                    child = np.int64(seat.tree.nodes[node].first_child) + a
                child = enter_street(seat.tree, child, after[STREET])
            take_action(weights, frames.rows[at, k], cards.classes[0], a, work.played)
            if not add_particle(frames, below, child, work.played, 1.0):
                return False
    return True


@kernel
def settle_frame(agent, cards, frames, at, work):
    """Values of all hands of the responder where the hand is over."""
    hand, board = frames.hands[at], frames.boards[at]
    work.played[:] = 0.0
    for k in range(frames.counts[at]):
        work.played[:] += frames.weights[at, k]
    folded = hand[FOLDED]
    at_stake = 1.0 * min(hand[SPENT], hand[SPENT + 1])
    if folded >= 0:
        at_stake = 1.0 * hand[SPENT + folded] * (1.0 if folded == agent else -1.0)
    for h in range(work.played.size):
        total = 0.0
        for other in range(work.played.size):
            total += work.played[other] * (
                cards.meets[board, h, other] if folded >= 0 else cards.beats[board, h, other]
            )
        frames.values[at, h] = at_stake * total


@kernel
def combine(cards, frames, at):
    """Take the values of the frame below into a frame: the best for each hand of the responder, else the sum."""
    kind, board = frames.kinds[at], frames.boards[at + 1]
    for h in range(frames.values.shape[1]):
        below = frames.values[at + 1, h]
        if kind == RESPONDER:
            frames.values[at, h] = max(frames.values[at, h], below)
        elif kind == AGENT:
            frames.values[at, h] += below
        else:
            frames.values[at, h] += below * cards.free[board, h] * cards.share


@kernel
def respond(rules, seat, agent, cards, most_states, frames, work):
    """Best response to the agent in position `agent`; its values by hand stand in `frames.values[0]`.

    Returns the number of states walked, or FULL or TOO_MANY.
    """
    start_hand(rules, frames.hands[0])
    frames.counts[0] = 1
    frames.nodes[0, 0] = 0
    frames.weights[0, 0, :] = 1.0
    frames.boards[0] = 0
    frames.acted[0] = False
    open_frame(rules, seat, agent, cards, frames, 0, True, work)
    at, walked = 0, 1
    while at >= 0:
        code = next_code(rules, cards, frames, at)
        if code == _NO_CODE:
            at -= 1
            if at >= 0:
                combine(cards, frames, at)
            continue
        frames.codes[at] = code
        if not descend(rules, seat, cards, frames, at, code, work):
            return FULL
        walked += 1
        if walked > most_states:
            return TOO_MANY
        if frames.hands[at + 1, FINISHED] == 1:
            settle_frame(agent, cards, frames, at + 1, work)
            combine(cards, frames, at)
        else:
            at += 1
            dealt = frames.kinds[at - 1] == DEAL or frames.hands[at, STREET] == frames.hands[at - 1, STREET]
            open_frame(rules, seat, agent, cards, frames, at, dealt, work)
    return walked
