# mypy: allow-untyped-defs, allow-untyped-calls
"""Best responses on the flops of a two-round game: vectors over the 1,176 hands of a flop, ends in O(n)."""

from typing import NamedTuple

import numpy as np

from foldwise.abstraction.cards.card_abstraction_kernels import bucket_of
from foldwise.game.compiled import kernel
from foldwise.game.hands.evaluator_kernels import rank_pairs_into
from foldwise.game.hands.showdown_kernels import prepare_board, settle_fold, settle_showdown
from foldwise.game.trees.tree_kernels import DECISION, FOLDED
from foldwise.solver.full_width.vector_kernels import take_best


class ResponseFrames(NamedTuple):
    """The stack and scratch of one thread; n = 1,176."""

    node: np.ndarray  # int32[D]
    action: np.ndarray  # int32[D]: the one under way; -1 before the first
    own_reach: np.ndarray  # float64[D, n]
    opponent_reach: np.ndarray  # float64[D, n]
    value: np.ndarray  # float64[D, n]
    buckets: np.ndarray  # int64[n]
    cards: np.ndarray  # int64[5]
    ranks: np.ndarray  # uint16[1326]
    counts: np.ndarray  # int64[NUM_RANKS]: zero


@kernel(_nrt=False)
def _walk_response(nodes, policy, root, traverser, board, sums, frames):
    """Best values of every hand of the traverser below `root`, in `frames.value[0]`; returns what his policy wins.

    Reach vectors of the root are the caller's, in frame 0. Each hand picks its own best action, so this is a response
    in the real game, whatever buckets the policy has.
    """
    num_hands = board.pairs.size
    frames.node[0] = root
    frames.action[0] = -1
    depth = 0
    policy_value = 0.0
    while depth >= 0:
        node = nodes[frames.node[depth]]
        value = frames.value[depth]
        own_reach, opponent_reach = frames.own_reach[depth], frames.opponent_reach[depth]
        if node.kind != DECISION:
            scale = np.float64(node.value)
            if node.kind == FOLDED:
                settle_fold(board, opponent_reach, -scale if node.player == traverser else scale, sums, value)
            else:
                settle_showdown(board, opponent_reach, scale, sums, value)
            for i in range(num_hands):
                policy_value += own_reach[i] * value[i]
            depth -= 1
            continue
        num_actions = np.int64(node.num_children)
        action = frames.action[depth]
        if action < 0:
            value[:] = -np.inf if node.player == traverser else 0.0
        else:
            take_best(node.player == traverser, frames.value[depth + 1], num_hands, value)
        action += 1
        if action == num_actions:
            depth -= 1
            continue
        frames.action[depth] = action
        acting = own_reach if node.player == traverser else opponent_reach
        child_own, child_opponent = frames.own_reach[depth + 1], frames.opponent_reach[depth + 1]
        child_acting = child_own if node.player == traverser else child_opponent
        entry = node.base + action
        for i in range(num_hands):
            child_own[i] = own_reach[i]
            child_opponent[i] = opponent_reach[i]
            child_acting[i] = acting[i] * policy[entry + frames.buckets[i] * num_actions]
        frames.node[depth + 1] = node.first_child + action
        frames.action[depth + 1] = -1
        depth += 1
    return policy_value


@kernel
def respond_on_flops(
    nodes,
    policy,  # float[E]
    cards,  # CardAbstractionTables
    evaluator,
    pair_cards,
    flops,  # Boards
    first,
    last,
    roots,  # int32[K]: first node of the second street after each way to reach it
    own_reach,  # float64[K, 1326]
    opponent_reach,  # float64[K, 1326]
    traverser,
    board,
    sums,
    frames,
    best,  # float64[K, 1326]: sum over the flops of best values, each flop as often as it stands for others
):
    """Add the flops `first` to `last` to `best`; returns what the traverser's own policy wins on them."""
    policy_value = 0.0
    for flop in range(first, last):
        for i in range(3):
            frames.cards[2 + i] = flops.cards[flop, i]
        rank_pairs_into(evaluator, frames.cards[2:], 3, frames.ranks)
        prepare_board(frames.ranks, pair_cards, frames.counts, board)
        for i in range(board.pairs.size):
            frames.cards[0] = board.cards[i, 0]
            frames.cards[1] = board.cards[i, 1]
            frames.buckets[i] = bucket_of(cards, 1, frames.cards)
        weight = np.float64(flops.orbits[flop])
        for k in range(roots.size):
            for i in range(board.pairs.size):
                frames.own_reach[0, i] = own_reach[k, board.pairs[i]]
                frames.opponent_reach[0, i] = opponent_reach[k, board.pairs[i]]
            policy_value += weight * _walk_response(nodes, policy, roots[k], traverser, board, sums, frames)
            for i in range(board.pairs.size):
                best[k, board.pairs[i]] += weight * frames.value[0, i]
    return policy_value
