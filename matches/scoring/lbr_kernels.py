# mypy: allow-untyped-defs, allow-untyped-calls
"""One hand of local best response against a strategy at a table. `local_best_response.py` states the rules.

n: all hands of the deck, whatever the board; `weights` [n] is the opponent's range, zero where cards clash with what the
responder sees. Values are what the responder wins in the whole hand, in chips.
"""

import math

import numpy as np

from foldwise.agent.following.decision_kernels import action_draw, drawn_action, follow_opponent, to_real
from foldwise.agent.following.tracker_kernels import call_child, end_of_children, enter_street, raise_chips
from foldwise.game.betting import CALL, FOLD, RAISE
from foldwise.game.betting_kernels import (
    FINISHED,
    FOLDED,
    HAND_ACTIONS,
    LARGEST,
    MAX_SPENT,
    PLAYER,
    SMALLEST,
    SPENT,
    STREET,
    apply,
    start_hand,
    to_call,
)
from foldwise.game.compiled import kernel
from foldwise.game.hands.evaluator_kernels import rank_of_hand, rank_pairs_into
from foldwise.game.primitives.rng_kernels import counter_bits, shuffle_first
from foldwise.matches.scoring.all_in_kernels import next_combination
from foldwise.matches.scoring.expectation_kernels import read_action
from foldwise.matches.scoring.range_kernels import fill_rows

NUM_PAIRS = 1326
MOST_RUN_OUTS = 2000  # up to here completions of a board are enumerated; flops have 1,081


@kernel
def holds(hands, h, card):
    for i in range(hands.shape[1]):
        if hands[h, i] == card:
            return True
    return False


@kernel
def number_of_hand(hands, cards, start):
    """The number of the hand at `start` of a deal; its cards may be in either order."""
    for h in range(hands.shape[0]):
        found = 0
        for i in range(hands.shape[1]):
            found += holds(hands, h, cards[start + i])
        if found == hands.shape[1]:
            return h
    return -1


@kernel
def rank_hands_on(tables, hands, size, work):
    """Rank of every hand on `work.board`; 0 where cards clash."""
    if hands.shape[0] == NUM_PAIRS and size >= 3:
        rank_pairs_into(tables, work.board, size, work.ranks)
        return
    num_hole = hands.shape[1]
    for i in range(size):
        work.cards[num_hole + i] = work.board[i]
    for h in range(hands.shape[0]):
        clash = False
        for i in range(size):
            clash = clash or holds(hands, h, work.board[i])
        for i in range(num_hole):
            work.cards[i] = hands[h, i]
        work.ranks[h] = 0 if clash else rank_of_hand(tables, work.cards, num_hole + size)


@kernel
def find_equities(rules, tables, hands, own, cards, num_known, num_samples, work):
    """Fill `work.equity`: what `own` wins from each hand at a showdown, -1 to 1, over the completions of the board.

    `work.counts` is the number of completions a hand was met on, 0 where it clashes with the board. All completions are
    met where there are no more than MOST_RUN_OUTS, and the answer is True; else `num_samples` drawn ones.
    """
    num_hole = hands.shape[1]
    size = rules.board_sizes[rules.board_sizes.size - 1]
    to_come = size - num_known
    for i in range(num_known):
        work.board[i] = cards[2 * num_hole + i]
    left = 0
    for i in range(rules.deck.size):
        card = rules.deck[i]
        seen = holds(hands, own, card)
        for k in range(num_known):
            seen = seen or work.board[k] == card
        if not seen:
            work.deck[left] = card
            left += 1
    completions = 1.0
    for i in range(to_come):
        completions *= (left - i) / (i + 1)
    exact = completions <= MOST_RUN_OUTS
    work.equity[:] = 0.0
    work.counts[:] = 0
    for i in range(to_come):
        work.chosen[i] = i
    done = 0
    while True:
        if exact:
            for i in range(to_come):
                work.board[num_known + i] = work.deck[work.chosen[i]]
        else:
            shuffle_first(work.state, work.deck[:left], to_come)
            for i in range(to_come):
                work.board[num_known + i] = work.deck[i]
        rank_hands_on(tables, hands, size, work)
        own_rank = work.ranks[own]
        for h in range(hands.shape[0]):
            rank = work.ranks[h]
            if rank > 0:
                work.counts[h] += 1
                work.equity[h] += np.int64(own_rank > rank) - np.int64(own_rank < rank)
        done += 1
        if exact:
            if not next_combination(work.chosen, to_come, left):
                break
        elif done == num_samples:
            break
    for h in range(hands.shape[0]):
        if work.counts[h] > 0:
            work.equity[h] /= work.counts[h]
    return exact


@kernel
def mean_equity(work):
    """What the responder wins from the range at a showdown, a chip at stake."""
    total, won = 0.0, 0.0
    for h in range(work.weights.size):
        if work.counts[h] > 0:
            total += work.weights[h]
            won += work.weights[h] * work.equity[h]
    return won / total


@kernel
def list_raises(rules, seat, bets, hand, node, out):
    """The raise-to amounts to consider, each once; how many."""
    smallest, largest = hand[SMALLEST], hand[LARGEST]
    if largest == 0 or bets.fractions.size + bets.all_in + bets.tree == 0:
        return 0
    if bets.tree:
        count = 0
        stack = rules.stacks[hand[PLAYER]]
        for child in range(call_child(seat.tree, node) + 1, end_of_children(seat.tree, node)):
            raise_to = raise_chips(seat.tree, node, child, hand[MAX_SPENT], smallest, largest, stack)
            if count == 0 or raise_to > out[count - 1]:
                out[count] = raise_to
                count += 1
        return count
    if rules.limit:
        out[0] = largest
        return 1
    count = 0
    for i in range(bets.fractions.size):
        amount = hand[MAX_SPENT] + np.int64(math.floor(2.0 * hand[MAX_SPENT] * bets.fractions[i] + 0.5))
        raise_to = min(max(amount, smallest), largest)
        if count == 0 or raise_to > out[count - 1]:
            out[count] = raise_to
            count += 1
    if bets.all_in and (count == 0 or out[count - 1] < largest):
        out[count] = largest
        count += 1
    return count


@kernel
def raise_value(rules, seat, view, hand, node, acted, raise_to, work):
    """What a raise wins if the opponent folds or calls as he plays, and both check and call from then on."""
    me = hand[PLAYER]
    after = work.after
    after[:] = hand
    apply(rules, after, RAISE, raise_to)
    smaller, larger, chance = read_action(seat, hand, node, RAISE, raise_to, work.decision.sizes_pot)
    if smaller == larger:
        chance = 1.0
    street = after[STREET]
    num_classes = view.counts[street]
    folds = work.folds
    folds[:num_classes] = 0.0
    for reading in range(2):
        share = chance if reading == 0 else 1.0 - chance
        if share <= 0.0:
            continue
        read = enter_street(seat.tree, smaller if reading == 0 else larger, street)
        num_actions = fill_rows(seat, view, after, read, not acted, work.decision, work.rows)
        first = np.int64(seat.tree.nodes[read].first_child)
        for a in range(num_actions):
            kind, _ = to_real(seat, rules, after, read, first + a)
            if kind == FOLD:
                for c in range(num_classes):
                    folds[c] += share * work.rows[c, a]
    folded, stayed, won = 0.0, 0.0, 0.0
    for h in range(work.weights.size):
        if work.weights[h] > 0.0:
            away = work.weights[h] * folds[view.classes[street, h]]
            folded += away
            stayed += work.weights[h] - away
            won += (work.weights[h] - away) * work.equity[h]
    at_stake = min(after[SPENT + me], rules.stacks[1 - me])
    return (folded * hand[SPENT + 1 - me] + at_stake * won) / (folded + stayed)


@kernel
def respond(rules, seat, view, hand, node, acted, num_raises, work):
    """(kind, raise_to) that is worth most: fold, call, or one of `work.raises`. `work.equity` is of the street."""
    me = hand[PLAYER]
    asked = to_call(rules, hand)
    at_stake = min(hand[SPENT + me] + asked, hand[SPENT + 1 - me])
    best = at_stake * mean_equity(work)
    kind, raise_to = CALL, np.int64(0)
    if asked > 0 and -hand[SPENT + me] >= best:
        kind, best = FOLD, -np.float64(hand[SPENT + me])
    for i in range(num_raises):
        value = raise_value(rules, seat, view, hand, node, acted, work.raises[i], work)
        if value > best:
            kind, raise_to, best = RAISE, work.raises[i], value
    return kind, raise_to


@kernel
def opponent_acts(rules, seat, view, hand, node, acted, opponents, number, work):
    """The opponent's draw as he would at the table, and his range after it: (node after it, kind, raise_to)."""
    tree = seat.tree
    street = hand[STREET]
    num_actions = fill_rows(seat, view, hand, node, not acted, work.decision, work.rows)
    row = work.rows[view.classes[street, opponents], :num_actions]
    chosen = drawn_action(row, action_draw(seat.seed, number, hand[HAND_ACTIONS]))
    first = np.int64(tree.nodes[node].first_child)
    kind, raise_to = to_real(seat, rules, hand, node, first + chosen)
    # A raise that became a call, or a fold that became a check, looks like the call and leads where it leads.
    num_classes = view.counts[street]
    work.folds[:num_classes] = 0.0
    for a in range(num_actions):
        other, _ = to_real(seat, rules, hand, node, first + a)
        if other == kind and (kind != RAISE or a == chosen):
            for c in range(num_classes):
                work.folds[c] += work.rows[c, a]
    for h in range(work.weights.size):
        work.weights[h] *= work.folds[view.classes[street, h]]
    after = first + chosen if kind == RAISE else call_child(tree, node)
    return after, kind, raise_to


@kernel
def play_hand(rules, tables, seat, bets, view, hands, cards, me, number, from_street, num_samples, seed, work):
    """What the responder wins at position `me` of one deal, averaged over the hands the opponent may hold at the end.

    cards: hole cards by position, then the full board; number: the hand's, on which the opponent's draws depend.
    """
    num_hole = hands.shape[1]
    own = number_of_hand(hands, cards, me * num_hole)
    opponents = number_of_hand(hands, cards, (1 - me) * num_hole)
    for i in range(4):
        work.state[i] = counter_bits(seed, np.uint64(number), np.uint64(i))
    for h in range(hands.shape[0]):
        work.weights[h] = 1.0
        for i in range(num_hole):
            if holds(hands, h, hands[own, i]):
                work.weights[h] = 0.0
    hand = work.hand
    start_hand(rules, hand)
    node = np.int64(0)
    acted = bool(0)  # the literal False would have all that is called compiled for it too
    num_seen = 0
    equity_street, exact = -1, False
    while hand[FINISHED] == 0:
        street = hand[STREET]
        while num_seen < rules.board_sizes[street]:
            for h in range(hands.shape[0]):
                if holds(hands, h, cards[2 * num_hole + num_seen]):
                    work.weights[h] = 0.0
            num_seen += 1
        if hand[PLAYER] == me:
            kind, raise_to = CALL, np.int64(0)
            num_raises = 0
            if street >= from_street:
                num_raises = list_raises(rules, seat, bets, hand, node, work.raises)
            if street >= from_street and (num_raises > 0 or to_call(rules, hand) > 0):  # else only a check is possible
                if equity_street != street:
                    exact = find_equities(rules, tables, hands, own, cards, num_seen, num_samples, work)
                    equity_street = street
                kind, raise_to = respond(rules, seat, view, hand, node, acted, num_raises, work)
            if kind != FOLD:
                node = follow_opponent(seat, hand, node, kind, raise_to, number, work.decision)
        else:
            node, kind, raise_to = opponent_acts(rules, seat, view, hand, node, acted, opponents, number, work)
            acted = True
        apply(rules, hand, kind, raise_to)
        if hand[FINISHED] == 0:
            node = enter_street(seat.tree, node, hand[STREET])
    if hand[FOLDED] == me:
        return -np.float64(hand[SPENT + me])
    if hand[FOLDED] == 1 - me:
        return np.float64(hand[SPENT + 1 - me])
    # The action was chosen by a sampled equity, which would bias the showdown: settle it on the board that was dealt.
    if equity_street != hand[STREET] or not exact:
        size = rules.board_sizes[rules.board_sizes.size - 1]
        find_equities(rules, tables, hands, own, cards, size, num_samples, work)
    return min(hand[SPENT], hand[SPENT + 1]) * mean_equity(work)
