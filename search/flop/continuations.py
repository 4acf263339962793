"""How the blueprint goes on behind the leaves of a flop: as it is, or with folds, calls or raises played more often.

Depth-limited solving with several values a leaf (Brown, Sandholm and Amos, NeurIPS 2018): what a leaf is worth is not one
number that a better opponent could prove wrong; before the turn is dealt each hand picks the continuation that suits it
best. The bias is Pluribus's (Brown and Sandholm, Science 2019): one class of actions is weighed five times, and the row made
to add up to one again. Turn and river are played by the blueprint's buckets.
"""

from typing import Final, NamedTuple

import numpy as np

from foldwise.game.arrays import Counts, Single
from foldwise.game.trees.tree import CALL_CODE, FOLD_CODE, Tree
from foldwise.game.trees.tree_kernels import CHANCE, DECISION
from foldwise.search.blueprint_values import same_street
from foldwise.search.flop.continuation_kernels import CALLS, FOLDS, RAISES, Behind, fill_policies
from foldwise.search.flop.trunk import FlopTrunk
from foldwise.search.flop.way_kernels import WAYS
from foldwise.search.ranges import TableRanges

BIAS: Final = 5.0
_KEPT = 6


class Continuations(NamedTuple):
    """What follows the leaves of a trunk."""

    behind: Behind
    policies: Single  # [P * WAYS]


class ContinuationSource:
    """Continuations in one blueprint; those of the last few trunks are kept."""

    def __init__(self, ranges: TableRanges, bias: float = BIAS):
        self._ranges = ranges
        self._factors = np.ones((WAYS, 3))
        for way, favoured in enumerate((FOLDS, CALLS, RAISES), start=1):
            self._factors[way, favoured] = bias
        self._kept: dict[tuple[int, ...], tuple[Behind, Single]] = {}

    def behind(self, trunk: FlopTrunk) -> Continuations:
        """What follows each leaf, with its chips scaled to the real pot."""
        roots = trunk.abstract[trunk.leaves]
        key = tuple(roots.tolist())
        if key not in self._kept:
            while len(self._kept) >= _KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = self._make(roots)
        behind, policies = self._kept[key]
        sizes = np.diff(behind.blocks[behind.first_block])
        scales = np.repeat(trunk.scale[trunk.leaves], sizes)
        return Continuations(behind._replace(value=behind.value * scales), policies)

    def _make(self, roots: Counts) -> tuple[Behind, Single]:
        tree = self._ranges.player.seat.tree
        behind, sources = cut_behind(tree, roots)
        decisions = np.flatnonzero(behind.kind == DECISION)
        unique, where = np.unique(sources[decisions], return_inverse=True)
        counts = tree.nodes["num_children"][unique].astype(np.int64)
        num_buckets = self._ranges.num_buckets[unique]
        ends = np.cumsum(counts * num_buckets)
        bases = ends - counts * num_buckets
        policies = np.zeros(WAYS * int(ends[-1]), np.float32)
        fill_policies(
            self._ranges.stored,
            tree.nodes["base"][unique].astype(np.int64),
            counts,
            num_buckets,
            action_classes(tree, unique),
            self._factors,
            bases,
            policies,
        )
        behind.base[decisions] = bases[where]
        behind.num_buckets[decisions] = num_buckets[where]
        return behind, policies


def action_classes(tree: Tree, decisions: Counts) -> Counts:
    """[D, A] whether each action folds, calls or raises."""
    counts = tree.nodes["num_children"][decisions].astype(np.int64)
    out = np.full((len(decisions), int(counts.max(initial=1))), RAISES, np.int64)
    for row, node, count in zip(out, decisions, counts):
        first = int(tree.nodes["first_child"][node])
        codes = tree.action[first : first + count]
        row[:count][codes == FOLD_CODE] = FOLDS
        row[:count][codes == CALL_CODE] = CALLS
    return out


def cut_behind(tree: Tree, roots: Counts) -> tuple[Behind, Counts]:
    """The nodes below some decisions, block by block, cards dealt on the way left out; and their numbers in the tree."""
    order: list[int] = []
    places: list[int] = []
    number: dict[tuple[int, int], int] = {}  # of a node behind a leaf
    blocks, first_block = [0], [0]
    for leaf, root in enumerate(roots.tolist()):
        turn = same_street(tree, root)
        rivers = [int(tree.nodes[node]["first_child"]) for node in turn if tree.nodes[node]["kind"] == CHANCE]
        turn = [node for node in turn if tree.nodes[node]["kind"] != CHANCE]
        shared = len(turn) + len(rivers)
        for at, block in enumerate([turn, *(same_street(tree, river) for river in rivers)]):
            number |= {(leaf, node): len(order) + i for i, node in enumerate(block)}
            order += block
            places += range(len(turn)) if at == 0 else [len(turn) + at - 1, *range(shared, shared + len(block) - 1)]
            blocks.append(len(order))
        first_block.append(len(blocks) - 1)
    sources = np.array(order, np.int64)
    records = tree.nodes[sources]
    sizes = np.where(records["kind"] == DECISION, records["num_children"], 0).astype(np.int32)
    first = np.cumsum(sizes) - sizes
    leaf_of = np.repeat(np.arange(len(roots)), np.diff(np.array(blocks)[first_block]))
    child = [
        number[leaf, _resolved(tree, int(record["first_child"]) + a)]
        for leaf, record, size in zip(leaf_of.tolist(), records, sizes.tolist())
        for a in range(size)
    ]
    behind = Behind(
        kind=records["kind"].copy(),
        player=records["player"].copy(),
        value=records["value"].astype(np.float32),
        child=np.array(child, np.int32),
        first=first.astype(np.int32),
        size=sizes,
        base=np.zeros(len(order), np.int64),
        num_buckets=np.zeros(len(order), np.int64),
        decides=np.zeros((2, len(order)), np.bool_),
        place=np.array(places, np.int32),
        blocks=np.array(blocks, np.int32),
        first_block=np.array(first_block, np.int32),
    )
    for at in range(len(order) - 1, -1, -1):  # a river's nodes come after all of its turn's
        if sizes[at]:
            below = behind.child[first[at] : first[at] + sizes[at]]
            behind.decides[:, at] = behind.decides[:, below].any(axis=1)
            behind.decides[int(records["player"][at]), at] = True
    return behind, sources


def _resolved(tree: Tree, node: int) -> int:
    """Where a card is dealt, the decision after it."""
    return int(tree.nodes[node]["first_child"]) if tree.nodes[node]["kind"] == CHANCE else node
