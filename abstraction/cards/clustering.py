"""Buckets by k-means: histograms of final strength under earth mover's distance (flop, turn), OCHS features (river).

Together the KE-KO abstraction of Johanson, Burch, Valenzano and Bowling, Evaluating state-space abstractions in
extensive-form games (AAMAS 2013). Within public flop clusters each cluster is grouped by itself; bucket numbers are
cluster * buckets + label.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from foldwise.abstraction.cards import clustering_kernels as kernels
from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.card_abstraction import StreetAbstraction, Trained
from foldwise.abstraction.cards.card_config import StreetCards
from foldwise.abstraction.cards.hand_strength import STRENGTH_UNIT, HandStrength
from foldwise.abstraction.cards.kmeans import Clusters, KMeans, centre_order, nearest_labels
from foldwise.abstraction.cards.percentile import check_table, flop_table
from foldwise.abstraction.threads import run_blocks
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS

if TYPE_CHECKING:
    from foldwise.abstraction.cards.card_building import Builder

NUM_OPPONENT_GROUPS = 8
OCHS_TRAINING = 500_000  # hands the river's k-means is trained on, unless the configuration says otherwise
_FLOP_UNIT = 15  # of 1,081 run-outs: cumulative counts reach 16,215 of int16's 32,767
_TURN_UNIT = 352  # of 46
_BLOCK = 64  # river boards worked on at a time


def flop_histograms(strength: HandStrength, bins: int) -> NDArray[np.int16]:
    """[1286792, bins - 1] cumulative histogram of final strength of every flop class, without the constant end."""
    return _histograms(strength, bins, 3, kernels.flop_histograms_block, _FLOP_UNIT)


def turn_histograms(strength: HandStrength, bins: int) -> NDArray[np.int16]:
    """[13960050, bins - 1] the same on the turn, boards unordered."""
    return _histograms(strength, bins, 4, kernels.turn_histograms_block, _TURN_UNIT)


def _histograms(strength: HandStrength, bins: int, size: int, block_kernel: Any, unit: int) -> NDArray[np.int16]:
    index, rows, rivers, strengths = hand_index((2, size)), boards(size), boards(5), strength.river_boards
    out = np.empty((index.size, bins - 1), np.int16)
    bin_of = bins_of(bins)

    def work(first: int, last: int) -> None:
        block_kernel(index.tables, rows, rivers, PAIR_CARDS, strengths, bin_of, bins, unit, first, last, out)

    run_blocks(work, len(rows.cards), "histograms", strength.report)
    return out


def bins_of(bins: int) -> NDArray[np.int64]:
    """[1981] the bin of each final strength: equal widths, a strength of 1 in the last."""
    return np.minimum(np.arange(STRENGTH_UNIT + 1) * bins // STRENGTH_UNIT, bins - 1)


def preflop_histograms(strength: HandStrength, bins: int) -> NDArray[np.int64]:
    """[169, bins] run-outs of every preflop class by the bin of the final strength."""
    classes = hand_index((2,)).index_hands(PAIR_CARDS)
    counts = np.zeros((hand_index((2,)).size, bins), np.int64)
    kernels.preflop_histograms(boards(5), PAIR_CARDS, classes, strength.river_boards, bins_of(bins), counts)
    return counts


def opponent_groups(strength: HandStrength) -> NDArray[np.int64]:
    """[1326] the group (0 weakest to 7) of each opponent hand: k-means of preflop histograms under EMD."""
    counts = preflop_histograms(strength, 50)
    cumulative = np.cumsum(counts, axis=1)[:, :-1] / counts.sum(axis=1, keepdims=True)
    points = np.rint(cumulative * 16_000).astype(np.int16)
    found = KMeans(points, strength.masses(0), NUM_OPPONENT_GROUPS, euclidean=False, seed=1, workers=1).run(50, 100)
    mean = [np.average(strength.values(0, "hs")[found.labels == g]) for g in range(NUM_OPPONENT_GROUPS)]
    by_strength = np.argsort(np.argsort(mean))
    return np.asarray(by_strength[found.labels][hand_index((2,)).index_hands(PAIR_CARDS)], np.int64)


def kmeans_emd_buckets(builder: "Builder", street: int, cards: StreetCards) -> StreetAbstraction:
    """By histograms of final strength, on the flop and the turn."""
    make = flop_emd if street == 1 else turn_emd
    return make(builder.strength, cards, builder.clusters, builder.trained.get(street))


def kmeans_ochs_buckets(builder: "Builder", street: int, cards: StreetCards) -> StreetAbstraction:
    """By strength against groups of opponents, on the river."""
    return river_ochs(builder.strength, cards, builder.clusters, builder.trained.get(street))


def flop_emd(
    strength: HandStrength,
    cards: StreetCards,
    clusters: NDArray[np.uint16] | None = None,
    trained: Trained | None = None,
) -> StreetAbstraction:
    """k-means of the flop classes, alone or within each public cluster."""
    assert cards.buckets is not None
    points = flop_histograms(strength, cards.bins)
    if clusters is None:
        return _labelled(points, 1, cards, strength, trained)
    masses = strength.masses(1)
    num_clusters, buckets = int(clusters.max()) + 1, cards.buckets
    check_table(buckets * num_clusters)
    cluster_of = flop_table(np.broadcast_to(clusters[:, None], (clusters.size, NUM_PAIRS)))
    table = np.empty(masses.size, np.uint16)

    def work(first: int, last: int) -> None:
        for cluster in range(first, last):
            own = np.flatnonzero(cluster_of == cluster)
            found = _emd(np.ascontiguousarray(points[own]), masses[own], cards, strength, cluster, workers=1)
            table[own] = cluster * buckets + found.labels

    run_blocks(work, num_clusters, "flop within clusters", strength.report, block=1)
    note = "" if cards.sample is None else f"sampled: k-means trained on at most {cards.sample} classes a cluster"
    return StreetAbstraction("table", cards.buckets * num_clusters, (2, 3), table=table, note=note)


def turn_clusters(strength: HandStrength, cards: StreetCards) -> Clusters:
    """k-means of the turn classes, boards unordered."""
    return _emd(turn_histograms(strength, cards.bins), strength.masses(2), cards, strength)


def turn_emd(
    strength: HandStrength,
    cards: StreetCards,
    clusters: NDArray[np.uint16] | None = None,
    trained: Trained | None = None,
) -> StreetAbstraction:
    """k-means of the turn classes; within public clusters the order of flop and turn matters."""
    assert cards.buckets is not None
    if clusters is None:
        return _labelled(turn_histograms(strength, cards.bins), 2, cards, strength, trained)
    num_clusters, buckets = int(clusters.max()) + 1, cards.buckets
    check_table(buckets * num_clusters)
    points = turn_histograms(strength, cards.bins)
    unordered, ordered, flops = hand_index((2, 4)), hand_index((2, 3, 1)), boards(3)
    table = np.empty(ordered.size, np.uint16)

    def work(first: int, last: int) -> None:
        for cluster in range(first, last):
            rows = np.flatnonzero(clusters == cluster)
            weights = np.zeros(unordered.size, np.uint32)
            kernels.mark_turn_classes(unordered.tables, flops, rows, PAIR_CARDS, weights)
            own = np.flatnonzero(weights)
            found = _emd(points[own], weights[own], cards, strength, cluster, workers=1)
            bucket_by_class = np.zeros(unordered.size, np.uint16)
            bucket_by_class[own] = cluster * buckets + found.labels
            kernels.write_turn_buckets(
                unordered.tables, ordered.tables, flops, rows, PAIR_CARDS, bucket_by_class, table
            )

    run_blocks(work, num_clusters, "turn within clusters", strength.report, block=1)
    note = "" if cards.sample is None else f"sampled: k-means trained on at most {cards.sample} classes a cluster"
    return StreetAbstraction("table", cards.buckets * num_clusters, (2, 3, 1), table=table, note=note)


def river_ochs(
    strength: HandStrength,
    cards: StreetCards,
    clusters: NDArray[np.uint16] | None = None,
    trained: Trained | None = None,
) -> StreetAbstraction:
    """k-means of OCHS vectors of the river classes, trained on a sample.

    Within public clusters a class keeps its vector and looks for the nearest of its cluster's centres when asked.
    """
    assert cards.buckets is not None
    index, rivers = hand_index((2, 5)), boards(5)
    groups = opponent_groups(strength) if trained is None else trained.groups.astype(np.int64)
    rng = np.random.default_rng(cards.seed)
    training = cards.sample or OCHS_TRAINING
    note = f"sampled: k-means trained on {training} of {index.size} classes"
    every = np.arange(len(rivers.cards))
    if clusters is None:
        check_table(cards.buckets)
        if trained is None:
            rows = rng.choice(every, max(1, training // 100), p=rivers.orbits / rivers.orbits.sum())
            centres = _ochs_centres(groups, rows, training, cards, strength, rng)
        else:
            centres = trained.centres.astype(np.uint8)
        order = centre_order(centres, euclidean=True)
        table = np.empty(index.size, np.uint16)

        def label(first: int, last: int) -> None:
            rows = every[first:last]
            vectors = _ochs(groups, rows).reshape(-1, NUM_OPPONENT_GROUPS)
            kernels.label_ochs(index.tables, rivers, rows, PAIR_CARDS, vectors, centres, *order, table)

        run_blocks(label, every.size, "river OCHS", strength.report, block=_BLOCK)
        kept = centres.astype(np.int16), groups.astype(np.uint8)
        return StreetAbstraction(
            "table", cards.buckets, (2, 5), "none", table, note=note, trained=kept[0], groups=kept[1]
        )

    num_clusters = int(clusters.max()) + 1
    features = np.empty((index.size, NUM_OPPONENT_GROUPS), np.uint8)

    def write(first: int, last: int) -> None:
        rows = every[first:last]
        kernels.ochs_classes(index.tables, rivers, rows, PAIR_CARDS, _ochs(groups, rows), features)

    run_blocks(write, every.size, "river OCHS", strength.report, block=_BLOCK)
    all_centres = np.zeros((num_clusters, cards.buckets, NUM_OPPONENT_GROUPS), np.uint8)
    for cluster in range(num_clusters):
        rows = _river_rows(np.flatnonzero(clusters == cluster), max(1, training // 100), rng)
        found = _ochs_centres(groups, rows, training, cards, strength, rng)
        all_centres[cluster] = found[np.arange(cards.buckets) % len(found)]
    note = f"sampled: k-means trained on {training} river hands a cluster"
    return StreetAbstraction(
        "nearest", cards.buckets * num_clusters, (2, 5), "cluster", features=features, centres=all_centres, note=note
    )


def _river_rows(flop_rows: NDArray[np.int64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Rows of random river boards whose flop is one of `flop_rows`."""
    flops, index = boards(3), hand_index((5,))
    chances = flops.orbits[flop_rows] / flops.orbits[flop_rows].sum()
    dealt = np.empty((count, 5), np.uint8)
    for i, row in enumerate(rng.choice(flop_rows, count, p=chances)):
        rest = np.setdiff1d(np.arange(52), flops.cards[row])
        dealt[i] = [*flops.cards[row], *rng.choice(rest, 2, replace=False)]
    return index.index_hands(dealt)


def _ochs(groups: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.uint8]:
    """[rows, 1326, 8] strength against each opponent group, 0 to 255, on river boards."""
    out = np.empty((rows.size, NUM_PAIRS, NUM_OPPONENT_GROUPS), np.uint8)
    kernels.ochs_block(evaluator_tables(), boards(5), rows, PAIR_CARDS, groups, NUM_OPPONENT_GROUPS, 0, rows.size, out)
    return out


def _ochs_centres(
    groups: NDArray[np.int64],
    rows: NDArray[np.int64],
    training: int,
    cards: StreetCards,
    strength: HandStrength,
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """Centres from about `training` random hands on the boards `rows`."""
    assert cards.buckets is not None
    each = -(-training // rows.size)
    parts = []
    for start in range(0, rows.size, 1000):
        some = rows[start : start + 1000]
        vectors = _ochs(groups, some)
        for i, row in enumerate(some):
            live = np.flatnonzero(~np.isin(PAIR_CARDS, boards(5).cards[row]).any(axis=1))
            parts.append(vectors[i, rng.choice(live, min(each, live.size), replace=False)])
    points = np.concatenate(parts).astype(np.int16)
    job = KMeans(points, np.ones(len(points)), cards.buckets, euclidean=True, seed=cards.seed, report=strength.report)
    return job.run(cards.restarts, cards.max_passes).centres.astype(np.uint8)


def _emd(
    points: NDArray[np.int16],
    weights: NDArray[Any],
    cards: StreetCards,
    strength: HandStrength,
    stream: int = 0,
    workers: int = 0,
) -> Clusters:
    assert cards.buckets is not None
    report = strength.report if workers != 1 else None
    seed = cards.seed + 1_000_003 * stream
    job = KMeans(points, weights, cards.buckets, euclidean=False, seed=seed, workers=workers, report=report)
    return job.run(cards.restarts, cards.max_passes, cards.sample)


def _labelled(
    points: NDArray[np.int16], street: int, cards: StreetCards, strength: HandStrength, trained: Trained | None
) -> StreetAbstraction:
    """Every class of a street by the nearest centre, of those given or of those trained now."""
    assert cards.buckets is not None
    check_table(cards.buckets)
    if trained is None:
        found = _emd(points, strength.masses(street), cards, strength)
        labels, centres, note = found.labels, found.centres, _note(found)
    else:
        labels = nearest_labels(points, trained.centres, euclidean=False, report=strength.report)
        centres, note = trained.centres, trained.note
    shape = (2, 3) if street == 1 else (2, 4)
    table = labels.astype(np.uint16)
    return StreetAbstraction("table", cards.buckets, shape, table=table, note=note, trained=centres)


def _note(found: Clusters) -> str:
    if found.trained_on == found.labels.size:
        return ""
    return f"sampled: k-means trained on {found.trained_on} of {found.labels.size} classes"
