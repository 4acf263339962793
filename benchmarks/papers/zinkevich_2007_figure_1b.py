"""Zinkevich et al. (NIPS 2007), figure 1b: convergence of chance sampling over iterations per infoset.

The curves of 5, 8 and 10 buckets a street coincide in the paper: the iterations needed grow as the infosets do. Also
prints iterations a second on one core, which the paper gives as 750 (18,496 states each), and with the betting in
pieces by preflop sequence on two, which it gives as 1,700 on four. Curves of other games that OUTPUT holds from earlier
runs stay in the table and in the picture.

The same curve towards figure 1a, which is chance sampling to 100 million iterations and more: with --resume a run goes on
where the last one ended, point by point, and what the rest would take is printed.

python benchmarks/papers/zinkevich_2007_figure_1b.py --games limit-5 --most 27.592 --threads 1 --cpu-seconds 1200 [--resume]
"""

import argparse
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from curves import CONFIGS, draw_games, write_game
from record import Cell, add_save, save, significant

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.abstraction.strategy import Evaluation
from foldwise.solver.checkpoint import load_checkpoint, save_checkpoint
from foldwise.solver.config import RunConfig
from foldwise.solver.regret_kernels import normalise_sums
from foldwise.solver.response.best_response import ExactResponse
from foldwise.solver.run import make_solver

PAPER_ITERATIONS_PER_SECOND = 750
PAPER_STATES = 18_496
# Iterations and mb/h: section 5 and figure 1a.
PAPER_POINTS = {
    "limit-5": [(100e6, 3.4)],
    "limit-6": [(200e6, 3.1)],
    "limit-8": [(750e6, 2.7)],
    "limit-10": [(200e6, 13.0), (2000e6, 2.2)],
}
_TIMED_ITERATIONS = 2000
MARKS = (0.056, 0.56, 5.6)  # iterations per infoset that the table shows
_FIRST_POINT = 0.01  # iterations per infoset

Row = tuple[str, int, float, float, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="*", default=["limit-5", "limit-8"])
    parser.add_argument(
        "--most",
        type=float,
        default=0.4,
        help=f"iterations per infoset to go to, evaluated four times a decade from {_FIRST_POINT} on; the paper goes to 18",
    )
    parser.add_argument("--threads", type=int, default=2, help="threads of the curves, which share one table")
    parser.add_argument("--cpu-seconds", type=float, default=float("inf"), help="begin no further point after so many")
    parser.add_argument("--resume", action="store_true", help="go on in OUTPUT/chance-GAME")
    parser.add_argument("--speed-only", action="store_true")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/papers"))
    add_save(parser)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name in arguments.games:
        settings = {"solver.sampler": "chance", "solver.threads": arguments.threads}
        config = read_config(CONFIGS / f"{name}.toml", RunConfig, settings)
        game = build_abstract_game(config)
        rates = [] if arguments.resume else _time(name, game, config)
        if arguments.save and rates:
            columns = ["threads", "iterations a CPU-second", "nodes an iteration", "paper, iterations/s"]
            save("zinkevich_2007_speed", f"Chance sampling on {name} from the start", columns, rates, seeds=1)
        if not arguments.speed_only:
            points = _curve(name, game, config, _shares(arguments.most), arguments)
            rows = _rows(name, game, points)
            if arguments.save:
                _save_towards_1a(name, game, points)
                save(
                    f"zinkevich_2007_figure_1b_{name}",
                    "Figure 1b: chance sampling by iterations per infoset, mb/h",
                    [
                        "game",
                        *(f"after {mark:g} per infoset" if mark == MARKS[0] else f"after {mark:g}" for mark in MARKS),
                    ],
                    [[name, *(_nearest(rows, mark) for mark in MARKS)]],
                    seeds=1,
                )


def _shares(most: float) -> list[float]:
    """Iterations per infoset at which a curve is evaluated; `MARKS` are among them."""
    shares = [_FIRST_POINT]
    while shares[-1] * 10**0.25 < most:
        shares.append(_FIRST_POINT * 10 ** (0.25 * len(shares)))
    return shares + [most] * (shares[-1] < most)


def _nearest(rows: list[Row], mark: float) -> Cell:
    """Exploitability at the point that lies within 2% of a mark, if there is one."""
    values = [value for _, _, share, _, value in rows if abs(share / mark - 1.0) < 0.02]
    return significant(values[0], 3) if values else None


def _time(name: str, game: AbstractGame, config: RunConfig) -> list[list[Cell]]:
    """Iterations a second, on one core and in pieces on two; CPU seconds too, for a shared machine."""
    rows: list[list[Cell]] = []
    for threads, words, paper in ((1, "one", "750 on one core"), (2, "two, in pieces", "1,700 on four cores")):
        changes = {"threads": threads, "pieces": threads > 1}
        solver = make_solver(game, config.model_copy(update={"solver": config.solver.model_copy(update=changes)}))
        solver.advance(200)
        before, start, cpu = solver.nodes, time.perf_counter(), time.process_time()
        solver.advance(_TIMED_ITERATIONS)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        rate, nodes = _TIMED_ITERATIONS / seconds, (solver.nodes - before) / _TIMED_ITERATIONS
        rows.append([words, round(_TIMED_ITERATIONS / cpu), round(nodes), paper])
        print(
            f"Zinkevich 2007, chance sampling on {name}, {threads} thread(s): {rate:,.0f} iterations/s by the clock, "
            f"{_TIMED_ITERATIONS / cpu:,.0f} per CPU-s, {nodes:,.0f} nodes each; paper {PAPER_ITERATIONS_PER_SECOND} on one "
            f"core with {PAPER_STATES:,} states: ratio {_TIMED_ITERATIONS / cpu / PAPER_ITERATIONS_PER_SECOND:.2f} per CPU-s",
            flush=True,
        )
    return rows


def _curve(
    name: str,
    game: AbstractGame,
    config: RunConfig,
    shares: Sequence[float],
    arguments: argparse.Namespace,
) -> list[Evaluation]:
    """Solve to each share of iterations per infoset; a checkpoint is kept and files are rewritten after each."""
    solver, response = make_solver(game, config), ExactResponse(game)
    folder, settings = arguments.output / f"chance-{name}", config.model_dump(mode="json")
    points = load_checkpoint(folder, solver, settings, game.fingerprint).history if arguments.resume else []
    policy = np.empty(game.num_entries, dtype=np.float32)
    spent, begun = points[-1].seconds if points else 0.0, time.process_time()
    for share in shares:
        goal = int(share * game.num_infosets)
        if goal <= solver.iteration:
            continue
        if time.process_time() - begun > arguments.cpu_seconds:
            break
        start = time.process_time()
        solver.advance(goal - solver.iteration)
        spent += time.process_time() - start
        normalise_sums(game.tree.nodes, game.deals.num_buckets, solver.table, policy)
        value = response.exploitability(policy)
        points.append(
            Evaluation(
                iterations=solver.iteration,
                nodes=solver.nodes,
                seconds=spent,
                exploitability_mbb=value.exploitability_mbb,
            )
        )
        save_checkpoint(folder, solver, settings, game.fingerprint, spent, points)
        print(
            f"Zinkevich 2007, figure 1b, {name}: {value.exploitability_mbb:.4g} mb/h after {solver.iteration:,} iterations, "
            f"{share:.3g} per infoset, {spent:.0f} CPU-s"
            + ("" if value.boards_counted is None else f", {value.boards_counted:,} of 134,459 boards"),
            flush=True,
        )
        _write(arguments.output / "zinkevich_2007_figure_1b.csv", _rows(name, game, points))
    return points


def _rows(name: str, game: AbstractGame, points: Sequence[Evaluation]) -> list[Row]:
    return [
        (name, p.iterations, p.iterations / game.num_infosets, p.seconds, p.exploitability_mbb or 0.0) for p in points
    ]


def _save_towards_1a(name: str, game: AbstractGame, points: Sequence[Evaluation]) -> None:
    """How far chance sampling itself came, and what the paper's iterations would take at the pace of the last stretch."""
    rows: list[list[Cell]] = []
    for before, point in pairwise([Evaluation(iterations=0, nodes=0, seconds=0.0), *points]):
        pace = (point.iterations - before.iterations) / (point.seconds - before.seconds)
        rows.append(
            [
                f"{name} after {point.iterations / 1e6:.3g}M",
                significant(point.iterations / game.num_infosets, 3),
                significant(point.exploitability_mbb or 0.0, 3),
                round(point.seconds),
                round(pace),
            ]
        )
    for iterations, value in PAPER_POINTS.get(name, []):
        hours = (points[-1].seconds + (iterations - points[-1].iterations) / pace) / 3600.0
        rows.append(
            [
                f"{name} after {iterations / 1e6:g}M: the paper's; CPU-seconds as they would be",
                significant(iterations / game.num_infosets, 3),
                value,
                round(3600.0 * hours),
                None,
            ]
        )
    save(
        f"zinkevich_2007_chance_{name}",
        "Chance sampling itself towards figure 1a, mb/h",
        ["game and iterations", "per infoset", "exploitability", "CPU-seconds", "iterations a CPU-second"],
        rows,
        seeds=1,
    )


def _write(path: Path, rows: list[Row]) -> None:
    """The table with these rows for their game, and the picture of it."""
    headings = ["game", "iterations", "iterations_per_infoset", "seconds", "exploitability_mbb"]
    lines: dict[str, list[tuple[float, float]]] = {}
    paper: dict[str, list[tuple[float, float]]] = {}
    for name, iterations, share, _, value in write_game(path, headings, rows):
        lines.setdefault(name, []).append((float(share), float(value)))
        num_infosets = float(iterations) / float(share)
        paper[name] = [(count / num_infosets, reported) for count, reported in PAPER_POINTS.get(name, [])]
    draw_games(path.with_suffix(".png"), lines, paper, "iterations per infoset")


if __name__ == "__main__":
    main()
