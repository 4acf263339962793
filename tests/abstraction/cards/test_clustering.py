"""k-means, histograms and OCHS against plain enumeration; public clusters against a plain reading of the paper."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from foldwise.abstraction.cards import clustering_kernels as kernels
from foldwise.abstraction.cards import hand_strength_kernels, hierarchical
from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.clustering import bins_of
from foldwise.abstraction.cards.hand_strength import STRENGTH_UNIT
from foldwise.abstraction.cards.kmeans import KMeans, centre_order
from foldwise.game.cards import parse_cards
from foldwise.game.hands.evaluator import evaluator_tables, rank_pairs
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS


def random_points(num_points, dimensions, seed):
    rng = np.random.default_rng(seed)
    return np.sort(rng.integers(0, 1000, (num_points, dimensions)), axis=1).astype(np.int16), rng.integers(
        1, 25, num_points
    )


@pytest.mark.parametrize("euclidean", [False, True])
def test_kmeans_labels_are_the_nearest_centres(euclidean):
    points, weights = random_points(3000, 8, seed=1)
    found = KMeans(points, weights, 12, euclidean=euclidean, seed=1).run(2, 50)
    gaps = points[:, None, :].astype(float) - found.centres[None]
    distances = np.sqrt((gaps**2).sum(axis=2)) if euclidean else np.abs(gaps).sum(axis=2)
    nearest = distances.min(axis=1)
    assert distances[np.arange(len(points)), found.labels] == pytest.approx(nearest, abs=1e-3)
    assert found.mean_distance == pytest.approx(np.average(nearest, weights=weights), rel=1e-5)
    assert len(set(found.labels.tolist())) == 12
    one = np.abs(points - np.average(points, axis=0, weights=weights))
    assert found.mean_distance < 0.8 * np.average(one.sum(axis=1), weights=weights)


def test_kmeans_finds_separate_groups():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 5, 2000)
    points = (truth[:, None] * 3000 + rng.integers(0, 100, (2000, 6))).astype(np.int16)
    found = KMeans(points, np.ones(2000), 5, euclidean=False, seed=3).run(5, 50)
    assert len({(a, b) for a, b in zip(truth.tolist(), found.labels.tolist())}) == 5


def test_kmeans_is_repeatable_and_samples():
    points, weights = random_points(30_000, 5, seed=4)
    runs = [KMeans(points, weights, 7, euclidean=False, seed=5).run(2, 10, sample=2000) for _ in range(2)]
    assert (runs[0].labels == runs[1].labels).all() and (runs[0].centres == runs[1].centres).all()
    assert runs[0].trained_on <= 2000 < runs[0].labels.size == 30_000
    gaps = np.abs(points[:, None, :].astype(int) - runs[0].centres[None]).sum(axis=2)
    assert (gaps[np.arange(len(points)), runs[0].labels] == gaps.min(axis=1)).all()


def test_kmeans_with_fewer_points_than_centres():
    points = np.array([[0, 0], [0, 0], [9, 9]], np.int16)
    found = KMeans(points, np.ones(3), 5, euclidean=True, seed=1).run(1, 5)
    assert found.mean_distance == 0 and found.labels[0] == found.labels[1] != found.labels[2]


def test_l1_of_cumulative_histograms_is_the_earth_movers_distance():
    rng = np.random.default_rng(6)
    histograms = rng.multinomial(46, np.full(10, 0.1), size=2)
    cumulative = np.cumsum(histograms, axis=1)[:, :-1].astype(np.int16)
    ours = kernels.distance_between(cumulative, cumulative, 0, 1, False) / 46
    assert ours == pytest.approx(wasserstein_distance(np.arange(10), np.arange(10), *histograms))


@pytest.fixture(scope="module")
def one_flop():
    """Real strengths on all run-outs of one flop; zeros elsewhere."""
    flop = boards(3).cards[1234].tolist()
    rest = sorted(set(range(52)) - set(flop))
    runouts = np.array([(*flop, a, b) for a in rest for b in rest if a < b], np.uint8)
    strengths = np.zeros((len(boards(5).cards), NUM_PAIRS), np.uint16)
    for row in np.unique(hand_index((5,)).index_hands(runouts)):
        hand_strength_kernels.river_block(evaluator_tables(), boards(5).cards, PAIR_CARDS, row, row + 1, strengths)
    return flop, strengths


def final_strengths(strengths, hand, board):
    """Strength on every completed board, by relabelling suits."""
    rows = boards(5)
    rest = sorted(set(range(52)) - {*hand, *board})
    runouts = [(a,) for a in rest] if len(board) == 4 else [(a, b) for a in rest for b in rest if a < b]
    finals = []
    for runout in runouts:
        place = rows.places[hand_strength_kernels.combination_number(rows.choose, np.array([*board, *runout]), -1)]
        high, low = max(hand), min(hand)
        finals.append(strengths[place >> 5, rows.pairs[place & 31, high * (high - 1) // 2 + low]])
    return np.array(finals, np.int64)


@pytest.mark.parametrize("size", [3, 4])
def test_histograms(one_flop, size):
    flop, strengths = one_flop
    board = flop if size == 3 else [*flop, min(set(range(52)) - set(flop))]
    index, row, bins = hand_index((2, size)), hand_index((size,)).index(board), 20
    board = boards(size).cards[row].tolist()
    out = np.zeros((index.size, bins - 1), np.int16)
    block = kernels.flop_histograms_block if size == 3 else kernels.turn_histograms_block
    block(index.tables, boards(size), boards(5), PAIR_CARDS, strengths, bins_of(bins), bins, 15, row, row + 1, out)
    rng = np.random.default_rng(7)
    for _ in range(5):
        hand = rng.choice(np.setdiff1d(np.arange(52), board), 2, replace=False).tolist()
        finals = final_strengths(strengths, hand, board)
        counts = [sum(finals * bins // STRENGTH_UNIT == b) for b in range(bins)]
        counts[-1] += sum(finals == STRENGTH_UNIT)
        assert out[index.index([*hand, *board])].tolist() == (15 * np.cumsum(counts)[:-1]).tolist()


def test_ochs_against_enumeration():
    """Strength against each group of opponents on one board, with card removal; a group that is gone gives a half."""
    rng = np.random.default_rng(9)
    row = 54321
    board = boards(5).cards[row]
    groups = rng.integers(0, 4, NUM_PAIRS)
    live = ~np.isin(PAIR_CARDS, board).any(axis=1)
    lone = np.flatnonzero(live)[10]
    groups[lone] = 4  # a group of one hand, gone when one of its cards is held
    out = np.empty((1, NUM_PAIRS, 5), np.uint8)
    kernels.ochs_block(evaluator_tables(), boards(5), np.array([row]), PAIR_CARDS, groups, 5, 0, 1, out)
    ranks = rank_pairs(board).astype(int)
    for pair in [lone, *rng.choice(np.flatnonzero(live), 30, replace=False)]:
        others = live & ~np.isin(PAIR_CARDS, PAIR_CARDS[pair]).any(axis=1)
        for group in range(5):
            theirs = ranks[others & (groups == group)]
            share = 0.5 if theirs.size == 0 else ((theirs < ranks[pair]) + 0.5 * (theirs == ranks[pair])).mean()
            assert out[0, pair, group] == pytest.approx(255 * share, abs=0.51)


def random_transitions(num_states, num_buckets, num_private, seed):
    rng = np.random.default_rng(seed)
    likes = rng.random((num_states, num_buckets)) ** 6
    draws = [rng.multinomial(num_private, like / like.sum()) for like in likes]
    return np.array(draws, np.uint16)


def naive_distances(transitions, num_private):
    count = len(transitions)
    out = np.zeros((count, count))
    for i in range(count):
        for j in range(count):
            same = sum(min(int(a), int(b)) for a, b in zip(transitions[i], transitions[j]))
            out[i, j] = num_private - same
    return out


def naive_clustering(distances, labels, passes, in_place, by_mean):
    labels = list(labels)
    num_clusters = max(labels) + 1
    for _ in range(passes):
        before = list(labels)
        for i in range(len(labels)):
            seen = labels if in_place else before
            if in_place and seen.count(seen[i]) == 1:
                continue
            values = []
            for k in range(num_clusters):
                members = [j for j in range(len(labels)) if seen[j] == k and j != i]
                total = sum(distances[i, j] for j in members)
                values.append(total / len(members) if by_mean else total)
            own = labels[i]
            best = int(np.argmin(values))
            # Where values tie, in place stays and the printed version takes the first.
            labels[i] = own if in_place and values[own] <= values[best] else best
        if labels == before:
            break
    return labels


def test_seedings_draw_by_weight_and_squared_distance(monkeypatch):
    """k-means++ (Arthur and Vassilvitskii, SODA 2007): over an even grid of draws, every point as often as it should."""
    points, weights, grid = np.array([[0, 1], [4, 1], [5, 3], [9, 9]], np.int16), np.array([2, 1, 3, 1]), 4000
    first = [0, 2]  # centre by centre; the third is looked at
    for euclidean in (False, True):
        job = KMeans(points, weights, 3, euclidean=euclidean, seed=1)
        gaps = points[:, None].astype(float) - points[first][None]
        nearest = (np.sqrt((gaps**2).sum(axis=2)) if euclidean else np.abs(gaps).sum(axis=2)).min(axis=1)
        drawn = np.zeros(len(points))
        for k in range(grid):
            job.rng = iter_uniform(
                [0.1, middle_of(weights * distances(points, 0, euclidean) ** 2, 2), (k + 0.5) / grid]
            )
            centres = job._seed(np.arange(4))
            assert (centres[:2] == points[first]).all()
            drawn[(points == centres[2]).all(axis=1)] += 1.0 / grid
        wanted = weights * nearest**2
        assert drawn == pytest.approx(wanted / wanted.sum(), abs=2.0 / grid)

    between = naive_distances(random_transitions(6, 25, 60, 4), 60).astype(np.int64)
    asked = []

    def choice(count, p):
        asked.append(p)
        return int(np.argmax(p))

    fake = SimpleNamespace(integers=lambda count: 2, choice=choice)
    monkeypatch.setattr(np.random, "default_rng", lambda seed: fake)
    labels = hierarchical.seed_clusters(between, 3, seed=1)
    second = int(np.argmax(between[2]))
    squares = between[2] ** 2, np.minimum(between[2], between[second]) ** 2
    for p, square in zip(asked, squares, strict=True):
        assert p == pytest.approx(square / square.sum())
    centres = [2, second, int(np.argmax(squares[1]))]
    assert labels.tolist() == between[:, centres].argmin(axis=1).tolist()


def distances(points, to, euclidean):
    gaps = points.astype(float) - points[to]
    return np.sqrt((gaps**2).sum(axis=1)) if euclidean else np.abs(gaps).sum(axis=1)


def middle_of(chances, place):
    """The uniform number in the middle of a point's share."""
    return (chances[:place].sum() + chances[place] / 2) / chances.sum()


def iter_uniform(numbers):
    """A generator that draws these."""
    return SimpleNamespace(random=iter(numbers).__next__)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_public_clusters_against_a_plain_reading(seed):
    """Algorithms 2 and 3 on a small random instance."""
    transitions = random_transitions(40, 25, 60, seed)
    distances = hierarchical.public_distances(transitions, 60)
    assert (distances == naive_distances(transitions, 60)).all()
    first = hierarchical.seed_clusters(distances, 6, seed)
    assert len(set(first.tolist())) == 6
    for objective in ("sum", "mean"):
        found = hierarchical.cluster_in_place(distances, first, 100, objective)
        assert found.labels.tolist() == naive_clustering(distances, first, 100, True, objective == "mean")
        assert len(set(found.labels.tolist())) == 6 and found.settled
    for passes in (1, 2):
        at_once = hierarchical.cluster_at_once(distances, first, passes)
        assert at_once.labels.tolist() == naive_clustering(distances, first, passes, False, False)


def test_printed_clustering_collapses_on_the_real_flops():
    """All flops at once end in one cluster; in place the sizes stay near 1755 / 60 and nothing moves in the end.

    The base here is 400 buckets of the five-card rank, quick to make; benchmarks/card_abstraction.py shows the same
    on 5,000 buckets of strength histograms.
    """
    ranks = np.array([rank_pairs(board) for board in boards(3).cards]).astype(np.int64)
    edges = np.quantile(ranks[ranks > 0], np.linspace(0, 1, 401)[1:-1])
    buckets = np.where(ranks > 0, np.searchsorted(edges, ranks, side="right"), -1)
    transitions = hierarchical.transition_table(buckets, 400)
    assert (transitions.sum(axis=1) == hierarchical.HANDS_PER_FLOP).all()
    distances = hierarchical.public_distances(transitions, hierarchical.HANDS_PER_FLOP)
    first = hierarchical.seed_clusters(distances, 60, seed=1)
    at_once = hierarchical.cluster_at_once(distances, first)
    assert len(set(at_once.labels.tolist())) == 1 and not at_once.settled
    in_place = hierarchical.cluster_in_place(distances, first)
    sizes = np.bincount(in_place.labels, minlength=60)
    assert in_place.settled and in_place.passes < 100 and sizes.min() >= 15 and sizes.max() <= 45
    index = hand_index((3,))
    alike = distances[index.index(parse_cards("AhKs3d")), index.index(parse_cards("AhKs2d"))]
    assert (distances[np.triu_indices(1755, 1)] < alike).mean() < 0.01


def test_river_labels_are_the_nearest_centres_wherever_the_search_starts():
    rng = np.random.default_rng(8)
    points = rng.integers(0, 256, (500, 8)).astype(np.uint8)
    centres = rng.integers(0, 256, (60, 8)).astype(np.uint8)
    spread, neighbours = centre_order(centres, euclidean=True)
    squares = ((points[:, None].astype(np.int64) - centres[None].astype(np.int64)) ** 2).sum(axis=2)
    for i in range(len(points)):
        start = np.int32(rng.integers(60))
        best, distance = kernels.nearest_centre(points, i, centres, spread, neighbours, True, start)
        assert best == squares[i].argmin()
        assert distance == pytest.approx(np.sqrt(squares[i].min()))
