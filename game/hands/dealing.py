"""The cards of a match from its seed, exactly as the reference dealer draws them.

MT19937 seeded with one 32-bit integer; every hand, board included, is drawn before its betting starts, so the cards of
a match depend on seed and game alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from foldwise.game.definition import GameDefinition
from foldwise.game.hands.dealing_kernels import deal_block


@dataclass(frozen=True)
class Deal:
    """All cards of one hand."""

    hole_cards: tuple[tuple[int, ...], ...]  # by position
    board: tuple[int, ...]  # of the last round


class Shoe:
    """Deals hand after hand of one match."""

    def __init__(self, definition: GameDefinition, seed: int):
        self.definition = definition
        # RandomState(seed) with one integer is the initialiser the reference uses; random.Random is not.
        self._generator = np.random.RandomState(seed % 2**32)
        self._deck = np.array(definition.deck, dtype=np.uint8)

    def cards(self, num_hands: int) -> npt.NDArray[np.uint8]:
        """The next hands as an array [hand, card]: hole cards position by position, then the board."""
        shape = (num_hands, self.definition.cards_per_hand)
        outputs = self._generator.randint(0, 2**32, size=shape, dtype=np.uint32)
        cards = np.empty(shape, dtype=np.uint8)
        deal_block(outputs, self._deck, cards)
        return cards

    def deals(self, block: int = 100) -> Iterator[Deal]:
        """The hands of the match, without end."""
        num_hole = self.definition.num_hole_cards
        split = self.definition.num_players * num_hole
        while True:
            for row in self.cards(block).tolist():
                holes = tuple(tuple(row[i : i + num_hole]) for i in range(0, split, num_hole))
                yield Deal(holes, tuple(row[split:]))
