"""The betting of a flop in real chips, beside the blueprint's nodes that stand for it.

Bet sizes are the blueprint's own, as its seat would make them in this pot, and those that are added. Where the real pot is
not the abstract one, or a bet is not in the tree, nodes are found as the tracker finds them (`agent.following.tracker`),
without a draw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from foldwise.agent.following.tracker_kernels import call_child, end_of_children, enter_street, read_raise, real_action
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.arrays import Counts, Single
from foldwise.game.betting import CALL, FOLD, RAISE, Action, BettingState
from foldwise.game.errors import DefinitionError
from foldwise.game.trees.tree_kernels import CHANCE, DECISION
from foldwise.solver.subgame.subgame_tree import Nodes, Path, check_added, make_nodes, next_record


@dataclass(frozen=True)
class FlopTrunk:
    """Nodes from a flop's root to its end, breadth first: decisions, folds, all-ins that are called, and leaves."""

    nodes: Nodes  # a decision's `base` is its first row in tables of [rows, hands]
    states: list[BettingState]
    paths: list[Path]
    abstract: Counts  # [N] the blueprint's decision here; of a leaf, its first on the turn; -1 for other ends
    scale: Single  # [N] of a leaf: real over abstract pot
    num_rows: int

    @property
    def leaves(self) -> Counts:
        """The nodes at which the turn is dealt."""
        return np.flatnonzero(self.nodes["kind"] == CHANCE)


def build_trunk(
    player: StrategyPlayer, state: BettingState, node: int, added: Mapping[Path, Sequence[int]] | None = None
) -> FlopTrunk:
    """The flop from `state`, where the blueprint stands at `node`; `added` maps paths to raises that it does not have."""
    unused = dict(added or {})
    tree = player.seat.tree
    records, states = [next_record(state, state)], [state.copy()]
    paths: list[Path] = [()]
    abstract, num_rows = [node], 0
    at = 0
    while at < len(records):
        record, here = records[at], states[at]
        if record["kind"] == DECISION:
            actions = trunk_actions(player, here, abstract[at], unused.pop(paths[at], ()))
            record["first_child"], record["num_children"] = len(records), len(actions)
            record["base"] = num_rows
            num_rows += len(actions)
            for action in actions:
                after = here.copy()
                after.apply(action)
                child = next_record(here, after)
                records.append(child)
                states.append(after)
                paths.append((*paths[at], action))
                goes_on = child["kind"] in (DECISION, CHANCE)
                abstract.append(_follow(player, here, abstract[at], action, after.round) if goes_on else -1)
        at += 1
    if unused:
        raise DefinitionError(f"raises added after {next(iter(unused))}: no decision of the flop is reached so")
    pots = np.array([sum(one.spent) for one in states])
    abstract_pots = np.maximum(tree.spent[abstract].sum(axis=1), 1)
    return FlopTrunk(
        make_nodes(records), states, paths, np.array(abstract), (pots / abstract_pots).astype(np.float32), num_rows
    )


def trunk_actions(player: StrategyPlayer, state: BettingState, node: int, added: Sequence[int] = ()) -> list[Action]:
    """Fold, call, the blueprint's raises in chips, and those `added`, ascending."""
    check_added(state, added)
    own = {action for action in real_actions(player, state, node) if action.kind == RAISE}
    raises = own | {Action(RAISE, amount) for amount in added}
    actions = [Action(FOLD)] if state.can_fold() else []
    return [*actions, Action(CALL), *sorted(raises, key=lambda action: action.raise_to)]


def real_actions(player: StrategyPlayer, state: BettingState, node: int) -> list[Action]:
    """Each of the blueprint's actions at a node, as its seat would make it in a real state."""
    tree = player.seat.tree
    smallest, largest = state.raise_range() or (0, 0)
    stack = player.definition.stacks[state.player_to_act]
    to_call = int(state.can_fold())  # all that is asked of it is whether there is anything to call
    first = int(tree.nodes[node]["first_child"])
    return [
        Action(*map(int, real_action(tree, node, child, to_call, state.max_spent, smallest, largest, stack)))
        for child in range(first, int(end_of_children(tree, node)))
    ]


def _follow(player: StrategyPlayer, state: BettingState, node: int, action: Action, street: int) -> int:
    """The blueprint's decision after an action that does not end the hand."""
    return int(enter_street(player.seat.tree, abstract_child(player, state, node, action), street))


def abstract_child(player: StrategyPlayer, state: BettingState, node: int, action: Action) -> int:
    """The blueprint's node an action is read as, before the next street is entered."""
    tree = player.seat.tree
    if action.kind != RAISE:
        return int(call_child(tree, node))
    known = real_actions(player, state, node)
    if action in known:
        return int(tree.nodes[node]["first_child"]) + known.index(action)
    smaller, larger, chance = read_raise(
        tree,
        node,
        state.player_to_act,
        state.max_spent,
        action.raise_to,
        player.seat.mapping,
        bool(0),  # a literal False has its own type, and the kernel would be compiled again
        np.zeros(int(tree.nodes["num_children"].max())),
    )
    return int(smaller) if chance > 0.0 else int(larger)
