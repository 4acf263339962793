# mypy: allow-untyped-defs, allow-untyped-calls
"""Best response with real cards inside a betting abstraction: all boards that follow one flop.

`tree` is a `real_response.ResponseTree`, `work` its `ResponseMemory`. A vector has an entry for each of the 1,326 hands,
zero where a hand clashes with the board; on the last street, where the work is, it has one for each hand possible, in
the order of the board prepared for showdowns. `reach` is the opponent's alone; `value` is what the responder wins, summed
over the opponent's hands and weighted by his reach and by chance below the node. Nodes of one street are walked forwards
for reach and backwards for value, all histories of the street on one board at a time: ranks, order and buckets of a
board are found once.

Boards that a relabelling of suits turns into each other are walked once: the relabellings that keep the board so far
(its `stabiliser`) map each next card to a representative, and a value goes back through the same relabelling.
"""

import numpy as np

from foldwise.abstraction.cards.card_abstraction_kernels import bucket_of
from foldwise.game.compiled import kernel
from foldwise.game.hands.evaluator_kernels import rank_pairs_into
from foldwise.game.hands.showdown_kernels import prepare_board, settle_fold, settle_showdown
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED, SHOWDOWN
from foldwise.solver.full_width.vector_kernels import take_best

NUM_PAIRS = 1326
NUM_RELABELLINGS = 24


@kernel
def board_size(street):
    return street + 2 if street > 0 else 0


@kernel
def forward(tree, policy, street, num_hands, work):
    """Reach of every node of a street from those of its first nodes."""
    nodes = tree.nodes
    buckets = work.buckets[street]
    for at in range(tree.starts[street], tree.starts[street + 1]):
        node = tree.order[at]
        if nodes[node].kind != DECISION:
            continue
        num_actions = np.int64(nodes[node].num_children)
        first = np.int64(nodes[node].first_child)
        live = work.live[node]
        for a in range(num_actions):
            work.live[first + a] = live
        if nodes[node].player == tree.player or not live:
            continue
        base = nodes[node].base
        reach = work.reach[tree.alias[node]]
        for a in range(num_actions):
            out = work.reach[first + a]
            total = 0.0
            for h in range(num_hands):
                out[h] = reach[h] * policy[base + buckets[h] * num_actions + a]
                total += out[h]
            work.live[first + a] = total > 0.0


@kernel
def settle_folds(tree, reach, scale, card_sums, out):
    """Value of every hand where a player folded: `scale` times the opponent's hands that share no card with it.

    A hand that clashes with the board gets a value too, which is never read.
    """
    card_sums[:] = 0.0
    total = 0.0
    for h in range(NUM_PAIRS):
        card_sums[tree.pair_cards[h, 0]] += reach[h]
        card_sums[tree.pair_cards[h, 1]] += reach[h]
        total += reach[h]
    for h in range(NUM_PAIRS):
        out[h] = scale * (total - card_sums[tree.pair_cards[h, 0]] - card_sums[tree.pair_cards[h, 1]] + reach[h])


@kernel
def settle_early(reach, scale, work, out):  # [1326] by pair, [n] in the board's order
    """Values, on the full board prepared, of a showdown that was called on an earlier street."""
    board = work.showdown
    for i in range(board.pairs.size):
        work.ordered[i] = reach[board.pairs[i]]
    settle_showdown(board, work.ordered, scale, work.sums, out)


@kernel
def backward(tree, policy, street, last, best, work):
    """Value of every node of a street; those of chance, and of showdowns before the last street, are summed already.

    The responder takes the best action of each hand or, without `best`, plays `policy` himself.
    """
    nodes = tree.nodes
    buckets = work.buckets[street]
    num_hands = work.showdown.pairs.size if street == last else NUM_PAIRS
    for at in range(tree.starts[street + 1] - 1, tree.starts[street] - 1, -1):
        node = tree.order[at]
        kind = nodes[node].kind
        value = work.value[node][:num_hands]
        if not work.live[node]:
            value[:] = 0.0
        elif kind == FOLDED:
            scale = np.float64(nodes[node].value if nodes[node].player != tree.player else -nodes[node].value)
            reach = work.reach[tree.alias[node]]
            if street == last:
                settle_fold(work.showdown, reach, scale, work.sums, value)
            else:
                settle_folds(tree, reach, scale, work.card_sums, value)
        elif kind == SHOWDOWN:
            if street == last:
                reach = work.reach[tree.alias[node]]
                settle_showdown(work.showdown, reach, np.float64(nodes[node].value), work.sums, value)
        elif kind == DECISION:
            num_actions = np.int64(nodes[node].num_children)
            first = np.int64(nodes[node].first_child)
            if nodes[node].player == tree.player and not best:
                base = nodes[node].base
                value[:] = 0.0
                for a in range(num_actions):
                    child = work.value[first + a]
                    for h in range(num_hands):
                        value[h] += policy[base + buckets[h] * num_actions + a] * child[h]
                continue
            value[:] = work.value[first][:num_hands]
            for a in range(1, num_actions):
                take_best(nodes[node].player == tree.player, work.value[first + a], num_hands, value)


@kernel
def find_buckets(tree, abstraction, street, work):
    """Buckets of all hands on the board of a street before the last, and which hands clash with it."""
    size = board_size(street)
    for i in range(size):
        work.cards[2 + i] = work.board[i]
    buckets, possible = work.buckets[street], work.possible[street]
    for h in range(NUM_PAIRS):
        high, low = tree.pair_cards[h, 0], tree.pair_cards[h, 1]
        free = True
        for i in range(size):
            free = free and work.board[i] != high and work.board[i] != low
        possible[h] = free
        buckets[h] = 0
        if free:
            work.cards[0], work.cards[1] = high, low
            buckets[h] = bucket_of(abstraction, street, work.cards)


@kernel
def prepare_last(tree, abstraction, evaluator, street, work):
    """The last street's board made ready for showdowns, and buckets in its order."""
    size = board_size(street)
    rank_pairs_into(evaluator, work.board, size, work.ranks)
    prepare_board(work.ranks, tree.pair_cards, work.counts, work.showdown)
    for i in range(size):
        work.cards[2 + i] = work.board[i]
    for h in range(NUM_PAIRS):
        work.possible[street, h] = work.ranks[h] > 0
    board, buckets = work.showdown, work.buckets[street]
    for i in range(board.pairs.size):
        work.cards[0], work.cards[1] = board.cards[i, 0], board.cards[i, 1]
        buckets[i] = bucket_of(abstraction, street, work.cards)


@kernel
def moved_card(relabellings, r, card):
    return (card & ~3) | relabellings[r, card & 3]


@kernel
def find_stabiliser(symmetries, street, work):
    """Relabellings that keep the flop, as a set, and each later card of the board."""
    count = 0
    for r in range(NUM_RELABELLINGS):
        before, after = 0, 0
        for i in range(3):
            before |= 1 << work.board[i]
            after |= 1 << moved_card(symmetries.relabellings, r, work.board[i])
        keeps = before == after
        for i in range(3, board_size(street)):
            keeps = keeps and moved_card(symmetries.relabellings, r, work.board[i]) == work.board[i]
        if keeps:
            work.stabiliser[street, count] = r
            count += 1
    work.num_stabiliser[street] = count


@kernel
def enter_street(tree, abstraction, evaluator, policy, symmetries, street, last, work):
    """Prepare a street on its board: reach of all its nodes, and sums to which later streets are added."""
    nodes = tree.nodes
    if street == last:
        prepare_last(tree, abstraction, evaluator, street, work)
    else:
        find_buckets(tree, abstraction, street, work)
        find_stabiliser(symmetries, street, work)
    possible, pairs = work.possible[street], work.showdown.pairs
    for at in range(tree.starts[street - 1], tree.starts[street]):
        node = tree.order[at]
        if nodes[node].kind == CHANCE:
            root = np.int64(nodes[node].first_child)
            work.live[root] = work.live[node]
            if work.live[node]:
                reach, out = work.reach[tree.alias[node]], work.reach[root]
                if street == last:
                    for i in range(pairs.size):
                        out[i] = reach[pairs[i]]
                else:
                    for h in range(NUM_PAIRS):
                        out[h] = reach[h] if possible[h] else 0.0
    if street == last:
        forward(tree, policy, street, pairs.size, work)
        for k in range(tree.early.size):
            node = tree.early[k]
            if work.live[node]:
                reach, value = work.reach[tree.alias[node]], work.run_out[street, k]
                settle_early(reach, np.float64(nodes[node].value), work, value)
        return
    forward(tree, policy, street, NUM_PAIRS, work)
    for at in range(tree.starts[street], tree.starts[street + 1]):
        node = tree.order[at]
        if nodes[node].kind == CHANCE or nodes[node].kind == SHOWDOWN:
            work.value[node][:] = 0.0
    work.run_out[street][:, :] = 0.0
    work.next_card[street] = 0


@kernel
def next_representative(symmetries, street, work):
    """The next card to walk below a street's board: the least of those that relabellings turn into each other; or 52."""
    for card in range(work.next_card[street], 52):
        fresh = True
        for i in range(board_size(street)):
            fresh = fresh and work.board[i] != card
        for i in range(work.num_stabiliser[street]):
            fresh = fresh and moved_card(symmetries.relabellings, work.stabiliser[street, i], card) >= card
        if fresh:
            return card
    return 52


@kernel
def add_relabelled(symmetries, street, card, possible, weight, value, work, out):
    """Add the values on every board the walked one stands for: hand h has there what its relabelling has here."""
    seen = 0
    for i in range(work.num_stabiliser[street]):
        r = work.stabiliser[street, i]
        for source in range(card & ~3, (card & ~3) + 4):
            if moved_card(symmetries.relabellings, r, source) == card and not seen >> (source & 3) & 1:
                seen |= 1 << (source & 3)
                pairs = symmetries.pairs[r]
                for h in range(NUM_PAIRS):
                    moved = pairs[h]
                    if possible[moved]:
                        out[h] += weight * value[moved]


@kernel
def by_pair(value, street, last, work):
    """A street's values by pair number; entries of hands that clash with the board are never read."""
    if street != last:
        return value
    pairs = work.showdown.pairs
    for i in range(pairs.size):
        work.unordered[pairs[i]] = value[i]
    return work.unordered


@kernel
def leave_street(tree, symmetries, street, last, work):
    """Add a street's values on one board to the chance nodes and unfinished showdowns of the street before."""
    nodes = tree.nodes
    above = street - 1
    card = work.board[board_size(street) - 1]
    weight = 1.0 / (52 - 4 - board_size(above))
    possible = work.possible[street]
    for at in range(tree.starts[above], tree.starts[street]):
        node = tree.order[at]
        if nodes[node].kind == CHANCE and work.live[node]:
            root = np.int64(nodes[node].first_child)
            value = by_pair(work.value[root], street, last, work)
            add_relabelled(symmetries, above, card, possible, weight, value, work, work.value[node])
    for k in range(tree.early.size):
        node = tree.early[k]
        if work.live[node] and nodes[node].street <= above:
            value = by_pair(work.run_out[street, k], street, last, work)
            out = work.value[node] if nodes[node].street == above else work.run_out[above, k]
            add_relabelled(symmetries, above, card, possible, weight, value, work, out)


@kernel
def walk_flop(tree, abstraction, evaluator, policy, symmetries, flop, last, best, work, out):
    """Fill `out` [carriers, 169]: mean value, over the hands of a class, of what goes on after the first street.

    A carrier is a chance node of the first street or a showdown on it, in the order of `tree.carriers`. The flop stands
    for its whole class of flops; the mean over a class of hands is the same on each.
    """
    nodes = tree.nodes
    for i in range(3):
        work.board[i] = flop[i]
    street = np.int64(1)  # a literal would have all that is called compiled for it too
    enter_street(tree, abstraction, evaluator, policy, symmetries, street, last, work)
    while True:
        card = next_representative(symmetries, street, work) if street != last else 52
        if card < 52:
            work.next_card[street] = card + 1
            work.board[board_size(street)] = card
            street += 1
            enter_street(tree, abstraction, evaluator, policy, symmetries, street, last, work)
            continue
        backward(tree, policy, street, last, best, work)
        if street == 1:
            break
        leave_street(tree, symmetries, street, last, work)
        street -= 1
    out[:, :] = 0.0
    for c in range(tree.carriers.size):
        node = tree.carriers[c]
        if nodes[node].kind == CHANCE:
            value = by_pair(work.value[np.int64(nodes[node].first_child)], 1, last, work)
        else:
            value = by_pair(work.run_out[1, tree.early_number[node]], 1, last, work)
        for h in range(NUM_PAIRS):
            if work.possible[1, h]:
                out[c, tree.classes[h]] += value[h] / tree.class_sizes[tree.classes[h]]
