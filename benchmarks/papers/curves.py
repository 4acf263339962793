"""What the reproductions of figures share: runs to given numbers of nodes, CSV, PNG, and a line for the docs."""

import argparse
import csv
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from record import Cell, add_save, significant
from scipy.special import stdtrit

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.solver.config import RunConfig
from foldwise.solver.regret_kernels import normalise_sums
from foldwise.solver.response.best_response import ExactResponse
from foldwise.solver.run import make_solver

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


@dataclass(frozen=True)
class Point:
    """Exploitability after so many nodes, for one seed of one curve."""

    curve: str
    seed: int
    nodes: int
    seconds: float
    exploitability_mbb: float


def figure_parser(description: str | None, quick: float) -> argparse.ArgumentParser:
    """The options that all figures of Gibson et al. have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--full", action="store_true", help=f"3e9 nodes and five seeds instead of {quick:.0e} and one")
    parser.add_argument("--nodes", type=float, help="another budget")
    parser.add_argument("--seeds", type=int, help="another number of seeds")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/papers"))
    add_save(parser)
    return parser


def budget_and_seeds(arguments: argparse.Namespace, quick: float) -> tuple[float, range]:
    """The nodes of a curve, and its seeds."""
    budget = arguments.nodes or (3e9 if arguments.full else quick)
    return budget, range(1, 1 + (arguments.seeds or (5 if arguments.full else 1)))


def figure_arguments(description: str | None, quick: float) -> tuple[argparse.Namespace, float, range]:
    """What a figure of Gibson et al. is asked for: its options, the nodes of a curve, and the seeds."""
    arguments = figure_parser(description, quick).parse_args()
    return arguments, *budget_and_seeds(arguments, quick)


@cache
def _game(name: str) -> tuple[AbstractGame, ExactResponse]:
    config = read_config(CONFIGS / f"{name}.toml", RunConfig, {})
    game = build_abstract_game(config)
    return game, ExactResponse(game)


def run_curve(name: str, curve: str, seed: int, budgets: Sequence[float], **solver: object) -> list[Point]:
    """Solve `configs/NAME.toml` with the given solver settings; a point at each budget of nodes."""
    import time

    overrides = {f"solver.{key}": value for key, value in solver.items()} | {"solver.seed": seed}
    config = read_config(CONFIGS / f"{name}.toml", RunConfig, overrides)
    game, response = _game(name)
    runner = make_solver(game, config)
    runner.advance(0)
    policy = np.empty(game.num_entries, dtype=np.float32)
    points = []
    seconds = 0.0
    for budget in budgets:
        while runner.nodes < budget:
            # Half of the remaining nodes at the current nodes per iteration, which grow: so curves end at the same count.
            half = int((budget - runner.nodes) * runner.iteration / (2 * max(runner.nodes, 1)))
            step = max(1, min(half, runner.iteration, 1 << 20, runner.largest_step))
            start = time.perf_counter()
            runner.advance(step)
            seconds += time.perf_counter() - start
        normalise_sums(game.tree.nodes, game.deals.num_buckets, runner.table, policy)
        value = response.exploitability(policy).exploitability_mbb
        points.append(Point(curve, seed, runner.nodes, seconds, value))
        print(f"{name} {curve} seed {seed}: {runner.nodes:.3g} nodes, {value:.4g} mbb", file=sys.stderr, flush=True)
    return points


def infosets(name: str) -> int:
    return _game(name)[0].num_infosets


def log_budgets(low: float, high: float, per_decade: int = 3) -> list[float]:
    count = max(2, round(np.log10(high / low) * per_decade) + 1)
    return [float(x) for x in np.geomspace(low, high, count)]


def write_csv(path: Path, points: Sequence[Point]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["curve", "seed", "nodes", "seconds", "exploitability_mbb"])
        writer.writerows([p.curve, p.seed, p.nodes, f"{p.seconds:.3f}", p.exploitability_mbb] for p in points)


def write_game(path: Path, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> list[list[str]]:
    """Write these rows for the game in their first column, keeping other games' rows in the file; returns all rows."""
    kept: list[list[str]] = []
    if path.exists():
        with path.open(newline="") as stream:
            kept = [row for row in list(csv.reader(stream))[1:] if row[0] != rows[0][0]]
    table = sorted([*kept, *([str(cell) for cell in row] for row in rows)], key=lambda row: (len(row[0]), row[0]))
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(headings)
        writer.writerows(table)
    return table


def draw_games(
    path: Path,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    paper: Mapping[str, Sequence[tuple[float, float]]],
    xlabel: str,
) -> None:
    """A line of exploitability for each game on logarithmic axes, and in its colour what the paper reports of it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for name, points in lines.items():
        (line,) = axes.plot(*zip(*points), marker=".", label=name)
        for x, value in paper.get(name, []):
            axes.plot(x, value, marker="x", color=line.get_color(), linestyle="none")
    axes.plot([], [], marker="x", color="grey", linestyle="none", label="as the paper reports")
    axes.set(xlabel=xlabel, ylabel="exploitability, mb/h", xscale="log", yscale="log")
    axes.grid(True, which="both", alpha=0.2)
    axes.legend()
    figure.savefig(path, dpi=130)


def mean_and_half(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean over seeds, and half of its 95% interval by Student's t; none with one seed."""
    mean, count = float(np.mean(values)), len(values)
    if count < 2:
        return mean, None
    return mean, float(stdtrit(count - 1, 0.975) * np.std(values, ddof=1) / np.sqrt(count))


def final_values(points: Sequence[Point]) -> dict[str, tuple[float, float | None]]:
    """Per curve, mean of the last point and half of its 95% interval over seeds."""
    result = {}
    for curve in dict.fromkeys(p.curve for p in points):
        seeds = sorted({p.seed for p in points if p.curve == curve})
        last = [max((p for p in points if p.curve == curve and p.seed == s), key=lambda p: p.nodes) for s in seeds]
        result[curve] = mean_and_half([p.exploitability_mbb for p in last])
    return result


def draw(
    path: Path,
    points: Sequence[Point],
    title: str,
    ylabel: str = "exploitability, mbb per game",
    uniform: float | None = None,
) -> None:
    """Curves over nodes on logarithmic axes, with 95% bars over seeds; a dashed line where the paper's curves start."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for curve in dict.fromkeys(p.curve for p in points):
        seeds = sorted({p.seed for p in points if p.curve == curve})
        rows = [[p for p in points if p.curve == curve and p.seed == seed] for seed in seeds]
        nodes = np.mean([[p.nodes for p in row] for row in rows], axis=0)
        found = [mean_and_half([p.exploitability_mbb for p in column]) for column in zip(*rows)]
        bars = [half for _, half in found if half is not None] or None
        axes.errorbar(nodes, [mean for mean, _ in found], yerr=bars, label=curve, capsize=2, marker=".")
    if uniform is not None:
        axes.axhline(uniform, color="black", linestyle="--", linewidth=1, label="uniform, as the paper reports")
    axes.set(xscale="log", yscale="log", xlabel="nodes visited", ylabel=ylabel, title=title)
    axes.grid(True, which="both", alpha=0.2)
    axes.legend()
    figure.savefig(path, dpi=130)


def final_cells(points: Sequence[Point]) -> dict[str, Cell]:
    """Per curve the last point as a cell of a record: with its interval where there are several seeds."""
    return {
        curve: significant(mean) if half is None else (significant(mean), significant(half, 2))
        for curve, (mean, half) in final_values(points).items()
    }


def write_figure(
    path: Path,
    points: Sequence[Point],
    title: str,
    ylabel: str = "exploitability, mbb per game",
    uniform: float | None = None,
) -> None:
    """The points as PATH.csv and their picture as PATH.png."""
    write_csv(path.with_name(f"{path.name}.csv"), points)
    draw(path.with_name(f"{path.name}.png"), points, title, ylabel, uniform)


def report(title: str, points: Sequence[Point]) -> None:
    """A line for docs/verification.md."""
    parts = [
        f"{curve} {mean:.4g}" + ("" if half is None else f" ± {half:.2g}")
        for curve, (mean, half) in final_values(points).items()
    ]
    budget = max(p.nodes for p in points)
    print(f"{title}: after {budget:.2g} nodes, mbb/g: {'; '.join(parts)}")
