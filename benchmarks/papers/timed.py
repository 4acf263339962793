"""What the reproductions of Johanson et al. (AAMAS 2012) share: curves over CPU time, one thread."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from curves import CONFIGS, Point, write_csv
from record import Cell, add_save, save, significant

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
    points = [point for sampler in samplers for point in run_timed(game, name, sampler, budgets, measure)]
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
            f"{name} {sampler}: {spent:.1f} s, {solver.iteration:,} iterations, {value:.5g}",
            file=sys.stderr,
            flush=True,
        )
    return points


def draw_timed(path: Path, points: Sequence[Point], title: str, ylabel: str, log: bool = True) -> None:
    """Curves over CPU time."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for curve in dict.fromkeys(p.curve for p in points):
        own = [p for p in points if p.curve == curve]
        axes.plot([p.seconds for p in own], [p.exploitability_mbb for p in own], marker=".", label=curve)
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


def save_timed(name: str, points: Sequence[Point], unit: str) -> None:
    """A record of the first and the last point of each curve."""
    rows: list[list[Cell]] = []
    for curve in dict.fromkeys(p.curve for p in points):
        own = [p for p in points if p.curve == curve]
        row: list[Cell] = [f"{name} {curve}"]
        for p in (own[0], own[-1]):
            row += [significant(p.seconds, 3), significant(p.exploitability_mbb, 3)]
        steepness = slope(own[0], own[-1])
        rows.append([*row, None if steepness is None else round(steepness, 2)])
    save(
        f"johanson_2012_{name}",
        "Exploitability at the first and the last point of a curve over one thread's CPU time, and the slope between them "
        f"on logarithmic axes; {unit}",
        ["game and sampler", "first, CPU-s", "first", "last, CPU-s", "last", "slope"],
        rows,
        seeds=1,
    )


def report_timed(title: str, points: Sequence[Point], unit: str) -> None:
    """A line for docs/verification.md: first and last point of each curve, and its slope on logarithmic axes."""
    parts = []
    for curve in dict.fromkeys(p.curve for p in points):
        own = [p for p in points if p.curve == curve]
        first, last = own[0], own[-1]
        part = f"{curve} {first.exploitability_mbb:.4g} at {first.seconds:.3g} s, {last.exploitability_mbb:.4g} at "
        part += f"{last.seconds:.3g} s"
        steepness = slope(first, last)
        if steepness is not None:
            part += f" (slope {steepness:.2f})"
        parts.append(part)
    print(f"{title}, {unit}: {'; '.join(parts)}", flush=True)
