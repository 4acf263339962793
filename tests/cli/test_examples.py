"""The examples of every command's help: each can be typed as it stands, and all that need nobody else are run."""

import inspect
import json
import re
import shlex
import shutil
import sys
from importlib import import_module

import pytest
import typer

from foldwise.cli.main import COMMANDS, main, make_app
from tests.cli.test_spot import RIVER
from tests.support.places import CONFIGS, GOLDEN

# As many as it takes to see that the command works.
FEWER = {"--hands": "6", "--boards": "4", "--iterations": "4"}
ADDED = {"compare": "--hands", "match": "--hands", "tournament": "--hands", "spot": "--iterations"}
# Examples that are only parsed here, by how they begin, and why; each has its own tests elsewhere.
PARSED_ONLY = {
    "abstract hunl-small -o": "builds card tables",
    "bench": "many samplers are compiled",
    "compare runs/small --opponents bot:strength --broker": "needs workers at a broker",
    "compare runs/small --sweep": "eleven variants and a picture, in the tutorial",
    "dealer demo": "waits for players",
    "dealer league": "waits for players",
    "duel": "asks a person",
    "exploitability runs/20bb": "takes minutes",
    "exploitability runs/kuhn-nl": "compiles for more than a minute",
    "lbr champion": "solves at every decision",
    "lbr runs/small --search fast": "solves at every decision",
    "match champion": "solves at every decision",
    "match runs/small runs/small --search fast": "solves at every decision",
    "play": "needs a dealer",
    "review runs/match": "solves at every decision",
    "score --fit": "as the example before it, which makes values too",
    "serve": "serves until it is stopped",
    "startme champion": "writes beside the strategy in the box",
    "watch": "needs a broker",
    "worker": "needs a broker",
}


def examples():
    """Of all commands, without the program's name."""
    for command in COMMANDS:
        text = inspect.getdoc(getattr(import_module(f"foldwise.cli.{command}"), command))
        yield from re.findall(r"Example: foldwise (.*)", text)


def begins_with(example, start):
    return f"{example} ".startswith(f"{start} ")


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A folder with everything that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    runs = folder / "runs"
    tiny = ["solve", str(CONFIGS / "hunl-tiny.toml"), "-o", str(runs / "small"), "--iterations", "3000"]
    assert main(tiny) == 0
    shutil.copytree(runs / "small", runs / "tiny")
    for name, sampler in (("leduc-es", "external"), ("leduc-as", "average")):
        words = ["solve", str(CONFIGS / "leduc.toml"), "-o", str(runs / name), "--sampler", sampler]
        assert main([*words, "--iterations", "100"]) == 0
    match = [
        "match",
        "you=bot:call",
        "small=strategy:" + str(runs / "small"),
        "--hands",
        "6",
        "-o",
        str(runs / "match"),
    ]
    assert main(match) == 0
    for name in ("session.log", "match.log", "test.log"):
        shutil.copy(runs / "match" / "0000.AB.log", folder / name)
    shutil.copytree(GOLDEN / "rooms", folder, dirs_exist_ok=True)
    shutil.copy(folder / "pokerstars-cash.txt", folder / "pokerstars.txt")
    (folder / "river.json").write_text(json.dumps(RIVER))
    assert main(["compare", str(runs / "small"), "bot:call", "--hands", "6", "-o", str(runs / "compare")]) == 0
    return folder


def test_every_example_can_be_typed_as_it_stands(workplace, monkeypatch):
    """Options that exist, values in their ranges. An option that does not exist is seen, or the test would see nothing."""
    monkeypatch.chdir(workplace)
    commands = typer.main.get_command(make_app()).commands
    found = list(examples())
    assert {shlex.split(example)[0] for example in found} == set(COMMANDS)
    for example in found:
        command, *words = shlex.split(example)
        commands[command].make_context(command, words)
    with pytest.raises(Exception, match="No such option"):
        commands["verify"].make_context("verify", ["runs/small", "--wrong"])


def test_what_is_only_parsed_is_still_an_example():
    for start in PARSED_ONLY:
        assert any(begins_with(example, start) for example in examples()), start


def test_examples_run_one_after_another(workplace, monkeypatch, capsys):
    """With fewer hands; in the order of the help, in which one may read what another has written."""
    monkeypatch.chdir(workplace)
    monkeypatch.setattr(sys, "stdin", None)
    failed = []
    for example in examples():
        if any(begins_with(example, start) for start in PARSED_ONLY):
            continue
        words = shlex.split(example)
        for place, word in enumerate(words[:-1]):
            if word in FEWER:
                words[place + 1] = FEWER[word]
        option = ADDED.get(words[0])
        if option and not {option, "--boards", "--resume"} & set(words):
            words += [option, FEWER[option]]
        capsys.readouterr()
        if main(words) != 0:
            failed.append((example, capsys.readouterr().err))
    assert not failed
