"""Tables in single precision: rounding that keeps the mean, sums beyond 2^24 visits, and the run in half the memory."""

import json

import numpy as np
import pytest

from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.strategy import Strategy
from foldwise.game.errors import DefinitionError
from foldwise.game.primitives.rng import make_state
from foldwise.game.primitives.rng_kernels import next_bits
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.solver.checkpoint import MANIFEST
from foldwise.solver.run import SolverRun, make_solver
from foldwise.solver.sampling.rounding_kernels import more_bits, round_randomly
from tests.solver.test_average import is_sum
from tests.solver.test_runs import make_config, run_to_end

TRAP = np.float32(2.0**24)  # the first single whose successor is not one more


def rounded_mean(value, count=20_000, seed=3):
    """Mean of a double rounded many times, and the two singles it was rounded to."""
    rng, total, seen = make_state(seed), 0.0, set()
    for _ in range(count):
        found = round_randomly(value, np.uint64(next_bits(rng)))
        seen.add(float(found))
        total += float(found)
    return total / count, sorted(seen)


@pytest.mark.parametrize("value", [float(TRAP) + 0.25, -(1e9 + 7.3), 1 / 3, -1e-3, 2.0**24 * (1 - 2.0**-26)])
def test_rounding_keeps_the_mean_between_the_two_neighbours(value):
    """4.5 standard deviations of a coin that falls up or down."""
    mean, seen = rounded_mean(value)
    low, high = seen
    single = np.float32(value)
    assert low < value < high and single in (np.float32(low), np.float32(high))
    assert np.nextafter(np.float32(low), np.float32(np.inf)) == np.float32(high)
    assert abs(mean - value) < 4.5 * 0.5 * (high - low) / np.sqrt(20_000)


@pytest.mark.parametrize("value", [0.0, 1.0, -0.5, float(TRAP), -float(TRAP) - 2.0, 2.0**100])
def test_what_single_precision_holds_stays_as_it_is(value):
    mean, seen = rounded_mean(value, count=200)
    assert seen == [value] and mean == pytest.approx(value)


def test_bits_of_a_row_are_as_good_as_fresh_ones():
    """The second and third entries of a row round by steps from the first's bits: their means are kept too."""
    value, rng = float(TRAP) + 0.25, make_state(5)
    totals = np.zeros(3)
    for _ in range(20_000):
        bits = np.uint64(next_bits(rng))
        for entry in range(3):
            bits = np.uint64(more_bits(bits))
            totals[entry] += float(round_randomly(value, bits)) - float(TRAP)
    assert totals / 20_000 == pytest.approx([0.25] * 3, abs=4.5 * np.sqrt(0.25 * 1.75 / 20_000))


def root_sums(run_or_solver, game):
    base, n = int(game.tree.nodes[0]["base"]), int(game.tree.nodes[0]["num_children"])
    rows = int(game.deals.num_buckets[0, 0])
    return run_or_solver.table[2 * base : 2 * (base + rows * n)].reshape(rows, 2, n)[:, 1].astype(np.float64)


def test_a_sum_passes_two_to_the_24_visits():
    """Each row of the root begins at the trap and gains what a double would, where nearest rounding gains nothing.

    The visits of Kuhn's root are one an iteration: so many are added, to five standard deviations of rounding by 2.
    """
    config = make_config("kuhn", sampler="external", precision="single")
    game = build_abstract_game(config)
    solver = make_solver(game, config)
    table = solver.table
    assert table.dtype == np.float32
    root_rows = root_sums(solver, game)
    base, n = int(game.tree.nodes[0]["base"]), root_rows.shape[1]
    table[2 * base : 2 * (base + root_rows.size)].reshape(-1, 2, n)[:, 1] = TRAP
    solver.advance(40_000)
    gained = (root_sums(solver, game) - float(TRAP)).sum()
    assert abs(gained - 40_000) < 5 * np.sqrt(
        40_000
    )  # a visit adds at most 1, in steps of 2: variance at most 1 a visit
    assert np.float32(TRAP + np.float32(0.9)) == TRAP  # what plain addition would have done


@pytest.mark.parametrize("name, iterations", [("kuhn", 20_000), ("leduc", 20_000)])
def test_single_precision_learns_as_well(name, iterations, tmp_path):
    """The mean exploitability of four seeds is that of double precision, to half of it; uniform play is far away."""
    reached = {}
    for precision in ("double", "single"):
        found = []
        for seed in range(1, 5):
            config = make_config(name, sampler="external", iterations=iterations, precision=precision, seed=seed)
            found.append(run_to_end(config, tmp_path / f"{precision}-{seed}").history[-1].exploitability_mbb)
        reached[precision] = np.mean(found)
    assert reached["single"] == pytest.approx(reached["double"], rel=0.5)
    assert reached["single"] < 300.0


def test_a_resumed_run_equals_an_unbroken_one_and_takes_half_the_bytes(tmp_path):
    options = {"sampler": "external", "precision": "single", "average_from": "half"}
    whole = run_to_end(make_config(iterations=900, **options), tmp_path / "whole")
    config = make_config(iterations=900, **options)
    run = SolverRun(build_abstract_game(config), config, tmp_path / "broken", False)
    for progress in run:
        run.stop = progress.iterations >= 500
    run.save()
    resumed = run_to_end(config, tmp_path / "broken", resume=True)
    assert whole.solver.table.nbytes == 8 * whole.game.num_entries
    assert np.array_equal(whole.solver.table, resumed.solver.table)
    first, second = (Strategy(tmp_path / name).stored for name in ("whole", "broken"))
    assert np.array_equal(first, second)


def test_a_later_part_of_single_sums_is_their_difference(tmp_path):
    """Copies keep the table's precision, and the strategy is made of the differences."""
    run = run_to_end(make_config(sampler="external", precision="single", iterations=900, average_from="half"), tmp_path)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    copy = np.load(tmp_path / manifest["arrays"]["sums-half"]["file"])
    assert copy.dtype == np.float32
    later = run.solver.table[is_sum(run.game)].astype(np.float64) - copy
    stored = Strategy(tmp_path).stored
    for node in run.game.tree.nodes[run.game.tree.nodes["kind"] == DECISION]:
        n, first = int(node["num_children"]), int(node["base"])
        rows = int(run.game.deals.num_buckets[node["street"], node["player"]])
        wanted = later[first : first + n * rows].reshape(rows, n)
        total = wanted.sum(axis=1, keepdims=True)
        found = stored[first : first + n * rows].reshape(rows, n)
        assert found == pytest.approx(wanted / np.where(total > 0.0, total, 1.0), abs=1e-12)


def test_other_samplers_refuse_single_precision():
    with pytest.raises(DefinitionError, match="precision 'single' with sampler 'average'"):
        make_config(sampler="average", precision="single")
