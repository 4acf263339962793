"""Suit-isomorphic indexes: published sizes, bijection, invariance, and agreement with all 24 relabellings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldwise.game.hands.hand_index import HandIndex, hand_index
from tests.oracles.naive_cards import naive_class

SIZES = {
    (2,): 169,
    (2, 3): 1_286_792,
    (2, 3, 1): 55_190_538,
    (2, 3, 1, 1): 2_428_287_420,
    (2, 4): 13_960_050,
    (2, 5): 123_156_254,
    (3,): 1_755,
    (4,): 16_432,
    (5,): 134_459,
    (3, 1, 1): 2_554_656,
}


@pytest.mark.parametrize("shape, size", SIZES.items())
def test_published_sizes(shape, size):
    """Waugh (2013), table 1, and the known counts of boards."""
    assert hand_index(shape).size == size


@pytest.mark.parametrize("shape", [(1,), (2,), (3,), (4,), (5,), (2, 3), (3, 1), (1, 1, 1), (2, 1, 1)])
def test_bijective_over_all_classes(shape):
    index = hand_index(shape)
    every = np.arange(index.size)
    hands = index.unindex_hands(every)
    assert (index.index_hands(hands) == every).all()
    ordered = np.sort(hands, axis=1)
    assert (ordered[:, 1:] > ordered[:, :-1]).all() and ordered.max() < 52


@pytest.mark.parametrize(
    "shape", [(2, 3, 1), (2, 3, 1, 1), (2, 4), (2, 5), (3, 1, 1), (7,), (1, 1, 1, 1, 1, 1, 1), (2, 2, 5)]
)
def test_bijective_on_a_sample(shape):
    index = hand_index(shape)
    some = np.unique(np.r_[0, index.size - 1, np.random.default_rng(1).integers(0, index.size, 20_000)])
    assert (index.index_hands(index.unindex_hands(some)) == some).all()


@settings(deadline=None)  # the first call may compile
@given(
    st.permutations(range(52)),
    st.permutations(range(4)),
    st.sampled_from([*SIZES, (1, 1, 1, 1), (7,), (2, 2, 5)]),
    st.randoms(use_true_random=False),
)
def test_suits_and_order_within_rounds_do_not_matter(deck, suits, shape, random):
    index = hand_index(shape)
    hand = deck[: index.num_cards]
    relabelled = [4 * (card >> 2) + suits[card & 3] for card in hand]
    first = 0
    for count in shape:
        piece = relabelled[first : first + count]
        random.shuffle(piece)
        relabelled[first : first + count] = piece
        first += count
    assert index.index(relabelled) == index.index(hand)
    assert naive_class(index.unindex(index.index(hand)), shape) == naive_class(hand, shape)


@pytest.mark.parametrize("shape", [(2,), (3,), (1, 2), (4,)])
def test_same_classes_as_all_relabellings(shape):
    """Over random hands two indexes are equal exactly when the oracle's classes are."""
    index = hand_index(shape)
    rng = np.random.default_rng(3)
    hands = np.argsort(rng.random((3000, 52)), axis=1)[:, : index.num_cards]
    pairs = {(index.index(hand), naive_class(hand, shape)) for hand in hands.tolist()}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_border_is_checked():
    with pytest.raises(ValueError, match="expected rounds of one card or more"):
        HandIndex((2, 0))
    with pytest.raises(ValueError, match="at most 9"):
        HandIndex((5, 5))
    with pytest.raises(ValueError, match="expected 2 distinct cards"):
        hand_index((2,)).index([3, 3])
    with pytest.raises(ValueError, match="expected 0 to 168"):
        hand_index((2,)).unindex(169)
