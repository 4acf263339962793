"""Runs: stop conditions, evaluations, checkpoints, strategy folders."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from foldwise.abstraction.build import build_abstract_game, load_abstract_game
from foldwise.abstraction.config import check_config
from foldwise.abstraction.storage.checked_json import checksum_of, write_checked
from foldwise.abstraction.strategy import Strategy
from foldwise.cli.main import main
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.library import find_game
from foldwise.solver.config import RunConfig
from foldwise.solver.response.best_response import ExactResponse
from foldwise.solver.run import SolverRun, make_solver
from foldwise.solver.samplers import SAMPLERS
from tests.support.places import CONFIGS


def make_config(game="leduc", **solver):
    return check_config({"name": game, "game": game, "solver": solver}, RunConfig, "test")


def run_to_end(config, folder, resume=False):
    run = SolverRun(build_abstract_game(config), config, folder, resume)
    for _ in run:
        pass
    run.save()
    return run


class FakeTime:
    """A clock that moves by so much at every look."""

    def __init__(self, tick):
        self.now, self.tick = 0.0, tick

    def perf_counter(self):
        self.now += self.tick
        return self.now

    monotonic = perf_counter


# Iterations, and twice what the worst of four seeds reached by them.
REACHED_ON_LEDUC = {
    "chance": (2000, 520.0),
    "external": (20_000, 210.0),
    "outcome": (100_000, 600.0),
    "average": (20_000, 200.0),
    "pcs": (2000, 142.0),
    "opcs": (2000, 270.0),
    "spcs": (2000, 330.0),
    "cfr": (200, 108.0),
    "cfr+": (200, 10.0),
    "lcfr": (200, 39.0),
    "dcfr": (200, 3.8),
    "dcfr+": (200, 6.4),
}


@pytest.mark.parametrize("sampler", REACHED_ON_LEDUC)
def test_every_sampler_learns_leduc(sampler, tmp_path):
    """Far below the uniform strategy's 2,374 mbb; the vector forms are in sampling/test_vector_sampling.py."""
    iterations, bound = REACHED_ON_LEDUC[sampler]
    run = run_to_end(make_config(sampler=sampler, iterations=iterations), tmp_path)
    assert run.history[-1].iterations == iterations
    assert run.history[-1].exploitability_mbb < bound


def test_every_sampler_has_a_bound():
    assert {name for name in SAMPLERS if SAMPLERS[name].maker != SAMPLERS["vector-robust"].maker} == set(
        REACHED_ON_LEDUC
    )


def test_value_of_kuhn_is_minus_one_eighteenth(tmp_path):
    config = make_config("kuhn", sampler="cfr+", iterations=20_000)
    run_to_end(config, tmp_path)
    strategy = Strategy(tmp_path)
    game = load_abstract_game(strategy)
    answer = ExactResponse(game).exploitability(strategy.policy(game))
    assert answer.value_mbb == pytest.approx(-1000 / 18, abs=0.01)
    assert answer.exploitability_mbb < 0.02


@pytest.mark.parametrize("sampler", ["external", "average", "dcfr", "vector-average", "semivector-outcome"])
def test_resumed_run_equals_an_unbroken_one(sampler, tmp_path):
    whole = run_to_end(make_config(sampler=sampler, iterations=900), tmp_path / "whole")
    run_to_end(make_config(sampler=sampler, iterations=123), tmp_path / "broken")
    resumed = run_to_end(make_config(sampler=sampler, iterations=900), tmp_path / "broken", resume=True)
    assert np.array_equal(whole.solver.table, resumed.solver.table)
    assert whole.solver.nodes == resumed.solver.nodes


@pytest.mark.parametrize("sampler", ["external", "outcome", "cfr"])
def test_a_limit_of_nodes_ends_at_an_iteration_that_no_clock_chooses(sampler, tmp_path, monkeypatch):
    """On clocks that make every step short, and every step as long as it may be; the last iteration is the first to
    reach the limit, also where the run was broken off."""
    solver = make_solver(build_abstract_game(make_config()), make_config(sampler=sampler))
    while solver.nodes < 6000:
        solver.advance(1)
    options = {"sampler": sampler, "evaluate_seconds": 1e9, "checkpoint_seconds": 1e9}
    for tick in (1.0, 1e-9):
        monkeypatch.setattr("foldwise.solver.run.time", FakeTime(tick))
        whole = run_to_end(make_config(nodes=6000, **options), tmp_path / f"{tick}")
        run_to_end(make_config(nodes=2000, **options), tmp_path / f"{tick}-broken")
        resumed = run_to_end(make_config(nodes=6000, **options), tmp_path / f"{tick}-broken", resume=True)
        for run in (whole, resumed):
            assert (run.solver.iteration, run.solver.nodes) == (solver.iteration, solver.nodes)
            assert np.array_equal(run.solver.table, solver.table)


def test_without_a_best_response_a_run_reports_its_mean_regret(tmp_path, monkeypatch):
    """The largest positive regret of an infoset, in thousandths of a unit an iteration, mean over all infosets."""
    monkeypatch.setattr("foldwise.solver.run.has_response", lambda game: False)
    run = run_to_end(make_config("kuhn", sampler="cfr", iterations=37), tmp_path)
    regrets = run.solver.table.reshape(12, 2, 2)[:, 0]  # 12 infosets of two actions: regrets, then sums
    expected = 1000.0 * np.maximum(regrets, 0.0).max(axis=1).mean() / 37 / find_game("kuhn").unit_chips
    last = run.history[-1]
    assert last.iterations == 37 and last.exploitability_mbb is None
    assert last.mean_regret_mbb == pytest.approx(expected, rel=1e-12) and expected > 0.0


def test_evaluations_take_a_tenth_of_the_time(tmp_path, monkeypatch):
    """Each takes 5.2 s of this clock here, so they lie 52 s of solving apart, later three tenths of the time so far."""
    clock = FakeTime(0.2)  # of a step: so that steps stay as they are
    monkeypatch.setattr("foldwise.solver.run.time", clock)
    exploitability = ExactResponse.exploitability

    def slow(self, policy):
        clock.now += 5.0
        return exploitability(self, policy)

    monkeypatch.setattr(ExactResponse, "exploitability", slow)
    run = run_to_end(make_config("kuhn", sampler="external", seconds=300.0, checkpoint_seconds=1e9), tmp_path)
    seconds = np.array([point.seconds for point in run.history])
    gaps = np.diff(seconds)
    assert len(gaps) == 7 and gaps[0] < 0.5  # the first, which compiles, counts as free
    late = gaps[1:-1] - np.maximum(52.0, 0.3 * seconds[1:-2])  # the last evaluation is where the run ends
    assert np.all((late > -1e-9) & (late < 0.41))


def test_resume_keeps_discounts_and_skipping(tmp_path):
    options = {
        "sampler": "external",
        "skip_iterations": 150,
        "discount": {"scheme": "linear", "epoch_iterations": 100},
    }
    whole = run_to_end(make_config(iterations=1000, **options), tmp_path / "whole")
    run_to_end(make_config(iterations=333, **options), tmp_path / "broken")
    resumed = run_to_end(make_config(iterations=1000, **options), tmp_path / "broken", resume=True)
    assert np.array_equal(whole.solver.table, resumed.solver.table)


def test_skipped_iterations_leave_no_trace_in_the_average(tmp_path):
    run = SolverRun(
        build_abstract_game(config := make_config(iterations=50, skip_iterations=50)), config, tmp_path, False
    )
    for _ in run:
        pass
    assert run.save().reached == 0


def test_a_different_config_is_refused_with_the_difference(tmp_path):
    run_to_end(make_config(sampler="external", iterations=10), tmp_path)
    config = make_config(sampler="external", iterations=20, seed=2)
    with pytest.raises(FormatError, match=r"solver\.seed was 1, is 2"):
        SolverRun(build_abstract_game(config), config, tmp_path, True)


def test_threads_on_a_small_table_lose_no_update(tmp_path):
    """External sampling adds 1 to one row at every visit of the sampled player: the sums count the visits."""
    config = make_config("kuhn", sampler="external", iterations=20_000, threads=2)
    run = run_to_end(config, tmp_path)
    nodes = run.game.tree.nodes
    root = 0
    row = run.solver.table[2 * nodes[root]["base"] :][: 2 * 3 * 2].reshape(3, 2, 2)
    assert row[:, 1, :].sum() == pytest.approx(20_000)  # one visit of player 0's root in each iteration


def test_damage_in_any_file_is_reported_by_name(tmp_path):
    run_to_end(make_config(sampler="cfr", iterations=5), tmp_path)
    for entry in Strategy(tmp_path).manifest.arrays.values():
        path = tmp_path / entry.file
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(FormatError, match=entry.file):
            Strategy(tmp_path).verify()
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(FormatError, match=entry.file):
            Strategy(tmp_path).verify()
        path.unlink()
        with pytest.raises(FormatError, match=entry.file):
            Strategy(tmp_path)
        path.write_bytes(whole)
    Strategy(tmp_path).verify()


def test_manifest_errors_are_one_line(tmp_path):
    run_to_end(make_config(sampler="cfr", iterations=5), tmp_path)
    manifest = tmp_path / "manifest.json"
    good = json.loads(manifest.read_text())
    del good["checksum"]
    for change, expected in (({"format_version": 99}, "format 99|format version 99"), ({"nodes": "many"}, "nodes")):
        write_checked(manifest, {**good, **change})
        with pytest.raises(FormatError, match=expected):
            Strategy(tmp_path)
    manifest.write_text(json.dumps({**good, "iterations": 6, "checksum": checksum_of(good)}))
    with pytest.raises(
        FormatError, match=r"manifest\.json' is damaged: its checksum is another; write the folder again"
    ):
        Strategy(tmp_path)
    manifest.write_text("{")
    with pytest.raises(FormatError, match="not a JSON object"):
        Strategy(tmp_path)


def test_a_failed_checkpoint_keeps_the_one_before(tmp_path, monkeypatch):
    config = make_config(sampler="external", iterations=100)
    run_to_end(config, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    run = SolverRun(build_abstract_game(config), make_config(sampler="external", iterations=200), tmp_path, True)
    run.solver.advance(50)

    def full_disk(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        run.checkpoint()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_quantised_rows_sum_to_one_and_keep_zeros():
    from foldwise.abstraction.strategy_kernels import dequantise, quantise

    config = make_config(sampler="external", iterations=3000)
    game = build_abstract_game(config)
    rng = np.random.default_rng(1)
    table = rng.exponential(size=2 * game.num_entries) * (rng.random(2 * game.num_entries) < 0.7)
    for dtype, bits in ((np.uint8, 255), (np.uint16, 65535)):
        stored = np.zeros(game.num_entries, dtype=dtype)
        quantise(game.tree.nodes, game.deals.num_buckets, table, stored)
        policy = np.zeros(game.num_entries, dtype=np.float32)
        dequantise(game.tree.nodes, game.deals.num_buckets, stored, policy)
        for node in np.flatnonzero(game.tree.nodes["kind"] == 0):
            record = game.tree.nodes[node]
            num_actions = int(record["num_children"])
            for bucket in range(game.deals.num_buckets[record["street"], record["player"]]):
                start = int(record["base"]) + bucket * num_actions
                row, raw = policy[start : start + num_actions], stored[start : start + num_actions]
                assert row.sum() == pytest.approx(1.0, abs=1e-6)
                sums = table[2 * start + num_actions : 2 * start + 2 * num_actions]
                if sums.sum() == 0.0:
                    assert not raw.any()
                else:
                    assert int(raw.sum()) == bits
                    assert np.abs(row - sums / sums.sum()).max() <= 1.0 / bits
                    assert not raw[sums == 0.0].any()


def test_stop_on_exploitability(tmp_path):
    run = run_to_end(make_config(sampler="cfr+", exploitability_mbb=50.0, iterations=10**6), tmp_path)
    assert run.history[-1].exploitability_mbb <= 50.0
    assert run.solver.iteration < 10**6


def test_solve_command_prints_one_json_object(tmp_path, capsys):
    arguments = ["solve", str(CONFIGS / "leduc.toml"), "-o", str(tmp_path / "x"), "--iterations", "50", "--json"]
    assert main(arguments) == 0
    result = json.loads(capsys.readouterr().out)
    expected = {
        "game",
        "sampler",
        "iterations",
        "nodes",
        "seconds",
        "nodes_per_second",
        "infosets",
        "exploitability_mbb",
        "history",
    }
    assert expected <= result.keys()
    assert result["iterations"] == 50
    assert set(result["history"][-1]) >= {"iterations", "nodes", "seconds", "exploitability_mbb"}
    assert main(["exploitability", str(tmp_path / "x"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["exploitability_mbb"] == pytest.approx(result["exploitability_mbb"], rel=1e-4)


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["solve", "nowhere.toml", "-o", "X"], "nowhere.toml"),
        (["solve", "LEDUC", "-o", "X", "--sampler", "magic"], "solver.sampler"),
        (["solve", "LEDUC", "-o", "X", "--set", "solver.betta=3"], "solver.betta"),
        (["solve", "LEDUC", "-o", "X", "--set", "nonsense"], "key=value"),
        (["solve", "LEDUC", "-o", "X", "--nodes", "many"], "--nodes 'many'"),
        (["solve", "LEDUC", "-o", "X", "--resume"], "nothing to resume"),
        (["exploitability", "X"], "no strategy folder"),
        (["plot", "X", "--x", "time"], "--x 'time'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, expected, tmp_path, capsys):
    places = {"LEDUC": str(CONFIGS / "leduc.toml"), "X": str(tmp_path / "x")}
    assert main([places.get(word, word) for word in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert expected in captured.err
    assert len(captured.err.strip().splitlines()) == 1
    assert not (tmp_path / "x").exists()


def test_a_game_too_large_for_the_machine_is_refused_at_once(tmp_path, monkeypatch, capsys):
    """Before cards are bucketed or tables allocated, with the figure."""
    monkeypatch.setattr("foldwise.solver.memory_estimate.available_bytes", lambda: 300_000_000)
    monkeypatch.setattr("foldwise.abstraction.build.build_cards", lambda *_: pytest.fail("built cards first"))
    arguments = ["solve", str(CONFIGS / "hunl-medium.toml"), "-o", str(tmp_path / "x"), "--iterations", "5"]
    assert main(arguments) == 2
    assert "needs 0.4 GB for 13,479,773 infoset-actions, 0.3 GB are free" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("below", ["x", "x/y"])
def test_a_folder_that_cannot_be_made_is_refused_before_solving(below, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("foldwise.solver.run.SolverRun.__init__", lambda *_: pytest.fail("solved first"))
    (tmp_path / "file").write_text("in the way")
    arguments = ["solve", str(CONFIGS / "leduc.toml"), "-o", str(tmp_path / "file" / below), "--iterations", "5"]
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert "cannot be made (Not a directory): give another folder" in captured.err
    assert captured.out == ""


def test_a_game_file_is_found_beside_its_config_and_needed_no_more(tmp_path, monkeypatch, capsys):
    """From any folder; what is solved, resumed and measured after the file is gone is the same game."""
    (tmp_path / "mine").mkdir()
    game, config, out = tmp_path / "mine" / "three.game", tmp_path / "mine" / "three.toml", tmp_path / "out"
    text = find_game("kuhn").definition.to_text()
    game.write_text(text.replace("numRanks = 3", "numRanks = 4"))
    config.write_text('game = "three.game"\n[solver]\nsampler = "cfr"\niterations = 50\n')
    monkeypatch.chdir(tmp_path)
    assert main(["solve", "mine/three.toml", "-o", "out"]) == 0
    monkeypatch.chdir(out)
    assert main(["solve", "../mine/three.toml", "-o", str(out), "--resume", "--iterations", "60"]) == 0
    game.rename(tmp_path / "elsewhere.game")
    strategy = Strategy(out)
    assert strategy.manifest.game == "three.game" and "numRanks = 4" in strategy.manifest.definition
    assert load_abstract_game(strategy).num_infosets == 16
    assert main(["exploitability", str(out), "--json"]) == 0
    capsys.readouterr()
    # A folder written before configs kept definitions has one all the same; manifests had no checksum then.
    manifest = json.loads((out / "manifest.json").read_text())
    del manifest["checksum"]
    del manifest["config"]["definition"]
    (out / "manifest.json").write_text(json.dumps(manifest))
    assert load_abstract_game(Strategy(out)).num_infosets == 16
    # The file is gone, changed, or given on the command line, from where we are.
    resume = ["solve", str(config), "-o", str(out), "--resume", "--iterations", "70"]
    assert main(resume) == 2
    assert "mine/three.game': No such file" in capsys.readouterr().err
    game.write_text(text)
    assert main(resume) == 2
    assert "cannot be resumed with this config: definition was" in capsys.readouterr().err
    assert main(["solve", str(config), "-o", "other", "--set", "game=../elsewhere.game"]) == 0
    assert Strategy(out / "other").manifest.definition == strategy.manifest.definition


def test_a_config_with_a_definition_of_its_own_is_refused(tmp_path, capsys):
    (tmp_path / "own.toml").write_text('game = "kuhn"\ndefinition = "GAMEDEF"\n')
    assert main(["solve", str(tmp_path / "own.toml"), "-o", str(tmp_path / "x"), "--iterations", "5"]) == 2
    assert "write it to a .game file" in capsys.readouterr().err


def test_other_files_are_not_written_over(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["solve", str(CONFIGS / "leduc.toml"), "-o", str(tmp_path), "--iterations", "5"]) == 2
    assert "holds other files" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_config_without_an_end_is_refused(tmp_path):
    path = tmp_path / "endless.toml"
    path.write_text('game = "kuhn"\n')
    for game, text in (("kuhn", "f c 1p"), ("bluff-1-1", "f c")):
        with pytest.raises(DefinitionError, match="bet"):
            check_config({"name": "x", "game": game, "bets": {"streets": [text]}}, RunConfig, "x")
    assert main(["solve", str(path), "-o", str(tmp_path / "x")]) == 2


def test_interrupt_saves_and_exits_130(tmp_path):
    """A real process, a real signal: the run is saved and can go on."""
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "foldwise.cli.main", "solve", str(CONFIGS / "leduc.toml"), "-o", str(folder)]
    process = subprocess.Popen(
        [*command, "--sampler", "external", "--seconds", "600", "--set", "solver.checkpoint_seconds=0.01"],
        cwd=CONFIGS.parent,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120.0
    while not (folder / "checkpoint.json").exists():  # the first checkpoint says that solving has begun
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)  # polling for a file, not hiding a race
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "continue with the same command and --resume" in errors
    saved = Strategy(folder).manifest.iterations
    assert main([*command[3:], "--sampler", "external", "--resume", "--iterations", str(saved + 10)]) == 0
    assert Strategy(folder).manifest.iterations == saved + 10


SOLVES = """
import sys
from foldwise.cli.main import main
for sampler in sys.argv[2:]:
    words = ["solve", "kuhn", "-o", f"{sys.argv[1]}/{sampler}", "--sampler", sampler, "--iterations", "20"]
    assert main([*words, "--threads", "1"]) == 0
"""


def test_without_the_compiler_the_strategies_are_the_same(tmp_path):
    """Bit for bit: kernels are plain Python then, and say what a compiled one would not, as an index out of bounds."""
    samplers = ["cfr", "cfr+", "chance", "external", "outcome", "average"]
    for folder, disabled in (("plain", "1"), ("compiled", "0")):
        words = [sys.executable, "-W", "ignore", "-c", SOLVES, str(tmp_path / folder), *samplers]
        subprocess.run(words, check=True, env={**os.environ, "NUMBA_DISABLE_JIT": disabled}, capture_output=True)
    for sampler in samplers:
        plain, compiled = (Strategy(tmp_path / folder / sampler).stored for folder in ("plain", "compiled"))
        assert np.array_equal(plain, compiled), sampler
