"""The bucket of typed cards in a solved strategy, whatever its cards are grouped by."""

from collections.abc import Sequence
from typing import Protocol

from abstraction.config import AbstractionConfig
from abstraction.joint_deals import EnumeratedViews
from game.errors import DefinitionError
from game.library import BluffGame, find_game


class CardLookup(Protocol):
    """From cards to buckets."""

    def bucket(self, hand: Sequence[int], board: Sequence[int] = ()) -> int:
        """Bucket of hole cards and the board so far, dealt in that order."""


def enumerated_views(config: AbstractionConfig) -> EnumeratedViews:
    """The lossless views of a toy game; suits tell hands apart where the config says `none`."""
    game = find_game(config.game)
    if isinstance(game, BluffGame):
        raise DefinitionError(f"game {config.game!r} is played without cards")
    suits_matter = config.cards is not None and config.cards.streets[0].method == "none"
    return EnumeratedViews(game.definition, suits_matter)
