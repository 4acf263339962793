# mypy: allow-untyped-defs, allow-untyped-calls
"""Best responses through the rest of a blueprint's tree on real boards: vectors over all hands, buckets spread over them.

The nodes below a root are cut into the trunk, which is the root's street, and one part for each of its leaves: the
river behind a chance node, or a showdown of players who are all in. Nodes of a part stand side by side, parents first.
`reach` is that of the player who does not respond; `value` is what the responder's hands win, times that reach. Vectors
are in the order of the board they are on. n: hands on a full board; m: on the trunk's; K: leaves; B: full boards.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.hands.showdown_kernels import ShowdownBoard, settle_fold, settle_showdown
from foldwise.game.trees.tree_kernels import DECISION, FOLDED, SHOWDOWN

LEAF = 255  # a node of the trunk whose value comes from the parts


class Rest(NamedTuple):
    """What is left of a blueprint's tree below a node, L nodes."""

    kind: np.ndarray  # uint8[L]
    player: np.ndarray  # uint8[L]: who acts, or who folded
    value: np.ndarray  # float32[L]: chips at stake in an end
    first: np.ndarray  # int32[L]: the first child; of a leaf, its number
    size: np.ndarray  # int32[L]: children
    base: np.ndarray  # int64[L]: of a decision's rows in the policy made ready for this rest
    starts: np.ndarray  # int32[1 + K + 1]: the trunk, then each leaf's part, and the end


@kernel
def normalise_rows(stored, bases, counts, num_buckets, out_bases, out):  # any[E], [D], [D], [D], [D], float32[P]
    """Normalise rows of some decisions; a row never reached becomes uniform. Returns how many those were."""
    num_unknown = 0
    for d in range(bases.size):
        count = counts[d]
        for bucket in range(num_buckets[d]):
            source, target = bases[d] + bucket * count, out_bases[d] + bucket * count
            total = 0.0
            for a in range(count):
                total += stored[source + a]
            for a in range(count):
                out[target + a] = stored[source + a] / total if total > 0.0 else 1.0 / count
            num_unknown += total <= 0.0
    return num_unknown


@kernel(_nrt=False)
def go_forward(
    rest, start, end, responder, policy, buckets, reach
):  # buckets: int64[n]; reach: float32[>= end - start, n]
    """Reach of every node of a part from that of its first."""
    num_hands = buckets.size
    for node in range(start, end):
        if rest.kind[node] != DECISION:
            continue
        here = reach[node - start]
        count = rest.size[node]
        for a in range(count):
            out = reach[rest.first[node] + a - start]
            if rest.player[node] == responder:
                for h in range(num_hands):
                    out[h] = here[h]
            else:
                base = rest.base[node] + a
                for h in range(num_hands):
                    out[h] = here[h] * policy[base + buckets[h] * count]


@kernel(_nrt=False)
def go_back(rest, start, end, responder, responds, policy, buckets, board, sums, reach, value):
    """Value of every node of a part; those of leaves are there already. Without `responds` the player plays his rows."""
    num_hands = buckets.size
    for node in range(end - 1, start - 1, -1):
        out = value[node - start]
        kind = rest.kind[node]
        if kind == FOLDED:
            scale = np.float32(-rest.value[node] if rest.player[node] == responder else rest.value[node])
            settle_fold(board, reach[node - start], scale, sums, out)
        elif kind == SHOWDOWN:
            settle_showdown(board, reach[node - start], np.float32(rest.value[node]), sums, out)
        elif kind == DECISION:
            count = rest.size[node]
            first = value[rest.first[node] - start]
            if rest.player[node] != responder:
                for h in range(num_hands):
                    out[h] = first[h]
                for a in range(1, count):
                    child = value[rest.first[node] + a - start]
                    for h in range(num_hands):
                        out[h] += child[h]
            elif responds:
                for h in range(num_hands):
                    out[h] = first[h]
                for a in range(1, count):
                    child = value[rest.first[node] + a - start]
                    for h in range(num_hands):
                        out[h] = child[h] if child[h] > out[h] else out[h]
            else:
                for h in range(num_hands):
                    out[h] = np.float32(0.0)
                for a in range(count):
                    child = value[rest.first[node] + a - start]
                    base = rest.base[node] + a
                    for h in range(num_hands):
                        out[h] += child[h] * policy[base + buckets[h] * count]


@kernel(_nrt=False)
def respond_on_boards(
    rest,
    low,
    high,  # boards low..high - 1
    responder,
    responds,
    policy,
    boards,  # ShowdownBoard of arrays [B, ...]
    to_trunk,  # uint16[B, n]: the place in the trunk's order of each hand of a board
    buckets,  # int64[B, n]
    leaf_reach,  # float32[K, m]
    sums,
    reach,
    value,
    out,  # float32[B, K, m]; zero where a hand clashes with the board
):
    """Values of every leaf on some of the full boards."""
    for b in range(low, high):
        board = ShowdownBoard(boards.pairs[b], boards.ranks[b], boards.cards[b], boards.places[b], boards.members[b])
        places = to_trunk[b]
        for leaf in range(leaf_reach.shape[0]):
            start, end = rest.starts[1 + leaf], rest.starts[2 + leaf]
            for i in range(places.size):
                reach[0, i] = leaf_reach[leaf, places[i]]
            go_forward(rest, start, end, responder, policy, buckets[b], reach)
            go_back(rest, start, end, responder, responds, policy, buckets[b], board, sums, reach, value)
            for i in range(places.size):
                out[b, leaf, places[i]] = value[0, i]
