# mypy: allow-untyped-defs, allow-untyped-calls
"""Monte Carlo CFR: one walk per paper over the public tree of one sampled deal, with an explicit stack.

Shared by all walks: `nodes` NODE_DTYPE[N]; `table` float64[2E], in external sampling also float32[2E], see `regret_kernels`;
`deal` int32[2, S], each player's bucket on each street; `outcomes` float64[details], what cards decide, to player 0;
`frames`, the stack; `rng` uint64[4]. A walk goes down to a terminal, then up through the frames whose actions are all done.
It returns the number of nodes visited: decisions and ends, as the papers count; a street change is not a node.
"""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.primitives.prefetch_kernels import prefetch
from foldwise.game.primitives.rng_kernels import next_uniform
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED
from foldwise.solver.regret_kernels import draw_action, match_regrets
from foldwise.solver.sampling.rounding_kernels import more_bits, rounding_bits, store

PASSED_OVER = -1.0  # in place of a probability: the action was not walked, and its regret stays as it is


class Frames(NamedTuple):
    """The stack of a walk: a frame for each node on the path whose actions are being walked."""

    node: np.ndarray  # int32[D]
    action: np.ndarray  # int32[D]: the one under way
    row: np.ndarray  # int64[D]
    sigma: np.ndarray  # float64[D, A]
    value: np.ndarray  # float64[D, A]: of the actions walked
    weight: np.ndarray  # float64[D, 2]: sampling or reach probabilities at the node


class WalkOptions(NamedTuple):
    """Numbers that steer a walk; all floats. The default prunes and floors nothing."""

    sum_weight: float = 1.0  # 0 while the average strategy skips its first iterations, else 1
    regret_floor: float = -np.inf  # stored regrets never fall below
    prune_below: float = -np.inf  # actions with less regret are passed over in a pruning walk
    prune_share: float = 0.0  # share of walks that prune
    epsilon: float = 0.0  # outcome: probability of a uniform draw; average: least probability of an action
    tau: float = 0.0  # average: threshold
    beta: float = 0.0  # average: bonus
    sum_scale: float = 1.0  # average: what one unit of strategy sum is in undiscounted visits


@kernel
def terminal_value(node, outcomes, player):
    """What an end of the game is worth to `player`."""
    if node.kind == FOLDED:
        return -node.value if node.player == player else node.value
    worth = node.value * outcomes[node.detail]
    return worth if player == 0 else -worth


@kernel
def prunes(rng, options):
    """Whether this walk passes over hopeless actions: decided once, so that all of its parts agree."""
    return options.prune_share > 0.0 and next_uniform(rng) < options.prune_share


@kernel
def is_hopeless(nodes, regrets, at, row, sigma, action, last_street, options):
    """Whether a pruning walk passes over an action of node `at`: it is not played, and far from it.

    Never on the last street, never into the end of the game: what is cheap to walk is always walked.
    """
    if sigma != 0.0 or regrets[row + action] >= options.prune_below or nodes[at].street >= last_street:
        return False
    kind = nodes[nodes[at].first_child + action].kind
    return kind == DECISION or kind == CHANCE


@kernel(_nrt=False)
def row_of(node, deal):  # NODE_DTYPE, int32[2, S]
    """Where the row of a decision begins in a table, for the bucket of the player to act."""
    return 2 * (node.base + np.int64(deal[node.player, node.street]) * np.int64(node.num_children))


@kernel
def _prefetch_child(nodes, table, deal, child):
    """Ask for what a walk reads first at a node it will come to soon: the node's row and its first child."""
    node = nodes[child]
    prefetch(nodes, np.int64(node.first_child))
    if node.kind == DECISION:
        prefetch(table, row_of(node, deal))


@kernel
def update_regrets(table, row, num_actions, sigma, values, scale, floor, bits):
    """Add scale * (value of an action - value of sigma) to the regrets of the actions walked; returns sigma's value.

    `values` is 0 for an action passed over; `bits` round what is stored, see `rounding_kernels`.
    """
    value = 0.0
    for a in range(num_actions):
        value += sigma[a] * values[a]
    for a in range(num_actions):
        if sigma[a] != PASSED_OVER:
            bits = more_bits(bits)
            store(table, row + a, max(table[row + a] + scale * (values[a] - value), floor), bits)
    return value


# Steps of all walks: `top` is the uppermost frame, with the node `nodes[frames.node[top]]`.


@kernel(_nrt=False)
def push(frames, depth, at, row):
    """A frame for node `at`, none of whose actions is walked yet."""
    frames.node[depth] = at
    frames.action[depth] = -1
    frames.row[depth] = row


@kernel(_nrt=False)
def hand_up(frames, top, value):
    """Give the frame the value of its action under way; returns the action that is next."""
    action = frames.action[top]
    if action >= 0:
        frames.value[top, action] = value
    return action + 1


@kernel(_nrt=False)
def pass_over(frames, top, action):
    """Leave an action out: its regret stays as it is."""
    frames.sigma[top, action] = PASSED_OVER
    frames.value[top, action] = 0.0
    return action + 1


@kernel(_nrt=False)
def pass_over_hopeless(nodes, regrets, frames, top, action, last_street, options):
    """The first action from `action` on that a pruning walk does not pass over."""
    at, row = frames.node[top], frames.row[top]
    while action < np.int64(nodes[at].num_children) and is_hopeless(
        nodes, regrets, at, row, frames.sigma[top, action], action, last_street, options
    ):
        action = pass_over(frames, top, action)
    return action


@kernel(_nrt=False)
def go_down(nodes, table, deal, frames, top, action):
    """Begin an action; returns the node it leads to. Asks for what the action after it will read."""
    frames.action[top] = action
    node = nodes[frames.node[top]]
    child = node.first_child + action
    if action + 1 < np.int64(node.num_children):
        _prefetch_child(nodes, table, deal, child + 1)
    return child


@kernel(_nrt=False)
def leave(nodes, table, frames, top, scale, options, rng):
    """All actions are done: update the regrets; returns the value of the node."""
    num_actions = np.int64(nodes[frames.node[top]].num_children)
    return update_regrets(
        table,
        frames.row[top],
        num_actions,
        frames.sigma[top],
        frames.value[top],
        scale,
        options.regret_floor,
        rounding_bits(table, rng),
    )


# External sampling, of one tree or of the part of it that a head walks.


@kernel(_nrt=False, forceinline=True)
def follow_opponent(regrets, table, node, row, weight, options, sigma, rng):  # sigma: scratch
    """Add the opponent's current strategy to his average and draw from it; returns the node his action leads to."""
    num_actions = np.int64(node.num_children)
    match_regrets(regrets, row, num_actions, sigma)
    if options.sum_weight > 0.0:
        sums = row + num_actions
        bits = rounding_bits(table, rng)
        for a in range(num_actions):
            bits = more_bits(bits)
            store(table, sums + a, table[sums + a] + weight * options.sum_weight * sigma[a], bits)
    return node.first_child + draw_action(sigma, num_actions, next_uniform(rng))


@kernel(_nrt=False, forceinline=True)
def enter_own(nodes, regrets, frames, depth, at, row, pruning):
    """A frame for a decision of the traverser; his row is read on the way up, unless it says what to prune."""
    prefetch(regrets, row)
    if pruning:
        match_regrets(regrets, row, np.int64(nodes[at].num_children), frames.sigma[depth])
    push(frames, depth, at, row)


@kernel(_nrt=False, forceinline=True)
def go_up(nodes, regrets, table, deal, value, weight, depth, last_street, pruning, options, frames, rng):
    """Hand the value to the frame above, and leave every frame whose actions are done.

    Returns how many frames are left, the node that is next, and the value: where no frame is left, of the start.
    """
    while depth > 0:
        top = depth - 1
        num_actions = np.int64(nodes[frames.node[top]].num_children)
        action = hand_up(frames, top, value)
        if pruning:
            action = pass_over_hopeless(nodes, regrets, frames, top, action, last_street, options)
        if action < num_actions:
            return depth, go_down(nodes, regrets, deal, frames, top, action), value
        if not pruning:
            match_regrets(regrets, frames.row[top], num_actions, frames.sigma[top])
        value = leave(nodes, table, frames, top, weight, options, rng)
        depth = top
    return depth, np.int64(0), value


@kernel
def walk_external_from(
    nodes, table, deal, outcomes, start, weight, traverser, last_street, pruning, options, frames, rng
):
    """The walk of external sampling below one node, its changes times `weight`; returns its value and its nodes."""
    scratch = frames.sigma[frames.sigma.shape[0] - 1]
    depth = 0
    at = np.int64(start)
    num_visited = 0
    value = 0.0
    while True:
        node = nodes[at]
        if node.kind == DECISION:
            num_visited += 1
            row = row_of(node, deal)
            if node.player != traverser:
                at = follow_opponent(table, table, node, row, weight, options, scratch, rng)
                continue
            enter_own(nodes, table, frames, depth, at, row, pruning)
            depth += 1
        elif node.kind == CHANCE:
            at = np.int64(node.first_child)
            continue
        else:
            num_visited += 1
            value = terminal_value(node, outcomes, traverser)
        depth, at, value = go_up(
            nodes, table, table, deal, value, weight, depth, last_street, pruning, options, frames, rng
        )
        if depth == 0:
            return value, num_visited


@kernel
def walk_external(nodes, table, deal, outcomes, traverser, last_street, options, frames, rng):
    """External sampling: all of the traverser's actions, one of the opponent's (Lanctot et al., NIPS 2009).

    The opponent's average strategy grows by his current one, which his own draws weigh by his reach.
    """
    pruning = prunes(rng, options)
    _, num_visited = walk_external_from(
        nodes, table, deal, outcomes, 0, 1.0, traverser, last_street, pruning, options, frames, rng
    )
    return num_visited


@kernel(_nrt=False)
def _draw_opponent(table, node, row, q, options, sigma, rng):  # sigma: scratch
    """Add the opponent's current strategy over q to his average and draw from it; returns his action."""
    num_actions = np.int64(node.num_children)
    match_regrets(table, row, num_actions, sigma)
    if options.sum_weight > 0.0:
        for a in range(num_actions):
            table[row + num_actions + a] += options.sum_weight * sigma[a] / q
    return draw_action(sigma, num_actions, next_uniform(rng))


@kernel
def walk_outcome(nodes, table, deal, outcomes, traverser, options, frames, rng):
    """Outcome sampling: one action everywhere (Lanctot et al., NIPS 2009).

    The traverser draws uniformly with probability `epsilon`, else by his current strategy; the opponent by his. With
    q the probability of the traverser's draws down to a node and v the value of the drawn action over its own
    probability, regret(a) += (v(a) - sum_b sigma(b) v(b)) / q, where v is 0 for actions not drawn; the opponent's
    average grows by sigma / q.
    """
    scratch = frames.sigma[frames.sigma.shape[0] - 1]
    depth = at = num_visited = 0
    q = 1.0
    while True:
        node = nodes[at]
        if node.kind == CHANCE:
            at = node.first_child
            continue
        num_visited += 1
        if node.kind != DECISION:
            break
        num_actions = np.int64(node.num_children)
        row = row_of(node, deal)
        if node.player == traverser:
            sigma = frames.sigma[depth]
            match_regrets(table, row, num_actions, sigma)
            if next_uniform(rng) < options.epsilon:
                action = min(int(next_uniform(rng) * num_actions), num_actions - 1)
            else:
                action = draw_action(sigma, num_actions, next_uniform(rng))
            frames.node[depth] = at
            frames.row[depth] = row
            frames.action[depth] = action
            frames.weight[depth, 0] = q
            frames.weight[depth, 1] = options.epsilon / num_actions + (1.0 - options.epsilon) * sigma[action]
            q *= frames.weight[depth, 1]
            depth += 1
        else:
            action = _draw_opponent(table, node, row, q, options, scratch, rng)
        at = node.first_child + action

    value = terminal_value(nodes[at], outcomes, traverser)
    for top in range(depth - 1, -1, -1):
        num_actions = np.int64(nodes[frames.node[top]].num_children)
        row = frames.row[top]
        drawn = frames.action[top]
        drawn_value = value / frames.weight[top, 1]
        value = frames.sigma[top, drawn] * drawn_value
        for a in range(num_actions):
            gain = (drawn_value if a == drawn else 0.0) - value
            table[row + a] = max(table[row + a] + gain / frames.weight[top, 0], options.regret_floor)
    return num_visited


@kernel
def sampling_probability(strategy_sum, total_sum, options):
    """How likely average strategy sampling walks an action (Gibson et al. 2012, eq. 2), capped at 1."""
    denominator = options.beta + total_sum * options.sum_scale
    if denominator <= 0.0:
        return 1.0
    share = (options.beta + options.tau * strategy_sum * options.sum_scale) / denominator
    return min(1.0, max(options.epsilon, share))


@kernel
def walk_average(nodes, table, deal, outcomes, traverser, last_street, options, frames, rng):
    """Average strategy sampling (Gibson et al., NIPS 2012, algorithm 1).

    The traverser walks each action on its own with a probability that follows his average strategy; q is the product
    of these down to a node. Ends return u / q, actions not walked count 0, and the opponent's average grows by
    sigma / q.
    """
    scratch = frames.sigma[frames.sigma.shape[0] - 1]
    pruning = prunes(rng, options)
    depth = at = num_visited = 0
    q = 1.0
    while True:
        node = nodes[at]
        if node.kind == DECISION:
            num_visited += 1
            num_actions = np.int64(node.num_children)
            row = row_of(node, deal)
            if node.player == traverser:
                match_regrets(table, row, num_actions, frames.sigma[depth])
                total = 0.0
                for a in range(num_actions):
                    total += table[row + num_actions + a]
                push(frames, depth, at, row)
                frames.weight[depth, 0] = q
                frames.weight[depth, 1] = total
                depth += 1
                value = 0.0
            else:
                at = node.first_child + _draw_opponent(table, node, row, q, options, scratch, rng)
                continue
        elif node.kind == CHANCE:
            at = node.first_child
            continue
        else:
            num_visited += 1
            value = terminal_value(node, outcomes, traverser) / q

        while depth > 0:
            top = depth - 1
            at = frames.node[top]
            num_actions = np.int64(nodes[at].num_children)
            row = frames.row[top]
            action = hand_up(frames, top, value)
            while action < num_actions:
                rho = sampling_probability(table[row + num_actions + action], frames.weight[top, 1], options)
                hopeless = pruning and is_hopeless(
                    nodes, table, at, row, frames.sigma[top, action], action, last_street, options
                )
                if not hopeless and (rho >= 1.0 or next_uniform(rng) < rho):
                    q = frames.weight[top, 0] * rho
                    break
                frames.value[top, action] = 0.0
                if hopeless:
                    frames.sigma[top, action] = PASSED_OVER
                action += 1
            if action < num_actions:
                at = go_down(nodes, table, deal, frames, top, action)
                break
            value = leave(nodes, table, frames, top, 1.0, options, rng)
            depth = top
        if depth == 0:
            return num_visited
