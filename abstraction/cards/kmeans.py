"""k-means over int16 points on all cores: k-means++ seeding, restarts, exact pruning, an optional training sample.

With L1 distance over cumulative histograms this is k-means under the one-dimensional earth mover's distance; a centre
is the mean of its points, itself the cumulative histogram of their mixture.
"""

import math
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foldwise.abstraction.cards import clustering_kernels as kernels
from foldwise.abstraction.threads import Report, run_blocks

SEEDING_POINTS = 40  # points per centre in the subset for seedings, at least 20,000 in all
SMALL_GAIN = 1e-4  # stop after a pass that improves the mean distance by less (relative)


@dataclass(frozen=True)
class Clusters:
    """Result of k-means."""

    labels: NDArray[np.int32]  # [n]
    centres: NDArray[np.int16]  # [K, D]
    mean_distance: float  # weighted, over all points
    passes: int
    trained_on: int  # points; fewer than n in sampled mode


class KMeans:
    """k-means of weighted points; `euclidean` chooses L2, else L1."""

    def __init__(
        self,
        points: NDArray[np.int16],
        weights: NDArray[Any],
        num_centres: int,
        *,
        euclidean: bool,
        seed: int,
        workers: int = 0,
        report: Report | None = None,
    ) -> None:
        self.points = points
        self.weights = weights.astype(np.int64)
        self.num_centres = min(num_centres, len(points))
        self.euclidean = euclidean
        self.rng = np.random.default_rng(seed)
        self.workers = workers
        self.report = report

    def run(self, restarts: int, max_passes: int, sample: int | None = None) -> Clusters:
        """Try `restarts` seedings on a subset, carry the best through Lloyd passes over all points or the sample."""
        size = max(20_000, SEEDING_POINTS * self.num_centres)
        subset = self._draw(size)
        best: Clusters | None = None
        for _ in range(restarts):
            tried = self._lloyd(subset, self._seed(subset), min(max_passes, 10))
            if best is None or tried.mean_distance < best.mean_distance:
                best = tried
        assert best is not None
        training = self._draw(sample) if sample is not None else np.arange(len(self.points))
        trained = self._lloyd(training, best.centres, max_passes)
        if training.size == len(self.points):
            return trained
        every = np.arange(len(self.points))
        labels, distances, _ = self._assign(every, trained.centres, None, "k-means labels")
        return Clusters(labels, trained.centres, self._mean(every, distances), trained.passes, training.size)

    def label(self, centres: NDArray[np.int16]) -> NDArray[np.int32]:
        """The nearest centre of every point."""
        return self._assign(np.arange(len(self.points)), centres, None, "k-means labels")[0]

    def _draw(self, size: int) -> NDArray[np.int64]:
        """Distinct points, drawn by weight; all of them when there are not more than `size`."""
        if len(self.points) <= size:
            return np.arange(len(self.points))
        ends = np.cumsum(self.weights)
        drawn = np.searchsorted(ends, self.rng.integers(0, ends[-1], size), side="right")
        return np.asarray(np.unique(drawn))

    def _seed(self, chosen: NDArray[np.int64]) -> NDArray[np.int16]:
        """Arthur and Vassilvitskii, k-means++ (SODA 2007): the next centre is drawn by weight and squared distance."""
        points = np.ascontiguousarray(self.points[chosen])
        weights = self.weights[chosen].astype(np.float64)
        centres = np.empty((self.num_centres, points.shape[1]), np.int16)
        nearest = np.full(len(points), np.inf)
        chance = weights
        for k in range(self.num_centres):
            ends = np.cumsum(chance)
            place = int(np.searchsorted(ends, self.rng.random() * ends[-1], side="right"))
            centres[k] = points[min(place, len(points) - 1)]
            kernels.lower_distances_block(points, centres, k, self.euclidean, 0, len(points), nearest)
            chance = weights * nearest**2
            if not chance.any():  # fewer distinct points than centres
                chance = weights
        return centres

    def _lloyd(self, chosen: NDArray[np.int64], centres: NDArray[np.int16], max_passes: int) -> Clusters:
        labels, distances, _ = self._assign(chosen, centres, None)
        best = Clusters(labels.copy(), centres, self._mean(chosen, distances), 0, chosen.size)
        for number in range(1, max_passes + 1):
            centres = self._means(chosen, labels, distances)
            labels, distances, changed = self._assign(chosen, centres, labels)
            mean = self._mean(chosen, distances)
            if self.report is not None:
                self.report("k-means", number / max_passes)
            gain = best.mean_distance - mean
            if gain > 0:
                best = Clusters(labels.copy(), centres, mean, number, chosen.size)
            if changed == 0 or gain <= SMALL_GAIN * mean:
                break
        return best

    def _first_labels(self, chosen: NDArray[np.int64], centres: NDArray[np.int16]) -> NDArray[np.int32]:
        """A start for `_assign`: the nearest of a few of the centres, so that its pruning works from the first pass."""
        pivots = np.arange(0, len(centres), max(1, math.isqrt(len(centres))), dtype=np.int32)
        labels = self._nearest(chosen, np.ascontiguousarray(centres[pivots]), np.zeros(chosen.size, np.int32))[0]
        return pivots[labels]

    def _assign(
        self, chosen: NDArray[np.int64], centres: NDArray[np.int16], labels: NDArray[np.int32] | None, stage: str = ""
    ) -> tuple[NDArray[np.int32], NDArray[np.float32], int]:
        """Labels, distances, and how many labels changed from those before; progress is reported of a named stage."""
        first = self._first_labels(chosen, centres) if labels is None else labels
        return self._nearest(chosen, centres, first, stage)

    def _nearest(
        self, chosen: NDArray[np.int64], centres: NDArray[np.int16], labels: NDArray[np.int32], stage: str = ""
    ) -> tuple[NDArray[np.int32], NDArray[np.float32], int]:
        points = self._points(chosen)
        spread, neighbours = centre_order(centres, euclidean=self.euclidean)
        distances = np.empty(chosen.size, np.float32)
        changed = [0]
        lock = Lock()

        def work(first: int, last: int) -> None:
            moved = kernels.assign_block(
                points, centres, spread, neighbours, self.euclidean, first, last, labels, distances
            )
            with lock:
                changed[0] += int(moved)

        run_blocks(work, chosen.size, stage, self.report if stage else None, workers=self.workers)
        return labels, distances, changed[0]

    def _means(
        self, chosen: NDArray[np.int64], labels: NDArray[np.int32], distances: NDArray[np.float32]
    ) -> NDArray[np.int16]:
        """Mean of each centre's points; a centre without points moves to the point farthest from its own."""
        points, weights = self._points(chosen), self.weights[chosen]
        sums = np.zeros((self.num_centres, points.shape[1]), np.int64)
        totals = np.zeros(self.num_centres, np.int64)
        lock = Lock()

        def work(first: int, last: int) -> None:
            own_sums, own_totals = np.zeros_like(sums), np.zeros_like(totals)
            kernels.sum_block(points, weights, labels, first, last, own_sums, own_totals)
            with lock:
                np.add(sums, own_sums, out=sums)
                np.add(totals, own_totals, out=totals)

        run_blocks(work, chosen.size, block=max(1, chosen.size // 8), workers=self.workers)
        centres = np.rint(sums / np.maximum(totals, 1)[:, None]).astype(np.int16)
        empty = np.flatnonzero(totals == 0)
        if empty.size:
            farthest = np.argsort(-distances, kind="stable")[: empty.size]
            centres[empty] = points[farthest]
        return centres

    def _points(self, chosen: NDArray[np.int64]) -> NDArray[np.int16]:
        return self.points if chosen.size == len(self.points) else np.ascontiguousarray(self.points[chosen])

    def _mean(self, chosen: NDArray[np.int64], distances: NDArray[np.float32]) -> float:
        return float(np.average(distances, weights=self.weights[chosen]))


def nearest_labels(
    points: NDArray[np.int16], centres: NDArray[np.int16], *, euclidean: bool, report: Report | None = None
) -> NDArray[np.int32]:
    """The nearest of given centres for every point, as training on a sample ends: from integers, so the same everywhere."""
    job = KMeans(points, np.zeros(0), len(centres), euclidean=euclidean, seed=0, report=report)
    return job.label(centres)


def centre_order(centres: NDArray[Any], *, euclidean: bool) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """[K, K] distances between centres, and for each centre all of them by rising distance, for `nearest_centre`.

    Equal distances keep the order of the centres: an unstable sort orders them differently on different processors.
    """
    count = len(centres)
    spread = np.full((count, count), np.inf, np.float32)
    for row in range(count):
        kernels.lower_distances_block(centres, centres, row, euclidean, 0, count, spread[row])
    np.fill_diagonal(spread, -1.0)  # a centre is its own first neighbour, even if another centre equals it
    return spread, np.argsort(spread, axis=1, kind="stable").astype(np.int32)
