"""Averages of later parts of a run: differences of sums, linear weights, discounts by shares of the plan, the command."""

import json

import numpy as np
import pytest

from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.strategy import Strategy
from foldwise.cli.main import main
from foldwise.game.errors import DefinitionError
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.matches.folder_check import check_folder
from foldwise.solver import kept_sums
from foldwise.solver.checkpoint import MANIFEST
from foldwise.solver.config import Discount
from foldwise.solver.milestones import PARTS
from foldwise.solver.run import SolverRun, make_solver
from tests.solver.test_runs import FakeTime, make_config, run_to_end
from tests.support.places import CONFIGS

LEDUC = str(CONFIGS / "leduc.toml")


def is_sum(game):
    """[2E]: whether an entry of a table is a strategy sum."""
    found = np.zeros(2 * game.num_entries, dtype=bool)
    nodes = game.tree.nodes
    for node in nodes[nodes["kind"] == DECISION]:
        n = int(node["num_children"])
        rows = int(game.deals.num_buckets[node["street"], node["player"]])
        start = 2 * int(node["base"])
        found[start : start + 2 * n * rows].reshape(rows, 2, n)[:, 1] = True
    return found


@pytest.mark.parametrize("sampler", ["external", "chance", "pcs", "vector-external"])
@pytest.mark.parametrize("part", PARTS)
def test_a_later_part_is_that_of_a_run_that_began_to_sum_there(sampler, part, tmp_path):
    """One thread, the same seed: 900 iterations, of which the other run skips the first 300, 450 or 600."""
    skipped = round(900 * PARTS[part])
    later = run_to_end(make_config(sampler=sampler, iterations=900, average_from=part), tmp_path / "later")
    other = run_to_end(make_config(sampler=sampler, iterations=900, skip_iterations=skipped), tmp_path / "other")
    assert later.save().averaged_from == skipped
    first, second = (Strategy(tmp_path / name) for name in ("later", "other"))
    assert first.manifest.reached == second.manifest.reached > 0
    assert np.abs(first.stored - second.stored).max() < 1e-12
    assert later.history[-1].exploitability_mbb == pytest.approx(other.history[-1].exploitability_mbb, rel=1e-9)
    whole = run_to_end(make_config(sampler=sampler, iterations=900), tmp_path / "whole")
    assert np.array_equal(whole.solver.table, later.solver.table)  # copies do not affect the run
    assert np.abs(Strategy(tmp_path / "whole").stored - first.stored).max() > 1e-3


@pytest.mark.parametrize("discount", [{"scheme": "linear"}, {"scheme": "dcfr"}, {"scheme": "linear", "epochs": 7}])
def test_discounts_after_the_copy_shrink_it_too(discount, tmp_path):
    options = {"sampler": "external", "iterations": 900, "discount": {"epoch_iterations": 100, **discount}}
    run_to_end(make_config(average_from="half", **options), tmp_path / "later")
    run_to_end(make_config(skip_iterations=450, **options), tmp_path / "other")
    first, second = (Strategy(tmp_path / name).stored for name in ("later", "other"))
    assert np.abs(first - second).max() < 1e-12


def test_epochs_discount_as_published():
    """Brown and Sandholm (AAAI 2019): DCFR(1.5, 0, 2) and linear CFR, t counted in epochs; 4^1.5 = 8."""
    assert Discount(scheme="dcfr").factors(4) == pytest.approx((8 / 9, 1 / 2, 16 / 25), rel=1e-14)
    assert Discount(scheme="linear").factors(4) == pytest.approx((4 / 5, 4 / 5, 4 / 5), rel=1e-14)


def test_sums_are_copied_in_pieces_in_the_order_of_the_entries(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_sums, "_CHUNK_ENTRIES", 7)
    run = run_to_end(make_config(sampler="external", iterations=30), tmp_path)
    whole = run.solver.table[is_sum(run.game)]
    pieces = list(kept_sums._sums(run.game, run.solver.table))
    assert len(pieces) > 10
    assert np.array_equal(np.concatenate(pieces), whole)


@pytest.mark.parametrize("planned", [{"iterations": 1000}, {"nodes": 20_000}])
def test_copies_stand_where_the_plan_says_whatever_the_clock_and_the_interruptions(planned, tmp_path, monkeypatch):
    """Broken off before, between and after the marks; a resumed run keeps the copies of an unbroken one, to the byte."""
    options = {"sampler": "external", "evaluate_seconds": 1e9, "checkpoint_seconds": 1e9, **planned}
    kept = []
    for tick, stops in ((1.0, []), (1e-9, []), (1e-9, [200, 450, 451, 800]), (1.0, [333, 334, 500])):
        folder = tmp_path / f"{tick}-{len(stops)}"
        monkeypatch.setattr("foldwise.solver.run.time", FakeTime(tick))
        resume = False
        for stop in stops:
            run = SolverRun(build_abstract_game(make_config()), make_config(**options), folder, resume)
            for progress in run:
                run.stop = progress.iterations >= stop
            run.save()
            resume = True
        run_to_end(make_config(**options), folder, resume)
        manifest = json.loads((folder / MANIFEST).read_text())
        sums = {part: np.load(folder / manifest["arrays"][f"sums-{part}"]["file"]) for part in PARTS}
        kept.append(({part: manifest["kept"][part]["iterations"] for part in PARTS}, sums))
        assert check_folder(folder).problems == []
    for places, sums in kept[1:]:
        assert places == kept[0][0]
        assert all(np.array_equal(sums[part], kept[0][1][part]) for part in PARTS)
    if "iterations" in planned:
        assert kept[0][0] == {"third": 334, "half": 500, "two-thirds": 667}
    else:
        solver = make_solver(build_abstract_game(make_config()), make_config(sampler="external"))
        while solver.nodes < 10_000:
            solver.advance(1)
        assert kept[0][0]["half"] == solver.iteration


def test_a_longer_plan_keeps_its_own_marks(tmp_path):
    """What is behind the run stays, what is ahead is copied where the new plan says."""
    run_to_end(make_config(sampler="external", iterations=300), tmp_path)
    run = run_to_end(make_config(sampler="external", iterations=600), tmp_path, resume=True)
    places = {part: kept.iterations for part, kept in run._passed.kept.items()}
    assert places == {"third": 100, "half": 300, "two-thirds": 400}
    assert check_folder(tmp_path).problems == []


def test_linear_weights_are_the_numbers_of_the_iterations(tmp_path):
    """To 7 bits, whatever the steps; the sums are those weights times what an equal run adds at each iteration."""
    game = build_abstract_game(make_config())
    single = make_solver(game, make_config(sampler="external"))
    linear = make_solver(game, make_config(sampler="external", average_weights="linear"))
    sums, weights = np.zeros(game.num_entries), []
    chosen = is_sum(game)
    for t in range(1, 601):
        before = single.table[chosen]
        single.advance(1)
        unit = 2 ** max(0, int(np.log2(t)) - 6)
        weights.append(t // unit * unit)
        sums += weights[-1] * (single.table[chosen] - before)
    while linear.iteration < 600:
        linear.advance(min(linear.largest_step, 600 - linear.iteration))
    assert all(1 - 1 / 64 < weight / t <= 1 for t, weight in enumerate(weights, start=1))
    assert weights[:127] == list(range(1, 128))
    assert np.array_equal(linear.table[~chosen], single.table[~chosen])
    assert linear.table[chosen] == pytest.approx(sums, rel=1e-12)
    assert linear.effective_iterations == sum(weights)
    run_to_end(make_config(sampler="external", average_weights="linear", iterations=211), tmp_path)
    resumed = run_to_end(
        make_config(sampler="external", average_weights="linear", iterations=600), tmp_path, resume=True
    )
    assert np.array_equal(resumed.solver.table, linear.table)


def test_discounts_in_the_first_tenth_are_epochs_of_that_length(tmp_path):
    """Ten epochs in the first tenth of 1,000 iterations: the bits of ten epochs of ten iterations, resumed or not."""
    by_length = {"scheme": "linear", "epoch_iterations": 10, "epochs": 10}
    by_share = {"scheme": "linear", "share": 0.1, "epochs": 10}
    wanted = run_to_end(make_config(sampler="external", iterations=1000, discount=by_length), tmp_path / "length")
    config = make_config(sampler="external", iterations=1000, discount=by_share)
    found = run_to_end(config, tmp_path / "share")
    assert np.array_equal(found.solver.table, wanted.solver.table)
    assert found.solver.sum_factor == wanted.solver.sum_factor == pytest.approx(1 / 11)
    run = SolverRun(build_abstract_game(config), config, tmp_path / "broken", False)
    for progress in run:
        run.stop = progress.iterations >= 40
    run.save()
    assert 40 <= run.solver.iteration < 1000
    resumed = run_to_end(config, tmp_path / "broken", resume=True)
    assert np.array_equal(resumed.solver.table, wanted.solver.table)
    plain = run_to_end(make_config(sampler="external", iterations=1000), tmp_path / "plain")
    assert not np.array_equal(plain.solver.table, wanted.solver.table)


def test_the_command_writes_the_strategy_that_the_key_would_have(tmp_path, capsys):
    """From one run, all three later parts, each the bits of a run with that `average_from`."""
    run_to_end(make_config(sampler="external", iterations=600), tmp_path / "run")
    for part in PARTS:
        run_to_end(make_config(sampler="external", iterations=600, average_from=part), tmp_path / part)
        out = tmp_path / f"{part}-out"
        assert main(["average", str(tmp_path / "run"), "--from", part, "-o", str(out), "--json"]) == 0
        result = json.loads(capsys.readouterr().out)
        assert (result["from"], result["averaged_from"]) == (part, round(600 * PARTS[part]))
        wanted, found = Strategy(tmp_path / part), Strategy(out)
        assert np.array_equal(wanted.stored, found.stored)
        assert found.manifest.config == wanted.manifest.config
        assert result["exploitability_mbb"] == wanted.manifest.history[-1].exploitability_mbb
        assert check_folder(out).problems == []
    assert main(["average", str(tmp_path / "half"), "--from", "start", "-o", str(tmp_path / "start")]) == 0
    assert "iterations 1 to 600, the last 100% of the run" in capsys.readouterr().out
    assert np.array_equal(Strategy(tmp_path / "start").stored, Strategy(tmp_path / "run").stored)


def test_an_unfinished_run_is_averaged_as_far_as_it_came(tmp_path, capsys):
    config = make_config(sampler="external", iterations=10**6, average_from="half")
    run = SolverRun(build_abstract_game(config), config, tmp_path / "run", False)
    for progress in run:
        run.stop = progress.iterations >= 100
    assert run.save().averaged_from == 0
    assert main(["average", str(tmp_path / "run"), "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "keeps no sums of its half, but of: nothing" in error and len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_bad_requests_are_one_line(tmp_path, capsys):
    run_to_end(make_config(sampler="external", iterations=60), tmp_path / "run")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    (tmp_path / "cut").mkdir()
    for path in (tmp_path / "run").iterdir():
        (tmp_path / "cut" / path.name).write_bytes(path.read_bytes())
    damaged = next((tmp_path / "cut").glob("checkpoint-sums-half-*"))
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"\x01")
    run, out = str(tmp_path / "run"), str(tmp_path / "out")
    for arguments, expected in (
        ([str(tmp_path / "nowhere"), "-o", out], "no run with a checkpoint"),
        ([run, "-o", run], "is the run itself"),
        ([run, "-o", str(tmp_path / "mine")], "holds other files"),
        ([run, "-o", out, "--from", "quarter"], "quarter"),
        ([str(tmp_path / "cut"), "-o", out], f"{damaged.name}' is damaged"),
    ):
        assert main(["average", *arguments]) == 2
        captured = capsys.readouterr()
        assert expected in captured.err and len(captured.err.strip().splitlines()) == 1 and not captured.out
        assert not (tmp_path / "out").exists()
    assert main(["average", run, "-o", out]) == 0
    assert main(["average", run, "-o", out]) == 2
    assert "add --overwrite" in capsys.readouterr().err
    assert main(["average", run, "-o", out, "--overwrite", "--from", "third"]) == 0


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"sampler": "cfr", "average_from": "half"}, "full-width schedules weigh their own averages"),
        ({"sampler": "vector-external", "average_weights": "linear"}, "average_weights with sampler"),
        ({"sampler": "cfr+", "discount": {"scheme": "linear", "share": 0.1, "epochs": 2}}, "discount.share with"),
        ({"discount": {"scheme": "linear", "share": 0.1}}, "share without a scheme"),
        ({"sampler": "dcfr", "prune_from_share": 0.5}, "prune_from_share with sampler"),
    ],
)
def test_keys_that_do_not_fit_the_sampler_are_refused(options, expected):
    with pytest.raises(DefinitionError, match=expected):
        make_config(**options)


def test_shares_of_a_run_without_a_planned_length_are_refused(tmp_path, capsys):
    arguments = ["solve", LEDUC, "-o", str(tmp_path / "x"), "--sampler", "external", "--exploitability", "100"]
    assert main([*arguments, "--set", "solver.average_from=half"]) == 2
    assert "solver.average_from needs a run of a planned length" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_pruning_begins_at_its_share_of_the_run(tmp_path):
    """Until then the run is one that never prunes; then it visits fewer nodes; resumed behind the mark it prunes on."""
    options = {"sampler": "external", "iterations": 3000, "prune_below_chips": -2.0}
    config = make_config(prune_from_share=0.5, **options)
    run = SolverRun(build_abstract_game(config), config, tmp_path / "broken", False)
    assert not run.solver.prunes
    for progress in run:
        run.stop = progress.iterations >= 2000
    run.save()
    plain = make_config(**{**options, "prune_below_chips": None})
    never = run_to_end(plain, tmp_path / "never")
    half = make_solver(build_abstract_game(plain), plain)
    half.advance(1500)
    unbroken = run_to_end(config, tmp_path / "unbroken")
    kept = unbroken._passed.kept["half"]
    assert (kept.iterations, kept.nodes) == (1500, half.nodes)
    assert unbroken.solver.nodes - kept.nodes < 0.97 * (never.solver.nodes - half.nodes)
    resumed = run_to_end(config, tmp_path / "broken", resume=True)
    assert resumed.solver.prunes
    assert np.array_equal(resumed.solver.table, unbroken.solver.table)
    assert unbroken.history[-1].exploitability_mbb < 2 * never.history[-1].exploitability_mbb
