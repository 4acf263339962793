"""What search wins from its own blueprint, by turn roots: `python benchmarks/search_roots.py STRATEGY [--save]`.

Both seats of every root are searched in turn; the pair of a root's two gains is one observation. Figures per hand count
hands that never reach a turn as zero.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from papers.record import Cell, add_save, save

from foldwise.agent.strategy_player import OpenStrategy
from foldwise.matches.scoring.turn_roots import Agents, RootMatch, street_roots
from foldwise.matches.statistics import estimate
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.language import parse_steps
from foldwise.search.modes import bet_menu, depth_in_pots
from foldwise.search.player import SearchPlayer
from foldwise.search.ranges import TableRanges


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("strategy", type=Path)
    parser.add_argument(
        "--variants", nargs="+", default=["search(fast)"], help="players, as in search(fast, gadget=unsafe)"
    )
    parser.add_argument("--hands", type=int, default=200)
    parser.add_argument("--rivers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--tree-sizes", action="store_true", help="search with all bet sizes of the tree, not the mode's"
    )
    parser.add_argument(
        "--depth", type=float, nargs=2, metavar="POTS", help="only roots with so much behind, from and below, in pots"
    )
    parser.add_argument("--sizes", nargs=2, metavar=("TURN", "RIVER"), help="bet sizes instead of the mode's")
    parser.add_argument("--record", default="search_roots", help="name of the record that --save writes")
    add_save(parser)
    arguments = parser.parse_args()
    rows: list[list[Cell]] = []
    opened = OpenStrategy(arguments.strategy)
    table = opened.player(Pipeline(), arguments.seed)
    bets = opened.strategy.abstraction_config().bets
    rows_of = TableRanges(table)
    roots = list(street_roots((table, table), arguments.seed, arguments.hands))
    if arguments.depth is not None:
        least, below = arguments.depth
        roots = [root for root in roots if least <= depth_in_pots(root.betting) < below]
    print(f"{len(roots)} roots of {arguments.hands} hands")
    for text in arguments.variants:
        steps = parse_steps(text)
        assert steps.search is not None
        menu = bets.menu() if arguments.tree_sizes and bets is not None else None
        if arguments.sizes is not None:
            menu = bet_menu(*arguments.sizes, opened.definition.num_rounds)
        search = SearchPlayer(opened.player(steps.pipeline, arguments.seed), steps.pipeline, steps.search, menu=menu)
        search.measure()
        search.warm_up()
        seatings: list[Agents] = [(search, rows_of), (rows_of, search)]
        matches = [RootMatch(seats, (rows_of, rows_of), arguments.rivers, seed=arguments.seed) for seats in seatings]
        start, gains = time.process_time(), []
        for done, root in enumerate(roots, 1):
            gains.append((matches[0].gain(root) - matches[1].gain(root)) / 2)
            if done % 10 == 0 or done == len(roots):
                by_root = estimate(np.array(gains), opened.definition.big_blind)
                share = len(roots) / arguments.hands
                print(
                    f"{text}: {done} roots, {by_root.mean_mbb:+.0f} ± {by_root.ci95_mbb:.0f} mbb a root, "
                    f"{share * by_root.mean_mbb:+.0f} ± {share * by_root.ci95_mbb:.0f} mbb/h, "
                    f"{search.report.solves} solves, {search.report.fallbacks} fallbacks, "
                    f"{time.process_time() - start:.0f} CPU-s",
                    flush=True,
                )
        by_hand = (round(share * by_root.mean_mbb), round(share * by_root.ci95_mbb))
        by_root_cell = (round(by_root.mean_mbb), round(by_root.ci95_mbb))
        rows.append([text, by_root_cell, by_hand, search.report.solves, round(time.process_time() - start)])
    if arguments.save:
        with_sizes = " with the tree's bet sizes" if arguments.tree_sizes else ""
        if arguments.sizes is not None:
            with_sizes = f" with `{arguments.sizes[0]}` on the turn and `{arguments.sizes[1]}` on the river"
        at_depth = "" if arguments.depth is None else " with {:g} to {:g} pots behind".format(*arguments.depth)
        save(
            arguments.record,
            f"What search{with_sizes} wins from its own tables: {len(roots)} turn roots{at_depth} of {arguments.hands} "
            f"hands, both seats, {arguments.rivers} rivers an ending; {made_by(opened)}",
            ["player", "mbb a root", "mbb/h", "solves", "CPU-s"],
            rows,
            seeds=1,
        )


def made_by(opened: OpenStrategy) -> str:
    """Which strategy, and how long it was solved."""
    manifest = opened.strategy.manifest
    return f"{manifest.name} after {manifest.iterations:,} iterations"


if __name__ == "__main__":
    main()
