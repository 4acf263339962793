"""What more work buys while playing, by street and pot: `python benchmarks/search_time.py STRATEGY [--save]`.

The strategy plays itself to roots of each street. Each root is solved with shares of a mode's budget, and what is left of
its exploitability is exact on turn and river, and estimated for a flop (a best response that picks among continuations, on
runouts the solve has not seen). No gadget; one solve is looked at on its way. The second table compares the same budget for
every root with a plan, root by root: the budget times the root of the pot, that of seven big blinds being 1, from 0.5 to 2.5.
"""

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from papers.record import Cell, add_save, save, significant
from search_roots import made_by

from foldwise.abstraction.named_strategy import find_strategy
from foldwise.agent.strategy_player import OpenStrategy
from foldwise.game.arrays import Float
from foldwise.matches.scoring.turn_roots import StreetRoot, street_roots
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.flop.flop_game import FlopGame, FlopSource
from foldwise.search.modes import Budget, find_mode
from foldwise.search.ranges import TableRanges
from foldwise.search.street import BehindFlop, StreetProblem, StreetSearch
from foldwise.solver.subgame.workspace import Workspace

STREETS = {"flop": 1, "turn": 2, "river": 3}
POTS = (400, 1600, 6000)  # chips; pots are put in classes up to each, and beyond
_FLOP_BLOCKS = 1  # of 49 runouts


def class_name(number: int) -> str:
    if number == len(POTS):
        return f"over {POTS[-1]:,}"
    return f"{(0, *POTS)[number] + 1:,} to {POTS[number]:,}"


def work_by_pot(big_blinds: float) -> float:
    """The plan's share of a budget."""
    return min(max(math.sqrt(big_blinds / 7.0), 0.5), 2.5)


@dataclass
class Roots:
    """Roots of one street whose pots are in one class: how many came, and what was left of those that were solved."""

    came: int = 0
    left: list[Float] = field(default_factory=list)  # [points] mbb
    seconds: list[Float] = field(default_factory=list)  # [points] CPU


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
            budget=Budget(0.0, 1, 1),
            pipeline=Pipeline(),
            gadget=None,
            threads=self.threads,
            workspace=self.workspace,
            behind=behind,
        )

    def curve(self, root: StreetRoot, street: int, shares: Sequence[float]) -> tuple[Float, Float]:
        """[shares] exploitability in mbb a time the root is reached, and CPU-seconds, after shares of the budget."""
        start = time.process_time()
        game = StreetSearch(self.problem(root, street), lambda: None).subgame
        spent, done = time.process_time() - start, 1
        full = (self.mode.flop, self.mode.turn, self.mode.river)[street - 1].visits(game.hand_nodes_per_visit)
        left, seconds = np.zeros(len(shares)), np.zeros(len(shares))
        for at in np.argsort(shares, kind="stable"):
            visits = max(1, round(shares[at] * full))
            start = time.process_time()
            game.run(game.samples_per_visit * (visits - done))
            spent, done = spent + time.process_time() - start, visits
            seconds[at] = spent
            if isinstance(game, FlopGame):
                left[at] = game.exploitability_mbb(_FLOP_BLOCKS)
            else:
                left[at] = game.exploitability().exploitability_mbb
        return left, seconds


def measure(clock: Clock, street: str, shares: list[float], hands: int, most: int, seed: int) -> list[Roots]:
    """By class of pots; the last point is the plan's, the others are `shares`."""
    number, classes = STREETS[street], [Roots() for _ in range(len(POTS) + 1)]
    for root in street_roots((clock.table, clock.table), seed, hands, street=number):
        pot = sum(root.betting.spent)
        found = classes[sum(pot > limit for limit in POTS)]
        found.came += 1
        if len(found.left) < most:
            plan = work_by_pot(pot / clock.table.definition.big_blind)
            left, seconds = clock.curve(root, number, [*shares, plan])
            found.left.append(left)
            found.seconds.append(seconds)
    return classes


def by_hand(classes: list[Roots], hands: int, figures: list[Float]) -> tuple[float, float]:
    """The mean over hands of figures by root, from a sample of each class, and half of its 95% interval."""
    mean = variance = 0.0
    for roots, found in zip(classes, figures):
        if roots.left:
            mean += roots.came / hands * float(found.mean())
            spread = float(found.var(ddof=1)) if found.size > 1 else 0.0
            variance += (roots.came / hands) ** 2 * spread / found.size
    return mean, 1.96 * math.sqrt(variance)


def curve_rows(street: str, classes: list[Roots], shares: list[float], hands: int) -> list[list[Cell]]:
    """What is left, and what the next second buys where all of the budget was spent."""
    rows: list[list[Cell]] = []
    at, beyond = shares.index(1.0), shares.index(1.0) + 1
    for number, roots in enumerate(classes):
        if not roots.left:
            continue
        left, seconds = np.mean(roots.left, axis=0), np.mean(roots.seconds, axis=0)
        bought = (left[at] - left[beyond]) / (seconds[beyond] - seconds[at])
        row: list[Cell] = [street, class_name(number), significant(100 * roots.came / hands, 2), len(roots.left)]
        row += [significant(float(figure), 3) for figure in left[: len(shares)]]
        rows.append([*row, significant(float(seconds[at]), 2), significant(float(bought), 2)])
    return rows


def plan_row(street: str, classes: list[Roots], shares: list[float], hands: int) -> list[Cell]:
    """The plan beside the same budget for every pot."""
    flat = shares.index(1.0)

    def figures(name: str, at: int) -> list[Float]:
        return [np.array([one[at] for one in getattr(roots, name)]) for roots in classes]

    less = [before - after for before, after in zip(figures("left", flat), figures("left", -1))]
    before, after = (by_hand(classes, hands, figures("seconds", at))[0] for at in (flat, -1))
    left = by_hand(classes, hands, figures("left", flat))
    won, interval = by_hand(classes, hands, less)
    rounded = [(significant(mean, 3), significant(half, 2)) for mean, half in (left, (won, interval))]
    return [street, significant(before, 2), significant(after, 2), *rounded]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strategy")
    parser.add_argument("--mode", default="fast", help="fast, normal or deep")
    parser.add_argument("--streets", nargs="+", choices=list(STREETS), default=list(STREETS))
    parser.add_argument(
        "--shares", nargs="+", type=float, default=[0.25, 0.5, 1.0, 2.0, 4.0], help="of the budget, rising"
    )
    parser.add_argument("--hands", type=int, default=400)
    parser.add_argument("--most", type=int, default=12, help="roots solved of each street and class of pots")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", default="search_time", help="name of the records that --save writes")
    add_save(parser)
    arguments = parser.parse_args()
    opened, shares, hands = OpenStrategy(find_strategy(arguments.strategy)), arguments.shares, arguments.hands
    clock = Clock(opened, arguments.mode, arguments.threads, arguments.seed)
    rows: list[list[Cell]] = []
    plans: list[list[Cell]] = []
    for street in arguments.streets:
        classes = measure(clock, street, shares, hands, arguments.most, arguments.seed)
        found = curve_rows(street, classes, shares, hands)
        rows += found
        plans.append(plan_row(street, classes, shares, hands))
        for row in [*found, plans[-1]]:
            print(*row, sep="\t", flush=True)
    if arguments.save:
        columns = ["street", "pot, chips", "% of hands", "roots"]
        columns += [f"left with {share:g} of the budget" for share in shares]
        columns += ["CPU-s for all of it", "an extra CPU-second a hand buys, mbb/h"]
        title = (
            f"What is left of a street's exploitability, mbb a root, after shares of the budget of `{arguments.mode}`"
        )
        save(arguments.record, f"{title}; {made_by(opened)}", columns, rows, seeds=1)
        columns = [
            "street",
            "same budget: CPU-s a hand",
            "plan: CPU-s a hand",
            "same budget: left, mbb/h",
            "plan: less",
        ]
        title = f"The budget of `{arguments.mode}` for every pot, and the plan, on the same {hands} hands"
        save(f"{arguments.record}_plan", f"{title}; {made_by(opened)}", columns, plans, seeds=1)


if __name__ == "__main__":
    main()
