"""Copies of a run's strategy sums at milestones: the sums of its later part are the final ones minus the copy.

An average over a later part of the run then takes a subtraction instead of a run. Every sum is made of the same additions
in the same order as without copies, so they change nothing of a run; a difference is that of a run which began to sum there,
to the rounding of the larger sums.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.storage.array_store import ArrayEntry, open_array, write_chunks
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.solver.checkpoint import KeptSums, Passed, Solver, SummingSolver
from foldwise.solver.regret_kernels import copy_sums

_CHUNK_ENTRIES = 1 << 22


class EarlierSums(NamedTuple):
    """What an average leaves out, as `abstraction.strategy_kernels.later_sum` takes it."""

    earlier: npt.NDArray[Any] | None = None  # [E]
    share: float = 1.0  # what discounts have left of them since
    iterations: int = 0  # that made them


def array_name(part: str) -> str:
    """The checkpoint's name for the copy of a part."""
    return f"sums-{part}"


def write_sums(folder: Path, game: AbstractGame, solver: Solver, part: str, seconds: float, passed: Passed) -> None:
    """Copy the strategy sums to the folder, where the next checkpoint names them."""
    assert isinstance(solver, SummingSolver)
    folder.mkdir(parents=True, exist_ok=True)
    entry = write_chunks(
        folder,
        f"checkpoint-{array_name(part)}-{solver.iteration}",
        solver.table.dtype,
        (game.num_entries,),
        _sums(game, solver.table),
    )
    passed.arrays[array_name(part)] = entry
    passed.kept[part] = KeptSums(
        iterations=solver.iteration, nodes=solver.nodes, seconds=seconds, sum_factor=solver.sum_factor
    )


def open_sums(folder: Path, entry: ArrayEntry, kept: KeptSums, sum_factor: float) -> EarlierSums:
    """A copy, mapped; `sum_factor` as the solver has it now."""
    return EarlierSums(open_array(folder, entry), sum_factor / kept.sum_factor, kept.iterations)


def _sums(game: AbstractGame, table: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """The strategy sums in the order of the entries, which is that of the nodes, a few million at a time."""
    nodes = game.tree.nodes[game.tree.nodes["kind"] == DECISION]
    buckets = game.deals.num_buckets[nodes["street"], nodes["player"]].astype(np.int64)
    ends = np.cumsum(buckets * nodes["num_children"])
    first = 0
    while first < len(nodes):
        start = int(nodes["base"][first])
        last = max(first + 1, int(np.searchsorted(ends, start + _CHUNK_ENTRIES, side="right")))
        sums = np.empty(int(ends[last - 1]) - start, dtype=table.dtype)
        copy_sums(nodes[first:last], game.deals.num_buckets, table, sums)
        yield sums
        first = last
