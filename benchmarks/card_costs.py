"""What cards, and ways of solving, cost exactly: best responses with real cards from the flop on, over drawn flops.

Usage: python benchmarks/card_costs.py CONFIG[,KEY=VALUE...] ... [--nodes 2e8] [--flops 20] [--save]

    python benchmarks/card_costs.py benchmarks/presets/20bb-{percentile,kmeans,potential}-{60,200,1000}.toml
    python benchmarks/card_costs.py benchmarks/presets/20bb-percentile-60.toml{,,solver.precision=single}

Each is solved over the same number of nodes. `foldwise exploitability --real-cards` over all 1,755 flops takes an hour of
CPU time for each; here both players play their rows before the flop, the responder is free after it, and flops are drawn as
often as they are dealt, the same ones for all rows: so differences between rows are narrower than the rows. mbb/h, means
with 95% intervals over flops. Figures are kept flop by flop in OUTPUT: a stopped run goes on where it was, and --flops may
be raised.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from papers.record import Cell, add_save, save
from presets import solved

from foldwise.abstraction.build import load_abstract_game
from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.storage.whole_file import written_whole
from foldwise.abstraction.strategy import Strategy
from foldwise.cli.support.policies import postprocessed_policy
from foldwise.matches.statistics import estimate
from foldwise.postprocess.pipeline import Pipeline
from foldwise.solver.response.real_response import RealResponse


def drawn_flops(count: int, seed: int) -> list[int]:
    """Classes of flops, each as often as it is dealt; the first ones are the same for any count."""
    orbits = boards(3).orbits.astype(np.float64)
    rng = np.random.default_rng(seed)
    return [int(rng.choice(len(orbits), p=orbits / orbits.sum())) for _ in range(count)]


def exploited(folder: Path, flops: list[int], kept: Path) -> list[float]:
    """What is won on each flop, mbb/h; only flops that are not kept are walked."""
    known: dict[str, float] = json.loads(kept.read_text()) if kept.exists() else {}
    response = None
    for flop in flops:
        if str(flop) in known:
            continue
        if response is None:
            strategy = Strategy(folder)
            game = load_abstract_game(strategy)
            assert game.cards is not None
            policy = postprocessed_policy(strategy, game, Pipeline())
            response = RealResponse(game.tree, game.cards, policy, len(game.deals.num_buckets))
        known[str(flop)] = 1000.0 / game.unit_chips * response.flop_exploitability(flop)
        with written_whole(kept) as file:
            json.dump(known, file)
    return [known[str(flop)] for flop in flops]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configs", nargs="+")
    parser.add_argument("--nodes", default="2e8")
    parser.add_argument("--flops", type=int, default=20)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="of solving; each is a row")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/card-costs"))
    parser.add_argument("--record", default="card_costs", help="name of the record that --save writes")
    add_save(parser)
    given = parser.parse_args()
    flops = drawn_flops(given.flops, seed=1)
    rows: list[list[Cell]] = []
    base: np.ndarray | None = None
    for text in given.configs:
        for seed in given.seeds:
            start = time.process_time()
            name, folder = solved(text, given.nodes, seed, given.output / str(seed))
            won = np.array(exploited(folder, flops, folder.with_name(f"{folder.name}.flops.json")))
            base = won if base is None else base
            whole, more = estimate(won, 1000.0), estimate(won - base, 1000.0)
            label = f"{name}, seed {seed}" if len(given.seeds) > 1 else name
            row: list[Cell] = [label, Strategy(folder).manifest.infosets]
            row.append((round(whole.mean_mbb, 1), round(whole.ci95_mbb, 1)))
            rows.append([*row, None if won is base else (round(more.mean_mbb, 1), round(more.ci95_mbb, 1))])
            print(*rows[-1], f"{time.process_time() - start:.0f} CPU-s of this process", flush=True)
    if given.save:
        save(
            given.record,
            f"What a best response with real cards wins from the flop on, mbb/h, {given.flops} flops, the same for all rows; "
            f"{float(given.nodes):.3g} nodes each",
            ["what is solved", "infosets", "exploitability from the flop", "more than the first"],
            rows,
            seeds=1,
        )


if __name__ == "__main__":
    main()
