"""Algorithm 1 of Brown, Ganzfried and Sandholm (AAMAS 2015) from the base abstraction to the river, read plainly.

Eight flops and made-up strengths stand in for 1,755 and the real ones, and a rule for k-means, which has tests of its own:
so every bucket can be found by hand, from the definition of its street.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest

from foldwise.abstraction.cards import boards as all_boards
from foldwise.abstraction.cards import clustering, hierarchical, percentile
from foldwise.abstraction.cards.boards import Boards
from foldwise.abstraction.cards.card_abstraction import CardAbstraction
from foldwise.abstraction.cards.card_building import Builder
from foldwise.abstraction.cards.card_config import CardConfig, PublicClusters, StreetCards
from foldwise.abstraction.cards.hand_strength import STRENGTH_UNIT
from foldwise.abstraction.cards.hand_strength_kernels import combination_number
from foldwise.abstraction.threads import run_blocks
from foldwise.game.hands.evaluator import rank_hand
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS

NUM_FLOPS = 8  # the first in the order of the hand index: of a pair or three of a kind, suits alike or not
BINS, BASE_BUCKETS, CLUSTERS = 6, 7, 3
FLOP_BUCKETS, TURN_BUCKETS, RIVER_BUCKETS = 4, 5, 3
PUBLIC = PublicClusters(clusters=CLUSTERS, base_buckets=BASE_BUCKETS, bins=BINS, seed=10)
CONFIG = CardConfig(
    streets=[
        StreetCards(method="lossless"),
        StreetCards(method="kmeans-emd", buckets=FLOP_BUCKETS, bins=BINS),
        StreetCards(method="kmeans-emd", buckets=TURN_BUCKETS, bins=BINS),
        StreetCards(method="kmeans-ochs", buckets=RIVER_BUCKETS, sample=200),
    ],
    public=PUBLIC,
)
OPPONENTS = hand_index((2,)).index_hands(PAIR_CARDS) % clustering.NUM_OPPONENT_GROUPS  # of every pair, suits aside
Floats = npt.NDArray[np.float64]


def part(sums: Floats, mean: float, num_parts: int) -> npt.NDArray[np.int64]:
    """The rule in place of k-means: equal steps of the sum of a point's numbers, up to twice the mean of all."""
    return np.minimum(sums * num_parts / (2.0 * mean), num_parts - 1).astype(np.int64)


class RuleInsteadOfKMeans:
    """Takes what `KMeans` takes. What the river was trained on is kept in `trained`."""

    trained: ClassVar[list[npt.NDArray[np.int16]]] = []

    def __init__(self, points: Any, weights: Any, num_centres: int, *, euclidean: bool, seed: int, **_: Any) -> None:
        self._points, self._weights, self._num_centres, self._euclidean = points, weights, num_centres, euclidean

    def run(self, restarts: int, max_passes: int, sample: int | None = None) -> SimpleNamespace:
        if self._euclidean:
            RuleInsteadOfKMeans.trained.append(self._points)
        sums = self._points.sum(axis=1)
        labels = part(sums, np.average(sums, weights=self._weights), self._num_centres)
        mean = np.average(self._points, axis=0, weights=self._weights)
        centres = np.array([mean * (k + 1) / self._num_centres for k in range(self._num_centres)])
        return SimpleNamespace(labels=labels, centres=centres, trained_on=len(labels))


def some_boards(size: int) -> Boards:
    """Only the flops of this test and the turns they become; rivers are all there."""
    rows = all_boards.boards(size)
    if size == 5:
        return rows
    chosen = np.arange(NUM_FLOPS)
    if size == 4:
        flops = all_boards.boards(3).cards[:NUM_FLOPS].tolist()
        turns = [[*flop, card] for flop in flops for card in range(52) if card not in flop]
        chosen = np.unique(hand_index((4,)).index_hands(np.array(turns, np.uint8)))
    return rows._replace(cards=rows.cards[chosen], orbits=rows.orbits[chosen])


def flops() -> list[list[int]]:
    cards: list[list[int]] = all_boards.boards(3).cards[:NUM_FLOPS].tolist()
    return cards


def river_row(board: list[int]) -> int:
    return int(hand_index((5,)).index(board))


class MadeUpStrength:
    """A strength of every pair on every run-out of the flops, which no relabelling of suits changes."""

    report = None

    def __init__(self) -> None:
        needed = {
            river_row([*flop, *rest])
            for flop in flops()
            for rest in combinations([card for card in range(52) if card not in flop], 2)
        }
        classes = hand_index((2,)).index_hands(PAIR_CARDS)
        rng = np.random.default_rng(1)
        by_class, by_row = rng.integers(1, 1900, 169), rng.integers(1, 50, len(all_boards.boards(5).cards))
        self.river_boards = np.zeros((len(all_boards.boards(5).cards), NUM_PAIRS), np.uint16)
        rows = np.array(sorted(needed))
        self.river_boards[rows] = (by_class[classes] * by_row[rows, None] + by_class[classes]) % (STRENGTH_UNIT + 1)

    def masses(self, street: int) -> npt.NDArray[np.int64]:
        """Combinations of cards in each flop class; none on the flops that are not there."""
        assert street == 1
        out = np.zeros(hand_index((2, 3)).size, np.int64)
        orbits = all_boards.boards(3).orbits
        for row, flop in enumerate(flops()):
            hands = np.array([[*pair, *flop] for pair in live(flop)], np.uint8)
            np.add.at(out, hand_index((2, 3)).index_hands(hands), orbits[row])
        return out


def live(board: list[int]) -> list[tuple[int, int]]:
    return [(a, b) for a, b in PAIR_CARDS.tolist() if a not in board and b not in board]


def live_numbers(board: list[int]) -> npt.NDArray[np.int64]:
    return np.flatnonzero(~np.isin(PAIR_CARDS, board).any(axis=1))


def pair_number(pair: tuple[int, int]) -> int:
    high, low = max(pair), min(pair)
    return high * (high - 1) // 2 + low


class PlainReading:
    """The abstraction by definition: histograms by going through the run-outs, numbers of hands by counting."""

    def __init__(self, strength: MadeUpStrength) -> None:
        self._strengths = strength.river_boards
        self._seen: dict[tuple[int, ...], Floats] = {}
        self.orbits = all_boards.boards(3).orbits[:NUM_FLOPS]

    def _finals(self, board: list[int]) -> Iterator[tuple[tuple[int, ...], npt.NDArray[np.uint16]]]:
        """The cards to come, and the strength of every pair on the board they make."""
        rows = all_boards.boards(5)
        rest = [card for card in range(52) if card not in board]
        for runout in combinations(rest, 5 - len(board)):
            place = rows.places[combination_number(rows.choose, np.array([*board, *runout]), -1)]
            yield runout, self._strengths[place >> 5][rows.pairs[place & 31]]

    def sums(self, board: list[int], unit: int) -> Floats:
        """[1326] the sum of a pair's cumulative histogram, its last step left out."""
        key = (*board, unit)
        if key not in self._seen:
            counts = np.zeros((NUM_PAIRS, BINS), np.int64)
            for runout, strengths in self._finals(board):
                held = np.isin(PAIR_CARDS, runout).any(axis=1)
                bins = np.minimum(strengths.astype(np.int64) * BINS // STRENGTH_UNIT, BINS - 1)
                counts[np.arange(NUM_PAIRS)[~held], bins[~held]] += 1
            self._seen[key] = (unit * counts.cumsum(axis=1)[:, :-1]).sum(axis=1).astype(np.float64)
        return self._seen[key]

    def flop_sums(self, flop: list[int]) -> Floats:
        return self.sums(flop, clustering._FLOP_UNIT)

    def flop_mean(self, members: list[int]) -> float:
        """Mean over all hands on these flops, each flop as often as its suits can be relabelled."""
        total = weight = 0.0
        for row in members:
            flop = flops()[row]
            total += float(self.orbits[row]) * self.flop_sums(flop)[live_numbers(flop)].sum()
            weight += float(self.orbits[row]) * 1176
        return total / weight

    def distances(self) -> list[list[int]]:
        """Algorithm 2: hands of one flop that find no partner in the same base bucket on the other."""
        mean = self.flop_mean(list(range(NUM_FLOPS)))
        kinds = []
        for flop in flops():
            labels = part(self.flop_sums(flop), mean, BASE_BUCKETS)
            kinds.append(Counter(int(labels[pair_number(pair)]) for pair in live(flop)))
        return [[1176 - sum((one & other).values()) for other in kinds] for one in kinds]


def move_in_place(distances: list[list[int]], labels: list[int]) -> list[int]:
    """Algorithm 3, a flop after the other to the cluster nearest in sum; no cluster is emptied."""
    while True:
        before = list(labels)
        for i, own in enumerate(labels):
            if labels.count(own) == 1:
                continue
            totals = [
                sum(distances[i][j] for j in range(len(labels)) if labels[j] == k and j != i) for k in range(CLUSTERS)
            ]
            labels[i] = own if totals[own] == min(totals) else totals.index(min(totals))
        if labels == before:
            return labels


@pytest.fixture(scope="module")
def strength() -> MadeUpStrength:
    return MadeUpStrength()


@pytest.fixture(scope="module")
def plain(strength: MadeUpStrength) -> PlainReading:
    return PlainReading(strength)


@pytest.fixture
def reduced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Few flops, the rule, given groups of opponents; rivers only those in the list, which the test may add to."""
    rivers: list[int] = []

    def some_blocks(work: Any, total: int, stage: str = "", *rest: Any, **options: Any) -> None:
        if stage != "river OCHS":
            run_blocks(work, total, stage, *rest, **options)
        else:
            for row in rivers:
                work(row, row + 1)

    for module in (clustering, hierarchical, percentile):
        monkeypatch.setattr(module, "boards", some_boards)
    monkeypatch.setattr(clustering, "KMeans", RuleInsteadOfKMeans)
    monkeypatch.setattr(clustering, "run_blocks", some_blocks)
    monkeypatch.setattr(clustering, "opponent_groups", lambda _: OPPONENTS.astype(np.int64))
    RuleInsteadOfKMeans.trained = []
    return rivers


@pytest.fixture
def flop_clusters(reduced: list[int], strength: Any) -> npt.NDArray[np.uint16]:
    return hierarchical.public_clusters(strength, PUBLIC)


def test_base_abstraction_and_public_clusters(reduced: list[int], strength: Any, plain: PlainReading) -> None:
    """Steps 1 to 3: base buckets, distances of flops by them, clusters."""
    distances = hierarchical.base_distances(strength, PUBLIC)
    assert distances.tolist() == plain.distances()
    assert len(np.unique(distances)) > 20
    first = hierarchical.seed_clusters(distances, CLUSTERS, PUBLIC.seed)
    found = hierarchical.public_clusters(strength, PUBLIC)
    assert found.tolist() == move_in_place(plain.distances(), first.tolist())
    assert found.tolist() != first.tolist()


def test_flop_buckets_within_clusters(
    reduced: list[int], strength: Any, plain: PlainReading, flop_clusters: npt.NDArray[np.uint16]
) -> None:
    """Step 4: each cluster is grouped by itself, by what its own hands weigh."""
    table = clustering.flop_emd(strength, CONFIG.streets[1], flop_clusters).table
    seen = set()
    for cluster in range(CLUSTERS):
        members = np.flatnonzero(flop_clusters == cluster).tolist()
        mean = plain.flop_mean(members)
        for row in members:
            flop = flops()[row]
            labels = part(plain.flop_sums(flop), mean, FLOP_BUCKETS)
            for pair in live(flop):
                bucket = table[hand_index((2, 3)).index([*pair, *flop])]
                assert bucket == cluster * FLOP_BUCKETS + labels[pair_number(pair)]
                seen.add(int(bucket))
    assert len(seen) > CLUSTERS * 2


def test_turn_buckets_within_clusters(
    reduced: list[int], strength: Any, plain: PlainReading, flop_clusters: npt.NDArray[np.uint16]
) -> None:
    """A turn hand belongs to the cluster of its flop, so that the same four cards may have two buckets."""
    table = clustering.turn_emd(strength, CONFIG.streets[2], flop_clusters).table
    rng = np.random.default_rng(2)
    seen = set()
    for cluster in range(CLUSTERS):
        total = weight = 0.0
        boards = [[*flops()[row], card] for row in np.flatnonzero(flop_clusters == cluster) for card in range(52)]
        boards = [board for board in boards if len(set(board)) == 4]
        for board in boards:
            orbit = float(plain.orbits[flops().index(board[:3])])
            sums = plain.sums(board, clustering._TURN_UNIT)
            total += orbit * sums[live_numbers(board)].sum()
            weight += orbit * len(live_numbers(board))
        for board in boards:
            labels = part(plain.sums(board, clustering._TURN_UNIT), total / weight, TURN_BUCKETS)
            for pair in rng.permutation(live(board))[:20].tolist():
                bucket = table[hand_index((2, 3, 1)).index([*pair, *board])]
                assert bucket == cluster * TURN_BUCKETS + labels[pair_number(tuple(pair))]
                seen.add(int(bucket))
    assert len(seen) > CLUSTERS * 2


def ochs(pair: tuple[int, int], board: list[int]) -> list[float]:
    """Strength against each group of opponents, by going through their hands; a half where a group is gone."""
    mine = rank_hand((*pair, *board))
    points: list[list[float]] = [[] for _ in range(clustering.NUM_OPPONENT_GROUPS)]
    for number, other in enumerate(PAIR_CARDS.tolist()):
        if not {*other} & {*pair, *board}:
            theirs = rank_hand((*other, *board))
            points[int(OPPONENTS[number])].append((mine > theirs) + 0.5 * (mine == theirs))
    return [255 * (sum(won) / len(won)) if won else 128.0 for won in points]


def test_river_buckets_within_clusters(reduced: list[int], strength: Any) -> None:
    """The whole of algorithm 1: on the river, the nearest of the centres that its flop's cluster was trained to."""
    rng = np.random.default_rng(4)
    dealt = []
    for flop in flops():
        rest = rng.permutation([card for card in range(52) if card not in flop])[:4].tolist()
        dealt.append((tuple(rest[:2]), [*flop, *rest[2:]]))
    reduced += sorted({river_row(board) for _, board in dealt})
    builder = Builder(CONFIG, strength)
    for street, cards in enumerate(CONFIG.streets):
        builder.add(street, cards)
    cards_made = CardAbstraction(builder.streets, {}, builder.clusters, fingerprint="test")
    assert builder.clusters is not None
    assert len(RuleInsteadOfKMeans.trained) == CLUSTERS
    for (pair, board), cluster in zip(dealt, builder.clusters.tolist()):
        trained = RuleInsteadOfKMeans.trained[cluster]
        assert len(trained) >= 200 and (trained >= 0).all() and (trained <= 255).all()
        mean = trained.mean(axis=0)
        centres = [np.uint8(mean * (k + 1) / RIVER_BUCKETS).astype(float) for k in range(RIVER_BUCKETS)]
        squares = [float(((np.array(ochs(pair, board)) - centre) ** 2).sum()) for centre in centres]
        assert cards_made.bucket(pair, board) == cluster * RIVER_BUCKETS + int(np.argmin(squares))
        assert cards_made.bucket(pair, board[:3]) // FLOP_BUCKETS == cluster
        assert cards_made.bucket(pair, board[:4]) // TURN_BUCKETS == cluster


def test_rivers_of_a_cluster_have_its_flops() -> None:
    """What the river of a cluster is trained on: a flop of the cluster as often as it is dealt, then any two cards."""
    some = np.array([0, 5, 40])
    rows = clustering._river_rows(some, 1500, np.random.default_rng(6))
    index, flop_index = all_boards.boards(5), hand_index((3,))
    held: Counter[int] = Counter()
    for row in rows:
        inside = {flop_index.index(list(three)) for three in combinations(index.cards[row].tolist(), 3)} & {*some}
        assert inside
        held[min(inside)] += len(inside) == 1
    orbits = all_boards.boards(3).orbits[some]
    for flop, share in zip(some.tolist(), orbits / orbits.sum()):
        assert abs(held[flop] / len(rows) - share) < 0.1
