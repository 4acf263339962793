# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Bucket lookup kernels. `cards`: hole cards, then the board in the order it was dealt."""

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.hands.hand_index_kernels import NUM_ROUNDS, index_cards_at

# How a street finds its bucket.
LOSSLESS, RAW, TABLE, CELLS, NEAREST = range(5)
# What selects a street's row of cells or centres.
NO_PARENT, PARENT_BUCKET, PARENT_CLUSTER = range(3)
# `plan` is one int64 array: a row of these for each of four streets, then where the index of flops alone begins, then
# the hand-index tables. Few arrays, because each is handed over by every call; `_nrt=False` as in hand_index_kernels.
METHOD, PARENT, INDEX, CELLS_START, CELLS_WIDTH, CENTRES_START, NUM_CENTRES, NUM_BUCKETS, PLAN_ROW = range(9)
CLUSTER_INDEX = 4 * PLAN_ROW
PLAN_HEADER = CLUSTER_INDEX + 1


@kernel(_nrt=False)
def bucket_of(tables, street, cards):  # CardAbstractionTables, 0..3, [>= cards of the street]
    """Bucket on one street; earlier streets are looked up only if it depends on them."""
    first = street
    while first > 0 and tables.plan[PLAN_ROW * first + PARENT] == PARENT_BUCKET:
        first -= 1
    bucket = 0
    if street > 0 and tables.plan[PLAN_ROW * first + PARENT] == PARENT_CLUSTER:
        bucket = np.int64(tables.clusters[index_cards_at(tables.plan, tables.plan[CLUSTER_INDEX], cards[2:])])
    for s in range(first, street + 1):
        bucket = street_bucket(tables, s, bucket, cards)
    return bucket


@kernel(_nrt=False)
def street_bucket(tables, street, parent, cards):
    """Bucket on one street within a parent: the class itself, or its table entry, or the parent's cell or centre."""
    row = PLAN_ROW * street
    method = tables.plan[row + METHOD]
    index = tables.plan[row + INDEX]
    if method == RAW:
        return raw_number(cards, tables.plan[index + NUM_ROUNDS])
    place = index_cards_at(tables.plan, index, cards)
    if method == LOSSLESS:
        return place
    if method == NEAREST:
        return nearest_centre(tables, row, parent, place)
    if street == 3:
        entry = np.int64(tables.river_table[place])
    elif street == 2:
        entry = np.int64(tables.turn_table[place])
    elif street == 1:
        entry = np.int64(tables.flop_table[place])
    else:
        entry = np.int64(tables.preflop_table[place])
    # Tables are checked when loaded; if a file changes afterwards, the index still stays within our arrays.
    last = tables.plan[row + NUM_BUCKETS] - 1
    if method == TABLE:
        return min(entry, last)
    width = tables.plan[row + CELLS_WIDTH]
    bucket = np.int64(tables.cells[tables.plan[row + CELLS_START] + parent * width + min(entry, width - 1)])
    return min(max(bucket, 0), last)


@kernel(_nrt=False)
def nearest_centre(tables, row, parent, place):
    """The parent's centre with the least squared distance to the features of class `place`; ties go to the first."""
    count = tables.plan[row + NUM_CENTRES]
    start = tables.plan[row + CENTRES_START] + parent * count
    best, best_distance = 0, np.int64(1) << 62
    for k in range(count):
        distance = 0
        for d in range(tables.features.shape[1]):
            difference = np.int64(tables.features[place, d]) - np.int64(tables.centres[start + k, d])
            distance += difference * difference
        if distance < best_distance:
            best, best_distance = k, distance
    return parent * count + best


@kernel(_nrt=False)
def raw_number(cards, num_rounds):
    """Hole cards and flop as they are: pair * 22100 + flop, each by its combination number."""
    high, low = max(cards[0], cards[1]), min(cards[0], cards[1])
    pair = np.int64(high) * (high - 1) // 2 + low
    if num_rounds == 1:
        return pair
    top = max(cards[2], cards[3], cards[4])
    bottom = min(cards[2], cards[3], cards[4])
    middle = np.int64(cards[2]) + cards[3] + cards[4] - top - bottom
    flop = np.int64(top) * (top - 1) * (top - 2) // 6 + middle * (middle - 1) // 2 + bottom
    return pair * 22100 + flop


@kernel(_nrt=False)
def buckets_into(tables, num_streets, cards, out):  # CardAbstractionTables, -, [>= cards of the last], [num_streets]
    """Bucket on each of the first `num_streets` streets, as one deal needs them."""
    cluster = 0
    if num_streets > 1 and tables.clusters.size > 0:
        cluster = np.int64(tables.clusters[index_cards_at(tables.plan, tables.plan[CLUSTER_INDEX], cards[2:])])
    for street in range(num_streets):
        parent = cluster
        if street > 0 and tables.plan[PLAN_ROW * street + PARENT] == PARENT_BUCKET:
            parent = out[street - 1]
        out[street] = street_bucket(tables, street, parent, cards)


@kernel(_nrt=False)
def bucket_hands_into(tables, street, hands, out):  # CardAbstractionTables, -, [n, cards], [n]
    for h in range(hands.shape[0]):
        out[h] = bucket_of(tables, street, hands[h])
