"""Full-width DCFR on a river and a turn without card abstraction: hand-nodes a second, and what each idea is worth.

python benchmarks/subgame.py [--seconds S] [--threads 1 2]

A hand-node is a public node visited with all hands of the traverser, counted once for each hand. Both ranges hold every
hand. Rates are by the clock, and by CPU time for a machine that does other things too: there two threads count half of
what they use together. The best of several runs counts. Bandwidth is a copy of arrays larger than the cache, read plus
written.

Then, in turns in one run so that a busy machine slows both: small subtrees walked level by level with their ends in lanes,
against the same walk depth first with one end at a time. And how near a turn comes to equilibrium for the same work, by
rivers sampled an iteration.
"""

import argparse
import time

import numpy as np

from foldwise.abstraction.bet_sizes import make_menu
from foldwise.game.betting import BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.hands.hole_cards import NUM_PAIRS
from foldwise.game.library import find_definition
from foldwise.game.trees.tree import ALL_IN, BetMenu, pot_size
from foldwise.solver.subgame.subgame import Subgame

CASES = (
    ("river", "Ah7d2c9s4h", 3, BetMenu.same_everywhere([pot_size(0.5), pot_size(1.0), ALL_IN], 4)),
    ("turn", "Ah7d2c9s", 2, BetMenu.same_everywhere([pot_size(1.0), ALL_IN], 4)),
)
SEARCH_BETS = ("f c", "f c", "f c 1p | f c 1p | f c a", "f c 1p | f c 1p | f c")
EVERYTHING = np.ones(NUM_PAIRS)


def limped(street: int) -> BettingState:
    """The smallest pot with the deepest stacks, so the largest trees."""
    return BettingState.at_street(find_definition("hunl"), street, 100)


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


def depth_first(game: Subgame) -> Subgame:
    """The same game without blocks: every end is settled by itself."""
    pieces, tasks = game._pieces, game._tasks
    blocks = pieces.blocks._replace(
        number=np.full_like(pieces.blocks.number, -1), of_leaf=np.full_like(pieces.blocks.of_leaf, -1)
    )
    runs, start = [], [0]  # a walk depth first takes one leaf at a time
    for first, last in zip(tasks.start[:-1], tasks.start[1:]):
        for piece in tasks.pieces[first:last].tolist():
            runs.extend([leaf, leaf + 1, *piece[2:]] for leaf in range(piece[0], piece[1]))
        start.append(len(runs))
    game._pieces = pieces._replace(blocks=blocks)
    game._tasks = game._sampled_tasks = tasks._replace(
        pieces=np.array(runs, dtype=np.int32), start=np.array(start, dtype=np.int32)
    )
    return game


def compare_walks(name: str, board: str, street: int, menu: BetMenu, rounds: int) -> None:
    """CPU time of two iterations each, in turns; the medians of rates and of their ratios."""
    games = [Subgame(limped(street), parse_cards(board), (EVERYTHING, EVERYTHING), menu) for _ in range(2)]
    depth_first(games[0])
    found = []
    for _ in range(rounds + 1):
        pair = []
        for game in games:
            before, start = game.hand_nodes, time.process_time()
            game.run(2)
            pair.append((game.hand_nodes - before) / (time.process_time() - start))
        found.append(pair)
    one, lanes = np.median(found[1:], axis=0)
    ratio = float(np.median([pair[1] / pair[0] for pair in found[1:]]))
    print(
        f"{name}, in turns: depth first {one / 1e6:.0f}, blocks with lanes {lanes / 1e6:.0f} million hand-nodes a "
        f"CPU-second, {ratio:.2f}x",
        flush=True,
    )


def compare_samples(work: tuple[int, ...]) -> None:
    """Exploitability in per cent of the pot after the work of so many iterations over all rivers."""
    menu = make_menu(SEARCH_BETS, SEARCH_BETS, 1.0)
    for pot in (200, 600):
        for schedule in ("dcfr", "dcfr+"):
            for rivers in (48, 24, 12, 8, 6, 4):
                state = BettingState.at_street(find_definition("hunl"), 2, pot // 2)
                game = Subgame(
                    state, parse_cards("Ah7d2c9s"), (EVERYTHING,) * 2, menu, schedule=schedule, rivers=rivers
                )
                found = []
                for iterations in work:
                    game.run(iterations * game.samples_per_visit - game.iteration)
                    found.append(game.exploitability().exploitability_mbb / 1000.0 * 100.0 / pot * 100.0)
                print(
                    f"turn, pot {pot}, {schedule:<5} {rivers:>2} rivers at a time, after {work}: "
                    + " / ".join(f"{percent:.2f}" for percent in found)
                    + f"% of the pot, {game.hand_nodes / 1e6:.0f} million hand-nodes",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--work", type=int, nargs="*", default=[10, 20, 40])
    arguments = parser.parse_args()
    print(f"memory copy {bandwidth():.1f} GB/s")
    for name, board, street, menu in CASES:
        found = []
        for threads in arguments.threads:
            game = Subgame(limped(street), parse_cards(board), (EVERYTHING, EVERYTHING), menu, threads)
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
        compare_walks(name, board, street, menu, rounds=max(3, int(2 * arguments.seconds)))
    if arguments.work:
        compare_samples(tuple(arguments.work))


if __name__ == "__main__":
    main()
