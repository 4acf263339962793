"""Two or more checkouts solving the same subgame in turns: what a change of the subgame solver is worth.

python benchmarks/subgame_checkouts.py CHECKOUT CHECKOUT... [--case turn river search] [--rounds 12]

Each checkout runs in a process of its own, one at a time, so that a busy machine slows all alike; hand-nodes a CPU-second of
one thread, and the median of the ratios to the first checkout's, round by round. Exploitability is printed to show that
the work was the same; with the same bits it is the same number. `search` is what the search at the table solves: a small
tree, six rivers an iteration.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from subgame import CASES, EVERYTHING, SEARCH_BETS, limped

from foldwise.abstraction.bet_sizes import make_menu
from foldwise.game.betting import BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.library import find_definition
from foldwise.solver.subgame.subgame import Subgame

ITERATIONS = {"river": 4, "turn": 2, "search": 30}


def make_game(case: str) -> Subgame:
    if case == "search":
        state, menu = BettingState.at_street(find_definition("hunl"), 2, 300), make_menu(SEARCH_BETS, SEARCH_BETS, 1.0)
        return Subgame(state, parse_cards("Ah7d2c9s"), (EVERYTHING,) * 2, menu, schedule="dcfr+", rivers=6)
    board, street, menu = next(rest for name, *rest in CASES if name == case)
    return Subgame(limped(street), parse_cards(board), (EVERYTHING,) * 2, menu)


def work(case: str) -> None:
    """In a checkout's process: a round for every line that comes, after one to compile."""
    game = make_game(case)
    game.run(2)
    print("ready", flush=True)
    for _ in sys.stdin:
        before, start = game.hand_nodes, time.process_time()
        game.run(ITERATIONS[case])
        rate = (game.hand_nodes - before) / (time.process_time() - start)
        print(json.dumps(rate), flush=True)
    print(json.dumps(game.exploitability().exploitability_mbb), flush=True)


def compare(checkouts: list[Path], case: str, rounds: int) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, "--work", case],
            env={**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for checkout in checkouts
    ]
    for process in processes:
        process.stdout.readline()
    rates = np.zeros((rounds, len(checkouts)))
    for row in rates:
        for k, process in enumerate(processes):
            process.stdin.write("\n")
            process.stdin.flush()
            row[k] = json.loads(process.stdout.readline())
    for k, (checkout, process) in enumerate(zip(checkouts, processes)):
        left, _ = process.communicate()
        print(
            f"{case}, {checkout}: median {np.median(rates[:, k]) / 1e6:.0f}, best {rates[:, k].max() / 1e6:.0f} million "
            f"hand-nodes a CPU-second, {np.median(rates[:, k] / rates[:, 0]):.2f}x the first; {json.loads(left):.4f} mbb",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs="*")
    parser.add_argument("--case", nargs="*", choices=list(ITERATIONS), default=list(ITERATIONS))
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--work", choices=list(ITERATIONS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.work)
        return
    if len(arguments.checkouts) < 2:
        parser.error(
            f"{len(arguments.checkouts)} checkouts: expected two or more folders, such as a worktree of each commit"
        )
    for case in arguments.case:
        compare(arguments.checkouts, case, arguments.rounds)


if __name__ == "__main__":
    main()
