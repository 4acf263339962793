"""Checkpoints of a distributed run: a shard from every child and the head's own arrays, committed by one rename.

The head asks for shards when no batch is in flight, so that all of them and its own tables are of the same iteration;
the new manifest names them all or the old one stays. A shard says which clusters it holds, and a child looks for its
clusters in all shards: so a run can be resumed with another number of children, and a restarted child reloads likewise.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.storage.array_store import (
    ArrayEntry,
    commit_manifest,
    open_array,
    read_manifest,
    remove_stale,
    verify_array,
)
from foldwise.game.primitives.rng import make_states
from foldwise.solver.checkpoint import SavedRun, check_resumable, first_difference
from foldwise.solver.distributed.pieces import Piece, child_piece

MANIFEST: Final = "distributed.json"
FORMAT_VERSION: Final = 1


class Shard(BaseModel):
    """One child's part."""

    model_config = ConfigDict(extra="forbid")

    clusters: list[int]  # in the order of their rows
    scale: float  # how many times as fast its regrets grow as the local solver's
    table: ArrayEntry
    rng: ArrayEntry


class DistributedManifest(SavedRun):
    """`distributed.json`; its arrays are the head's, none at the very start."""

    format_version: int = FORMAT_VERSION
    kind: str = "foldwise distributed checkpoint"
    run: str  # unique per run, so that a restarted child never loads another run's shard
    shards: list[Shard]


def commit(folder: Path, manifest: DistributedManifest) -> None:
    """Make a checkpoint the current one, and remove what it does not name."""
    commit_manifest(folder, MANIFEST, manifest)
    arrays = [*manifest.arrays.values(), *(entry for shard in manifest.shards for entry in (shard.table, shard.rng))]
    keep = {entry.file: entry for entry in arrays}
    for pattern in ("shard-*.npy", "head-*.npy"):
        remove_stale(folder, pattern, keep)


def read(folder: Path, config: dict[str, Any], abstraction: str) -> DistributedManifest:
    """The checkpoint to resume; a config that differs in more than the children is refused, naming the difference."""
    manifest = read_manifest(folder, MANIFEST, DistributedManifest, "distributed run to resume")
    difference = first_difference(_without_children(manifest.config), _without_children(config))
    check_resumable(folder, manifest, difference, abstraction)
    entries = [*manifest.arrays.values(), *(entry for shard in manifest.shards for entry in (shard.table, shard.rng))]
    for entry in entries:
        verify_array(folder, entry)
    return manifest


def _without_children(config: dict[str, Any]) -> dict[str, Any]:
    """A config without the keys that may change when a run is resumed: children, their threads and batches."""
    solver = {key: value for key, value in (config.get("solver") or {}).items() if key != "threads"}
    weigh = (config.get("distributed") or {}).get("weigh_by_flops", True)
    return {**config, "solver": solver, "distributed": {"weigh_by_flops": weigh}}


def load_shard(
    folder: Path,
    run: str,
    game: AbstractGame,
    piece: Piece,
    scale: float,
    table: npt.NDArray[np.float64],
    rng: npt.NDArray[np.uint64],
) -> None:
    """Fill a child's table from the shards that hold its clusters; leaves it alone without a checkpoint of this run.

    Rows that change owner are rescaled to the new owner's `scale`, so that old iterations weigh as much as new ones. Its
    generators continue where they were if the shard is its own; else they start a stream no earlier child has used.
    """
    if not (folder / MANIFEST).exists():
        return
    manifest = read_manifest(folder, MANIFEST, DistributedManifest, "distributed run")
    if manifest.run != run:
        return
    is_own = not manifest.shards  # at the very start the streams are the child's
    for shard in manifest.shards:
        if not set(shard.clusters) & set(piece.clusters):
            continue
        other = child_piece(game, shard.clusters)
        other.copy_to(piece, 2, open_array(folder, shard.table), table, factor=scale / shard.scale)
        if tuple(shard.clusters) == piece.clusters and shard.rng.shape == rng.shape:
            rng[:] = open_array(folder, shard.rng)
            is_own = True
    if not is_own:
        rng[:] = fresh_streams(rng, manifest.iterations)


def fresh_streams(rng: npt.NDArray[np.uint64], iterations: int) -> npt.NDArray[np.uint64]:
    """Other streams for the same workers: seeded by their first numbers and the iteration."""
    return np.concatenate([make_states(int(state[0]) ^ iterations, 1) for state in rng])
