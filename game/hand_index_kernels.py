"""Suit-isomorphic index kernels: Waugh, A fast and optimal hand isomorphism algorithm (AAAI workshop 2013).

Every suit gets a number for the ranks it holds, round by round; the four numbers are put in the order of the suits'
card counts, and suits with equal counts are ranked together as a multiset. Sets of ranks of the four suits stand in one
integer, 16 bits a suit; the four suit numbers in two, 32 bits a suit.
"""
# mypy: allow-untyped-defs

import numpy as np

from game.compiled import kernel


@kernel(inline="always")  # a call would copy fifteen arrays' descriptors: 6M a second instead of 11M
def index_cards(tables, cards):  # [num_cards], round after round
    """The index of a hand's class under relabelling of suits and reordering of cards within a round."""
    used = 0
    code = 0  # which suits the cards of each round fell in
    numbers_01, numbers_23 = 0, 0
    first = 0
    for r in range(tables.round_sizes.size):
        last = first + tables.round_sizes[r]
        new = 0
        key = 0
        for i in range(first, last):
            suit = cards[i] & 3
            new |= 1 << (16 * suit + (cards[i] >> 2))
            key += tables.suit_keys[r, suit]
        for i in range(first, last):
            suit = cards[i] & 3
            rank = cards[i] >> 2
            below = (1 << rank) - 1
            place = rank - tables.set_sizes[(used >> (16 * suit)) & below]
            order = tables.set_sizes[(new >> (16 * suit)) & below]
            multiplier = tables.multipliers[tables.multiplier_start[r] + 4 * code + suit]
            term = (tables.choose[place, order + 1] * multiplier) << (32 * (suit & 1))
            lower = (suit >> 1) - 1  # all ones for suits 0 and 1: a mask, where a branch would often be mispredicted
            numbers_01 += term & lower
            numbers_23 += term & ~lower
        code += tables.code_stride[r] * tables.splits[tables.split_start[r] + key]
        used |= new
        first = last

    arrangement = tables.arrangements[code]
    a = suit_number(numbers_01, numbers_23, arrangement & 3)
    b = suit_number(numbers_01, numbers_23, arrangement >> 2 & 3)
    c = suit_number(numbers_01, numbers_23, arrangement >> 4 & 3)
    d = suit_number(numbers_01, numbers_23, arrangement >> 6 & 3)
    configuration = arrangement >> 8
    equal = tables.equal_suits[configuration]
    strides = tables.strides[configuration]
    index = tables.starts[configuration]
    # Suits of equal counts are neighbours: the leading `equal` suits of each run are ranked as a multiset.
    if equal == 0b000:
        return index + a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3]
    if equal == 0b001:
        return index + multiset_2(a, b) * strides[0] + c * strides[2] + d * strides[3]
    if equal == 0b010:
        return index + a * strides[0] + multiset_2(b, c) * strides[1] + d * strides[3]
    if equal == 0b100:
        return index + a * strides[0] + b * strides[1] + multiset_2(c, d) * strides[2]
    if equal == 0b101:
        return index + multiset_2(a, b) * strides[0] + multiset_2(c, d) * strides[2]
    if equal == 0b011:
        return index + multiset_3(a, b, c) * strides[0] + d * strides[3]
    if equal == 0b110:
        return index + a * strides[0] + multiset_3(b, c, d) * strides[1]
    return index + multiset_4(a, b, c, d) * strides[0]


@kernel(inline="always")
def suit_number(numbers_01, numbers_23, suit):
    lower = (suit >> 1) - 1
    return ((numbers_01 & lower | numbers_23 & ~lower) >> (32 * (suit & 1))) & 0xFFFFFFFF


@kernel(inline="always")
def multiset_2(a, b):
    """Rank of {a, b} among pairs with repetition, by the larger first."""
    high, low = max(a, b), min(a, b)
    return (high * (high + 1) >> 1) + low


@kernel
def multiset_3(a, b, c):
    high = max(a, b, c)
    low = min(a, b, c)
    return high * (high + 1) * (high + 2) // 6 + multiset_2(a + b + c - high - low, low)


@kernel
def multiset_4(a, b, c, d):
    high = max(a, b, c, d)
    if high == a:
        rest = multiset_3(b, c, d)
    elif high == b:
        rest = multiset_3(a, c, d)
    elif high == c:
        rest = multiset_3(a, b, d)
    else:
        rest = multiset_3(a, b, c)
    return high * (high + 1) * (high + 2) * (high + 3) // 24 + rest


@kernel
def multisets(size, count):
    """How many multisets of `count` (0 to 4) out of `size`: C(size + count - 1, count)."""
    result = 1
    for i in range(count):
        result = result * (size + i) // (i + 1)
    return result


@kernel
def unindex_cards(tables, index, cards):  # [num_cards] overwritten
    """One hand of the class `index`: the one whose suits stand in the order of their card counts."""
    configuration = np.searchsorted(tables.starts, index, side="right") - 1
    left = index - tables.starts[configuration]
    equal = tables.equal_suits[configuration]
    numbers = np.zeros(4, np.int64)
    suit = 0
    while suit < 4:
        run = 1
        while suit + run < 4 and equal >> (suit + run - 1) & 1:
            run += 1
        size = tables.suit_classes[configuration, suit]
        group = multisets(size, run)
        number = left % group
        left //= group
        for j in range(run, 0, -1):  # the largest member first: the last with at most `number` multisets before it
            low, high = 0, size - 1
            while low < high:
                middle = (low + high + 1) // 2
                if multisets(middle, j) <= number:
                    low = middle
                else:
                    high = middle - 1
            numbers[suit + run - j] = low
            number -= multisets(low, j)
        suit += run

    filled = np.zeros(tables.round_sizes.size, np.int64)
    for suit in range(4):
        used = 0
        first = 0
        for r in range(tables.round_sizes.size):
            count = tables.suit_counts[configuration, suit, r]
            ways = tables.choose[13 - tables.set_sizes[used], count]
            number = numbers[suit] % ways
            numbers[suit] //= ways
            new = 0
            for j in range(count, 0, -1):
                place = j - 1
                while tables.choose[place + 1, j] <= number:
                    place += 1
                number -= tables.choose[place, j]
                rank = 0  # the free rank number `place`
                while True:
                    if not used >> rank & 1:
                        if place == 0:
                            break
                        place -= 1
                    rank += 1
                new |= 1 << rank
                cards[first + filled[r]] = 4 * rank + suit
                filled[r] += 1
            used |= new
            first += tables.round_sizes[r]


@kernel
def index_hands_into(tables, hands, out):  # [n, num_cards], [n]
    for h in range(hands.shape[0]):
        out[h] = index_cards(tables, hands[h])


@kernel
def unindex_hands_into(tables, indexes, hands):  # [n], [n, num_cards]
    for h in range(indexes.size):
        unindex_cards(tables, indexes[h], hands[h])
