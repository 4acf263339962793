"""Numbering of the 1,326 two-card hands: pair (a, b) with a > b has number a * (a - 1) / 2 + b."""

import numpy as np

from foldwise.game.cards import NUM_CARDS

NUM_PAIRS = 1326
# [1326, 2] the cards of each pair, the higher first.
PAIR_CARDS = np.array([(a, b) for a in range(NUM_CARDS) for b in range(a)], np.uint8)


def pair_number(first: int, second: int) -> int:
    """Number of a hand of two distinct cards, in either order."""
    high, low = max(first, second), min(first, second)
    return high * (high - 1) // 2 + low
