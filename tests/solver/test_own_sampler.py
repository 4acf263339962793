"""The table of samplers, and samplers of the user's own: `python:FILE.py:NAME`."""

import json
from pathlib import Path

import numpy as np
import pytest

from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import check_config
from foldwise.cli.main import main
from foldwise.game.errors import DefinitionError
from foldwise.solver.checkpoint import MANIFEST
from foldwise.solver.config import RunConfig
from foldwise.solver.run import make_solver
from foldwise.solver.samplers import SAMPLERS, samplers_by_needs
from foldwise.solver.sampling.public_chance import FORMS, PublicChance
from tests.support.places import CONFIGS

KUHN = str(CONFIGS / "kuhn.toml")
MINE = """
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from foldwise.game.errors import DefinitionError
from foldwise.solver.full_width.batch_cfr import make_full_width
from foldwise.solver.full_width.schedules import cfr_plus

@dataclass
class Power:  # a dataclass with postponed annotations looks for its module
    power: int

def weighted(game, config):
    def schedule(t):
        return cfr_plus(t)._replace(sum_weight=t ** Power(2).power)
    return make_full_width(game, config, schedule)

def refuses(game, config):
    raise DefinitionError("game 'kuhn': not for me")

def raises(game, config):
    return 1 // 0

def makes_nothing(game, config):
    return object()

class Base:
    largest_step = 1 << 62
    def __init__(self, game, config):
        self.iteration, self.nodes, self.effective_iterations = 0, 0, 0.0
        self.table = np.zeros(self.size(game))
    def size(self, game):
        return 2 * game.num_entries
    def arrays(self):
        return {"table": self.table}
    def advance(self, iterations):
        self.iteration += iterations
        self.step()
    def step(self):
        pass

class Small(Base):
    def size(self, game):
        return game.num_entries

class Stumbles(Base):
    def step(self):
        if self.iteration > 3:
            raise RuntimeError("lost")

class Infinite(Base):
    def step(self):
        self.table[0] = np.nan

class Idle(Base):
    def advance(self, iterations):
        pass

class Forgets(Base):
    def arrays(self):
        return {}
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def kuhn_config(sampler: str) -> RunConfig:
    return check_config({"name": "kuhn", "game": "kuhn", "solver": {"sampler": sampler}}, RunConfig, "test")


def test_every_line_of_the_table_makes_a_solver():
    game = build_abstract_game(kuhn_config("external"))
    for name in SAMPLERS:
        solver = make_solver(game, kuhn_config(name))
        assert solver.table.shape == (2 * game.num_entries,)
    assert {name for name, line in SAMPLERS.items() if line.maker.endswith(PublicChance.__name__)} == set(FORMS)
    assert sorted(name for names in samplers_by_needs().values() for name in names) == sorted(SAMPLERS)


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(DefinitionError, match=r"solver.sampler: .* got 'externl' \(did you mean external\?\)"):
        kuhn_config("externl")


def test_solved_saved_evaluated_resumed_and_played(mine, capsys):
    """By a schedule of one's own; a run broken off and resumed from another folder equals the unbroken one."""
    solve = ["solve", KUHN, "--sampler", "python:mine.py:weighted", "--json"]
    assert main([*solve, "--iterations", "400", "-o", "whole"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["sampler"] == f"python:{mine / 'mine.py'}:weighted"
    assert main([*solve, "--iterations", "150", "-o", "parts"]) == 0
    assert main([*solve, "--iterations", "400", "-o", "parts", "--resume"]) == 0
    capsys.readouterr()
    tables = [np.load(next(Path(folder).glob("probabilities-*.npy"))) for folder in ("whole", "parts")]
    assert np.array_equal(*tables)
    assert main(["exploitability", "whole", "--json"]) == 0
    exploitability = json.loads(capsys.readouterr().out)["exploitability_mbb"]
    assert exploitability == pytest.approx(result["exploitability_mbb"], rel=1e-3)
    assert exploitability < 5.0 < 458.0  # uniform play loses 11/24 of a chip a game
    Path("mine.py").unlink()  # a strategy stands for itself
    assert main(["match", "strategy:whole", "bot:random", "--game", "kuhn", "--hands", "50", "-o", "match"]) == 0


def test_what_was_solved_by_another_sampler_is_not_resumed(mine, capsys):
    assert main(["solve", KUHN, "--sampler", "cfr", "--iterations", "5", "-o", "x"]) == 0
    arguments = ["solve", KUHN, "--sampler", "python:mine.py:weighted", "--iterations", "9", "-o", "x", "--resume"]
    capsys.readouterr()
    assert main(arguments) == 2
    assert "solver.sampler was 'cfr'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "sampler, expected",
    [
        ("python:mine.py", "expected python:FILE.py:NAME"),
        ("python:none.py:weighted", "a file that exists"),
        ("python:mine.py:nothing", "no attribute 'nothing'"),
        ("python:broken.py:weighted", "SyntaxError"),
        ("python:mine.py:refuses", "game 'kuhn': not for me"),
        ("python:mine.py:raises", "ZeroDivisionError"),
        ("python:mine.py:makes_nothing", "has no iteration, nodes"),
        ("python:mine.py:Small", "its table is float64(24,), not float64(48,)"),
        ("python:mine.py:Stumbles", "RuntimeError('lost')"),
        ("python:mine.py:Infinite", "not finite"),
        ("python:mine.py:Idle", "led to iteration 0 instead of 1"),
        ("python:mine.py:Forgets", "hold no 'table'"),
    ],
)
def test_what_is_no_sampler_is_refused_in_one_line(mine, capsys, sampler, expected):
    Path("broken.py").write_text("def")
    assert main(["solve", KUHN, "--sampler", sampler, "--iterations", "20", "-o", "x"]) == 2
    *progress, error = capsys.readouterr().err.strip().splitlines()
    assert expected in error
    assert all(line.startswith("solve kuhn:") for line in progress)
    assert not (Path("x") / MANIFEST).exists()
