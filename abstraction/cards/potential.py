"""Potential-aware buckets of the flop: hands are similar if their turns are similar, not only their final strengths.

Ganzfried and Sandholm, Potential-aware imperfect-recall abstraction with earth mover's distance in
imperfect-information games (AAAI 2014): a hand is the histogram of the turn clusters its 47 turn cards lead to, and hands
are compared by the earth mover's distance between those, the ground distance being that between the turn's centres. Like
the paper we use its fast approximation. What differs: the turn's clusters are `kmeans-emd`'s; the means start
from k-means of the expected histograms of final strength, and are trained on a sample; and a bound passes over most means
without changing the answer (`potential_kernels`).

On the turn the same idea, with river clusters in the order of their strength, is `kmeans-emd` itself.
"""

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from foldwise.abstraction.cards import potential_kernels as kernels
from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.card_abstraction import StreetAbstraction
from foldwise.abstraction.cards.card_config import StreetCards
from foldwise.abstraction.cards.clustering import turn_clusters
from foldwise.abstraction.cards.hand_strength import HandStrength
from foldwise.abstraction.cards.kmeans import SMALL_GAIN, KMeans, centre_order
from foldwise.abstraction.cards.percentile import check_table
from foldwise.abstraction.threads import Report, run_blocks
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import PAIR_CARDS

if TYPE_CHECKING:
    from foldwise.abstraction.cards.card_building import Builder

NUM_TURN_CARDS = 47
TRAINING = 100_000  # flop classes the means are trained on, unless the configuration says otherwise
TURN_TRAINING = 200_000  # turn classes their clusters are trained on


@dataclass(frozen=True)
class PotentialClusters:
    """Result of potential-aware k-means."""

    labels: NDArray[np.int32]  # [n]
    means: NDArray[np.float64]  # [K, C] shares of the next street's clusters
    mean_distance: float  # weighted, over all points
    passes: int
    trained_on: int
    share_measured: float  # of all pairs of point and mean, in the last assignment; the bound spared the rest


class PotentialMeans:
    """k-means of weighted points, each the clusters (of C) its next cards lead to; clusters lie at `positions` [C, D]."""

    def __init__(
        self,
        cells: NDArray[np.uint8],
        weights: NDArray[Any],
        positions: NDArray[np.int16],
        report: Report | None = None,
    ) -> None:
        self.cells = cells
        self.weights = weights.astype(np.int64)
        self.positions = positions.astype(np.float64)
        spread, self.order = centre_order(positions, euclidean=False)
        np.fill_diagonal(spread, 0.0)
        self.spread = spread.astype(np.float64)
        self.report = report

    def run(self, num_means: int, seed: int, restarts: int, max_passes: int, sample: int) -> PotentialClusters:
        """Train on a sample drawn by weight, then find the nearest mean of every point."""
        rng = np.random.default_rng(seed)
        count = len(self.cells)
        chances = self.weights / self.weights.sum()
        chosen = np.arange(count) if count <= sample else np.sort(rng.choice(count, sample, replace=False, p=chances))
        training = np.ascontiguousarray(self.cells[chosen])
        weights = self.weights[chosen]
        first = KMeans(self._expected(training), weights, num_means, euclidean=False, seed=seed, report=self.report)
        labels = first.run(restarts, max_passes).labels
        means = self._means(training, weights, labels, first.num_centres)
        kept, best, passes = means, np.inf, 0
        for number in range(1, max_passes + 1):
            labels, distances, _ = self.assign(training, means)
            mean = float(np.average(distances, weights=weights))
            if self.report is not None:
                self.report("potential k-means", number / max_passes)
            gain, kept = best - mean, means if mean < best else kept
            best, passes = min(best, mean), number
            if gain <= SMALL_GAIN * mean:
                break
            means = self._means(training, weights, labels, len(means))
        labels, distances, share = self.assign(self.cells, kept, "potential labels")
        mean = float(np.average(distances, weights=self.weights))
        return PotentialClusters(labels, kept, mean, passes, len(chosen), share)

    def assign(
        self, cells: NDArray[np.uint8], means: NDArray[np.float64], stage: str = ""
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], float]:
        """Nearest mean of every point, its distance, and the share of all pairs that had to be measured."""
        labels, distances = np.empty(len(cells), np.int32), np.empty(len(cells))
        mean_positions = means @ self.positions
        measured = [0]
        lock = Lock()

        def work(first: int, last: int) -> None:
            count = kernels.nearest_means_block(
                cells, means, self.positions, mean_positions, self.spread, self.order, first, last, labels, distances
            )
            with lock:
                measured[0] += int(count)

        run_blocks(work, len(cells), stage, self.report if stage else None)
        return labels, distances, measured[0] / (len(cells) * len(means))

    def _expected(self, cells: NDArray[np.uint8]) -> NDArray[np.int16]:
        """[n, D] mean position of each point's clusters: on the flop, its expected histogram of final strength."""
        parts = np.array_split(cells, max(1, len(cells) // 4096))  # in parts, since every card takes D numbers
        return np.concatenate([np.rint(self.positions[part].mean(axis=1)).astype(np.int16) for part in parts])

    def _means(
        self, cells: NDArray[np.uint8], weights: NDArray[np.int64], labels: NDArray[np.int32], num_means: int
    ) -> NDArray[np.float64]:
        """The mixture of each mean's points; one without points moves to the point farthest from its own."""
        sums = np.zeros((num_means, len(self.positions)), np.int64)
        totals = np.zeros(num_means, np.int64)
        kernels.add_points(cells, weights, labels, sums, totals)
        means = sums / np.maximum(totals, 1)[:, None]
        empty = np.flatnonzero(totals == 0)
        if empty.size:
            _, distances, _ = self.assign(cells, means[totals > 0])
            for place, point in zip(empty, np.argsort(-distances, kind="stable")):
                means[place] = np.bincount(cells[point], minlength=len(self.positions)) / cells.shape[1]
        return means


def kmeans_potential_buckets(builder: "Builder", street: int, cards: StreetCards) -> StreetAbstraction:
    """Buckets of the flop by the turn clusters its turn cards lead to."""
    return flop_potential(builder.strength, cards)


def flop_potential(strength: HandStrength, cards: StreetCards) -> StreetAbstraction:
    """Potential-aware k-means of the flop classes over `bins` clusters of the turn."""
    assert cards.buckets is not None
    check_table(cards.buckets)
    turn = turn_clusters(
        strength, StreetCards(method="kmeans-emd", buckets=cards.bins, sample=TURN_TRAINING, seed=cards.seed)
    )
    cells = flop_cells(strength, turn.labels.astype(np.uint8))
    found = PotentialMeans(cells, strength.masses(1), turn.centres, strength.report).run(
        cards.buckets, cards.seed, cards.restarts, cards.max_passes, cards.sample or TRAINING
    )
    note = f"sampled: k-means trained on {found.trained_on} of {len(cells)} classes"
    return StreetAbstraction("table", cards.buckets, (2, 3), table=found.labels.astype(np.uint16), note=note)


def flop_cells(strength: HandStrength, turn_labels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """[1286792, 47] the turn cluster behind each turn card of every flop class; `turn_labels` by turn class."""
    flop, turn, rows = hand_index((2, 3)), hand_index((2, 4)), boards(3)
    cells = np.empty((flop.size, NUM_TURN_CARDS), np.uint8)

    def work(first: int, last: int) -> None:
        kernels.flop_cells_block(flop.tables, turn.tables, rows, PAIR_CARDS, turn_labels, first, last, cells)

    run_blocks(work, len(rows.cards), "turn clusters of flops", strength.report)
    return cells
