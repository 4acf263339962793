"""Messages that help: conditions that match nothing, options without effect, typing errors, progress."""

import contextlib
import errno
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from foldwise.abstraction.config import check_config
from foldwise.agent.reading.typed_state import hand_of_class
from foldwise.cli.main import main
from foldwise.cli.support.output import ProgressLine
from foldwise.game.errors import DefinitionError, FormatError, Naming
from foldwise.game.library import find_definition
from foldwise.matches.table.log import LogFile
from foldwise.solver.config import RunConfig
from tests.support.commands import refused
from tests.support.places import CONFIGS


@pytest.fixture(scope="module")
def strategies(tmp_path_factory):
    """Leduc, and hold'em by a few iterations over ten buckets."""
    folder = tmp_path_factory.mktemp("words")
    leduc = ["solve", str(CONFIGS / "leduc.toml"), "-o", str(folder / "leduc"), "--sampler", "cfr+"]
    assert main([*leduc, "--iterations", "20"]) == 0
    assert main(["solve", str(CONFIGS / "hunl-tiny.toml"), "-o", str(folder / "tiny"), "--iterations", "3000"]) == 0
    return folder


def shown(capsys, *arguments) -> str:
    capsys.readouterr()
    assert main(list(map(str, arguments))) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "conditions, said",
    [
        (["--betting", "r301"], "no infoset of the strategy fits --betting r301"),
        (["--street", "0", "--hand", "AKx"], "no such hand: did you mean AK"),
        (["--street", "2", "--hand", "AKs"], "are no single hands: give --bucket"),
        (["--street", "0", "--hand", "AKs", "--bucket", "0"], "fits --street 0, --hand AKs, --bucket 0"),
    ],
)
def test_conditions_that_fit_nothing_write_nothing(conditions, said, strategies, tmp_path, capsys):
    output = tmp_path / "rows.csv"
    assert said in refused(capsys, "export", strategies / "tiny", "-o", output, *conditions)
    assert not output.exists()


def test_a_hand_may_be_typed_either_way_round(strategies, tmp_path, capsys):
    words = ("export", strategies / "tiny", "--street", 0, "--betting", "")
    for name in ("KAs", "AKs"):
        assert "1 infosets" in shown(capsys, *words, "--hand", name, "-o", tmp_path / f"{name}.csv")
    assert (tmp_path / "KAs.csv").read_bytes() == (tmp_path / "AKs.csv").read_bytes()


def test_inspect_takes_what_export_takes_and_its_examples_run(strategies, tmp_path, capsys):
    """Every example of the help, with a folder of ours; bars in words."""
    tiny = strategies / "tiny"
    assert shown(capsys, "inspect", tiny, "--betting", "r300", "--hand", "AKs") == shown(
        capsys, "inspect", tiny, "--betting", "r300", "--hand", "AsKs"
    )
    text = shown(capsys, "inspect", tiny, "--state", "MATCHSTATE:0:0:r300:AhAs|", "--postprocess", "new(0.2)")
    assert " fold " in text
    assert " call 200 " in text
    assert "all-in" in text
    assert main(["inspect", "--help"]) == 0
    help_text = " ".join(capsys.readouterr().out.split())
    assert '"MATCHSTATE:0:0:r300:AhAs|"' in help_text
    assert "written to" in shown(capsys, "inspect", tiny, "--betting", "r300", "--png", tmp_path / "grid.png")
    assert "AKs or T9o" in refused(capsys, "inspect", tiny, "--hand", "AK")


def test_hand_classes():
    hunl = find_definition("hunl")
    assert [hand_of_class(text, hunl) for text in ("AKs", "t9o", "QQ", "QhQs")] == ["AsKs", "Ts9h", "QsQh", "QhQs"]
    with pytest.raises(FormatError, match="a pair as QQ"):
        hand_of_class("QQs", hunl)


def test_boards_only_where_they_count(strategies, tmp_path, capsys):
    leduc = strategies / "leduc"
    log = tmp_path / "one.log"
    log.write_text("STATE:0:f:AsKd|7c7d:50|-50:a|b\n")
    assert "add --fit" in refused(capsys, "score", log, "--boards", 5)
    words = ("match", leduc, leduc, "--game", "leduc")
    assert "give --hands" in refused(capsys, *words, "--boards", 5)
    assert "give --boards" in refused(capsys, *words, "--boards", 5, "--hands", 5, "--score", "expectation")
    text = shown(capsys, *words, "--boards", 20, "--score", "expectation")
    assert "20 boards, by expectation" in text
    assert "hands," not in text
    assert "hands/s" not in text and "boards/s in" in text
    compared = ("compare", leduc, "--opponents", leduc, "--variants", "none", "--score", "expectation")
    assert "40 boards a cell, by expectation" in shown(capsys, *compared, "--boards", 40)
    capsys.readouterr()
    assert main([*map(str, compared), "--hands", "40"]) == 0
    assert "it is now --boards 40" in capsys.readouterr().err


def test_reports_name_the_score_and_count_boards(strategies, tmp_path, capsys):
    leduc, folder = strategies / "leduc", tmp_path / "c"
    words = ["compare", leduc, "--opponents", leduc, "bot:call", "--variants", "none,purify", "--hands", 30]
    shown(capsys, *words[:4], *words[5:], "--score", "expectation", "-o", folder)
    shown(capsys, "report", folder)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "30 boards a cell" in page
    assert "scored by expectation" in page
    shown(capsys, *words, "--score", "chips", "-o", tmp_path / "d")
    shown(capsys, "report", tmp_path / "d")
    page = (tmp_path / "d" / "report.html").read_text(encoding="utf-8")
    assert "60 hands a cell" in page
    assert "scored by chips" in page


def test_pictures_of_runs_without_exploitability_show_the_regret(strategies, tmp_path, capsys):
    picture = tmp_path / "regret.svg"
    shown(capsys, "plot", strategies / "tiny", "-o", picture)
    assert "mean positive regret" in picture.read_text() or "<path" in picture.read_text()
    from matplotlib import pyplot

    assert not pyplot.get_fignums()  # a picture that is written is not kept in memory
    from foldwise.abstraction.strategy import Strategy
    from foldwise.cli.support.pictures import draw_convergence

    manifest = Strategy(strategies / "tiny").manifest
    with pytest.raises(DefinitionError, match="no run has been measured"):
        draw_convergence([manifest.model_copy(update={"history": []})], "nodes", tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()


@pytest.mark.parametrize("command", [["plot", "-o"], ["inspect", "--png"], ["spot", "--png"]])
def test_pictures_that_cannot_be_drawn(command, strategies, tmp_path, capsys):
    """Said before any work is done; nor is a picture replaced that is there already."""
    name, option = command
    words = [name, strategies / "tiny", option]
    assert "ends with .png, .pdf, .svg" in refused(capsys, *words, tmp_path / "p.xyz")
    (tmp_path / "p.png").write_text("mine")
    assert "add --overwrite to replace it" in refused(capsys, *words, tmp_path / "p.png")
    assert (tmp_path / "p.png").read_text() == "mine"


@pytest.mark.parametrize(
    "data, said",
    [
        ({"solver": {"betta": 3}}, "solver.betta: [solver] has no such key: did you mean 'beta'?"),
        ({"slover": {}}, "slover: there is no such key or section: did you mean 'solver'?"),
        ({"iterations": 5}, "iterations: there is no such key or section: it belongs below [solver]"),
        ({"solver": 7}, "solver: got 7, expected a section: write [solver] and its keys below it"),
        ({"game": {"name": "hunl"}}, "game: got {'name': 'hunl'}, expected text in quotes, no section"),
        ({"cards": {"streets": [{"method": "percentil"}]}}, "percentile"),
        ({"solver": {"threads": "two"}}, "solver.threads: expected a valid integer"),
        ({"solver": {"zzz": 1}}, "solver.zzz: [solver] has no such key: expected one of "),
    ],
)
def test_config_typing_errors(data, said):
    with pytest.raises(DefinitionError) as error:
        check_config({"name": "x", "game": "hunl", **data}, RunConfig, "x.toml")
    assert said in str(error.value)
    assert "instance of" not in str(error.value)


def test_games_print_the_deck(capsys):
    text = shown(capsys, "games", "leduc")
    assert "deck of 6: As Ah Ks Kh Qs Qh; 1 to each player, board cards by street 0, 1" in text
    assert "the full deck; 2 to each player" in shown(capsys, "games", "hunl")
    capsys.readouterr()
    assert main(["games", "kuhn", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["games"][0]["deck"]) == 6


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def make_line(terminal, width=60):
    console = Console(file=io.StringIO(), force_terminal=terminal, width=width, legacy_windows=False)
    clock = Clock()
    return ProgressLine("work", console, clock), console.file, clock


def test_time_left_is_by_the_pace_of_this_run(monkeypatch):
    """A run resumed at 20% has made 1% in ten seconds: 13 minutes are left, not half a minute."""
    monkeypatch.setattr(ProgressLine, "silent", False)
    line, file, clock = make_line(False)
    clock.now = 10.0
    line.update("resumed", 0.2)
    clock.now = 20.0
    line.update("going on", 0.21)
    assert file.getvalue().splitlines() == ["work: resumed, 20%", "work: going on, 21%, 13 min left"]
    clock.now = 21.0
    line.update("too soon", 0.3)
    assert "too soon" not in file.getvalue()


def test_no_time_is_foretold_from_the_first_steps(monkeypatch):
    """Four iterations of millions, and a kernel compiled in them, would foretell days."""
    monkeypatch.setattr(ProgressLine, "silent", False)
    line, file, clock = make_line(False)
    for now, share in ((10.0, 0.13), (30.0, 0.130001), (41.0, 0.14)):
        clock.now = now
        line.update("going on", share)
    assert file.getvalue().splitlines()[1:] == ["work: going on, 13%", "work: going on, 14%, 44 min left"]


@pytest.mark.parametrize("width, bar", [(40, False), (60, True), (80, True)])
def test_the_bar_fits_the_terminal_and_clears_itself(width, bar, monkeypatch):
    """Words are cut, percent and time left never; a narrow terminal has no bar, so that words have room."""
    monkeypatch.setattr(ProgressLine, "silent", False)
    line, file, clock = make_line(True, width)
    for step in range(1, 4):
        clock.now = float(step)
        line.update("10,000 iterations, " * 10, step / 10)
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue()))
    assert max(map(len, lines)) <= width
    assert lines[-1].endswith("30%, 7 s left")
    assert lines[-1].startswith("work: 10,000 iter") and "…" in lines[-1]
    assert ("━" in lines[-1]) == bar
    before = len(file.getvalue())
    ProgressLine.clear()
    assert "\x1b[2K" in file.getvalue()[before:]
    assert not ProgressLine._shown


@pytest.mark.parametrize("score, unit", [("chips", "hands/s"), ("expectation", "boards/s")])
def test_a_comparison_says_how_far_its_cell_is(score, unit, strategies):
    """A long cell is not silent: shares grow within it, with the rate."""
    from foldwise.agent.player_spec import parse_player
    from foldwise.agent.strategy_player import OpenStrategy
    from foldwise.matches.duplicate.comparison import Table, compare, cross_table

    folder = strategies / ("leduc" if score == "chips" else "tiny")  # Leduc's few boards are scored in one go
    definition = OpenStrategy(folder).definition
    hands = 12_000 if score == "chips" else 12
    table = Table(game="any", definition=definition, hands=hands, seed=1, over="memory", jobs=1, score=score)
    for work in (
        lambda listen: compare(table, folder, ["none"], [parse_player(f"strategy:{folder}")], listen),
        lambda listen: cross_table(table, [f"strategy:{folder}", f"strategy:{folder}|purify"], listen),
    ):
        said = []
        work(lambda text, share, said=said: said.append((text, share)))
        shares = [share for _, share in said]
        assert shares[0] == 0.0
        assert shares == sorted(shares)
        assert shares[-1] == pytest.approx(1.0)
        assert any(0.0 < share < 1.0 for share in shares)
        assert unit in said[-1][0]


def test_progress_is_silent_under_json(monkeypatch):
    monkeypatch.setattr(ProgressLine, "silent", True)
    line, file, clock = make_line(False)
    clock.now = 100.0
    line.update("text", 0.5)
    line.say("text")
    assert file.getvalue() == ""


def test_a_full_disk_names_the_file(strategies, tmp_path, capsys, monkeypatch):
    if Path("/dev/full").exists():
        log = LogFile(Path("/dev/full"), append=False)
        with pytest.raises(OSError, match="No space left") as error:
            log.write("x\n")
        assert error.value.filename == "/dev/full"
        with contextlib.suppress(
            OSError
        ):  # it has no room for what it holds; from Python 3.13 on it would say so later
            log.close()
    with pytest.raises(OSError, match="No space left") as error, Naming(tmp_path / "a"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert error.value.filename == str(tmp_path / "a")

    picture = tmp_path / "p.png"
    if Path("/dev/full").exists():
        picture.symlink_to("/dev/full")
        said = refused(capsys, "plot", strategies / "leduc", "-o", picture, "--overwrite")
        assert f"No space left on device for {str(picture)!r}: make room" in said

    def full(names):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "runs/x.npy")

    monkeypatch.setattr("foldwise.cli.main.make_app", full)
    assert "No space left on device for 'runs/x.npy': make room" in refused(capsys, "games")


def test_names_are_printed_on_any_terminal(tmp_path):
    """An ASCII terminal shows what it cannot print as an escape."""
    log = tmp_path / "иван.log"
    log.write_text("STATE:0:f:AsKd|7c7d:50|-50:иван|b\n", encoding="utf-8")
    command = [str(Path(sys.executable).with_name("foldwise")), "score", str(log)]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert rb"\u0438\u0432\u0430\u043d" in done.stdout


def test_a_name_that_is_no_text_is_refused_in_one_line(tmp_path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    folder.mkdir()
    program = folder / "bot"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    command = [str(Path(sys.executable).with_name("foldwise")), "match", f"cmd:{program}", "bot:call"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"Traceback" not in done.stderr


def test_an_estimate_says_what_it_does(strategies, capsys, monkeypatch):
    """Preparation and each timed flop are reported: the command is never silent for minutes."""
    from foldwise.solver.response import real_response

    class Timed:
        def __init__(self, *arguments):
            pass

        def run(self, fingerprint, threads, listen, flops):
            for done in range(1, 2 * flops + 1):  # of both players
                listen(real_response.ResponseProgress(done, 3510, 600.0))

    monkeypatch.setattr(real_response, "RealResponse", Timed)
    monkeypatch.setattr(ProgressLine, "silent", False)
    capsys.readouterr()
    assert main(["exploitability", str(strategies / "tiny"), "--real-cards", "--estimate"]) == 0
    written = capsys.readouterr()
    assert "preparing the cards" in written.err
    assert [f"{done} of 8 flops timed" in written.err for done in range(1, 9)] == [True] * 8
    assert "about 10.0 minutes" in written.out


def test_a_worker_ends_with_one_object(capsys, monkeypatch):
    def interrupted(running):
        running.close()
        raise KeyboardInterrupt

    monkeypatch.setattr("foldwise.matches.table.loop.run_loop", interrupted)
    capsys.readouterr()
    assert main(["worker", "--broker", "mqtt://127.0.0.1:1", "--name", "mine", "--json"]) == 130
    written = capsys.readouterr()
    found = json.loads(written.out)
    assert (found["name"], found["blocks"]) == ("mine", 0)
    assert "interrupted: start it again" in written.err
