"""A distributed run: the local run's stop conditions, evaluations and files, with a head and children as its solver."""

import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.storage.array_store import ArrayEntry, find_entry, open_array, write_array
from foldwise.abstraction.storage.whole_file import make_folder
from foldwise.abstraction.strategy import StrategyManifest, commit_strategy, keep_cards, pack_strategy, stored_dtype
from foldwise.game.errors import DefinitionError
from foldwise.solver.config import RunConfig
from foldwise.solver.distributed import checkpoint
from foldwise.solver.distributed.child import ChildSpec
from foldwise.solver.distributed.engine import Engine, start_engine
from foldwise.solver.distributed.flops import cluster_flops
from foldwise.solver.distributed.head import Head
from foldwise.solver.distributed.pieces import (
    assign_clusters,
    check_children,
    child_piece,
    no_clusters,
    num_clusters,
    whole_pieces,
)
from foldwise.solver.run import Progress, SolverRun

_ZEROS = 1 << 22  # entries written at a time


def check_settings(config: RunConfig, ray_address: str | None) -> None:
    """Refuse what cannot be distributed before anything long starts."""
    _check_sampler(config)
    if config.cards is None or config.cards.public is None:
        raise no_clusters(config.name)
    check_children(config.distributed_options.children or 1, config.cards.public.clusters)
    if ray_address is not None:
        from foldwise.solver.distributed.ray_engine import check_address

        check_address(ray_address)


def _check_sampler(config: RunConfig) -> None:
    if config.solver.sampler != "external":
        raise DefinitionError(
            f"sampler {config.solver.sampler!r} with children: only external sampling is distributed; "
            "give --sampler external"
        )
    solver = config.solver
    for key, is_set in (
        ("average_from", solver.average_from != "start"),
        ("average_weights", solver.average_weights != "equal"),
        ("discount.share", solver.discount.share is not None),
        ("prune_from_share", solver.prune_from_share > 0.0),
        ("precision", solver.precision != "double"),
    ):
        if is_set:
            raise DefinitionError(f"solver.{key} with children: only a run on one machine follows it; leave it out")


def make_specs(game: AbstractGame, config: RunConfig, folder: Path, run: str) -> list[ChildSpec]:
    """Who gets which clusters."""
    num_clusters(game)  # refuses a game without clusters
    assert game.cards is not None
    options = config.distributed_options
    assigned = assign_clusters(cluster_flops(game.cards), options.children or 1, options.assignment)
    return [
        ChildSpec(config.model_dump(mode="json"), str(folder.resolve()), run, number, clusters)
        for number, clusters in enumerate(assigned)
    ]


class DistributedRun(SolverRun):
    """One solve by a head and children; close it when done."""

    def __init__(self, game: AbstractGame, config: RunConfig, folder: Path, resume: bool, ray_address: str | None):
        _check_sampler(config)
        self._folder, self._ray_address = folder, ray_address
        self._engine: Engine | None = None
        self._name = uuid.uuid4().hex
        if resume:
            manifest = checkpoint.read(folder, config.model_dump(mode="json"), game.fingerprint)
            self._name = manifest.run
        try:
            super().__init__(game, config, folder, resume)
        except BaseException:
            self.close()
            raise

    def _make_solver(self) -> Head:
        folder = self._folder
        make_folder(folder)
        specs = make_specs(self.game, self.config, folder, self._name)
        assert self.game.cards is not None
        keep_cards(folder, self.game.cards)  # children read them there
        self._engine = start_engine(specs, self._ray_address)
        self.head = Head(self.game, self.config, self._engine)
        return self.head

    def _start(self, resume: bool) -> None:
        """Start, or resume from the checkpoint, from which the children have already resumed."""
        if not resume:
            self._commit({}, [])  # names the run: from here on a child or the head may die
            return
        manifest = checkpoint.read(self.folder, self._config_dict, self.game.fingerprint)
        if manifest.arrays:
            for name, array in self.head.arrays().items():
                array[:] = open_array(self.folder, find_entry(self.folder / checkpoint.MANIFEST, manifest.arrays, name))
        self.head.restore(manifest.iterations, manifest.nodes, manifest.effective_iterations)
        self.seconds = manifest.seconds
        self.history = manifest.history
        self._saved_iteration = manifest.iterations

    def _commit(self, arrays: dict[str, ArrayEntry], shards: list[checkpoint.Shard]) -> None:
        checkpoint.commit(
            self.folder,
            checkpoint.DistributedManifest(
                run=self._name,
                config=self._config_dict,
                abstraction=self.game.fingerprint,
                iterations=self.head.iteration,
                nodes=self.head.nodes,
                seconds=self.seconds,
                effective_iterations=self.head.effective_iterations,
                history=self.history,
                arrays=arrays,
                shards=shards,
            ),
        )

    def checkpoint(self) -> None:
        """Save a consistent state: no batch in flight, every child's shard, the head's arrays, one rename."""
        self.head.drain()
        iteration = self.head.iteration
        if self._saved_iteration == iteration:
            return
        pending = self.head.engine.call_all("save", str(self.folder.resolve()), iteration)
        arrays = {
            name: write_array(self.folder, f"head-{name}-{iteration}", array)
            for name, array in self.head.arrays().items()
        }
        self._commit(arrays, pending())
        self._saved_iteration = iteration

    def _mean_regret(self) -> float:
        return self.head.mean_regret()

    def progress(self) -> Progress:
        return replace(super().progress(), children=self.head.children(), waiting_share=self.head.waiting_share)

    def _save_strategy(self, fields: dict[str, Any]) -> StrategyManifest:
        """Children write their pieces, the head puts them together into the one array the agent maps."""
        game, head, folder = self.game, self.head, self.folder
        pending = head.engine.call_all("save_strategy", str(folder.resolve()), head.iteration)
        dtype = stored_dtype(game.num_entries)
        top, rest = whole_pieces(game)
        own, reached = pack_strategy(head.piece.nodes, head.piece.num_buckets, head.top_table, dtype)
        scratch = folder / ".probabilities.tmp"  # on disk, because it may not fit into the head's memory
        try:
            with scratch.open("wb") as file:
                # Written, not left sparse: a full disk raises an error here, but would kill the process in mapped memory.
                for start in range(0, game.num_entries, _ZEROS):
                    file.write(bytes(np.dtype(dtype).itemsize * min(_ZEROS, game.num_entries - start)))
            stored = np.memmap(scratch, dtype=dtype, mode="r+", shape=(game.num_entries,))
            head.piece.copy_to(top, 1, own, stored)
            for clusters, (entry, count) in zip(head.child_clusters, pending()):
                child_piece(game, clusters).copy_to(rest, 1, open_array(folder, entry), stored)
                (folder / entry.file).unlink()
                reached += count
            return commit_strategy(folder, game, stored, reached, fields)
        finally:
            scratch.unlink(missing_ok=True)

    def close(self) -> None:
        """End the children."""
        if self._engine is not None:
            self._engine.close()
