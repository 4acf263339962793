# mypy: allow-untyped-defs, allow-untyped-calls
"""Builders of public trees. The betting rules are those of `game.betting`, for two players."""

import numpy as np

from foldwise.game.compiled import kernel

DECISION, CHANCE, FOLDED, SHOWDOWN, CHALLENGE = 0, 1, 2, 3, 4
SIZE_POT, SIZE_MINIMUM, SIZE_ALL_IN, SIZE_EVERY = 0, 1, 2, 3

_FOLD_CODE, _CALL_CODE, _NO_ACTION, _CHALLENGE_CODE = -1, 0, -2, -3
_MAX_ACTIONS_PER_ROUND = 64
_LARGEST_INT32 = 2**31 - 1
# Columns of the betting state kept beside each node while the tree grows.
_MIN_RAISE_TO, _NUM_RAISES, _NUM_ACTIONS, _NUM_CALLED, _NUM_STATE = 0, 1, 2, 3, 4


@kernel
def _raise_sizes(menu_kinds, menu_fractions, all_in_share, spent, max_spent, stack, low, high, out):
    """Raise-to amounts of one menu set within [low, high], ascending, each once; returns how many."""
    count = 0
    for k in range(menu_kinds.size):
        kind = menu_kinds[k]
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
            amount = max_spent + np.int64(np.floor(menu_fractions[k] * 2.0 * max_spent + 0.5))
            amount = max(amount, low)
            if amount >= all_in_share * stack:
                amount = high
        out[count] = min(amount, high)
        count += 1
    out[:count].sort()
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
def build_heads_up(
    limit,
    stacks,  # int64[2]
    blinds,  # int64[2]
    raise_sizes,  # int64[S]
    first_players,  # int64[S]
    max_raises,  # int64[S]
    menu_kinds,  # int8[2, S, R, K]
    menu_fractions,  # float64[2, S, R, K]
    all_in_share,
    nodes,  # NODE_DTYPE[any]: start of the storage, grown as needed
    max_nodes,
):
    """Breadth-first public tree: (nodes, parent, action, spent). Stops, unfinished, once it has over `max_nodes`."""
    num_streets = first_players.size
    capacity = nodes.shape[0]
    parent = np.empty(capacity, dtype=np.int32)
    action = np.empty(capacity, dtype=np.int32)
    spent = np.empty((capacity, 2), dtype=np.int32)
    state = np.empty((capacity, _NUM_STATE), dtype=np.int32)
    most_sizes = menu_kinds.shape[3]
    if not limit and np.any(menu_kinds == SIZE_EVERY):
        most_sizes = max(most_sizes, max(stacks[0], stacks[1]) + 1)
    sizes = np.empty(most_sizes, dtype=np.int64)
    big_blind = max(blinds[0], blinds[1])

    nodes[0].kind = DECISION
    nodes[0].street = 0
    nodes[0].player = first_players[0]
    parent[0] = -1
    action[0] = _NO_ACTION
    spent[0, 0] = blinds[0]
    spent[0, 1] = blinds[1]
    state[0, _MIN_RAISE_TO] = min(2 * big_blind, _LARGEST_INT32) if big_blind > 0 else 1
    state[0, _NUM_RAISES] = 0
    state[0, _NUM_ACTIONS] = 0
    state[0, _NUM_CALLED] = 0
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

        if kind == CHANCE:
            if num_nodes + 1 > capacity:
                nodes, parent, action = _grown(nodes), _grown(parent), _grown(action)
                spent, state = _grown(spent), _grown(state)
                capacity = nodes.shape[0]
            child = num_nodes
            nodes[child].kind = DECISION
            nodes[child].street = street + 1
            nodes[child].player = first_players[street + 1]
            parent[child] = at
            action[child] = _NO_ACTION
            spent[child] = spent[at]
            min_raise_to = np.int64(max(spent[at, 0], spent[at, 1])) + max(1, big_blind)
            state[child, _MIN_RAISE_TO] = min(min_raise_to, _LARGEST_INT32)
            state[child, _NUM_RAISES] = 0
            state[child, _NUM_ACTIONS] = 0
            state[child, _NUM_CALLED] = 0
            nodes[at].num_children = 1
            num_nodes += 1
            at += 1
            continue

        player = nodes[at].player
        if spent[at, player] >= stacks[player]:  # all-in by a blind: the other one acts
            player = 1 - player
            nodes[at].player = player
        opponent = 1 - player
        max_spent = max(spent[at, 0], spent[at, 1])
        num_active = int(spent[at, 0] < stacks[0]) + int(spent[at, 1] < stacks[1])

        # How many raises, and of what size.
        num_raises = 0
        if (
            state[at, _NUM_RAISES] < max_raises[street]
            and state[at, _NUM_ACTIONS] + 2 <= _MAX_ACTIONS_PER_ROUND
            and num_active == 2
        ):
            stack = stacks[player]
            menu_set = min(state[at, _NUM_RAISES], menu_kinds.shape[2] - 1)
            if limit:
                sizes[0] = min(max_spent + raise_sizes[street], stack)
                num_raises = int(np.any(menu_kinds[player, street, menu_set] >= 0))
            else:
                low = np.int64(state[at, _MIN_RAISE_TO])
                if low > stack:
                    low = stack if max_spent < stack else stack + 1
                if low <= stack:
                    num_raises = _raise_sizes(
                        menu_kinds[player, street, menu_set],
                        menu_fractions[player, street, menu_set],
                        all_in_share,
                        spent[at],
                        max_spent,
                        stack,
                        low,
                        stack,
                        sizes,
                    )

        while num_nodes + num_raises + 2 > capacity:
            nodes, parent, action = _grown(nodes), _grown(parent), _grown(action)
            spent, state = _grown(spent), _grown(state)
            capacity = nodes.shape[0]

        child = num_nodes
        if spent[at, player] < max_spent:
            nodes[child].kind = FOLDED
            nodes[child].street = street
            nodes[child].player = player
            nodes[child].value = spent[at, player]
            parent[child] = at
            action[child] = _FOLD_CODE
            spent[child] = spent[at]
            child += 1

        # Call or check: closes the street when everyone who can act has called.
        parent[child] = at
        action[child] = _CALL_CODE
        spent[child] = spent[at]
        spent[child, player] = min(max_spent, stacks[player])
        nodes[child].street = street
        called = state[at, _NUM_CALLED] + int(spent[child, player] < stacks[player])
        active = int(spent[child, 0] < stacks[0]) + int(spent[child, 1] < stacks[1])
        if called < active:
            nodes[child].kind = DECISION
            nodes[child].player = opponent
            state[child, _MIN_RAISE_TO] = state[at, _MIN_RAISE_TO]
            state[child, _NUM_RAISES] = state[at, _NUM_RAISES]
            state[child, _NUM_ACTIONS] = state[at, _NUM_ACTIONS] + 1
            state[child, _NUM_CALLED] = called
        elif active == 2 and street < num_streets - 1:
            nodes[child].kind = CHANCE
            nodes[child].player = 0
        else:
            nodes[child].kind = SHOWDOWN
            nodes[child].player = 0
            nodes[child].value = min(spent[child, 0], spent[child, 1])
        child += 1

        for i in range(num_raises):
            raise_to = sizes[i]
            nodes[child].kind = DECISION
            nodes[child].street = street
            nodes[child].player = opponent
            parent[child] = at
            action[child] = raise_to
            spent[child] = spent[at]
            spent[child, player] = raise_to
            # Above every stack one bound is as good as another, so it may as well fit its column.
            min_raise_to = max(np.int64(state[at, _MIN_RAISE_TO]), 2 * raise_to - max_spent)
            state[child, _MIN_RAISE_TO] = min(min_raise_to, _LARGEST_INT32)
            state[child, _NUM_RAISES] = state[at, _NUM_RAISES] + 1
            state[child, _NUM_ACTIONS] = state[at, _NUM_ACTIONS] + 1
            state[child, _NUM_CALLED] = int(raise_to < stacks[player])
            child += 1

        nodes[at].num_children = child - num_nodes
        num_nodes = child
        at += 1
    return nodes[:num_nodes].copy(), parent[:num_nodes].copy(), action[:num_nodes].copy(), spent[:num_nodes].copy()
