"""From a card configuration to a card abstraction."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.bucket_kinds import load_maker
from foldwise.abstraction.cards.card_abstraction import CardAbstraction, StreetAbstraction, Trained
from foldwise.abstraction.cards.card_config import CardConfig, StreetCards
from foldwise.abstraction.cards.hand_strength import HandStrength
from foldwise.abstraction.cards.hierarchical import public_clusters
from foldwise.abstraction.cards.percentile import flop_class_rows
from foldwise.abstraction.threads import Report
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS


def build_cards(
    config: CardConfig,
    strength: HandStrength | None = None,
    report: Report | None = None,
    trained: Mapping[int, Trained] | None = None,
) -> CardAbstraction:
    """Build the abstraction; hand strength comes from its cache or is made now. Streets in `trained` are only labelled."""
    builder = Builder(config, strength or HandStrength(report=report), trained or {})
    for street, cards in enumerate(config.streets):
        builder.add(street, cards)
    return CardAbstraction(builder.streets, config.model_dump(mode="json"), builder.clusters)


class Builder:
    """The streets built so far, and what the next may use."""

    def __init__(
        self, config: CardConfig, strength: HandStrength, trained: Mapping[int, Trained] | None = None
    ) -> None:
        self.config = config
        self.strength = strength
        self.trained = trained or {}
        self.streets: list[StreetAbstraction] = []
        self.clusters: NDArray[np.uint16] | None = None

    def add(self, street: int, cards: StreetCards) -> None:
        if street == 1 and self.config.public:
            self.clusters = public_clusters(self.strength, self.config.public)
        self.streets.append(load_maker(cards.method)(self, street, cards))

    def parents(self, street: int, kind: str) -> NDArray[np.int32]:
        """[1755, 1326] the parent of a street as determined by the flop; -1 where cards clash.

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
        """The streets so far, for lookups while the next is built."""
        return CardAbstraction(self.streets, {}, self.clusters, fingerprint="unfinished")
