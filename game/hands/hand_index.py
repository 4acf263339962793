"""Suit-isomorphic hand index: a perfect numbering of card groups up to relabelling of suits.

A shape lists how many cards each round brings: `(2, 3, 1, 1)` is hole cards, flop, turn and river in order, `(2, 5)`
forgets the order of the board, `(3,)` is a flop alone. Order within a round never matters. After K. Waugh, A fast and
optimal hand isomorphism algorithm (AAAI workshop on computer poker, 2013); the order of the classes is our own.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from foldwise.game.hands import hand_index_kernels as kernels

MAX_CARDS = 9  # beyond it a suit's number may pass 32 bits


HandIndexTables = NDArray[np.int64]  # one array; game.hand_index_kernels names its parts


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
    """The index of a shape, built once per process."""
    return HandIndex(shape)


def _build(shape: tuple[int, ...]) -> tuple[HandIndexTables, int]:
    round_splits = [_splits(count) for count in shape]
    data = [0] * kernels.HEADER

    def put(values: Iterable[int]) -> int:
        place = len(data)
        data.extend(values)
        return place

    data[kernels.NUM_ROUNDS] = len(shape)
    data[kernels.ROUND_SIZES] = put(shape)
    data[kernels.CHOOSE] = put(comb(n, k) for n in range(14) for k in range(14))
    suit_keys = [(1, n + 1, (n + 1) ** 2, 0) for n in shape]
    data[kernels.SUIT_KEYS] = put(key for keys in suit_keys for key in keys)
    split_starts, multiplier_starts, code_strides = [], [], []
    for r, splits in enumerate(round_splits):
        numbers = [0] * (shape[r] + 1) ** 3
        for number, split in enumerate(splits):
            numbers[sum(key * count for key, count in zip(suit_keys[r], split))] = number
        split_starts.append(put(numbers))
        before = _codes(round_splits[:r])
        multiplier_starts.append(put(_suit_classes([s[suit] for s in code]) for code in before for suit in range(4)))
        code_strides.append(len(before))
    data[kernels.SPLIT_START] = put(split_starts)
    data[kernels.MULTIPLIER_START] = put(multiplier_starts)
    data[kernels.CODE_STRIDE] = put(code_strides)

    arrangements = []
    configurations: dict[tuple[tuple[int, ...], ...], int] = {}
    for code in _codes(round_splits):
        suits = [tuple(split[suit] for split in code) for suit in range(4)]
        order = sorted(range(4), key=suits.__getitem__, reverse=True)
        configuration = configurations.setdefault(tuple(suits[suit] for suit in order), len(configurations))
        arrangements.append(configuration << 8 | sum(suit << 2 * place for place, suit in enumerate(order)))
    data[kernels.ARRANGEMENTS] = put(arrangements)

    starts: list[int] = []
    rows: list[int] = []
    size = 0
    for counts in configurations:
        classes = [_suit_classes(row) for row in counts]
        equal = [counts[p] == counts[p + 1] and sum(counts[p]) > 0 for p in range(3)] + [False]
        strides = [0, 0, 0, 0]
        stride, run = 1, 1
        for place in range(4):
            if equal[place]:
                run += 1
                continue
            begin = place + 1 - run
            strides[begin] = stride
            stride *= comb(classes[begin] + run - 1, run)
            run = 1
        starts.append(size)
        rows += [sum(flag << place for place, flag in enumerate(equal)), *strides, *classes]
        rows += [count for row in counts for count in row]
        size += stride
    data[kernels.NUM_CONFIGURATIONS] = len(configurations)
    data[kernels.STARTS] = put(starts)
    data[kernels.CONFIGURATIONS] = put(rows)
    return np.array(data, np.int64), size


def _splits(count: int) -> list[tuple[int, ...]]:
    """Every way to spread `count` cards over four suits."""
    return [split for split in product(range(count + 1), repeat=4) if sum(split) == count]


def _codes(round_splits: list[list[tuple[int, ...]]]) -> list[tuple[tuple[int, ...], ...]]:
    """One split for each round, in order of their code: the first round's split number varies fastest."""
    return [combination[::-1] for combination in product(*reversed(round_splits))]


def _suit_classes(counts: Sequence[int]) -> int:
    """How many ways a suit's ranks can fall when round r brings counts[r] of them."""
    return prod(comb(13 - sum(counts[:r]), count) for r, count in enumerate(counts))
