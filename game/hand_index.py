"""Suit-isomorphic hand index: a perfect numbering of card groups up to relabelling of suits.

A shape lists how many cards each round brings: `(2, 3, 1, 1)` is hole cards, flop, turn and river in order, `(2, 5)`
forgets the order of the board, `(3,)` is a flop alone. Order within a round never matters. After K. Waugh, A fast and
optimal hand isomorphism algorithm (AAAI workshop on computer poker, 2013); the order of the classes is our own.
"""

from collections.abc import Sequence
from functools import cache
from itertools import product
from math import comb, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from game import hand_index_kernels as kernels

MAX_CARDS = 9  # beyond it a suit's number may pass 32 bits


class HandIndexTables(NamedTuple):
    """What the index kernels read. R rounds; a configuration is a sorted row of the four suits' card counts."""

    round_sizes: NDArray[np.int64]  # [R]
    set_sizes: NDArray[np.uint8]  # [8192] bits in a set of ranks
    choose: NDArray[np.int64]  # [14, 14] binomials
    suit_keys: NDArray[np.int64]  # [R, 4] a round's cards add these up to a key of their split over the suits
    split_start: NDArray[np.int64]  # [R] a round's place in `splits`
    splits: NDArray[np.int64]  # [key] dense number of the split
    code_stride: NDArray[np.int64]  # [R] weight of the round's split number in a hand's code
    multiplier_start: NDArray[np.int64]  # [R]
    multipliers: NDArray[np.int64]  # [code of the rounds before, suit] ways the suit's cards so far could have fallen
    arrangements: NDArray[np.int64]  # [code] configuration << 8 | suits in its order, two bits each
    starts: NDArray[np.int64]  # [configuration] first index
    equal_suits: NDArray[np.int64]  # [configuration] bit p: suits at p and p + 1 have equal counts, not zero
    strides: NDArray[np.int64]  # [configuration, 4] weight of the suit, or run of suits, that begins there
    suit_classes: NDArray[np.int64]  # [configuration, 4] numbers the suit can take
    suit_counts: NDArray[np.int64]  # [configuration, 4, R]


class HandIndex:
    """Index of one shape: `size` classes, numbered 0 to size - 1."""

    def __init__(self, shape: Sequence[int]) -> None:
        if not shape or min(shape) < 1 or sum(shape) > MAX_CARDS:
            raise ValueError(f"shape {tuple(shape)}: expected rounds of one card or more, at most {MAX_CARDS} in all")
        self.shape = tuple(shape)
        self.num_cards = sum(shape)
        self.tables, self.size = _build(self.shape)

    def index(self, cards: Sequence[int]) -> int:
        """Class of distinct cards, given round after round."""
        hand = np.asarray(cards, np.int64)
        if hand.shape != (self.num_cards,) or len(set(cards)) != hand.size or hand.min() < 0 or hand.max() > 51:
            raise ValueError(f"cards {list(cards)}: expected {self.num_cards} distinct cards, each 0 to 51")
        return int(kernels.index_cards(self.tables, hand))

    def unindex(self, index: int) -> tuple[int, ...]:
        """A hand of the class `index`."""
        if not 0 <= index < self.size:
            raise ValueError(f"index {index}: expected 0 to {self.size - 1}")
        cards = np.empty(self.num_cards, np.int64)
        kernels.unindex_cards(self.tables, index, cards)
        return tuple(cards.tolist())

    def index_hands(self, hands: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Class of each row of an [n, num_cards] array. Cards are trusted."""
        out = np.empty(hands.shape[0], np.int64)
        kernels.index_hands_into(self.tables, hands, out)
        return out

    def unindex_hands(self, indexes: NDArray[np.int64]) -> NDArray[np.uint8]:
        """[n, num_cards] a hand of each class."""
        hands = np.empty((indexes.size, self.num_cards), np.uint8)
        kernels.unindex_hands_into(self.tables, indexes, hands)
        return hands


@cache
def hand_index(shape: tuple[int, ...]) -> HandIndex:
    """The index of a shape, built once in a process."""
    return HandIndex(shape)


def _build(shape: tuple[int, ...]) -> tuple[HandIndexTables, int]:
    num_rounds = len(shape)
    round_splits = [_splits(count) for count in shape]
    suit_keys = np.array([[1, n + 1, (n + 1) ** 2, 0] for n in shape], np.int64)
    split_start = np.cumsum([0] + [(n + 1) ** 3 for n in shape])
    splits = np.zeros(split_start[-1], np.int64)
    for r, round_split in enumerate(round_splits):
        for number, counts in enumerate(round_split):
            splits[split_start[r] + int(np.dot(suit_keys[r], counts))] = number
    code_stride = np.cumprod([1] + [len(split) for split in round_splits])

    multipliers: list[int] = []
    multiplier_start = np.zeros(num_rounds, np.int64)
    for r in range(num_rounds):
        multiplier_start[r] = len(multipliers)
        for before in _codes(round_splits[:r]):
            multipliers += [_suit_classes([split[suit] for split in before]) for suit in range(4)]

    arrangements = np.zeros(code_stride[-1], np.int64)
    configurations: dict[tuple[tuple[int, ...], ...], int] = {}
    for code, hand_splits in enumerate(_codes(round_splits)):
        suits = [tuple(split[suit] for split in hand_splits) for suit in range(4)]
        order = sorted(range(4), key=suits.__getitem__, reverse=True)
        configuration = configurations.setdefault(tuple(suits[suit] for suit in order), len(configurations))
        arrangements[code] = configuration << 8 | sum(suit << 2 * place for place, suit in enumerate(order))

    shape_of = (len(configurations), 4)
    equal_suits = np.zeros(len(configurations), np.int64)
    strides, suit_classes = np.zeros(shape_of, np.int64), np.zeros(shape_of, np.int64)
    starts = np.zeros(len(configurations), np.int64)
    size = 0
    for configuration, rows in enumerate(configurations):
        classes = [_suit_classes(row) for row in rows]
        equal = [rows[p] == rows[p + 1] and sum(rows[p]) > 0 for p in range(3)] + [False]
        stride, run = 1, 1
        for place in range(4):
            if equal[place]:
                run += 1
                continue
            begin = place + 1 - run
            strides[configuration, begin] = stride
            stride *= comb(classes[begin] + run - 1, run)
            run = 1
        starts[configuration] = size
        suit_classes[configuration] = classes
        equal_suits[configuration] = sum(flag << place for place, flag in enumerate(equal))
        size += stride

    tables = HandIndexTables(
        round_sizes=np.array(shape, np.int64),
        set_sizes=np.array([s.bit_count() for s in range(1 << 13)], np.uint8),
        choose=np.array([[comb(n, k) for k in range(14)] for n in range(14)], np.int64),
        suit_keys=suit_keys,
        split_start=split_start[:-1].astype(np.int64),
        splits=splits,
        code_stride=code_stride[:-1].astype(np.int64),
        multiplier_start=multiplier_start,
        multipliers=np.array(multipliers, np.int64),
        arrangements=arrangements,
        starts=starts,
        equal_suits=equal_suits,
        strides=strides,
        suit_classes=suit_classes,
        suit_counts=np.array(list(configurations), np.int64),
    )
    return tables, size


def _splits(count: int) -> list[tuple[int, ...]]:
    """Every way to spread `count` cards over four suits."""
    return [split for split in product(range(count + 1), repeat=4) if sum(split) == count]


def _codes(round_splits: list[list[tuple[int, ...]]]) -> list[tuple[tuple[int, ...], ...]]:
    """One split for each round, in order of their code: the first round's split number varies fastest."""
    return [combination[::-1] for combination in product(*reversed(round_splits))]


def _suit_classes(counts: Sequence[int]) -> int:
    """How many ways a suit's ranks can fall when round r brings counts[r] of them."""
    return prod(comb(13 - sum(counts[:r]), count) for r, count in enumerate(counts))
