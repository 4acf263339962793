"""Exact hand strength on every street, by enumeration.

Hand strength HS is the probability of beating one uniformly random opponent hand, a tie counting half, given the cards
seen. E[HS] and E[HS^2] are expectations over the board cards still to come, up to five, of the final HS and its square
(Zinkevich et al., NIPS 2007, section 4.1). All sums are kept as integers, so equal strengths are equal numbers.

The final strengths of all hands on the 134,459 suit-distinct boards come first; turn and flop sums follow from them
board by board, by relabelling suits. Tables by class of (hand, unordered board) are kept in a checked cache.
"""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foldwise.abstraction.cards import hand_strength_kernels as kernels
from foldwise.abstraction.cards.boards import Boards, boards
from foldwise.abstraction.storage.array_folder import kept_arrays
from foldwise.abstraction.threads import Report, run_blocks
from foldwise.game.compiled import cache_folder
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.sources import source_hash

FORMAT_VERSION = 1
STRENGTH_UNIT = 1980  # a final strength of 1: twice the C(45, 2) opponent hands
BOARD_SIZES = (0, 3, 4, 5)  # by street
# Sums on a street run over the cards to come in order: 50 * 49 * 48 / 6 flops, then 47 turns, then 46 rivers.
RUNOUTS = (19600 * 47 * 46, 47 * 46, 46, 1)


class HandStrength:
    """The tables, each made or loaded when first asked for. `report` is told of progress."""

    def __init__(self, folder: Path | None = None, report: Report | None = None) -> None:
        self.folder = (folder or cache_folder() / "hand-strength") / source_hash(__name__)
        self.report = report

    @cached_property
    def river_boards(self) -> NDArray[np.uint16]:
        """[134459, 1326] final strength of every pair on every suit-distinct board, in units of 1/1980."""
        return self._cached("river-boards", lambda: {"strengths": self._make_river_boards()})["strengths"]

    @cached_property
    def river_classes(self) -> NDArray[np.uint16]:
        """[123156254] final strength of every class of hand and unordered river board, in units of 1/1980."""
        return self._cached("river-classes", lambda: {"strengths": self._make_river_classes()})["strengths"]

    @cached_property
    def turn_boards(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """[16432, 1326] sums of strength, and of its square, over 46 rivers. Quick to make, so not kept."""
        rows = boards(4)
        sums = np.empty((len(rows.cards), NUM_PAIRS), np.uint32)
        squares = np.empty_like(sums)
        river_boards, strengths = boards(5), self.river_boards

        def work(first: int, last: int) -> None:
            kernels.turn_block(rows, river_boards, strengths, first, last, sums, squares)

        run_blocks(work, len(rows.cards), "turn", self.report)
        return sums, squares

    @cached_property
    def flop_boards(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """[1755, 1326] sums of strength, and of its square, over 47 turns and 46 rivers."""
        rows, turn_rows = boards(3), boards(4)
        sums = np.empty((len(rows.cards), NUM_PAIRS), np.uint64)
        squares = np.empty_like(sums)
        turn_sums, turn_squares = self.turn_boards

        def work(first: int, last: int) -> None:
            kernels.flop_block(rows, turn_rows, turn_sums, turn_squares, first, last, sums, squares)

        run_blocks(work, len(rows.cards), "flop", self.report)
        return sums, squares

    def sums(self, street: int, metric: str) -> NDArray[Any]:
        """Exact sums by class of the street (169; 1,286,792; 13,960,050; 123,156,254), metric `hs` or `hs2`.

        Divide by `scale(street, metric)` for E[HS] or E[HS^2]. The river has one table: its `hs` orders `hs2` too.
        """
        if metric not in ("hs", "hs2"):
            raise ValueError(f"metric {metric!r}: expected hs or hs2")
        if street == 3:
            strengths = self.river_classes
            return strengths if metric == "hs" else strengths.astype(np.uint32) ** 2
        return self._class_tables[f"{('preflop', 'flop', 'turn')[street]}-{metric}"]

    def values(self, street: int, metric: str) -> NDArray[np.float64]:
        """E[HS] (`hs`) or E[HS^2] (`hs2`) by class of the street."""
        return np.asarray(self.sums(street, metric) / scale(street, metric), np.float64)

    def masses(self, street: int) -> NDArray[np.int64]:
        """How many card combinations each class of the street has; not kept for the river."""
        return self._class_tables[f"{('preflop', 'flop', 'turn')[street]}-mass"].astype(np.int64)

    def board_sums(self, street: int, metric: str) -> NDArray[Any]:
        """[boards of the street, 1326] exact sums, as `sums` has them by class; zero where cards clash."""
        if street == 3:
            return self.river_boards if metric == "hs" else self.river_boards.astype(np.uint32) ** 2
        sums, squares = self.flop_boards if street == 1 else self.turn_boards
        return sums if metric == "hs" else squares

    @cached_property
    def _class_tables(self) -> dict[str, NDArray[Any]]:
        return self._cached("classes", self._make_class_tables)

    def _cached(self, name: str, make: Callable[[], dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
        """Arrays of one cache folder, named by the sources they are made with."""
        return kept_arrays(self.folder / name, f"hand strength {name}", FORMAT_VERSION, self.folder.name, {}, make)

    def _make_river_boards(self) -> NDArray[np.uint16]:
        rows, evaluator = boards(5), evaluator_tables()
        out = np.empty((len(rows.cards), NUM_PAIRS), np.uint16)

        def work(first: int, last: int) -> None:
            kernels.river_block(evaluator, rows.cards, PAIR_CARDS, first, last, out)

        run_blocks(work, len(out), "river boards", self.report)
        return out

    def _make_river_classes(self) -> NDArray[np.uint16]:
        return self._by_class(boards(5), self.river_boards, "river classes")

    def _make_class_tables(self) -> dict[str, NDArray[Any]]:
        tables: dict[str, NDArray[Any]] = {}
        for size, street, (sums, squares) in ((4, "turn", self.turn_boards), (3, "flop", self.flop_boards)):
            made = self._sums_by_class(boards(size), sums, squares, f"{street} classes")
            tables |= {f"{street}-{name}": array for name, array in zip(("hs", "hs2", "mass"), made)}
        index = hand_index((2,))
        classes = index.index_hands(PAIR_CARDS)
        masses = np.bincount(classes, minlength=index.size)
        tables["preflop-mass"] = masses.astype(np.uint32)
        orbits = boards(3).orbits.astype(np.uint64)
        for name, flop in zip(("hs", "hs2"), self.flop_boards):
            total = np.zeros(index.size, np.uint64)
            np.add.at(total, classes, orbits @ flop)
            # The pairs of a class have equal sums, so the division leaves no rest.
            tables[f"preflop-{name}"] = total // masses.astype(np.uint64)
        return tables

    def _sums_by_class(
        self, rows: Boards, sums: NDArray[Any], squares: NDArray[Any], stage: str
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.uint8]]:
        index = hand_index((2, rows.cards.shape[1]))
        made = np.empty(index.size, sums.dtype), np.empty(index.size, squares.dtype), np.empty(index.size, np.uint8)

        def work(first: int, last: int) -> None:
            kernels.class_sums_block(index.tables, rows, PAIR_CARDS, first, last, sums, squares, *made)

        run_blocks(work, len(rows.cards), stage, self.report)
        return made

    def _by_class(self, rows: Boards, values: NDArray[Any], stage: str) -> NDArray[Any]:
        index = hand_index((2, rows.cards.shape[1]))
        out = np.empty(index.size, values.dtype)

        def work(first: int, last: int) -> None:
            kernels.class_block(index.tables, rows, PAIR_CARDS, first, last, values, out)

        run_blocks(work, len(rows.cards), stage, self.report)
        return out


def scale(street: int, metric: str) -> float:
    """What a sum of `HandStrength.sums` is divided by."""
    return float(RUNOUTS[street] * STRENGTH_UNIT ** (2 if metric == "hs2" else 1))
