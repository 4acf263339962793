"""Game definitions: every key, the reader's leniency, the messages, and text both ways."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.game.cards import cards_text
from foldwise.game.definition import UNLIMITED_STACK, GameDefinition, load_definition, parse_definition
from foldwise.game.errors import DefinitionError
from tests.support.generators import GAME_FILES, definitions, golden_game

NOLIMIT = """\
GAMEDEF
nolimit
numPlayers = 2
numRounds = 4
stack = 20000 20000
blind = 100 50
firstPlayer = 2 1 1 1
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""
LIMIT = NOLIMIT.replace("nolimit\n", "limit\nraiseSize = 10 10 20 20\nmaxRaises = 3 4 4 4\n")


def changed(line: str, new: str, text: str = NOLIMIT) -> str:
    assert line in text
    return text.replace(line, new)


def test_every_key_is_read():
    assert parse_definition(LIMIT) == GameDefinition(
        limit=True,
        num_players=2,
        num_rounds=4,
        stacks=(20000, 20000),
        blinds=(100, 50),
        raise_sizes=(10, 10, 20, 20),
        first_players=(1, 0, 0, 0),
        max_raises=(3, 4, 4, 4),
        num_suits=4,
        num_ranks=13,
        num_hole_cards=2,
        num_board_cards=(0, 3, 1, 1),
    )


def test_defaults():
    lines = ("numPlayers 2", "numRounds 2", "blind 1 1", "raiseSize 2 4", "numSuits 2", "numRanks 3", "numHoleCards 1")
    game = parse_definition("\n".join([*lines, "numBoardCards 0 1"]))
    assert game.limit
    assert game.stacks == (UNLIMITED_STACK, UNLIMITED_STACK) == (2147483647, 2147483647)
    assert game.first_players == (0, 0)
    assert game.max_raises == (255, 255)


def test_raise_sizes_are_ignored_in_no_limit():
    assert parse_definition(LIMIT.replace("limit\n", "nolimit\n", 1)).raise_sizes == ()


@pytest.mark.parametrize(
    "text",
    [
        NOLIMIT.lower(),
        NOLIMIT.upper(),
        NOLIMIT.replace(" = ", "="),
        NOLIMIT.replace(" = ", " "),
        NOLIMIT.replace(" = ", "\t== = "),
        NOLIMIT.replace("20000 20000", "20000 = 20000"),
        NOLIMIT.replace("100 50", "+100 0050"),
        NOLIMIT.replace("100 50", "100 50 25 chips"),
        NOLIMIT.replace("\n", "\r\n"),
        NOLIMIT.replace("GAMEDEF\n", "", 1),
        NOLIMIT.replace("END GAMEDEF\n", ""),
        NOLIMIT + "numPlayers = 7\n",
        NOLIMIT.replace("GAMEDEF\n", "# a comment\n\nnonsense 3\n numPlayers = 9\nGAMEDEF\n", 1),
        NOLIMIT.replace("nolimit\n", "limit\nnolimit\n"),
    ],
)
def test_lenient_forms_mean_the_same(text):
    assert text != NOLIMIT
    assert parse_definition(text) == parse_definition(NOLIMIT)


def test_keys_match_by_prefix():
    """A line that goes on after the key belongs to it still, and the rest is no number."""
    with pytest.raises(DefinitionError, match="line 6: 'blinds = 100 50': expected 2 numbers"):
        parse_definition(changed("blind =", "blinds ="))
    assert parse_definition(changed("nolimit", "nolimit hold'em")) == parse_definition(NOLIMIT)


def test_later_line_overwrites():
    game = parse_definition(changed("blind = 100 50", "blind = 100 50\nblind = 20 10"))
    assert game.blinds == (20, 10)


def test_partly_given_defaults_are_filled_up():
    game = parse_definition(changed("firstPlayer = 2 1 1 1", "firstPlayer = 2\nmaxRaises = 3"))
    assert game.first_players == (1, 0, 0, 0)
    assert game.max_raises == (3, 255, 255, 255)


def test_raise_cap_is_stored_in_eight_bits():
    assert parse_definition(changed("3 4 4 4", "256 257 255 511", LIMIT)).max_raises == (0, 1, 255, 255)


def test_deck_is_suit_major_and_uses_the_highest_cards():
    leduc = golden_game("leduc.limit.2p.game")
    assert cards_text(leduc.deck) == "QhKhAhQsKsAs"
    full = parse_definition(NOLIMIT).deck
    assert cards_text(full[:3]) == "2c3c4c"
    assert cards_text(full[-2:]) == "KsAs"
    assert sorted(full) == list(range(52))


def test_sizes_by_round():
    game = parse_definition(NOLIMIT)
    assert game.board_sizes == (0, 3, 4, 5)
    assert game.cards_per_hand == 9
    assert game.big_blind == 100


@pytest.mark.parametrize(
    "line, new, number, expected",
    [
        ("numPlayers = 2", "numPlayers = 1", 3, "a number from 2 to 10"),
        ("numPlayers = 2", "numPlayers = 11", 3, "a number from 2 to 10"),
        ("numPlayers = 2", "numPlayers = two", 3, "a number from 2 to 10"),
        ("numRounds = 4", "numRounds = 5", 4, "a number from 1 to 4"),
        ("numRounds = 4", "numRounds = 0", 4, "a number from 1 to 4"),
        ("stack = 20000 20000", "stack = 20000", 5, "2 numbers from 1 to 2147483647"),
        ("stack = 20000 20000", "stack = 20000 0", 5, "2 numbers from 1 to 2147483647"),
        ("stack = 20000 20000", "stack = 20000 2147483648", 5, "2 numbers from 1 to 2147483647"),
        ("blind = 100 50", "blind = 100", 6, "2 numbers from 0 to 2147483647"),
        ("blind = 100 50", "blind = 100 -50", 6, "2 numbers from 0 to 2147483647"),
        ("blind = 100 50", "blind = 20001 50", 6, "no blind above its stack"),
        ("blind = 100 50", "blind = 20000 20000", 6, "at least one player with chips left after the blinds"),
        ("firstPlayer = 2 1 1 1", "firstPlayer = 3 1 1 1", 7, "4 numbers from 1 to 2"),
        ("firstPlayer = 2 1 1 1", "firstPlayer = 2 0", 7, "4 numbers from 1 to 2"),
        ("numSuits = 4", "numSuits = 5", 8, "a number from 1 to 4"),
        ("numRanks = 13", "numRanks = 14", 9, "a number from 1 to 13"),
        ("numHoleCards = 2", "numHoleCards = 0", 10, "a number from 1 to 3"),
        ("numHoleCards = 2", "numHoleCards = 4", 10, "a number from 1 to 3"),
        ("numBoardCards = 0 3 1 1", "numBoardCards = 0 3 1", 11, "4 numbers from 0 to 7"),
        ("numBoardCards = 0 3 1 1", "numBoardCards = 0 3 3 2", 11, "at most 7 board cards in all"),
        ("nolimit", "raiseSize = 1 1 1\nlimit", 2, "4 numbers from 1 to 2147483647"),
        ("nolimit", "nolimit\nmaxRaises = -1", 3, "4 numbers from 0 to 2147483647"),
        ("stack = 20000 20000", f"stack = {'9' * 5000} 1", 5, "2 numbers from 1 to 2147483647"),
    ],
)
def test_wrong_line_is_named_with_what_was_expected(line, new, number, expected):
    with pytest.raises(DefinitionError) as error:
        parse_definition(changed(line, new), source="my.game")
    message = str(error.value)
    wrong = new.splitlines()[-1 if "max" in new else 0]
    assert message == f"my.game, line {number}: {wrong!r}: expected {expected}"


@pytest.mark.parametrize(
    "line, key",
    [
        ("numPlayers = 2\n", "numPlayers"),
        ("numRounds = 4\n", "numRounds"),
        ("blind = 100 50\n", "blind"),
        ("numSuits = 4\n", "numSuits"),
        ("numRanks = 13\n", "numRanks"),
        ("numHoleCards = 2\n", "numHoleCards"),
        ("numBoardCards = 0 3 1 1\n", "numBoardCards"),
    ],
)
def test_missing_line_is_named(line, key):
    with pytest.raises(DefinitionError, match=f"my.game: no line for {key}: expected .* from .* to "):
        parse_definition(changed(line, ""), source="my.game")


def test_missing_line_points_at_an_unknown_one():
    with pytest.raises(DefinitionError, match=r"no line for numRanks: .*; line 9, 'numRank = 13', is not a known key"):
        parse_definition(changed("numRanks = 13", "numRank = 13"))


def test_limit_needs_raise_sizes():
    with pytest.raises(DefinitionError, match="no line for raiseSize: expected 4 numbers from 1"):
        parse_definition(changed("nolimit\n", "limit\n"))


def test_stacks_may_be_left_out_with_up_to_four_players_only():
    text = changed("stack = 20000 20000\n", "")
    four = text.replace("numPlayers = 2", "numPlayers = 4").replace("100 50", "1 2 0 0")
    assert parse_definition(four).stacks == (UNLIMITED_STACK,) * 4
    with pytest.raises(DefinitionError, match=r"no line for stack: expected 5 stacks \(they may be left out"):
        parse_definition(four.replace("numPlayers = 4", "numPlayers = 5").replace("1 2 0 0", "1 2 0 0 0"))


def test_deck_must_hold_the_hand():
    with pytest.raises(DefinitionError, match="a hand needs 9 cards, the deck of 1 suits and 8 ranks has 8"):
        parse_definition(NOLIMIT.replace("numSuits = 4", "numSuits = 1").replace("numRanks = 13", "numRanks = 8"))


@given(definitions())
def test_text_reads_back(game):
    assert parse_definition(game.to_text()) == game


@given(st.text(alphabet="abdeilmnoprstu =0123459-\n#", max_size=300))
def test_any_text_is_a_game_or_a_definition_error(text):
    try:
        game = parse_definition(text)
    except DefinitionError as error:
        assert "\n" not in str(error)
    else:
        assert parse_definition(game.to_text()) == game


@pytest.mark.parametrize("name", GAME_FILES)
def test_golden_games_load_and_read_back(name):
    game = golden_game(name)
    assert parse_definition(game.to_text()) == game


COMPETITION = {
    "holdem.nolimit.2p.reverse_blinds.game": ((100, 50), 20000, (1, 0, 0, 0), (), (255,) * 4),
    "holdem.limit.2p.reverse_blinds.game": ((10, 5), UNLIMITED_STACK, (1, 0, 0, 0), (10, 10, 20, 20), (3, 4, 4, 4)),
    "holdem.nolimit.3p.game": ((50, 100, 0), 20000, (2, 0, 0, 0), (), (255,) * 4),
    "holdem.limit.3p.game": ((5, 10, 0), UNLIMITED_STACK, (2, 0, 0, 0), (10, 10, 20, 20), (3, 4, 4, 4)),
    "kuhn.limit.3p.game": ((1, 1, 1), UNLIMITED_STACK, (0,), (1,), (1,)),
}


@pytest.mark.parametrize("name", COMPETITION)
def test_competition_games(name):
    blinds, stack, first_players, raise_sizes, max_raises = COMPETITION[name]
    game = golden_game(name)
    assert (game.blinds, game.first_players, game.raise_sizes, game.max_raises) == (
        blinds,
        first_players,
        raise_sizes,
        max_raises,
    )
    assert set(game.stacks) == {stack}
    assert game.limit == bool(raise_sizes)


def test_definitions_are_values():
    game = parse_definition(NOLIMIT)
    assert hash(game) == hash(parse_definition(NOLIMIT))
    with pytest.raises(dataclasses.FrozenInstanceError):
        game.limit = True


def test_missing_file_and_binary_file_are_definition_errors(tmp_path):
    with pytest.raises(DefinitionError, match=r"no\.game': No such file.*: give the path of an ACPC \.game file"):
        load_definition(tmp_path / "no.game")
    binary = tmp_path / "binary.game"
    binary.write_bytes(b"\xff\xfe\x00nolimit")
    with pytest.raises(DefinitionError, match="not a text file"):
        load_definition(binary)


def test_byte_order_mark_does_not_hide_the_first_line(tmp_path):
    path = tmp_path / "mark.game"
    path.write_bytes(b"\xef\xbb\xbf" + NOLIMIT.removeprefix("GAMEDEF\n").encode())
    assert load_definition(path) == parse_definition(NOLIMIT)
