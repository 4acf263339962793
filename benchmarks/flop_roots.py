"""What a searched flop wins from its own tables, and saves from a best response.

    python benchmarks/flop_roots.py STRATEGY [--save]

Both seats of every flop root are searched in turn; the pair of a root's two figures is one observation. Turn and river are
played by the tables of both. Figures per hand count hands that never reach a flop as zero.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from papers.record import Cell, add_save, save
from search_roots import made_by

from foldwise.agent.strategy_player import OpenStrategy
from foldwise.matches.scoring.flop_roots import flop_gain
from foldwise.matches.scoring.turn_roots import street_roots
from foldwise.matches.statistics import estimate
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.language import parse_steps
from foldwise.search.player import SearchPlayer

_FLOP = 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("strategy", type=Path)
    parser.add_argument(
        "--variants", nargs="+", default=["search(fast, flop=fast)"], help="players, as in search(fast, flop=normal)"
    )
    parser.add_argument("--hands", type=int, default=60)
    parser.add_argument("--blocks", type=int, default=2, help="of 49 turns and rivers on which a root is valued")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", default="flop_roots", help="name of the record that --save writes")
    add_save(parser)
    arguments = parser.parse_args()
    opened = OpenStrategy(arguments.strategy)
    table = opened.player(Pipeline(), arguments.seed)
    roots = list(street_roots((table, table), arguments.seed, arguments.hands, street=_FLOP))
    share, big_blind = len(roots) / arguments.hands, opened.definition.big_blind
    print(f"{len(roots)} roots of {arguments.hands} hands")
    rows: list[list[Cell]] = []
    for text in arguments.variants:
        steps = parse_steps(text)
        assert steps.search is not None
        search = SearchPlayer(opened.player(steps.pipeline, arguments.seed), steps.pipeline, steps.search)
        search.warm_up()
        start, found = time.process_time(), []
        for done, root in enumerate(roots, 1):
            found.append(np.mean([flop_gain(search, root, seat, arguments.blocks) for seat in (0, 1)], axis=0))
            if done % 5 and done < len(roots):
                continue
            gains, before, after = np.array(found).T
            won, less = estimate(gains, big_blind), estimate(before - after, big_blind)
            print(
                f"{text}: {done} roots, wins {won.mean_mbb:+.0f} ± {won.ci95_mbb:.0f} mbb a root, "
                f"a best response {1000 * before.mean() / big_blind:.0f} before, "
                f"{less.mean_mbb:.0f} ± {less.ci95_mbb:.0f} less after, "
                f"{time.process_time() - start:.0f} CPU-s",
                flush=True,
            )
        rows.append(
            [
                text,
                (round(won.mean_mbb), round(won.ci95_mbb)),
                (round(share * won.mean_mbb), round(share * won.ci95_mbb)),
                round(1000 * before.mean() / big_blind),
                (round(less.mean_mbb), round(less.ci95_mbb)),
                round(time.process_time() - start),
            ]
        )
    if arguments.save:
        save(
            arguments.record,
            "What a searched flop wins from its own tables, which play turn and river for both, and what a best response "
            f"that picks among continuations wins less of it: {len(roots)} flop roots of {arguments.hands} hands, both "
            f"seats; {made_by(opened)}",
            ["player", "mbb a root", "mbb/h", "response to the tables, mbb a root", "less after", "CPU-s"],
            rows,
            seeds=1,
        )


if __name__ == "__main__":
    main()
