"""Percentile buckets, bucket lookup and the abstraction's folder, over made-up strengths where real ones are slow."""

import errno
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from foldwise.abstraction.cards import hand_strength_kernels
from foldwise.abstraction.cards import percentile_kernels as bucket_kernels
from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.bucket_kinds import BUCKET_KINDS, load_maker
from foldwise.abstraction.cards.card_abstraction import CardAbstraction, StreetAbstraction
from foldwise.abstraction.cards.card_building import build_cards
from foldwise.abstraction.cards.card_config import CardConfig, PublicClusters, StreetCards
from foldwise.abstraction.cards.hand_strength import STRENGTH_UNIT
from foldwise.abstraction.cards.percentile import (
    flop_class_rows,
    flop_percentile,
    parts_of,
    river_percentile,
    thresholds_of,
    turn_percentile,
)
from foldwise.abstraction.deals.holdem_deals import CardSource
from foldwise.game.cards import parse_cards
from foldwise.game.errors import FormatError
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS, pair_number
from foldwise.game.primitives.rng import make_states
from tests.support.places import GOLDEN

RNG = np.random.default_rng(5)


def golden_strength():
    path = GOLDEN / "preflop_strength.txt"
    rows = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    return np.array([[int(number) for number in row[1:]] for row in rows])


def test_preflop_fifths():
    """Fifths of the 1,326 hands by E[HS^2], as Zinkevich et al. (NIPS 2007, 4.1) define them; the counts are our own.

    No paper prints them: they come from our strength table, kept so that a change of the rule for ties is noticed.
    """
    masses, _, squares = golden_strength().T
    parts = np.searchsorted(thresholds_of(squares, masses, 5), squares.astype(np.uint64), side="right")
    assert np.bincount(parts, weights=masses).tolist() == [264, 268, 264, 266, 264]


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 24)), min_size=1, max_size=60),
    st.integers(1, 12),
)
def test_parts_are_equal_up_to_ties(hands, num_parts):
    values, masses = np.array(hands).T
    thresholds = thresholds_of(values, masses, num_parts)
    parts = np.searchsorted(thresholds, values.astype(np.uint64), side="right")
    order = np.argsort(values, kind="stable")
    assert (np.diff(parts[order]) >= 0).all()
    largest = max(masses[values == value].sum() for value in values)
    edges = np.cumsum(np.bincount(parts, weights=masses, minlength=num_parts))
    wanted = masses.sum() * np.arange(1, num_parts + 1) / num_parts
    assert (np.abs(edges - wanted) <= largest / 2 + 1e-9).all()


def test_parts_of_no_mass():
    assert parts_of(np.zeros(4, np.int64), 3).tolist() == [0, 0, 0, 0]


class MadeUpStrength:
    """Strengths without the tables: a mixing function of the class, and real strengths on the few boards asked for."""

    report = None

    def __init__(self, flop_rows=()):
        self.flop_rows = flop_rows

    @staticmethod
    def value(classes):
        return ((classes.astype(np.uint64) * np.uint64(2654435761)) >> np.uint64(7)) % np.uint64(5000)

    def sums(self, street, metric):
        return self.value(np.arange(hand_index((2, street + 2)).size)).astype(np.uint32)

    def board_sums(self, street, metric):
        if street == 1:
            classes = flop_class_rows()
            return np.where(classes >= 0, self.value(np.maximum(classes, 0)), 0)
        rows, index = boards(4), hand_index((2, 4))
        out = np.zeros((len(rows.cards), NUM_PAIRS), np.uint32)
        for flop in self.flop_rows:
            for card in set(range(52)) - set(boards(3).cards[flop].tolist()):
                row = hand_index((4,)).index([*boards(3).cards[flop].tolist(), card])
                live = ~np.isin(PAIR_CARDS, rows.cards[row]).any(axis=1)
                hands = np.column_stack((PAIR_CARDS[live], np.tile(rows.cards[row], (live.sum(), 1))))
                out[row, live] = self.value(index.index_hands(hands))
        return out

    @cached_property
    def river_boards(self):
        out = np.zeros((len(boards(5).cards), NUM_PAIRS), np.uint16)
        for flop in self.flop_rows:
            rest = sorted(set(range(52)) - set(boards(3).cards[flop].tolist()))
            runouts = np.array([(*boards(3).cards[flop], a, b) for a in rest for b in rest if a < b], np.uint8)
            for row in np.unique(hand_index((5,)).index_hands(runouts)):
                hand_strength_kernels.river_block(evaluator_tables(), boards(5).cards, PAIR_CARDS, row, row + 1, out)
        return out

    river_classes = np.zeros(1, np.uint16)


def test_flop_within_parents():
    """Nested buckets: equal mass within each parent, in the order of the metric, the parent derivable from the number."""
    strength = MadeUpStrength()
    classes = flop_class_rows()
    by_pair = RNG.integers(0, 3, 169)[hand_index((2,)).index_hands(PAIR_CARDS)]
    parents = np.where(classes >= 0, by_pair[None, :], -1).astype(np.int32)
    street = flop_percentile(strength, 4, "hs2", parents, 3)
    live = classes >= 0
    buckets = street.table[classes[live]].astype(np.int64)
    assert (buckets // 4 == parents[live]).all()
    orbits = np.broadcast_to(boards(3).orbits[:, None], classes.shape)[live]
    masses = np.bincount(buckets, weights=orbits).reshape(3, 4)
    assert (np.abs(masses / masses.mean(axis=1, keepdims=True) - 1) < 0.01).all()
    values = strength.board_sums(1, "hs2")[live]
    for bucket in range(11):
        if bucket % 4 < 3:
            assert values[buckets == bucket].max() < values[buckets == bucket + 1].min()


def test_turn_and_river_within_parents():
    """A few hands on two flops: each parent is cut as a plain enumeration of its deals in order says."""
    flop_rows = [17, 900]
    strength = MadeUpStrength(flop_rows)
    parents = np.full((len(boards(3).cards), NUM_PAIRS), -1, np.int32)
    for row in flop_rows:
        live = np.flatnonzero(~np.isin(PAIR_CARDS, boards(3).cards[row]).any(axis=1))
        parents[row, live[::100]] = np.arange(live[::100].size) % 2
    turn = turn_percentile(strength, 3, "hs2", parents, 2, "bucket")
    preflop = StreetAbstraction("lossless", 169, (2,))
    flop = StreetAbstraction("table", 2, (2, 3), table=np.zeros(hand_index((2, 3)).size, np.uint16))
    earlier = CardAbstraction([preflop, flop, turn], {}, fingerprint="test")
    river = river_percentile(strength, 4, parents, 6, "bucket", earlier.tables)

    deals, weights, parent_of = [], [], []
    for row in flop_rows:
        board = boards(3).cards[row].tolist()
        for pair in np.flatnonzero(parents[row] >= 0):
            hand = PAIR_CARDS[pair].tolist()
            for card in set(range(52)) - set(board) - set(hand):
                deals.append((*hand, *board, card))
                weights.append(boards(3).orbits[row])
                parent_of.append(parents[row, pair])
    deals, weights, parent_of = np.array(deals, np.uint8), np.array(weights), np.array(parent_of)
    values = strength.value(hand_index((2, 4)).index_hands(deals))
    cell = turn.table[hand_index((2, 4)).index_hands(deals)]
    turn_buckets = turn.cells[parent_of, cell]
    for parent in range(2):
        own = parent_of == parent
        parts = np.searchsorted(thresholds_of(values[own], weights[own], 3), values[own], side="right")
        assert (turn_buckets[own] == 3 * parent + parts).all()

    counts = np.zeros((6, STRENGTH_UNIT + 1), np.int64)
    strengths, rows = strength.river_boards, boards(5)
    for deal, weight, bucket in zip(deals.tolist(), weights, turn_buckets):
        for card in set(range(52)) - set(deal):
            board = np.array([*deal[2:], card])
            place = rows.places[hand_strength_kernels.combination_number(rows.choose, board, -1)]
            counts[bucket, strengths[place >> 5, rows.pairs[place & 31, pair_number(*deal[:2])]]] += weight
    every = np.zeros_like(counts)
    bucket_kernels.river_counts_block(
        boards(3), boards(4), rows, PAIR_CARDS, strengths, earlier.tables, parents, True, 0, len(parents), every
    )
    assert (every == counts).all() and counts.sum() == weights.sum() * 46
    assert river.cells.tolist() == [(4 * own + parts_of(row, 4)).tolist() for own, row in enumerate(counts)]


def made_up(methods) -> CardAbstraction:
    """An abstraction with random tables: lookup is compared with plain indexing."""
    rng = np.random.default_rng(3)
    shapes = ((2,), (2, 3), (2, 4), (2, 5))
    streets = []
    for number, method in enumerate(methods):
        shape, size = shapes[number], hand_index(shapes[number]).size
        if method in ("lossless", "raw"):
            streets.append(StreetAbstraction(method, 0, ((2,), (2, 3), (2, 3, 1), (2, 3, 1, 1))[number]))
            continue
        pattern = rng.integers(0, 7, 10_007).astype(np.uint16)
        table = np.resize(pattern, min(size, 14_000_000))
        parent = method.partition(" ")[2] or "none"
        if method.startswith("table"):
            streets.append(StreetAbstraction("table", 7, shape, table=table))
        if method.startswith("cells"):
            cells = rng.integers(0, 20, (60, 7)).astype(np.int32)
            streets.append(StreetAbstraction("cells", 20, shape, parent, table=table, cells=cells))
        if method.startswith("nearest"):
            features = np.resize(rng.integers(0, 256, 99_991).astype(np.uint8), (size, 3))
            centres = rng.integers(0, 256, (5, 4, 3)).astype(np.uint8)
            streets.append(StreetAbstraction("nearest", 20, shape, parent, features=features, centres=centres))
    clusters = rng.integers(0, 5, 1755).astype(np.uint16) if any("cluster" in method for method in methods) else None
    return CardAbstraction(streets, {"made": "up"}, clusters)


def naive_bucket(abstraction, cards):
    number = {2: 0, 5: 1, 6: 2, 7: 3}[len(cards)]
    street = abstraction.streets[number]
    if street.method == "raw":
        pair = pair_number(*cards[:2])
        flop = sum(
            card * (1, card - 1, (card - 1) * (card - 2))[i] // (1, 2, 6)[i] for i, card in enumerate(sorted(cards[2:]))
        )
        return pair if number == 0 else pair * 22100 + flop
    place = hand_index(street.shape).index(cards)
    if street.method == "lossless":
        return place
    parent = 0
    if street.parent == "bucket":
        parent = naive_bucket(abstraction, cards[: (0, 2, 5, 6)[number]])
    if street.parent == "cluster":
        parent = int(abstraction.clusters[hand_index((3,)).index(cards[2:5])])
    if street.method == "table":
        return int(street.table[place])
    if street.method == "cells":
        return int(street.cells[parent, street.table[place]])
    gaps = ((street.features[place].astype(int) - street.centres[parent].astype(int)) ** 2).sum(axis=1)
    return parent * len(gaps) + int(np.argmin(gaps))


@pytest.mark.parametrize(
    "methods",
    [
        ("raw", "raw"),
        ("lossless", "lossless", "lossless", "lossless"),
        ("table", "table", "table"),
        ("table", "cells bucket", "cells bucket"),
        ("lossless", "table", "cells cluster"),
        ("lossless", "nearest cluster"),
    ],
)
def test_lookup(methods, tmp_path):
    abstraction = made_up(methods)
    rng = np.random.default_rng(8)
    suits = rng.permutation(4)
    abstraction.save(tmp_path / "saved")
    loaded = CardAbstraction.load(tmp_path / "saved")
    assert loaded.fingerprint == abstraction.fingerprint and loaded.num_buckets == abstraction.num_buckets
    for _ in range(40):
        deal = rng.choice(52, 7, replace=False).tolist()
        expected = tuple(naive_bucket(abstraction, deal[:count]) for count in (2, 5, 6, 7)[: len(methods)])
        hand, board = deal[:2], deal[2 : (2, 5, 6, 7)[len(methods) - 1]]
        assert abstraction.buckets(hand, board) == loaded.buckets(hand, board) == expected
        assert abstraction.bucket(hand, board) == expected[-1]
        if "raw" not in methods:
            moved = [4 * (card >> 2) + int(suits[card & 3]) for card in deal]
            assert abstraction.buckets(moved[:2], moved[2 : 2 + len(board)]) == expected
    hands = np.array([rng.choice(52, 5, replace=False) for _ in range(50)], np.uint8)
    assert abstraction.bucket_hands(1, hands).tolist() == [naive_bucket(abstraction, hand) for hand in hands.tolist()]


def test_deals_do_not_depend_on_where_blocks_are_cut():
    source = CardSource(made_up(("table", "table")), 2, 3)
    drawn = []
    for cuts in ((0, 10), (0, 3, 4, 10)):
        rng = make_states(6, 1)[0]
        buckets, outcome_rows = np.zeros((10, 2, 2), np.int32), np.zeros(10, np.int32)
        for first, last in pairwise(cuts):
            source.draw(rng, buckets[first:last], outcome_rows[first:last])
        drawn.append((buckets.tolist(), outcome_rows.tolist(), rng.tolist()))
    assert drawn[0] == drawn[1]
    assert len({str(deal) for deal in drawn[0][0]}) > 5


def test_folder_notices_damage(tmp_path):
    abstraction = made_up(("table",))
    abstraction.save(tmp_path / "x")
    path = tmp_path / "x" / "preflop-table.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(FormatError, match="damaged"):
        CardAbstraction.load(tmp_path / "x")


def spoil(abstraction, **changed):
    """The same abstraction with wrong arrays on its second street, but correct checksums."""
    streets = list(abstraction.streets)
    streets[1] = replace(streets[1], **changed)
    return CardAbstraction(streets, {}, abstraction.clusters if abstraction.clusters.size else None)


@pytest.mark.parametrize(
    "methods, spoiled",
    [
        (("table", "table"), lambda street: {"table": street.table + np.uint16(1)}),
        (("table", "table"), lambda street: {"table": street.table[:-1]}),
        (("table", "table"), lambda street: {"num_buckets": 6}),
        (("table", "cells bucket"), lambda street: {"cells": street.cells + np.int32(1)}),
        (("table", "cells bucket"), lambda street: {"cells": -street.cells}),
        (("table", "cells bucket"), lambda street: {"cells": street.cells[:6]}),
        (("table", "cells bucket"), lambda street: {"table": street.table + np.uint16(1)}),
        (("lossless", "nearest cluster"), lambda street: {"features": street.features[:, :2]}),
        (("lossless", "nearest cluster"), lambda street: {"features": street.features[:100]}),
        (("lossless", "nearest cluster"), lambda street: {"centres": street.centres[:4]}),
        (("lossless", "nearest cluster"), lambda street: {"num_buckets": 19}),
    ],
)
def test_a_stranger_s_folder_with_numbers_out_of_range_is_refused(methods, spoiled, tmp_path):
    abstraction = made_up(methods)
    spoil(abstraction, **spoiled(abstraction.streets[1])).save(tmp_path / "x")
    with pytest.raises(FormatError, match="write the folder again"):
        CardAbstraction.load(tmp_path / "x")


@pytest.mark.parametrize("methods", [("table", "table"), ("table", "cells bucket")])
def test_tables_changed_under_our_hands_lead_to_no_foreign_row(methods, tmp_path):
    made_up(methods).save(tmp_path / "x")
    loaded = CardAbstraction.load(tmp_path / "x")
    for path in (tmp_path / "x").glob("flop-*.npy"):
        np.lib.format.open_memmap(path, mode="r+")[...] |= 0x4000
    hands = np.array([np.random.default_rng(1).choice(52, 5, replace=False) for _ in range(50)], np.uint8)
    buckets = loaded.bucket_hands(1, hands)
    assert buckets.min() >= 0 and buckets.max() < loaded.num_buckets[1]


def test_damage_to_a_copy_does_not_reach_the_original(tmp_path):
    made_up(("table",)).save(tmp_path / "cache")
    CardAbstraction.load(tmp_path / "cache").copy_to(tmp_path / "strategy")
    np.lib.format.open_memmap(tmp_path / "strategy" / "preflop-table.npy", mode="r+")[...] = 3
    with pytest.raises(FormatError, match="damaged"):
        CardAbstraction.load(tmp_path / "strategy")
    original = CardAbstraction.load(tmp_path / "cache")
    original.copy_to(tmp_path / "strategy")  # a damaged copy is made again
    assert CardAbstraction.load(tmp_path / "strategy").fingerprint == original.fingerprint


def test_a_copy_that_finds_no_room_says_so_and_leaves_nothing(tmp_path, monkeypatch):
    """One error of the system, with its number, and not a list of all files that could not be copied."""

    def full(source, target):
        raise OSError(errno.ENOSPC, "No space left on device", str(target))

    made_up(("table",)).save(tmp_path / "original")
    monkeypatch.setattr("foldwise.abstraction.cards.card_abstraction.copy_file", full)
    with pytest.raises(OSError, match="No space left") as raised:
        CardAbstraction.load(tmp_path / "original").copy_to(tmp_path / "copy")
    assert raised.value.errno == errno.ENOSPC
    assert [path.name for path in tmp_path.iterdir()] == ["original"]


def test_fingerprint_depends_on_tables():
    table = np.zeros(169, np.uint16)
    first = CardAbstraction([StreetAbstraction("table", 2, (2,), table=table)], {})
    changed = table.copy()
    changed[5] = 1
    assert CardAbstraction([StreetAbstraction("table", 2, (2,), table=changed)], {}).fingerprint != first.fingerprint
    assert CardAbstraction([StreetAbstraction("table", 2, (2,), table=table)], {}).fingerprint == first.fingerprint


def test_lookup_checks_cards():
    abstraction = made_up(("lossless", "lossless"))
    for hand, board in (("AsAs", ""), ("AsKd", "2c"), ("AsKd", "2c3c4c5c")):
        cards = [parse_cards(hand[i : i + 2])[0] for i in (0, 2)]
        with pytest.raises(ValueError, match="expected two hole cards and 0, 3 board cards"):
            abstraction.bucket(cards, parse_cards(board))


def test_lossless_and_none_need_no_strength():
    lossless = build_cards(CardConfig(streets=[StreetCards(method="lossless")] * 2))
    assert lossless.num_buckets == (169, 1_286_792)
    none = build_cards(CardConfig(streets=[StreetCards(method="none")]))
    assert none.num_buckets == (1326,)
    assert none.bucket(parse_cards("2d2c")) == 0 and none.bucket(parse_cards("AsAh")) == 1325


@pytest.mark.parametrize(
    "streets, public",
    [
        ([{"method": "percentile-nested", "buckets": 5}], None),
        ([{"method": "percentile"}], None),
        ([{"method": "lossless", "buckets": 3}], None),
        ([{"method": "lossless"}, {"method": "kmeans-ochs", "buckets": 3}], None),
        ([{"method": "kmeans-emd", "buckets": 3}], None),
        ([{"method": "lossless"}] * 2 + [{"method": "none"}], None),
        ([{"method": "lossless"}], PublicClusters()),
        ([{"method": "lossless"}, {"method": "lossless"}], PublicClusters()),
        ([{"method": "lossless", "colour": 1}], None),
        ([], None),
    ],
)
def test_wrong_configurations(streets, public):
    with pytest.raises(ValidationError):
        CardConfig(streets=streets, public=public)


@settings(deadline=None)
@given(st.permutations(range(52)))
def test_raw_numbers_are_distinct_for_distinct_cards(deck):
    abstraction = made_up(("raw", "raw"))
    hand, board = deck[:2], deck[2:5]
    assert abstraction.bucket(hand, board) == abstraction.bucket(hand[::-1], board[::-1])
    assert abstraction.bucket(hand, board) != abstraction.bucket(hand, [*deck[2:4], deck[5]])


def test_every_kind_has_its_maker():
    assert all(callable(load_maker(kind)) for kind in BUCKET_KINDS)
    with pytest.raises(ValueError, match=r"got 'percentil' \(did you mean percentile\?\)"):
        StreetCards(method="percentil", buckets=5)
