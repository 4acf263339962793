"""How close the fast earth mover's distance of potential-aware buckets is to the exact one on real hands, and its speed.

Usage: python benchmarks/potential_aware.py [--flops 4] [--clusters 200] [--pairs 200] [--save]

Hands of a few random flops; the turn's clusters are those of their own turn boards. Published over all flops with 5,000 turn
clusters (Ganzfried and Sandholm, AAAI 2014): a mean relative error of 0.150, 0.008 ms against 11.4 ms.
"""

import argparse
import time

import numpy as np
from papers.record import add_save, save, significant
from scipy.optimize import linprog

from foldwise.abstraction.cards import clustering_kernels, potential_kernels
from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.clustering import bins_of
from foldwise.abstraction.cards.hand_strength import HandStrength
from foldwise.abstraction.cards.kmeans import KMeans
from foldwise.abstraction.cards.potential import NUM_TURN_CARDS, PotentialMeans
from foldwise.game.compiled import kernel
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import PAIR_CARDS

BINS, UNIT = 30, 352
_REPEATS = 20


@kernel
def fast_distances(cells, hands, nearest, means, spread, order, targets, remaining, out):  # type: ignore[no-untyped-def]
    """The fast distance of each pair, in compiled code, as clustering computes it."""
    for n in range(out.size):
        out[n] = potential_kernels.greedy_distance(
            cells, hands[n], means[nearest[n]], spread, order, targets, remaining
        )


def exact(shares: np.ndarray, mean: np.ndarray, spread: np.ndarray) -> float:
    """By a linear program over the clusters that either side has."""
    here, there = np.flatnonzero(shares), np.flatnonzero(mean)
    equal = np.zeros((here.size + there.size, here.size * there.size))
    for i in range(here.size):
        equal[i, i * there.size : (i + 1) * there.size] = 1.0
    for j in range(there.size):
        equal[here.size + j, j :: there.size] = 1.0
    amounts = np.concatenate((shares[here], mean[there]))
    found = linprog(spread[np.ix_(here, there)].ravel(), A_eq=equal[:-1], b_eq=amounts[:-1], method="highs")
    return float(found.fun)


def real_points(num_flops: int, num_clusters: int, rng: np.random.Generator) -> PotentialMeans:
    """All hands of some flops as points over clusters of their turns."""
    flops, turns, rivers = boards(3), boards(4), boards(5)
    flop_index, turn_index = hand_index((2, 3)), hand_index((2, 4))
    rows = rng.choice(len(flops.cards), num_flops, replace=False)
    dealt = [[*flops.cards[row], card] for row in rows for card in range(52) if card not in flops.cards[row]]
    turn_rows = np.unique(hand_index((4,)).index_hands(np.array(dealt, np.uint8)))
    histograms = np.full((turn_index.size, BINS - 1), -1, np.int16)
    strengths = HandStrength().river_boards
    for row in turn_rows:
        clustering_kernels.turn_histograms_block(
            turn_index.tables, turns, rivers, PAIR_CARDS, strengths, bins_of(BINS), BINS, UNIT, row, row + 1, histograms
        )
    known = np.flatnonzero(histograms[:, 0] >= 0)
    found = KMeans(histograms[known], np.ones(known.size), num_clusters, euclidean=False, seed=1).run(1, 10, 20_000)
    labels = np.zeros(turn_index.size, np.uint8)
    labels[known] = found.labels
    cells = np.full((flop_index.size, NUM_TURN_CARDS), 255, np.uint8)
    for row in rows:
        potential_kernels.flop_cells_block(
            flop_index.tables, turn_index.tables, flops, PAIR_CARDS, labels, row, row + 1, cells
        )
    own = np.flatnonzero(cells[:, 0] < 255)
    return PotentialMeans(cells[own], np.ones(own.size), found.centres)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flops", type=int, default=4)
    parser.add_argument("--clusters", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=200)
    add_save(parser)
    given = parser.parse_args()
    rng = np.random.default_rng(1)
    points = real_points(given.flops, given.clusters, rng)
    found = points.run(50, seed=1, restarts=1, max_passes=5, sample=2000)
    print(
        f"{len(points.cells)} hands of {given.flops} flops, 50 means: {found.share_measured:.1%} of the pairs measured"
    )
    hands, nearest = rng.integers(0, len(points.cells), given.pairs), rng.integers(0, 50, given.pairs)
    scratch, fast = (np.empty(NUM_TURN_CARDS), np.empty(given.clusters)), np.empty(given.pairs)
    seconds = [0.0, 0.0]
    for _ in range(2):  # the first compiles
        start = time.process_time()
        for _ in range(_REPEATS):
            fast_distances(points.cells, hands, nearest, found.means, points.spread, points.order, *scratch, fast)
        seconds[0] = (time.process_time() - start) / _REPEATS
    start = time.process_time()
    slow = [
        exact(np.bincount(points.cells[i], minlength=given.clusters) / NUM_TURN_CARDS, found.means[k], points.spread)
        for i, k in zip(hands, nearest)
    ]
    seconds[1] = time.process_time() - start
    errors = fast / np.array(slow) - 1.0
    print(f"{given.pairs} pairs: relative error {errors.mean():.3f} (largest {errors.max():.3f})")
    quick, long = (1e3 * spent / given.pairs for spent in seconds)
    print(f"{quick:.4f} ms of CPU time, exact {long:.2f} ms")
    if given.save:
        ours = [significant(errors.mean(), 2), significant(quick, 2), significant(long, 3)]
        save(
            "speed_potential",
            f"The fast earth mover's distance beside the exact one by linear programs: {given.pairs} pairs of a hand of "
            f"{given.flops} flops and a mean, {given.clusters} turn clusters, CPU time of a pair",
            ["whose", "mean relative error", "fast, ms", "exact, ms"],
            [["ours", *ours], ["published, 5,000 turn clusters", 0.15, 0.008, 11.4]],
            seeds=1,
        )


if __name__ == "__main__":
    main()
