"""Potential-aware buckets: the fast distance against the exact one, the bound that spares most of the work, and k-means."""

import numpy as np
import pytest
from scipy.optimize import linprog

from foldwise.abstraction.cards import potential_kernels as kernels
from foldwise.abstraction.cards.card_config import CardConfig
from foldwise.abstraction.cards.potential import PotentialMeans

NUM_CLUSTERS, NUM_CARDS, WIDTH = 12, 47, 9


def exact_distance(point: np.ndarray, mean: np.ndarray, spread: np.ndarray) -> float:
    """The earth mover's distance as a linear program: the least cost of moving one histogram onto the other."""
    count = len(mean)
    equal = np.zeros((2 * count, count * count))
    for c in range(count):
        equal[c, c * count : (c + 1) * count] = 1.0  # all that leaves c
        equal[count + c, c::count] = 1.0  # all that comes to c
    shares = np.bincount(point, minlength=count) / len(point)
    found = linprog(spread.ravel(), A_eq=equal[:-1], b_eq=np.concatenate((shares, mean))[:-1], method="highs")
    assert found.success
    return float(found.fun)


def made_points(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Clusters at the positions of cumulative histograms, as the turn's are, and points that lead to a few of them each."""
    rng = np.random.default_rng(seed)
    positions = np.sort(rng.integers(0, 16_000, (NUM_CLUSTERS, WIDTH)), axis=1).astype(np.int16)
    cells = np.empty((count, NUM_CARDS), np.uint8)
    for row in cells:
        few = rng.choice(NUM_CLUSTERS, rng.integers(2, 6), replace=False)
        row[:] = rng.choice(few, NUM_CARDS, p=rng.dirichlet(np.ones(len(few))))
    return cells, positions


@pytest.fixture(scope="module")
def made() -> PotentialMeans:
    cells, positions = made_points(400, seed=3)
    return PotentialMeans(cells, np.random.default_rng(1).integers(1, 24, 400), positions)


def greedy(made: PotentialMeans, i: int, mean: np.ndarray) -> float:
    targets, remaining = np.empty(NUM_CARDS), np.empty(NUM_CLUSTERS)
    return float(kernels.greedy_distance(made.cells, i, mean, made.spread, made.order, targets, remaining))


def some_means(made: PotentialMeans, count: int) -> np.ndarray:
    groups = np.arange(count * 10).reshape(count, 10)
    return np.array([np.bincount(made.cells[own].ravel(), minlength=NUM_CLUSTERS) / (10 * NUM_CARDS) for own in groups])


def test_the_fast_distance_is_near_the_exact_one_and_never_below(made):
    """Published for real hands: a mean relative error of 0.150."""
    errors = []
    for mean in some_means(made, 5):
        for i in range(100, 140):
            exact, fast = exact_distance(made.cells[i], mean, made.spread), greedy(made, i, mean)
            assert fast >= exact * (1.0 - 1e-9)
            errors.append(fast / exact - 1.0)
    assert np.mean(errors) < 0.15
    assert max(errors) > 0.0  # it is an approximation


def test_the_fast_distance_is_exact_onto_one_cluster_and_nothing_onto_itself(made):
    for i in range(20):
        shares = np.bincount(made.cells[i], minlength=NUM_CLUSTERS) / NUM_CARDS
        assert greedy(made, i, shares) == pytest.approx(0.0, abs=1e-4)
        alone = np.zeros(NUM_CLUSTERS)
        alone[i % NUM_CLUSTERS] = 1.0
        assert greedy(made, i, alone) == pytest.approx(made.spread[made.cells[i], i % NUM_CLUSTERS].mean())


def test_the_bound_spares_work_and_changes_no_answer(made):
    means = some_means(made, 30)
    labels, distances, share = made.assign(made.cells, means)
    assert share < 0.7
    for i in range(0, 400, 7):
        every = [greedy(made, i, mean) for mean in means]
        assert labels[i] == np.argmin(every)
        assert distances[i] == pytest.approx(min(every))


def test_k_means_groups_what_leads_to_the_same_places():
    """Two kinds of hands with the same expected strength: one always ends in the middle, one at either end."""
    positions = np.array([[0, 0], [8000, 8000], [16_000, 16_000]], np.int16)
    rng = np.random.default_rng(5)
    sure = np.ones((60, NUM_CARDS), np.uint8)
    wild = np.array([rng.permutation([0] * 23 + [2] * 23 + [1]) for _ in range(60)], np.uint8)
    cells = np.concatenate((sure, wild))
    # A few that differ in expected strength, for the k-means that everything starts from.
    cells[:3], cells[-3:] = 0, 2
    found = PotentialMeans(cells, np.ones(len(cells)), positions).run(4, seed=1, restarts=3, max_passes=20, sample=1000)
    inner = found.labels[3:-3]
    assert set(inner[:57]).isdisjoint(inner[57:])
    assert found.means.sum(axis=1) == pytest.approx(1.0)
    assert found.trained_on == len(cells)


def test_training_on_a_sample_labels_every_point(made):
    few = made.run(8, seed=1, restarts=1, max_passes=10, sample=150)
    assert few.trained_on == 150 and len(few.labels) == 400 and set(few.labels) <= set(range(8))
    again = made.run(8, seed=1, restarts=1, max_passes=10, sample=150)
    assert np.array_equal(few.labels, again.labels)
    every = made.run(8, seed=1, restarts=1, max_passes=10, sample=1000)
    assert every.mean_distance < few.mean_distance * 1.2


@pytest.mark.parametrize("street", [0, 2, 3])
def test_it_is_for_the_flop(street):
    streets = [{"method": "lossless"}, *[{"method": "percentile", "buckets": 5}] * 3]
    streets[street] = {"method": "kmeans-potential", "buckets": 5}
    with pytest.raises(ValueError, match="'kmeans-potential' is for the flop; use kmeans-emd or kmeans-ochs"):
        CardConfig.model_validate({"streets": streets})
