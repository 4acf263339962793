"""Duplicate matches: the same over tcp and in memory, interrupted or not; results, intervals, all-in expectation."""

import json
import math
import os
import re
import resource
import shlex
import subprocess
import sys
import threading
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from foldwise.agent.bots import Bot
from foldwise.agent.player import make_player
from foldwise.agent.program import resolve_program
from foldwise.cli.main import main
from foldwise.game.cards import parse_cards
from foldwise.game.definition import parse_definition
from foldwise.game.errors import DefinitionError, FormatError, ProtocolError
from foldwise.game.hands.evaluator import rank_hand
from foldwise.game.library import find_game
from foldwise.matches.duplicate import processes
from foldwise.matches.duplicate.blame import Ended, last_lines, why_broken
from foldwise.matches.duplicate.clean_start import clean_start
from foldwise.matches.duplicate.match import play_match, seat_table
from foldwise.matches.duplicate.program import start_program
from foldwise.matches.engine import compiled_match
from foldwise.matches.engine.compiled_match import MemoryMatch, play_in_memory
from foldwise.matches.plan import MatchPlan, MatchStoppedError, create_folder, load_plan
from foldwise.matches.scoring.all_in import expected_line_values, expected_values, is_all_in
from foldwise.matches.statistics import estimate, pair_values, sequence_half_width
from foldwise.matches.table.log import parse_state_line, seat_values, state_lines
from tests.support.pools import HeldPool

GAMES = {name: find_game(name).definition for name in ("hunl", "limit", "leduc", "kuhn", "two-nl-36")}
SHORT_STACKS = GAMES["hunl"].to_text().replace("stack = 20000 20000", "stack = 1000 750")
SHORT_LIMIT = GAMES["limit"].to_text().replace("blind =", "stack = 95 120\nblind =")


def _plan(a, b, hands=40, game="hunl", **options):
    fields = {"seed": 5, "repeat": 1, "over": "memory", "definition": find_game(game).definition.to_text(), **options}
    return MatchPlan(players=(a, b), game=game, hands=hands, **fields)


def _play(plan, folder, jobs=2):
    create_folder(folder, plan)
    return play_match(plan, folder, jobs, lambda text, share: None)


def _logs(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.log"))}


class InPython:
    """A bot behind the plain player interface: the compiled engine does not know it."""

    def __init__(self, bot):
        self.choose = bot.choose


@pytest.mark.parametrize("game", [*GAMES, "short stacks", "short limit"])
@pytest.mark.parametrize("names", [("random", "random"), ("strength", "random"), ("raise", "raise")])
def test_compiled_engine_plays_as_the_rules_do(game, names, tmp_path):
    texts = {"short stacks": SHORT_STACKS, "short limit": SHORT_LIMIT}
    definition = parse_definition(texts[game], game) if game in texts else GAMES[game]
    match = MemoryMatch("m", game, definition, 150, 3, ("A", "B"))
    bots = tuple(Bot(name, seed) for seed, name in enumerate(names))
    play_in_memory(match, bots, tmp_path / "compiled.log")
    play_in_memory(match, tuple(map(InPython, bots)), tmp_path / "python.log")
    assert (tmp_path / "compiled.log").read_bytes() == (tmp_path / "python.log").read_bytes()


def test_tcp_and_memory_give_the_same_match_hand_by_hand(tmp_path):
    memory = _play(_plan("bot:strength", "bot:random"), tmp_path / "memory")
    tcp = _play(_plan("bot:strength", "bot:random", over="tcp"), tmp_path / "tcp")
    assert _logs(tmp_path / "tcp") == _logs(tmp_path / "memory")
    same = ("hands", "pairs", "mean_mbb", "ci95_mbb", "sd_mbb", "score_chips", "positions", "faults")
    assert {key: tcp[key] for key in same} == {key: memory[key] for key in same}
    assert tcp["hands"] == 80


@pytest.mark.parametrize("game", ["hunl", "limit"])
def test_folder_loses_three_quarters_of_a_big_blind_a_hand(game, tmp_path):
    result = _play(_plan("bot:fold", "bot:raise", game=game, repeat=2), tmp_path)
    assert (result["mean_mbb"], result["ci95_mbb"], result["pairs"]) == (-750.0, 0.0, 80)
    assert [position["mean_mbb"] for position in result["positions"]] == [-1000.0, -500.0]


def test_equal_deterministic_players_come_out_even(tmp_path):
    result = _play(_plan("bot:call", "bot:call", hands=200), tmp_path)
    assert (result["mean_mbb"], result["sd_mbb"], result["score_chips"]) == (0.0, 0.0, [0.0, 0.0])


def test_interrupted_memory_match_goes_on_as_if_it_were_not(tmp_path):
    whole = _plan("bot:random", "bot:strength", repeat=2)
    expected = _play(whole, tmp_path / "whole")
    _play(whole, tmp_path / "broken")
    logs = sorted((tmp_path / "broken").glob("*.log"))
    logs[0].write_bytes(logs[0].read_bytes()[:-200])  # in the middle of a line
    logs[1].write_bytes(b"")
    logs[3].unlink()
    result = play_match(load_plan(tmp_path / "broken"), tmp_path / "broken", 2, lambda text, share: None)
    assert _logs(tmp_path / "broken") == _logs(tmp_path / "whole")
    assert result["mean_mbb"] == expected["mean_mbb"]


class StopAtSecondLook(threading.Event):
    """An event that is set from the second look on."""

    def is_set(self):
        before = super().is_set()
        self.set()
        return before


@pytest.mark.parametrize("wrap", [lambda bot: bot, InPython])
def test_stopped_memory_match_ends_after_its_block_and_goes_on(wrap, tmp_path):
    match = MemoryMatch("m", "hunl", GAMES["hunl"], 1200, 3, ("A", "B"))
    bots = tuple(wrap(Bot("random", seed)) for seed in (1, 2))
    play_in_memory(match, bots, tmp_path / "whole.log")
    with pytest.raises(MatchStoppedError, match="was stopped"):
        play_in_memory(match, bots, tmp_path / "stopped.log", StopAtSecondLook())
    whole, stopped = (tmp_path / "whole.log").read_bytes(), (tmp_path / "stopped.log").read_bytes()
    assert whole.startswith(stopped)
    assert stopped.count(b"STATE:") in (1, 500)
    play_in_memory(match, bots, tmp_path / "stopped.log")
    assert (tmp_path / "stopped.log").read_bytes() == whole


def test_an_interrupted_comparison_does_not_play_on(monkeypatch):
    """Its cells are played in blocks: those not begun are dropped."""
    monkeypatch.setattr(compiled_match, "ThreadPoolExecutor", HeldPool)
    monkeypatch.setattr(compiled_match, "_VALUES_BLOCK_HANDS", 10)
    played = []
    play = compiled_match.CompiledTable.play
    monkeypatch.setattr(
        compiled_match.CompiledTable,
        "play",
        lambda table, cards, start, *rest: played.append(start) or play(table, cards, start, *rest),
    )

    def interrupt(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compiled_match.play_values(GAMES["hunl"], (Bot("call", 0), Bot("call", 1)), 3, 1000, 1, interrupt)
    assert len(played) <= 2


def test_interrupted_tcp_match_goes_on_as_if_it_were_not(tmp_path):
    plan = _plan("bot:random", "bot:raise", hands=12, over="tcp")
    expected = _play(plan, tmp_path / "whole")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    create_folder(broken, plan)
    # What a kill leaves: a transaction file that breaks off in mid-hand, a log without its last hands.
    transactions = (whole / "0000.AB.tlog").read_text().splitlines(keepends=True)
    (broken / "0000.AB.tlog").write_text("".join(transactions[: len(transactions) // 2]))
    (broken / "0000.AB.log").write_text("".join((whole / "0000.AB.log").read_text().splitlines(keepends=True)[:6]))
    result = play_match(plan, broken, 2, lambda text, share: None)
    assert result["score_chips"] == expected["score_chips"]
    for name in ("0000.AB.log", "0000.BA.log"):
        assert list(state_lines(broken / name)) == list(state_lines(whole / name))


CLIENT = """#!{python}
import socket, sys
print("started in", __import__("os").getcwd(), flush=True)
with socket.create_connection((sys.argv[-2], int(sys.argv[-1]))) as sock:
    sock.sendall(b"VERSION:2.0.0\\r\\n")
    for line in sock.makefile("rb"):
        if {leave}:
            break
        sock.sendall(line.rstrip(b"\\r\\n") + b":c\\r\\n")
if {hang}:
    __import__("time").sleep(600)
"""


def _program(folder, leave="False", hang="False"):
    folder.mkdir()
    path = folder / "player"
    path.write_text(CLIENT.format(python=sys.executable, leave=leave, hang=hang))
    path.chmod(0o755)
    return f"cmd:{path}"


def test_external_program_in_its_own_folder_with_its_output_kept(tmp_path):
    program = _program(tmp_path / "theirs")
    result = _play(_plan(program, "bot:call", hands=5, over="tcp"), tmp_path / "match")
    assert result["mean_mbb"] == 0.0
    assert (tmp_path / "match" / "0000.AB.player0.std").read_text() == f"started in {tmp_path / 'theirs'}\n"


def test_program_that_hangs_after_the_match_is_ended(tmp_path, monkeypatch):
    """Only the program's time limit is short: dealer and built-in player may take their time to end."""
    wait = processes.Child.wait

    def wait_long_for_ours(child, seconds):
        ours = not isinstance(child._process, subprocess.Popen)
        return wait(child, 300.0 if ours and seconds == 0.2 else seconds)

    monkeypatch.setattr(processes, "_GRACE_SECONDS", 0.2)
    monkeypatch.setattr(processes.Child, "wait", wait_long_for_ours)
    program = _program(tmp_path / "theirs", hang="True")
    result = _play(_plan(program, "bot:call", hands=3, over="tcp"), tmp_path / "match")
    assert result["pairs"] == 3
    assert result["faults"] == 2


def test_program_that_leaves_breaks_the_match_off_with_its_reason(tmp_path):
    program = _program(tmp_path / "theirs", leave="b':3:' in line")
    plan = _plan(program, "bot:call", hands=9, over="tcp")
    with pytest.raises(ProtocolError, match=r"run 0000\.\w\w broke off: player cmd\..* (ended|stopped playing)"):
        _play(plan, tmp_path / "match", jobs=1)
    kept = list(state_lines(tmp_path / "match" / "0000.AB.log"))
    assert len(kept) == 3
    # With a better program the match goes on where it broke off.
    Path(program.removeprefix("cmd:")).write_text(CLIENT.format(python=sys.executable, leave="False", hang="False"))
    play_match(plan, tmp_path / "match", 2, lambda text, share: None)
    lines = list(state_lines(tmp_path / "match" / "0000.AB.log"))
    assert lines[:3] == kept
    assert [int(line.split(":")[1]) for line in lines] == list(range(9))


def test_target_width_stops_at_a_look_and_reports_the_sequence(tmp_path):
    wide = _play(_plan("bot:random", "bot:call", hands=200, repeat=40, until_ci_mbb=20000.0), tmp_path / "wide")
    narrow = _play(_plan("bot:random", "bot:call", hands=200, repeat=40, until_ci_mbb=6000.0), tmp_path / "narrow")
    assert wide["interval"] == "confidence sequence"
    assert wide["ci95_mbb"] <= 20000.0
    assert narrow["ci95_mbb"] <= 6000.0
    assert 1 <= wide["matches"] < narrow["matches"] < 40
    assert wide["ci95_mbb"] > student.ppf(0.975, wide["pairs"] - 1) * wide["sd_mbb"] / math.sqrt(wide["pairs"])


def test_confidence_sequence_covers_at_all_looks_together():
    """Of 400 random walks looked at 50 times each, an ordinary interval misses zero at some look in many more than 5%."""
    rng = np.random.default_rng(1)
    missed = ordinary = 0
    for _ in range(400):
        values = rng.normal(size=5000)
        sums, squares = np.cumsum(values)[99::100], np.cumsum(values**2)[99::100]
        counts = np.arange(100, 5001, 100)
        means = sums / counts
        deviations = np.sqrt(squares / counts - means**2)
        widths = np.array([sequence_half_width(sd, count) for sd, count in zip(deviations, counts)])
        missed += bool((np.abs(means) > widths).any())
        ordinary += bool((np.abs(means) > 1.96 * deviations / np.sqrt(counts)).any())
    assert missed <= 0.05 * 400
    assert ordinary > 0.15 * 400


def test_estimate_is_students():
    values = np.array([100.0, -50.0, 250.0, 0.0])
    found = estimate(values, 100)
    assert found.mean_mbb == pytest.approx(750.0)
    assert found.sd_mbb == pytest.approx(values.std(ddof=1) * 10)
    assert found.ci95_mbb == pytest.approx(student.ppf(0.975, 3) * found.sd_mbb / 2)
    assert estimate(values[:1], 100).ci95_mbb == math.inf


def test_positions_by_hand():
    first, second = [[10.0, -10.0], [-4.0, 4.0]], [[2.0, -2.0], [6.0, -6.0]]
    assert pair_values(first, second).tolist() == [[10.0, -2.0], [-6.0, -4.0]]


def test_seats_from_log_lines():
    lines = ["STATE:0:f:2c2d|3c3d:50|-50:A|B", "STATE:1:f:2c2d|3c3d:50|-50:B|A"]
    assert seat_values(lines) == [[50.0, -50.0], [-50.0, 50.0]]


def _by_enumeration(line, definition):
    """Average of `settle` over all boards, the slow and plain way."""
    hand = parse_state_line(line, definition)
    known = hand.board[: definition.board_sizes[max(i for i, actions in enumerate(hand.betting.actions) if actions)]]
    deck = [card for card in definition.deck if card not in {*sum(hand.hole_cards, ()), *known}]
    values = [
        hand.betting.settle([rank_hand(cards + known + rest) for cards in hand.hole_cards])
        for rest in combinations(deck, definition.board_sizes[-1] - len(known))
    ]
    return np.mean(values, axis=0)


ALL_IN_LINES = [
    "STATE:3:cr200c/r20000c//:2sKd|7c5s/4c4s4d/4h/Qc:20000|-20000:Bob|Alice",
    "STATE:4:cc/cc/r20000c/:Kc3c|KdQc/6hJdKs/Ah/6d:20000|-20000:Alice|Bob",
    "STATE:5:cc/cr20000c//:AhKh|AdKd/2c7h9h/Kc/4c:0|0:Bob|Alice",
]


@pytest.mark.parametrize("line", ALL_IN_LINES)
def test_all_in_expectation_is_the_mean_over_all_boards(line):
    definition = GAMES["hunl"]
    assert is_all_in(line)
    assert expected_line_values(line, definition) == pytest.approx(_by_enumeration(line, definition).tolist(), abs=1e-9)


def test_all_in_expectation_with_side_pots():
    text = GAMES["hunl"].to_text().replace("numPlayers = 2", "numPlayers = 3")
    text = text.replace("stack = 20000 20000", "stack = 5000 2000 8000").replace("blind = 100 50", "blind = 50 100 0")
    definition = parse_definition(text.replace("firstPlayer = 2 1 1 1", "firstPlayer = 3 1 1 1"), "three")
    for betting in ("ccc/r5000cc//", "ccc/r5000cf//", "ccc/r5000fc//"):
        line = f"STATE:0:{betting}:AsAd|KsKd|QhJh/Th9h2c/3d/4s:0|0|0:A|B|C"
        values = expected_values(parse_state_line(line, definition))
        assert values == pytest.approx(_by_enumeration(line, definition).tolist(), abs=1e-6)
        assert sum(values) == pytest.approx(0.0, abs=1e-6)


def test_all_in_before_the_flop_is_the_published_equity():
    """Aces against kings of other suits: 81.06% wins, 0.38% ties, 18.55% losses."""
    line = "STATE:0:r20000c///:AsAd|KhKc/2s3d4h/5c/9d:20000|-20000:A|B"
    value = expected_line_values(line, GAMES["hunl"])[0]
    assert value / 20000 == pytest.approx(0.8106 - 0.1855, abs=1e-3)


def test_hands_without_cards_to_come_keep_their_values():
    for line in ("STATE:0:r300f:7d3d|2hAc:-100|100:A|B", "STATE:0:cc/cc/cc/r20000c:4s8d|9c3d/4c2d6c/Ks/5c:-1|1:A|B"):
        assert not is_all_in(line)
        assert expected_line_values(line, GAMES["hunl"])[0] in (-100.0, -1.0)
    assert parse_cards("4s8d")


def test_all_in_expectation_lowers_the_variance(tmp_path):
    raw = _play(_plan("bot:random", "bot:random", hands=60), tmp_path / "raw")
    adjusted = _play(_plan("bot:random", "bot:random", hands=60, all_in_ev=True), tmp_path / "adjusted")
    assert adjusted["score_chips"] == raw["score_chips"]
    assert adjusted["sd_mbb"] < raw["sd_mbb"]


def test_damaged_and_short_logs_are_refused(tmp_path):
    plan = _plan("bot:call", "bot:call", hands=3)
    _play(plan, tmp_path)
    run = plan.runs(0)[0]
    log = run.log_path(tmp_path)
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:5] + lines[6:]))
    with pytest.raises(FormatError, match="damaged"):
        seat_table(run, tmp_path, GAMES["hunl"])
    log.write_text("".join(lines[:6]))
    with pytest.raises(FormatError, match="use --resume"):
        seat_table(run, tmp_path, GAMES["hunl"])


def test_same_player_twice_has_two_names_and_two_seeds():
    first, second = _plan("bot:random", "bot:random").runs(0)
    assert len(set(first.names())) == 2
    assert set(first.names()) == set(second.names())
    assert len({*first.player_seeds(), *second.player_seeds()}) == 4
    assert make_player("bot:random", first.player_seeds()[0])


def test_command_line_plays_writes_and_resumes(tmp_path, capsys):
    folder = tmp_path / "match"
    arguments = ["match", "bot:fold", "bot:raise", "--hands", "10", "--json"]
    assert main([*arguments, "-o", str(folder)]) == 0
    printed = json.loads(capsys.readouterr().out)
    kept = json.loads((folder / "result.json").read_text())
    assert kept.pop("checksum") and printed == kept
    promised = ("hands", "pairs", "mean_mbb", "ci95_mbb", "sd_mbb", "seconds", "hands_per_second", "players")
    assert set(promised) <= set(printed)
    assert main(["match", "--resume", str(folder), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["mean_mbb"], again["hands"]) == (-750.0, 20)
    assert main([*arguments, "-o", str(folder)]) == 2
    assert "--resume" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["match", "bot:fold"], "A and B"),
        (["match", "bot:fold", "bot:nobody"], "bot:strength"),
        (["match", "bot:fold", "bot:call", "--over", "radio"], "tcp or memory"),
        (["match", "bot:fold", "cmd:/no/such/program"], "no program"),
        (["match", "bot:fold", "bot:call", "--game", "bluff-1-1"], "no ACPC table form"),
        (["match", "-o", "/no/such/folder", "--resume"], "holds no match"),
        (["dealer", "m", "hunl", "5", "1", "Alice"], "2 seats"),
        (["dealer", "m", "hunl", "5", "1", "A", "B", "-p", "x"], "separated by commas"),
        (["play", "bot:nobody", "127.0.0.1", "1"], "bot:strength"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, said, capsys):
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_three_player_game_is_no_match(tmp_path):
    plan = _plan("bot:call", "bot:call")
    text = plan.definition.replace("numPlayers = 2", "numPlayers = 3").replace("20000 20000", "20000 20000 20000")
    three = plan.model_copy(update={"definition": text.replace("blind = 100 50", "blind = 50 100 0")})
    with pytest.raises(DefinitionError, match="between two"):
        play_match(three, tmp_path, 1, lambda text, share: None)


@pytest.mark.parametrize("over", ["memory", "tcp"])
def test_any_file_name_plays_and_is_read_back(over, tmp_path):
    """Names outside Latin-1, with blanks and marks of the log's own, and longer than a line has room for."""
    folder = tmp_path / "иван" / "a: b|c"
    folder.mkdir(parents=True)
    game = folder / "игра.game"
    game.write_text(GAMES["kuhn"].to_text())
    player = folder / ("長" * 60 + ".py")
    player.write_text("from foldwise.agent.bots import Bot\ndef Caller(seed): return Bot('call', seed)\n")
    plan = MatchPlan(
        players=(f"python:{player}:Caller", "bot:call"),
        game=str(game),
        definition=GAMES["kuhn"].to_text(),
        hands=6,
        seed=1,
        repeat=1,
        over=over,
    )
    result = _play(plan, folder / "партия")
    assert (result["hands"], result["faults"]) == (12, 0)
    first, second = plan.names()
    assert len(first.encode()) <= 200
    hand = parse_state_line(next(state_lines(folder / "партия" / "0000.AB.log")), GAMES["kuhn"])
    assert hand.names == (first, second)
    assert "長" in first


def test_names_of_the_compiled_engine(tmp_path):
    match = MemoryMatch("матч", "игра", GAMES["kuhn"], 4, 3, ("иван", "長い名前"))
    play_in_memory(match, (Bot("call", 0), Bot("call", 1)), tmp_path / "compiled.log")
    play_in_memory(match, tuple(InPython(Bot("call", seed)) for seed in (0, 1)), tmp_path / "python.log")
    text = (tmp_path / "compiled.log").read_text(encoding="utf-8")
    assert text == (tmp_path / "python.log").read_text(encoding="utf-8")
    assert text.count("иван") == 5
    assert text.startswith("# name/game/hands/seed матч игра 4 3\n")


def test_a_crashed_program_is_blamed_with_its_last_words(tmp_path, monkeypatch):
    """It dies before it connects, so the dealer notices nothing and is ended at once, together with the waiting player."""
    monkeypatch.setattr("foldwise.matches.duplicate.processes._GRACE_SECONDS", 1e6)
    script = tmp_path / "bot.py"
    script.write_text("import no_such_module_of_mine\n")
    plan = _plan("bot:call", f"cmd:{sys.executable} {script}", hands=3, over="tcp")
    with pytest.raises(ProtocolError) as broken:
        _play(plan, tmp_path / "match", jobs=1)
    assert f"player {plan.names()[1]} ended before the match, with exit code 1" in str(broken.value)
    assert "it wrote last: " in str(broken.value)
    assert "No module named 'no_such_module_of_mine'" in str(broken.value)


def test_who_is_blamed():
    def ended(code, before, words=""):
        return Ended(f"code {code}", code, before, words)

    assert why_broken("No space left on device: 'x.log'", "", [ended(0, True), ended(0, True)]) == (
        "the dealer failed: No space left on device: 'x.log'"
    )
    said = "ERROR: could not get action from seat 2\n600.0 seconds spent waiting"
    assert why_broken("", said, [ended(1, True), ended(None, False, "\nthinking\n\n")]) == (
        "player code None stopped playing (could not get action from seat 2); it wrote last: thinking"
    )
    assert "player code 3 ended before" in why_broken("", "", [ended(0, True), ended(3, True)])
    assert "player code -11 was killed by SIGSEGV" in why_broken("", "", [ended(None, False), ended(-11, True)])
    assert why_broken("", "", [ended(None, False), ended(None, False)]) == "the dealer ended early"
    assert last_lines("a\n\nb\nc\nd\n") == "b / c / d"


FAILING = """
class Failing:
    def __init__(self, seed):
        pass

    def choose(self, state):
        raise RuntimeError("out of ideas")
"""


@pytest.mark.parametrize("over", ["memory", "tcp"])
def test_a_failing_python_player_gives_one_traceback_and_a_count(over, tmp_path, capfd):
    (tmp_path / "failing.py").write_text(FAILING)
    plan = _plan(f"python:{tmp_path / 'failing.py'}:Failing", "bot:call", hands=7, over=over)
    result = _play(plan, tmp_path / "match")
    assert result["faults"] >= 14  # at least a decision a hand
    assert result["first_fault"].count("RuntimeError: out of ideas") == 1
    assert "failing" in result["first_fault"]
    assert "Traceback" not in capfd.readouterr().err
    for errors in (tmp_path / "match").glob("*.err"):
        assert errors.read_text().count("Traceback") <= 1


@pytest.mark.parametrize(
    "command, program, folder",
    [
        ("python3 bot.py fast", "python3", "."),  # on the PATH, in the folder of its script
        ("./bot.py --fast", "{here}/bot.py", "."),
        ("sub/run", "{here}/sub/run", "sub"),
        ("run-here", "{here}/run-here", "."),  # not on the PATH: the current folder's
    ],
)
def test_programs_are_found_as_a_shell_finds_them(command, program, folder, tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "bin").mkdir()
    for name in ("bot.py", "sub/run", "run-here", "bin/python3"):
        (tmp_path / name).write_text('#!/bin/sh\npwd\necho "$@"\necho "safe:$PYTHONSAFEPATH"\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    resolved = resolve_program(command)
    assert shlex.split(resolved)[0] == program.format(here=tmp_path)
    monkeypatch.chdir("/")  # where a match is resumed from
    with (tmp_path / "out").open("wb") as out, clean_start():
        start_program(resolved, "127.0.0.1", 4711, out, out).wait()
    where, arguments, safe = (tmp_path / "out").read_text().splitlines()
    assert where == str((tmp_path / folder).resolve())
    assert arguments.endswith("127.0.0.1 4711")
    assert safe == "safe:"
    assert "PYTHONSAFEPATH" not in os.environ


@pytest.mark.parametrize(
    "command, said",
    [
        ("no-such-program-anywhere", "on the PATH or here"),
        ("./nothing", "no program './nothing'"),
        ("", "expected cmd: and a program"),
        ("'half", "No closing quotation"),
        ("./plain.py", "chmod"),
    ],
)
def test_programs_that_cannot_be_started_are_refused(command, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.py").write_text("")
    with pytest.raises(DefinitionError, match=said):
        resolve_program(command)


@pytest.mark.parametrize("over", ["memory", "tcp"])
def test_modules_of_the_current_folder_are_not_taken_for_ours(over, tmp_path):
    """Names of rooms and of the standard library, as a user's own scripts may have them."""
    for name in ("game", "agent", "queue", "socket", "selectors", "random"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the current folder')\n")
    (tmp_path / "player.py").write_text(
        "from foldwise.agent.bots import Bot\ndef Mine(seed): return Bot('call', seed)\n"
    )
    words = ["match", "python:player.py:Mine", "bot:call", "--game", "kuhn", "--hands", "5", "--over", over, "--json"]
    command = [str(Path(sys.executable).with_name("foldwise")), *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["mean_mbb"] == 0.0


def test_a_full_disk_names_the_file(tmp_path):
    """The dealer and all it writes under a limit of file size: the log, not a player, is to blame."""
    limit = 40_000
    words = ["match", "bot:call", "bot:call", "--hands", "3000", "--over", "tcp", "-o", str(tmp_path / "match")]
    command = [str(Path(sys.executable).with_name("foldwise")), *words]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 1
    assert "the dealer failed" in done.stderr
    assert "File too large" in done.stderr
    assert re.search(r"0000\.(AB|BA)\.t?log", done.stderr)
    assert "Traceback" not in done.stderr


def holders(path):
    """Processes that have a file open."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if link.readlink() == path:
                found.add(int(link.parts[2]))
        except OSError:  # it has ended, or is not ours
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="what a killed match leaves behind is read from /proc")
def test_a_killed_match_leaves_no_process(tmp_path):
    words = ["match", "bot:call", "bot:call", "--hands", "1000000", "--over", "tcp", "-o", str(tmp_path / "match")]
    log = tmp_path / "match" / "0000.AB.log"
    match = subprocess.Popen([sys.executable, "-m", "foldwise.cli.main", *words], stderr=subprocess.DEVNULL)
    end = time.monotonic() + 600.0
    try:
        while not (log.exists() and holders(log)):
            assert time.monotonic() < end and match.poll() is None
            time.sleep(0.05)
    finally:
        match.kill()
        match.wait()
    while holders(log):
        assert time.monotonic() < end
        time.sleep(0.05)
