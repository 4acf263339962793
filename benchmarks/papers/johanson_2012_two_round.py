"""Johanson et al. (AAMAS 2012), two-round limit hold'em: PCS, OPCS, SPCS and CS by time, exact exploitability.

python benchmarks/papers/johanson_2012_two_round.py [--games two-limit-1 two-limit-4] [--seconds S] [--full] [-o DIR]

Each curve is one thread's CPU time. The paper: PCS's first point is already below CS's last, and its slope is steeper.
two-limit-1 takes 0.7 GB, two-limit-4 5 GB. Quick: two-limit-1, 40 CPU-seconds a curve; full: both, 600.
"""

import argparse
from pathlib import Path

import numpy as np
from curves import CONFIGS, Point, write_csv
from record import add_save
from timed import Measure, draw_timed, report_timed, run_timed, save_timed

from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.solver.config import RunConfig
from foldwise.solver.response.two_round_response import TwoRoundResponse

SAMPLERS = ("pcs", "opcs", "spcs", "chance")


def _exploitability(response: TwoRoundResponse) -> Measure:
    return lambda policy: response.exploitability(policy).exploitability_mbb


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="*", default=None)
    parser.add_argument("--samplers", nargs="*", default=list(SAMPLERS))
    parser.add_argument("--seconds", type=float, default=None, help="CPU-seconds of each curve")
    parser.add_argument("--points", type=int, default=4)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/papers"))
    add_save(parser)
    arguments = parser.parse_args()
    games = arguments.games or (["two-limit-1", "two-limit-4"] if arguments.full else ["two-limit-1"])
    seconds = arguments.seconds or (600.0 if arguments.full else 40.0)
    for name in games:
        game = build_abstract_game(read_config(CONFIGS / f"{name}.toml", RunConfig, {}))
        measure = _exploitability(TwoRoundResponse(game))
        points: list[Point] = []
        budgets = [float(x) for x in np.geomspace(seconds / 2 ** (arguments.points - 1), seconds, arguments.points)]
        for sampler in arguments.samplers:
            points += run_timed(game, name, sampler, budgets, measure)
        write_csv(arguments.output / f"johanson_2012_{name}.csv", points)
        draw_timed(arguments.output / f"johanson_2012_{name}.png", points, name, "exploitability, mb per game")
        report_timed(f"Johanson 2012, {name} ({game.num_infosets:,} infosets)", points, "mb/g")
        if arguments.save:
            save_timed(name, points, "mb/g")


if __name__ == "__main__":
    main()
