"""The bucket of given cards in a solved strategy, whatever its card abstraction."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.cards.card_abstraction import CardAbstraction
from foldwise.abstraction.config import AbstractionConfig
from foldwise.abstraction.deals.joint_deals import EnumeratedViews
from foldwise.abstraction.strategy import CARDS, Strategy
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.library import BluffGame


class CardLookup(Protocol):
    """From cards to buckets."""

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Of each street."""

    def bucket(self, hand: Sequence[int], board: Sequence[int] = ()) -> int:
        """Bucket of hole cards and the board so far, dealt in that order."""

    def bucket_hands(self, street: int, hands: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """Bucket of each row of [n, cards of the street], hole cards first."""


def open_card_lookup(strategy: Strategy) -> CardLookup:
    """The lookup a strategy was solved with; a card abstraction is verified and memory-mapped."""
    if strategy.manifest.cards is None:
        return enumerated_views(strategy.abstraction_config())
    cards = CardAbstraction.load(strategy.folder / CARDS)
    if cards.fingerprint != strategy.manifest.cards:
        raise FormatError(
            f"{str(strategy.folder / CARDS)!r} is abstraction {cards.fingerprint}, the strategy was solved with "
            f"{strategy.manifest.cards}: write the folder again"
        )
    return cards


def enumerated_views(config: AbstractionConfig) -> EnumeratedViews:
    """The lossless views of a toy game; suits tell hands apart where the config says `none`."""
    game = config.find_game()
    if isinstance(game, BluffGame):
        raise DefinitionError(f"game {config.game!r} is played without cards")
    suits_matter = config.cards is not None and config.cards.streets[0].method == "none"
    return EnumeratedViews(game.definition, suits_matter)
