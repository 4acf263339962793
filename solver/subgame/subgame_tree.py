"""The public tree below any betting state, as flat records: what is left of a hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from foldwise.game.betting import CALL, FOLD, RAISE, Action, BettingState
from foldwise.game.errors import DefinitionError, TreeSizeError
from foldwise.game.trees.tree import NODE_DTYPE, BetMenu, BetSize
from foldwise.game.trees.tree_kernels import (
    CHANCE,
    DECISION,
    FOLDED,
    SHOWDOWN,
    SIZE_ALL_IN,
    SIZE_EVERY,
    SIZE_MINIMUM,
)

Nodes = npt.NDArray[np.void]
MAX_NODES = 100_000  # with 1,081 hands and 48 rivers, a few thousand nodes already take a gigabyte
Path = tuple[Action, ...]  # actions from the root of a subtree; cards dealt on the way do not count


@dataclass(frozen=True)
class Subtree:
    """Records in the breadth-first order of `game.trees.tree.build_tree`, and for each its betting and its path."""

    nodes: Nodes
    states: list[BettingState]
    paths: list[Path]


def _raise_amounts(state: BettingState, sizes: Sequence[BetSize], all_in_share: float) -> list[int]:
    """Raise-to amounts of a menu set, ascending, each once: as `game.trees.tree.build_tree` chooses them."""
    bounds = state.raise_range()
    if bounds is None:
        return []
    low, high = bounds
    amounts = set()
    for size in sizes:
        if state.definition.limit or size.kind == SIZE_MINIMUM:
            amounts.add(low)
        elif size.kind == SIZE_EVERY:
            amounts.update(range(low, high + 1))
        elif size.kind == SIZE_ALL_IN:
            amounts.add(high)
        else:
            amount = max(state.max_spent + int(np.floor(size.pot_fraction * 2.0 * state.max_spent + 0.5)), low)
            stack = state.definition.stacks[state.player_to_act]
            amounts.add(high if amount >= all_in_share * stack else min(amount, high))
    return sorted(amounts)


def legal_actions(state: BettingState, menu: BetMenu, added: Sequence[int] = ()) -> list[Action]:
    """Fold, call, the raises of the menu and those `added`, in the order of a tree's children."""
    actions = [Action(FOLD)] if state.can_fold() else []
    actions.append(Action(CALL))
    sets = menu.sizes[state.player_to_act][state.round]
    num_raises = sum(action.kind == RAISE for _, action in state.actions[state.round])
    sizes = sets[min(num_raises, len(sets) - 1)]
    amounts = _raise_amounts(state, sizes, menu.all_in_share)
    check_added(state, added)
    return actions + [Action(RAISE, amount) for amount in sorted({*amounts, *added})]


def check_added(state: BettingState, added: Sequence[int]) -> None:
    """Raise `DefinitionError` for a raise that cannot be added to a state's actions."""
    for amount in added:
        if not state.is_legal(Action(RAISE, amount)):
            raise DefinitionError(
                f"a raise to {amount} added after {state.betting_text()!r}: expected one between {state.raise_range()}"
            )


def build_subtree(state: BettingState, menu: BetMenu, added: Mapping[Path, Sequence[int]] | None = None) -> Subtree:
    """The tree of the rest of a hand; `added` maps paths to raises beyond the menu."""
    unused = dict(added or {})
    nodes = [_record(DECISION, state.player_to_act, state.round)]
    states = [state.copy()]
    paths: list[Path] = [()]
    at = 0
    while at < len(nodes):
        if len(nodes) > MAX_NODES:
            raise TreeSizeError(f"a subgame of more than {MAX_NODES:,} nodes: choose fewer bet sizes")
        node, here = nodes[at], states[at]
        node["first_child"] = len(nodes)
        if node["kind"] == CHANCE:
            nodes.append(_record(DECISION, here.player_to_act, here.round))
            states.append(here)
            paths.append(paths[at])
            node["num_children"] = 1
        elif node["kind"] == DECISION:
            actions = legal_actions(here, menu, unused.pop(paths[at], ()))
            node["num_children"] = len(actions)
            for action in actions:
                after = here.copy()
                after.apply(action)
                nodes.append(next_record(here, after))
                states.append(after)
                paths.append((*paths[at], action))
        at += 1
    if unused:
        raise DefinitionError(f"raises added after {next(iter(unused))}: no decision of the subgame is reached so")
    return Subtree(make_nodes(nodes), states, paths)


def make_nodes(records: Sequence[Mapping[str, float]]) -> Nodes:
    """Records as a kernel reads them."""
    return np.array([tuple(record.values()) for record in records], dtype=NODE_DTYPE)


def _record(kind: int, player: int, street: int, value: float = 0.0) -> dict[str, float]:
    return {
        "base": 0,
        "first_child": 0,
        "value": value,
        "num_children": 0,
        "kind": kind,
        "player": player,
        "street": street,
        "detail": 0,
        "padding": 0,
    }


def next_record(here: BettingState, after: BettingState) -> dict[str, float]:
    """The record of the node after an action; its children come later."""
    street = here.round
    if not after.finished:
        return _record(DECISION, after.player_to_act, street) if after.round == street else _record(CHANCE, 0, street)
    if after.is_showdown():
        return _record(SHOWDOWN, 0, street, min(after.spent))
    folder = after.folded.index(True)
    return _record(FOLDED, folder, street, after.spent[folder])
