# mypy: allow-untyped-defs, allow-untyped-calls
"""Deals in blocks: buckets of both players on every street, and the outcome."""

import numpy as np

from foldwise.abstraction.cards.card_abstraction_kernels import buckets_into
from foldwise.game.compiled import kernel
from foldwise.game.hands.evaluator_kernels import rank_of_hand
from foldwise.game.primitives.rng_kernels import next_uniform, shuffle_first


@kernel
def draw_categories(rng, keep, other, category_buckets, category_row, buckets, outcome_rows):
    """Draw categories by the alias method: one uniform number a deal, its integer part and its fraction."""
    num_streets = buckets.shape[2]
    for deal in range(buckets.shape[0]):
        scaled = next_uniform(rng) * keep.size
        category = int(scaled)
        if scaled - category >= keep[category]:
            category = other[category]
        for player in range(2):
            for street in range(num_streets):
                buckets[deal, player, street] = category_buckets[category, player, street]
        outcome_rows[deal] = category_row[category]


@kernel
def draw_holdem(rng, cards, evaluator, num_streets, num_board, buckets, outcome_rows):
    """Deal hole cards and board from the deck; buckets on every street, and the outcome row 0, 1, 2: lose, tie, win."""
    deck = np.empty(52, dtype=np.int64)
    hands = np.empty((2, 2 + num_board), dtype=np.int64)
    found = np.empty(num_streets, dtype=np.int64)
    for deal in range(buckets.shape[0]):
        for card in range(52):  # so that a deal depends on the generator alone
            deck[card] = card
        shuffle_first(rng, deck, 4 + num_board)
        for player in range(2):
            hands[player, 0] = deck[2 * player]
            hands[player, 1] = deck[2 * player + 1]
            for i in range(num_board):
                hands[player, 2 + i] = deck[4 + i]
            buckets_into(cards, num_streets, hands[player], found)
            for street in range(num_streets):
                buckets[deal, player, street] = found[street]
        first = rank_of_hand(evaluator, hands[0], 2 + num_board)
        second = rank_of_hand(evaluator, hands[1], 2 + num_board)
        outcome_rows[deal] = 1 + int(first > second) - int(first < second)


@kernel
def count_two_round_pairs(evaluator, flops, orbits, pairs, sequence, first, last, counts):
    """For flops first..last: ordered pairs of disjoint hands by their bucket sequences and outcome, counts[a, b, row].

    flops uint8[F, 3]; orbits int64[F], flops each stands for; pairs int64[1326, 2]; sequence int32[F, 1326], -1 where
    hand and flop clash.
    """
    num_pairs = pairs.shape[0]
    hand = np.empty(5, dtype=np.int64)
    mask = np.empty(num_pairs, dtype=np.int64)
    rank = np.empty(num_pairs, dtype=np.int64)
    bucket = np.empty(num_pairs, dtype=np.int64)
    for flop in range(first, last):
        for i in range(3):
            hand[2 + i] = flops[flop, i]
        num_live = 0
        for pair in range(num_pairs):
            if sequence[flop, pair] < 0:
                continue
            hand[0] = pairs[pair, 0]
            hand[1] = pairs[pair, 1]
            mask[num_live] = (1 << hand[0]) | (1 << hand[1])
            rank[num_live] = rank_of_hand(evaluator, hand, 5)
            bucket[num_live] = sequence[flop, pair]
            num_live += 1
        weight = orbits[flop]
        for i in range(num_live):
            for j in range(i):
                if mask[i] & mask[j]:
                    continue
                row = 1 + int(rank[i] > rank[j]) - int(rank[i] < rank[j])
                counts[bucket[i], bucket[j], row] += weight
                counts[bucket[j], bucket[i], 2 - row] += weight
