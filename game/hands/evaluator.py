"""Hand ranks: the best five of up to seven cards as an integer from 1 (7-high) to 7462 (royal flush).

Ranks are the 7,462 classes of standard high poker in order. With fewer than five cards only pairs, sets and high cards
count (Kuhn, Leduc), and ranks compare among hands of one size. Tables take 240 KB; built at first use and kept.
"""

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foldwise.game.cards import NUM_CARDS
from foldwise.game.hands import evaluator_kernels as kernels
from foldwise.game.hands.hole_cards import NUM_PAIRS
from foldwise.game.kept_tables import kept_tables

NUM_RANKS = 7462
MAX_CARDS = 7
CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
# Distinct five-card hands of each category, and the lowest rank of each.
CATEGORY_CLASSES = (1277, 2860, 858, 858, 10, 1277, 156, 156, 10)
CATEGORY_START = tuple(1 + sum(CATEGORY_CLASSES[:i]) for i in range(len(CATEGORY_CLASSES)))
_HIGH_CARD, _PAIR, _TWO_PAIR, _TRIPS, _STRAIGHT, _FLUSH, _FULL_HOUSE, _QUADS, _STRAIGHT_FLUSH = range(9)
_LOAD = 0.8  # share of hash slots in use: a multiplier is found quickly; at 0.9 the search takes five times as long


class EvaluatorTables(NamedTuple):
    """What the ranking kernels read."""

    words: NDArray[np.int64]  # [52] key of the card's rank, and one in its suit's counter
    multipliers: NDArray[np.uint32]  # [8192] by hash bucket
    ranks: NDArray[np.uint16]  # [hash slot]
    flushes: NDArray[np.uint16]  # [8192] by the set of ranks in the suit; 0 below five


@cache
def evaluator_tables() -> EvaluatorTables:
    """The tables, read from the cache or built, once per process."""
    return EvaluatorTables(**kept_tables("evaluator", __name__, lambda: _build_tables()._asdict()))


def _build_tables() -> EvaluatorTables:
    counts = _rank_multisets()
    keys = counts @ (5 ** np.arange(13))
    ranks = _multiset_ranks(counts)

    multipliers, slots = _perfect_hash(keys, ranks)
    card = np.arange(NUM_CARDS)
    words = 5 ** (card >> 2) + (1 << (32 + 4 * (card & 3)))
    return EvaluatorTables(words, multipliers, slots, _flush_ranks())


def rank_hand(cards: Sequence[int]) -> int:
    """Rank of 1 to 7 distinct cards; a higher rank wins against another hand of as many cards."""
    hand = np.asarray(cards, np.int64)
    if not 1 <= hand.size <= MAX_CARDS or len(set(cards)) != hand.size or hand.min() < 0 or hand.max() >= NUM_CARDS:
        raise ValueError(f"hand {list(cards)}: expected 1 to 7 distinct cards, each 0 to 51")
    return int(kernels.rank_of_hand(evaluator_tables(), hand, hand.size))


def rank_hands(hands: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Rank of each row of an [n, 1..7] array of cards. Cards are trusted: check what comes from outside."""
    out = np.empty(hands.shape[0], np.uint16)
    kernels.rank_hands_into(evaluator_tables(), hands, out)
    return out


def rank_pairs(board: Sequence[int]) -> NDArray[np.uint16]:
    """[1326] rank of every two hole cards on a board of 3 to 5 cards, as `game.hands.hole_cards` numbers them; 0: a clash."""
    out = np.empty(NUM_PAIRS, np.uint16)
    kernels.rank_pairs_into(evaluator_tables(), np.asarray(board, np.int64), len(board), out)
    return out


def category_of(rank: int) -> str:
    """`"full house"` and so on, for a rank of a hand of any size."""
    if not 1 <= rank <= NUM_RANKS:
        raise ValueError(f"rank {rank}: expected 1 to {NUM_RANKS}")
    return CATEGORIES[int(np.searchsorted(CATEGORY_START, rank, side="right")) - 1]


def _perfect_hash(keys: NDArray[np.int64], ranks: NDArray[np.uint16]) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
    """Multiplier of each bucket and rank of each slot, such that `word_rank` finds every key's rank.

    Buckets, the largest first, each take the first multiplier of a fixed row that puts all their keys on free slots.
    """
    num_buckets = 1 << kernels.BUCKET_BITS
    bucket = ((keys * kernels.BUCKET_MULTIPLIER) & kernels.KEY_BITS) >> (32 - kernels.BUCKET_BITS)
    by_bucket = np.argsort(bucket, kind="stable")
    sizes = np.bincount(bucket, minlength=num_buckets)
    first = np.cumsum(sizes) - sizes
    candidates = (np.arange(1, 1 << 16) * kernels.BUCKET_MULTIPLIER & kernels.KEY_BITS) | 1
    multipliers = np.zeros(num_buckets, np.uint32)
    slots = np.zeros(int(keys.size / _LOAD), np.uint16)
    for b in np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]:
        members = by_bucket[first[b] : first[b] + sizes[b]]
        start, stop = 0, 16
        while True:
            tried = candidates[start:stop]
            assert tried.size, "no perfect hash at this load"
            places = (((keys[members, None] * tried) & kernels.KEY_BITS) * slots.size) >> 32
            free = np.flatnonzero(~slots[places].any(axis=0))
            found = next((i for i in free if len(set(places[:, i].tolist())) == members.size), None)
            if found is not None:
                break
            start, stop = stop, 4 * stop
        multipliers[b] = tried[found]
        slots[places[:, found]] = ranks[members]
    return multipliers, slots


def _rank_multisets() -> NDArray[np.int64]:
    """[n, 13] how many cards of each rank, for all multisets of 1 to 7 cards."""
    rows = np.zeros((1, 0), np.int64)
    total = np.zeros(1, np.int64)
    for _ in range(13):
        grown = np.repeat(rows, 5, axis=0)
        digit = np.tile(np.arange(5), len(rows))
        total = np.repeat(total, 5) + digit
        fits = total <= MAX_CARDS
        rows, total = np.column_stack((grown, digit))[fits], total[fits]
    return rows[total > 0]


def _multiset_ranks(counts: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Rank of each multiset, suits aside: category, then the ranks that decide, compared as one number.

    A short hand takes its place within its category, numbered among hands of its own size.
    """
    size = counts.sum(axis=1)
    full = size > kernels.FEW_CARDS
    value = np.zeros(len(counts), np.int64)
    room = np.minimum(size, 5)
    left = counts.copy()
    groups = []
    # The best hand takes the largest group (the highest among equals) that still fits into five cards, and so on.
    for _ in range(5):
        usable = np.minimum(left, room[:, None])
        best = np.argmax(usable * 13 + np.arange(13), axis=1)[:, None]
        group = np.take_along_axis(usable, best, axis=1)[:, 0]
        value = value * 13 + np.where(group > 0, best[:, 0], 0)
        room -= group
        np.put_along_axis(left, best, 0, axis=1)
        groups.append(group)
    largest, second = groups[0], groups[1]
    category = np.select(
        [largest == 4, (largest == 3) & (second == 2), largest == 3, (largest == 2) & (second == 2), largest == 2],
        [_QUADS, _FULL_HOUSE, _TRIPS, _TWO_PAIR, _PAIR],
        _HIGH_CARD,
    )
    top = _straight_tops()[(counts > 0) @ (1 << np.arange(13))]
    straight = full & (top > 0) & (category < _STRAIGHT)
    category = np.where(straight, _STRAIGHT, category)
    value = np.where(straight, top, value)

    ranks = np.zeros(len(counts), np.uint16)
    for compared in (full, *(size == n for n in range(1, kernels.FEW_CARDS + 1))):
        for kind in range(len(CATEGORIES)):
            chosen = compared & (category == kind)
            ranks[chosen] = CATEGORY_START[kind] + np.unique(value[chosen], return_inverse=True)[1]
    return ranks


def _straight_tops() -> NDArray[np.int64]:
    """[8192] the highest straight in a set of ranks, 1 (A2345) to 10 (TJQKA), or 0."""
    tops = np.zeros(1 << 13, np.int64)
    sets = np.arange(1 << 13)
    for top in range(1, 11):
        needed = 0b1111 | 1 << 12 if top == 1 else 0b11111 << (top - 2)
        tops[sets & needed == needed] = top
    return tops


def _flush_ranks() -> NDArray[np.uint16]:
    """[8192] rank of a flush or straight flush by the set of ranks in the suit, of which there are five or more."""
    sets = np.arange(1 << 13)
    sizes = np.array([s.bit_count() for s in range(1 << 13)])
    best = sets.copy()
    for _ in range(2):  # drop the lowest of more than five
        best = np.where(np.array([b.bit_count() for b in best.tolist()]) > 5, best & (best - 1), best)
    tops = _straight_tops()
    plain = sorted(b for b in (sum(1 << r for r in c) for c in combinations(range(13), 5)) if tops[b] == 0)
    ranks = np.zeros(1 << 13, np.uint16)
    flush = (sizes >= 5) & (sizes <= MAX_CARDS)
    ranks[flush] = CATEGORY_START[_FLUSH] + np.searchsorted(plain, best[flush])
    straight = flush & (tops > 0)
    ranks[straight] = CATEGORY_START[_STRAIGHT_FLUSH] + tops[straight] - 1
    return ranks
