"""A card abstraction: the bucket of (hand, board) on every street, from Python and inside kernels, and its folder."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foldwise.abstraction.cards import card_abstraction_kernels as kernels
from foldwise.abstraction.storage.array_folder import MANIFEST, load_arrays, save_arrays
from foldwise.abstraction.storage.array_store import copy_file
from foldwise.abstraction.storage.whole_file import sync_folder
from foldwise.game.errors import FormatError
from foldwise.game.hands.hand_index import hand_index

KIND = "card abstraction"
FORMAT_VERSION = 1
STREETS = ("preflop", "flop", "turn", "river")
STREET_CARDS = (2, 5, 6, 7)
METHODS = {
    "lossless": kernels.LOSSLESS,
    "raw": kernels.RAW,
    "table": kernels.TABLE,
    "cells": kernels.CELLS,
    "nearest": kernels.NEAREST,
}
PARENTS = {"none": kernels.NO_PARENT, "bucket": kernels.PARENT_BUCKET, "cluster": kernels.PARENT_CLUSTER}

_NO_TABLE = np.zeros(0, np.uint16)
_NO_CELLS = np.zeros((0, 0), np.int32)
_NO_FEATURES = np.zeros((0, 0), np.uint8)
_NO_CENTRES = np.zeros((0, 0, 0), np.uint8)
_NOT_TRAINED = np.zeros((0, 0), np.int16)
_NO_GROUPS = np.zeros(0, np.uint8)
LOOKUP_PARTS = ("table", "cells", "features", "centres")
TRAINED_PARTS = ("trained", "groups")  # kept beside the lookup: from them a street is labelled again without training


class CardAbstractionTables(NamedTuple):
    """What the lookup kernels read."""

    plan: NDArray[np.int64]  # how each street looks up, and the hand-index tables: see the kernels
    clusters: NDArray[np.uint16]  # [1755] public cluster of each flop, or empty
    preflop_table: NDArray[np.uint16]  # [classes] bucket, or cell
    flop_table: NDArray[np.uint16]
    turn_table: NDArray[np.uint16]
    river_table: NDArray[np.uint16]
    cells: NDArray[np.int32]  # bucket by parent and cell, street after street
    features: NDArray[np.uint8]  # [classes, D] of the street that looks for the nearest centre
    centres: NDArray[np.uint8]  # [parent * K, D]


@dataclass(frozen=True)
class StreetAbstraction:
    """One street: how its bucket is found, and the arrays needed for it."""

    method: str  # a key of METHODS
    num_buckets: int
    shape: tuple[int, ...]  # of the hand index
    parent: str = "none"  # a key of PARENTS
    table: NDArray[np.uint16] = field(default_factory=lambda: _NO_TABLE)
    cells: NDArray[np.int32] = field(default_factory=lambda: _NO_CELLS)
    features: NDArray[np.uint8] = field(default_factory=lambda: _NO_FEATURES)
    centres: NDArray[np.uint8] = field(default_factory=lambda: _NO_CENTRES)
    note: str = ""  # what a reader should know, such as that it was trained on a sample
    trained: NDArray[np.int16] = field(default_factory=lambda: _NOT_TRAINED)  # [K, D] k-means centres of a table
    groups: NDArray[np.uint8] = field(default_factory=lambda: _NO_GROUPS)  # [1326] of opponents; features are of them

    @property
    def classes(self) -> int:
        """Suit-distinct classes the street tells apart before bucketing."""
        return hand_index(self.shape).size


class Trained(NamedTuple):
    """What k-means found on a street: enough to label it again, on any processor, without training."""

    centres: NDArray[np.int16]  # [K, D]
    groups: NDArray[np.uint8]  # [1326] of the opponents, where features are of them
    note: str


class CardAbstraction:
    """Buckets of up to four streets. `made_from` explains them; the fingerprint is a hash of it and of the arrays."""

    def __init__(
        self,
        streets: Sequence[StreetAbstraction],
        made_from: dict[str, Any],
        clusters: NDArray[np.uint16] | None = None,
        fingerprint: str | None = None,
    ) -> None:
        self.streets = tuple(streets)
        self.made_from = made_from
        self.folder: Path | None = None  # the folder it was loaded from
        self.clusters = _NO_TABLE if clusters is None else clusters
        self.tables = self._make_tables()
        self.fingerprint = fingerprint or self._hash()

    def _make_tables(self) -> CardAbstractionTables:
        plan = np.zeros(kernels.PLAN_HEADER, np.int64)
        cells: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
        features, centres = _NO_FEATURES, np.zeros((0, 0), np.uint8)
        tables = [street.table for street in self.streets]
        for number, street in enumerate(self.streets):
            row = plan[kernels.PLAN_ROW * number :]
            row[kernels.METHOD] = METHODS[street.method]
            row[kernels.PARENT] = PARENTS[street.parent]
            row[kernels.CELLS_START] = sum(part.size for part in cells)
            row[kernels.CELLS_WIDTH] = street.cells.shape[1]
            row[kernels.NUM_CENTRES] = street.centres.shape[1]
            row[kernels.NUM_BUCKETS] = street.num_buckets
            cells.append(street.cells.ravel())
            if street.method == "nearest":
                features, centres = street.features, street.centres.reshape(-1, street.centres.shape[2])
        for place, shape in [
            *((kernels.PLAN_ROW * number + kernels.INDEX, street.shape) for number, street in enumerate(self.streets)),
            (kernels.CLUSTER_INDEX, (3,)),
        ]:
            plan[place] = plan.size
            plan = np.concatenate((plan, hand_index(shape).tables))
        tables += [_NO_TABLE] * (len(STREETS) - len(tables))
        arrays: list[NDArray[Any]] = [plan, self.clusters, *tables, np.concatenate(cells), features, centres]
        return CardAbstractionTables(*(_frozen(array) for array in arrays))

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Buckets of each street."""
        return tuple(street.num_buckets for street in self.streets)

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in self.arrays().values())

    def bucket(self, hand: Sequence[int], board: Sequence[int] = ()) -> int:
        """Bucket of two hole cards on a board of 0, 3, 4 or 5 cards, dealt in that order."""
        cards = [*hand, *board]
        return int(kernels.bucket_of(self.tables, self._street_of(cards), np.array(cards, np.int64)))

    def buckets(self, hand: Sequence[int], board: Sequence[int] = ()) -> tuple[int, ...]:
        """Bucket on each street up to the board's."""
        cards = [*hand, *board]
        out = np.zeros(self._street_of(cards) + 1, np.int64)
        kernels.buckets_into(self.tables, out.size, np.array(cards, np.int64), out)
        return tuple(out.tolist())

    def bucket_hands(self, street: int, hands: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Bucket of each row of [n, cards of the street]. Cards are trusted."""
        out = np.empty(len(hands), np.int64)
        kernels.bucket_hands_into(self.tables, street, hands, out)
        return out

    def _street_of(self, cards: list[int]) -> int:
        known = STREET_CARDS[: len(self.streets)]
        if len(cards) not in known or len(set(cards)) != len(cards) or min(cards) < 0 or max(cards) > 51:
            boards = ", ".join(str(count - 2) for count in known)
            raise ValueError(f"cards {cards}: expected two hole cards and {boards} board cards, all distinct")
        return known.index(len(cards))

    def is_at(self, folder: Path) -> bool:
        """Whether a folder holds this abstraction, whole."""
        try:
            return CardAbstraction.load(folder).fingerprint == self.fingerprint
        except FormatError:
            return False

    def copy_to(self, folder: Path) -> None:
        """Copy the abstraction beside what was made with it. Not a link: damage to one must not reach the other."""
        if self.folder is None:
            self.save(folder)
            return
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            for path in sorted(self.folder.iterdir()):  # one by one, so that the first error is the one reported
                copy_file(path, temporary / path.name)
            sync_folder(temporary)
            shutil.rmtree(folder, ignore_errors=True)
            temporary.rename(folder)
            sync_folder(folder.parent)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise

    def save(self, folder: Path) -> None:
        """Write the folder completely or not at all."""
        arrays = self.arrays() | self._parts(TRAINED_PARTS)
        save_arrays(folder, KIND, FORMAT_VERSION, self.fingerprint, self._description(), arrays)

    @classmethod
    def load(cls, folder: Path, *, check: bool = True) -> "CardAbstraction":
        """Read a folder; arrays stay memory-mapped. `FormatError` when it is absent, damaged or of another kind."""
        manifest, arrays = load_arrays(folder, KIND, FORMAT_VERSION, check=check)
        streets: list[StreetAbstraction] = []
        try:
            for name, fields in zip(STREETS, manifest.made_from["streets"]):
                own: dict[str, Any] = {**fields, "shape": tuple(fields["shape"])}
                own |= {key.partition("-")[2]: array for key, array in arrays.items() if key.startswith(f"{name}-")}
                streets.append(StreetAbstraction(**own))
            clusters = arrays.get("clusters", _NO_TABLE)
            for number, street in enumerate(streets):
                _check_street(street, _num_parents(streets, number, clusters))
            loaded = cls(streets, manifest.made_from["config"], arrays.get("clusters"), manifest.fingerprint)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise FormatError(f"{str(folder / MANIFEST)!r} is damaged ({error}): write the folder again") from None
        loaded.folder = folder
        return loaded

    def _description(self) -> dict[str, Any]:
        streets = [
            {name: getattr(street, name) for name in ("method", "num_buckets", "shape", "parent", "note")}
            for street in self.streets
        ]
        return {"config": self.made_from, "streets": streets}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything the lookup needs, under the names of its files."""
        arrays: dict[str, NDArray[Any]] = {"clusters": self.clusters} if self.clusters.size else {}
        return arrays | self._parts(LOOKUP_PARTS)

    def _parts(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        parts = {f"{street}-{part}": getattr(own, part) for street, own in zip(STREETS, self.streets) for part in names}
        return {name: array for name, array in parts.items() if array.size}

    @property
    def trained(self) -> dict[int, Trained]:
        """By street, where centres were kept; abstractions made before they were have none."""
        return {
            number: Trained(street.trained, street.groups, street.note)
            for number, street in enumerate(self.streets)
            if street.trained.size
        }

    def _hash(self) -> str:
        digest = hashlib.sha256(json.dumps(self._description(), sort_keys=True).encode())
        for name, array in sorted(self.arrays().items()):
            digest.update(f"{name} {array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:16]


def _num_parents(streets: Sequence[StreetAbstraction], number: int, clusters: NDArray[np.uint16]) -> int:
    """How many rows of cells or centres a street must have."""
    match streets[number].parent:
        case "bucket":
            return streets[number - 1].num_buckets if number else 1
        case "cluster":
            return int(clusters.max()) + 1
    return 1


def _check_street(street: StreetAbstraction, num_parents: int) -> None:
    """Check that every index of a lookup is in range, because kernels trust it and a well-formed file may be hostile."""
    if METHODS[street.method] in (kernels.LOSSLESS, kernels.RAW):
        return
    PARENTS[street.parent]
    if street.method == "nearest":
        parents, count, width = street.centres.shape
        if street.features.shape != (street.classes, width) or parents != num_parents:
            raise ValueError("features and centres of other shapes than its classes and parents")
        if street.features.dtype != np.uint8 or street.centres.dtype != np.uint8 or not 0 < parents * count <= 2**31:
            raise ValueError("features or centres of another type")
        if parents * count > street.num_buckets:
            raise ValueError(f"{parents * count} centres for {street.num_buckets} buckets")
        return
    if street.table.shape != (street.classes,) or street.table.dtype != np.uint16:
        raise ValueError(f"a table of {street.table.shape} for {street.classes} classes")
    num_entries = street.num_buckets
    if street.method == "cells":
        num_entries = street.cells.shape[1]
        if street.cells.shape[0] < num_parents or street.cells.dtype != np.int32 or not street.cells.size:
            raise ValueError(f"cells of {street.cells.shape} for {num_parents} parents")
        if street.cells.min() < 0 or street.cells.max() >= street.num_buckets:
            raise ValueError(f"cells beyond its {street.num_buckets} buckets")
    if int(street.table.max()) >= num_entries:
        raise ValueError(f"a table beyond its {num_entries} buckets or cells")


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view, like a memory-mapped array, so that kernels compile for one array type only."""
    view = array.view()
    view.flags.writeable = False
    return view
