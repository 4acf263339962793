"""The abstract game a solver works on: a public tree with rows in flat tables, and deals as buckets and outcomes.

`row = node.base + bucket * num_children` is the place of an infoset's first action. Solvers know nothing of cards: a
deal is each player's bucket on each street and a row of the outcome table, drawn in blocks by a `DealSource`.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import xxhash

from foldwise.abstraction.cards.card_abstraction import CardAbstraction
from foldwise.abstraction.deals.deal_kernels import draw_categories
from foldwise.abstraction.deals.joint_deals import JointDeals
from foldwise.game.arrays import Float, Ints
from foldwise.game.trees.tree import Tree
from foldwise.game.trees.tree_kernels import DECISION


class Matrices(Protocol):
    """What exact solvers and best responses need to know about chance: matrices over pairs of buckets."""

    @property
    def num_buckets(self) -> Ints:
        """[S, 2]: buckets of each player on each street."""

    @property
    def fold_matrices(self) -> list[Any]:
        """Per street, the probability of each pair of buckets: [n0, n1]."""

    @property
    def settle_matrices(self) -> list[list[Any]]:
        """Per street and detail, probability times outcome to player 0: [n0, n1]."""

    @property
    def parents(self) -> list[list[Ints]] | None:
        """Per street after the first and per player, each bucket's bucket on the street before; None if buckets forget it."""

    @property
    def boards_counted(self) -> int | None:
        """Suit-distinct boards behind the matrices where they are a sample; None where they are exact."""


class DealSource(Protocol):
    """Where an abstract game's deals come from."""

    @property
    def num_buckets(self) -> Ints:
        """[S, 2]: buckets of each player on each street."""

    @property
    def outcomes(self) -> Float:
        """[rows, details]: what a showdown or challenge is worth to player 0, per unit of the node's value."""

    @property
    def joint(self) -> JointDeals | None:
        """The exact joint distribution, if it is known."""

    @property
    def matrices(self) -> Matrices | None:
        """The joint distribution as matrices, if there are any."""

    @property
    def fingerprint(self) -> str:
        """A hash of what the deals are made from."""

    def draw(self, rng: npt.NDArray[np.uint64], buckets: Ints, outcome_rows: Ints) -> None:
        """Fill `buckets` [B, 2, S] and `outcome_rows` [B] with independent deals."""


def hash_arrays(*arrays: npt.NDArray[Any]) -> str:
    """A hash of arrays: contents, types and shapes."""
    digest = xxhash.xxh3_128()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


@dataclass(frozen=True)
class JointSource:
    """Deals drawn from an exact joint distribution."""

    joint: JointDeals

    @property
    def matrices(self) -> Matrices:
        return self.joint

    @property
    def num_buckets(self) -> Ints:
        return self.joint.num_buckets

    @property
    def outcomes(self) -> Float:
        return self.joint.outcomes

    @property
    def fingerprint(self) -> str:
        parts = (self.joint.buckets, self.joint.outcome_row, self.joint.probability, self.joint.outcomes)
        return hash_arrays(*parts)

    def draw(self, rng: npt.NDArray[np.uint64], buckets: Ints, outcome_rows: Ints) -> None:
        keep, other = self.joint.alias
        draw_categories(rng, keep, other, self.joint.buckets, self.joint.outcome_row, buckets, outcome_rows)


@dataclass(frozen=True)
class AbstractGame:
    """A tree whose decision nodes have rows, and its deals."""

    name: str
    tree: Tree
    deals: DealSource
    unit_chips: int  # results are in thousandths of this
    num_entries: int  # infoset-actions: the length of one table
    num_infosets: int
    cards: CardAbstraction | None = None  # what typed cards are bucketed by; None in toy games

    @property
    def num_streets(self) -> int:
        return int(self.deals.num_buckets.shape[0])

    @property
    def fingerprint(self) -> str:
        """Identifies the abstract game: a different tree or different deals give a different fingerprint."""
        return f"{hash_arrays(self.tree.nodes)[:16]}-{self.deals.fingerprint[:16]}"

    @property
    def max_actions(self) -> int:
        return int(self.tree.nodes["num_children"].max())

    @property
    def depth(self) -> int:
        """Nodes on the longest path."""
        parent = self.tree.parent
        longest, end = 1, 1
        while end < len(parent):  # a breadth-first level is followed by its children
            end = int(np.searchsorted(parent, end, side="left"))
            longest += 1
        return longest


def make_abstract_game(
    name: str, tree: Tree, deals: DealSource, unit_chips: int, cards: CardAbstraction | None = None
) -> AbstractGame:
    """Assign rows to every decision node, in the order of the nodes."""
    nodes = tree.nodes.copy()
    is_decision = nodes["kind"] == DECISION
    player, street = nodes["player"][is_decision], nodes["street"][is_decision]
    infosets = deals.num_buckets[street, player].astype(np.int64)
    entries = infosets * nodes["num_children"][is_decision]
    ends = np.cumsum(entries)
    nodes["base"][is_decision] = ends - entries
    return AbstractGame(
        name=name,
        tree=tree._replace(nodes=nodes),
        deals=deals,
        unit_chips=unit_chips,
        num_entries=int(ends[-1]),
        num_infosets=int(infosets.sum()),
        cards=cards,
    )
