# mypy: allow-untyped-defs, allow-untyped-calls
"""Bluff's public tree, stored like every other.

A public state of one round is the set of bids made, a bit mask over the ordered bids: bids only go up, so the set is
the sequence. The players alternate, so the parity of the mask says who acts; the highest bit is the standing bid.
"""

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.trees.tree_kernels import CHALLENGE, DECISION

_NO_ACTION, _CHALLENGE_CODE = -2, -3


@kernel
def standing_bid(mask):
    """Index of the highest bid made, -1 before the first."""
    bid = -1
    while mask > 0:
        mask >>= 1
        bid += 1
    return bid


@kernel
def player_to_act(mask):
    """Player 0 opens; the parity of the number of bids says whose turn it is."""
    parity = 0
    while mask > 0:
        mask &= mask - 1
        parity ^= 1
    return parity


@kernel
def build_round(num_bids, nodes, parent, action):  # NODE_DTYPE[2^(B+1) - 1], int32[same], int32[same]
    """Breadth-first tree of one round: decisions, and challenges settled by outcome 2 * bid + challenger."""
    masks = np.empty(nodes.shape[0], dtype=np.int32)
    masks[0] = 0
    nodes[0].kind = DECISION
    parent[0] = -1
    action[0] = _NO_ACTION
    num_nodes = 1
    for at in range(nodes.shape[0]):
        mask = masks[at]
        nodes[at].base = 0
        nodes[at].padding = 0
        nodes[at].street = 0
        nodes[at].first_child = num_nodes
        if nodes[at].kind == CHALLENGE:
            nodes[at].num_children = 0
            continue
        player = player_to_act(mask)
        bid = standing_bid(mask)
        nodes[at].player = player
        nodes[at].value = 0.0
        nodes[at].detail = 0
        child = num_nodes
        if bid >= 0:
            nodes[child].kind = CHALLENGE
            nodes[child].player = player
            nodes[child].value = 1.0
            nodes[child].detail = 2 * bid + player
            masks[child] = mask
            parent[child] = at
            action[child] = _CHALLENGE_CODE
            child += 1
        for higher in range(bid + 1, num_bids):
            nodes[child].kind = DECISION
            masks[child] = mask | (1 << higher)
            parent[child] = at
            action[child] = higher
            child += 1
        nodes[at].num_children = child - num_nodes
        num_nodes = child
    return num_nodes
