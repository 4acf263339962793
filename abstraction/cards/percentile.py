"""Buckets by percentile of hand strength, alone or within a parent: the bucket of the street before, or a flop cluster.

Zinkevich et al. (NIPS 2007), section 4.1: sequences that share a bucket on one street are cut into equal parts by the
metric on the next. Mass is the number of card combinations. Hands of equal metric stay together: each distinct value
goes where the middle of its mass falls. Bucket numbers are parent * buckets + part, weakest first.
"""

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from foldwise.abstraction.cards import percentile_kernels as kernels
from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.card_abstraction import CardAbstractionTables, StreetAbstraction
from foldwise.abstraction.cards.hand_strength import STRENGTH_UNIT, HandStrength
from foldwise.abstraction.cards.hand_strength_kernels import class_block
from foldwise.abstraction.threads import Report, run_blocks
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS

if TYPE_CHECKING:
    from foldwise.abstraction.cards.card_building import Builder
    from foldwise.abstraction.cards.card_config import StreetCards

MAX_TABLE = 1 << 16  # tables hold uint16


def parts_of(masses: NDArray[Any], num_parts: int) -> NDArray[np.int64]:
    """Part (0 to num_parts - 1) of each of a row of values in rising order, by the middle of its mass."""
    masses = masses.astype(np.int64)
    ends = np.cumsum(masses)
    if ends.size == 0 or ends[-1] == 0:
        return np.zeros(masses.size, np.int64)
    return np.asarray(np.minimum((2 * ends - masses) * num_parts // (2 * ends[-1]), num_parts - 1))


def thresholds_of(values: NDArray[Any], masses: NDArray[Any], num_parts: int) -> NDArray[np.uint64]:
    """[num_parts - 1] the least value of part 1, 2, ...: a value's part is how many thresholds it reaches."""
    distinct, which = np.unique(values, return_inverse=True)
    return _thresholds(distinct, np.bincount(which, weights=masses).astype(np.int64), num_parts)


def _thresholds(distinct: NDArray[Any], masses: NDArray[np.int64], num_parts: int) -> NDArray[np.uint64]:
    parts = parts_of(masses, num_parts)
    places = np.searchsorted(parts, np.arange(1, num_parts), side="left")
    never = np.uint64(1 << 63)  # an empty part at the top
    padded = np.concatenate((distinct.astype(np.uint64), [never]))
    return padded[places]


def percentile_buckets(builder: "Builder", street: int, cards: "StreetCards") -> StreetAbstraction:
    """By hand strength: all hands of a street together, within its clusters, or within the buckets before it."""
    assert cards.buckets is not None
    strength, clusters = builder.strength, builder.clusters
    if street == 0:
        return preflop_percentile(strength, cards.buckets, cards.metric)
    kind, num_parents = "none", 1
    if clusters is not None:
        kind, num_parents = "cluster", int(clusters.max()) + 1
    elif cards.method == "percentile-nested":
        kind, num_parents = "bucket", builder.streets[-1].num_buckets
    parents = builder.parents(street, kind)
    if street == 1:
        return flop_percentile(strength, cards.buckets, cards.metric, parents, num_parents)
    if street == 2:
        return turn_percentile(strength, cards.buckets, cards.metric, parents, num_parents, kind)
    return river_percentile(strength, cards.buckets, parents, num_parents, kind, builder.earlier().tables)


def preflop_percentile(strength: HandStrength, num_parts: int, metric: str) -> StreetAbstraction:
    """Equal parts of the 1,326 hands."""
    values = strength.sums(0, metric).astype(np.uint64)
    thresholds = thresholds_of(values, strength.masses(0), num_parts)
    table = np.searchsorted(thresholds, values, side="right").astype(np.uint16)
    return StreetAbstraction("table", num_parts, (2,), table=table)


def flop_percentile(
    strength: HandStrength, num_parts: int, metric: str, parents: NDArray[np.int32], num_parents: int
) -> StreetAbstraction:
    """Equal parts within each parent; `parents` [1755, 1326] is -1 where cards clash."""
    check_table(num_parts * num_parents)
    rows = boards(3)
    values = strength.board_sums(1, metric)
    buckets = np.zeros(values.shape, np.uint16)
    orbits = np.broadcast_to(rows.orbits[:, None], values.shape)
    order = np.argsort(parents, axis=None, kind="stable")
    edges = np.searchsorted(parents.ravel()[order], np.arange(num_parents + 1))
    for parent in range(num_parents):
        own = order[edges[parent] : edges[parent + 1]]
        own_values = values.ravel()[own]
        thresholds = thresholds_of(own_values, orbits.ravel()[own], num_parts)
        buckets.ravel()[own] = parent * num_parts + np.searchsorted(thresholds, own_values, side="right")
    return StreetAbstraction("table", num_parts * num_parents, (2, 3), table=flop_table(buckets))


def flop_table(buckets: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """[1286792] buckets by class, from [1755, 1326]."""
    index = hand_index((2, 3))
    table = np.empty(index.size, np.uint16)
    class_block(index.tables, boards(3), PAIR_CARDS, 0, len(buckets), buckets, table)
    return table


def flop_class_rows() -> NDArray[np.int64]:
    """[1755, 1326] class of every pair on every suit-distinct flop; -1 where cards clash."""
    rows = boards(3)
    out = np.empty((len(rows.cards), NUM_PAIRS), np.int64)
    kernels.flop_classes(hand_index((2, 3)).tables, rows, PAIR_CARDS, out)
    return out


def turn_percentile(
    strength: HandStrength, num_parts: int, metric: str, parents: NDArray[np.int32], num_parents: int, parent: str
) -> StreetAbstraction:
    """Equal parts within each parent, which the flop decides; without parents the board's order does not matter."""
    classes = strength.sums(2, metric)
    if parent == "none":
        check_table(num_parts)
        thresholds = thresholds_of(classes, strength.masses(2), num_parts)
        return StreetAbstraction("table", num_parts, (2, 4), table=_cells_of(classes, thresholds, strength.report))
    keys, edges = _turn_keys(strength, metric, parents, num_parents)
    thresholds = np.empty((num_parents, num_parts - 1), np.uint64)

    def work(first: int, last: int) -> None:
        for own in range(first, last):
            segment = np.sort(keys[edges[own] : edges[own + 1]])
            values = segment >> np.uint64(kernels.ORBIT_BITS)
            orbits = (segment & np.uint64((1 << kernels.ORBIT_BITS) - 1)).astype(np.int64)
            begins = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))[: values.size]
            masses = np.add.reduceat(orbits, begins) if values.size else orbits
            thresholds[own] = _thresholds(values[begins], masses, num_parts)

    run_blocks(work, num_parents, "turn thresholds", strength.report, block=1)
    edges_of_cells = np.unique(thresholds)
    check_table(edges_of_cells.size + 1)
    cells = np.zeros((num_parents, edges_of_cells.size + 1), np.int32)
    for own in range(num_parents):
        cells[own, 1:] = np.searchsorted(thresholds[own], edges_of_cells, side="right")
        cells[own] += own * num_parts
    table = _cells_of(classes, edges_of_cells, strength.report)
    return StreetAbstraction("cells", num_parts * num_parents, (2, 4), parent, table=table, cells=cells)


def _turn_keys(
    strength: HandStrength, metric: str, parents: NDArray[np.int32], num_parents: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Value and weight of every (flop row, pair, turn card), 97 million of them, in one segment for each parent."""
    flops, turns, values = boards(3), boards(4), strength.board_sums(2, metric)
    counts = np.zeros((len(flops.cards), num_parents), np.int64)
    kernels.count_turns(parents, counts)
    ends = np.cumsum(counts.T.ravel())  # parent by parent, row by row within
    starts = np.ascontiguousarray((ends - counts.T.ravel()).reshape(num_parents, -1).T)
    keys = np.empty(ends[-1], np.uint64)

    def work(first: int, last: int) -> None:
        kernels.turn_keys_block(flops, turns, PAIR_CARDS, values, parents, starts, first, last, keys)

    run_blocks(work, len(flops.cards), "turn deals", strength.report)
    return keys, np.concatenate(([0], np.cumsum(counts.sum(axis=0))))


def _cells_of(values: NDArray[Any], edges: NDArray[np.uint64], report: Report | None) -> NDArray[np.uint16]:
    """How many edges each value reaches."""
    out = np.empty(values.size, np.uint16)
    narrow = np.minimum(edges, np.iinfo(values.dtype).max).astype(values.dtype)

    def work(first: int, last: int) -> None:
        out[first:last] = np.searchsorted(narrow, values[first:last], side="right")

    run_blocks(work, values.size, "turn cells", report)
    return out


def river_percentile(
    strength: HandStrength,
    num_parts: int,
    parents: NDArray[np.int32],
    num_parents: int,
    parent: str,
    earlier: CardAbstractionTables | None = None,
) -> StreetAbstraction:
    """Equal parts within each parent: a turn bucket (looked up in `earlier`) or what `parents` says of the flop.

    The river's own strength is the cell, so both metrics give the same buckets: the square keeps the order.
    """
    counts = np.zeros((num_parents, STRENGTH_UNIT + 1), np.int64)
    flops, turns, rivers, strengths = boards(3), boards(4), boards(5), strength.river_boards
    lock = Lock()

    def work(first: int, last: int) -> None:
        own = np.zeros_like(counts)
        if parent == "none":
            kernels.river_counts_alone_block(rivers, PAIR_CARDS, strengths, first, last, own)
        else:
            assert earlier is not None, "a parent on the turn or the flop needs the streets before"
            kernels.river_counts_block(
                flops, turns, rivers, PAIR_CARDS, strengths, earlier, parents, parent == "bucket", first, last, own
            )
        with lock:
            np.add(counts, own, out=counts)

    run_blocks(work, len(rivers.cards) if parent == "none" else len(flops.cards), "river deals", strength.report)
    cells = np.array([own * num_parts + parts_of(row, num_parts) for own, row in enumerate(counts)], np.int32)
    return StreetAbstraction(
        "cells", num_parts * num_parents, (2, 5), parent, table=strength.river_classes, cells=cells
    )


def check_table(num_entries: int) -> None:
    if num_entries > MAX_TABLE:
        raise DefinitionError(f"{num_entries} buckets on one street: at most {MAX_TABLE} fit; ask for fewer buckets")
