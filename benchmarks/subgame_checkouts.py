"""Two or more checkouts solving the same subgame in turns: what a change of the subgame solver is worth.

python benchmarks/subgame_checkouts.py CHECKOUT CHECKOUT... [--case turn river search] [--threads 1] [--rounds 12] [--save]

Each checkout runs in a process of its own, one at a time, so that a busy machine slows all alike; hand-nodes a CPU-second of
all threads together, the median of the ratios to the first checkout's, round by round, and the best round by the clock, which
says what several threads gain where the machine has cores for them. Exploitability is printed to show that the work was the
same; with the same bits it is the same number. `search` is what the search at the table solves: a small tree, six rivers an
iteration.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from papers.record import Cell, add_save, save
from subgame import CASES, EVERYTHING, SEARCH_BETS, limped

from foldwise.abstraction.bet_sizes import make_menu
from foldwise.game.betting import BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.library import find_definition
from foldwise.solver.subgame.subgame import Subgame

ITERATIONS = {"river": 4, "turn": 2, "search": 30}


def make_game(case: str, threads: int = 1) -> Subgame:
    if case == "search":
        state, menu = BettingState.at_street(find_definition("hunl"), 2, 300), make_menu(SEARCH_BETS, SEARCH_BETS, 1.0)
        return Subgame(state, parse_cards("Ah7d2c9s"), (EVERYTHING,) * 2, menu, threads, schedule="dcfr+", rivers=6)
    board, street, menu = next(rest for name, *rest in CASES if name == case)
    return Subgame(limped(street), parse_cards(board), (EVERYTHING,) * 2, menu, threads)


def work(case: str, threads: int) -> None:
    """In a checkout's process: a round for every line that comes, after one to compile."""
    game = make_game(case, threads)
    game.run(2)
    print("ready", flush=True)
    for _ in sys.stdin:
        before, start, clock = game.hand_nodes, time.process_time(), time.perf_counter()
        game.run(ITERATIONS[case])
        clock, cpu = time.perf_counter() - clock, time.process_time() - start
        done = game.hand_nodes - before
        print(json.dumps([done / cpu, done / clock]), flush=True)
    print(json.dumps(game.exploitability().exploitability_mbb), flush=True)


def commit_of(checkout: Path) -> str:
    found = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or checkout.name


def compare(checkouts: list[Path], case: str, threads: int, rounds: int) -> list[list[Cell]]:
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, "--work", case, "--threads", str(threads)],
            env={**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for checkout in checkouts
    ]
    for process in processes:
        process.stdout.readline()
    rates = np.zeros((rounds, len(checkouts), 2))  # by CPU time, by the clock
    for row in rates:
        for k, process in enumerate(processes):
            process.stdin.write("\n")
            process.stdin.flush()
            row[k] = json.loads(process.stdout.readline())
    rates /= 1e6
    table: list[list[Cell]] = []
    for k, (checkout, process) in enumerate(zip(checkouts, processes)):
        left, _ = process.communicate()
        by_cpu, by_clock = rates[:, k, 0], rates[:, k, 1]
        ratio = float(np.median(by_cpu / rates[:, 0, 0]))
        table.append(
            [case, commit_of(checkout), threads, round(np.median(by_cpu)), round(ratio, 2), round(by_clock.max())]
        )
        print(
            f"{case}, {checkout}, {threads} thread(s): median {np.median(by_cpu):.0f}, best {by_cpu.max():.0f} million "
            f"hand-nodes a CPU-second, {ratio:.2f}x the first; best by the clock {by_clock.max():.0f}; "
            f"{json.loads(left):.4f} mbb",
            flush=True,
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs="*")
    parser.add_argument("--case", nargs="*", choices=list(ITERATIONS), default=list(ITERATIONS))
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--work", choices=list(ITERATIONS), help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, nargs="*", default=[1])
    parser.add_argument("--record", default="subgame_checkouts", help="name of the record that --save writes")
    add_save(parser)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.work, *arguments.threads)
        return
    if len(arguments.checkouts) < 2:
        parser.error(
            f"{len(arguments.checkouts)} checkouts: expected two or more folders, such as a worktree of each commit"
        )
    rows = [
        row
        for case in arguments.case
        for threads in arguments.threads
        for row in compare(arguments.checkouts, case, threads, arguments.rounds)
    ]
    if arguments.save:
        save(
            arguments.record,
            "Commits solving the same subgame in turns, all hands in both ranges, million hand-nodes",
            ["subgame", "commit", "threads", "a CPU-second, median", "times the first", "a second, best round"],
            rows,
            seeds=None,
        )


if __name__ == "__main__":
    main()
