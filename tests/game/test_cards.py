"""Cards: numbers and text both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.game.cards import (
    NUM_CARDS,
    RANKS,
    SUITS,
    card_mask,
    card_text,
    cards_text,
    make_card,
    parse_card,
    parse_cards,
    rank_of,
    suit_of,
)
from foldwise.game.errors import FormatError

hands = st.lists(st.integers(0, NUM_CARDS - 1), unique=True, max_size=9)


def test_every_card_has_its_own_text_and_number():
    texts = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    assert [card_text(card) for card in range(NUM_CARDS)] == texts
    assert [parse_card(text) for text in texts] == list(range(NUM_CARDS))
    assert (parse_card("2c"), parse_card("As")) == (0, 51)


def test_number_is_four_times_rank_plus_suit():
    for rank in range(13):
        for suit in range(4):
            card = make_card(rank, suit)
            assert (rank_of(card), suit_of(card)) == (rank, suit)
            assert card_text(card) == RANKS[rank] + SUITS[suit]


@given(hands)
def test_text_of_cards_reads_back(cards):
    text = cards_text(cards)
    assert parse_cards(text) == tuple(cards)
    assert parse_cards(text.lower()) == parse_cards(text.upper()) == tuple(cards)
    assert parse_cards(" ".join(card_text(card) for card in cards)) == tuple(cards)


@given(hands)
def test_mask_has_one_bit_a_card(cards):
    mask = card_mask(cards)
    assert {card for card in range(64) if mask >> card & 1} == set(cards)


@pytest.mark.parametrize("text", ["", "A", "1s", "Ax", "As ", "sA", "10s", "AsA"])
def test_bad_card_is_named(text):
    with pytest.raises(FormatError, match="expected a rank of 23456789TJQKA") as error:
        parse_card(text)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize(
    "text, expected", [("AsK", "two letters a card"), ("AsXd", "'Xd'"), ("AsKdAs", "appears twice")]
)
def test_bad_cards_are_named(text, expected):
    with pytest.raises(FormatError, match=expected):
        parse_cards(text)
