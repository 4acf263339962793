"""Public betting trees as flat arrays: one 24-byte record a node, children side by side, breadth first.

A walk reads a node's record, and with the bucket of the player to act finds its row in the tables at
`base + bucket * num_children`. What only builders, trackers and printers need (the action that leads to a node, its
parent, the chips in the pot) stands in arrays beside the records, so that a walk does not drag it through the cache.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.game.betting import CALL, FOLD, RAISE, Action
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError, TreeSizeError
from foldwise.game.trees.table_rules import table_rules
from foldwise.game.trees.tree_kernels import (
    CHALLENGE,
    CHANCE,
    DECISION,
    FOLDED,
    SHOWDOWN,
    SIZE_ALL_IN,
    SIZE_EVERY,
    SIZE_MINIMUM,
    SIZE_POT,
    build_heads_up,
)

KIND_NAMES: Final = {
    DECISION: "decision",
    CHANCE: "chance",
    FOLDED: "fold",
    SHOWDOWN: "showdown",
    CHALLENGE: "challenge",
}

_NODE_FIELDS: Final = np.dtype(
    [
        ("base", np.int64),  # decision: first row of the node in its tables
        ("first_child", np.int32),
        ("value", np.float32),  # terminal: what is at stake, times the outcome at `detail` where cards settle it
        ("num_children", np.uint16),
        ("kind", np.uint8),
        ("player", np.uint8),  # decision: who acts; fold: who folded; challenge: who called the bluff
        ("street", np.uint8),
        ("detail", np.uint8),  # which outcome of the deal settles a showdown or a challenge
        ("padding", np.uint16),
    ],
    align=True,
)


class _Node(np.record):  # type: ignore[misc]  # its stubs say final, the class is made to be named in a dtype
    """Lets `node.kind` work in numpy when compilation is disabled; numpy's own `base` would hide ours."""

    @property
    def base(self) -> Any:
        return self["base"]


NODE_DTYPE: Final = np.dtype((_Node, _NODE_FIELDS))


class Tree(NamedTuple):
    """A public tree. Node 0 is the root; a parent stands before its children."""

    nodes: npt.NDArray[np.void]  # NODE_DTYPE[N]
    parent: npt.NDArray[np.int32]  # [N]; -1 for the root
    action: npt.NDArray[np.int32]  # [N]: what led here; see FOLD_CODE, CALL_CODE, else raise-to chips or a bid
    spent: npt.NDArray[np.int32]  # [N, 2]: chips each player has put in; zero where the game has none

    @property
    def num_nodes(self) -> int:
        return len(self.nodes)


def wrong_tree(tree: Tree) -> str | None:
    """Why a tree read from a file cannot be walked; None if it can. Kernels follow its numbers unchecked."""
    nodes, num_nodes = tree.nodes, len(tree.nodes)
    if not num_nodes or tree.parent.shape != (num_nodes,) or tree.action.shape != (num_nodes,):
        return "arrays of different lengths"
    if tree.spent.shape != (num_nodes, 2) or {tree.parent.dtype, tree.action.dtype, tree.spent.dtype} != {
        np.dtype("<i4")
    }:
        return "arrays of other types"
    index = np.arange(num_nodes)
    first, count = nodes["first_child"].astype(np.int64), nodes["num_children"].astype(np.int64)
    if bool(((first <= index) | (first + count > num_nodes))[count > 0].any()):
        return "a node whose children are elsewhere"
    decisions = nodes["kind"] == DECISION
    if bool((decisions & ((count == 0) | (nodes["player"] > 1))).any()):
        return "a decision without actions or player"
    if int(nodes["kind"].max()) >= len(KIND_NAMES) or not bool(np.isfinite(nodes["value"]).all()):
        return "a node of no kind, or worth no number"
    if int(tree.parent[0]) != -1 or bool(((tree.parent < 0) | (tree.parent >= index))[1:].any()):
        return "a node whose parent does not stand before it"
    return None


MAX_NODES: Final = 2**27  # 7.5 GB while it is built
_MAX_CHILDREN: Final = 2**16 - 1

FOLD_CODE: Final = -1
CALL_CODE: Final = 0
NO_ACTION: Final = -2  # the root, and the first node of a street
CHALLENGE_CODE: Final = -3


def action_of_code(code: int) -> Action:
    """The betting action behind an entry of `Tree.action`."""
    if code == FOLD_CODE:
        return Action(FOLD)
    return Action(CALL) if code == CALL_CODE else Action(RAISE, code)


@dataclass(frozen=True)
class BetSize:
    """One entry of a bet menu: a fraction of the pot after calling, or one of the named sizes."""

    kind: int  # SIZE_POT, SIZE_MINIMUM, SIZE_ALL_IN, SIZE_EVERY
    pot_fraction: float = 0.0


EVERY_SIZE: Final = BetSize(SIZE_EVERY)
ALL_IN: Final = BetSize(SIZE_ALL_IN)
MINIMUM_RAISE: Final = BetSize(SIZE_MINIMUM)


def pot_size(fraction: float) -> BetSize:
    return BetSize(SIZE_POT, fraction)


@dataclass(frozen=True)
class BetMenu:
    """Which raises the abstract tree of a game has.

    `sizes[player][street][n]` is the set offered when the street has seen n raises; the last set also serves every
    later raise, and an empty one forbids raising. A pot fraction below the smallest legal raise becomes that raise;
    one that would reach `all_in_share` of the stack becomes all-in; equal sizes are one. In limit games any size
    stands for the one raise there is, so that a menu can only cap the betting.
    """

    sizes: tuple[tuple[tuple[tuple[BetSize, ...], ...], ...], ...]
    all_in_share: float = 1.0

    @staticmethod
    def same_everywhere(sizes: Sequence[BetSize], num_streets: int) -> "BetMenu":
        """One set for both players on every street."""
        return BetMenu(sizes=(((tuple(sizes),),) * num_streets,) * 2)


class MenuArrays(NamedTuple):
    """A `BetMenu` for the kernel: sizes of (player, street, n) in rows of three indexes."""

    kinds: npt.NDArray[np.int8]  # [2, S, R, K]; -1 pads
    fractions: npt.NDArray[np.float64]  # [2, S, R, K]
    all_in_share: float


def _menu_arrays(menu: BetMenu, num_streets: int) -> MenuArrays:
    if len(menu.sizes) != 2 or any(len(streets) != num_streets for streets in menu.sizes):
        got = [len(streets) for streets in menu.sizes]
        raise DefinitionError(f"bet menu has streets {got}: expected two players with {num_streets} streets each")
    if any(not sets for streets in menu.sizes for sets in streets):
        raise DefinitionError("bet menu has a street without sets: expected at least one; an empty set forbids raising")
    num_raises = max(len(sets) for streets in menu.sizes for sets in streets)
    most = max(1, max(len(sizes) for streets in menu.sizes for sets in streets for sizes in sets))
    shape = (2, num_streets, num_raises, most)
    kinds = np.full(shape, -1, dtype=np.int8)
    fractions = np.zeros(shape)
    for player, streets in enumerate(menu.sizes):
        for street, sets in enumerate(streets):
            for n in range(num_raises):
                for k, size in enumerate(sets[min(n, len(sets) - 1)]):
                    kinds[player, street, n, k] = size.kind
                    fractions[player, street, n, k] = size.pot_fraction
    return MenuArrays(kinds, fractions, menu.all_in_share)


def build_tree(definition: GameDefinition, menu: BetMenu | None = None, max_nodes: int = MAX_NODES) -> Tree:
    """The public betting tree of a heads-up game: every limit raise, or the no-limit raises of `menu` (default: all).

    Refuses a tree of more than `max_nodes` nodes, and limit betting with unequal stacks: there the reference dealer
    lets a player "raise" to less than he has to call, and chips are not conserved.
    """
    if definition.num_players != 2:
        raise DefinitionError(f"a tree of {definition.num_players} players: public trees are for two players")
    if definition.limit and len(set(definition.stacks)) > 1:
        raise DefinitionError(f"a limit tree with stacks {definition.stacks}: expected equal stacks")
    if menu is None:
        menu = BetMenu.same_everywhere([EVERY_SIZE], definition.num_rounds)
    arrays = _menu_arrays(menu, definition.num_rounds)
    if not definition.limit and SIZE_EVERY in arrays.kinds and max(definition.stacks) > _MAX_CHILDREN:
        raise TreeSizeError(
            f"every whole number of chips as a raise, with stacks {definition.stacks}: expected at most "
            f"{_MAX_CHILDREN} chips; choose bet sizes"
        )
    nodes, parent, action, spent = build_heads_up(
        table_rules(definition), arrays, np.empty(1024, dtype=NODE_DTYPE), max_nodes
    )
    if len(nodes) > max_nodes:
        raise TreeSizeError(
            f"a betting tree of more than {max_nodes:,} nodes: choose fewer bet sizes or smaller stacks"
        )
    return Tree(nodes, parent, action, spent)
