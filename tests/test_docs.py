"""The documentation is run: every Python example page by page, and the tutorial's commands as they stand."""

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from foldwise.game.library import find_definition
from foldwise.game.text.match_state import parse_match_state
from tests.support.places import ROOT

DOCS = ROOT / "docs"
API_PAGES = sorted(path for path in (DOCS / "api").glob("*.md") if path.name != "README.md")
_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def blocks(path: Path, language: str) -> list[tuple[str, str]]:
    """(words after the language, text) of each block of code."""
    found = _BLOCK.findall(path.read_text(encoding="utf-8"))
    return [(words.strip(), text) for name, words, text in found if name == language]


def test_every_page_is_listed_and_has_examples_that_can_fail():
    listed = (DOCS / "api" / "README.md").read_text(encoding="utf-8")
    assert [path.stem for path in API_PAGES] == ["game", "match", "player", "sampler", "score", "strategy"]
    for path in API_PAGES:
        assert f"({path.name})" in listed
        assert any("assert " in text for _, text in blocks(path, "python"))


@pytest.mark.parametrize("path", [*API_PAGES, DOCS / "postprocessing.md"], ids=lambda path: path.stem)
def test_examples_run(path, tmp_path, monkeypatch):
    """The blocks of a page are one program, run in an empty folder."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": f"docs_{path.stem}"}
    text = path.read_text(encoding="utf-8")
    for _, code in blocks(path, "python"):
        line = text[: text.index(code)].count("\n")
        exec(compile("\n" * line + code, str(path), "exec"), names)


def test_tutorial_runs_as_it_stands(tmp_path):
    """All but the set-up and the minutes of hold'em, which `benchmarks/tutorial.py` runs in a fresh clone."""
    parts = blocks(DOCS / "tutorial.md", "sh")
    assert [words for words, _ in parts] == ["setup", "", "", "", "", "slow"]
    script = "set -e\n" + "\n".join(text for words, text in parts if not words)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    result = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "exploitability" in result.stdout
    assert re.search(
        r"strategy:strategy against bot:random, leduc: 2000 hands", result.stdout.replace(f"{tmp_path}/", "")
    )
    assert (tmp_path / "match" / "report.html").stat().st_size > 20_000
    assert (tmp_path / "match-tcp" / "0000.BA.log").read_text().count("STATE:") == 200


def test_tutorial_is_one_screen():
    commands = [line for _, text in blocks(DOCS / "tutorial.md", "sh") for line in text.splitlines() if line]
    assert len(commands) < 50


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: str(path.relative_to(DOCS)))
def test_links_lead_somewhere(path):
    for target in _LINK.findall(path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_the_glossary_explains_the_words_of_the_reports():
    explained = re.findall(r"^\*\*([^*]+)\.\*\*", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    words = {word for entry in explained for word in entry.split(", ")}
    assert words >= {"mbb/h", "Bucket", "Infoset", "r300", "Position", "LBR", "AIVAT"}


def test_tests_named_by_promises_are_there():
    named = re.findall(r"`(tests/[\w/.]+)`", (DOCS / "promises.md").read_text(encoding="utf-8"))
    assert named and not [path for path in named if not (ROOT / path).exists()]


def run_page(page, folder):
    """What the shell commands of a page print, run one after the other in a folder."""
    parts = [text for words, text in blocks(DOCS / page, "sh") if not words]
    script = "set -e\n" + "\n".join(parts)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    result = subprocess.run(["sh", "-c", script], cwd=folder, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_your_own_bot_runs_as_it_stands(tmp_path):
    """Both bots are written by the page's own commands, play each other, and make no fault."""
    assert "fault" not in run_page("your-own-bot.md", tmp_path)
    logs = sorted((tmp_path / "match").glob("*.log"))
    assert [path.read_text().count("STATE:") for path in logs] == [50, 50]
    for errors in (tmp_path / "match").glob("*.err"):
        assert "WARNING" not in errors.read_text()
    assert any("r300" in line for line in logs[0].read_text().splitlines())
    assert (tmp_path / "match" / "report.html").exists()


def test_the_recorded_hand_is_a_hand():
    """Every line is a state of the game, each follows from the one before, and the answers are to what was asked."""
    ((_, text),) = [block for block in blocks(DOCS / "your-own-bot.md", "text") if block[0] == "recorded"]
    definition = find_definition("hunl")
    lines = [line.split(" ", 1) for line in text.splitlines()]
    states = [parse_match_state(line, definition) for mark, line in lines if mark == "<"]
    for (mark, line), (_, asked) in zip(lines[1:], lines):
        if mark == ">":
            assert parse_match_state(asked, definition).is_turn()
            assert line.startswith(f"{asked}:")
    bettings = [state.betting.betting_text() for state in states]
    assert all(later.startswith(earlier) for earlier, later in pairwise(bettings))
    assert [state.is_turn() for state in states].count(True) == sum(mark == ">" for mark, _ in lines)
    assert states[-1].betting.finished


def test_your_own_method_runs_as_it_stands(tmp_path):
    """A rule and a sampler of the user's own: solved, evaluated, compared, played."""
    printed = run_page("your-own-method.md", tmp_path)
    assert printed.count("clear_favourites") >= 2
    assert "100 boards a cell, by expectation" in printed
    (exploitability,) = re.findall(r"^exploitability ([\d.]+) mbb$", printed.split("curves.png")[0], re.M)[-1:]
    assert float(exploitability) < 60  # 2,373 of the uniform profile; CFR+ has about 10 after 300 iterations
    assert (tmp_path / "mine" / "startme.sh").exists()
    assert (tmp_path / "compared" / "report.html").exists()
