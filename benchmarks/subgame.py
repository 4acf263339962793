"""Full-width DCFR on a river and a turn without card abstraction: hand-nodes a second beside memory bandwidth.

python benchmarks/subgame.py [--seconds S] [--threads 1 2]

A hand-node is a public node visited with all hands of the traverser, counted once for each hand. Both ranges hold every
hand. Rates are by the clock, and by CPU time for a machine that does other things too: there two threads count half of
what they use together. The best of several runs counts. Bandwidth is a copy of arrays larger than the cache, read plus
written.
"""

import argparse
import time

import numpy as np

from foldwise.game.betting import CALL, Action, BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.hole_cards import NUM_PAIRS
from foldwise.game.library import find_definition
from foldwise.game.tree import ALL_IN, BetMenu, pot_size
from foldwise.solver.subgame.subgame import Subgame

CASES = (
    ("river", "Ah7d2c9s4h", 3, BetMenu.same_everywhere([pot_size(0.5), pot_size(1.0), ALL_IN], 4)),
    ("turn", "Ah7d2c9s", 2, BetMenu.same_everywhere([pot_size(1.0), ALL_IN], 4)),
)


def checked_to(street: int) -> BettingState:
    """Called before the flop, checked since: the deepest stacks, so the largest trees."""
    state = BettingState(find_definition("hunl"))
    while state.round < street:
        state.apply(Action(CALL))
    return state


def bandwidth() -> float:
    """GB/s of a large copy, read and written."""
    source = np.ones(1 << 25, dtype=np.float32)
    target = np.empty_like(source)
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - start)
    return 2 * source.nbytes / best / 1e9


def rates(game: Subgame, seconds: float, threads: int) -> tuple[float, float]:
    """Best hand-nodes a second over runs of a fifth of the time each: by the clock, and by CPU time."""
    game.run(2)
    by_clock = by_cpu = 0.0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        before, start, cpu = game.hand_nodes, time.perf_counter(), time.process_time()
        while time.perf_counter() - start < seconds / 5:
            game.run(2)
        done = game.hand_nodes - before
        by_clock = max(by_clock, done / (time.perf_counter() - start))
        by_cpu = max(by_cpu, done * threads / (time.process_time() - cpu))
    return by_clock, by_cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    arguments = parser.parse_args()
    print(f"memory copy {bandwidth():.1f} GB/s")
    everything = np.ones(NUM_PAIRS)
    for name, board, street, menu in CASES:
        found = []
        for threads in arguments.threads:
            game = Subgame(checked_to(street), parse_cards(board), (everything, everything), menu, threads)
            found.append(rates(game, arguments.seconds, threads))
            clock, cpu = found[-1]
            result = game.exploitability()
            print(
                f"{name}, {len(game.nodes):,} nodes, {game.num_bytes / 1e6:.0f} MB, {threads} thread(s): "
                f"{clock / 1e6:.0f} million hand-nodes/s, {cpu / 1e6:.0f} by CPU time; after {game.iteration} iterations "
                f"{result.exploitability_mbb:.2f} mbb",
                flush=True,
            )
        if len(found) > 1:
            ratios = [last / first for first, last in zip(found[0], found[-1])]
            print(f"{name}: {arguments.threads[-1]} threads are {ratios[0]:.2f}x, by CPU time {ratios[1]:.2f}x as fast")


if __name__ == "__main__":
    main()
