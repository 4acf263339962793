# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Suit-isomorphic index kernels: Waugh, A fast and optimal hand isomorphism algorithm (AAAI workshop 2013).

Every suit gets a number for the ranks it holds, round by round; the four numbers are put in the order of the suits'
card counts, and suits with equal counts are ranked together as a multiset. Sets of ranks of the four suits stand in one
integer, 16 bits a suit; the four suit numbers in two, 32 bits a suit.

Kernels marked `_nrt=False` allocate nothing, and numba leaves out reference counts of the arrays they touch: without it
a bucket lookup takes 0.25 us instead of 0.1.
"""

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.hands.bits_kernels import bit_count

# `tables` is one int64 array, so that a call hands over one array and not fifteen: first the number of rounds, then at
# these places where each part begins. R rounds; a configuration is a sorted row of the four suits' card counts.
NUM_ROUNDS = 0
ROUND_SIZES = 1  # [R]
CHOOSE = 2  # [14, 14] binomials
SUIT_KEYS = 3  # [R, 4] a round's cards add these up to a key of their split over the suits
SPLIT_START = 4  # [R] where the round's splits begin
CODE_STRIDE = 5  # [R] weight of the round's split number in a hand's code
MULTIPLIER_START = 6  # [R] where the multipliers after the rounds before begin
ARRANGEMENTS = 7  # [code] configuration << 8 | suits in its order, two bits each
NUM_CONFIGURATIONS = 8  # a number, not a place
STARTS = 9  # [configuration] first index
CONFIGURATIONS = 10  # [configuration, ROW]
HEADER = 11
# A configuration's row: equal suits (bit p: suits at p and p + 1 have equal counts, not zero), the weight of the suit
# or run of suits that begins at each place, the numbers each suit can take, and the suits' counts, R for each.
EQUAL_SUITS, STRIDES, SUIT_CLASSES, SUIT_COUNTS = 0, 1, 5, 9


@kernel(_nrt=False)
def index_cards(tables, cards):  # [num_cards], round after round
    """The index of a hand's class under relabelling of suits and reordering of cards within a round."""
    return index_cards_at(tables, 0, cards)


@kernel(_nrt=False)
def index_cards_at(tables, base, cards):
    """`index_cards` with tables that begin at place `base` of an array shared with others."""
    round_sizes = base + tables[base + ROUND_SIZES]
    choose = base + tables[base + CHOOSE]
    used = 0
    code = 0  # which suits the cards of each round fell in
    numbers_01, numbers_23 = 0, 0
    first = 0
    for r in range(tables[base + NUM_ROUNDS]):
        last = first + tables[round_sizes + r]
        suit_keys = base + tables[base + SUIT_KEYS] + 4 * r
        multipliers = base + tables[base + tables[base + MULTIPLIER_START] + r] + 4 * code
        new = 0
        key = 0
        for i in range(first, last):
            suit = cards[i] & 3
            new |= 1 << (16 * suit + (cards[i] >> 2))
            key += tables[suit_keys + suit]
        for i in range(first, last):
            suit = cards[i] & 3
            rank = cards[i] >> 2
            below = (1 << rank) - 1
            place = rank - bit_count(used >> (16 * suit) & below)
            order = bit_count(new >> (16 * suit) & below)
            term = (tables[choose + 14 * place + order + 1] * tables[multipliers + suit]) << (32 * (suit & 1))
            lower = (suit >> 1) - 1  # all ones for suits 0 and 1: a mask, where a branch would often be mispredicted
            numbers_01 += term & lower
            numbers_23 += term & ~lower
        splits = base + tables[base + tables[base + SPLIT_START] + r]
        code += tables[base + tables[base + CODE_STRIDE] + r] * tables[splits + key]
        used |= new
        first = last

    arrangement = tables[base + tables[base + ARRANGEMENTS] + code]
    a = suit_number(numbers_01, numbers_23, arrangement & 3)
    b = suit_number(numbers_01, numbers_23, arrangement >> 2 & 3)
    c = suit_number(numbers_01, numbers_23, arrangement >> 4 & 3)
    d = suit_number(numbers_01, numbers_23, arrangement >> 6 & 3)
    configuration = arrangement >> 8
    row = base + tables[base + CONFIGURATIONS] + configuration * (SUIT_COUNTS + 4 * tables[base + NUM_ROUNDS])
    equal = tables[row + EQUAL_SUITS]
    strides = row + STRIDES
    index = tables[base + tables[base + STARTS] + configuration]
    # Suits of equal counts are neighbours and are ranked together, as a multiset.
    if equal == 0b000:
        return index + a * tables[strides] + b * tables[strides + 1] + c * tables[strides + 2] + d * tables[strides + 3]
    if equal == 0b001:
        return index + multiset_2(a, b) * tables[strides] + c * tables[strides + 2] + d * tables[strides + 3]
    if equal == 0b010:
        return index + a * tables[strides] + multiset_2(b, c) * tables[strides + 1] + d * tables[strides + 3]
    if equal == 0b100:
        return index + a * tables[strides] + b * tables[strides + 1] + multiset_2(c, d) * tables[strides + 2]
    if equal == 0b101:
        return index + multiset_2(a, b) * tables[strides] + multiset_2(c, d) * tables[strides + 2]
    if equal == 0b011:
        return index + multiset_3(a, b, c) * tables[strides] + d * tables[strides + 3]
    if equal == 0b110:
        return index + a * tables[strides] + multiset_3(b, c, d) * tables[strides + 1]
    return index + multiset_4(a, b, c, d) * tables[strides]


@kernel(inline="always")
def suit_number(numbers_01, numbers_23, suit):
    lower = (suit >> 1) - 1
    return ((numbers_01 & lower | numbers_23 & ~lower) >> (32 * (suit & 1))) & 0xFFFFFFFF


@kernel(inline="always")
def multiset_2(a, b):
    """Rank of {a, b} among pairs with repetition, by the larger first."""
    high, low = max(a, b), min(a, b)
    return (high * (high + 1) >> 1) + low


@kernel(_nrt=False)
def multiset_3(a, b, c):
    high = max(a, b, c)
    low = min(a, b, c)
    return high * (high + 1) * (high + 2) // 6 + multiset_2(a + b + c - high - low, low)


@kernel(_nrt=False)
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
    num_rounds = tables[NUM_ROUNDS]
    starts = tables[tables[STARTS] : tables[STARTS] + tables[NUM_CONFIGURATIONS]]
    configuration = np.searchsorted(starts, index, side="right") - 1
    row = tables[CONFIGURATIONS] + configuration * (SUIT_COUNTS + 4 * num_rounds)
    left = index - starts[configuration]
    equal = tables[row + EQUAL_SUITS]
    numbers = np.zeros(4, np.int64)
    suit = 0
    while suit < 4:
        run = 1
        while suit + run < 4 and equal >> (suit + run - 1) & 1:
            run += 1
        size = tables[row + SUIT_CLASSES + suit]
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

    choose = tables[CHOOSE]
    filled = np.zeros(num_rounds, np.int64)
    for suit in range(4):
        used = 0
        first = 0
        for r in range(num_rounds):
            count = tables[row + SUIT_COUNTS + num_rounds * suit + r]
            ways = tables[choose + 14 * (13 - bit_count(used)) + count]
            number = numbers[suit] % ways
            numbers[suit] //= ways
            new = 0
            for j in range(count, 0, -1):
                place = j - 1
                while tables[choose + 14 * (place + 1) + j] <= number:
                    place += 1
                number -= tables[choose + 14 * place + j]
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
            first += tables[tables[ROUND_SIZES] + r]


@kernel(_nrt=False)
def index_hands_into(tables, hands, out):  # [n, num_cards], [n]
    for h in range(hands.shape[0]):
        out[h] = index_cards(tables, hands[h])


@kernel
def unindex_hands_into(tables, indexes, hands):  # [n], [n, num_cards]
    for h in range(indexes.size):
        unindex_cards(tables, indexes[h], hands[h])
