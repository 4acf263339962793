# mypy: allow-untyped-defs, allow-untyped-calls
"""Whole ranges on one full board: the rows all hands play, and the ends of a hand.

n: hands possible on the board, in the order of `matches.scoring.ranges.RangeEnds`; A: actions of a node. Every end is
worth what player 0 wins, weighted by both reaches and summed over all pairs of hands that share no card.
"""

from foldwise.agent.following.decision_kernels import describe_actions, play_row, read_row
from foldwise.game.betting_kernels import PLAYER, STREET
from foldwise.game.compiled import kernel
from foldwise.game.hands.showdown_kernels import settle_fold, settle_showdown


@kernel
def fill_rows(seat, view, hand, node, first, scratch, rows):  # Seat, View, -, -, bool, agent's Scratch, [n, >= A]
    """What every class of hands plays at a node, after post-processing; the number of actions."""
    street = hand[STREET]
    num_actions = describe_actions(seat.tree, node, seat.stacks[hand[PLAYER]], scratch.kinds, scratch.sizes_pot)
    for c in range(view.counts[street]):
        row, bucket = rows[c, :num_actions], view.buckets[street, c]
        read_row(seat, node, bucket, row)
        play_row(seat, node, bucket, street, first, row, scratch)
    return num_actions


@kernel
def take_action(reach, rows, classes, action, out):  # [n], [n, >= A], [n], -, [n]
    """The reach of all hands after an action; its sum."""
    mass = 0.0
    for h in range(reach.size):
        out[h] = reach[h] * rows[classes[h], action]
        mass += out[h]
    return mass


@kernel
def settle(ends, folded, reach, scale, out):  # RangeEnds, bool, [n], -, [n]
    """Value of every hand where the hand ends: at a showdown, or by a fold that wins `scale` whatever the cards."""
    if ends.dense:
        for h in range(out.size):
            total = 0.0
            for other in range(reach.size):
                total += reach[other] * (ends.meets[h, other] if folded else ends.beats[h, other])
            out[h] = scale * total
    elif folded:
        settle_fold(ends.board, reach, scale, ends.sums, out)
    else:
        settle_showdown(ends.board, reach, scale, ends.sums, out)


@kernel
def end_value(ends, folded, reach_0, reach_1, scale, out):
    """What player 0 wins at an end, summed over all pairs of hands; `scale`: for a fold, what he wins by it."""
    settle(ends, folded, reach_1, scale, out)
    total = 0.0
    for h in range(reach_0.size):
        total += reach_0[h] * out[h]
    return total
