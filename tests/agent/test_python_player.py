"""Players of the user's own: `python:FILE.py:CLASS`."""

from pathlib import Path

import pytest

from foldwise.agent.player import make_player
from foldwise.cli.main import main
from foldwise.game.betting import CALL_ACTION
from foldwise.game.errors import DefinitionError

CALLER = """
from foldwise.game.betting import CALL_ACTION

class Caller:
    def __init__(self, seed):
        self.seed = seed

    def choose(self, state):
        return CALL_ACTION

class Mute:
    def __init__(self, seed):
        pass
"""


@pytest.fixture
def caller(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "caller.py").write_text(CALLER)
    return tmp_path


def test_a_player_from_a_file(caller):
    player = make_player("python:caller.py:Caller", 7)
    assert player.seed == 7
    assert player.choose(None) == CALL_ACTION


@pytest.mark.parametrize(
    "spec, message",
    [
        ("python:caller.py", "expected python:FILE.py:NAME"),
        ("python:none.py:Caller", "a file that exists"),
        ("python:caller.py:Other", "no attribute 'Other'"),
        ("python:caller.py:Mute", r"no choose\(state\)"),
        ("python:broken.py:Caller", "SyntaxError"),
    ],
)
def test_what_is_no_player_is_refused_with_a_reason(caller, spec, message):
    Path("broken.py").write_text("class")
    with pytest.raises(DefinitionError, match=message):
        make_player(spec, 0)


def test_a_match_with_a_player_of_ones_own(caller, capsys):
    """Played in a process of its own, where the file is found again by its path; a caller is `bot:call`."""
    words = ["--game", "kuhn", "--hands", "30", "--seed", "3"]
    assert main(["match", "python:caller.py:Caller", "bot:random", *words, "-o", "mine"]) == 0
    assert main(["match", "bot:call", "bot:random", *words, "-o", "built-in"]) == 0
    for log in ("0000.AB.log", "0000.BA.log"):
        values = [
            [line.split(":")[2:5] for line in (caller / folder / log).read_text().splitlines() if line[:5] == "STATE"]
            for folder in ("mine", "built-in")
        ]
        assert values[0] == values[1]
        assert len(values[0]) == 30
