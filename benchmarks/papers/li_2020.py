"""Li et al. (2020), figures 2 to 4 on preflop-nl: forms, exploration, policies, skipping, discounting.

Exploitability against iterations, nodes and CPU seconds of one thread. Forms are compared on the 1,326 hands, as in the
paper, and on the 169 suit classes; the other figures use the classes, where the vector form walks the very same path
(it treats hands of a class alike) some forty times faster. Results are in mbb per game; 10 mbb are the paper's 1 chip.
Quick runs stop after 2e4 iterations (on the 1,326 hands sooner); `--full` after 3e5.
"""

import argparse
import csv
import sys
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np
from record import Cell, add_save, save, significant

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.solver.config import RunConfig
from foldwise.solver.regret_kernels import normalise_sums
from foldwise.solver.response.best_response import ExactResponse
from foldwise.solver.run import make_solver

CONFIG = Path(__file__).resolve().parents[2] / "configs" / "preflop-nl.toml"
MARKS = (10, 30, 100, 300, 1_000, 3_000, 5_000, 10_000, 20_000, 50_000, 100_000, 300_000)
TITLES = {
    "exploration": "Figure 2: exploration, vector form on 169 classes",
    "policies": "Figure 3: policies, count exploration, vector form on 169 classes",
    "skipping": "Figure 4a: iterations skipped by the average, vector-average on 169 classes",
    "discounting": "Figure 4b: averages weighed by t^w, vector-average on 169 classes",
    "forms": "Forms, mbb/g",
    "references": "Beside them, mbb/g",
}
KINDS = ("average", "robust", "outcome", "external")
Settings = dict[str, object]


@dataclass(frozen=True)
class Point:
    """Exploitability after so many iterations, for one seed of one curve."""

    figure: str
    curve: str
    seed: int
    iterations: int
    nodes: int
    seconds: float
    exploitability_mbb: float


def forms(full: bool) -> dict[str, tuple[str, int, Settings]]:
    """Vector and semi-vector of all four samplers with exploration, on hands and on classes."""
    curves: dict[str, tuple[str, int, Settings]] = {}
    for kind in KINDS:
        last = (3_000 if full else 300) if kind != "external" else (1_000 if full else 100)
        curves[f"vector-{kind}, 1,326"] = ("none", last, {"sampler": f"vector-{kind}"})
        last = (300_000 if full else 10_000) if kind != "external" else (100_000 if full else 3_000)
        curves[f"semivector-{kind}, 1,326"] = ("none", last, {"sampler": f"semivector-{kind}"})
        for form in ("vector", "semivector"):
            last = 300_000 if full else 10_000
            curves[f"{form}-{kind}, 169"] = ("lossless", last, {"sampler": f"{form}-{kind}"})
    return curves


def references(full: bool) -> dict[str, tuple[str, int, Settings]]:
    """References for the samplers: the value form, and full-width CFR, which solves this small tree easily."""
    curves: dict[str, tuple[str, int, Settings]] = {}
    for cards, size in (("none", "1,326"), ("lossless", "169")):
        curves[f"external (value form), {size}"] = (cards, 300_000 if full else 100_000, {"sampler": "external"})
        curves[f"average (value form), {size}"] = (cards, 300_000 if full else 100_000, {"sampler": "average"})
        curves[f"cfr+, {size}"] = (cards, 1_000 if full or size == "169" else 100, {"sampler": "cfr+"})
    return curves


def exploration(last: int) -> dict[str, tuple[str, int, Settings]]:
    """Figure 2."""
    return {
        f"{kind}, {way}": ("lossless", last, {"sampler": f"vector-{kind}", "exploration": way})
        for kind in KINDS[:3]
        for way in ("none", "count", "epsilon-greedy")
    }


def policies(last: int) -> dict[str, tuple[str, int, Settings]]:
    """Figure 3: average sampling by average strategies, the others by current ones; and RCS."""
    curves: dict[str, tuple[str, int, Settings]] = {}
    for kind in KINDS[:3]:
        mean, weighted = ("mas", "was") if kind == "average" else ("mcs", "wcs")
        sampler = f"vector-{kind}"
        if kind == "robust":
            for policy in ("rcs", "rcs-drawn"):
                curves[f"robust, {policy}"] = ("lossless", last, {"sampler": sampler, "policy": policy})
        curves[f"{kind}, {mean}"] = ("lossless", last, {"sampler": sampler, "policy": mean})
        for weight in ("own", "opponent", "both"):
            settings: Settings = {"sampler": sampler, "policy": weighted, "policy_weight": weight}
            curves[f"{kind}, {weighted} {weight}"] = ("lossless", last, settings)
    return curves


def skipping(last: int) -> dict[str, tuple[str, int, Settings]]:
    """Figure 4a."""
    return {
        f"skip {skip:,}": ("lossless", last, {"sampler": "vector-average", "skip_iterations": skip})
        for skip in (0, 100, 1_000, 10_000)
    }


def discounting(last: int) -> dict[str, tuple[str, int, Settings]]:
    """Figure 4b."""
    return {
        f"w = {power}": ("lossless", last, {"sampler": "vector-average", "weight_power": power}) for power in (0, 1, 2)
    }


@cache
def _game(cards: str) -> tuple[AbstractGame, ExactResponse]:
    config = read_config(CONFIG, RunConfig, {"cards.streets": [{"method": cards}]})
    game = build_abstract_game(config)
    return game, ExactResponse(game)


def run_curve(figure: str, curve: str, seed: int, cards: str, last: int, settings: Settings) -> list[Point]:
    overrides = {f"solver.{key}": value for key, value in settings.items()}
    overrides |= {"solver.seed": seed, "solver.threads": 1, "cards.streets": [{"method": cards}]}
    game, response = _game(cards)
    runner = make_solver(game, read_config(CONFIG, RunConfig, overrides))
    runner.advance(0)
    policy = np.empty(game.num_entries)
    points, seconds = [], 0.0
    for mark in (mark for mark in MARKS if mark <= last):
        start = time.thread_time()
        runner.advance(mark - runner.iteration)
        seconds += time.thread_time() - start
        normalise_sums(game.tree.nodes, game.deals.num_buckets, runner.table, policy)
        value = response.exploitability(policy).exploitability_mbb
        points.append(Point(figure, curve, seed, mark, runner.nodes, seconds, value))
    print(f"{figure}: {curve} seed {seed}: {points[-1].exploitability_mbb:.4g} mbb", file=sys.stderr, flush=True)
    return points


def by_mark(points: Sequence[Point], curve: str, seeds: int) -> dict[int, tuple[float, float, float, float]]:
    """By iterations: mean exploitability, half of its 95% interval over seeds, mean nodes, mean seconds."""
    result = {}
    for mark in sorted({p.iterations for p in points if p.curve == curve}):
        here = [p for p in points if p.curve == curve and p.iterations == mark]
        values = np.array([p.exploitability_mbb for p in here])
        half = _STUDENT[seeds] * values.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else float("nan")
        nodes, seconds = np.mean([p.nodes for p in here]), np.mean([p.seconds for p in here])
        result[mark] = float(values.mean()), float(half), float(nodes), float(seconds)
    return result


_STUDENT = {1: float("nan"), 2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78}  # 97.5% points with seeds - 1 degrees of freedom


def report(figure: str, points: Sequence[Point], seeds: int) -> None:
    """Lines for docs/verification.md: every curve at a few numbers of iterations."""
    print(f"\n{figure}: mbb per game (10 mbb = 1 chip), {seeds} seeds, 95% intervals")
    for curve in dict.fromkeys(p.curve for p in points):
        rows = by_mark(points, curve, seeds)
        last = max(rows)
        shown = [mark for mark in (100, 1_000, 5_000, 10_000, 100_000) if mark in rows and mark != last] + [last]
        parts = [f"{mark:,}: {rows[mark][0]:.4g} ± {rows[mark][1]:.2g}" for mark in shown]
        _, _, nodes, seconds = rows[last]
        print(f"  {curve}: {'; '.join(parts)}; {nodes:.3g} nodes, {seconds:.2f} s")


def save_figure(figure: str, points: Sequence[Point], seeds: int) -> None:
    """A record of every curve after 100,000 iterations, if it has such a point, and at its end."""
    rows: list[list[Cell]] = []
    for curve in dict.fromkeys(p.curve for p in points):
        marks = by_mark(points, curve, seeds)
        for mark in sorted({mark for mark in marks if mark == 100_000} | {max(marks)}):
            mean, half, _, seconds = marks[mark]
            value = (significant(mean), significant(half, 2)) if seeds > 1 else significant(mean)
            rows.append([curve, mark, value, significant(1000.0 * seconds / mark, 2)])
    save(f"li_2020_{figure}", TITLES[figure], ["curve", "iterations", "mbb/g", "CPU ms an iteration"], rows, seeds)


def draw(path: Path, points: Sequence[Point], seeds: int) -> None:
    """A row of three panels a figure: against iterations, nodes and CPU seconds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figures = list(dict.fromkeys(p.figure for p in points))
    canvas, grid = pyplot.subplots(
        len(figures), 3, figsize=(15, 4.5 * len(figures)), layout="constrained", squeeze=False
    )
    for figure, panels in zip(figures, grid):
        here = [p for p in points if p.figure == figure]
        for curve in dict.fromkeys(p.curve for p in here):
            rows = by_mark(here, curve, seeds)
            values, halves, nodes, seconds = np.array(list(rows.values())).T
            for panel, x in zip(panels, (np.array(list(rows)), nodes, np.maximum(seconds, 1e-4))):
                panel.errorbar(x, values, yerr=halves if seeds > 1 else None, label=curve, capsize=2, marker=".")
        for panel, label in zip(panels, ("iterations", "nodes visited", "CPU seconds, one thread")):
            panel.set(xscale="log", yscale="log", xlabel=label, ylabel="exploitability, mbb per game", title=figure)
            panel.grid(True, which="both", alpha=0.2)
        panels[2].legend(fontsize=6)
    canvas.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="3e5 iterations instead of 2e4: hours instead of minutes")
    parser.add_argument("--seeds", type=int, default=5, choices=sorted(_STUDENT))
    parser.add_argument(
        "--figure", action="append", help="forms, exploration, policies, skipping, discounting or references"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/papers"))
    add_save(parser)
    arguments = parser.parse_args()
    last = 300_000 if arguments.full else 20_000
    figures = {
        "exploration": exploration(last),
        "policies": policies(last),
        "skipping": skipping(last),
        "discounting": discounting(last),
        "forms": forms(arguments.full),
        "references": references(arguments.full),
    }
    arguments.output.mkdir(parents=True, exist_ok=True)
    points: list[Point] = []
    for figure, curves in figures.items():
        if arguments.figure and figure not in arguments.figure:
            continue
        here: list[Point] = []
        for curve, (cards, end, settings) in curves.items():
            # Full-width solvers draw nothing, yet all curves of a figure have as many runs.
            for seed in range(1, arguments.seeds + 1):
                here += run_curve(figure, curve, seed, cards, end, settings)
        report(figure, here, arguments.seeds)
        if arguments.save:
            save_figure(figure, here, arguments.seeds)
        points += here
        with (arguments.output / "li_2020.csv").open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow([field.name for field in fields(Point)])
            writer.writerows(astuple(point) for point in points)
        draw(arguments.output / "li_2020.png", points, arguments.seeds)


if __name__ == "__main__":
    main()
