"""What an all-in called before the flop is worth: the exact expectation over all boards, for every pair of hands.

The table holds, for each ordered pair of hole-card pairs, the boards on which the first wins minus those on which it
loses, of the C(48, 5) boards that are left: integers, so that equal hands have equal numbers. Counted once over the
134,459 suit-distinct boards, averaged over the 24 relabellings of suits, and kept in a checked cache.
"""

from math import comb
from pathlib import Path
from threading import local

import numpy as np
from numpy.typing import NDArray

from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.deals.called_hands_kernels import count_block
from foldwise.abstraction.storage.array_folder import kept_arrays
from foldwise.abstraction.threads import Report, run_blocks
from foldwise.game.compiled import cache_folder
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.sources import source_hash

FORMAT_VERSION = 1
NUM_BOARDS = comb(48, 5)  # left once both hands are dealt
_KIND = "called hands"


def disjoint_pairs() -> NDArray[np.bool_]:
    """[1326, 1326]: whether two hole-card pairs can be dealt together."""
    masks = (1 << PAIR_CARDS.astype(np.int64)).sum(axis=1)
    return np.asarray((masks[:, np.newaxis] & masks) == 0)


def called_hands(folder: Path | None = None, report: Report | None = None) -> NDArray[np.int32]:
    """[1326, 1326] boards won minus boards lost, of `NUM_BOARDS`; zero where the hands share a card."""
    place = (folder or cache_folder() / "called-hands") / source_hash(__name__)
    return kept_arrays(place, _KIND, FORMAT_VERSION, place.name, {}, lambda: {"won": _count(report)})["won"]


def _count(report: Report | None) -> NDArray[np.int32]:
    rows, evaluator = boards(5), evaluator_tables()
    by_orbit = np.argsort(rows.orbits, kind="stable")
    cards, orbits = rows.cards[by_orbit], rows.orbits[by_orbit]
    threads, parts = local(), []

    def work(first: int, last: int) -> None:
        if not hasattr(threads, "counts"):
            threads.counts = np.zeros((NUM_PAIRS, NUM_PAIRS), np.int32)
            parts.append(threads.counts)
        count_block(evaluator, cards, orbits, first, last, threads.counts)

    run_blocks(work, len(cards), "called hands", report)
    below = sum(part.astype(np.int64) for part in parts)
    counts = below - below.T
    total = np.zeros_like(counts)
    for relabelled in rows.pairs.astype(np.int64):
        total += counts[np.ix_(relabelled, relabelled)]
    won, rest = np.divmod(total * disjoint_pairs(), len(rows.pairs))
    assert not rest.any()  # every board of an orbit was counted the same number of times
    return np.asarray(won, np.int32)
