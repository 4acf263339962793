"""A person's seat: what answers mean, and whole matches at a real dealer, scripted and through a terminal."""

import asyncio
import contextlib
import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from itertools import cycle
from pathlib import Path

import pytest
from rich.console import Console as RichConsole

from foldwise.agent.bots import Bot
from foldwise.agent.human import HandEnd, HumanPlayer, SeatLeftError, Turn, parse_answer, read_turn
from foldwise.agent.reading.typed_state import typed_state
from foldwise.cli.main import main
from foldwise.cli.support.terminal_table import TerminalTable, cards_markup, read_keyboard
from foldwise.game.betting import CALL_ACTION, FOLD_ACTION, RAISE, Action
from foldwise.game.cards import parse_cards
from foldwise.game.errors import FormatError
from foldwise.game.library import find_definition
from foldwise.game.text.action_words import label_of
from foldwise.matches.table.log import line_values, state_lines
from tests.support.places import CONFIGS, ROOT
from tests.support.table import Table, make_settings

HUNL = find_definition("hunl")


@pytest.mark.parametrize(
    "betting, board, typed, expected",
    [
        ("", "", "c", "c"),
        ("", "", "fold", "f"),
        ("", "", "b 300", "r300"),
        ("", "", "raise to 250", "r250"),
        ("", "", "b300", "r300"),
        ("", "", "min", "r200"),
        ("", "", "pot", "r300"),  # call 50, then the pot of 200
        ("", "", "b 0.5p", "r200"),
        ("", "", "b 50%", "r200"),
        ("", "", "b 0.1p", "r200"),  # below the least raise: the least raise
        ("", "", "a", "r20000"),
        ("", "", "b 20,000", "r20000"),
        ("r300c/", "AsKd2c", "k", "c"),
        ("r300c/", "AsKd2c", "b 300", "r600"),  # chips on this street; the log counts the hand
        ("r300c/", "AsKd2c", "B 0.5p", "r600"),
        ("r300c/r600", "AsKd2c", "b 900", "r1200"),
        ("r300c/r600", "AsKd2c", "b 1p", "r1800"),  # call 300, then the pot of 1200
        ("r300c/r600", "AsKd2c", "b 99p", "r20000"),
    ],
)
def test_answers_in_chips(betting, board, typed, expected):
    state = typed_state(HUNL, betting, board, "QhQs")
    action = parse_answer(typed, state)
    assert action.text(False) == expected
    assert state.betting.is_legal(action)


@pytest.mark.parametrize(
    "betting, board, typed, message",
    [
        ("", "", "zzz", "is not an answer"),
        ("", "", "b", "expected chips, as b 300"),
        ("", "", "b many", "expected chips, as b 300"),
        ("", "", "b 150", "150 is not possible: raise to between 200 and 20000"),
        ("", "", "b 20001", "between 200 and 20000"),
        ("r300c/", "AsKd2c", "f", "checking is free"),
        ("r300c/", "AsKd2c", "b 99", "bet between 100 and 19700"),
        ("r300c/", "AsKd2c", "b -1p", "not possible"),
        ("r300c/r600", "AsKd2c", "check", "a bet of 300 to call: type c to call it, or f to fold"),
        ("r300", "", "x", "a bet of 200 to call"),
        ("r20000", "", "b 500", "no raise is possible here: type c or f"),
    ],
)
def test_illegal_answers_say_what_would_be_legal(betting, board, typed, message):
    with pytest.raises(FormatError, match=message):
        parse_answer(typed, typed_state(HUNL, betting, board, "QhQs"))


def test_limit_raises_need_no_amount():
    state = typed_state(find_definition("limit"), "r", "", "QhQs")
    assert parse_answer("r", state) == parse_answer("b 999", state) == Action(RAISE, 30)


def test_turn_shows_the_street():
    turn = read_turn(typed_state(HUNL, "r300c/cr900", "AsKd2c", "QhQs"))
    assert (turn.position, turn.street, turn.pot, turn.to_call) == (0, 1, 1200, 600)
    assert turn.bets == (0, 600)
    assert turn.stacks == (19700, 19100)
    assert turn.raise_range == (1200, 19700)
    assert turn.can_fold


class Script:
    """A person who types by a rule, sometimes badly."""

    def __init__(self, answer):
        self.answer = answer
        self.turns: list[Turn] = []
        self.ends: list[HandEnd] = []
        self.complaints: list[str] = []
        self._typed = iter(())

    def show_turn(self, turn):
        self.turns.append(turn)
        self._typed = iter(self.answer(turn))

    def show_end(self, end):
        self.ends.append(end)

    def show_hint(self, state):
        self.complaints.append(f"hint at {state.hand_number}")

    def show_why(self):
        self.complaints.append("why")

    def complain(self, message):
        self.complaints.append(message)

    def ask(self):
        return next(self._typed, None)


def clumsy(turn):
    yield from ("", "what", "b 1")
    yield "b 0.5p" if turn.street == 0 and turn.raise_range and not turn.bets[turn.position] > 200 else "c"


async def play_scripted(script, hands, tmp_path):
    person = HumanPlayer(script)
    table = Table(make_settings(HUNL.to_text(), hands, 5), tmp_path)
    reports = await asyncio.gather(
        *(
            asyncio.to_thread(table.client(seat, player, HUNL))
            for seat, player in enumerate((person, Bot("strength", 1)))
        ),
        return_exceptions=True,
    )
    return person, reports, await table.finish()


async def test_a_person_at_a_real_dealer(tmp_path):
    script = Script(clumsy)
    person, reports, outcome = await play_scripted(script, 40, tmp_path)
    assert outcome.completed
    assert not outcome.complaints()
    assert [report.faults for report in reports] == [0, 0]
    lines = outcome.log_lines("STATE")
    won = [line_values(line)[number % 2] for number, line in enumerate(lines)]
    assert [end.profit for end in script.ends] == won
    assert (person.hands, person.total) == (40, sum(won))
    assert script.ends[-1].total == sum(won)
    assert len(script.complaints) == 3 * len(script.turns)
    assert any("not possible" in message or "no raise" in message for message in script.complaints)
    assert {turn.position for turn in script.turns} == {0, 1}


async def test_leaving_the_table_ends_the_match(tmp_path):
    script = Script(lambda turn: ["c"] if turn.hand_number < 3 else ["hint", "why", "q"])
    person, reports, outcome = await play_scripted(script, 40, tmp_path)
    assert isinstance(reports[0], SeatLeftError)
    assert not outcome.completed
    lines = outcome.log_lines("STATE")
    assert len(lines) == 4  # the hand left in its middle is checked or folded to its end, and counts
    assert script.complaints == ["hint at 3", "why"]
    assert person.hands == 4
    assert person.total == sum(line_values(line)[number % 2] for number, line in enumerate(lines))


def test_who_leaves_checks_while_it_is_free_and_folds_at_the_first_bet():
    """No dealer takes a fold without a bet to face. What happens is said once; facing a bet there is nothing to say."""
    script = Script(lambda turn: ["q"])
    person = HumanPlayer(script)
    assert person.choose(typed_state(HUNL, "r300c/", "AsKd2c", "QhQs")) == CALL_ACTION
    assert person.choose(typed_state(HUNL, "r300c/cc/", "AsKd2c9h", "QhQs")) == CALL_ACTION
    assert person.choose(typed_state(HUNL, "r300c/cc/cr900", "AsKd2c9h", "QhQs")) == FOLD_ACTION
    assert len(script.turns) == 1
    assert script.complaints == ["you leave: the rest of the hand is checked, and folded at the first bet"]
    facing = Script(lambda turn: ["q"])
    assert HumanPlayer(facing).choose(typed_state(HUNL, "r300", "", "QhQs")) == FOLD_ACTION
    assert not facing.complaints


def test_the_betting_in_words():
    """Chips of the street, verbs that agree, all-in said; `c` and `r` nowhere."""
    turn = read_turn(typed_state(HUNL, "r300r900c/cr1800", "AsKd2c", "QhQs"))
    assert turn.said == (
        "the bot raises to 300",
        "you raise to 900",
        "the bot calls 600",
        "you check",
        "the bot bets 900",
    )
    turn = read_turn(typed_state(HUNL, "cr20000", "", "QhQs"))
    assert turn.said == ("you call 50", "the bot raises to 20,000 and is all-in")
    limit = typed_state(find_definition("limit"), "r", "", "QhQs").betting
    assert [label_of(limit, text) for text in ("f", "c", "r", "?")] == ["fold", "call 10", "raise to 30", "?"]


def test_the_drawn_table():
    screen = RichConsole(file=io.StringIO(), width=120, highlight=False)
    answers = iter(["c"])
    table = TerminalTable(HUNL, screen, lambda: next(answers, None), reveal=lambda end: [], always=True)
    state = typed_state(HUNL, "r300c/r600", "AsKd2c", "QhQs")
    table.show_turn(read_turn(state))
    text = screen.file.getvalue()
    for piece in ("hand 0, flop", "big blind" if state.position == 0 else "button", "A♠ K♦ 2♣", "pot 900", "Q♥ Q♠"):
        assert piece in text
    assert "f fold · c call 300 · b N raise to 600 to 19,700" in text
    assert table.ask() == "c"
    assert table.ask() is None
    assert cards_markup(parse_cards("Td")) == "[bold blue]T♦[/]"


def test_keyboard_lines_come_in_pieces():
    read, write = os.pipe()
    os.write(write, b"b 3")
    os.write(write, b"00\nc\nhalf")
    os.close(write)
    lines = read_keyboard(read)
    assert [lines(), lines(), lines()] == ["b 300", "c", None]
    os.close(read)


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    folder = tmp_path_factory.mktemp("duel") / "leduc"
    config = str(CONFIGS / "leduc.toml")
    assert main(["solve", config, "-o", str(folder), "--sampler", "cfr+", "--iterations", "100"]) == 0
    return folder


async def test_a_command_that_fails_leaves_nobody_waiting_for_its_seat(leduc, tmp_path):
    """What would else be a test that hangs, and says nothing of why."""
    definition = find_definition("leduc")
    table = Table(make_settings(definition.to_text(), 10, 5), tmp_path)

    def sit_down():
        assert main(["play", "human", "127.0.0.1", str(table.ports[0]), "--reveal", str(tmp_path / "nothing")]) == 0

    with pytest.raises(AssertionError):
        await table.play(sit_down, table.client(1, Bot("random", 3), definition))


async def test_play_human_reveals_what_was_shown(leduc, tmp_path, monkeypatch, capsys):
    """The command itself at a real dealer: an opponent's reasoning is shown after showdowns, and only then."""
    typed = cycle(["c", "f", "c"])  # folding is refused where checking is free: the next answer counts
    monkeypatch.setattr("foldwise.cli.support.terminal_table.read_keyboard", lambda: lambda: next(typed))
    definition = find_definition("leduc")
    table = Table(make_settings(definition.to_text(), 10, 5), tmp_path)

    def sit_down():
        assert main(["play", "human", "127.0.0.1", str(table.ports[0]), "--reveal", str(leduc)]) == 0

    _, report = await table.play(sit_down, table.client(1, Bot("random", 3), definition))
    outcome = await table.finish()
    assert (report.faults, outcome.completed) == (0, True)
    written = capsys.readouterr()
    folded = sum(line.split(":")[2].endswith("f") for line in outcome.log_lines("STATE"))
    assert 0 < folded < 10
    assert written.out.count("is over") == 10
    assert written.out.count("nothing to reveal") == folded
    assert written.out.count("bot with") >= 10 - folded
    assert "10 hands" in written.err


def talk(process, terminal, answer):
    """Answer every prompt of a program at a terminal until it ends; what it wrote."""
    written = ""
    answered = 0
    deadline = time.monotonic() + 300.0  # compiling on a busy machine is slow; only a hung program takes this long
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 0.2)[0]:
            if process.poll() is not None:
                break
            continue
        with contextlib.suppress(OSError):  # the other end of the terminal is closed
            data = os.read(terminal, 1 << 16)
            written += data.decode("utf-8", "replace")
            while written.count("> ") > answered:
                answered += 1
                os.write(terminal, f"{answer(answered)}\n".encode())
            continue
        break
    process.wait(20)
    return written


def test_duel_in_a_terminal(leduc, tmp_path):
    """A pseudo-terminal, every other answer nonsense; the log, the explanations and the report agree with the screen."""
    ours, theirs = pty.openpty()
    words = [
        sys.executable,
        "-m",
        "foldwise.cli.main",
        "duel",
        str(leduc),
        "--hands",
        "6",
        "--reveal",
        "-o",
        str(tmp_path),
    ]
    process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT)
    os.close(theirs)
    try:
        written = talk(process, ours, lambda number: "nonsense" if number % 2 else "c")
    finally:
        if process.poll() is None:
            process.kill()
        os.close(ours)
    assert process.returncode == 0, written
    assert "is not an answer" in written
    assert "hand 5 is over" in written
    assert "the bot with" in written
    assert re.search(r"the bot (checks|bets 2|raises to 4|calls 2)", written)
    assert re.search(r"\* (check|bet 2|call 2|raise to 4|fold) ", written)
    assert "bankroll" in written
    assert "6 hands" in written
    lines = list(state_lines(tmp_path / "duel.log"))
    assert len(lines) == 6
    total = sum(line_values(line)[number % 2] for number, line in enumerate(lines))
    assert f"6 hands, {total:+,.0f} chips" in written
    records = [json.loads(line) for line in (tmp_path / "duel.explain.jsonl").read_text().splitlines()]
    assert {record["hand"] for record in records} == set(range(6))
    assert all(record["position"] == (1 - record["hand"]) % 2 for record in records)


def typing(monkeypatch, *words):
    """The keyboard types these and then nothing more."""
    typed = iter(words)
    monkeypatch.setattr("foldwise.cli.support.terminal_table.read_keyboard", lambda: lambda: next(typed, None))


def test_sessions_make_a_bankroll_and_its_report(leduc, tmp_path, monkeypatch, capsys):
    """A fresh seed each time, printed; leaving folds; the bankroll is the sum of the logs, and the report draws it."""
    monkeypatch.setenv("FOLDWISE_DATA", str(tmp_path / "data"))
    seeds = []
    for _ in range(2):
        typing(monkeypatch, "hint", "why", *["c"] * 9, "q")
        assert main(["duel", str(leduc), "--json"]) == 0
        written = capsys.readouterr()
        found = json.loads(written.out)
        assert "the strategy in your place with" in written.err
        assert "none is over yet" in written.err
        assert f"seed {found['seed']}" in written.err
        seeds.append(found["seed"])
    assert seeds[0] != seeds[1]
    (folder,) = (tmp_path / "data" / "duels").iterdir()
    logs = [list(state_lines(folder / name)) for name in ("duel.log", "duel-2.log")]
    won = [line_values(line)[number % 2] for lines in logs for number, line in enumerate(lines)]
    assert (found["bankroll_hands"], found["bankroll_chips"]) == (len(won), sum(won))
    assert main(["report", str(folder), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["mean_mbb"] == pytest.approx(1000 * sum(won) / len(won))
    page = Path(report["output"]).read_text(encoding="utf-8")
    assert f"{len(won)} in 2 sessions" in page
    assert f"{sum(won):+,.0f} chips" in page
    assert "you wins" not in page
    assert report["explained"] > 0


def test_the_same_seed_deals_the_same_cards(leduc, tmp_path, monkeypatch):
    for name in ("one", "two"):
        typing(monkeypatch, *["c"] * 100)
        assert main(["duel", str(leduc), "--hands", "5", "--seed", "7", "-o", str(tmp_path / name)]) == 0
    one, two = (list(state_lines(tmp_path / name / "duel.log")) for name in ("one", "two"))
    assert one == two


def test_duels_of_two_games_do_not_share_a_folder(leduc, tmp_path, capsys):
    (tmp_path / "duel.json").write_text(json.dumps({"format": 1, "game": "hunl", "definition": HUNL.to_text()}))
    assert main(["duel", str(leduc), "-o", str(tmp_path)]) == 2
    assert "holds duels at 'hunl'" in capsys.readouterr().err
    (tmp_path / "duel.json").write_text("{")
    assert main(["duel", str(leduc), "-o", str(tmp_path)]) == 2
    assert "is damaged" in capsys.readouterr().err


def test_reveal_is_for_people(leduc, capsys):
    assert main(["play", "bot:call", "127.0.0.1", "1", "--reveal", str(leduc)]) == 2
    assert "explains the bot to a person" in capsys.readouterr().err
