"""Suit-distinct boards, and the mapping from any board to its representative.

Tables over hands are kept for one board of each class. A hand on another board is looked up by relabelling suits: a
board's place says which representative it becomes and under which of the 24 relabellings, and the hand follows.
"""

from functools import cache
from itertools import permutations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foldwise.abstraction.cards import hand_strength_kernels as kernels
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS

RELABELLINGS = np.array(list(permutations(range(4))), np.int64)  # [24, 4] new suit of each suit


class Boards(NamedTuple):
    """The classes of boards of one size, as kernels read them."""

    cards: NDArray[np.uint8]  # [n, size] representatives, in the order of the hand index of that shape
    orbits: NDArray[np.int64]  # [n] boards in the class
    places: NDArray[np.int32]  # [C(52, size)] of any board by its combination number: 32 * row + relabelling
    choose: NDArray[np.int64]  # [52, 6] binomials, for combination numbers
    pairs: NDArray[np.uint16]  # [24, 1326] number of each pair after each relabelling


@cache
def boards(size: int) -> Boards:
    """Boards of 3, 4 or 5 cards: 1,755, 16,432 or 134,459 classes. Built once in a process."""
    index = hand_index((size,))
    representatives = index.unindex_hands(np.arange(index.size))
    choose = np.array([[comb(n, k) for k in range(6)] for n in range(52)], np.int64)
    places = np.full(comb(52, size), -1, np.int32)
    orbits = np.zeros(index.size, np.int64)
    kernels.place_boards(representatives, RELABELLINGS, choose, places, orbits)
    return Boards(representatives, orbits, places, choose, _relabelled_pairs())


@cache
def _relabelled_pairs() -> NDArray[np.uint16]:
    cards = PAIR_CARDS.astype(np.int64)
    out = np.empty((len(RELABELLINGS), NUM_PAIRS), np.uint16)
    for number, suits in enumerate(RELABELLINGS):
        moved = np.sort(4 * (cards >> 2) + suits[cards & 3], axis=1)
        out[number] = moved[:, 1] * (moved[:, 1] - 1) // 2 + moved[:, 0]
    return out
