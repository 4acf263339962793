"""Li et al. (2020), random current strategy beside the mean current strategy, on Leduc.

In equation 3 a history's probability sums over the blocks it is in: RCS then equals MCS in law. `rcs-drawn` divides by the
probability of the infoset that was drawn instead.
"""

import argparse

import numpy as np
from record import Cell, add_save, save, significant

from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import check_config
from foldwise.solver.config import RunConfig
from foldwise.solver.regret_kernels import normalise_sums
from foldwise.solver.response.best_response import ExactResponse
from foldwise.solver.run import make_solver

SAMPLERS = ("vector-robust", "vector-outcome")
POLICIES = ("rcs", "mcs", "rcs-drawn")
_STUDENT = 2.57  # 97.5% point with five degrees of freedom
SEEDS, ITERATIONS = 6, 20_000


def reached(sampler: str, policy: str, seed: int) -> float:
    """Exploitability in mbb after all iterations."""
    settings = {"sampler": sampler, "policy": policy, "seed": seed, "threads": 1}
    config = check_config({"name": "leduc", "game": "leduc", "solver": settings}, RunConfig, "benchmark")
    game = build_abstract_game(config)
    solver = make_solver(game, config)
    solver.advance(ITERATIONS)
    average = np.empty(game.num_entries)
    normalise_sums(game.tree.nodes, game.deals.num_buckets, solver.table, average)
    return ExactResponse(game).exploitability(average).exploitability_mbb


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_save(parser)
    options = parser.parse_args()
    rows: list[list[Cell]] = []
    for sampler in SAMPLERS:
        for policy in POLICIES:
            found = np.array([reached(sampler, policy, seed) for seed in range(1, SEEDS + 1)])
            half = _STUDENT * found.std(ddof=1) / SEEDS**0.5
            rows.append([sampler, policy, (significant(float(found.mean())), significant(float(half), 2))])
            print(f"{sampler} {policy}: {found.mean():.0f} ± {half:.0f} mbb ({', '.join(f'{x:.0f}' for x in found)})")
    if options.save:
        title = f"RCS and MCS on Leduc after {ITERATIONS:,} iterations"
        save("li_2020_rcs", title, ["sampler", "policy", "mbb/g"], rows, SEEDS)


if __name__ == "__main__":
    main()
