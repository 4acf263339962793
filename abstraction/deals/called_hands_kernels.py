# mypy: allow-untyped-defs, allow-untyped-calls
"""Who wins a called hand, counted over blocks of boards."""

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.hands.evaluator_kernels import rank_pairs_into

NUM_PAIRS = 1326
_BOARDS_AT_ONCE = 256  # their ranks stay in the cache, and 16-bit counters cannot overflow
_NONE, _ONE = np.int16(0), np.int16(1)  # typed, so that the sums below stay in 16 bits


@kernel
def count_block(
    evaluator, board_cards, orbits, first, last, counts
):  # -, uint8[N, 5], int64[N], -, -, int32[1326, 1326]
    """Add, for pairs i > j on boards `first` to `last`, the boards each stands for: +1 where i ranks higher, -1 lower.

    A pair that clashes with the board has rank 0 and so loses to every other: over all boards, not only suit-distinct
    ones, pairs i and j clash alone equally often, and what that adds cancels out. Boards of one orbit size are counted
    together in 16 bits, a weight at the end: the inner loop does 16 pairs an instruction.
    """
    ranks = np.empty((_BOARDS_AT_ONCE, NUM_PAIRS), np.int16)
    tally = np.empty(NUM_PAIRS, np.int16)
    start = first
    while start < last:
        stop = start
        while stop < last and stop - start < _BOARDS_AT_ONCE and orbits[stop] == orbits[start]:
            rank_pairs_into(evaluator, board_cards[stop], 5, ranks[stop - start])
            stop += 1
        weight = np.int32(orbits[start])
        for i in range(1, NUM_PAIRS):
            tally[:i] = 0
            for board in range(stop - start):
                row = ranks[board]
                own = row[i]
                for j in range(i):
                    tally[j] += _ONE if own > row[j] else _NONE
                    tally[j] -= _ONE if own < row[j] else _NONE
            for j in range(i):
                counts[i, j] += weight * tally[j]
        start = stop
