"""Public flop clusters of a hierarchical abstraction: Brown, Ganzfried and Sandholm (AAMAS 2015), algorithms 1 to 3.

Flops are alike when their hands fall into the same buckets of a fine base abstraction. Clusters are reassigned in
place, the sums of distances updated after every move and no cluster emptied; the printed version moves all flops at
once, and on the real flops they all end in one cluster (docs/deviations.md). Within each cluster, buckets are made by
the methods of `buckets` and `clustering`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foldwise.abstraction.cards import hierarchical_kernels as kernels
from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.card_config import PublicClusters, StreetCards
from foldwise.abstraction.cards.clustering import flop_emd
from foldwise.abstraction.cards.hand_strength import HandStrength
from foldwise.abstraction.cards.percentile import flop_class_rows
from foldwise.abstraction.threads import run_blocks

HANDS_PER_FLOP = 1176  # C(49, 2)


@dataclass(frozen=True)
class Clustering:
    """Clusters of public states."""

    labels: NDArray[np.int64]  # [M]
    passes: int
    settled: bool  # nothing moved in the last pass


def transition_table(buckets: NDArray[np.int64], num_buckets: int) -> NDArray[np.uint16]:
    """[M, B] how many private states each public state sends to each base bucket; `buckets` [M, private], -1: none."""
    table = np.zeros((len(buckets), num_buckets), np.uint16)
    for row, own in enumerate(buckets):
        table[row] = np.bincount(own[own >= 0], minlength=num_buckets)
    return table


def public_distances(transitions: NDArray[np.uint16], num_private: int) -> NDArray[np.int64]:
    """[M, M] algorithm 2: V - sum over buckets of min(T[i][b], T[j][b]).

    The paper divides by V; whole numbers keep the sums of distances, and ties among them, exact.
    """
    out = np.empty((len(transitions), len(transitions)), np.int64)

    def work(first: int, last: int) -> None:
        kernels.distance_block(transitions, num_private, first, last, out)

    run_blocks(work, len(transitions), block=16)
    return out


def seed_clusters(distances: NDArray[np.int64], num_clusters: int, seed: int) -> NDArray[np.int64]:
    """[M] first clusters: k-means++ centres by squared pairwise distance, each state to the nearest centre."""
    rng = np.random.default_rng(seed)
    centres = [int(rng.integers(len(distances)))]
    nearest = distances[centres[0]].astype(np.float64)
    while len(centres) < num_clusters:
        chances = nearest**2
        chances[centres] = 0.0
        if not chances.any():  # all remaining states equal a centre
            chances = np.ones(len(distances))
            chances[centres] = 0.0
        centres.append(int(rng.choice(len(distances), p=chances / chances.sum())))
        nearest = np.minimum(nearest, distances[centres[-1]])
    labels: NDArray[np.int64] = np.argmin(distances[:, centres], axis=1)
    labels[centres] = np.arange(num_clusters)  # a centre keeps its own cluster, even if another centre equals it
    return labels


def cluster_in_place(
    distances: NDArray[np.int64], labels: NDArray[np.int64], max_passes: int = 100, objective: str = "sum"
) -> Clustering:
    """Algorithm 3, moves taking effect at once: each state to the cluster with the least sum (or mean) of distances."""
    labels = labels.copy()
    num_clusters = int(labels.max()) + 1
    sums = np.empty((len(labels), num_clusters), np.int64)
    kernels.cluster_sums(distances, labels, sums)
    sizes = np.bincount(labels, minlength=num_clusters)
    for number in range(1, max_passes + 1):
        if kernels.reassign_in_place(distances, labels, sums, sizes, objective == "mean") == 0:
            return Clustering(labels, number, True)
    return Clustering(labels, max_passes, False)


def cluster_at_once(distances: NDArray[np.int64], labels: NDArray[np.int64], max_passes: int = 100) -> Clustering:
    """Algorithm 3 as printed, all states moving together. Kept to show that it collapses."""
    num_clusters = int(labels.max()) + 1
    sums = np.empty((len(labels), num_clusters), np.int64)
    for number in range(1, max_passes + 1):
        kernels.cluster_sums(distances, labels, sums)
        moved = np.empty_like(labels)
        if kernels.reassign_at_once(sums, labels, moved) == 0:
            return Clustering(labels, number, True)
        labels = moved
    return Clustering(labels, max_passes, False)


def base_distances(strength: HandStrength, config: PublicClusters) -> NDArray[np.int64]:
    """[1755, 1755] distances of the flops under a k-means base abstraction of `base_buckets` flop buckets."""
    base = flop_emd(
        strength,
        StreetCards(
            method="kmeans-emd",
            buckets=config.base_buckets,
            bins=config.bins,
            restarts=1,
            max_passes=10,
            seed=config.seed,
        ),
    )
    classes = flop_class_rows()
    buckets = np.where(classes >= 0, base.table[classes].astype(np.int64), -1)
    return public_distances(transition_table(buckets, config.base_buckets), HANDS_PER_FLOP)


def public_clusters(strength: HandStrength, config: PublicClusters) -> NDArray[np.uint16]:
    """[1755] public cluster of every suit-distinct flop."""
    distances = base_distances(strength, config)
    assert len(distances) == len(boards(3).cards)
    first = seed_clusters(distances, config.clusters, config.seed)
    return cluster_in_place(distances, first, config.max_passes, config.objective).labels.astype(np.uint16)
