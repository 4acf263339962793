# mypy: allow-untyped-defs, allow-untyped-calls
"""The head's walk: external sampling over the preflop part of the tree, with continuations left to the children."""

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.primitives.rng_kernels import next_uniform, shuffle_first
from foldwise.game.trees.tree_kernels import DECISION, FOLDED
from foldwise.solver.regret_kernels import draw_action, match_regrets
from foldwise.solver.sampling.sampling_kernels import go_down, hand_up, leave, pass_over_hopeless, prunes


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

    deal int32[2]: each player's preflop bucket. Wherever the walk leaves the preflop, it writes the node to `reached`
    and takes the value at the same place of `values`. The first pass reads zeros and adds to a table nobody reads;
    the second finds the children's values there. Both decide by the same regrets and draw the same numbers, so that
    they meet the same continuations in the same order.
    """
    scratch = frames.sigma[frames.sigma.shape[0] - 1]
    depth = 0
    at = 0
    num_visited = 0
    value = 0.0
    while True:
        node = nodes[at]
        if node.kind == DECISION:
            num_visited += 1
            num_actions = np.int64(node.num_children)
            row = 2 * (node.base + np.int64(deal[node.player]) * num_actions)
            if node.player == traverser:
                match_regrets(regrets, row, num_actions, frames.sigma[depth])
                frames.node[depth] = at
                frames.action[depth] = -1
                frames.row[depth] = row
                depth += 1
                value = 0.0
            else:
                match_regrets(regrets, row, num_actions, scratch)
                for a in range(num_actions):
                    table[row + num_actions + a] += options.sum_weight * scratch[a]
                at = node.first_child + draw_action(scratch, num_actions, next_uniform(rng))
                continue
        elif node.kind == FOLDED:
            num_visited += 1
            value = -node.value if node.player == traverser else node.value
        else:  # a street change, or all-in: the board decides
            reached[num_reached] = at
            value = values[num_reached]
            num_reached += 1

        while depth > 0:
            top = depth - 1
            at = frames.node[top]
            num_actions = np.int64(nodes[at].num_children)
            action = hand_up(frames, top, value)
            if pruning:
                action = pass_over_hopeless(nodes, regrets, frames, top, action, last_street, options)
            if action < num_actions:
                at = go_down(nodes, frames, top, action)
                break
            value = leave(nodes, table, frames, top, 1.0, options, rng)
            depth = top
        if depth == 0:
            return num_visited, num_reached


@kernel
def run_top(nodes, regrets, table, deals, last_street, options, frames, rng, values, reached, first, pruning):
    """A pass over the walks of a batch, traversers in turn; returns the number of nodes.

    deals int32[W, 2]; values float64[>= C]; reached int32[>= C] and first int32[W + 1], the continuations of walk w
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
