"""Scripts that reproduce a paper's table, run on small games: the whole way from strategies to table, CSV and picture."""

import csv
import sys
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest

from foldwise.cli.main import main
from foldwise.matches.statistics import estimate
from tests.support.places import CONFIGS, ROOT


def load_script(name, monkeypatch):
    path = ROOT / "benchmarks" / "papers" / f"{name}.py"
    monkeypatch.syspath_prepend(str(path.parent))
    spec = spec_from_file_location(name, path)
    script = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, script)
    spec.loader.exec_module(script)
    return script


def test_table_2_of_2015(tmp_path, monkeypatch, capfd):
    """The paper's variants stand beside its figures; a strategy and a bot make two columns, scored each in its way."""
    script = load_script("brown_2015_table_2", monkeypatch)
    for name, iterations in (("good", 200), ("poor", 3)):
        words = ["solve", str(CONFIGS / "leduc.toml"), "-o", str(tmp_path / name), "--sampler", "cfr+"]
        assert main([*words, "--iterations", str(iterations)]) == 0
    words = ["--strategy", tmp_path / "good", "--opponent", tmp_path / "poor", "--opponent", "bot:call"]
    numbers = ["--boards", 4, "--hands", 200, "--lbr-hands", 20]
    monkeypatch.setattr(sys, "argv", ["table_2", *map(str, [*words, *numbers, "-o", tmp_path / "out"])])
    capfd.readouterr()
    script.main()
    printed = capfd.readouterr().out
    with (tmp_path / "out" / "brown_2015_table_2.csv").open(encoding="utf-8") as file:
        headings, *rows = csv.reader(file)
    assert headings[1:3] == ["poor", "bot:call"]
    assert [row[0] for row in rows] == [*script.VARIANTS, *script.FAMILY]
    assert rows[0][-4:] == ["+30 ± 32", "+10 ± 27", "+20", "+10"]
    assert rows[3][-4:] == ["+39 ± 26", "+103 ± 21", "+71", "+39"]
    assert rows[4][-4:] == [""] * 4
    first = [float(cell.split(" ± ")[0]) for cell in rows[0][1:3]]
    assert abs(float(rows[0][3]) - sum(first) / 2) <= 1  # each is rounded
    assert all(" ± " in row[5] for row in rows)
    assert "purify except first" in printed
    assert (tmp_path / "out" / "brown_2015_table_2.png").stat().st_size > 10_000
    assert {variant: paper[2] for variant, paper in script.PAPER.items()} == {
        variant: (paper[0][0] + paper[1][0]) / 2 for variant, paper in script.PAPER.items()
    }


def test_systems_of_figure_1_of_2015(monkeypatch):
    """With factor 1 they are the paper's; a factor divides every number of buckets alike, and leaves the 60 clusters."""
    script = load_script("brown_2015_figure_1", monkeypatch)
    for factor in (1, 25):
        sizes = {}
        for system in script.SYSTEMS:
            cards = system.config(factor, seed=1).cards
            buckets = {street.buckets for street in cards.streets[1:]}
            sizes[system.letter] = (
                *buckets,
                *((cards.public.clusters, cards.public.base_buckets) if cards.public else ()),
            )
        assert sizes == {
            "A": (5000 // factor,),
            "C": (500 // factor, 60, 5000 // factor),
            "D": (500 // factor, 60, 5000 // factor),
            "E": (30_000 // factor,),
        }
    assert [system.words(25) for system in script.SYSTEMS] == [
        "A: 200 plain, one thread",
        "C: 60 x 20, two threads",
        "D: 60 x 20, 2 children",
        "E: 1,200 plain, two threads",
    ]


def test_intervals_of_figure_1_of_2015(monkeypatch):
    """Seeds that agree leave the interval of the boards; boards that agree leave that of the seeds."""
    script = load_script("brown_2015_figure_1", monkeypatch)
    boards = np.random.default_rng(1).normal(50.0, 400.0, 30)
    expected = estimate(boards, 1000.0)
    assert script._interval(np.stack([boards] * 3)) == (round(expected.mean_mbb), round(expected.ci95_mbb))
    assert script._interval(boards[None]) == (round(expected.mean_mbb), round(expected.ci95_mbb))
    seeds = estimate(np.array([10.0, 40.0, 90.0]), 1000.0)
    found = script._interval(np.repeat([[10.0], [40.0], [90.0]], 30, axis=1))
    assert found == (round(seeds.mean_mbb), round(seeds.ci95_mbb))
    both = script._interval(np.array([[10.0], [40.0], [90.0]]) + boards)
    assert both[1] ** 2 > 0.9 * (expected.ci95_mbb**2 + (1.96 / 4.3 * seeds.ci95_mbb) ** 2)


def test_intervals_over_seeds(monkeypatch):
    load_script("brown_2015_figure_1", monkeypatch)  # puts the scripts' folder on the path
    from curves import mean_and_half

    expected = estimate(np.array([3.0, 5.0, 10.0]), 1000.0)
    assert mean_and_half([3.0, 5.0, 10.0]) == pytest.approx((expected.mean_mbb, expected.ci95_mbb))
    assert mean_and_half([3.0]) == (3.0, None)
