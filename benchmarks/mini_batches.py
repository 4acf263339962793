"""Mini-batches of the vector samplers on one core and two: walks a second on preflop-nl's 1,326 hands.

python benchmarks/mini_batches.py [--seconds S] [--batch W]

Both sides run batches of the same size, so they do the same work; runs are taken in turns and the best of each counts.
"""

import argparse
import time
from pathlib import Path

from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.solver.config import RunConfig
from foldwise.solver.run import make_solver

CONFIG = Path(__file__).resolve().parent.parent / "configs" / "preflop-nl.toml"
SAMPLERS = ("vector-average", "vector-outcome", "vector-external", "vector-robust")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each run")
    parser.add_argument("--batch", type=int, default=64, help="walks in a mini-batch")
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    for sampler in SAMPLERS:
        settings = {"solver.sampler": sampler, "solver.mini_batch": arguments.batch}
        solvers = {}
        for threads in (1, 2):
            config = read_config(CONFIG, RunConfig, settings | {"solver.threads": threads})
            solvers[threads] = make_solver(build_abstract_game(config), config)
            solvers[threads].advance(1)
        best = {1: 0.0, 2: 0.0}
        for _ in range(arguments.turns):
            for threads, solver in solvers.items():
                count, start = 0, time.perf_counter()
                while time.perf_counter() - start < arguments.seconds:
                    solver.advance(2)
                    count += 2
                best[threads] = max(best[threads], 2 * arguments.batch * count / (time.perf_counter() - start))
        print(
            f"{sampler}: {best[1]:,.0f} walks/s on one thread, {best[2]:,.0f} on two ({best[2] / best[1]:.2f}x)",
            flush=True,
        )


if __name__ == "__main__":
    main()
