"""Sampling walks: nodes a second by sampler, table size and threads, and beside OpenSpiel on Leduc.

python benchmarks/sampling.py            tables up to 325 MB, about two minutes
python benchmarks/sampling.py --full     also two-nl-36's 3.2 GB
python benchmarks/sampling.py --nested 8 --precisions two-nl-28 two-nl-36      both precisions, up to 8.2 GB
python benchmarks/sampling.py --presets configs/hunl-medium.toml    these instead, with their real cards (built once)

Nodes are decisions and ends of the game, as the walks count them. The big trees are those of two-nl-K with five nested
buckets a street, dealt by a made-up joint distribution: a walk's pace depends on the tree and the table, not on the
cards, but real cards cost more to deal (`--presets`). Deals are drawn inside the clock. Tables are touched and warmed first.
Rates are the best of several short runs: by the clock, and by CPU time, which is the one to read where other programs share
the cores.
"""

import argparse
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel
from counted_game import CountedGame
from numba import njit
from papers.record import Cell, add_save, save, significant

from foldwise.abstraction.abstract_game import AbstractGame, JointSource, make_abstract_game
from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.abstraction.deals.joint_deals import SHOWDOWN_OUTCOMES, EnumeratedViews, JointDeals, enumerate_poker
from foldwise.game.library import PokerGame, find_game
from foldwise.game.primitives.rng import make_states
from foldwise.solver.config import RunConfig
from foldwise.solver.run import make_solver
from foldwise.solver.sampling.block_kernels import run_average, run_chance, run_external, run_outcome
from foldwise.solver.sampling.frames import make_frames, make_reached
from foldwise.solver.sampling.sampling_kernels import WalkOptions

OPTIONS = WalkOptions(epsilon=0.05, tau=1000.0, beta=1000.0)
RUNS = {"external": run_external, "average": run_average, "outcome": run_outcome, "chance": run_chance}
_OUR_REPEATS = 20  # of a race in which ours takes a twentieth of a second
NUM_NESTED = 5  # unless --nested says otherwise, buckets a street, each split into as many on the next


def made_up_joint(nested: int) -> JointDeals:
    """Two streets of nested buckets; the better bucket wins more often."""
    num = nested * nested
    first, second, row = (part.ravel() for part in np.mgrid[:num, :num, :3].astype(np.int32))
    buckets = np.stack([np.stack([own // nested, own], axis=1) for own in (first, second)], axis=1)
    edge = 1.0 / (1.0 + np.exp(0.5 * (second % nested - first % nested + second // nested - first // nested)))
    weight = np.choose(row, [0.97 * (1.0 - edge), np.full(edge.shape, 0.03), 0.97 * edge])
    return JointDeals(buckets.astype(np.int32), row, weight / weight.sum(), SHOWDOWN_OUTCOMES)


def poker_game(name: str, nested: int = NUM_NESTED) -> AbstractGame:
    game = find_game(name)
    assert isinstance(game, PokerGame)
    # Leduc's suits stay apart, as in OpenSpiel: 936 infosets instead of 288.
    joint = (
        enumerate_poker(EnumeratedViews(game.definition, suits_matter=True))
        if name == "leduc"
        else made_up_joint(nested)
    )
    return make_abstract_game(name, game.build_tree(), JointSource(joint), game.unit_chips)


class Bench:
    """One game's table, and walks over it by one thread or several."""

    def __init__(self, game: AbstractGame, num_threads: int, dtype: npt.DTypeLike = np.float64):
        self.game = game
        self.table = np.empty(2 * game.num_entries, dtype=dtype)
        self.table.fill(0.0)  # touched, so that no walk includes the first page faults
        self._frames = [make_frames(game) for _ in range(num_threads)]
        self._reached = [make_reached(game) for _ in range(num_threads)]
        self._states = make_states(1, num_threads)

    def run(self, sampler: str, num_walks: int, num_threads: int) -> tuple[int, float, float]:
        """Nodes, seconds by the clock, CPU seconds; deals are drawn inside the clock."""
        game, visited = self.game, [0] * num_threads

        def work(worker: int) -> None:
            nodes, outcomes, last_street = game.tree.nodes, game.deals.outcomes, game.num_streets - 1
            scratch = (self._reached if sampler == "chance" else self._frames)[worker]
            state = self._states[worker]
            buckets = np.zeros((num_walks, 2, game.num_streets), dtype=np.int32)
            rows = np.zeros(num_walks, dtype=np.int32)
            game.deals.draw(state, buckets, rows)
            visited[worker] = int(
                RUNS[sampler](nodes, self.table, buckets, rows, outcomes, last_street, OPTIONS, scratch, state)
            )

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(num_threads)]
        begin, cpu_begin = time.perf_counter(), time.process_time()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(visited), time.perf_counter() - begin, time.process_time() - cpu_begin

    def rates(self, sampler: str, num_threads: int, seconds: float, repeats: int) -> tuple[float, float]:
        """Best nodes a second: by the clock, and by CPU time."""
        num_walks = 16
        while self.run(sampler, num_walks, 1)[1] < 0.1 * seconds:
            num_walks *= 2
        num_walks *= 4
        results = [self.run(sampler, num_walks, num_threads) for _ in range(repeats)]
        return max(n / wall for n, wall, _ in results), max(n / cpu for n, _, cpu in results)


def race_openspiel(num_iterations: int, saves: bool) -> None:
    """External sampling on Leduc of 936 infosets from nothing; deals are drawn inside both clocks, nodes counted in both."""
    bench = Bench(poker_game("leduc"), 1)
    bench.run("external", 2, 1)
    our_nodes, ours = 0.0, 0.0
    for _ in range(_OUR_REPEATS):
        bench.table.fill(0.0)
        nodes, _, cpu = bench.run("external", 2 * num_iterations, 1)
        our_nodes, ours = our_nodes + nodes / _OUR_REPEATS, ours + cpu / _OUR_REPEATS
    _, theirs = _openspiel(pyspiel.load_game("leduc_poker"), num_iterations)
    counted = CountedGame("leduc_poker")
    _openspiel(counted, num_iterations)
    print(f"leduc, {bench.game.num_infosets} infosets, external sampling, {num_iterations:,} iterations")
    rows = [("foldwise", our_nodes, ours), ("OpenSpiel", counted.visits.count, theirs)]
    for name, nodes, cpu in rows:
        print(
            f"  {name:<10}{nodes / num_iterations:6.1f} nodes an iteration, {nodes / cpu / 1e6:6.2f} M nodes and "
            f"{num_iterations / cpu:,.0f} iterations a CPU-second"
        )
    print(
        f"  ratio {our_nodes / ours / (counted.visits.count / theirs):.1f} by nodes, {theirs / ours:.1f} by iterations"
    )
    if saves:
        save(
            "speed_openspiel",
            f"External sampling on Leduc of {bench.game.num_infosets} infosets, {num_iterations:,} iterations from nothing, "
            "deals inside the clock, per CPU-second of one core",
            ["solver", "nodes an iteration", "million nodes", "iterations"],
            [
                [
                    name,
                    significant(nodes / num_iterations),
                    significant(nodes / cpu / 1e6, 3),
                    round(num_iterations / cpu),
                ]
                for name, nodes, cpu in rows
            ],
            seeds=1,
        )


def _openspiel(game: "pyspiel.Game", num_iterations: int) -> tuple["pyspiel.ExternalSamplingMCCFRSolver", float]:
    """A solver after so many iterations, and the CPU-seconds they took."""
    solver = pyspiel.ExternalSamplingMCCFRSolver(game, seed=1, avg_type=pyspiel.MCCFRAverageType.SIMPLE)
    begin = time.process_time()
    for _ in range(num_iterations):
        solver.run_iteration()
    return solver, time.process_time() - begin


def race_threads(path: str, seconds: float, repeats: int) -> None:
    """A preset's own solver, deals and all: two solvers by turns, one with one thread and one with two."""
    config = read_config(Path(path), RunConfig, {"solver.sampler": "external"})
    game = build_abstract_game(config)
    solvers, best = {}, {1: 0.0, 2: 0.0}
    for threads in best:
        solver = make_solver(
            game, config.model_copy(update={"solver": config.solver.model_copy(update={"threads": threads})})
        )
        solver.advance(0)
        solver.table.fill(0.0)
        begin = time.perf_counter()
        while time.perf_counter() - begin < 10.0 * seconds:  # to a steady state
            solver.advance(1 << 14)
        solvers[threads] = solver
    for _ in range(repeats):
        for threads, solver in solvers.items():
            nodes, begin = solver.nodes, time.perf_counter()
            while time.perf_counter() - begin < seconds:
                solver.advance(1 << 14)
            best[threads] = max(best[threads], (solver.nodes - nodes) / (time.perf_counter() - begin))
    print(
        f"{game.name}, {solvers[1].table.nbytes / 1e6:.0f} MB, external sampling: {best[1] / 1e6:.2f} million nodes/s on one "
        f"thread, {best[2] / 1e6:.2f} on two ({best[2] / best[1]:.2f}x)",
        flush=True,
    )


@njit(nogil=True)  # type: ignore[untyped-decorator]  # numba has no types
def read_randomly(lines: npt.NDArray[np.uint64], count: int) -> int:  # [lines, 8]: a cache line each
    """Lines from random places, none waiting for the one before: what memory allows a walk that does nothing else."""
    place, total = np.uint64(88172645463325252), np.uint64(0)
    for _ in range(count):
        place ^= place << np.uint64(13)
        place ^= place >> np.uint64(7)
        place ^= place << np.uint64(17)
        total += lines[np.int64(((place >> np.uint64(32)) * np.uint64(len(lines))) >> np.uint64(32)), 0]
    return int(total)


def random_reads(table: npt.NDArray[Any], seconds: float, repeats: int) -> float:
    """The best rate of reading lines of a table, a CPU-second."""
    lines = table[: table.nbytes // 64 * (64 // table.itemsize)].view(np.uint64).reshape(-1, 8)
    count, best = 1 << 16, 0.0
    read_randomly(lines, 1)
    for repeat in range(repeats):
        while True:
            begin = time.process_time()
            read_randomly(lines, count)
            taken = time.process_time() - begin
            if repeat or taken > 0.5 * seconds:
                break
            count *= 2
        best = max(best, count / taken)
    return best


def race_precisions(names: list[str], nested: int, seconds: float, repeats: int, saves: bool) -> None:
    """Each game in both precisions, one after the other, on one thread, beside random reads of the same table."""
    rows: list[list[Cell]] = []
    for name in names:
        game = poker_game(name, nested)
        for dtype in ("float64", "float32"):
            bench = Bench(game, 1, dtype)
            bench.run("external", 2, 1)  # compiles
            bench.rates("external", 1, 4.0 * seconds, 1)  # warms the table to a steady state
            rate = bench.rates("external", 1, seconds, repeats)[1]
            reads = random_reads(bench.table, seconds, repeats)
            size = bench.table.nbytes / 1e6
            rows.append([f"{name}, {size:,.0f} MB, {dtype}", *(significant(one / 1e6, 3) for one in (rate, reads))])
            print(f"{rows[-1][0]}: {rows[-1][1]} million nodes, {rows[-1][2]} million lines a CPU-second", flush=True)
            del bench
    if saves:
        save(
            "speed_precisions",
            f"External sampling over made-up joint deals of {nested} nested buckets, in both precisions, one thread, beside "
            "lines of 64 bytes read from random places of the same table; millions a CPU-second",
            ["game and table", "nodes", "random lines"],
            rows,
            seeds=1,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a run, about")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--openspiel-only", action="store_true", help="stop after the race on Leduc")
    add_save(parser)
    parser.add_argument("--presets", nargs="*", help="configurations to time instead")
    parser.add_argument("--precisions", nargs="*", help="games to race in both precisions instead")
    parser.add_argument("--nested", type=int, default=NUM_NESTED, help="buckets a street")
    arguments = parser.parse_args()
    if arguments.precisions:
        race_precisions(arguments.precisions, arguments.nested, arguments.seconds, arguments.repeats, arguments.save)
        return
    if arguments.presets:
        for path in arguments.presets:
            race_threads(path, arguments.seconds, arguments.repeats)
        return
    race_openspiel(20_000, arguments.save)
    if arguments.openspiel_only:
        return
    print("\nmillions of nodes a second by the clock, and (per CPU-second)")
    print(f"{'game':<10}{'table':>9}  {'sampler':<9}{'1 thread':>10}{'2 threads':>11}{'ratio':>7}")
    external = []
    for name in ("leduc", "two-nl-24", "two-nl-28", *(("two-nl-36",) if arguments.full else ())):
        bench = Bench(poker_game(name), 2)
        for sampler in RUNS:
            bench.run(sampler, 2, 1)  # compiles
            if sampler == "external":
                bench.rates(sampler, 2, 4.0 * arguments.seconds, 1)  # warms the table to a steady state
            (one, one_cpu), (two, two_cpu) = (
                bench.rates(sampler, threads, arguments.seconds, arguments.repeats) for threads in (1, 2)
            )
            print(
                f"{name:<10}{bench.table.nbytes / 1e6:>7.1f}MB  {sampler:<9}{one / 1e6:>10.2f}{two / 1e6:>11.2f}"
                f"{two / one:>7.2f}   ({one_cpu / 1e6:.2f}, {two_cpu / 1e6:.2f})",
                flush=True,
            )
            if sampler == "external":
                size = f"{name}, {bench.table.nbytes / 1e6:.0f} MB"
                external.append([size, *(significant(rate / 1e6, 3) for rate in (one_cpu, two_cpu))])
    if arguments.save:
        save(
            "speed_made_up",
            "External sampling over made-up joint deals drawn inside the clock, million nodes a CPU-second",
            ["game and table", "1 thread", "2 threads"],
            external,
            seeds=1,
        )


if __name__ == "__main__":
    main()
