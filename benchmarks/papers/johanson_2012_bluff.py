"""Johanson et al. (AAMAS 2012), Bluff: PCS against CS by time, and each checkpoint against the final PCS strategy.

python benchmarks/papers/johanson_2012_bluff.py [--game bluff-2-2] [--seconds S] [--full] [-o DIR]

Each curve is one thread's CPU time. The paper, bluff-2-2: PCS is lower and steeper at every time, and its strategies
play far better early. Quick: bluff-2-1 (3.5 million infosets), 30 CPU-seconds a curve; full: bluff-2-2, 3,600 seconds
and 18 GB of memory.
"""

import gc
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from curves import CONFIGS, Point, write_csv
from record import save
from timed import by_budget, draw_timed, report_timed, run_timed, save_timed, seeds_cell, timed_budgets, timed_parser

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.solver.config import RunConfig
from foldwise.solver.response.best_response import ExactResponse, Policy


def entries_of(game: AbstractGame, player: int) -> np.ndarray:
    """[E] whether an entry of a policy belongs to the player."""
    nodes = game.tree.nodes
    decisions = nodes[nodes["kind"] == DECISION]
    sizes = decisions["num_children"].astype(np.int64) * game.deals.num_buckets[0, decisions["player"]]
    return np.repeat(decisions["player"] == player, sizes)


def main() -> None:
    parser = timed_parser(__doc__, points=5)
    parser.add_argument("--game", default=None)
    arguments = parser.parse_args()
    name = arguments.game or ("bluff-2-2" if arguments.full else "bluff-2-1")
    budgets = timed_budgets(arguments, quick=30.0, full=3600.0)
    game = build_abstract_game(read_config(CONFIGS / f"{name}.toml", RunConfig, {}))
    response = ExactResponse(game)
    points: list[Point] = []
    against: list[Point] = []
    with tempfile.TemporaryDirectory(
        prefix="foldwise-bluff-"
    ) as folder:  # strategies take gigabytes: only one is in memory at a time
        kept: list[Path] = []

        def keep(policy: Policy) -> float:
            kept.append(Path(folder) / f"{len(kept)}.npy")
            np.save(kept[-1], policy)
            return response.exploitability(policy).exploitability_mbb

        for sampler in ("pcs", "chance"):
            for seed in range(1, 1 + arguments.seeds):
                points += run_timed(game, name, sampler, budgets, keep, seed)
                gc.collect()  # free the solver's table before the next one is made
        finals = {point.seed: path for point, path in zip(points, kept) if point.curve == "pcs"}  # each seed's last
        belongs = entries_of(game, 0)
        for point, path in zip(points, kept):
            policy, final = np.load(path, mmap_mode="r"), np.load(finals[point.seed], mmap_mode="r")
            seats = (response.exploitability(np.where(mine, policy, final)) for mine in (belongs, ~belongs))
            first, second = (found.value_mbb for found in seats)
            against.append(replace(point, exploitability_mbb=(first - second) / 2.0))
    write_csv(arguments.output / f"johanson_2012_{name}.csv", points)
    write_csv(arguments.output / f"johanson_2012_{name}_against_final.csv", against)
    draw_timed(arguments.output / f"johanson_2012_{name}.png", points, name, "exploitability, thousandths")
    draw_timed(
        arguments.output / f"johanson_2012_{name}_against_final.png", against, name, "against final PCS", log=False
    )
    report_timed(f"Johanson 2012, {name}", points, "exploitability in thousandths")
    report_timed(f"Johanson 2012, {name} against the final PCS strategy", against, "thousandths a game")
    if arguments.save:
        save_timed(name, points, "thousandths of a game")
        save(
            f"johanson_2012_{name}_against_final",
            "Against the final PCS strategy of the same seed, thousandths of a game",
            ["sampler", *(f"point {number}" for number in range(1, arguments.points + 1))],
            [
                [f"{name} {sampler}", *(seeds_cell(at) for at in by_budget(against, sampler))]
                for sampler in ("pcs", "chance")
            ],
            seeds=arguments.seeds,
        )


if __name__ == "__main__":
    main()
