"""What the reproductions of Johanson et al. (AAMAS 2012) share: curves over CPU time, one thread."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from curves import CONFIGS, Point, mean_and_half, write_csv
from record import Cell, add_save, cell_text, save, significant

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.config import read_config
from foldwise.solver.config import RunConfig
from foldwise.solver.regret_kernels import normalise_sums
from foldwise.solver.response.best_response import Policy
from foldwise.solver.run import make_solver

Measure = Callable[[Policy], float]


def timed_parser(description: str | None, points: int) -> argparse.ArgumentParser:
    """The options that all of them have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=None, help="CPU-seconds of each curve")
    parser.add_argument("--points", type=int, default=points)
    parser.add_argument("--seeds", type=int, default=1, help="curves of each sampler, with seeds from 1 on")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/papers"))
    add_save(parser)
    return parser


def timed_budgets(arguments: argparse.Namespace, quick: float, full: float) -> list[float]:
    """CPU-seconds of each point, doubling up to the last."""
    seconds = arguments.seconds or (full if arguments.full else quick)
    return [float(x) for x in np.geomspace(seconds / 2 ** (arguments.points - 1), seconds, arguments.points)]


def race(
    game: AbstractGame,
    name: str,
    samplers: Sequence[str],
    budgets: list[float],
    measure: Measure,
    unit: str,
    arguments: argparse.Namespace,
) -> None:
    """A curve for each sampler, written, drawn, printed and where asked for recorded."""
    points = [
        point
        for sampler in samplers
        for seed in range(1, 1 + arguments.seeds)
        for point in run_timed(game, name, sampler, budgets, measure, seed)
    ]
    write_csv(arguments.output / f"johanson_2012_{name}.csv", points)
    draw_timed(arguments.output / f"johanson_2012_{name}.png", points, name, f"exploitability, {unit}")
    report_timed(f"Johanson 2012, {name} ({game.num_infosets:,} infosets)", points, unit)
    if arguments.save:
        save_timed(name, points, unit)


def run_timed(
    game: AbstractGame, name: str, sampler: str, seconds: Sequence[float], measure: Measure, seed: int = 1
) -> list[Point]:
    """Solve with one thread; a point at each number of CPU-seconds, evaluation not counted."""
    config = read_config(
        CONFIGS / f"{name}.toml",
        RunConfig,
        {"solver.sampler": sampler, "solver.seed": seed, "solver.threads": 1},
    )
    solver = make_solver(game, config)
    solver.advance(0)
    solver.table.fill(0.0)  # touch gigabytes of memory outside the sampler's time
    policy = np.empty(game.num_entries, dtype=np.float32)
    points, spent, step = [], 0.0, 1
    for budget in seconds:
        while spent < budget:
            start = time.thread_time()
            solver.advance(step)
            took = time.thread_time() - start
            spent += took
            step = max(1, min(4 * step, int(step * min(1.0, 0.5 * (budget - spent) + 0.05) / max(took, 1e-9))))
        normalise_sums(game.tree.nodes, game.deals.num_buckets, solver.table, policy)
        value = measure(policy)
        points.append(Point(sampler, seed, solver.nodes, spent, value))
        print(
            f"{name} {sampler} seed {seed}: {spent:.1f} s, {solver.iteration:,} iterations, {value:.5g}",
            file=sys.stderr,
            flush=True,
        )
    return points


def by_budget(points: Sequence[Point], curve: str) -> list[list[Point]]:
    """The points of a curve, those of all its seeds together at each budget, in order."""
    seeds = sorted({p.seed for p in points if p.curve == curve})
    return [list(row) for row in zip(*([p for p in points if (p.curve, p.seed) == (curve, s)] for s in seeds))]


def draw_timed(path: Path, points: Sequence[Point], title: str, ylabel: str, log: bool = True) -> None:
    """Curves over CPU time, with 95% bars over seeds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for curve in dict.fromkeys(p.curve for p in points):
        rows = by_budget(points, curve)
        found = [mean_and_half([p.exploitability_mbb for p in row]) for row in rows]
        bars = [half for _, half in found if half is not None] or None
        seconds = [float(np.mean([p.seconds for p in row])) for row in rows]
        axes.errorbar(seconds, [mean for mean, _ in found], yerr=bars, marker=".", capsize=2, label=curve)
    axes.set(xscale="log", yscale="log" if log else "linear", xlabel="CPU-seconds", ylabel=ylabel, title=title)
    axes.grid(True, which="both", alpha=0.2)
    axes.legend()
    figure.savefig(path, dpi=130)


def slope(first: Point, last: Point) -> float | None:
    """Of exploitability over CPU time on logarithmic axes."""
    if not (first.exploitability_mbb > 0.0 < last.exploitability_mbb and last.seconds > first.seconds):
        return None
    ratio = last.exploitability_mbb / first.exploitability_mbb
    return float(np.log(ratio) / np.log(last.seconds / first.seconds))


def seeds_cell(points: Sequence[Point]) -> Cell:
    """The exploitability of several seeds: their mean, with its interval where there are several."""
    return _cell([p.exploitability_mbb for p in points], 3)


def _cell(values: Sequence[float], digits: int) -> Cell:
    mean, half = mean_and_half(values)
    return significant(mean, digits) if half is None else (significant(mean, digits), significant(half, 2))


def slope_cell(rows: Sequence[Sequence[Point]]) -> Cell:
    """The slope from the first to the last point, seed by seed."""
    found = [steepness for pair in zip(rows[0], rows[-1]) if (steepness := slope(*pair)) is not None]
    return _cell(found, 2) if found else None


def save_timed(name: str, points: Sequence[Point], unit: str) -> None:
    """A record of the first and the last point of each curve."""
    rows: list[list[Cell]] = []
    for curve in dict.fromkeys(p.curve for p in points):
        own = by_budget(points, curve)
        row: list[Cell] = [f"{name} {curve}"]
        for at in (own[0], own[-1]):
            row += [significant(float(np.mean([p.seconds for p in at])), 3), seeds_cell(at)]
        rows.append([*row, slope_cell(own)])
    save(
        f"johanson_2012_{name}",
        "Exploitability at the first and the last point of a curve over one thread's CPU time, and the slope between them "
        f"on logarithmic axes; {unit}",
        ["game and sampler", "first, CPU-s", "first", "last, CPU-s", "last", "slope"],
        rows,
        seeds=len({p.seed for p in points}),
    )


def report_timed(title: str, points: Sequence[Point], unit: str) -> None:
    """A line for docs/verification.md: first and last point of each curve, and its slope on logarithmic axes."""
    parts = []
    for curve in dict.fromkeys(p.curve for p in points):
        own = by_budget(points, curve)
        ends = (f"{cell_text(seeds_cell(at))} at {np.mean([p.seconds for p in at]):.3g} s" for at in (own[0], own[-1]))
        parts.append(f"{curve} {', '.join(ends)} (slope {cell_text(slope_cell(own))})")
    print(f"{title}, {unit}: {'; '.join(parts)}", flush=True)
