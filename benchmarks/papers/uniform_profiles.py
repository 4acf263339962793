"""Exploitability of the uniform profile in the games whose figure is published."""

import numpy as np
from curves import CONFIGS

from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.solver.config import RunConfig
from foldwise.solver.regret_kernels import normalise_sums
from foldwise.solver.response.best_response import ExactResponse

PUBLISHED = {
    "kuhn": "458.3 (NashConv 11/12)",
    "leduc": "2373.6 (NashConv 4.7472)",
    "bluff-1-1": "780 (Gibson et al. 2012)",
    "bluff-2-1": "784 (Gibson et al. 2012; 454 by the rules as written)",
    "two-nl-36": "6793 (Gibson et al. 2012)",
}


def main() -> None:
    for name, published in PUBLISHED.items():
        game = build_abstract_game(read_config(CONFIGS / f"{name}.toml", RunConfig, {}))
        policy = np.empty(game.num_entries, dtype=np.float32)
        normalise_sums(game.tree.nodes, game.deals.num_buckets, np.zeros(2 * game.num_entries), policy)
        ours = ExactResponse(game).exploitability(policy).exploitability_mbb
        print(f"{name}: {ours:.1f} mbb, published {published}")


if __name__ == "__main__":
    main()
