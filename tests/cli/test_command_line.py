"""What all commands share: help, text on the screen, errors in one line, and files that are damaged."""

import errno
import json
import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer

from foldwise.abstraction.storage.whole_file import written_whole
from foldwise.abstraction.strategy import Strategy
from foldwise.cli import entry
from foldwise.cli.main import COMMANDS, main
from foldwise.cli.support.output import stdout
from foldwise.cli.support.requests import add_command
from foldwise.game.errors import FormatError
from tests.support.network import write_strategy
from tests.support.places import ROOT


def fails(arguments, capsys, code=2) -> str:
    """The one line a command ends with."""
    assert main(list(map(str, arguments))) == code
    err = capsys.readouterr().err
    lines = [line for line in err.splitlines() if line.startswith("foldwise: ")]
    assert len(lines) == 1 and "Traceback" not in err, err
    return lines[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command, capsys):
    """Help is markup: a bracket in an option's text must not end it."""
    assert main([command, "--help"]) == 0
    assert f"Example: foldwise {command}" in capsys.readouterr().out


def test_help_and_version_load_no_slow_package():
    """In a fresh interpreter: a command imports what it computes with when it runs."""
    words = [["--help"], ["--version"], *([command, "--help"] for command in COMMANDS)]
    script = (
        "import sys\n"
        "from foldwise.cli.main import main\n"
        f"for words in {words!r}:\n"
        "    assert main(words) == 0, words\n"
        "    slow = {'numba', 'scipy', 'matplotlib', 'numpy', 'pydantic', 'rich.progress', 'asyncio'} & set(sys.modules)\n"
        "    assert not slow, (words, slow)\n"
    )
    subprocess.run([sys.executable, "-c", script], stdout=subprocess.DEVNULL, check=True)


def test_help_lists_every_command_and_a_wrong_one_is_named(capsys):
    """A command loads its own module only; without a known command, all are loaded."""
    for words in (["--help"], ["--help", "solve"]):
        assert main(words) == 0
        shown = capsys.readouterr().out
        assert all(f" {command} " in shown for command in COMMANDS)
    assert "'solve'" in fails(["slove"], capsys)


def test_the_listing_of_the_room_is_the_list_of_commands():
    """Each command is a file of its name; besides those there are only three files and a shelf."""
    files = {path.stem for path in (ROOT / "cli").glob("*.py")} - {"__init__", "main", "entry", "options"}
    assert files == set(COMMANDS)


def test_a_request_is_what_was_typed():
    """Fields are options; defaults are those of the dataclass."""
    received = []

    @dataclass(frozen=True, kw_only=True)
    class ShoutRequest:
        words: Annotated[list[str], typer.Argument()]
        loud: Annotated[bool, typer.Option("--loud")] = False
        times: Annotated[int, typer.Option(min=1)] = 2

    def shout(request: ShoutRequest) -> int:
        """Help."""
        received.append(request)
        return 3

    app = typer.Typer()
    app.callback()(lambda: None)  # else a lone command needs no name
    add_command(app, shout)
    assert app(["shout", "a", "b", "--times", "4"], standalone_mode=False) == 3
    assert app(["shout", "c", "--loud"], standalone_mode=False) == 3
    expected = ShoutRequest(words=["a", "b"], times=4), ShoutRequest(words=["c"], loud=True)
    assert tuple(received) == expected


def test_a_path_is_text_not_markup(tmp_path, capsys):
    stdout.print(f"written to {tmp_path}/[/bold] [red]:smile:", soft_wrap=True)
    assert capsys.readouterr().out == f"written to {tmp_path}/[/bold] [red]:smile:\n"


def damages(data: bytes):
    """An empty file, a cut one, another kind of file, one bit in the header and in the rest."""
    yield b""
    yield data[:7]
    yield data[: len(data) // 2]
    yield b"PK\x03\x04" + data[4:]
    yield b"\x80\x04" + data
    draw = random.Random(1)
    for end in [128] * 25 + [len(data)] * 5:
        place = draw.randrange(min(end, len(data)))
        yield data[:place] + bytes([data[place] ^ 1 << draw.randrange(8)]) + data[place + 1 :]


def test_damaged_arrays_are_named_when_a_strategy_is_opened(strategies, tmp_path):
    """Before any kernel follows what a damaged tree says. Flips in the padding of a header change nothing."""
    whole = Strategy(strategies / "one")
    for array in sorted((strategies / "one").glob("*.npy")):
        for number, data in enumerate(damages(array.read_bytes())):
            folder = tmp_path / f"{array.stem}-{number}"
            shutil.copytree(strategies / "one", folder)
            (folder / array.name).write_bytes(data)
            try:
                opened = Strategy(folder)
            except FormatError as error:
                assert array.name in str(error) and "\n" not in str(error)
            else:
                assert all(map(bytes_equal, whole.tree, opened.tree)) and bytes_equal(whole.stored, opened.stored)
                assert whole.tree.nodes.dtype == opened.tree.nodes.dtype
    with pytest.raises(FormatError, match="probabilities"):
        empty = tmp_path / "probabilities-1-0"
        Strategy(empty)


def bytes_equal(first, second) -> bool:
    return first.tobytes() == second.tobytes()


def test_export_that_fails_leaves_what_was_there(tmp_path, capsys):
    folder = write_strategy(tmp_path / "leduc", 1)
    output = tmp_path / "rows.csv"
    output.write_text("mine")
    fails(["export", folder, "-o", output, "--betting", "zz"], capsys)
    assert output.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["leduc", "rows.csv"]


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "result.json"
    path.write_text("old")
    with pytest.raises(OSError, match="No space"), written_whole(path) as file:
        file.write("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert [found.name for found in tmp_path.iterdir()] == ["result.json"] and path.read_text() == "old"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--nodes", "inf"],
        ["--nodes", "nan"],
        ["--nodes", "-1"],
        ["--iterations", "0"],
        ["--seconds", "nan"],
        ["--exploitability", "nan"],
        ["--threads", "0"],
        ["--children", "0", "--iterations", "1"],
    ],
)
def test_solve_refuses_numbers_that_make_no_sense(arguments, tmp_path, capsys):
    fails(["solve", "configs/leduc.toml", "-o", tmp_path / "run", *arguments], capsys)
    assert not (tmp_path / "run" / "manifest.json").exists()


@pytest.mark.parametrize(
    "command", [["lbr"], ["compare", "--opponents", "bot:call"], ["match", "bot:call", "bot:call"]]
)
def test_hands_that_no_machine_could_play(command, capsys):
    for hands in (0, -1, 10**10, 10**30):
        assert "--hands" in fails([*command, "nowhere", "--hands", hands], capsys)


def test_an_interrupt_while_modules_are_read_is_one_line(monkeypatch, capsys):
    class Interrupting:
        @staticmethod
        def find_spec(name, *_):
            if name == "foldwise.cli.main":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "foldwise.cli.main")
    monkeypatch.delattr("foldwise.cli.main", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting, *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        entry.run()
    assert ended.value.code == 130
    assert capsys.readouterr().err.startswith("foldwise: interrupted: give the command again")


@pytest.mark.parametrize("error", [MemoryError("Unable to allocate 3 TB"), OverflowError("int too large")])
def test_what_memory_cannot_hold_is_one_line(error, monkeypatch, capsys):
    def solve(*arguments, **options):
        raise error

    monkeypatch.setattr("foldwise.cli.main.make_app", lambda names: solve)
    assert str(error) in fails(["solve"], capsys)


def test_a_server_that_cannot_start_says_why(tmp_path, monkeypatch, capsys):
    """Tables are tasks of a group, whose errors come in a group as well."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x-0001.log").write_text("of an earlier match\n")
    dealer = ["dealer", "x", "leduc", 10, 1, "A", "B", "--serve", "--matches", 1]
    assert "cannot listen" in fails([*dealer, "--bind", "192.0.2.1"], capsys)
    assert "No such file" in fails(["dealer", "no/such", *dealer[2:]], capsys)
    assert "expected 1 to 64" in fails([*dealer, "--table", "a/b", "--broker", "mqtt://127.0.0.1:1"], capsys)
    assert (tmp_path / "x-0001.log").read_text() == "of an earlier match\n"


def test_files_that_are_no_text_or_of_another_kind(tmp_path, capsys):
    binary = tmp_path / "hands.phhs"
    binary.write_bytes(bytes(range(256)))
    assert str(binary) in fails(["convert", binary, tmp_path / "hands.log"], capsys)
    assert not (tmp_path / "hands.log").exists()
    log = tmp_path / "cut.log"
    header = "# name/game/hands/seed x leduc 2 1\n"
    for line in ("STATE:\xb2:cr:Ks|Qs:1|-1:A|B", "STATE:0:rf:Ks|Qs:1:A|B", "STATE:0:rf:Ks|Qs:1|-1:A", "STATE:0"):
        log.write_text(f"{header}{line}\n", encoding="latin-1")
        for command in (["score", log, "--game", "leduc"], ["report", log], ["convert", log, tmp_path / "x.phhs"]):
            fails(command, capsys)
    for kind in ("comparison", "tournament"):
        folder = tmp_path / kind
        folder.mkdir()
        for content in ("", "[]", "{}", json.dumps({"rows": [], "players": ["bot:call"], "cells": [[None]]})):
            (folder / f"{kind}.json").write_text(content)
            assert f"{kind}.json" in fails(["report", folder], capsys)
            assert not (folder / "report.html").exists()
