"""A bucket for every hand: up to a relabelling of the suits (`lossless`), or with every card told apart (`none`)."""

from typing import TYPE_CHECKING

from foldwise.abstraction.cards.card_abstraction import StreetAbstraction
from foldwise.game.hands.hand_index import hand_index

if TYPE_CHECKING:
    from foldwise.abstraction.cards.card_building import Builder
    from foldwise.abstraction.cards.card_config import StreetCards

_ORDERED = ((2,), (2, 3), (2, 3, 1), (2, 3, 1, 1))
_RAW_SIZES = (1326, 1326 * 22100)


def lossless_buckets(builder: "Builder", street: int, cards: "StreetCards") -> StreetAbstraction:
    """A bucket for each class of the suit-isomorphic index."""
    return StreetAbstraction("lossless", hand_index(_ORDERED[street]).size, _ORDERED[street])


def raw_buckets(builder: "Builder", street: int, cards: "StreetCards") -> StreetAbstraction:
    """A bucket for each set of cards."""
    return StreetAbstraction("raw", _RAW_SIZES[street], _ORDERED[street])
