"""Johanson et al. (AAMAS 2012), abstract limit hold'em: PCS against CS by time as the abstraction grows.

python benchmarks/papers/johanson_2012_abstract_limit.py [--configs limit-5 limit-6 limit-8] [--seconds S] [-o DIR]

Each curve is one thread's CPU time; exploitability is that of a best response in the abstract game. The paper: PCS
overtakes CS as buckets grow. A game without an exact best response is left out, with the reason. Quick: limit-5, 60
CPU-seconds a curve; full: all three, 1,200.
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
from foldwise.solver.response.responses import Response, has_response, make_response


def _exploitability(response: Response) -> Measure:
    return lambda policy: response.exploitability(policy).exploitability_mbb


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configs", nargs="*", default=None)
    parser.add_argument("--seconds", type=float, default=None, help="CPU-seconds of each curve")
    parser.add_argument("--points", type=int, default=4)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/papers"))
    add_save(parser)
    arguments = parser.parse_args()
    names = arguments.configs or (["limit-5", "limit-6", "limit-8"] if arguments.full else ["limit-5"])
    seconds = arguments.seconds or (1200.0 if arguments.full else 60.0)
    budgets = [float(x) for x in np.geomspace(seconds / 2 ** (arguments.points - 1), seconds, arguments.points)]
    for name in names:
        game = build_abstract_game(read_config(CONFIGS / f"{name}.toml", RunConfig, {}))
        if not has_response(game):
            print(f"{name}: left out, its deals are sampled and no exact best response is known for them")
            continue
        measure = _exploitability(make_response(game))
        points: list[Point] = []
        for sampler in ("pcs", "chance"):
            points += run_timed(game, name, sampler, budgets, measure)
        write_csv(arguments.output / f"johanson_2012_{name}.csv", points)
        draw_timed(arguments.output / f"johanson_2012_{name}.png", points, name, "exploitability, mb per hand")
        report_timed(f"Johanson 2012, {name} ({game.num_infosets:,} infosets)", points, "mb/h")
        if arguments.save:
            save_timed(name, points, "mb/h")


if __name__ == "__main__":
    main()
