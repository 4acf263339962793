"""From a card configuration to a card abstraction."""

import numpy as np
from numpy.typing import NDArray

from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.card_abstraction import CardAbstraction, StreetAbstraction
from foldwise.abstraction.cards.card_config import CardConfig, StreetCards
from foldwise.abstraction.cards.clustering import flop_emd, river_ochs, turn_emd
from foldwise.abstraction.cards.hand_strength import HandStrength
from foldwise.abstraction.cards.hierarchical import public_clusters
from foldwise.abstraction.cards.percentile import (
    flop_class_rows,
    flop_percentile,
    preflop_percentile,
    river_percentile,
    turn_percentile,
)
from foldwise.abstraction.threads import Report
from foldwise.game.hand_index import hand_index
from foldwise.game.hole_cards import NUM_PAIRS, PAIR_CARDS

_ORDERED = ((2,), (2, 3), (2, 3, 1), (2, 3, 1, 1))
_RAW_SIZES = (1326, 1326 * 22100)


def build_cards(
    config: CardConfig, strength: HandStrength | None = None, report: Report | None = None
) -> CardAbstraction:
    """Build the abstraction; hand strength comes from its cache or is made now."""
    builder = _Builder(config, strength or HandStrength(report=report))
    for street, cards in enumerate(config.streets):
        builder.add(street, cards)
    return CardAbstraction(builder.streets, config.model_dump(mode="json"), builder.clusters)


class _Builder:
    def __init__(self, config: CardConfig, strength: HandStrength) -> None:
        self.config = config
        self.strength = strength
        self.streets: list[StreetAbstraction] = []
        self.clusters: NDArray[np.uint16] | None = None

    def add(self, street: int, cards: StreetCards) -> None:
        if street == 1 and self.config.public:
            self.clusters = public_clusters(self.strength, self.config.public)
        self.streets.append(self._make(street, cards))

    def _make(self, street: int, cards: StreetCards) -> StreetAbstraction:
        if cards.method == "lossless":
            return StreetAbstraction("lossless", hand_index(_ORDERED[street]).size, _ORDERED[street])
        if cards.method == "none":
            return StreetAbstraction("raw", _RAW_SIZES[street], _ORDERED[street])
        assert cards.buckets is not None
        if street == 0:
            return preflop_percentile(self.strength, cards.buckets, cards.metric)
        kind, num_parents = "none", 1
        if self.clusters is not None:
            kind, num_parents = "cluster", int(self.clusters.max()) + 1
        elif cards.method == "percentile-nested":
            kind, num_parents = "bucket", self.streets[-1].num_buckets
        if cards.method == "kmeans-emd":
            make = flop_emd if street == 1 else turn_emd
            return make(self.strength, cards, self.clusters)
        if cards.method == "kmeans-ochs":
            return river_ochs(self.strength, cards, self.clusters)
        parents = self._parents(street, kind)
        if street == 1:
            return flop_percentile(self.strength, cards.buckets, cards.metric, parents, num_parents)
        if street == 2:
            return turn_percentile(self.strength, cards.buckets, cards.metric, parents, num_parents, kind)
        return river_percentile(self.strength, cards.buckets, parents, num_parents, kind, self._earlier().tables)

    def _parents(self, street: int, kind: str) -> NDArray[np.int32]:
        """[1755, 1326] what the parent of a street is, as far as the flop tells; -1 where cards clash.

        For a river within turn buckets it is the parent of the turn, which the turn's lookup needs.
        """
        parents = np.zeros((len(boards(3).cards), NUM_PAIRS), np.int32)
        if kind == "cluster":
            assert self.clusters is not None
            parents += self.clusters[:, None]
        elif kind == "bucket" and street == 1:
            parents += self._earlier().bucket_hands(0, PAIR_CARDS).astype(np.int32)
        elif kind == "bucket" and (street == 2 or self.streets[2].parent == "bucket"):
            hands = hand_index((2, 3)).unindex_hands(np.arange(hand_index((2, 3)).size))
            buckets = self._earlier().bucket_hands(1, hands)
            classes = flop_class_rows()
            return np.where(classes >= 0, buckets[classes], -1).astype(np.int32)
        parents[flop_class_rows() < 0] = -1
        return parents

    def _earlier(self) -> CardAbstraction:
        """The streets so far, for lookups while the next is made."""
        return CardAbstraction(self.streets, {}, self.clusters, fingerprint="unfinished")
