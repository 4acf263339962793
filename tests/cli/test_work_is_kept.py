"""Work is never lost silently: results are not replaced unasked, and interrupted work can be resumed."""

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from foldwise.abstraction.storage.folder_lock import locked
from foldwise.agent.player_spec import parse_player
from foldwise.cli.main import main
from foldwise.cli.support.spellings import modern_spelling
from foldwise.game.errors import DefinitionError
from foldwise.matches.duplicate.cells import CellStore
from tests.support.commands import refused
from tests.support.places import CONFIGS

NEEDS_PROC = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="the processes a match has started are read from /proc"
)
LEDUC = str(CONFIGS / "leduc.toml")


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept") / "leduc"
    assert main(["solve", LEDUC, "-o", str(folder), "--sampler", "cfr+", "--iterations", "30"]) == 0
    return folder


def result(capsys, *arguments):
    capsys.readouterr()
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_solve_keeps_a_finished_strategy(leduc, tmp_path, capsys):
    """Another game, or the same one without --resume, is refused with both ways to continue; each of them works."""
    folder = tmp_path / "run"
    shutil.copytree(leduc, folder)
    before = (folder / "manifest.json").read_bytes()
    for config in (str(CONFIGS / "kuhn.toml"), LEDUC):
        err = refused(capsys, "solve", config, "-o", folder, "--iterations", 5)
        assert "holds a strategy of leduc (leduc, 30 iterations): add --resume" in err
        assert "--overwrite" in err
    assert "give one" in refused(capsys, "solve", LEDUC, "-o", folder, "--iterations", 5, "--resume", "--overwrite")
    assert (folder / "manifest.json").read_bytes() == before
    found = result(capsys, "solve", LEDUC, "-o", folder, "--sampler", "cfr+", "--iterations", 40, "--resume")
    assert found["iterations"] == 40
    kuhn = result(capsys, "solve", CONFIGS / "kuhn.toml", "-o", folder, "--iterations", 7, "--overwrite")
    assert (kuhn["game"], kuhn["iterations"]) == ("kuhn", 7)


@pytest.mark.parametrize(
    "command, output",
    [
        (["export", "LEDUC", "-o", "FILE"], "rows.csv"),
        (["plot", "LEDUC", "-o", "FILE"], "curve.png"),
        (["convert", "LOG", "FILE"], "hands.phhs"),
        (["report", "LOG", "--game", "hunl", "-o", "FILE"], "page.html"),
    ],
)
def test_files_are_not_replaced_unasked(command, output, leduc, tmp_path, capsys):
    log = tmp_path / "one.log"
    log.write_text("# name/game/hands/seed one hunl 1 0\nSTATE:0:f:AsKd|7c7d:50|-50:a|b\n")
    target = tmp_path / output
    target.write_text("mine")
    words = [{"LEDUC": str(leduc), "LOG": str(log), "FILE": str(target)}.get(word, word) for word in command]
    assert "add --overwrite to replace it" in refused(capsys, *words)
    assert target.read_text() == "mine"
    assert main([*words, "--overwrite"]) == 0
    assert target.read_bytes() != b"mine"


def test_compare_keeps_its_result_and_goes_on_from_its_cells(leduc, tmp_path, capsys, monkeypatch):
    """Interrupted in its third cell; --resume plays the two that are missing and gives the whole result, bit for bit."""
    from foldwise.matches.duplicate.comparison import Table

    words = ("compare", leduc, "--opponents", "bot:call", "bot:random", "--variants", "none,purify", "--hands", 200)
    whole = result(capsys, *words, "-o", tmp_path / "whole")
    assert "add --resume to continue it, --overwrite" in refused(capsys, *words, "-o", tmp_path / "whole")
    played = []
    play = Table._play

    def counted(table, first, second, listen):
        if len(played) == 2:
            raise KeyboardInterrupt
        played.append(second)
        return play(table, first, second, listen)

    monkeypatch.setattr(Table, "_play", counted)
    assert main([*map(str, words), "-o", str(tmp_path / "broken")]) == 130
    kept = (
        f"interrupted: what was finished is kept in {tmp_path / 'broken'}: continue with the same command and --resume"
    )
    assert kept in capsys.readouterr().err
    played.clear()
    again = result(capsys, *words, "-o", tmp_path / "broken", "--resume")
    assert len(played) == 2
    for key in ("rows", "differences"):
        assert again[key] == whole[key]
    assert "nothing to resume" in refused(capsys, *words, "-o", tmp_path / "new", "--resume")
    assert "give -o DIR" in refused(capsys, *words, "--resume")
    monkeypatch.setattr(Table, "_play", play)
    replaced = result(capsys, *words, "-o", tmp_path / "whole", "--overwrite")
    assert replaced["rows"] == whole["rows"]


def test_tournament_goes_on_and_refuses_other_conditions(leduc, tmp_path, capsys, monkeypatch):
    from foldwise.matches.duplicate.comparison import Table

    words = ["tournament", leduc, "bot:call", "bot:random", "--game", "leduc", "-o", tmp_path / "t"]
    first = result(capsys, *words, "--hands", 100)
    played = []
    play = Table._play
    monkeypatch.setattr(Table, "_play", lambda *given: played.append(given[1:]) or play(*given))
    assert result(capsys, *words, "--hands", 100, "--resume")["cells"] == first["cells"]
    assert not played
    before = (tmp_path / "t" / "tournament.json").read_bytes()
    err = refused(capsys, *words, "bot:raise", "--hands", 120, "--seed", 3, "--resume")
    assert "bot:call and bot:random and bot:raise, there strategy:" in err
    assert "; --hands 120, there 100; --seed 3, there 0): repeat the original command with --resume" in err
    assert (tmp_path / "t" / "tournament.json").read_bytes() == before
    assert not played


def test_a_resumed_comparison_is_the_one_in_the_folder(leduc, tmp_path, capsys):
    """What differs is named and nothing is replaced; what was not asked for before may be added."""
    folder = tmp_path / "c"
    words = ["compare", leduc, "--variants", "none,purify", "--hands", 50, "-o", folder]
    first = result(capsys, *words, "--opponents", "bot:call")
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert set(before) == {"asked.json", "comparison.json", "comparison.csv", "differences.csv", "comparison.png"}
    for changed, said in (
        (["--opponents", "bot:random"], "(--opponents bot:random, there bot:call)"),
        (["--opponents", "bot:call", "bot:random"], "(--opponents bot:call and bot:random, there bot:call)"),
        (["--opponents", "bot:call", "--variants", "none"], "(--variants none, there none and purify)"),
        (["--opponents", "bot:call", "--hands", 60], "(--hands 60, there 50)"),
        (["--opponents", "bot:call", "--no-exploitability"], "(--exploitability not asked for, there True)"),
    ):
        assert said in refused(capsys, *words, *changed, "--resume")
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    lbr = [*words, "--opponents", "bot:call", "--lbr", "--lbr-hands", 10, "--resume"]
    again = result(capsys, *lbr)
    assert [row["avg_mbb"] for row in again["rows"]] == [row["avg_mbb"] for row in first["rows"]]
    assert "lbr_mbb" in again["rows"][0]
    assert "--lbr-hands not asked for, there 10" in refused(capsys, *words, "--opponents", "bot:call", "--resume")


def test_a_strategy_solved_further_is_another_one(leduc, tmp_path, capsys):
    """Under the same name; an older folder that does not say what it compared is not replaced either."""
    run, folder = tmp_path / "run", tmp_path / "c"
    shutil.copytree(leduc, run)
    words = ["compare", run, "--opponents", "bot:call", "--variants", "none", "--hands", 20, "-o", folder]
    result(capsys, *words)
    result(capsys, "solve", LEDUC, "-o", run, "--sampler", "cfr+", "--iterations", 35, "--resume")
    err = refused(capsys, *words, "--resume")
    assert "(strategy strategy:" in err
    assert err.count(", contents ") == 2
    (folder / "asked.json").write_text("{")
    assert "is damaged: it is not JSON" in refused(capsys, *words, "--resume")
    (folder / "asked.json").unlink()
    assert "asked.json is missing" in refused(capsys, *words, "--resume")
    (folder / "comparison.json").unlink()  # interrupted, and cells are named by what they hold
    assert result(capsys, *words, "--resume")["rows"]


def test_a_damaged_cell_is_named(tmp_path):
    store = CellStore(tmp_path, 3, seed=1)
    players = parse_player("bot:call"), parse_player("bot:fold")
    assert store.pairs(*players, lambda: np.ones(3)).tolist() == [1.0, 1.0, 1.0]
    (path,) = (tmp_path / "cells").glob("*.npy")
    np.save(path, np.ones(2))
    with pytest.raises(ValueError, match="the cell is played again"):
        store.pairs(*players, lambda: np.ones(3))


def test_kept_matches_go_on(leduc, tmp_path, capsys):
    """With --logs a match that was interrupted is finished in its own folder, and none is played twice."""
    words = ["compare", leduc, "bot:call", "--variants", "none", "--hands", 20, "--logs", "-o", tmp_path / "c"]
    first = result(capsys, *words)
    shutil.rmtree(tmp_path / "c" / "cells")
    log = tmp_path / "c" / "matches" / "000" / "0000.AB.log"
    whole = log.read_bytes()
    log.write_bytes(whole[:-300])
    assert result(capsys, *words, "--resume")["rows"] == first["rows"]
    assert log.read_bytes() == whole
    assert [folder.name for folder in (tmp_path / "c" / "matches").iterdir()] == ["000"]


def test_a_resumed_match_is_the_one_in_the_folder(tmp_path, capsys):
    folder = tmp_path / "match"
    assert main(["match", "bot:fold", "bot:raise", "--hands", "10", "-o", str(folder)]) == 0
    resume = ["match", "-o", folder, "--resume"]
    assert result(capsys, *resume)["hands"] == 20
    assert result(capsys, *resume, "bot:fold", "bot:raise", "--hands", 10)["hands"] == 20
    err = refused(capsys, *resume, "bot:call", "bot:raise", "--hands", 3000, "--seed", 0)
    assert "holds another match (A bot:call, there bot:fold; --hands 3000, there 10): leave these out" in err
    assert "give the folder of the match" in refused(capsys, "match", "--resume")


def test_a_match_is_of_its_strategies_game_and_a_refused_one_leaves_no_folder(leduc, tmp_path, capsys):
    """Without --game the strategy's game is played; with another one nothing is written that would block the next try."""
    folder = tmp_path / "match"
    err = refused(capsys, "match", leduc, "bot:call", "--game", "hunl", "--hands", 5, "-o", folder)
    assert "player 'strategy:leduc' was solved for leduc, and the game to play is hunl: give" in err
    assert not (folder / "match.json").exists()
    err = refused(capsys, "tournament", leduc, "bot:call", "--game", "kuhn", "--hands", 5)
    assert "was solved for leduc, and the game to play is kuhn" in err
    found = result(capsys, "match", leduc, "bot:call", "--hands", 5, "-o", folder)
    assert (found["game"], found["hands"]) == ("leduc", 10)
    assert result(capsys, "match", leduc, "bot:call", "-o", folder, "--resume")["mean_mbb"] == found["mean_mbb"]


def test_old_spellings_work_and_say_so(tmp_path, capsys):
    folder = tmp_path / "match"
    assert main(["match", "bot:fold", "bot:raise", "--hands", "10", "--jobs", "1", "-o", str(folder)]) == 0
    assert "--jobs is now --threads" in capsys.readouterr().err
    assert main(["match", "--resume", str(folder)]) == 0
    assert f"--resume {folder} is now -o {folder} --resume" in capsys.readouterr().err
    words = ("match", "bot:fold", "bot:raise", "--hands", 3, "--resume", folder)
    assert "--hands 3, there 10" in refused(capsys, *words, notes=1)
    assert modern_spelling(["match", "--resume", "bot:call", "bot:fold"])[1] == []
    assert modern_spelling(["match", "--resume=x", "--jobs=2", "--", "--jobs"]) == (
        ["match", "-o", "x", "--resume", "--threads=2", "--", "--jobs"],
        ["--resume x is now -o x --resume", "--jobs is now --threads"],
    )
    assert modern_spelling(["solve", "c", "--resume", "x"]) == (["solve", "c", "--resume", "x"], [])


FOLDERS = {  # by the file that only such a folder has: what a command says of it that keeps something else
    "match.json": "holds a match (match.json)",
    "comparison.json": "holds a comparison (comparison.json)",
    "tournament.json": "holds a tournament (tournament.json)",
    "lbr.json": "holds a run of lbr (lbr.json)",
    "response.json": "holds a best response (response.json)",
    "duel.json": "holds duels (duel.json)",
    "manifest.json": "holds a strategy or a card abstraction (manifest.json)",
}
WRITERS = {
    "match.json": ["match", "bot:call", "bot:raise", "--hands", "2"],
    "comparison.json": ["compare", "LEDUC", "--opponents", "bot:call", "--hands", "2"],
    "tournament.json": ["tournament", "bot:call", "bot:raise", "--hands", "2"],
    "lbr.json": ["lbr", "LEDUC", "--hands", "2"],
    "duel.json": ["duel", "LEDUC"],
}


def test_names_of_kept_files_are_those_that_are_written():
    """They are written out for the commands, which start before what writes them is loaded."""
    from foldwise.abstraction.strategy import MANIFEST, StrategyManifest
    from foldwise.cli.support import outputs
    from foldwise.matches.duplicate.asked import ASKED_FILE
    from foldwise.matches.duplicate.cells import CELLS_FOLDER
    from foldwise.matches.folder_check import CHECKPOINTS
    from foldwise.matches.network.block_store import JOB_FILE
    from foldwise.matches.plan import MATCHES_FOLDER, PLAN_FILE
    from foldwise.matches.report.duel import DUEL_FILE
    from foldwise.matches.scoring.lbr_run import LBR_FILE
    from foldwise.solver.response import real_response

    results = {"comparison.json", "tournament.json", JOB_FILE, ASKED_FILE}
    files = {MANIFEST, *CHECKPOINTS, PLAN_FILE, *results, LBR_FILE, real_response.MANIFEST, DUEL_FILE}
    assert set(outputs._HELD) == files
    assert (CELLS_FOLDER, MATCHES_FOLDER, JOB_FILE) == outputs.KEPT
    assert StrategyManifest.model_fields["kind"].default == outputs.STRATEGY_KIND


@pytest.mark.parametrize("own", WRITERS)
def test_a_folder_of_another_command_is_not_written_to(own, leduc, tmp_path, capsys):
    words = [str(leduc) if word == "LEDUC" else word for word in WRITERS[own]]
    for name, said in FOLDERS.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text("{}")
        if name != own:
            assert said in refused(capsys, *words, "-o", folder)
            assert [path.name for path in folder.iterdir()] == [name]


def test_cards_and_strategies_do_not_replace_each_other(leduc, tmp_path, capsys):
    from foldwise.cli.abstract import _save

    before = {path.name: path.read_bytes() for path in leduc.iterdir()}
    for overwrite in ([], ["--overwrite"]):
        said = refused(capsys, "abstract", "hunl-tiny", "-o", leduc, *overwrite)
        assert "holds a foldwise strategy, not a card abstraction: give another folder" in said
    assert {path.name: path.read_bytes() for path in leduc.iterdir()} == before
    cards = tmp_path / "cards"
    cards.mkdir()
    (cards / "manifest.json").write_text('{"kind": "card abstraction"}')
    for words in (["solve", LEDUC, "--overwrite", "--iterations", 2], ["average", leduc, "--overwrite"]):
        assert "holds a card abstraction, not a foldwise strategy" in refused(capsys, *words, "-o", cards)

    class Cards:
        fingerprint = "other"
        saved = 0

        def save(self, folder):
            self.saved += 1

    built = Cards()
    with pytest.raises(DefinitionError, match="holds another card abstraction: add --overwrite to replace it"):
        _save(built, cards, False)
    assert not built.saved
    _save(built, cards, True)
    assert built.saved


def test_one_session_of_duels_in_a_folder(leduc, tmp_path, capsys):
    with locked(tmp_path / "duels"):
        assert "is in use by process" in refused(capsys, "duel", leduc, "-o", tmp_path / "duels")


def test_interrupted_after_its_cells_a_comparison_goes_on(leduc, tmp_path, capsys, monkeypatch):
    """What is measured after the matches, as exploitability, can be interrupted too; before anything is kept there is
    nothing to resume.
    """

    def interrupted(*_):
        raise KeyboardInterrupt

    words = ["compare", leduc, "--opponents", "bot:call", "--variants", "none", "--hands", 20]
    with monkeypatch.context() as patch:
        patch.setattr("foldwise.cli.compare._exploitability", interrupted)
        for output, said in (
            (
                ["-o", tmp_path / "it's"],
                "is kept in '" + str(tmp_path / "it") + "'\"'\"'s': continue with the same command",
            ),
            ([], "nothing is kept without a folder: give -o DIR to be able to --resume"),
        ):
            assert main([*map(str, words), *map(str, output)]) == 130
            assert said in capsys.readouterr().err
        patch.setattr("foldwise.cli.compare._table", interrupted)
        assert main([*map(str, words), "-o", str(tmp_path / "none")]) == 130
        assert "interrupted: give the command again; nothing was finished yet" in capsys.readouterr().err
    assert result(capsys, *words, "-o", tmp_path / "it's", "--resume")["rows"]
    assert result(capsys, *words, "-o", tmp_path / "none")["rows"]


def test_an_interrupted_lbr_says_how_to_go_on(leduc, tmp_path, capsys, monkeypatch):
    from foldwise.matches.scoring.local_best_response import LocalBestResponse

    played = []

    def values(response, deals, threads, first_number=0, listen=None):
        played.append(len(deals))
        listen(3, np.ones((len(deals), 2)))
        if len(played) == 1:
            raise KeyboardInterrupt
        return np.ones((len(deals), 2))

    monkeypatch.setattr(LocalBestResponse, "values", values)
    words = ["lbr", leduc, "--hands", 10, "-o", tmp_path / "lbr"]
    assert main(list(map(str, words))) == 130
    assert f"is kept in {tmp_path / 'lbr'}: continue with the same command and --resume" in capsys.readouterr().err
    main([*map(str, words), "--resume"])
    assert played == [10, 7]


def has_hands(folder):
    return [log for log in folder.glob("*.log") if "STATE:" in log.read_text()]


def starts_python(pid, how):
    """Whether a process has started another Python by multiprocessing's way `how`; read from /proc."""
    with contextlib.suppress(OSError):  # a thread or a process may end while it is read
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in task.read_text().split():
                if f"multiprocessing.{how}" in Path(f"/proc/{child}/cmdline").read_text():
                    return True
    return False


@pytest.mark.parametrize(
    "moment",
    [
        "played",
        *(pytest.param(how, marks=NEEDS_PROC) for how in ("forkserver", "spawn")),  # while the players load
    ],
)
def test_an_interrupted_match_says_how_to_go_on(moment, tmp_path):
    """A real process and a real signal, to it and to all it has started, as a terminal sends it."""
    folder = tmp_path / "it's a match"
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import time\nfrom foldwise.agent.bots import Bot\n\n\nclass Slow:\n"
        "    def __init__(self, seed):\n        self.bot = Bot('call', seed)\n\n"
        "    def choose(self, state):\n        time.sleep(0.02)\n        return self.bot.choose(state)\n"
    )
    words = ["match", f"python:{slow}:Slow", "bot:call", "--game", "kuhn", "--hands", "100000"]
    words += ["--over", "memory" if moment == "spawn" else "tcp"]
    command = [str(Path(sys.executable).with_name("foldwise")), *words, "-o", str(folder)]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background job may have it ignored
    )
    try:
        while not (any(has_hands(folder)) if moment == "played" else starts_python(process.pid, moment)):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=300)
    finally:
        if process.poll() is None:
            process.kill()
    assert process.returncode == 130
    assert f"interrupted: continue with: foldwise match -o {shlex.quote(str(folder))} --resume" in err
    assert "Traceback" not in err
