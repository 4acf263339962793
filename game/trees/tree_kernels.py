# mypy: allow-untyped-defs, allow-untyped-calls
"""Builders of public trees. The betting is played by `game.betting_kernels`; here are bet sizes and the nodes."""

import numpy as np

from foldwise.game.betting import CALL, RAISE
from foldwise.game.betting_kernels import (
    FINISHED,
    LARGEST,
    MAX_SPENT,
    MIN_RAISE_TO,
    NUM_CALLED,
    NUM_FIELDS,
    PLAYER,
    SMALLEST,
    SPENT,
    STREET,
    STREET_ACTIONS,
    STREET_RAISES,
    apply,
    set_turn,
    start_hand,
    to_call,
)
from foldwise.game.compiled import kernel

DECISION, CHANCE, FOLDED, SHOWDOWN, CHALLENGE = 0, 1, 2, 3, 4
SIZE_POT, SIZE_MINIMUM, SIZE_ALL_IN, SIZE_EVERY = 0, 1, 2, 3

_FOLD_CODE, _CALL_CODE, _NO_ACTION, _CHALLENGE_CODE = -1, 0, -2, -3
_LARGEST_INT32 = 2**31 - 1
# What of a hand is kept beside each node while the tree grows; the rest is in the node, or follows.
_KEPT = (MIN_RAISE_TO, STREET_RAISES, STREET_ACTIONS, NUM_CALLED)


@kernel
def _raise_sizes(rules, menu, hand, out):
    """Raise-to amounts the menu has for the player to act, ascending, each once; returns how many."""
    low, high, max_spent = hand[SMALLEST], hand[LARGEST], hand[MAX_SPENT]
    if high == 0:
        return 0
    menu_set = min(hand[STREET_RAISES], menu.kinds.shape[2] - 1)
    kinds = menu.kinds[hand[PLAYER], hand[STREET], menu_set]
    fractions = menu.fractions[hand[PLAYER], hand[STREET], menu_set]
    if rules.limit:
        out[0] = high
        return int(np.any(kinds >= 0))
    count = 0
    for k in range(kinds.size):
        kind = kinds[k]
        if kind < 0:
            continue
        if kind == SIZE_EVERY:
            for amount in range(low, high + 1):
                out[amount - low] = amount
            return high - low + 1
        if kind == SIZE_MINIMUM:
            amount = low
        elif kind == SIZE_ALL_IN:
            amount = high
        else:
            # The pot after calling: what the opponent has in, twice.
            amount = max_spent + np.int64(np.floor(fractions[k] * 2.0 * max_spent + 0.5))
            amount = max(amount, low)
            if amount >= menu.all_in_share * high:
                amount = high
        out[count] = min(amount, high)
        count += 1
    for i in range(1, count):  # a handful; numba's own sort would be most of what the compiler has to do here
        amount, j = out[i], i
        while j > 0 and out[j - 1] > amount:
            out[j] = out[j - 1]
            j -= 1
        out[j] = amount
    distinct = 0
    for i in range(count):
        if i == 0 or out[i] != out[i - 1]:
            out[distinct] = out[i]
            distinct += 1
    return distinct


@kernel
def _grown(array):
    bigger = np.empty((2 * array.shape[0],) + array.shape[1:], dtype=array.dtype)
    bigger[: array.shape[0]] = array
    return bigger


@kernel
def _keep_hand(hand, spent, kept):  # int64[NUM_FIELDS], int32[2], int32[len(_KEPT)]
    """Keep what `_resume_hand` needs. Bounds above every stack are equivalent, so they are cut to fit."""
    spent[0], spent[1] = hand[SPENT], hand[SPENT + 1]
    for i, field in enumerate(_KEPT):
        kept[i] = min(hand[field], _LARGEST_INT32)


@kernel
def _resume_hand(rules, node, spent, kept, hand):
    """The hand at a decision."""
    hand[SPENT], hand[SPENT + 1] = spent[0], spent[1]
    hand[MAX_SPENT] = max(spent[0], spent[1])
    hand[STREET], hand[PLAYER] = node.street, node.player
    for i, field in enumerate(_KEPT):
        hand[field] = kept[i]
    set_turn(rules, hand)


@kernel
def build_heads_up(rules, menu, nodes, max_nodes):
    """Breadth-first public tree: (nodes, parent, action, spent). Stops, unfinished, once it has over `max_nodes`.

    rules: `table_rules.TableRules`; menu: `tree.MenuArrays`; nodes: NODE_DTYPE[any], start of the storage, grown as needed.
    """
    capacity = nodes.shape[0]
    parent = np.empty(capacity, dtype=np.int32)
    action = np.empty(capacity, dtype=np.int32)
    spent = np.empty((capacity, 2), dtype=np.int32)
    kept = np.empty((capacity, len(_KEPT)), dtype=np.int32)
    most_sizes = menu.kinds.shape[3]
    if not rules.limit and np.any(menu.kinds == SIZE_EVERY):
        most_sizes = max(most_sizes, max(rules.stacks[0], rules.stacks[1]) + 1)
    sizes = np.empty(most_sizes, dtype=np.int64)
    hand, after = np.zeros(NUM_FIELDS, np.int64), np.zeros(NUM_FIELDS, np.int64)

    start_hand(rules, hand)
    nodes[0].kind = DECISION
    nodes[0].street = 0
    nodes[0].player = hand[PLAYER]
    parent[0] = -1
    action[0] = _NO_ACTION
    _keep_hand(hand, spent[0], kept[0])
    num_nodes = 1

    at = 0
    while at < num_nodes and num_nodes <= max_nodes:
        nodes[at].base = 0
        nodes[at].padding = 0
        nodes[at].detail = 0
        nodes[at].first_child = num_nodes
        nodes[at].num_children = 0
        kind = nodes[at].kind
        street = nodes[at].street
        if kind != DECISION and kind != CHANCE:
            at += 1
            continue
        nodes[at].value = 0.0
        num_raises = 0
        if kind == DECISION:
            _resume_hand(rules, nodes[at], spent[at], kept[at], hand)
            num_raises = _raise_sizes(rules, menu, hand, sizes)
        while num_nodes + num_raises + 2 > capacity:
            nodes, parent, action = _grown(nodes), _grown(parent), _grown(action)
            spent, kept = _grown(spent), _grown(kept)
            capacity = nodes.shape[0]
        child = num_nodes

        if kind == CHANCE:  # the hand kept here is that of the next street's start
            nodes[child].kind = DECISION
            nodes[child].street = street + 1
            nodes[child].player = rules.first_players[street + 1]
            parent[child] = at
            action[child] = _NO_ACTION
            spent[child] = spent[at]
            kept[child] = kept[at]
            nodes[at].num_children = 1
            num_nodes += 1
            at += 1
            continue

        if to_call(rules, hand) > 0:
            nodes[child].kind = FOLDED
            nodes[child].street = street
            nodes[child].player = hand[PLAYER]
            nodes[child].value = hand[SPENT + hand[PLAYER]]
            parent[child] = at
            action[child] = _FOLD_CODE
            spent[child] = spent[at]
            child += 1

        for i in range(-1, num_raises):  # the call or check, then the raises
            after[:] = hand
            apply(rules, after, CALL if i < 0 else RAISE, sizes[max(i, 0)])
            nodes[child].street = street
            nodes[child].player = 0
            if after[FINISHED]:
                nodes[child].kind = SHOWDOWN
                nodes[child].value = min(after[SPENT], after[SPENT + 1])
            elif after[STREET] > street:
                nodes[child].kind = CHANCE
            else:
                nodes[child].kind = DECISION
                nodes[child].player = after[PLAYER]
            parent[child] = at
            action[child] = _CALL_CODE if i < 0 else sizes[i]
            _keep_hand(after, spent[child], kept[child])
            child += 1

        nodes[at].num_children = child - num_nodes
        num_nodes = child
        at += 1
    return nodes[:num_nodes].copy(), parent[:num_nodes].copy(), action[:num_nodes].copy(), spent[:num_nodes].copy()
