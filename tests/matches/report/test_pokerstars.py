"""Hand histories of PokerStars: hands of our own making in the room's form, read to the chip; refusals name the line."""

import json
import warnings
from decimal import Decimal
from pathlib import Path

import pytest
from pokerkit import PokerStarsParser

from foldwise.cli.main import main
from foldwise.game.cards import cards_text
from foldwise.game.errors import FormatError
from foldwise.matches.report.hand_files import convert_file, log_definition, read_hands, split_by_game
from foldwise.matches.report.phh import phh_text, read_phh
from foldwise.matches.report.pokerstars import is_pokerstars, read_pokerstars
from foldwise.matches.table.log import read_log
from tests.support.places import GOLDEN

CASH = GOLDEN / "rooms" / "pokerstars-cash.txt"
TOURNAMENT = GOLDEN / "rooms" / "pokerstars-tournament.txt"


def test_hands_of_a_cash_game():
    """Money in cents; the big blind is position 0; cards nobody showed are unknown; who collected the pot has won it."""
    folded, full_house, mucked = read_hands(CASH)
    assert folded.names == mucked.names == ("böb_7", "Ann: the 2nd")
    assert full_house.names == ("Ann: the 2nd", "böb_7")
    assert folded.betting.betting_text() == "r300r900f"
    assert [cards_text(cards) for cards in folded.hole_cards] == ["AhKd", ""]
    assert folded.values == (300.0, -300.0)
    assert folded.betting.definition.stacks == (13250, 10000)
    assert folded.betting.definition.blinds == (100, 50)
    assert full_house.betting.betting_text() == "r250c/cr575r1300c/r9700c/"
    assert full_house.values == (-9700.0, 9700.0)
    assert cards_text(full_house.board) == "2h7hJs2cQh"
    assert mucked.betting.betting_text() == "cc/cc/cr200c/cc"
    assert mucked.hidden
    assert mucked.values == (200.0, -200.0)


def test_an_all_in_of_a_tournament():
    (hand,) = read_hands(TOURNAMENT)
    assert hand.betting.betting_text() == "r1520c///"
    assert hand.values == (1480.0, -1480.0)
    assert hand.names == ("Hero", "villain")
    assert hand.betting.definition.stacks == (1480, 1520)


def test_there_and_back_through_phh_and_logs(tmp_path):
    """Three hands, of two sets of stacks: one PHH file, a log for each game, and the same hands from either."""
    hands = read_hands(CASH)
    assert convert_file(CASH, tmp_path / "cash.phhs") == 3
    assert "d dh p2 ????" in (tmp_path / "cash.phhs").read_text(encoding="utf-8")
    again = read_hands(tmp_path / "cash.phhs")
    assert [(h.betting, h.hole_cards, h.board, h.values) for h in again] == [
        (h.betting, h.hole_cards, h.board, h.values) for h in hands
    ]
    assert split_by_game(CASH, tmp_path / "logs") == 3
    logs = sorted((tmp_path / "logs").glob("*.log"))
    assert len(logs) == 2
    first = list(read_log(logs[0], log_definition(logs[0]), hidden=True))
    assert [hand.values for hand in first] == [hands[0].values, hands[2].values]
    assert "Ann. the 2nd" in convert_and_read(tmp_path / "cash.phhs", tmp_path / "again.log", tmp_path)


def convert_and_read(source: Path, target: Path, tmp_path: Path) -> str:
    """The first hand alone: all three are of two games, which one log cannot hold."""
    with pytest.raises(FormatError, match="give a folder"):
        convert_file(source, target)
    one = tmp_path / "one.phh"
    one.write_text(source.read_text(encoding="utf-8").split("[2]")[0].replace("[1]\n", ""), encoding="utf-8")
    convert_file(one, target)
    return target.read_text(encoding="utf-8")


def test_the_command_converts_and_scores(tmp_path, capsys):
    assert main(["convert", str(TOURNAMENT), str(tmp_path / "t.log")]) == 0
    assert main(["score", str(tmp_path / "t.log"), "--game", str(tmp_path / "t.game"), "--player", "Hero"]) == 0
    assert "Hero, 1 hands" in capsys.readouterr().out
    assert main(["convert", str(CASH), str(tmp_path / "folder")]) == 0
    assert len(list((tmp_path / "folder").glob("*.log"))) == 2


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("Hold'em No Limit", "Omaha Pot Limit", "line 1: .*expected a hand of Hold'em"),
        ("Hold'em No Limit", "Hold'em Pot Limit", "line 1: "),
        ("villain: raises 1480 to 1520 and is all-in", "villain: raises 5 to 45", "line 9: .*expected a raise"),
        ("villain: raises 1480 to 1520 and is all-in", "villain: jumps", "line 9: .*expected folds, checks"),
        ("villain: raises 1480 to 1520 and is all-in", "Hero: checks", "line 9: .*not the turn of Hero"),
        ("villain: raises 1480 to 1520 and is all-in", "the dealer sneezes", "line 9: .*expected an action"),
        ("Hero: posts big blind 40", "Hero: posts the ante 5", "line 6: .*no ante"),
        ("Hero: posts big blind 40", "Hero: posts big blind 40 and is all-in", "line 6: "),
        ("Seat 1: Hero (1,480 in chips)\n", "Seat 1: Hero (1480 in chips)\nSeat 3: Third (9 in chips)\n", "3 players"),
        ("*** FLOP *** [4d", "*** FIRST FLOP *** [4d", "line 12: .*run twice"),
        ("Hero collected 2960", "villain collected 2960", "another wins it"),
        ("*** RIVER *** [4d 5c 9h Kd] [2s]\n", "", "4 board cards, too few"),
        ("Hero: calls 1440 and is all-in\n", "", "breaks off before its end"),
    ],
)
def test_what_cannot_be_read_is_named_by_its_line(old, new, said):
    text = TOURNAMENT.read_text(encoding="utf-8")
    assert old in text
    with pytest.raises(FormatError, match=said):
        list(read_pokerstars(text.replace(old, new), "hands.txt"))


def test_other_texts_are_no_histories(tmp_path, capsys):
    assert is_pokerstars("\ufeff\r\nPokerStars Hand #1: ")
    assert not is_pokerstars("Poker Hand #SD27208848: ShortDeck No Limit")
    (tmp_path / "notes.txt").write_text("buy milk\n")
    assert main(["convert", str(tmp_path / "notes.txt"), str(tmp_path / "notes.phhs")]) == 2
    assert "or a hand history of PokerStars" in capsys.readouterr().err
    assert not (tmp_path / "notes.phhs").exists()


def test_review_reads_a_room(capsys):
    """Who did what, from the room's own text; hands of several games are to be taken apart first."""
    assert main(["review", str(TOURNAMENT), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["name"]: one["hands"] for one in found["players"]} == {"Hero": 1, "villain": 1}
    assert main(["review", str(CASH)]) == 2
    assert "'foldwise convert HANDS.txt FOLDER'" in capsys.readouterr().err


def test_pokerkit_reads_the_same_bets():
    """pokerkit's own parser of the same text: amounts of the street, in dollars; mucked and run-out lines are its own."""
    ours = [_bets(hand) for hand in read_hands(CASH)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it finds fields of its own unexpected
        theirs = list(PokerStarsParser()(CASH.read_text(encoding="utf-8")))
    for hand, history in zip(ours, theirs, strict=True):
        assert hand == [_in_cents(text) for text in history.actions if text.split()[1] in ("f", "cc", "cbr")]
    assert [[int(100 * stack) for stack in history.starting_stacks] for history in theirs] == [
        list(hand.betting.definition.stacks) for hand in read_hands(CASH)
    ]


def _bets(hand):
    return [text for text in read_phh(phh_text(hand), "hand")[0].actions if text.split()[1] in ("f", "cc", "cbr")]


def _in_cents(text):
    *words, last = text.split()
    return " ".join([*words, str(int(100 * Decimal(last)))]) if words[-1] == "cbr" else text
