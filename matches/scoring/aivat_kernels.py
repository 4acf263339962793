# mypy: allow-untyped-defs, allow-untyped-calls
"""AIVAT over one finished hand, in vector form: all hands the known player may hold, against the other's own.

The known player's hidden state is a *particle*: where his tracker stands (bets of other sizes are read by chance, and
nobody saw how) and a weight for each of his n possible hands. A known opponent has particles too, with one hand and so
one weight. The state's value is the other player's, by his bucket in the known player's strategy alone, so it is a sum over
particles. All amounts here are what the *other* player wins.

`known` is an `aivat.KnownSide`, `other` an `aivat.OtherSide`, `work` an `aivat.ScorerMemory`: `work.hand` is the real hand,
`work.after` the same after an action. `count` and `num_theirs` say how many particles of either are in use.
"""

import numpy as np

from foldwise.agent.following.decision_kernels import describe_actions, play_row, read_row, to_real
from foldwise.agent.following.tracker_kernels import call_child, enter_street
from foldwise.game.betting import FOLD, RAISE
from foldwise.game.betting_kernels import FINISHED, FOLDED, LARGEST, PLAYER, SPENT, STREET, apply, start_hand
from foldwise.game.compiled import kernel
from foldwise.game.hands.evaluator_kernels import rank_of_hand
from foldwise.game.trees.tree_kernels import SHOWDOWN
from foldwise.matches.scoring.expectation_kernels import read_action
from foldwise.matches.scoring.range_kernels import fill_rows, take_action

# Error codes, returned instead of a score.
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
def state_value(known, node, street, bucket, spent_0, spent_1):
    """What the other player's bucket is worth at an abstract node, in chips of the real pot.

    street: of the bucket, behind the node's own only in a hand that is all-in.
    """
    tree, values = known.seat.tree, known.values
    row = values.starts[node]
    for s in range(np.int64(tree.nodes[node].street), street):
        row += values.num_buckets[s]
    scale = (spent_0 + spent_1) / max(1, tree.spent[node, 0] + tree.spent[node, 1])
    return scale * values.values[1 - known.position, row + bucket]


@kernel
def after_value(known, node, street, bucket, kind, after):
    """The same right after an action, before any card: `after` is the real hand, `node` where the action leads."""
    if kind == FOLD:
        folded, other = after[FOLDED], 1 - known.position
        return -1.0 * after[SPENT + other] if folded == other else 1.0 * after[SPENT + folded]
    return state_value(known, node, street, bucket, after[SPENT], after[SPENT + 1])


@kernel
def raise_of(rules, hand, kind, raise_to):
    """Chips of an action as they are told: in limit games the one raise there is, 0 for what is no raise."""
    if kind != RAISE:
        return np.int64(0)
    return np.int64(hand[LARGEST] if rules.limit else raise_to)


@kernel
def try_action(rules, seat, node, a, work):
    """Play the strategy's action number `a` in `work.after`: (abstract child, kind, raise_to)."""
    hand, after = work.hand, work.after
    child = np.int64(seat.tree.nodes[node].first_child) + a
    kind, raise_to = to_real(seat, rules, hand, node, child)
    raise_to = raise_of(rules, hand, kind, raise_to)
    if kind != FOLD and kind != RAISE:
        child = call_child(seat.tree, node)
    after[:] = hand
    apply(rules, after, kind, raise_to)
    return child, kind, raise_to


@kernel
def others_value(known, count, bucket, kind, raise_to, work):
    """Mean over the known player's particles of the state's value after an action of the other."""
    hand, after, particles = work.hand, work.after, known.particles
    street = hand[STREET]
    if kind == FOLD:
        return after_value(known, np.int64(0), street, bucket, kind, after)
    total, mass = 0.0, 0.0
    for k in range(count):
        smaller, larger, chance = read_action(
            known.seat, hand, particles.nodes[k], kind, raise_to, work.decision.sizes_pot
        )
        weight = particles.weights[k].sum()
        mass += weight
        if chance > 0.0:
            total += weight * chance * after_value(known, smaller, street, bucket, kind, after)
        if chance < 1.0:
            total += weight * (1.0 - chance) * after_value(known, larger, street, bucket, kind, after)
    return total / mass


@kernel
def split_readings(player, count, kind, raise_to, work):  # `known` or `other`
    """Move all particles of a player by his opponent's call or raise; the number of particles, or -1 when too many."""
    particles = player.particles
    end = count
    for k in range(count):
        smaller, larger, chance = read_action(
            player.seat, work.hand, particles.nodes[k], kind, raise_to, work.decision.sizes_pot
        )
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
def act(rules, known, count, first, bucket, kind, raise_to, work):
    """The known player's action: (particles left, correction), particles moved; 0 left if he never plays it, -1 too many.

    bucket: the other's.
    """
    hand, particles, spare = work.hand, known.particles, work.spare
    street = hand[STREET]
    expected, observed, mass, mass_observed = 0.0, 0.0, 0.0, 0.0
    end = 0
    for k in range(count):
        node = particles.nodes[k]
        num_actions = fill_rows(known.seat, known.hand_view, hand, node, first, work.decision, work.rows)
        mass += particles.weights[k].sum()
        for a in range(num_actions):
            if end == spare.nodes.size:
                return -1, 0.0
            classes = known.hand_view.classes[street]
            weight = take_action(particles.weights[k], work.rows, classes, a, spare.weights[end])
            if weight <= 0.0:
                continue
            child, own_kind, own_raise = try_action(rules, known.seat, node, a, work)
            value = after_value(known, child, street, bucket, own_kind, work.after)
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
def act_of_other(rules, known, count, other, num_theirs, first, kind, raise_to, work):
    """A known opponent's action: (his particles left, correction)."""
    hand, after, theirs, spare, scratch = work.hand, work.after, other.particles, work.spare, work.decision
    street = hand[STREET]
    bucket, own_bucket = other.buckets[street], other.own_buckets[street]
    expected, mass = 0.0, 0.0
    end = 0
    for m in range(num_theirs):
        node = theirs.nodes[m]
        num_actions = describe_actions(
            other.seat.tree, node, other.seat.stacks[hand[PLAYER]], scratch.kinds, scratch.sizes_pot
        )
        row = work.row[:num_actions]
        read_row(other.seat, node, own_bucket, row)
        play_row(other.seat, node, own_bucket, street, first, row, scratch)
        mass += theirs.weights[m, 0]
        for a in range(num_actions):
            if row[a] <= 0.0:
                continue
            child, own_kind, own_raise = try_action(rules, other.seat, node, a, work)
            weight = theirs.weights[m, 0] * row[a]
            expected += weight * others_value(known, count, bucket, own_kind, own_raise, work)
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
    observed = others_value(known, count, bucket, kind, raise_to, work)
    theirs.nodes[:end] = spare.nodes[:end]
    theirs.weights[:end, 0] = spare.weights[:end, 0]
    return end, expected / mass - observed


@kernel
def chance_correction(known, count, street, deals, all_in, work):
    """Cards of `street` come: the expected value over all that may, less that of those that did.

    deals: an `aivat.StreetDeals`. The cards are dealt from what neither player holds, so a set of cards has the weight of
    the known player's hands without them: all of his hands, less those with each card, plus those with each two.
    """
    tree, values, hands, particles, hand = known.seat.tree, known.values, known.hands, known.particles, work.hand
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
            value = scale * left * values.values[1 - known.position, row + deals.buckets[c]]
            expected += value
            if c == dealt:
                observed += value
                total_observed += left
    return expected / (total * deals.num_possible[street]) - observed / total_observed


@kernel
def remove_dealt(known, count, street, deals):
    """Remove the hands that hold a card dealt on `street`."""
    hands = known.hands
    for h in range(hands.shape[0]):
        for i in range(deals.num_cards[street]):
            card = deals.sets[deals.dealt[street], i]
            for c in range(hands.shape[1]):
                if hands[h, c] == card:
                    known.particles.weights[:count, h] = 0.0


@kernel
def enter_streets(player, count, street):  # `known` or `other`
    """Move all particles of a player to the street being played."""
    for k in range(count):
        player.particles.nodes[k] = enter_street(player.seat.tree, player.particles.nodes[k], street)


@kernel
def showdown_value(known, count, other, hand):
    """Mean over the known player's hands of what the other's wins at a showdown."""
    won, mass = 0.0, 0.0
    at_stake = min(hand[SPENT], hand[SPENT + 1])
    for k in range(count):
        for h in range(known.hands.shape[0]):
            weight = known.particles.weights[k, h]
            if weight > 0.0:
                mass += weight
                rank = known.ranks[h]
                won += weight * (at_stake if other.rank > rank else (-at_stake if other.rank < rank else 0))
    return won / mass


@kernel
def score_hand(rules, known, other, deals, root_mean, actions, work):
    """(error, what the *other* player wins by AIVAT) in one finished hand.

    deals: of the streets that were dealt; root_mean: mean over all deals of the value at the root; actions: int64[a, 2].
    """
    hand = work.hand
    start_hand(rules, hand)
    known.particles.nodes[0] = 0
    known.particles.weights[0, :] = work.start
    other.particles.nodes[0] = 0
    other.particles.weights[0, 0] = 1.0
    count, num_theirs = np.int64(1), np.int64(1)  # a literal would have all that is called compiled for it too
    score = root_mean - state_value(known, np.int64(0), 0, other.buckets[0], hand[SPENT], hand[SPENT + 1])
    acted_known, acted_other = False, False
    kind = 0
    for i in range(actions.shape[0]):
        kind = actions[i, 0]
        raise_to = raise_of(rules, hand, kind, actions[i, 1])
        street = hand[STREET]
        if hand[PLAYER] == known.position:
            count, correction = act(rules, known, count, not acted_known, other.buckets[street], kind, raise_to, work)
            acted_known = True
            score += correction
            if count <= 0:
                return NEVER_PLAYED if count == 0 else TOO_MANY_PARTICLES, 0.0
            if other.is_known and kind != FOLD:
                num_theirs = split_readings(other, num_theirs, kind, raise_to, work)
        else:
            if other.is_known:
                num_theirs, correction = act_of_other(
                    rules, known, count, other, num_theirs, not acted_other, kind, raise_to, work
                )
                acted_other = True
                score += correction
            if num_theirs > 0 and kind != FOLD:
                count = split_readings(known, count, kind, raise_to, work)
        if num_theirs <= 0 or count <= 0:
            return NEVER_PLAYED if num_theirs == 0 else TOO_MANY_PARTICLES, 0.0
        apply(rules, hand, kind, raise_to)
        if hand[FINISHED] == 0:
            enter_streets(known, count, hand[STREET])
            if hand[STREET] > street:
                score += chance_correction(known, count, hand[STREET], deals, False, work)
                remove_dealt(known, count, hand[STREET], deals)
            if other.is_known:
                enter_streets(other, num_theirs, hand[STREET])
    if kind == FOLD:
        return FINE, score + after_value(known, np.int64(0), 0, 0, kind, hand)
    all_in = True  # in every particle's abstract hand too; else its node has no values for the cards to come
    for k in range(count):
        all_in = all_in and known.seat.tree.nodes[known.particles.nodes[k]].kind == SHOWDOWN
    for street in range(hand[STREET] + 1, rules.board_sizes.size):
        if all_in:
            score += chance_correction(known, count, street, deals, True, work)
        remove_dealt(known, count, street, deals)
    return FINE, score + showdown_value(known, count, other, hand)
