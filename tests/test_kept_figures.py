"""Figures of benchmarks that are kept observation by observation: nothing is measured twice, and differences are in pairs."""

import importlib
import sys

import numpy as np
import pytest

from tests.support.places import ROOT


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield importlib.import_module("kept_figures")
    sys.modules.pop("kept_figures")


def test_a_stopped_figure_goes_on_where_it_was(figures, tmp_path):
    asked = []

    def make():
        def step(i):
            asked.append(i)
            if i == 3:
                raise KeyboardInterrupt
            return float(i)

        return step

    kept = figures.KeptFigures(tmp_path, 100.0)
    with pytest.raises(KeyboardInterrupt):
        list(kept.run([figures.Job("a", 5, make)], float("inf")))
    again = figures.KeptFigures(tmp_path, 100.0)
    assert again.values("a").tolist() == [0.0, 1.0, 2.0]
    (line,) = again.run([figures.Job("a", 5, lambda: float)], float("inf"))
    assert again.values("a").tolist() == [0.0, 1.0, 2.0, 3.0, 4.0] and asked == [0, 1, 2, 3]
    assert "5 of 5, +20 ± " in line  # two chips of a big blind of 100
    assert not list(again.run([figures.Job("a", 5, make)], float("inf")))


def test_no_work_is_begun_when_the_time_is_spent(figures, tmp_path):
    kept = figures.KeptFigures(tmp_path, 100.0)
    assert not list(kept.run([figures.Job("a", 5, lambda: float)], 0.0))
    assert kept.estimate("a") is None


def test_one_observation_is_no_estimate(figures, tmp_path):
    kept = figures.KeptFigures(tmp_path, 100.0)
    (line,) = kept.run([figures.Job("a", 1, lambda: float)], float("inf"))
    assert line.startswith("a: 1 of 1, ") and "±" not in line
    assert kept.estimate("a") is None


def test_an_estimate_is_work_that_is_kept(figures, tmp_path):
    kept = figures.KeptFigures(tmp_path, 100.0)
    lines = list(kept.foretell([figures.Job("a", 10, lambda: float), figures.Job("b", 1, lambda: float)]))
    assert kept.values("a").tolist() == [0.0, 1.0] and kept.values("b").tolist() == [0.0]
    assert lines[0].startswith("a: 2 of 10") and lines[-1].endswith("left in all")


def test_differences_are_in_pairs_as_far_as_both_have_come(figures, tmp_path):
    kept = figures.KeptFigures(tmp_path, 100.0)
    noise = np.random.default_rng(1).normal(0.0, 50.0, 40)
    jobs = [figures.Job("a", 40, lambda: lambda i: noise[i] + 2.0), figures.Job("b", 30, lambda: lambda i: noise[i])]
    list(kept.run(jobs, float("inf")))
    found = kept.difference("a", "b")
    assert (
        found.count == 30 and found.mean_mbb == pytest.approx(20.0) and found.ci95_mbb == pytest.approx(0.0, abs=1e-9)
    )
    assert kept.estimate("a").ci95_mbb > 100.0
    assert kept.counted(jobs) == "30 to 40" and kept.counted(jobs[:1]) == "40" and kept.counted([]) == "0"


def test_a_step_may_give_two_figures(figures, tmp_path):
    kept = figures.KeptFigures(tmp_path, 100.0)
    list(kept.run([figures.Job("a", 2, lambda: lambda i: (float(i), -float(i)), "b")], float("inf")))
    again = figures.KeptFigures(tmp_path, 100.0)
    list(again.run([figures.Job("a", 3, lambda: lambda i: (float(i), -float(i)), "b")], float("inf")))
    assert again.values("a").tolist() == [0.0, 1.0, 2.0] and again.values("b").tolist() == [0.0, -1.0, -2.0]
    assert again.cpu_seconds("b") == 0.0
