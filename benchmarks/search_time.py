"""What more work buys while playing, by street and pot: `python benchmarks/search_time.py STRATEGY [--save]`.

The strategy plays itself to roots of each street. Each root is solved with shares of a mode's work, and what is left of its
exploitability is exact on turn and river, and estimated for a flop (a best response that picks among continuations, on
runouts the solve has not seen). Nothing is gained where the curve is flat: the plan of `search.modes` follows these figures.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from papers.record import Cell, add_save, save, significant
from search_roots import made_by

from foldwise.agent.strategy_player import OpenStrategy
from foldwise.matches.scoring.turn_roots import StreetRoot, street_roots
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.flop.flop_game import FlopGame, FlopSource
from foldwise.search.modes import Budget, find_mode
from foldwise.search.ranges import TableRanges
from foldwise.search.street import BehindFlop, StreetProblem, StreetSearch
from foldwise.solver.subgame.workspace import Workspace

STREETS = {"flop": 1, "turn": 2, "river": 3}
POTS = (400, 1600, 6000)  # chips; pots are put in classes up to each, and beyond
_FLOP_BLOCKS = 2  # of 49 runouts


def pot_class(pot: int) -> str:
    for low, high in zip((0, *POTS), POTS):
        if pot <= high:
            return f"{low + 1:,} to {high:,}"
    return f"over {POTS[-1]:,}"


def scaled(budget: Budget, share: float) -> Budget:
    """A budget times a share, without its limits."""
    return Budget(budget.hand_nodes * share, 1, 10**6)


class Clock:
    """Solves roots of one strategy in one mode, and times it."""

    def __init__(self, opened: OpenStrategy, mode: str, threads: int, seed: int):
        self.table = opened.player(Pipeline(), seed)
        self.mode, self.threads = find_mode(mode), threads
        self.workspace = Workspace()
        self.ranges = TableRanges(self.table)
        self.flops = FlopSource(self.ranges, self.workspace, threads)

    def problem(self, root: StreetRoot, street: int) -> StreetProblem:
        behind = None
        if street == STREETS["flop"]:
            node = self.ranges.follow(root.betting, root.board, 0, root.number).node
            behind = BehindFlop(self.flops, node)
        return StreetProblem(
            root=root.betting,
            board=root.board,
            ranges=root.ranges,
            position=0,
            menu=self.mode.menu(root.betting),
            budget=self.mode.budget(street),
            pipeline=Pipeline(),
            gadget=None,
            threads=self.threads,
            workspace=self.workspace,
            behind=behind,
        )

    def solve(self, root: StreetRoot, street: int, share: float) -> tuple[float, float]:
        """Exploitability in mbb a time the root is reached, and CPU-seconds of the solve."""
        problem = self.problem(root, street)
        problem = replace(problem, budget=scaled(problem.budget, share))
        start = time.process_time()
        game = StreetSearch(problem, lambda: None).subgame
        seconds = time.process_time() - start
        if isinstance(game, FlopGame):
            return game.exploitability_mbb(_FLOP_BLOCKS), seconds
        return game.exploitability().exploitability_mbb, seconds


def measure(
    clock: Clock, street: str, shares: list[float], hands: int, most: int, seed: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Pot class of each root, and [shares, (mbb, seconds)]."""
    number = STREETS[street]
    roots = list(street_roots((clock.table, clock.table), seed, hands, street=number))
    taken: dict[str, int] = {}
    for root in roots:
        name = pot_class(sum(root.betting.spent))
        taken[name] = taken.get(name, 0) + 1
        found = None
        if taken[name] <= most:
            found = np.array([clock.solve(root, number, share) for share in shares])
        yield name, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strategy", type=Path)
    parser.add_argument("--mode", default="fast", help="fast, normal or deep")
    parser.add_argument("--streets", nargs="+", choices=list(STREETS), default=list(STREETS))
    parser.add_argument(
        "--shares", nargs="+", type=float, default=[0.25, 0.5, 1.0, 2.0, 4.0], help="of the mode's work"
    )
    parser.add_argument("--hands", type=int, default=400)
    parser.add_argument("--most", type=int, default=12, help="roots solved of each street and class of pots")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", default="search_time", help="name of the record that --save writes")
    add_save(parser)
    arguments = parser.parse_args()
    opened = OpenStrategy(arguments.strategy)
    clock = Clock(opened, arguments.mode, arguments.threads, arguments.seed)
    rows: list[list[Cell]] = []
    for street in arguments.streets:
        classes: dict[str, list[np.ndarray | None]] = {}
        for name, found in measure(clock, street, arguments.shares, arguments.hands, arguments.most, arguments.seed):
            classes.setdefault(name, []).append(found)
        for name in sorted(classes, key=lambda text: int(text.replace("over ", "").split()[0].replace(",", ""))):
            solved = np.array([found for found in classes[name] if found is not None])
            mbb, seconds = solved.mean(axis=0).T
            share = len(classes[name]) / arguments.hands
            row: list[Cell] = [street, name, significant(100 * share, 2), len(solved)]
            row += [significant(float(figure), 3) for figure in mbb]
            row += [significant(float(seconds[arguments.shares.index(1.0)]), 2)]
            rows.append(row)
            print(*row, sep="\t", flush=True)
    if arguments.save:
        columns = ["street", "pot, chips", "% of hands", "roots"]
        columns += [f"left with {share:g} of the work" for share in arguments.shares] + ["CPU-s for all of it"]
        save(
            arguments.record,
            f"What is left of a street's exploitability, mbb a root, after shares of the work of `{arguments.mode}`; "
            f"{made_by(opened)}",
            columns,
            rows,
            seeds=1,
        )


if __name__ == "__main__":
    main()
