"""From a card configuration to a card abstraction."""

from collections.abc import Callable
from typing import Final

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
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS

_ORDERED = ((2,), (2, 3), (2, 3, 1), (2, 3, 1, 1))
_RAW_SIZES = (1326, 1326 * 22100)


def build_cards(
    config: CardConfig, strength: HandStrength | None = None, report: Report | None = None
) -> CardAbstraction:
    """Build the abstraction; hand strength comes from its cache or is made now."""
    builder = Builder(config, strength or HandStrength(report=report))
    for street, cards in enumerate(config.streets):
        builder.add(street, cards)
    return CardAbstraction(builder.streets, config.model_dump(mode="json"), builder.clusters)


class Builder:
    """Streets made so far, and what the next may be made from."""

    def __init__(self, config: CardConfig, strength: HandStrength) -> None:
        self.config = config
        self.strength = strength
        self.streets: list[StreetAbstraction] = []
        self.clusters: NDArray[np.uint16] | None = None

    def add(self, street: int, cards: StreetCards) -> None:
        if street == 1 and self.config.public:
            self.clusters = public_clusters(self.strength, self.config.public)
        self.streets.append(MAKERS[cards.method](self, street, cards))

    def parents(self, street: int, kind: str) -> NDArray[np.int32]:
        """[1755, 1326] what the parent of a street is, as far as the flop tells; -1 where cards clash.

        For a river within turn buckets it is the parent of the turn, which the turn's lookup needs.
        """
        parents = np.zeros((len(boards(3).cards), NUM_PAIRS), np.int32)
        if kind == "cluster":
            assert self.clusters is not None
            parents += self.clusters[:, None]
        elif kind == "bucket" and street == 1:
            parents += self.earlier().bucket_hands(0, PAIR_CARDS).astype(np.int32)
        elif kind == "bucket" and (street == 2 or self.streets[2].parent == "bucket"):
            hands = hand_index((2, 3)).unindex_hands(np.arange(hand_index((2, 3)).size))
            buckets = self.earlier().bucket_hands(1, hands)
            classes = flop_class_rows()
            return np.where(classes >= 0, buckets[classes], -1).astype(np.int32)
        parents[flop_class_rows() < 0] = -1
        return parents

    def earlier(self) -> CardAbstraction:
        """The streets so far, for lookups while the next is made."""
        return CardAbstraction(self.streets, {}, self.clusters, fingerprint="unfinished")


def _lossless(builder: Builder, street: int, cards: StreetCards) -> StreetAbstraction:
    return StreetAbstraction("lossless", hand_index(_ORDERED[street]).size, _ORDERED[street])


def _raw(builder: Builder, street: int, cards: StreetCards) -> StreetAbstraction:
    return StreetAbstraction("raw", _RAW_SIZES[street], _ORDERED[street])


def _percentile(builder: Builder, street: int, cards: StreetCards) -> StreetAbstraction:
    """By hand strength: all hands of a street together, within its clusters, or within the buckets before it."""
    assert cards.buckets is not None
    strength, clusters = builder.strength, builder.clusters
    if street == 0:
        return preflop_percentile(strength, cards.buckets, cards.metric)
    kind, num_parents = "none", 1
    if clusters is not None:
        kind, num_parents = "cluster", int(clusters.max()) + 1
    elif cards.method == "percentile-nested":
        kind, num_parents = "bucket", builder.streets[-1].num_buckets
    parents = builder.parents(street, kind)
    if street == 1:
        return flop_percentile(strength, cards.buckets, cards.metric, parents, num_parents)
    if street == 2:
        return turn_percentile(strength, cards.buckets, cards.metric, parents, num_parents, kind)
    return river_percentile(strength, cards.buckets, parents, num_parents, kind, builder.earlier().tables)


def _kmeans_emd(builder: Builder, street: int, cards: StreetCards) -> StreetAbstraction:
    return (flop_emd if street == 1 else turn_emd)(builder.strength, cards, builder.clusters)


def _kmeans_ochs(builder: Builder, street: int, cards: StreetCards) -> StreetAbstraction:
    return river_ochs(builder.strength, cards, builder.clusters)


# Who makes the buckets of each of `card_config.METHODS`. Imported, not named: what is kept is named by these sources.
MAKERS: Final[dict[str, Callable[[Builder, int, StreetCards], StreetAbstraction]]] = {
    "lossless": _lossless,
    "none": _raw,
    "percentile-nested": _percentile,
    "percentile": _percentile,
    "kmeans-emd": _kmeans_emd,
    "kmeans-ochs": _kmeans_ochs,
}
