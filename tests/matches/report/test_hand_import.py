"""Hands from elsewhere: every form we read, with all cards and without the others'."""

import json

import pytest

from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.library import find_definition
from foldwise.matches.report.hand_import import import_hands, read_one_game
from foldwise.matches.report.phh import phh_text
from foldwise.matches.table.log import parse_state_line

HUNL = find_definition("hunl")
LINE = "STATE:3:cr300c/cr600r20000c//:Jh6h|Ah8h/2d8dKc/8s/3s:-20000|20000:Ann|Bob"
HAND = parse_state_line(LINE, HUNL)


def test_log_with_and_without_cards():
    hidden = "# STATE:4:r300f:AcAd|:100|-100:Bob|Ann"
    found = import_hands(f"# name/game/hands/seed x hunl 2 0\n{LINE}\nSCORE:1|2:Ann|Bob\n{hidden}\n", "x")
    assert found.definition == HUNL
    assert found.hands[0] == HAND
    assert found.hands[1].hole_cards == (HAND.hole_cards[0][:0] or found.hands[1].hole_cards[0], ())
    assert found.hands[1].values == (100.0, -100.0)


def test_phh_with_and_without_cards():
    whole = import_hands(phh_text(HAND), "x").hands[0]
    assert (whole.betting, whole.hole_cards, whole.board, whole.values, whole.names) == (
        HAND.betting,
        HAND.hole_cards,
        HAND.board,
        HAND.values,
        HAND.names,
    )
    folded = parse_state_line("STATE:0:r300f:Jh6h|Ah8h:-100|100:Ann|Bob", HUNL)
    text = phh_text(folded).replace("Ah8h", "????")
    one = import_hands(text, "x").hands[0]
    assert one.hole_cards == (folded.hole_cards[0], ())
    assert one.values == folded.values


def test_shown_cards_of_phh_are_taken():
    text = phh_text(HAND).replace("d dh p2 Ah8h", "d dh p2 ????")
    assert "????" in text
    assert import_hands(text, "x").hands[0].hole_cards == HAND.hole_cards


@pytest.mark.parametrize("form", ["list", "lines", "one"])
def test_slumbot_answers(form):
    last = {
        "action": "b200c/kk/kk/kk",
        "client_pos": 1,
        "hole_cards": ["Ac", "Ad"],
        "board": ["2c", "7d", "9h", "Jh", "3s"],
        "winnings": 200,
        "bot_hole_cards": ["Ks", "Kd"],
    }
    on_the_way = {"action": "b200", "client_pos": 0, "hole_cards": ["7c", "2d"], "board": []}
    text = {
        "list": json.dumps([on_the_way, last]),
        "lines": f"{json.dumps(on_the_way)}\n{json.dumps(last)}\n",
        "one": json.dumps(last),
    }[form]
    (hand,) = import_hands(text, "x").hands
    assert hand.names == ("table", "you")
    assert hand.values == (-200.0, 200.0)
    assert hand.betting.betting_text() == "r200c/cc/cc/cc"


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "is empty"),
        ("hello", "holds no hands that can be read"),
        ("hello = ", "not PHH"),
        ("STATE:0:r300:Jh6h|Ah8h:0|0:a|b", "expected STATE"),
        ("STATE:0:f:Jh6h|Jh8h", "expected STATE"),
        ("STATE:0:f:Jh6h|:x|y:a|b", "expected STATE"),
        ('{"action": "b200", "hole_cards": ["Ac", "Ad"], "winnings": 5}', "no end of a hand"),
        ('{"nothing": 1}', "expected a Slumbot table's"),
        ('{"action": "b200", "hole_cards": ["Ac", "Ad"]}', "no finished hand"),
        ("[{", "not JSON"),
        pytest.param("[" * 100_000 + "{", "not JSON", id="nested deeper than the parser goes"),
    ],
)
def test_damaged_texts_are_refused_in_one_line(text, message):
    with pytest.raises((FormatError, DefinitionError), match=message) as error:
        import_hands(text, "x")
    assert "\n" not in str(error.value)


def test_folders_and_files(tmp_path):
    with pytest.raises(DefinitionError, match=r"no \*\.log"):
        read_one_game(tmp_path)
    with pytest.raises(DefinitionError, match="No such file"):
        read_one_game(tmp_path / "none.log")
    (tmp_path / "a.log").write_text(f"{LINE}\n")
    (tmp_path / "b.log").write_text(f"# name/game/hands/seed x hunl 1 0\n{LINE}\n")
    assert len(read_one_game(tmp_path).hands) == 2
