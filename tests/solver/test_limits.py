"""Runs that do not fit the machine are refused before they start, with what would fit; the ladder says what it takes."""

import json
import re
import shutil
from types import SimpleNamespace

import pytest

from foldwise.abstraction.config import read_config
from foldwise.abstraction.estimate import estimate_size
from foldwise.cli.main import main
from foldwise.solver import config_costs
from foldwise.solver.config import RunConfig, SolverConfig
from foldwise.solver.limits import disk_bytes
from tests.support.places import CONFIGS

LADDER = ("hunl-minute", "hunl-hour", "hunl-evening", "hunl-overnight")
# Decisions by street: the betting trees of the lower and the upper rungs.
LOWER, UPPER = [28, 236, 728, 1672], [88, 1328, 3792, 7264]


def load(name, **changes):
    return read_config(CONFIGS / f"{name}.toml", RunConfig, {f"solver.{key}": value for key, value in changes.items()})


def refused(arguments, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and len(captured.err.strip().splitlines()) == 1
    return captured.err


@pytest.fixture
def no_cards(monkeypatch):
    monkeypatch.setattr("foldwise.abstraction.build.build_cards", lambda *_: pytest.fail("built cards first"))


@pytest.mark.usefixtures("no_cards")
def test_too_little_memory_is_answered_with_what_would_fit(tmp_path, monkeypatch, capsys):
    """hunl-medium takes 408 MB; in single precision 301 MB."""
    arguments = ["solve", "hunl-medium", "-o", str(tmp_path / "x")]
    monkeypatch.setattr("foldwise.solver.memory_estimate.available_bytes", lambda: 310_000_000)
    error = refused(arguments, capsys)
    assert "0.3 GB are free: --set solver.precision=single or config hunl-hour (0.3 GB) would fit" in error
    monkeypatch.setattr("foldwise.solver.memory_estimate.available_bytes", lambda: 205_000_000)
    error = refused(arguments, capsys)
    assert "config hunl-small (0.2 GB) would fit" in error or "config hunl-minute (0.2 GB) would fit" in error
    assert "single" not in error
    monkeypatch.setattr("foldwise.solver.memory_estimate.available_bytes", lambda: 100_000_000)
    assert "free: use fewer buckets or bet sizes" in refused(arguments, capsys)
    assert not (tmp_path / "x").exists()


@pytest.mark.usefixtures("no_cards")
def test_too_small_a_disk_is_refused_with_the_figure(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**9))
    error = refused(["solve", "hunl-evening", "-o", str(tmp_path / "x")], capsys)
    assert "GB of disk for cards, checkpoints and its strategy" in error and "has 1.0 GB free: make room" in error
    assert re.search(r"\([\d,]+ infoset-actions would fit, it has [\d,]+\)", error)
    assert not (tmp_path / "x").exists()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=20_000))
    error = refused(["solve", "leduc", "-o", str(tmp_path / "x")], capsys)
    assert "game 'leduc' needs 0.03 MB of disk" in error and "has 0.02 MB free: make room" in error


@pytest.mark.usefixtures("no_cards")
def test_card_tables_count_on_the_disk(tmp_path, monkeypatch, capsys):
    """The folder of hunl-tiny gets 277 MB of card tables, its checkpoints take one: it ended without room after solving."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100_000_000))
    error = refused(["solve", "hunl-tiny", "-o", str(tmp_path / "x")], capsys)
    assert "game 'hunl-tiny' needs 0.3 GB of disk" in error and "(0 infoset-actions would fit" in error
    assert not (tmp_path / "x").exists()


def test_a_run_fits_the_disk_it_was_promised(tmp_path):
    """What a finished folder holds is below the estimate, which has room for two checkpoints."""
    assert main(["solve", "leduc", "-o", str(tmp_path / "x"), "--sampler", "external", "--iterations", "900"]) == 0
    held = sum(path.stat().st_size for path in (tmp_path / "x").glob("checkpoint-*.npy"))
    config = load("leduc", sampler="external")
    size = estimate_size(config)
    assert 2.4 * size.table_bytes < held < disk_bytes(config, size)


def test_single_precision_halves_the_tables_of_an_estimate():
    double, single = (load("hunl-tiny", precision=precision) for precision in ("double", "single"))
    sizes = [estimate_size(config, config.solver.entry_bytes).table_bytes for config in (double, single)]
    assert sizes[0] == 2 * sizes[1] == 16 * estimate_size(double).infoset_actions


def test_expected_time_is_that_of_the_first_limit():
    assert config_costs.expected_seconds(SolverConfig(nodes=10**9, threads=2), 10**8) == pytest.approx(25.0)
    assert config_costs.expected_seconds(SolverConfig(nodes=81 * 10**6, threads=1), 10**10) == pytest.approx(10.0)
    assert config_costs.expected_seconds(SolverConfig(nodes=10**9, seconds=7), 10**8) == 7
    assert config_costs.expected_seconds(SolverConfig(sampler="average", nodes=10**9), 10**8) is None
    between = config_costs.expected_seconds(SolverConfig(nodes=10**9), 10**9)
    assert 50.0 < between < 1000 / 8.1


@pytest.mark.parametrize("name, decisions", list(zip(LADDER, (LOWER, LOWER, UPPER, UPPER))))
def test_rungs_have_the_betting_they_were_given(name, decisions, capsys):
    assert main(["abstract", name, "--estimate", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [street["decision_nodes"] for street in found["streets"]] == decisions
    assert found["disk_bytes"] > found["table_bytes"] > 0 and found["seconds"] > 0


def test_rungs_take_ever_longer_and_about_what_they_are_called():
    """By the rate that is assumed: within a third of a minute, an hour, three hours, ten hours."""
    costs = {cost.name: cost for cost in config_costs.config_costs()}
    for name, wanted in zip(LADDER, (60, 3600, 3 * 3600, 10 * 3600)):
        assert costs[name].seconds == pytest.approx(wanted, rel=1 / 3)
        assert load(name).solver.threads == 2
