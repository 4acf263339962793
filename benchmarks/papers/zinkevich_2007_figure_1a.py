"""Zinkevich et al. (NIPS 2007), figure 1a: solving time to the exploitability the paper reports, CFR5 to CFR10.

The joint distributions are counted first, or read from the cache; only solving is timed. Strategy folders are left in
OUTPUT/limit-N for the cross table, and the curves of all games so far in one table and one picture.
"""

import argparse
import time
from pathlib import Path

from curves import CONFIGS, draw_games, write_game
from record import Cell, add_save, save, significant

from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.abstraction.strategy import Evaluation
from foldwise.solver.config import RunConfig
from foldwise.solver.run import SolverRun

# Name, the paper's exploitability in mb/h, its hours, its iterations.
PAPER = {
    "limit-5": (3.4, 33, 100e6),
    "limit-6": (3.1, 75, 200e6),
    "limit-8": (2.7, 261, 750e6),
    "limit-10": (2.2, 1304, 2000e6),
    "limit-5-hs": (3.4, None, None),
}
COLUMNS = [
    "game and target",
    "reached, mb/h",
    "iterations",
    "seconds on two cores",
    "CPU-seconds with evaluations",
    "paper, CPU-hours",
    "paper, iterations",
]
HEADINGS = ["game", "sampler", "iterations", "seconds", "exploitability_mbb", "boards"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="*", default=["limit-5", "limit-6"], choices=PAPER)
    parser.add_argument("--sampler", default="dcfr+")
    parser.add_argument("--to", type=float, nargs="*", help="mb/h to reach, one after the other; default: the paper's")
    parser.add_argument("--seconds", type=float, default=3600.0, help="give up after this much solving")
    parser.add_argument("--resume", action="store_true", help="go on in the folders of an earlier run")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/papers"))
    add_save(parser)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name in arguments.games:
        targets = sorted(arguments.to or [PAPER[name][0]], reverse=True)
        folder = arguments.output / name
        rows, reached = _solve(name, arguments.sampler, targets, arguments.seconds, folder, arguments.resume)
        _write(arguments.output / "zinkevich_2007_figure_1a.csv", rows)
        if arguments.save:
            save(
                f"zinkevich_2007_figure_1a_{name}",
                f"Figure 1a: {arguments.sampler} on the exact joint distribution to the exploitability the paper reports, "
                "and further",
                COLUMNS,
                reached,
                seeds=None,
            )


def _solve(
    name: str, sampler: str, targets: list[float], seconds: float, folder: Path, resume: bool
) -> tuple[list[tuple[object, ...]], list[list[Cell]]]:
    """Solve to the last target, with a line at each one reached: the whole curve, and a row a target."""
    settings: dict[str, object] = {
        "solver.sampler": sampler,
        "solver.exploitability_mbb": targets[-1],
        "solver.seconds": seconds,
        "solver.threads": 2,
        "solver.checkpoint_seconds": 300.0,
    }
    config = read_config(CONFIGS / f"{name}.toml", RunConfig, settings)
    run = SolverRun(build_abstract_game(config), config, folder, resume)
    matrices = run.game.deals.matrices
    counted = matrices.boards_counted if matrices is not None else None
    boards = "all boards" if counted is None else f"{counted:,} of 134,459 boards"
    start = time.process_time()
    reached: list[list[Cell]] = []

    def note(target: float, at: Evaluation) -> None:
        cpu = time.process_time() - start
        _say(name, sampler, target, at, cpu, boards)
        paper_mbb, hours, iterations = PAPER[name]
        published: list[Cell] = [None, None]
        if hours is not None and iterations is not None and target == paper_mbb:
            published = [hours, f"{iterations / 1e6:,.0f}M"]
        value = significant(at.exploitability_mbb, 3)
        reached.append([f"{name} to {target:g}", value, at.iterations, round(at.seconds), round(cpu), *published])

    for progress in run:
        while targets and progress.last is not None and progress.last.exploitability_mbb <= targets[0]:
            note(targets.pop(0), progress.last)
    if targets:
        note(targets[-1], run.history[-1])
    run.save()
    curve = [(name, sampler, p.iterations, f"{p.seconds:.1f}", p.exploitability_mbb, boards) for p in run.history]
    return curve, reached


def _write(path: Path, rows: list[tuple[object, ...]]) -> None:
    """The table with these rows for their game, and the picture of it."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, _, _, seconds, value, _ in write_game(path, HEADINGS, rows):
        lines.setdefault(name, []).append((float(seconds), float(value)))
    paper = {name: [(3600.0 * hours, value)] for name, (value, hours, _) in PAPER.items() if hours is not None}
    draw_games(path.with_suffix(".png"), lines, paper, "seconds of solving on two cores (paper: CPU-seconds)")


def _say(name: str, sampler: str, target: float, at: Evaluation, cpu: float, boards: str) -> None:
    paper_mbb, hours, iterations = PAPER[name]
    beside = f"; paper {paper_mbb} mb/h in {hours} CPU-h, {iterations:.0e} iterations" if hours else ""
    print(
        f"Zinkevich 2007, figure 1a, {name} by {sampler} to {target} mb/h: {at.exploitability_mbb:.3g} mb/h after "
        f"{at.iterations} iterations, {at.seconds:.0f} s of solving on two cores ({cpu:.0f} CPU-s with evaluations), "
        f"{boards}{beside}",
        flush=True,
    )


if __name__ == "__main__":
    main()
