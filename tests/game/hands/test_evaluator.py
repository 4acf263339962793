"""The evaluator against a textbook oracle and eval7, and its class counts."""

from itertools import combinations, combinations_with_replacement

import eval7
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldwise.game.cards import card_text, parse_cards
from foldwise.game.hands.evaluator import (
    CATEGORIES,
    CATEGORY_CLASSES,
    NUM_RANKS,
    category_of,
    evaluator_tables,
    rank_hand,
    rank_hands,
    rank_pairs,
)
from foldwise.game.hands.hole_cards import PAIR_CARDS, pair_number
from tests.oracles.naive_cards import naive_strength

DECK = [eval7.Card(card_text(card)) for card in range(52)]


def random_hands(num_hands: int, num_cards: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.argsort(rng.random((num_hands, 52)), axis=1)[:, :num_cards].astype(np.uint8)


def assert_same_order(ranks: np.ndarray, others: list) -> None:
    """Each determines the other, and they increase together."""
    pairs = sorted(set(zip(ranks.tolist(), others)))
    assert len({rank for rank, _ in pairs}) == len({other for _, other in pairs}) == len(pairs)
    assert [other for _, other in pairs] == sorted(other for _, other in pairs)


@pytest.mark.parametrize("num_cards", [1, 2, 3, 4, 5, 6, 7])
def test_order_of_naive_oracle(num_cards):
    hands = random_hands(4000, num_cards, seed=num_cards)
    assert_same_order(rank_hands(hands), [naive_strength(hand) for hand in hands.tolist()])


@pytest.mark.parametrize("num_cards", [5, 6, 7])
def test_order_of_eval7(num_cards):
    hands = random_hands(20_000, num_cards, seed=10 + num_cards)
    assert_same_order(rank_hands(hands), [eval7.evaluate([DECK[card] for card in hand]) for hand in hands])


def test_five_card_hands_reach_every_rank():
    """2,598,960 hands fall into the 7,462 known classes; the counts of the categories are the textbook ones."""
    hands = np.array(list(combinations(range(52), 5)), np.uint8)
    counts = np.bincount(rank_hands(hands), minlength=NUM_RANKS + 1)
    assert counts[0] == 0 and counts.size == NUM_RANKS + 1 and (counts[1:] > 0).all()
    first = np.cumsum((1, *CATEGORY_CLASSES[:-1]))
    by_category = dict(zip(CATEGORIES, np.add.reduceat(counts, first).tolist()))
    assert by_category == {
        "high card": 1302540,
        "pair": 1098240,
        "two pair": 123552,
        "three of a kind": 54912,
        "straight": 10200,
        "flush": 5108,
        "full house": 3744,
        "four of a kind": 624,
        "straight flush": 40,
    }


def test_hash_finds_every_rank_multiset():
    """No two of the 76,154 keys share a slot: as many slots are filled as there are multisets of 1 to 7 ranks."""
    num_multisets = sum(
        all(ranks.count(rank) <= 4 for rank in set(ranks))
        for size in range(1, 8)
        for ranks in combinations_with_replacement(range(13), size)
    )
    assert num_multisets == 76154
    assert np.count_nonzero(evaluator_tables().ranks) == num_multisets


@settings(deadline=None)  # the first call may compile
@given(st.permutations(range(52)), st.permutations(range(4)), st.integers(1, 7))
def test_suits_and_order_do_not_matter(deck, suits, num_cards):
    hand = deck[:num_cards]
    relabelled = [4 * (card >> 2) + suits[card & 3] for card in sorted(hand)]
    assert rank_hand(hand) == rank_hand(relabelled)


@pytest.mark.parametrize("board", ["As Kd 2c", "Th Jh Qh Kh", "2c 2d 2h 2s Ac", "5s 6s 7s 8s Kd", "Ac Kd 9h 5s 2c"])
def test_pairs_on_a_board(board):
    cards = parse_cards(board)
    ranks = rank_pairs(cards)
    for pair, (a, b) in enumerate(PAIR_CARDS.tolist()):
        assert pair_number(a, b) == pair_number(b, a) == pair
        clash = a in cards or b in cards
        assert ranks[pair] == (0 if clash else rank_hand([*cards, a, b]))


@pytest.mark.parametrize(
    "cards, name",
    [
        ("7h", "high card"),
        ("JsJd", "pair"),
        ("AsKsQsJs", "high card"),
        ("QsQdQh", "three of a kind"),
        ("QsQd2h2c", "two pair"),
        ("2s3s4s5s7h", "high card"),
        ("As2d3c4h5s", "straight"),
        ("As2s3s4s5s 6d 7d", "straight flush"),
        ("2s4s6s8sTs 6d 6h", "flush"),
        ("KsKdKh2c2d2h 3s", "full house"),
        ("9s9d9h9c2d", "four of a kind"),
    ],
)
def test_category(cards, name):
    assert category_of(rank_hand(parse_cards(cards))) == name


def test_border_is_checked():
    assert rank_hand(parse_cards("AsKsQsJsTs")) == NUM_RANKS
    for wrong in ([], [1, 1], [52], [-1, 3], list(range(8))):
        with pytest.raises(ValueError, match="expected 1 to 7 distinct cards"):
            rank_hand(wrong)
    with pytest.raises(ValueError, match="expected 1 to 7462"):
        category_of(0)
