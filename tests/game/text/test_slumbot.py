"""Slumbot's betting text against our rules and against ACPC's text."""

import numpy as np
import pytest

from foldwise.agent.bots import Bot
from foldwise.game.betting import BettingState
from foldwise.game.errors import FormatError, IllegalActionError
from foldwise.game.hands.dealing import Shoe
from foldwise.game.library import find_definition
from foldwise.game.text.slumbot import play, read_increment, read_slumbot, slumbot_text, start_betting
from foldwise.matches.table.hand import Hand

HUNL = find_definition("hunl")


@pytest.mark.parametrize(
    "slumbot, acpc",
    [
        ("", ""),
        ("c", "c"),
        ("ck/", "cc/"),
        ("b200c/kk/kk/kb200", "r200c/cc/cc/cr400"),
        ("b300b900c/kb900", "r300r900c/cr1800"),
        ("b20000c///", "r20000c///"),
        ("b200c/b19800f", "r200c/r20000f"),
        ("f", "f"),
    ],
)
def test_text_of_known_hands(slumbot, acpc):
    betting = read_slumbot(slumbot, HUNL).betting
    assert betting.betting_text() == acpc
    assert slumbot_text(betting) == slumbot


def test_round_trip_of_played_hands():
    """Hands of a bot that bets at random, all sizes and all streets: text and betting give each other back."""
    players = (Bot("random", 1), Bot("random", 2))
    streets = set()
    for number, deal in zip(range(300), Shoe(HUNL, 7).deals()):
        hand = Hand(HUNL, deal, number)
        while not hand.betting.finished:
            state = hand.state(hand.betting.player_to_act)
            hand.apply(players[state.position].choose(state))
            assert read_slumbot(slumbot_text(hand.betting), HUNL).betting == hand.betting
        streets.add(hand.betting.round)
    assert streets == {0, 1, 2, 3}


@pytest.mark.parametrize("text", ["b200ckkkkkb200c", "b200c/kk//kk/kb200c", "b20000c", "b20000c/", "b20000c//////"])
def test_marks_between_streets_may_be_missing_or_repeated(text):
    betting = read_slumbot(text, HUNL).betting
    assert betting.finished
    assert betting.is_showdown()


@pytest.mark.parametrize(
    "before, increment, expected",
    [
        ("", "k", "facing a bet"),
        ("c", "c", "without a bet"),
        ("c", "f", "checking is free"),
        ("ck/", "c", "without a bet"),
        ("b300", "k", "facing a bet"),
        ("b300", "b400", "b500 to b20000"),
        ("b300", "b20001", "b500 to b20000"),
        ("ck/", "b99", "b100 to b19900"),
        ("ck/", "b19901", "b100 to b19900"),
        ("b20000", "b20000", "no raise is possible"),
        ("b20000c///", "k", "the hand is over"),
        ("", "b", "expected k, c, f or bN"),
        ("", "", "expected k, c, f or bN"),
        ("", "cc", "expected k, c, f or bN"),
        ("", "b-300", "expected k, c, f or bN"),
        ("", "b1e3", "expected k, c, f or bN"),
        ("", "r300", "expected k, c, f or bN"),
    ],
)
def test_illegal_increments_say_what_is_legal(before, increment, expected):
    state = read_slumbot(before, HUNL)
    text = slumbot_text(state.betting)
    with pytest.raises(IllegalActionError, match=expected):
        read_increment(increment, state)
    assert slumbot_text(state.betting) == text


def test_every_legal_size_is_read():
    state = start_betting(HUNL)
    rng = np.random.default_rng(3)
    for amount in (200, 20000, *rng.integers(201, 19999, 50).tolist()):
        assert read_increment(f"b{amount}", state).raise_to == amount
    flop = play(
        play(start_betting(HUNL), read_increment("b300", state)), read_increment("c", read_slumbot("b300", HUNL))
    )
    assert read_increment("b100", flop).raise_to == 400
    assert isinstance(flop.betting, BettingState)


def test_damaged_text_is_refused():
    with pytest.raises(FormatError, match="character 2"):
        read_slumbot("cx", HUNL)
    with pytest.raises(FormatError, match="character 5"):
        read_slumbot("b300k", HUNL)
