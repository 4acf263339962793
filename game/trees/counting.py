"""How large a game is: card combinations, suit-distinct classes, infosets and histories, in exact integers."""

from collections import Counter
from itertools import permutations
from math import comb

from foldwise.game.definition import GameDefinition


def private_views(definition: GameDefinition, street: int) -> int:
    """Ways a player can see cards on a street: his hole cards, then the new board cards of each street so far."""
    left = len(definition.deck)
    ways = comb(left, definition.num_hole_cards)
    left -= definition.num_hole_cards
    for new in definition.num_board_cards[: street + 1]:
        ways *= comb(left, new)
        left -= new
    return ways


def joint_deals(definition: GameDefinition, street: int) -> int:
    """Ways to deal every player's hole cards and the board up to a street."""
    left = len(definition.deck)
    ways = 1
    for _ in range(definition.num_players):
        ways *= comb(left, definition.num_hole_cards)
        left -= definition.num_hole_cards
    for new in definition.num_board_cards[: street + 1]:
        ways *= comb(left, new)
        left -= new
    return ways


def suit_classes(groups: tuple[int, ...], num_suits: int = 4, num_ranks: int = 13) -> int:
    """Card sets in groups (hole cards, flop, turn, ...) that differ under every relabelling of the suits.

    Burnside's lemma: the mean, over suit permutations, of the deals a permutation leaves alone. A permutation splits
    the deck into cycles, and a group it leaves alone is a union of cycles.
    """
    total = 0
    num_permutations = 0
    for permutation in permutations(range(num_suits)):
        num_permutations += 1
        total += _fixed_deals(_cycle_lengths(permutation) * num_ranks, groups)
    return total // num_permutations


def _cycle_lengths(permutation: tuple[int, ...]) -> list[int]:
    lengths = []
    seen: set[int] = set()
    for start in permutation:
        length = 0
        while start not in seen:
            seen.add(start)
            start = permutation[start]
            length += 1
        if length:
            lengths.append(length)
    return lengths


def _fixed_deals(cycles: list[int], groups: tuple[int, ...]) -> int:
    """Ways to fill each group exactly with whole cycles, each cycle used at most once."""
    ways: Counter[tuple[int, ...]] = Counter({groups: 1})  # cards still wanted by each group -> ways
    for length in cycles:
        after = Counter(ways)
        for wanted, count in ways.items():
            for group, need in enumerate(wanted):
                if need >= length:
                    after[*wanted[:group], need - length, *wanted[group + 1 :]] += count
        ways = after
    return ways[(0,) * len(groups)]


def rank_classes(groups: tuple[int, ...], num_suits: int, num_ranks: int) -> int:
    """Card sets in groups that differ in ranks, where suits never matter: games of fewer than five cards."""
    total: Counter[tuple[int, ...]] = Counter({groups: 1})
    for _ in range(num_ranks):
        after: Counter[tuple[int, ...]] = Counter()
        for wanted, count in total.items():
            for taken in _compositions(wanted, num_suits):
                after[tuple(w - t for w, t in zip(wanted, taken))] += count
        total = after
    return total[(0,) * len(groups)]


def _compositions(limits: tuple[int, ...], most: int) -> list[tuple[int, ...]]:
    """Tuples of non-negative numbers, each within its limit, that sum to at most `most`."""
    if not limits:
        return [()]
    return [
        (first, *rest) for first in range(min(limits[0], most) + 1) for rest in _compositions(limits[1:], most - first)
    ]


def distinct_views(definition: GameDefinition, street: int, run_out_cards: int = 0) -> int:
    """Views of a player that differ strategically: up to suits, or by rank alone where no five cards meet.

    `run_out_cards` are board cards dealt after the last street.
    """
    groups = tuple(n for n in (definition.num_hole_cards, *definition.num_board_cards[: street + 1]) if n)
    if definition.num_hole_cards + definition.board_sizes[-1] + run_out_cards < 5:
        return rank_classes(groups, definition.num_suits, definition.num_ranks)
    return suit_classes(groups, definition.num_suits, definition.num_ranks)
