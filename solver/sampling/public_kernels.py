# mypy: allow-untyped-defs, allow-untyped-calls
"""Public chance sampling: one walk over the public tree with a vector of hands for each player (Johanson et al. 2012).

All public chance is drawn before the walk, so a player's hands stay the same n from the first street to the last, and
only the buckets they belong to change. Buckets are numbered anew on every board and street (`local`), so that hands of
one bucket share one strategy and change it once, by their sum. A player's hands may be narrowed to a single one: both
whole is public chance sampling, the traverser's whole its `opcs`, the opponent's whole its `spcs`.

N: most hands; S: streets; A: most actions; D: depth of the tree.

Kernels marked `_nrt=False` count no references. What `draw_hand` returns is therefore borrowed from its arguments: only
kernels marked alike may call it.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.hands.showdown_kernels import BELOW, UP_TO, ShowdownBoard, ShowdownSums, settle_fold, settle_showdown
from foldwise.game.primitives.prefetch_kernels import prefetch
from foldwise.game.primitives.rng_kernels import next_uniform
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED
from foldwise.solver.regret_kernels import draw_action, match_regrets

_PREFETCH_ROWS = 12  # a row is asked for so many rows before it is read


class Hands(NamedTuple):
    """One player's hands once public chance is known."""

    num_hands: int
    place: int  # of the only hand among all; -1 where all are there
    chance: float  # probability with which the only hand was drawn; 1 where all are there
    weight: np.ndarray  # float64[N]: probability of each hand, both players' cards being unknown
    num_local: np.ndarray  # int32[S]: buckets that occur
    local: np.ndarray  # int32[S, N]: which of these a hand belongs to
    buckets: np.ndarray  # int32[S, N]: their buckets in the abstract game


class PublicEnds(NamedTuple):
    """What decides the ends of the game: a board, or for games of few deals a matrix for each way to end."""

    board: ShowdownBoard
    sums: ShowdownSums
    pair_weight: float  # probability of two hands that share no card; 1 with matrices
    fold: np.ndarray  # float64[2, N, N]: by player, probability of (opponent's hand, own hand); empty with a board
    settle: np.ndarray  # float64[2, details, N, N]: the same times the outcome to player 0


class PublicFrames(NamedTuple):
    """The stack: a node's vectors at its depth."""

    node: np.ndarray  # int32[D]
    action: np.ndarray  # int32[D]: the one under way; -1 before the first
    alive: np.ndarray  # bool[D, 2]: whether any hand of a player reaches the node
    reach_at: np.ndarray  # int32[D, 2]: depth at which the player's reach here was stored, as his last action left it
    reach: np.ndarray  # float64[D, 2, N]
    value: np.ndarray  # float64[D, 2, N]
    sigma: np.ndarray  # float64[D, N * A], by local bucket
    action_value: np.ndarray  # float64[D, N * A], by local bucket: sum over its hands
    bucket_reach: np.ndarray  # float64[N]


@kernel(_nrt=False)
def _settle_by_matrix(matrix, hands, others, scale, reach, out):
    """out[i] = scale * sum_j reach[j] matrix[j, i], over the hands that are there."""
    for i in range(hands.num_hands):
        out[i] = 0.0
    for j in range(others.num_hands):
        weight = scale * reach[j]
        if weight == 0.0:
            continue
        row = matrix[j if others.place < 0 else others.place]
        if hands.place < 0:
            for i in range(hands.num_hands):
                out[i] += weight * row[i]
        else:
            out[0] += weight * row[hands.place]


@kernel(_nrt=False)
def _settle_one_hand(board, folded, place, one, many, scale, reach, out):
    """One hand against all others: what it is worth to each of them, or (`many`) all of them to it."""
    first, last = np.int64(board.places[place, BELOW]), np.int64(board.places[place, UP_TO])
    high, low = board.cards[place, 0], board.cards[place, 1]
    total = 0.0
    for i in range(board.pairs.size):
        a, b = board.cards[i, 0], board.cards[i, 1]
        sign = 0.0
        if a != high and a != low and b != high and b != low:
            if folded or i >= last:
                sign = 1.0
            elif i < first:
                sign = -1.0
        if many:
            total += (sign if folded else -sign) * reach[i]
        else:
            out[i] = scale * one * sign
    if many:
        out[0] = scale * total


@kernel(_nrt=False)
def _settle_pair(board, folded, place, other_place, scale, reach):
    """One hand against one: what it is worth to the first."""
    if are_apart(board, place, other_place):
        if folded or other_place < board.places[place, BELOW]:
            return scale * reach[0]
        if other_place >= board.places[place, UP_TO]:
            return -scale * reach[0]
    return 0.0


@kernel(_nrt=False)
def are_apart(board, place, other_place):
    """Whether two hands share no card."""
    one, other = board.cards[place], board.cards[other_place]
    return one[0] != other[0] and one[0] != other[1] and one[1] != other[0] and one[1] != other[1]


@kernel(_nrt=False)
def _settle_on_board(ends, folded, hands, others, scale, reach, out):
    """Values of the hands that are there against those of the opponent, after a fold or at a showdown."""
    if hands.place >= 0 and others.place >= 0:
        out[0] = _settle_pair(ends.board, folded, hands.place, others.place, scale, reach)
    elif others.place >= 0:
        _settle_one_hand(ends.board, folded, others.place, reach[0], False, scale, reach, out)
    elif hands.place >= 0:
        _settle_one_hand(ends.board, folded, hands.place, 0.0, True, scale, reach, out)
    elif folded:
        settle_fold(ends.board, reach, scale, ends.sums, out)
    else:
        settle_showdown(ends.board, reach, scale, ends.sums, out)


@kernel(_nrt=False)
def meet_hands(ends, player, hands, others, scale, reach, out):
    """scale * the probability of each hand together with the opponent's, by their reach: what a fold is worth."""
    if ends.fold.size > 0:
        _settle_by_matrix(ends.fold[player], hands, others, scale, reach, out)
    else:
        _settle_on_board(ends, True, hands, others, scale, reach, out)


@kernel(_nrt=False)
def settle_end(ends, node, player, hands, others, reach, out):
    """Values of the player's hands at an end of the game, given the opponent's reach: counterfactual, by chance too."""
    scale = np.float64(node.value) * ends.pair_weight / (hands.chance * others.chance)
    if node.kind == FOLDED:
        meet_hands(ends, player, hands, others, -scale if node.player == player else scale, reach, out)
    elif ends.fold.size > 0:
        scale = scale if player == 0 else -scale
        _settle_by_matrix(ends.settle[player, node.detail], hands, others, scale, reach, out)
    else:
        _settle_on_board(ends, False, hands, others, scale, reach, out)


@kernel(_nrt=False)
def walk_public(nodes, table, hands, ends, first_updated, last_updated, sum_weight, floor, frames):
    """One walk for the hands of both players, `(Hands, Hands)`; players `first_updated` to `last_updated` learn.

    As in chance sampling, regret(a) += p_opponent (u(a) - u) and sum(a) += p_own sigma(a), now summed over hands, and
    weighted by their probabilities, so that the expected update is that of full-width CFR (Johanson et al. 2012,
    algorithm 1, which updates one player in each walk; here one walk serves both). A part of the tree that neither
    player reaches is left out. Returns public nodes visited.
    """
    for player in range(2):
        frames.alive[0, player] = True
        frames.reach_at[0, player] = 0
        for i in range(hands[player].num_hands):
            frames.reach[0, player, i] = 1.0
    frames.node[0] = 0
    frames.action[0] = -1
    depth = 0
    num_visited = 0
    while depth >= 0:
        at = frames.node[depth]
        node = nodes[at]
        value = frames.value[depth]
        if node.kind == CHANCE:  # its cards are known
            frames.node[depth] = node.first_child
            continue
        if node.kind != DECISION:
            num_visited += 1
            for player in range(first_updated, last_updated):
                other = 1 - player
                reach = frames.reach[frames.reach_at[depth, other], other]
                settle_end(ends, node, player, hands[player], hands[other], reach, value[player])
            depth -= 1
            continue

        player = int(node.player)
        other = 1 - player
        street = node.street
        num_actions = np.int64(node.num_children)
        own = hands[player]
        local = own.local[street]
        num_local = own.num_local[street]
        own_updated = first_updated <= player < last_updated
        other_updated = first_updated <= other < last_updated
        sigma, action_value = frames.sigma[depth], frames.action_value[depth]
        action = frames.action[depth]
        if action < 0:
            num_visited += 1
            _match_local(table, node.base, num_actions, own.buckets[street], num_local, sigma)
            action_value[: num_local * num_actions] = 0.0
            for updated in range(first_updated, last_updated):
                value[updated, : hands[updated].num_hands] = 0.0
        elif frames.alive[depth + 1, player] or frames.alive[depth + 1, other]:
            child_value = frames.value[depth + 1]
            if own_updated:
                for i in range(own.num_hands):
                    entry = local[i] * num_actions + action
                    value[player, i] += sigma[entry] * child_value[player, i]
                    action_value[entry] += child_value[player, i]
            if other_updated:
                for j in range(hands[other].num_hands):
                    value[other, j] += child_value[other, j]

        action += 1
        if action < num_actions:
            frames.action[depth] = action
            reach = frames.reach[frames.reach_at[depth, player], player]
            child_reach = frames.reach[depth + 1, player]
            total = 0.0
            for i in range(own.num_hands):
                child_reach[i] = reach[i] * sigma[local[i] * num_actions + action]
                total += child_reach[i]
            frames.alive[depth + 1, player] = total > 0.0
            frames.alive[depth + 1, other] = frames.alive[depth, other]
            if total > 0.0 or frames.alive[depth, other]:
                frames.reach_at[depth + 1, player] = depth + 1
                frames.reach_at[depth + 1, other] = frames.reach_at[depth, other]
                frames.node[depth + 1] = node.first_child + action
                frames.action[depth + 1] = -1
                depth += 1
            continue
        if own_updated:
            bucket_reach = frames.bucket_reach
            bucket_reach[:num_local] = 0.0
            reach = frames.reach[frames.reach_at[depth, player], player]
            for i in range(own.num_hands):
                bucket_reach[local[i]] += own.weight[i] * reach[i]
            for b in range(num_local):
                row = 2 * (node.base + np.int64(own.buckets[street, b]) * num_actions)
                start = b * num_actions
                bucket_value = 0.0
                for a in range(num_actions):
                    bucket_value += sigma[start + a] * action_value[start + a]
                weight = sum_weight * bucket_reach[b]
                for a in range(num_actions):
                    table[row + a] = max(table[row + a] + (action_value[start + a] - bucket_value), floor)
                    table[row + num_actions + a] += weight * sigma[start + a]
        depth -= 1
    return num_visited


@kernel(_nrt=False)
def _match_local(table, base, num_actions, buckets, num_local, sigma):
    """Current strategies of the buckets that occur; rows lie apart, so each is asked for ahead of its turn."""
    for b in range(num_local):
        if b + _PREFETCH_ROWS < num_local:
            prefetch(table, 2 * (base + np.int64(buckets[b + _PREFETCH_ROWS]) * num_actions))
        row = 2 * (base + np.int64(buckets[b]) * num_actions)
        match_regrets(table, row, num_actions, sigma[b * num_actions : (b + 1) * num_actions])


@kernel(_nrt=False)
def narrow(hands, place, chance, single):
    """One hand of all, drawn with the probability `chance`, as `Hands` of its own in the arrays of `single`."""
    single.weight[0] = 1.0
    for street in range(hands.num_local.size):
        single.num_local[street] = 1
        single.local[street, 0] = 0
        single.buckets[street, 0] = hands.buckets[street, hands.local[street, place]]
    return Hands(1, place, chance, single.weight, single.num_local, single.local, single.buckets)


@kernel(_nrt=False)
def draw_hand(hands, rng, single):  # Hands of all hands, -, Hands whose arrays are to hold one hand
    """One hand by its probability, as `Hands` of its own."""
    place = draw_action(hands.weight, hands.num_hands, next_uniform(rng))
    return narrow(hands, place, hands.weight[place], single)


@kernel(_nrt=False)
def draw_met_hand(ends, player, hands, other, rng, single):
    """One hand of the player by its probability beside the one hand `other` of the opponent."""
    if ends.fold.size > 0:
        met = ends.fold[player, other.place]
        place = draw_action(met, hands.num_hands, next_uniform(rng) * other.chance)
        return narrow(hands, place, met[place] / other.chance, single)
    place = draw_action(hands.weight, hands.num_hands, next_uniform(rng))
    while not are_apart(ends.board, place, other.place):
        place = draw_action(hands.weight, hands.num_hands, next_uniform(rng))
    return narrow(hands, place, ends.pair_weight / other.chance, single)


@kernel(_nrt=False)
def walk_iteration(nodes, table, hands, ends, single, form, sum_weight, floor, frames, rng):
    """One iteration on known public chance: a walk for both players, or one for each with one player's hand drawn.

    form 0: all hands of both; 1: the opponent's hand is drawn; 2: the traverser's.
    """
    num_visited = 0
    for traverser in range(1 if form == 0 else 2):
        both, first, last = hands, 0, 2
        if form != 0:
            narrowed = 1 - traverser if form == 1 else traverser
            one = draw_hand(hands[narrowed], rng, single)
            both = (hands[0], one) if narrowed == 1 else (one, hands[1])
            first, last = traverser, traverser + 1
        num_visited += walk_public(nodes, table, both, ends, first, last, sum_weight, floor, frames)
    return num_visited
