# mypy: allow-untyped-defs, allow-untyped-calls
"""AIVAT over one finished hand, in vector form: all hands the known player may hold, against the other's own.

The known player's hidden state is a *particle*: where his tracker stands (bets of other sizes are read by chance, and
nobody saw how) and a weight for each of his n possible hands. A known opponent has particles too, with one hand and so
one weight. `values` is an `aivat_values.Values` of the known player's strategy; the state's value is the other player's,
by his bucket alone, so it is a sum over particles. All amounts here are what the *other* player wins.
"""

import numpy as np

from foldwise.agent.decision_kernels import describe_actions, play_row, read_row, to_real
from foldwise.agent.tracker_kernels import call_child, enter_street
from foldwise.game.betting import FOLD, RAISE
from foldwise.game.betting_kernels import FINISHED, FOLDED, LARGEST, PLAYER, SPENT, STREET, apply, start_hand
from foldwise.game.compiled import kernel
from foldwise.game.evaluator_kernels import rank_of_hand
from foldwise.game.tree_kernels import SHOWDOWN
from foldwise.matches.scoring.expectation_kernels import read_action
from foldwise.matches.scoring.range_kernels import fill_rows, take_action

# What may go wrong, in place of a score.
FINE, NEVER_PLAYED, TOO_MANY_PARTICLES = 0, 1, 2


@kernel
def rank_hands(tables, hands, board, ranks):  # -, [n, hole], [cards], int64[n]
    """Rank of every hand on a full board; 0 where cards clash."""
    num_hole = hands.shape[1]
    cards = np.zeros(num_hole + board.size, np.int64)
    cards[num_hole:] = board
    for h in range(hands.shape[0]):
        ranks[h] = 0
        clashes = False
        for c in range(num_hole):
            cards[c] = hands[h, c]
            for b in range(board.size):
                clashes = clashes or board[b] == cards[c]
        if not clashes:
            ranks[h] = rank_of_hand(tables, cards, cards.size)


@kernel
def state_value(tree, values, node, other, street, bucket, spent_0, spent_1):
    """What the other player's bucket is worth at an abstract node, in chips of the real pot.

    street: of the bucket, behind the node's own only in a hand that is all-in.
    """
    row = values.starts[node]
    for s in range(np.int64(tree.nodes[node].street), street):
        row += values.num_buckets[s]
    scale = (spent_0 + spent_1) / max(1, tree.spent[node, 0] + tree.spent[node, 1])
    return scale * values.values[other, row + bucket]


@kernel
def after_value(tree, values, node, other, bucket, street, kind, after):
    """The same right after an action, before any card: `after` is the real hand, `node` where the action leads."""
    if kind == FOLD:
        folded = after[FOLDED]
        return -1.0 * after[SPENT + other] if folded == other else 1.0 * after[SPENT + folded]
    return state_value(tree, values, node, other, street, bucket, after[SPENT], after[SPENT + 1])


@kernel
def raise_of(rules, hand, kind, raise_to):
    """Chips of an action as they are told: in limit games the one raise there is, 0 for what is no raise."""
    if kind != RAISE:
        return np.int64(0)
    return np.int64(hand[LARGEST] if rules.limit else raise_to)


@kernel
def others_value(seat, values, particles, count, hand, after, other, bucket, kind, raise_to, sizes_pot):
    """Mean over the known player's particles of the state's value after an action of the other."""
    if kind == FOLD:
        return after_value(seat.tree, values, np.int64(0), other, bucket, hand[STREET], kind, after)
    total, mass = 0.0, 0.0
    for k in range(count):
        smaller, larger, chance = read_action(seat, hand, particles.nodes[k], kind, raise_to, sizes_pot)
        weight = particles.weights[k].sum()
        mass += weight
        street = hand[STREET]
        if chance > 0.0:
            total += weight * chance * after_value(seat.tree, values, smaller, other, bucket, street, kind, after)
        if chance < 1.0:
            total += (
                weight * (1.0 - chance) * after_value(seat.tree, values, larger, other, bucket, street, kind, after)
            )
    return total / mass


@kernel
def split_readings(seat, particles, count, hand, kind, raise_to, sizes_pot):
    """Move all particles of a player by the other's call or raise; the number of particles, or -1 when too many."""
    end = count
    for k in range(count):
        smaller, larger, chance = read_action(seat, hand, particles.nodes[k], kind, raise_to, sizes_pot)
        if smaller != larger and 0.0 < chance < 1.0:
            if end == particles.nodes.size:
                return -1
            particles.nodes[end] = larger
            particles.weights[end, :] = particles.weights[k] * (1.0 - chance)
            particles.weights[k, :] *= chance
            end += 1
        particles.nodes[k] = smaller if chance > 0.0 else larger
    return end


@kernel
def act(rules, seat, values, view, particles, count, hand, after, first, other, bucket, kind, raise_to, spare, work):
    """The known player's action: (particles left, correction), particles moved; 0 left if he never plays it, -1 too many.

    view: of his hands; bucket: the other's; spare: particles to fill.
    """
    tree = seat.tree
    street = hand[STREET]
    expected, observed, mass, mass_observed = 0.0, 0.0, 0.0, 0.0
    end = 0
    for k in range(count):
        node = particles.nodes[k]
        num_actions = fill_rows(seat, view, hand, node, first, work.decision, work.rows)
        mass += particles.weights[k].sum()
        for a in range(num_actions):
            if end == spare.nodes.size:
                return -1, 0.0
            weight = take_action(particles.weights[k], work.rows, view.classes[street], a, spare.weights[end])
            if weight <= 0.0:
                continue
            child = np.int64(tree.nodes[node].first_child) + a
            own_kind, own_raise = to_real(seat, rules, hand, node, child)
            own_raise = raise_of(rules, hand, own_kind, own_raise)
            if own_kind != FOLD and own_kind != RAISE:
                child = call_child(tree, node)
            after[:] = hand
            apply(rules, after, own_kind, own_raise)
            value = after_value(tree, values, child, other, bucket, street, own_kind, after)
            expected += weight * value
            if own_kind == kind and own_raise == raise_to:
                observed += weight * value
                mass_observed += weight
                spare.nodes[end] = child
                end += 1
    if end == 0:
        return 0, 0.0
    particles.nodes[:end] = spare.nodes[:end]
    particles.weights[:end] = spare.weights[:end]
    return end, expected / mass - observed / mass_observed


@kernel
def act_of_other(
    rules, seat, values, particles, count, opponent, theirs, num_theirs, hand, after, first, other, bucket, own_bucket,
    kind, raise_to, spare, work,
):  # fmt: skip
    """A known opponent's action: (his particles left, correction). `own_bucket` is that of his hand in his own strategy."""
    tree = opponent.tree
    expected, mass = 0.0, 0.0
    end = 0
    sizes_pot = work.decision.sizes_pot
    for m in range(num_theirs):
        node = theirs.nodes[m]
        scratch = work.decision
        num_actions = describe_actions(tree, node, opponent.stacks[other], scratch.kinds, scratch.sizes_pot)
        row = work.row[:num_actions]
        read_row(opponent, node, own_bucket, row)
        play_row(opponent, node, own_bucket, hand[STREET], first, row, scratch)
        mass += theirs.weights[m, 0]
        for a in range(num_actions):
            if row[a] <= 0.0:
                continue
            child = np.int64(tree.nodes[node].first_child) + a
            own_kind, own_raise = to_real(opponent, rules, hand, node, child)
            own_raise = raise_of(rules, hand, own_kind, own_raise)
            if own_kind != FOLD and own_kind != RAISE:
                child = call_child(tree, node)
            after[:] = hand
            apply(rules, after, own_kind, own_raise)
            weight = theirs.weights[m, 0] * row[a]
            expected += weight * others_value(
                seat, values, particles, count, hand, after, other, bucket, own_kind, own_raise, sizes_pot
            )
            if own_kind == kind and own_raise == raise_to:
                if end == spare.nodes.size:
                    return -1, 0.0
                spare.nodes[end] = child
                spare.weights[end, 0] = weight
                end += 1
    if end == 0:
        return 0, 0.0
    after[:] = hand
    apply(rules, after, kind, raise_to)
    observed = others_value(seat, values, particles, count, hand, after, other, bucket, kind, raise_to, sizes_pot)
    theirs.nodes[:end] = spare.nodes[:end]
    theirs.weights[:end, 0] = spare.weights[:end, 0]
    return end, expected / mass - observed


@kernel
def chance_correction(seat, values, hands, particles, count, hand, other, street, deals, all_in, work):
    """Cards of `street` come: the expected value over all that may, less that of those that did.

    hands: uint8[n, hole], hole 1 or 2; deals: a `matches.scoring.aivat.Deals`. The cards are dealt from what neither player
    holds, so a set of cards has the weight of the known player's hands without them: all of his hands, less those with
    each card, plus those with each two.
    """
    tree = seat.tree
    single, double = work.single, work.double
    num_hole = hands.shape[1]
    num_cards = deals.num_cards[street]
    dealt = deals.dealt[street]
    expected, observed, total, total_observed = 0.0, 0.0, 0.0, 0.0
    for k in range(count):
        node = particles.nodes[k]
        single[:] = 0.0
        mass = 0.0
        for h in range(hands.shape[0]):
            weight = particles.weights[k, h]
            mass += weight
            single[hands[h, 0]] += weight
            if num_hole == 2:
                single[hands[h, 1]] += weight
                double[hands[h, 0], hands[h, 1]] = weight
                double[hands[h, 1], hands[h, 0]] = weight
        total += mass
        row = values.starts[node]
        if all_in:
            for s in range(np.int64(tree.nodes[node].street), street):
                row += values.num_buckets[s]
        scale = (hand[SPENT] + hand[SPENT + 1]) / max(1, tree.spent[node, 0] + tree.spent[node, 1])
        for c in range(deals.starts[street], deals.starts[street + 1]):
            if deals.buckets[c] < 0:
                continue
            left = mass
            for i in range(num_cards):
                left -= single[deals.sets[c, i]]
                if num_hole == 2:
                    for j in range(i):
                        left += double[deals.sets[c, i], deals.sets[c, j]]
            value = scale * left * values.values[other, row + deals.buckets[c]]
            expected += value
            if c == dealt:
                observed += value
                total_observed += left
    return expected / (total * deals.num_possible[street]) - observed / total_observed


@kernel
def remove_dealt(hands, particles, count, street, deals):
    """Take away the hands that hold a card dealt on `street`."""
    for h in range(hands.shape[0]):
        for i in range(deals.num_cards[street]):
            card = deals.sets[deals.dealt[street], i]
            for c in range(hands.shape[1]):
                if hands[h, c] == card:
                    particles.weights[:count, h] = 0.0


@kernel
def score_hand(
    rules, seat, values, view, hands, ranks, rank, opponent, opponent_known, opponent_buckets, known, buckets, deals,
    root_mean, actions, particles, theirs, spare, work,
):  # fmt: skip
    """(error, what the *other* player wins by AIVAT) in one finished hand.

    known: position of the player whose range is averaged; view, hands, ranks: of his hands, ranks 0 where the hand did
    not come to a showdown; buckets: int64[streets] of the other's hand for the known player's strategy, `rank` its
    rank; opponent_buckets: likewise for his own strategy; deals: of the streets that were dealt; root_mean: mean over
    all deals of the value at the root; actions: int64[a, 2]; work: a `matches.scoring.aivat.Work`, its `start` filled.
    """
    other = 1 - known
    hand, after = work.hand, work.after
    tree = seat.tree
    start_hand(rules, hand)
    particles.nodes[0] = 0
    particles.weights[0, :] = work.start
    theirs.nodes[0] = 0
    theirs.weights[0, 0] = 1.0
    count, num_theirs = 1, 1
    score = root_mean - state_value(tree, values, np.int64(0), other, 0, buckets[0], hand[SPENT], hand[SPENT + 1])
    acted_known, acted_other = False, False
    kind = 0
    for i in range(actions.shape[0]):
        kind = actions[i, 0]
        raise_to = raise_of(rules, hand, kind, actions[i, 1])
        street = hand[STREET]
        bucket = buckets[street]
        if hand[PLAYER] == known:
            count, correction = act(
                rules, seat, values, view, particles, count, hand, after, not acted_known, other, bucket, kind,
                raise_to, spare, work,
            )  # fmt: skip
            acted_known = True
            score += correction
            if count <= 0:
                return NEVER_PLAYED if count == 0 else TOO_MANY_PARTICLES, 0.0
            if opponent_known and kind != FOLD:
                num_theirs = split_readings(opponent, theirs, num_theirs, hand, kind, raise_to, work.decision.sizes_pot)
        else:
            if opponent_known:
                num_theirs, correction = act_of_other(
                    rules, seat, values, particles, count, opponent, theirs, num_theirs, hand, after, not acted_other,
                    other, bucket, opponent_buckets[street], kind, raise_to, spare, work,
                )  # fmt: skip
                acted_other = True
                score += correction
            if num_theirs > 0 and kind != FOLD:
                count = split_readings(seat, particles, count, hand, kind, raise_to, work.decision.sizes_pot)
        if num_theirs <= 0 or count <= 0:
            return NEVER_PLAYED if num_theirs == 0 else TOO_MANY_PARTICLES, 0.0
        apply(rules, hand, kind, raise_to)
        if hand[FINISHED] == 0:
            if hand[STREET] > street:
                for k in range(count):
                    particles.nodes[k] = enter_street(tree, particles.nodes[k], hand[STREET])
                score += chance_correction(
                    seat, values, hands, particles, count, hand, other, hand[STREET], deals, False, work
                )
                remove_dealt(hands, particles, count, hand[STREET], deals)
            else:
                for k in range(count):
                    particles.nodes[k] = enter_street(tree, particles.nodes[k], street)
            if opponent_known:
                for m in range(num_theirs):
                    theirs.nodes[m] = enter_street(opponent.tree, theirs.nodes[m], hand[STREET])
    if kind == FOLD:
        return FINE, score + after_value(tree, values, np.int64(0), other, 0, 0, kind, hand)
    all_in = True  # in every particle's abstract hand too; else its node has no values for the cards to come
    for k in range(count):
        all_in = all_in and tree.nodes[particles.nodes[k]].kind == SHOWDOWN
    for street in range(hand[STREET] + 1, rules.board_sizes.size):
        if all_in:
            score += chance_correction(seat, values, hands, particles, count, hand, other, street, deals, True, work)
        remove_dealt(hands, particles, count, street, deals)
    won, mass = 0.0, 0.0
    at_stake = min(hand[SPENT], hand[SPENT + 1])
    for k in range(count):
        for h in range(hands.shape[0]):
            weight = particles.weights[k, h]
            if weight > 0.0:
                mass += weight
                won += weight * (at_stake if rank > ranks[h] else (-at_stake if rank < ranks[h] else 0))
    return FINE, score + won / mass
