"""Duplicate matches of a searching player, scored by AIVAT: `python benchmarks/search_matches.py STRATEGY OPPONENT ...`.

Each opponent (a strategy folder, `bot:NAME`) meets the strategy with search, and on the same deals the strategy without.
"""

import argparse
import time
from pathlib import Path

from papers.record import Cell, add_save, save
from printed import printed
from search_roots import made_by

from foldwise.agent.strategy_player import OpenStrategy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("strategy", type=Path)
    parser.add_argument("opponents", nargs="+", help="strategy folders, bot:NAME")
    parser.add_argument("--modes", nargs="+", default=["fast", "off"], help="fast, normal, deep, off")
    parser.add_argument("--hands", type=int, default=1000, help="from each side")
    parser.add_argument("--seed", type=int, default=1)
    add_save(parser)
    arguments = parser.parse_args()
    rows: list[list[Cell]] = []
    for opponent in arguments.opponents:
        name = opponent if opponent.startswith("bot:") else Path(opponent).name
        for mode in arguments.modes:
            start = time.monotonic()
            words = ["--search", mode, "--score", "aivat", "--hands", str(arguments.hands)]
            found = printed("match", str(arguments.strategy), opponent, *words, "--seed", str(arguments.seed))
            won = (round(found["mean_mbb"]), round(found["ci95_mbb"]))
            rows.append([f"{name}, {mode}", won, 2 * arguments.hands, round(time.monotonic() - start)])
            print(*rows[-1], flush=True)
    if arguments.save:
        save(
            "search_matches",
            f"What it wins, duplicate matches by AIVAT, the same deals for each; {made_by(OpenStrategy(arguments.strategy))}",
            ["opponent, search", "mbb/h", "hands", "seconds"],
            rows,
            seeds=1,
        )


if __name__ == "__main__":
    main()
