# mypy: allow-untyped-defs, allow-untyped-calls
"""Post-processing of a whole policy, for best responses against what is really played."""

import numpy as np

from foldwise.agent.following.decision_kernels import describe_actions
from foldwise.agent.postprocessing.postprocess_kernels import postprocess_row
from foldwise.game.compiled import kernel
from foldwise.game.trees.tree_kernels import DECISION


@kernel
def postprocess_policy(tree, num_buckets, stacks, program, policy):
    """Run a `Program` on every row of `policy` [E], in place.

    num_buckets: int32[S, 2]; stacks: int64[2]. Whether a decision is its player's first of the hand is passed down the
    tree: a parent stands before its children.
    """
    nodes = tree.nodes
    most = 0
    for at in range(nodes.shape[0]):
        most = max(most, nodes[at].num_children)
    row, inside, sizes_pot = np.empty(most), np.empty(most), np.empty(most)
    kinds = np.empty(most, np.int8)
    masses = np.empty((2, 4))
    acted = np.zeros(nodes.shape[0], np.uint8)  # a bit for each player
    for at in range(nodes.shape[0]):
        if at > 0:
            above = tree.parent[at]
            acted[at] = acted[above]
            if nodes[above].kind == DECISION:
                acted[at] |= 1 << nodes[above].player
        if nodes[at].kind != DECISION:
            continue
        player = nodes[at].player
        street = np.int64(nodes[at].street)
        first = (acted[at] >> player) & 1 == 0
        num_actions = describe_actions(tree, at, stacks[player], kinds, sizes_pot)
        entry = nodes[at].base
        for _ in range(num_buckets[street, player]):
            for a in range(num_actions):
                row[a] = policy[entry + a]
            postprocess_row(
                row[:num_actions],
                kinds[:num_actions],
                sizes_pot[:num_actions],
                program,
                street,
                first,
                inside[:num_actions],
                masses,
            )
            for a in range(num_actions):
                policy[entry + a] = row[a]
            entry += num_actions
