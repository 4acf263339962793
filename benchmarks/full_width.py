"""The full-width methods beside each other on limit hold'em: exploitability after the same iterations.

Usage: python benchmarks/full_width.py [--game limit-5] [--methods cfr+ dcfr+] [--iterations 100 200 300]
"""

import argparse
import time
from pathlib import Path

import numpy as np

from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.solver.config import RunConfig
from foldwise.solver.regret_kernels import normalise_sums
from foldwise.solver.response.best_response import ExactResponse
from foldwise.solver.run import make_solver
from foldwise.solver.samplers import FULL_WIDTH

CONFIGS = Path(__file__).resolve().parent.parent / "configs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="limit-5")
    parser.add_argument("--methods", nargs="*", default=FULL_WIDTH, choices=FULL_WIDTH)
    parser.add_argument("--iterations", type=int, nargs="*", default=[100, 200, 300])
    given = parser.parse_args()
    config = read_config(CONFIGS / f"{given.game}.toml", RunConfig, {"solver.threads": 2})
    game = build_abstract_game(config)
    response, policy = ExactResponse(game), np.empty(game.num_entries, dtype=np.float32)
    for method in given.methods:
        options = config.solver.model_copy(update={"sampler": method})
        solver = make_solver(game, config.model_copy(update={"solver": options}))
        solver.advance(0)
        seconds = 0.0
        for iterations in sorted(given.iterations):
            start = time.perf_counter()
            solver.advance(iterations - solver.iteration)
            seconds += time.perf_counter() - start
            normalise_sums(game.tree.nodes, game.deals.num_buckets, solver.table, policy)
            value = response.exploitability(policy).exploitability_mbb
            print(
                f"{given.game}, {method}: {value:.3g} mb/h after {iterations} iterations, {seconds:.1f} s", flush=True
            )


if __name__ == "__main__":
    main()
