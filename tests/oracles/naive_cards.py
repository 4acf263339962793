"""Slow textbook oracles for cards: ranking by all five-card subsets, suit isomorphism by all relabellings."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, permutations


def naive_strength(cards: Sequence[int]) -> tuple[int, ...]:
    """Comparable strength of 1 to 7 cards, best five; below five cards neither straights nor flushes count."""
    if len(cards) > 5:
        return max(naive_strength(five) for five in combinations(cards, 5))
    ranks = sorted((card >> 2 for card in cards), reverse=True)
    groups = sorted(Counter(ranks).items(), key=lambda item: (item[1], item[0]), reverse=True)
    sizes = [size for _, size in groups]
    order = [rank for rank, _ in groups]
    if len(cards) == 5:
        flush = len({card & 3 for card in cards}) == 1
        wheel = ranks == [12, 3, 2, 1, 0]
        straight = wheel or (len(groups) == 5 and ranks[0] - ranks[4] == 4)
        if straight:
            return (8 if flush else 4, 3 if wheel else ranks[0])
        if flush:
            return (5, *ranks)
    if sizes[0] == 4:
        return (7, *order)
    if sizes[0] == 3 and len(sizes) > 1 and sizes[1] == 2:
        return (6, *order)
    if sizes[0] == 3:
        return (3, *order)
    if sizes[0] == 2 and len(sizes) > 1 and sizes[1] == 2:
        return (2, *order)
    if sizes[0] == 2:
        return (1, *order)
    return (0, *order)


def naive_class(cards: Sequence[int], shape: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The least of all 24 relabellings of a hand, cards sorted within each round: equal for equal classes only."""
    relabelled = []
    for suits in permutations(range(4)):
        rounds, first = [], 0
        for count in shape:
            rounds.append(tuple(sorted(4 * (c >> 2) + suits[c & 3] for c in cards[first : first + count])))
            first += count
        relabelled.append(tuple(rounds))
    return min(relabelled)
