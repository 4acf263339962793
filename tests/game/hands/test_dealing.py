"""Dealing from a seed, against cards and generator outputs of the reference dealer."""

import json
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldwise.game.cards import cards_text
from foldwise.game.hands.dealing import Deal, Shoe
from tests.support.generators import definitions, golden_game
from tests.support.places import GOLDEN as GOLDEN_FOLDER

GOLDEN = json.loads((GOLDEN_FOLDER / "deals.json").read_text())


def text(deal: Deal) -> str:
    return "|".join(map(cards_text, deal.hole_cards)) + "/" + cards_text(deal.board)


@pytest.mark.parametrize("row", GOLDEN["deals"], ids=lambda row: f"{row['seed']} {row['game']}")
def test_cards_of_the_reference_dealer(row):
    number, last = row["last"]
    dealt = [text(deal) for deal in islice(Shoe(golden_game(row["game"]), row["seed"]).deals(), number + 1)]
    assert dealt[: len(row["first"])] == row["first"]
    assert dealt[number] == last


@pytest.mark.parametrize("seed", GOLDEN["outputs"])
def test_outputs_of_the_reference_generator(seed):
    """Draws from a deck that is worked out here by hand: output mod cards left, the last card fills the gap."""
    game = golden_game("holdem.nolimit.2p.reverse_blinds.game")
    deck = list(game.deck)
    drawn = []
    for output in GOLDEN["outputs"][seed]:
        index = output % len(deck)
        drawn.append(deck[index])
        deck[index] = deck[-1]
        deck.pop()
    assert Shoe(game, int(seed)).cards(1)[0, : len(drawn)].tolist() == drawn


def test_known_first_hand():
    deal = next(Shoe(golden_game("holdem.nolimit.2p.reverse_blinds.game"), 0).deals())
    assert text(deal) == "5d5c|9hQd/8dAs8s4h6d"


def test_seed_wraps_at_32_bits():
    game = golden_game("holdem.nolimit.3p.game")
    assert np.array_equal(Shoe(game, 7).cards(3), Shoe(game, 7 + 2**32).cards(3))
    assert not np.array_equal(Shoe(game, 7).cards(3), Shoe(game, 8).cards(3))


@pytest.mark.parametrize("name", ["holdem.limit.3p.game", "kuhn.limit.3p.game", "ties.nolimit.4p.game"])
def test_blocks_of_any_size_deal_the_same_match(name):
    game = golden_game(name)
    whole = Shoe(game, 99).cards(60)
    shoe = Shoe(game, 99)
    assert np.array_equal(np.concatenate([shoe.cards(n) for n in (1, 7, 20, 32)]), whole)
    small = [text(deal) for deal in islice(Shoe(game, 99).deals(block=1), 60)]
    assert small == [text(deal) for deal in islice(Shoe(game, 99).deals(block=60), 60)]


@settings(max_examples=50)
@given(definitions(), st.integers(0, 2**32 - 1))
def test_every_hand_is_dealt_from_a_full_deck(game, seed):
    for deal in islice(Shoe(game, seed).deals(block=4), 6):
        cards = [card for hole in deal.hole_cards for card in hole] + list(deal.board)
        assert len(cards) == len(set(cards)) == game.cards_per_hand
        assert set(cards) <= set(game.deck)
        assert [len(hole) for hole in deal.hole_cards] == [game.num_hole_cards] * game.num_players
        assert len(deal.board) == game.board_sizes[-1]
