"""Match states: text both ways, the dealer's lenient reading, visibility."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldwise.game.betting import CALL, FOLD, RAISE, Action, BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.errors import FormatError
from foldwise.game.hands.dealing import Shoe
from foldwise.game.text.match_state import (
    parse_match_state,
    read_action,
    read_match_state,
    view,
    visible_hole_cards,
)
from tests.support.generators import definitions, golden_game, random_action

NOLIMIT = golden_game("holdem.nolimit.2p.reverse_blinds.game")
LIMIT = golden_game("holdem.limit.2p.reverse_blinds.game")
THREE = golden_game("holdem.nolimit.3p.game")
FLOP = "MATCHSTATE:0:30:cr300c/:7d3d|/5sKs7s"


def test_fields_of_a_state():
    state = parse_match_state("MATCHSTATE:1:7:cr300c/c:|2hAc/5sKs7s\r\n", NOLIMIT)
    assert (state.position, state.hand_number) == (1, 7)
    assert state.betting.betting_text() == "cr300c/c"
    assert state.hole_cards == [(), parse_cards("2hAc")]
    assert state.board == parse_cards("5sKs7s")
    assert state.is_turn()


def test_turn_is_worked_out_from_the_state():
    assert not parse_match_state("MATCHSTATE:0:0::7d3d|", NOLIMIT).is_turn()
    assert parse_match_state("MATCHSTATE:1:0::|7d3d", NOLIMIT).is_turn()
    assert not parse_match_state("MATCHSTATE:0:0:r20000c///:7d3d|2hAc/5sKs7s/2c/2d", NOLIMIT).is_turn()


@pytest.mark.parametrize(
    "line",
    [
        FLOP,
        "MATCHSTATE:0:30:cr300c:7d3d|/5sKs7s",  # the slashes of the betting are skipped wherever they stand
        "MATCHSTATE:0:30:/c/r300/c///:7d3d|/5sKs7s",
        "MATCHSTATE:0:30:CR300C/:7D3D|/5SkS7s",
        "MATCHSTATE:0:30:kb300k/:7d3d|/5sKs7s",
        "MATCHSTATE:0:30:cr 300c/:7d3d|/5sKs7s",
        "MATCHSTATE:0:30:cr+300c/:7d3d|/5sKs7s",
        "MATCHSTATE:0:30:cr00300c/:7d3d|/5sKs7s",
        "MATCHSTATE:0:30:cr4294967596c/:7d3d|/5sKs7s",  # 2^32 + 300
        "MATCHSTATE: 0: +030:cr300c/:7d3d|/5sKs7s",
        "MATCHSTATE:000:4294967326:cr300c/:7d3d|/5sKs7s",  # the hand number has 32 bits
        "MATCHSTATE:0:30:cr300c/:7d3d/5sKs7s",  # without the bar
        "MATCHSTATE:0:30:cr300c/:7d3d|2c2h/5sKs7s",  # other players' cards are not compared
    ],
)
def test_lenient_forms_mean_the_same(line):
    state, end = read_match_state(line, NOLIMIT)
    assert end == len(line)
    assert state.same_request(parse_match_state(FLOP, NOLIMIT))
    if "2c2h" not in line:
        assert state.text() == FLOP


@pytest.mark.parametrize(
    "line",
    [
        "",
        " " + FLOP,
        "matchstate:0:30:cr300c/:7d3d|/5sKs7s",
        "MATCHSTATE:2:30:cr300c/:7d3d|/5sKs7s",  # no such position
        "MATCHSTATE:-1:30:cr300c/:7d3d|/5sKs7s",
        "MATCHSTATE::30:cr300c/:7d3d|/5sKs7s",
        "MATCHSTATE:0 :30:cr300c/:7d3d|/5sKs7s",  # a blank before a colon
        "MATCHSTATE:0:30 :cr300c/:7d3d|/5sKs7s",
        "MATCHSTATE:0:x:cr300c/:7d3d|/5sKs7s",
        "MATCHSTATE:0:30:cr300 c/:7d3d|/5sKs7s",
        "MATCHSTATE:0:30:cr199c/:7d3d|/5sKs7s",  # too small a raise: no repairs here
        "MATCHSTATE:0:30:cr20001c/:7d3d|/5sKs7s",
        "MATCHSTATE:0:30:crc/:7d3d|/5sKs7s",  # no amount
        "MATCHSTATE:0:30:cf:7d3d|",  # a fold where checking is free
        "MATCHSTATE:0:30:fc:7d3d|",  # an action after the end
        "MATCHSTATE:0:30:cr300c/",  # the line ends in the betting
        "MATCHSTATE:0:30:cr300c/:7d|/5sKs7s",  # half a hand
        "MATCHSTATE:0:30:cr300c/:7d3d|/5sKs",  # board too short
        "MATCHSTATE:0:30:cr300c/:7d3d|",
        "MATCHSTATE:0:30:cr300c/:7d3d5sKs7s",  # without the slash the flop is taken for the other's hand
        "MATCHSTATE:0:30:cr300c/:7d3d|/5sKs7",
    ],
)
def test_unreadable_states(line):
    assert read_match_state(line, NOLIMIT) is None
    with pytest.raises(FormatError, match="expected MATCHSTATE:position:hand:betting:cards"):
        parse_match_state(line, NOLIMIT)


def test_position_is_read_into_eight_bits():
    """The reference reads the position as C's scanf does: 256 is position 0."""
    assert read_match_state(FLOP.replace(":0:", ":256:", 1), NOLIMIT)[0].position == 0


def test_end_of_the_state_is_where_the_answer_starts():
    state, end = read_match_state(FLOP + ":r500\r\n", NOLIMIT)
    assert (FLOP + ":r500")[end:] == ":r500"
    assert state.text() == FLOP
    with pytest.raises(FormatError, match="':r500' after the cards: expected the end of the line"):
        parse_match_state(FLOP + ":r500", NOLIMIT)


def test_numbers_of_thousands_of_digits_are_read():
    assert read_match_state(f"MATCHSTATE:{'0' * 5000}:{'9' * 5000}::7d3d|", NOLIMIT)[0].hand_number == 2**32 - 1
    assert read_action("r" + "9" * 5000, 0, NOLIMIT) == (Action(RAISE, -1), 5001)


@pytest.mark.parametrize(
    "text, action",
    [
        ("f", Action(FOLD)),
        ("F", Action(FOLD)),
        ("c", Action(CALL)),
        ("K", Action(CALL)),
        ("r300", Action(RAISE, 300)),
        ("B300", Action(RAISE, 300)),
        ("r 300", Action(RAISE, 300)),
        ("r+300", Action(RAISE, 300)),
        ("r-300", Action(RAISE, -300)),
        ("r00300", Action(RAISE, 300)),
        ("r2147483648", Action(RAISE, -(2**31))),
        ("r4294967295", Action(RAISE, -1)),
        ("r4294967596", Action(RAISE, 300)),
        ("r9223372036854775808", Action(RAISE, -1)),
        ("r-9223372036854775809", Action(RAISE, 0)),
    ],
)
def test_actions_of_no_limit(text, action):
    assert read_action(text, 0, NOLIMIT) == (action, len(text))
    assert read_action("xx" + text, 2, NOLIMIT) == (action, len(text) + 2)


@pytest.mark.parametrize("text, end", [("r300.5", 4), ("r300e2", 4), ("r300f", 4), ("cf", 1)])
def test_rest_after_the_action_is_left(text, end):
    assert read_action(text, 0, NOLIMIT)[1] == end


@pytest.mark.parametrize("text", ["r", "rabc", "r-", "r +-3"])
def test_no_limit_raise_without_a_number(text):
    action, end = read_action(text, 0, NOLIMIT)
    assert action.kind == RAISE
    assert end == -1


@pytest.mark.parametrize("text", ["", " c", "3", ":", "x"])
def test_unknown_letter_is_no_action(text):
    assert read_action(text, 0, NOLIMIT) == (None, 1)


def test_limit_raise_leaves_digits_alone():
    assert read_action("r300", 0, LIMIT) == (Action(RAISE), 1)


def test_requests_differ_by_meaning():
    asked = parse_match_state("MATCHSTATE:1:0:cr300c/c:|2hAc/5sKs7s", NOLIMIT)
    for line in (
        "MATCHSTATE:1:1:cr300c/c:|2hAc/5sKs7s",  # hand
        "MATCHSTATE:0:0:cr300c/c:2hAc|/5sKs7s",  # position
        "MATCHSTATE:1:0:cr301c/c:|2hAc/5sKs7s",  # amount
        "MATCHSTATE:1:0:cr300c/:|2hAc/5sKs7s",  # actions
        "MATCHSTATE:1:0:cr300c/cc/c:|2hAc/5sKs7s/2c",  # round
        "MATCHSTATE:1:0:cr300c/c:|2hAd/5sKs7s",  # own cards
        "MATCHSTATE:1:0:cr300c/c:|Ac2h/5sKs7s",  # and their order
        "MATCHSTATE:1:0:cr300c/c:|2hAc/5sKs7d",  # board
    ):
        assert not parse_match_state(line, NOLIMIT).same_request(asked)
    assert parse_match_state("MATCHSTATE:1:0:cr300c/c:9c9d|2hAc/5sKs7s", NOLIMIT).same_request(asked)


# Visibility -----------------------------------------------------------------------------------------------------------

HOLES = [parse_cards("7d3d"), parse_cards("2hAc"), parse_cards("9hJc")]


def after(game, betting: str) -> BettingState:
    holes = "|" * (game.num_players - 1)
    board = ["", "/5sKs7s", "/4h", "/6d"]
    for rounds in range(1, 5):  # the board as long as the betting asks for
        result = read_match_state(f"MATCHSTATE:0:0:{betting}:{holes}{''.join(board[:rounds])}", game)
        if result is not None and result[0].betting.round == rounds - 1:
            return result[0].betting
    raise AssertionError(betting)


@pytest.mark.parametrize(
    "betting, seen",
    [
        ("", [{0}, {1}, {2}]),
        ("ccc/", [{0}, {1}, {2}]),
        ("fr300f", [{0}, {1}, {2}]),  # one left: nobody shows
        ("ff", [{0}, {1}, {2}]),
        ("fr300c/cc/cc/cc", [{0, 1}, {0, 1}, {0, 1, 2}]),  # who folded sees the showdown, and keeps his own
        ("r20000cc///", [{0, 1, 2}] * 3),
        ("fr300c/cc/cc/c", [{0}, {1}, {2}]),
    ],
)
def test_who_sees_which_cards(betting, seen):
    state = after(THREE, betting)
    for position in range(3):
        cards = visible_hole_cards(state, HOLES, position)
        assert {p for p in range(3) if cards[p]} == seen[position]
        assert all(cards[p] == HOLES[p] for p in seen[position])


@settings(max_examples=50)
@given(definitions(), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_every_view_reads_back(game, seed, hand_number):
    rng = Random(seed)
    deal = next(Shoe(game, seed).deals(block=1))
    state = BettingState(game)
    while True:
        for position in range(game.num_players):
            shown = view(state, deal.hole_cards, deal.board, position, hand_number)
            line = shown.text()
            # In a game with board cards in the first round nothing parts them from an empty last section.
            if game.num_board_cards[0] and not shown.hole_cards[-1]:
                continue
            read = parse_match_state(line, game)
            assert read.text() == line
            assert read.same_request(shown)
            assert read.betting == state
            assert read.hole_cards == shown.hole_cards
            assert read.is_turn() == (state.player_to_act == position)
        if state.finished:
            break
        state.apply(random_action(state, rng))


@given(st.text(alphabet="MATCHSTE:01rcf/23|AsKd x", max_size=60))
def test_no_line_breaks_the_reader(tail):
    line = "MATCHSTATE:" + tail
    result = read_match_state(line, NOLIMIT)
    if result is not None:
        state, end = result
        assert 0 < end <= len(line)
        assert read_match_state(state.text(), NOLIMIT)[0].same_request(state)
