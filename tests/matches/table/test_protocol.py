"""The ACPC texts: what the dealer makes of an answer, version lines, log lines, and the client's reader of states."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.agent.clients.state_reader import StateReader
from foldwise.game.betting import CALL_ACTION, FOLD_ACTION, RAISE, Action
from foldwise.game.cards import parse_cards
from foldwise.game.definition import parse_definition
from foldwise.game.errors import FormatError
from foldwise.game.hands.dealing import Deal
from foldwise.game.library import PokerGame, find_game
from foldwise.game.text.match_state import read_match_state
from foldwise.matches.table.hand import Hand, format_value, position_of_seat, seat_of_position
from foldwise.matches.table.log import hand_number, line_values, parse_state_line
from foldwise.matches.table.replies import BAD_ACTION, BAD_STATE, INVALID_ACTION, LONG_ROUND, UNREQUESTED, read_answer
from foldwise.matches.table.version import is_supported, read_version
from tests.support.table import load_recording, recording_names


def _definition(name):
    game = find_game(name)
    assert isinstance(game, PokerGame)
    return game.definition


HUNL = _definition("hunl")
LIMIT = _definition("limit")
DEAL = Deal((parse_cards("7d3d"), parse_cards("2hAc")), parse_cards("5sKs7s4c9h"))


def _hand(betting="", definition=HUNL, number=3):
    hand = Hand(definition, DEAL, number)
    for token in betting.replace("c", " c").replace("r", " r").replace("f", " f").split():
        hand.apply(Action("fcr".index(token[0]), int(token[1:] or 0)))
    return hand


def _answer(hand, ending, state=None):
    requested = hand.line(hand.betting.player_to_act)
    return read_answer(f"{requested if state is None else state}{ending}".encode("latin-1"), hand, requested)


@pytest.mark.parametrize(
    "ending, action, warnings",
    [
        (":c\r\n", CALL_ACTION, ()),
        (":c", CALL_ACTION, ()),
        (":k\n", CALL_ACTION, ()),
        (":F\r\n", FOLD_ACTION, ()),
        (":r250\r\n", Action(RAISE, 250), ()),
        (":B 250\r\n", Action(RAISE, 250), ()),
        (":r+0250.5\r\n", Action(RAISE, 250), ()),
        (":r250e2 junk\r\n", Action(RAISE, 250), ()),
        (":c\0:f\r\n", CALL_ACTION, ()),
        (":r199\r\n", Action(RAISE, 200), ("WARNING: raise of 199 increased to 200",)),
        (":r-5\r\n", Action(RAISE, 200), ("WARNING: raise of -5 increased to 200",)),
        (":r20001\r\n", Action(RAISE, 20000), ("WARNING: raise of 20001 decreased to 20000",)),
        (":r4294967596\r\n", Action(RAISE, 300), ()),
        (":r99999999999999999999\r\n", Action(RAISE, 200), ("WARNING: raise of -1 increased to 200",)),
        (":r\r\n", CALL_ACTION, (BAD_ACTION,)),
        (":rabc\r\n", CALL_ACTION, (BAD_ACTION,)),
        ("\r\n", CALL_ACTION, (BAD_ACTION,)),
        (" :c\r\n", CALL_ACTION, (BAD_ACTION,)),
        ("c\r\n", CALL_ACTION, (BAD_ACTION,)),
        (": c\r\n", CALL_ACTION, (INVALID_ACTION,)),
        (":\r\n", CALL_ACTION, (INVALID_ACTION,)),
        (":7\r\n", CALL_ACTION, (INVALID_ACTION,)),
    ],
)
def test_action_after_the_right_state(ending, action, warnings):
    assert _answer(_hand(), ending) == (action, warnings)


@pytest.mark.parametrize(
    "state, warning",
    [
        ("MATCHSTATE:1:4::|2hAc", UNREQUESTED),  # another hand
        ("MATCHSTATE:0:3::7d3d|", UNREQUESTED),  # another position
        ("MATCHSTATE:1:3::|2hAd", UNREQUESTED),  # other cards
        ("MATCHSTATE:1:3:c:|2hAc", UNREQUESTED),  # other betting
        ("MATCHSTATE:1:3::|", UNREQUESTED),  # own cards left out: not the state that was sent
        ("MATCHSTATE:2:3::|2hAc", BAD_STATE),  # no such position
        (" MATCHSTATE:1:3::|2hAc", BAD_STATE),
        ("matchstate:1:3::|2hAc", BAD_STATE),
        ("MATCHSTATE:1:3:r100:|2hAc", BAD_STATE),  # an illegal raise
        ("MATCHSTATE:1:3:cc/:|2hAc", BAD_STATE),  # no board
        ("MATCHSTATE:1:3::|2h", BAD_STATE),
        ("", BAD_STATE),
    ],
)
def test_wrong_state_is_passed_over(state, warning):
    assert _answer(_hand(), ":c\r\n", state) == (None, (warning,))


@pytest.mark.parametrize(
    "state",
    ["MATCHSTATE:1:3::|2HaC", "MATCHSTATE: 01:+3::|2hAc", "MATCHSTATE:1:3:/:|2hAc", "MATCHSTATE:1:3::9c9d|2hAc"],
)
def test_other_ways_to_write_the_right_state(state):
    assert _answer(_hand(), ":c\r\n", state) == (CALL_ACTION, ())


def test_fold_where_checking_is_free_is_a_call():
    assert _answer(_hand("cc"), ":f\r\n") == (CALL_ACTION, (INVALID_ACTION,))


def test_raise_where_none_is_possible_is_a_call():
    assert _answer(_hand("r20000"), ":r20000\r\n") == (CALL_ACTION, (INVALID_ACTION,))
    assert _answer(_hand("rrr", LIMIT), ":r\r\n") == (CALL_ACTION, (INVALID_ACTION,))
    assert _answer(_hand("rr", LIMIT), ":r777\r\n") == (Action(RAISE), ())  # limit: the size is not looked at


def test_64th_raise_of_a_round_is_refused_with_its_own_warning():
    hand = _hand()
    for _ in range(63):
        hand.apply(Action(RAISE, hand.betting.min_raise_to))
    assert _answer(hand, ":r19999\r\n") == (CALL_ACTION, (LONG_ROUND, INVALID_ACTION))


def test_board_cards_in_the_first_round_make_a_true_echo_unreadable():
    """The reference takes the board for the hidden hole cards there; so must we."""
    text = LIMIT.to_text().replace("numBoardCards = 0 3 1 1", "numBoardCards = 3 0 1 1")
    hand = Hand(parse_definition(text, "test"), DEAL, 0)
    assert hand.betting.player_to_act == 1
    assert _answer(hand, ":c\r\n") == (CALL_ACTION, ())  # position 1's own cards end the hole cards
    hand.apply(CALL_ACTION)
    assert _answer(hand, ":c\r\n") == (None, (BAD_STATE,))


@pytest.mark.parametrize(
    "line, version",
    [
        (b"VERSION:2.0.0\r\n", (2, 0, 0)),
        (b"VERSION:2.0.0\n", (2, 0, 0)),
        (b"VERSION: 2. 0. 7 and more\r\n", (2, 0, 7)),
        (b"VERSION:1.5.0\r\n", (1, 5, 0)),
        (b"VERSION:2.0\r\n", None),
        (b"# hi\r\n", None),
        (b"version:2.0.0\r\n", None),
        (b" VERSION:2.0.0\r\n", None),
        (b"VERSION:2.\x000.0\r\n", None),
    ],
)
def test_version_lines(line, version):
    assert read_version(line) == version
    if version is not None:
        assert is_supported(version) == (version[:2] == (2, 0))


@pytest.mark.parametrize(
    "value, text", [(100.0, "100"), (-2.5, "-2.5"), (100 / 3, "33.333333"), (0.0, "0"), (-50.0, "-50"), (10.0, "10")]
)
def test_values_as_the_log_writes_them(value, text):
    assert format_value(value) == text


def test_log_line_and_back():
    hand = _hand("ccr300c")
    with pytest.raises(FormatError):
        parse_state_line("STATE:3:cc:7d3d|2hAc:0|0:A|B", HUNL)
    while not hand.betting.finished:
        hand.apply(CALL_ACTION)
    line = hand.log_line(hand.values(), ("Alice", "Bob"))
    assert line == "STATE:3:cc/r300c/cc/cc:7d3d|2hAc/5sKs7s/4c/9h:300|-300:Alice|Bob"
    logged = parse_state_line(line, HUNL)
    assert (logged.number, logged.hole_cards, logged.board) == (3, DEAL.hole_cards, DEAL.board)
    assert (logged.values, logged.names) == ((300.0, -300.0), ("Alice", "Bob"))
    assert logged.betting == hand.betting
    assert (hand_number(line), line_values(line)) == (3, [300.0, -300.0])


def test_final_state_shows_the_cards_of_a_showdown_only():
    hand = _hand("r20000c")
    assert hand.line(0) == "MATCHSTATE:0:3:r20000c///:7d3d|2hAc/5sKs7s/4c/9h"
    assert _hand("ccr300f").line(1) == "MATCHSTATE:1:3:cc/r300f:|2hAc/5sKs7s"


@given(st.integers(0, 9), st.integers(0, 100), st.integers(2, 10))
def test_seats_and_positions_turn_against_each_other(position, number, num_players):
    position %= num_players
    seat = seat_of_position(position, number, num_players, fixed_seats=False)
    assert position_of_seat(seat, number, num_players, fixed_seats=False) == position
    assert seat_of_position(position, number, num_players, fixed_seats=True) == position


@pytest.mark.parametrize("name", recording_names())
def test_reader_follows_every_recorded_line(name):
    """The short way reads what the long way reads, in order and from any line on."""
    recording = load_recording(name)
    definition = parse_definition(recording["definition"], "test")
    for stream in recording["received"]:
        reader = StateReader(definition)
        for number, line in enumerate(stream.splitlines()):
            expected = read_match_state(line, definition)
            assert expected is not None
            state = (reader if number % 7 else StateReader(definition)).read(line)
            assert state == expected[0]
            assert state.text() == line


def test_reader_of_a_first_line_without_cards():
    state = StateReader(HUNL).read("MATCHSTATE:1:0::")
    assert state is not None
    assert state.hole_cards == [(), ()]


@given(st.data())
def test_reader_agrees_with_the_long_way_on_mutilated_lines(data):
    lines = load_recording(recording_names()[1])["received"][0].splitlines()
    reader = StateReader(HUNL)
    start = data.draw(st.integers(0, len(lines) - 9))
    for line in lines[start : start + 8]:
        cut = data.draw(st.integers(0, len(line)))
        piece = data.draw(st.sampled_from(["", ":", "/", "c", "r", "r300", "f", "|", "As", "x", " ", "9" * 30, "c/"]))
        drop = data.draw(st.integers(0, 3))
        text = line[:cut] + piece + line[cut + drop :]
        expected = read_match_state(text, HUNL)
        state = reader.read(text)
        if expected is None or expected[1] != len(text):
            assert state is None
        else:
            assert state == expected[0]
