# mypy: allow-untyped-defs, allow-untyped-calls
"""Where a strategy's tracker stands in a hand that somebody else may have played."""

import numpy as np

from foldwise.agent.following.decision_kernels import follow_opponent, follow_own
from foldwise.agent.following.tracker_kernels import call_child, enter_street
from foldwise.game.betting import FOLD
from foldwise.game.betting_kernels import PLAYER, STREET, apply, start_hand
from foldwise.game.compiled import kernel


@kernel
def follow_public(seat, rules, hand, position, hand_number, actions, scratch):  # -, -, int64[fields], -, -, [a, 2], -
    """The abstract node right after the last action, before any card; `hand` is left there too.

    It depends only on public information: where several abstract sizes make the same chips, bucket 0 draws.
    """
    start_hand(rules, hand)
    node = np.int64(0)
    acted = False
    for i in range(actions.shape[0]):
        kind, raise_to = actions[i, 0], actions[i, 1]
        node = enter_street(seat.tree, node, hand[STREET])
        if kind == FOLD:
            node = call_child(seat.tree, node)  # a fold's node is never needed
        elif hand[PLAYER] == position:
            node = follow_own(seat, hand, node, kind, raise_to, np.int64(0), not acted, hand_number, scratch)
            acted = True
        else:
            node = follow_opponent(seat, hand, node, kind, raise_to, hand_number, scratch)
        apply(rules, hand, kind, raise_to)
    return node
