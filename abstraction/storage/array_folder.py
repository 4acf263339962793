"""Folders of arrays under one kind of manifest: hand-strength tables and card abstractions.

The manifest names what the arrays were made from (`fingerprint`); how files are written and checked is `array_store`'s.
"""

import contextlib
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from foldwise.abstraction.storage.array_store import (
    CHECKED_BYTES,
    ArrayEntry,
    commit_manifest,
    open_array,
    remove_stale,
    verify_array,
    write_array,
)
from foldwise.abstraction.storage.array_store import read_manifest as read_any_manifest
from foldwise.abstraction.storage.folder_lock import taking_turns
from foldwise.abstraction.storage.whole_file import make_folder
from foldwise.game.errors import FormatError

log = logging.getLogger(__name__)

MANIFEST = "manifest.json"


class Manifest(BaseModel):
    """The `manifest.json` of a folder of arrays."""

    model_config = ConfigDict(extra="forbid")

    format_version: int = 1  # of this model
    kind: str  # what the folder holds: "hand strength", "card abstraction"
    content_version: int
    fingerprint: str
    made_from: dict[str, Any]  # explains the fingerprint to a reader
    arrays: dict[str, ArrayEntry]


def save_arrays(
    folder: Path,
    kind: str,
    content_version: int,
    fingerprint: str,
    made_from: dict[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> Manifest:
    """Write the folder; an earlier one is replaced by one rename."""
    make_folder(folder)
    entries = {name: write_array(folder, name, array) for name, array in arrays.items()}
    manifest = Manifest(
        kind=kind, content_version=content_version, fingerprint=fingerprint, made_from=made_from, arrays=entries
    )
    commit_manifest(folder, MANIFEST, manifest)
    remove_stale(folder, "*.npy", entries)
    return manifest


def read_manifest(folder: Path, kind: str, content_version: int) -> Manifest:
    """The manifest of a folder of the given kind and version; `FormatError` when it is missing or of another kind."""
    manifest = read_any_manifest(folder, MANIFEST, Manifest, f"folder of {kind}")
    if (manifest.kind, manifest.content_version) != (kind, content_version):
        raise FormatError(
            f"{str(folder)!r} holds {manifest.kind!r} version {manifest.content_version}, expected {kind!r} version "
            f"{content_version}: build the folder again"
        )
    return manifest


def load_arrays(
    folder: Path, kind: str, content_version: int, *, check: bool = True
) -> tuple[Manifest, dict[str, NDArray[Any]]]:
    """Manifest and read-only memory-mapped arrays; `FormatError` when a file is missing, cut or damaged.

    Without `check` large arrays are not verified.
    """
    manifest = read_manifest(folder, kind, content_version)
    arrays = {}
    for name, entry in manifest.arrays.items():
        arrays[name] = open_array(folder, entry)
        if check or arrays[name].nbytes <= CHECKED_BYTES:
            verify_array(folder, entry)
    return manifest, arrays


def kept_arrays(
    folder: Path,
    kind: str,
    content_version: int,
    fingerprint: str,
    made_from: dict[str, Any],
    make: Callable[[], dict[str, NDArray[Any]]],
) -> dict[str, NDArray[Any]]:
    """The arrays of a cache folder: read, or made and kept by one process while others wait.

    Damaged arrays are made again; without a writable cache they are made each time.
    """
    if (folder / MANIFEST).exists():
        with contextlib.suppress(FormatError):  # damaged, or being remade: checked again once we hold the lock
            return load_arrays(folder, kind, content_version)[1]
    with taking_turns(folder):
        if (folder / MANIFEST).exists():
            try:
                return load_arrays(folder, kind, content_version)[1]
            except FormatError as error:
                log.warning("%s; it is made again", error)
        arrays = make()
        try:
            save_arrays(folder, kind, content_version, fingerprint, made_from, arrays)
        except OSError as error:
            log.warning("%s is not kept: %s", kind, error)
    for array in arrays.values():  # read-only like loaded ones, so that kernels compile once
        array.flags.writeable = False
    return arrays
