"""Checkpoints: everything a run needs to be resumed, committed beside the strategy by one rename."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from foldwise.abstraction.storage.array_store import (
    ArrayEntry,
    commit_manifest,
    find_entry,
    open_array,
    read_manifest,
    remove_stale,
    verify_array,
    write_array,
)
from foldwise.abstraction.storage.whole_file import make_folder
from foldwise.abstraction.strategy import Evaluation
from foldwise.game.errors import FormatError

MANIFEST: Final = "checkpoint.json"
FORMAT_VERSION: Final = 1
# Keys of the config that may differ between a run and its continuation: when to stop, evaluate and save.
_MAY_DIFFER = frozenset(
    {"iterations", "nodes", "seconds", "exploitability_mbb", "evaluate_seconds", "checkpoint_seconds", "average_from"}
)


class Solver(Protocol):
    """What a run drives: a sampler or a full-width solver."""

    iteration: int
    nodes: int
    effective_iterations: float

    @property
    def table(self) -> Any:
        """[2 E] regrets and strategy sums of the whole game, in single or double precision."""

    @property
    def largest_step(self) -> int:
        """Iterations `advance` may be asked for at once."""

    def advance(self, iterations: int) -> None:
        """Run that many iterations."""

    def arrays(self) -> Mapping[str, npt.NDArray[Any]]:
        """The arrays of its state by name, filled in place when a run is resumed."""


@runtime_checkable
class SummingSolver(Protocol):
    """A solver whose strategy sums only grow, except for discounts, so that a later part's sums are a difference."""

    sum_factor: float  # the product of all discounts so far


class KeptSums(BaseModel):
    """Where in a run the strategy sums were copied; the copy is the array `sums-PART` of the checkpoint."""

    model_config = ConfigDict(extra="forbid")

    iterations: int
    nodes: int
    seconds: float
    sum_factor: float


class SavedRun(BaseModel):
    """What every checkpoint records about its run."""

    model_config = ConfigDict(extra="forbid")

    config: dict[str, Any]
    abstraction: str
    iterations: int
    nodes: int
    seconds: float
    effective_iterations: float
    history: list[Evaluation]
    arrays: dict[str, ArrayEntry]


class CheckpointManifest(SavedRun):
    """`checkpoint.json`."""

    format_version: int = FORMAT_VERSION
    kind: str = "foldwise checkpoint"
    sum_factor: float = 1.0
    passed_share: float | None = None  # of the plan: the last milestone passed; None in files without milestones
    kept: dict[str, KeptSums] = {}


@dataclass
class Passed:
    """The part of its plan that a run has completed."""

    share: float = 0.0  # of the last milestone
    kept: dict[str, KeptSums] = field(default_factory=dict)  # by part, as in `solver.milestones`
    arrays: dict[str, ArrayEntry] = field(default_factory=dict)  # the sums themselves, `sums-PART`


def save_checkpoint(
    folder: Path,
    solver: Solver,
    config: dict[str, Any],
    abstraction: str,
    seconds: float,
    history: list[Evaluation],
    passed: Passed | None = None,
) -> None:
    """Write and commit; if that fails, the previous checkpoint stays."""
    passed = passed or Passed()
    make_folder(folder)
    entries = {
        name: write_array(folder, f"checkpoint-{name}-{solver.iteration}", array)
        for name, array in solver.arrays().items()
    } | passed.arrays
    manifest = CheckpointManifest(
        config=config,
        abstraction=abstraction,
        iterations=solver.iteration,
        nodes=solver.nodes,
        seconds=seconds,
        effective_iterations=solver.effective_iterations,
        sum_factor=solver.sum_factor if isinstance(solver, SummingSolver) else 1.0,
        history=history,
        passed_share=passed.share,
        kept=passed.kept,
        arrays=entries,
    )
    commit_manifest(folder, MANIFEST, manifest)
    remove_stale(folder, "checkpoint-*.npy", entries)


def load_checkpoint(folder: Path, solver: Solver, config: dict[str, Any], abstraction: str) -> CheckpointManifest:
    """Restore a solver from its checkpoint; a config that differs is refused, naming the difference."""
    manifest = read_manifest(folder, MANIFEST, CheckpointManifest, "run to resume")
    check_resumable(folder, manifest, first_difference(manifest.config, config), abstraction)
    for entry in manifest.arrays.values():
        verify_array(folder, entry)
    for name, array in solver.arrays().items():
        array[:] = open_array(folder, find_entry(folder / MANIFEST, manifest.arrays, name))
    solver.iteration = manifest.iterations
    solver.nodes = manifest.nodes
    solver.effective_iterations = manifest.effective_iterations
    if isinstance(solver, SummingSolver):
        solver.sum_factor = manifest.sum_factor
    return manifest


def check_resumable(folder: Path, saved: SavedRun, difference: str | None, abstraction: str) -> None:
    """Refuse a run whose config differs, or whose abstraction has changed."""
    if difference is not None:
        raise FormatError(f"{str(folder)!r} cannot be resumed with this config: {difference}")
    if saved.abstraction != abstraction:
        raise FormatError(
            f"{str(folder)!r} cannot be resumed: its abstraction is {saved.abstraction}, this one's {abstraction}; "
            "the code or the tables behind it changed"
        )


def read_visits(folder: Path, first_entry: int, num_actions: int, iterations: int) -> float | None:
    """The strategy sum of one infoset after `iterations`; None without a checkpoint of that iteration.

    `first_entry`: base + bucket * actions. In external sampling it counts the opponent's visits, one each; other
    samplers weigh a visit by reach, and discounting shrinks old ones.
    """
    if not (folder / MANIFEST).is_file():
        return None
    manifest = read_manifest(folder, MANIFEST, CheckpointManifest, "checkpoint")
    if manifest.iterations != iterations:
        return None
    row = open_array(folder, find_entry(folder / MANIFEST, manifest.arrays, "table"))[
        2 * first_entry : 2 * (first_entry + num_actions)
    ]
    return float(row[num_actions:].sum())


def first_difference(before: dict[str, Any], now: dict[str, Any], place: str = "") -> str | None:
    """The first key whose values differ between two configs, ignoring those that may."""
    for key in sorted(before.keys() | now.keys()):
        if place == "solver." and key in _MAY_DIFFER:
            continue
        first, second = before.get(key), now.get(key)
        if isinstance(first, dict) and isinstance(second, dict):
            deeper = first_difference(first, second, f"{place}{key}.")
            if deeper is not None:
                return deeper
        elif first != second:
            return f"{place}{key} was {first!r}, is {second!r}"
    return None
