"""Exploitability of the uniform profile in the games whose figure is published."""

import argparse

import numpy as np
from curves import CONFIGS
from record import add_save, save

from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.solver.config import RunConfig
from foldwise.solver.regret_kernels import normalise_sums
from foldwise.solver.response.best_response import ExactResponse

# Half of NashConv 11/12 and 4.7472; Gibson et al. (NIPS 2012).
PUBLISHED = {"kuhn": 458.3, "leduc": 2373.6, "bluff-1-1": 780, "bluff-2-1": 784, "two-nl-36": 6793}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_save(parser)
    arguments = parser.parse_args()
    rows: list[list[str | float]] = []
    for name, published in PUBLISHED.items():
        game = build_abstract_game(read_config(CONFIGS / f"{name}.toml", RunConfig, {}))
        policy = np.empty(game.num_entries, dtype=np.float32)
        normalise_sums(game.tree.nodes, game.deals.num_buckets, np.zeros(2 * game.num_entries), policy)
        ours = ExactResponse(game).exploitability(policy).exploitability_mbb
        print(f"{name}: {ours:.1f} mbb, published {published}", flush=True)
        rows.append([name, round(ours, 1), published])
    if arguments.save:
        title = "Exploitability of the uniform profile, mbb/g (thousandths of a unit outside hold'em)"
        save("gibson_2012_uniform_profiles", title, ["game", "ours", "published"], rows, seeds=None)


if __name__ == "__main__":
    main()
