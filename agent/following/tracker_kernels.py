# mypy: allow-untyped-defs, allow-untyped-calls
"""Moves through an abstract tree that follow a real hand. The rules are stated in `agent/following/tracker.py`.

`tree` is anything with the arrays of `game.trees.tree.Tree`; children of a decision stand in the order fold (where there is a
bet to fold to), call, raises ascending. Nodes are int64 throughout, so that each function is compiled once.
"""

import math

import numpy as np

from foldwise.agent.mappings.translation_kernels import read_bet
from foldwise.game.betting import CALL, FOLD, RAISE
from foldwise.game.compiled import kernel
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, SHOWDOWN

ALL_IN_SHARE = 0.9  # a translated bet of this share of the stack is all-in
_FOLD_CODE, _CALL_CODE = -1, 0


@kernel
def call_child(tree, node):
    """The child of a call or check; the raises, if any, follow it."""
    first = np.int64(tree.nodes[node].first_child)
    return first + np.int64(tree.action[first] == _FOLD_CODE)


@kernel
def end_of_children(tree, node):
    return np.int64(tree.nodes[node].first_child) + np.int64(tree.nodes[node].num_children)


@kernel
def largest_spent(tree, node):
    """Chips of the player who has put in more; 1 in a game without blinds, so that it can be divided by."""
    return np.int64(max(tree.spent[node, 0], tree.spent[node, 1], 1))


@kernel
def size_in_pots(max_spent, raise_to):
    """Chips beyond the call over the pot after the call."""
    return (raise_to - max_spent) / (2.0 * max(max_spent, 1))


@kernel
def node_past_cap(tree, node):
    """Where a raise is read that `node`, its player's, does not offer: an earlier node of his on the street.

    Else the node a check of the other's first decision on the street leads to; else that first decision itself, from
    which the other one then answers.
    """
    street = tree.nodes[node].street
    player = tree.nodes[node].player
    answerer = node
    above = np.int64(tree.parent[node])
    while above >= 0 and tree.nodes[above].kind == DECISION and tree.nodes[above].street == street:
        if tree.nodes[above].player == player:
            if call_child(tree, above) + 1 < end_of_children(tree, above):
                return above
        else:
            answerer = above
        above = np.int64(tree.parent[above])
    checked = call_child(tree, answerer)
    if (
        tree.nodes[checked].kind == DECISION
        and tree.nodes[checked].player == player
        and call_child(tree, checked) + 1 < end_of_children(tree, checked)
    ):
        return checked
    return answerer


@kernel
def read_raise(tree, node, player, max_spent, raise_to, mapping, randomised, sizes_pot):
    """The two nodes a real raise by `player` may lead to, and the probability of the first.

    max_spent: the larger of both real contributions before the raise; sizes_pot: scratch.
    """
    call = call_child(tree, node)
    call_continues = tree.nodes[call].kind == DECISION
    if call + 1 == end_of_children(tree, node):
        if call_continues:
            return call, call, 1.0
        node = node_past_cap(tree, node)
        if tree.nodes[node].player != player:
            return node, node, 1.0
        call = call_child(tree, node)
        call_continues = False  # a raise must be answered as a raise
    num_sizes = end_of_children(tree, node) - call - 1
    spent = largest_spent(tree, node)
    for i in range(num_sizes):
        sizes_pot[i] = size_in_pots(spent, np.int64(tree.action[call + 1 + i]))
    smaller, larger, probability = read_bet(
        mapping, randomised, size_in_pots(max_spent, raise_to), sizes_pot[:num_sizes], call_continues
    )
    return call + 1 + smaller, call + 1 + larger, probability  # -1, a call, comes right before the raises


@kernel
def enter_street(tree, node, street):
    """The decision node the hand has reached, once the real hand is on `street` and continues."""
    while tree.nodes[node].kind != DECISION or tree.nodes[node].street < street:
        if tree.nodes[node].kind == CHANCE:
            node = np.int64(tree.nodes[node].first_child)
        elif tree.nodes[node].kind == SHOWDOWN:
            node = reopen(tree, node)
        else:
            node = call_child(tree, node)
    return node


@kernel
def reopen(tree, node):
    """Instead of the showdown `node` after a call of an all-in, the call of the largest bet that keeps the hand open.

    Where the bettor has no such bet, his call.
    """
    bettor = np.int64(tree.parent[tree.parent[node]])
    call = call_child(tree, bettor)
    for child in range(end_of_children(tree, bettor) - 1, call, -1):
        if tree.nodes[call_child(tree, child)].kind == CHANCE:
            return call_child(tree, child)
    return call


@kernel
def raise_chips(tree, node, child, max_spent, smallest, largest, stack):
    """Real raise-to of the abstract raise `child` of `node`; `largest` is above 0."""
    amount = np.int64(tree.action[child])
    if amount >= stack:
        return largest
    spent = largest_spent(tree, node)
    if spent != max_spent:
        amount = max_spent + np.int64(math.floor((amount - spent) * (max_spent / spent) + 0.5))
        if amount >= ALL_IN_SHARE * stack:
            return largest
    return min(max(amount, smallest), largest)


@kernel
def real_action(tree, node, child, to_call, max_spent, smallest, largest, stack):
    """(kind, raise_to) of an abstract action, always legal: no fold where checking is free, no raise where none may be."""
    code = tree.action[child]
    if code == _FOLD_CODE and to_call > 0:
        return FOLD, 0
    if code > _CALL_CODE and largest > 0:
        return RAISE, raise_chips(tree, node, child, max_spent, smallest, largest, stack)
    return CALL, 0
