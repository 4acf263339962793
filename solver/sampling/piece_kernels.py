# mypy: allow-untyped-defs, allow-untyped-calls
"""Chance sampling in pieces: the betting of the first street is the trunk, what follows each way through it a piece.

K deals of a block; T trunk nodes, parents first; P pieces. `trunk` int32[T] are nodes; `piece_of` int32[T] is the piece
behind a trunk node, -1 where there is none. Scratch by place in the trunk: `reach` float64[T, 2], `value` float64[T];
`place` int32[N] is a node's place in the trunk.
"""

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.trees.tree_kernels import DECISION, FOLDED
from foldwise.solver.regret_kernels import match_regrets
from foldwise.solver.sampling.chance_kernels import walk_chance_from


@kernel
def _reach_trunk(nodes, trunk, place, table, deal, sigma, reach):
    """Both players' reach of every node of the trunk."""
    reach[0, 0] = 1.0
    reach[0, 1] = 1.0
    for k in range(trunk.size):
        node = nodes[trunk[k]]
        if node.kind != DECISION:
            continue
        num_actions = np.int64(node.num_children)
        match_regrets(table, 2 * (node.base + np.int64(deal[node.player, 0]) * num_actions), num_actions, sigma)
        for a in range(num_actions):
            child = place[node.first_child + a]
            reach[child, node.player] = reach[k, node.player] * sigma[a]
            reach[child, 1 - node.player] = reach[k, 1 - node.player]


@kernel
def reach_pieces(nodes, trunk, place, piece_of, table, deals, sigma, reach, piece_reach):  # piece_reach [K, P, 2]
    """Both players' reach of every piece, for all deals of a block."""
    for d in range(deals.shape[0]):
        _reach_trunk(nodes, trunk, place, table, deals[d], sigma, reach)
        for k in range(trunk.size):
            if piece_of[k] >= 0:
                piece_reach[d, piece_of[k], 0] = reach[k, 0]
                piece_reach[d, piece_of[k], 1] = reach[k, 1]


@kernel
def walk_pieces(
    nodes,
    table,
    deals,
    outcome_rows,
    outcomes,
    last_street,
    options,
    reached,
    rng,
    roots,
    own,
    piece_reach,
    piece_value,
):  # roots int32[P]; own int32[<= P]: the pieces of one thread; piece_value float64[K, P]
    """Walk one thread's pieces of every deal; nobody else touches their rows. Returns nodes visited."""
    num_visited = 0
    for d in range(deals.shape[0]):
        for i in range(own.size):
            piece = own[i]
            reach = (piece_reach[d, piece, 0], piece_reach[d, piece, 1])
            visited, value = walk_chance_from(
                nodes,
                table,
                deals[d],
                outcomes[outcome_rows[d]],
                last_street,
                options,
                reached,
                rng,
                roots[piece],
                reach,
            )
            num_visited += visited
            piece_value[d, piece] = value
    return num_visited


@kernel
def update_trunk(
    nodes, trunk, place, piece_of, table, deals, outcome_rows, outcomes, options, sigma, reach, value, piece_value
):
    """Regrets and strategy sums of the trunk, deal after deal, with what its pieces were worth. Returns its nodes."""
    num_visited = 0
    for d in range(deals.shape[0]):
        deal = deals[d]
        _reach_trunk(nodes, trunk, place, table, deal, sigma, reach)
        for k in range(trunk.size - 1, -1, -1):
            node = nodes[trunk[k]]
            if piece_of[k] >= 0:
                value[k] = piece_value[d, piece_of[k]]
                continue
            num_visited += 1
            if node.kind == FOLDED:
                value[k] = -node.value if node.player == 0 else node.value
            elif node.kind != DECISION:
                value[k] = node.value * outcomes[outcome_rows[d], node.detail]
            else:
                player = node.player
                num_actions = np.int64(node.num_children)
                row = 2 * (node.base + np.int64(deal[player, 0]) * num_actions)
                match_regrets(table, row, num_actions, sigma)
                mean = 0.0
                for a in range(num_actions):
                    mean += sigma[a] * value[place[node.first_child + a]]
                value[k] = mean
                scale = reach[k, 1] if player == 0 else -reach[k, 0]
                own = reach[k, player] * options.sum_weight
                for a in range(num_actions):
                    gain = scale * (value[place[node.first_child + a]] - mean)
                    table[row + a] = max(table[row + a] + gain, options.regret_floor)
                    table[row + num_actions + a] += own * sigma[a]
    return num_visited
