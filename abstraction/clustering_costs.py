"""How long clustering the cards of a config takes, before it starts: CPU-seconds, by fitted formulas.

The rates are fitted to the stages of hunl-hour's cards on a core of 2.1 GHz: other machines differ, and passes that stop
early make it less. Exact strength, which every kind needs and which is kept, is not counted.
"""

from math import sqrt
from typing import Final

from foldwise.abstraction.cards.card_config import CardConfig, StreetCards
from foldwise.game.hands.hand_index import hand_index

_SEED_NUMBER: Final = 0.6e-9  # a number of a point compared with a new centre
_NEAREST_NUMBER: Final = 0.85e-9  # a number of a point in the search for its nearest centre, by the root of their count
_ORDER_PAIR: Final = 36e-9  # a pair of centres measured and put in order, each pass
_HISTOGRAMS: Final = 5.0  # of flop or turn
_OCHS_FEATURES: Final = 16.0  # of all rivers
_BOUND: Final = 30e-9  # of a hand and a mean, potential-aware
_MEASURED_SHARE: Final = 0.032  # of those pairs, and the time of one
_GREEDY: Final = 11e-6
_SUBSET, _SUBSET_PASSES = (20_000, 40), 10  # k-means tries its seedings on so many points, at least or by centre
_OCHS_TRAINING, _POTENTIAL_TRAINING = 500_000, 100_000
_CLASSES: Final = ((2,), (2, 3), (2, 4), (2, 5))


def clustering_seconds(config: CardConfig) -> float | None:
    """CPU-seconds of all streets; None within public clusters, where no formula was fitted."""
    if config.public is not None:
        return None
    return sum(_street_seconds(street, cards) for street, cards in enumerate(config.streets))


def _street_seconds(street: int, cards: StreetCards) -> float:
    if cards.buckets is None:
        return 0.0
    classes = hand_index(_CLASSES[street]).size
    if cards.method == "kmeans-emd":
        return _HISTOGRAMS + _kmeans(cards, classes, cards.sample or classes, cards.bins - 1, labels_all=True)
    if cards.method == "kmeans-ochs":
        training = cards.sample or _OCHS_TRAINING
        every = _nearest(classes, cards.buckets, 8)
        return _OCHS_FEATURES + _kmeans(cards, training, training, 8, labels_all=False) + every
    if cards.method == "kmeans-potential":
        turns = StreetCards(method="kmeans-emd", buckets=cards.bins, sample=200_000)
        training = min(cards.sample or _POTENTIAL_TRAINING, classes)
        pair = _BOUND + _MEASURED_SHARE * _GREEDY
        first = _kmeans(cards, training, training, turns.bins - 1, labels_all=False)
        return _street_seconds(2, turns) + first + (classes + cards.max_passes * training) * cards.buckets * pair
    return 0.0


def _kmeans(cards: StreetCards, points: int, training: int, width: int, *, labels_all: bool) -> float:
    """Seedings tried on a subset, passes over the training points, labels of all."""
    assert cards.buckets is not None
    count, training = min(cards.buckets, points), min(training, points)
    subset = min(points, max(_SUBSET[0], _SUBSET[1] * count))
    seeding = subset * count * width * _SEED_NUMBER
    trials = cards.restarts * (seeding + _SUBSET_PASSES * _pass(subset, count, width))
    return trials + cards.max_passes * _pass(training, count, width) + labels_all * _nearest(points, count, width)


def _pass(points: int, count: int, width: int) -> float:
    return _nearest(points, count, width) + count * count * _ORDER_PAIR


def _nearest(points: int, count: int, width: int) -> float:
    return points * width * sqrt(count) * _NEAREST_NUMBER
