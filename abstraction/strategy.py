"""A strategy: a probability for every action of every infoset of an abstract game, and its folder.

Small games keep full floats, large ones 16 or 8 bits a probability; rows sum to one when read. The row of an infoset
the solver never reached is all zeros in the file: it is marked, and read as uniform.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.cards.card_abstraction import CardAbstraction
from foldwise.abstraction.config import AbstractionConfig, check_config
from foldwise.abstraction.storage.array_store import (
    CHECKED_BYTES,
    ArrayEntry,
    commit_manifest,
    find_entry,
    open_array,
    read_manifest,
    remove_stale,
    verify_array,
    write_array,
)
from foldwise.abstraction.storage.whole_file import make_folder, sync_folder
from foldwise.abstraction.strategy_kernels import dequantise, pack_floats, quantise
from foldwise.game.arrays import Float
from foldwise.game.errors import FormatError
from foldwise.game.library import is_built_in
from foldwise.game.trees.tree import NODE_DTYPE, Tree, wrong_tree
from foldwise.game.trees.tree_kernels import DECISION

MANIFEST: Final = "manifest.json"
CARDS: Final = "cards"
FORMAT_VERSION: Final = 1
# From this many entries on, a probability takes 16 or 8 bits.
_SIXTEEN_BIT_ENTRIES = 1_000_000
_EIGHT_BIT_ENTRIES = 100_000_000


class Evaluation(BaseModel):
    """One point of a run's history."""

    model_config = ConfigDict(extra="forbid")

    iterations: int
    nodes: int
    seconds: float
    exploitability_mbb: float | None = None  # None without an exact best response
    mean_regret_mbb: float | None = None  # mean positive regret, reported instead


class StrategyManifest(BaseModel):
    """`manifest.json` of a strategy folder."""

    model_config = ConfigDict(extra="forbid")

    format_version: int = FORMAT_VERSION
    kind: str = "foldwise strategy"
    name: str
    game: str
    definition: str | None  # ACPC text; None for games without cards
    config: dict[str, Any]  # the whole config the strategy was solved from
    abstraction: str  # fingerprint of tree and deals
    cards: str | None  # fingerprint of the card abstraction in `cards/`; None where all deals are told apart
    seed: int
    threads: int
    iterations: int
    nodes: int
    seconds: float
    infosets: int
    reached: int  # infosets the solver reached
    averaged_from: int = 0  # the iteration after which the average begins
    history: list[Evaluation]
    arrays: dict[str, ArrayEntry]


class Strategy:
    """A strategy folder, memory-mapped. Its tree is checked, numbers included, because kernels trust it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.manifest = read_manifest(folder, MANIFEST, StrategyManifest, "strategy folder")
        self._stored = open_array(folder, self._entry("probabilities"))
        for name in Tree._fields:
            verify_array(folder, self._entry(name))
        if self._stored.nbytes <= CHECKED_BYTES:
            verify_array(folder, self._entry("probabilities"))
        self.tree = Tree(
            nodes=open_array(folder, self._entry("nodes")),
            parent=open_array(folder, self._entry("parent")),
            action=open_array(folder, self._entry("action")),
            spent=open_array(folder, self._entry("spent")),
        )
        if self.tree.nodes.dtype != NODE_DTYPE:
            raise FormatError(
                f"{str(folder / self._entry('nodes').file)!r} lacks the fields of a tree's nodes: write the folder again"
            )
        # A file keeps the places of the fields, not that they are aligned: without it every kernel would be compiled twice.
        self.tree = self.tree._replace(nodes=self.tree.nodes.view(NODE_DTYPE))
        wrong = wrong_tree(self.tree)
        if wrong is not None:
            raise FormatError(f"{str(folder)!r} holds no tree that can be walked ({wrong}): write the folder again")

    def _entry(self, name: str) -> ArrayEntry:
        return find_entry(self.folder / MANIFEST, self.manifest.arrays, name)

    def abstraction_config(self) -> AbstractionConfig:
        """The part of the config that defines the abstract game."""
        return solved_config(self.manifest, str(self.folder))

    @property
    def stored(self) -> npt.NDArray[Any]:
        """The probabilities as stored: float64, or integers that are shares of their row's sum."""
        return self._stored

    def verify(self) -> None:
        """Check every file against its checksum."""
        for entry in self.manifest.arrays.values():
            verify_array(self.folder, entry)

    def check_rows(self, num_buckets: Sequence[int]) -> None:
        """Check that the probabilities have a row for every bucket of every decision; `num_buckets` by street."""
        nodes = self.tree.nodes[self.tree.nodes["kind"] == DECISION]
        if not len(nodes):
            return
        if int(nodes["street"].max()) >= len(num_buckets):
            raise FormatError(f"strategy {str(self.folder)!r} has more streets than its cards: write the folder again")
        sizes = np.asarray(num_buckets, np.int64)[nodes["street"]] * nodes["num_children"]
        if int(nodes["base"].min()) < 0 or int((nodes["base"] + sizes).max()) > len(self._stored):
            raise FormatError(
                f"strategy {str(self.folder)!r} has {len(self._stored)} entries, its tree and cards need more: "
                "write the folder again"
            )

    def row(self, node: int, bucket: int) -> tuple[Float, bool]:
        """The probabilities of an infoset, and whether the solver ever reached it."""
        record = self.tree.nodes[node]
        num_actions = int(record["num_children"])
        start = int(record["base"]) + bucket * num_actions
        stored = self._stored[start : start + num_actions].astype(np.float64)
        total = float(stored.sum())
        if total <= 0.0:
            return np.full(num_actions, 1.0 / num_actions), False
        return stored / total, True

    def policy(self, game: AbstractGame) -> npt.NDArray[np.float32]:
        """Every row, for walks over the whole game."""
        if len(self._stored) != game.num_entries:
            raise FormatError(
                f"strategy {str(self.folder)!r} has {len(self._stored)} entries, its game now has {game.num_entries}: "
                "solve it again"
            )
        policy = np.empty(game.num_entries, dtype=np.float32)
        dequantise(game.tree.nodes, game.deals.num_buckets, self._stored, policy)
        return policy


def solved_config(manifest: StrategyManifest, source: str) -> AbstractionConfig:
    """The part of a strategy's config that defines the abstract game; `source` is named in errors."""
    fields = {key: value for key, value in manifest.config.items() if key in AbstractionConfig.model_fields}
    if not is_built_in(manifest.game):
        fields["definition"] = manifest.definition
    return check_config(fields, AbstractionConfig, source)


def stored_dtype(num_entries: int) -> npt.DTypeLike:
    """How a probability is stored in a strategy with this many entries."""
    if num_entries < _SIXTEEN_BIT_ENTRIES:
        return np.float64
    return np.uint16 if num_entries < _EIGHT_BIT_ENTRIES else np.uint8


def pack_strategy(
    nodes: npt.NDArray[np.void],
    num_buckets: npt.NDArray[np.int32],
    table: npt.NDArray[Any],
    dtype: npt.DTypeLike,
    earlier: npt.NDArray[Any] | None = None,
    share: float = 1.0,
) -> tuple[npt.NDArray[Any], int]:
    """The average strategy of `table`, interleaved as in `solver.regret_kernels`; and the number of infosets reached.

    It leaves out the strategy sums `earlier`, of which discounting has left `share` (`strategy_kernels.later_sum`).
    """
    stored: npt.NDArray[Any] = np.zeros(len(table) // 2, dtype=dtype)
    pack = pack_floats if stored.dtype == np.float64 else quantise
    return stored, int(pack(nodes, num_buckets, table, stored, earlier, share))


def keep_cards(folder: Path, cards: CardAbstraction) -> None:
    """Put the card abstraction into a strategy folder; a strategy over other cards, now unplayable, is removed first."""
    if not cards.is_at(folder / CARDS):
        (folder / MANIFEST).unlink(missing_ok=True)
        sync_folder(folder)
        cards.copy_to(folder / CARDS)


def save_strategy(
    folder: Path,
    game: AbstractGame,
    table: npt.NDArray[Any],
    fields: dict[str, Any],
    earlier: npt.NDArray[Any] | None = None,
    share: float = 1.0,
) -> StrategyManifest:
    """Write the average strategy of `table`, without `earlier`, and commit it; `fields` as in `commit_strategy`."""
    make_folder(folder)
    dtype = stored_dtype(game.num_entries)
    stored, reached = pack_strategy(game.tree.nodes, game.deals.num_buckets, table, dtype, earlier, share)
    return commit_strategy(folder, game, stored, reached, fields)


def commit_strategy(
    folder: Path, game: AbstractGame, stored: npt.NDArray[Any], reached: int, fields: dict[str, Any]
) -> StrategyManifest:
    """Write a packed strategy and commit it. `fields` are the manifest's, except the arrays and counts made here."""
    arrays = {"probabilities": stored, **game.tree._asdict()}
    version = fields["iterations"]
    entries = {name: write_array(folder, f"{name}-{version}", array) for name, array in arrays.items()}
    if game.cards is not None:
        keep_cards(folder, game.cards)
    manifest = StrategyManifest(
        infosets=game.num_infosets,
        reached=reached,
        arrays=entries,
        cards=game.cards.fingerprint if game.cards is not None else None,
        **fields,
    )
    commit_manifest(folder, MANIFEST, manifest)
    for name in arrays:
        remove_stale(folder, f"{name}-*.npy", entries)
    return manifest
