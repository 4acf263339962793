"""What a child deals: real flops of its clusters, turn and river from the rest of the deck."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.card_abstraction import CardAbstraction
from foldwise.abstraction.deals.joint_deals import SHOWDOWN_OUTCOMES
from foldwise.game.arrays import Counts, Float, Ints
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.solver.distributed.child_kernels import count_flops, draw_boards

Hands = npt.NDArray[np.uint8]

NUM_FLOPS = 22_100  # C(52, 3)
FLOPS_LEFT = 17_296  # C(48, 3): once four hole cards are dealt


class FlopTables(NamedTuple):
    """The real flops of one piece, as kernels read them."""

    cards: npt.NDArray[np.uint8]  # [n, 3]
    masks: npt.NDArray[np.int64]  # [n]: a bit for each card
    shift: npt.NDArray[np.int64]  # [n]: the flop's cluster less its place in the piece
    with_card: npt.NDArray[np.int64]  # [52]: flops that hold a card
    with_pair: npt.NDArray[np.int64]  # [1326]: two cards
    is_own: npt.NDArray[np.uint8]  # [22100]: by combination number, whether the flop is the piece's


class PublicDeals(Protocol):
    """The source of a child's boards. Outcomes are to player 0, per unit of a node's value."""

    @property
    def outcomes(self) -> Float:
        """[rows, details]."""

    @property
    def mean_flops(self) -> float:
        """Mean of F_{n,h} over all hands."""

    @property
    def share(self) -> float:
        """The child's share of all flops."""

    def count(self, hands: Hands) -> Counts:
        """F_{n,h} of every walk: flops of the piece that the hands [W, 4] leave."""

    def draw(
        self, rng: npt.NDArray[np.uint64], hands: Hands, counts: Counts, buckets: Ints, outcome_rows: Ints
    ) -> None:
        """Fill `buckets` [W, 2, S], by the piece's own numbers, and `outcome_rows` [W], one board for every walk."""


@cache
def _all_flops() -> npt.NDArray[np.uint8]:
    """[22100, 3] in the order of their combination numbers."""
    flops = np.array(list(combinations(range(52), 3)), dtype=np.uint8)
    low, middle, high = flops.astype(np.int64).T
    order = high * (high - 1) * (high - 2) // 6 + middle * (middle - 1) // 2 + low
    out = np.empty_like(flops)
    out[order] = flops
    return out


def flop_clusters(cards: CardAbstraction) -> npt.NDArray[np.int64]:
    """[22100] public cluster of every real flop."""
    clusters: npt.NDArray[np.int64] = cards.clusters[boards(3).places >> 5].astype(np.int64)
    return clusters


def cluster_flops(cards: CardAbstraction) -> npt.NDArray[np.int64]:
    """[K] real flops of every cluster."""
    return np.bincount(flop_clusters(cards), minlength=int(cards.clusters.max()) + 1)


def make_flop_tables(cards: CardAbstraction, clusters: Sequence[int]) -> FlopTables:
    """The flops of some clusters, in the order the piece keeps them."""
    of_flop = flop_clusters(cards)
    place = np.full(int(cards.clusters.max()) + 1, -1, dtype=np.int64)
    place[list(clusters)] = np.arange(len(clusters))
    is_own = place[of_flop] >= 0
    own = _all_flops()[is_own]
    numbers = own.astype(np.int64)
    with_pair = np.zeros(1326, dtype=np.int64)
    for low, high in ((0, 1), (0, 2), (1, 2)):
        np.add.at(with_pair, numbers[:, high] * (numbers[:, high] - 1) // 2 + numbers[:, low], 1)
    return FlopTables(
        cards=np.ascontiguousarray(own),
        masks=(np.int64(1) << numbers).sum(axis=1),
        shift=of_flop[is_own] - place[of_flop[is_own]],
        with_card=np.bincount(numbers.ravel(), minlength=52),
        with_pair=with_pair,
        is_own=is_own.astype(np.uint8),
    )


@dataclass(frozen=True)
class FlopDeals:
    """Hold'em boards on the flops of some clusters."""

    cards: CardAbstraction
    flops: FlopTables
    cluster_buckets: npt.NDArray[np.int64]  # [S]
    board_cards: int  # on the table at showdown

    @property
    def outcomes(self) -> Float:
        return SHOWDOWN_OUTCOMES

    @property
    def mean_flops(self) -> float:
        return len(self.flops.cards) * FLOPS_LEFT / NUM_FLOPS

    @property
    def share(self) -> float:
        return len(self.flops.cards) / NUM_FLOPS

    def count(self, hands: Hands) -> Counts:
        counts = np.empty(len(hands), dtype=np.int64)
        count_flops(self.flops, hands, counts)
        return counts

    def draw(
        self, rng: npt.NDArray[np.uint64], hands: Hands, counts: Counts, buckets: Ints, outcome_rows: Ints
    ) -> None:
        draw_boards(
            rng,
            self.flops,
            self.cards.tables,
            evaluator_tables(),
            len(self.cluster_buckets),
            self.board_cards,
            self.cluster_buckets,
            hands,
            counts,
            buckets,
            outcome_rows,
        )
