# mypy: allow-untyped-defs, allow-untyped-calls
"""The head's walk: external sampling over the preflop part of the tree, with continuations left to the children."""

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.primitives.rng_kernels import shuffle_first
from foldwise.game.trees.tree_kernels import DECISION, FOLDED
from foldwise.solver.sampling.sampling_kernels import enter_own, follow_opponent, go_up, prunes, row_of


@kernel
def deal_hands(rng, hands):  # uint64[4], uint8[W, 4]
    """Hole cards of both players for every walk: the first two cards are player 0's."""
    deck = np.empty(52, np.int64)
    for walk in range(hands.shape[0]):
        for card in range(52):  # so that a deal depends on the generator alone
            deck[card] = card
        shuffle_first(rng, deck, 4)
        for i in range(4):
            hands[walk, i] = deck[i]


@kernel
def walk_top(
    nodes, regrets, table, deal, traverser, last_street, pruning, options, frames, rng, values, reached, num_reached
):
    """One walk: decides by `regrets`, adds to `table`; returns the number of nodes and of continuations reached.

    deal int32[2, 1]: each player's preflop bucket. Wherever the walk leaves the preflop, it writes the node to `reached`
    and takes the value at the same place of `values`. The first pass reads zeros and adds to a table nobody reads;
    the second finds the children's values there. Both decide by the same regrets and draw the same numbers, so that
    they meet the same continuations in the same order.
    """
    scratch = frames.sigma[frames.sigma.shape[0] - 1]
    depth = 0
    at = np.int64(0)
    num_visited = 0
    value = 0.0
    while True:
        node = nodes[at]
        if node.kind == DECISION:
            num_visited += 1
            row = row_of(node, deal)
            if node.player != traverser:
                at = follow_opponent(regrets, table, node, row, 1.0, options, scratch, rng)
                continue
            enter_own(nodes, regrets, frames, depth, at, row, pruning)
            depth += 1
        elif node.kind == FOLDED:
            num_visited += 1
            value = -node.value if node.player == traverser else node.value
        else:  # a street change, or all-in: the board decides
            reached[num_reached] = at
            value = values[num_reached]
            num_reached += 1
        depth, at, value = go_up(
            nodes, regrets, table, deal, value, 1.0, depth, last_street, pruning, options, frames, rng
        )
        if depth == 0:
            return num_visited, num_reached


@kernel
def run_top(nodes, regrets, table, deals, last_street, options, frames, rng, values, reached, first, pruning):
    """A pass over the walks of a batch, traversers in turn; returns the number of nodes.

    deals int32[W, 2, 1]; values float64[>= C]; reached int32[>= C] and first int32[W + 1], the continuations of walk w
    being first[w] to first[w + 1]; pruning bool[W], which walks prune. The last three are filled.
    """
    num_visited = 0
    num_reached = 0
    first[0] = 0
    for walk in range(deals.shape[0]):
        pruning[walk] = prunes(rng, options)
        visited, num_reached = walk_top(
            nodes,
            regrets,
            table,
            deals[walk],
            walk & 1,
            last_street,
            pruning[walk],
            options,
            frames,
            rng,
            values,
            reached,
            num_reached,
        )
        num_visited += visited
        first[walk + 1] = num_reached
    return num_visited
