"""Folders of `.npy` arrays under a pydantic manifest: written whole or not at all, checked when read.

A folder is written under a temporary name, synced and renamed, so a crash leaves the old folder or the new one. The
manifest names what the arrays were made from (`fingerprint`) and holds a checksum of each file.
"""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from game.errors import FormatError

MANIFEST = "manifest.json"
_CHUNK = 1 << 24


class ArrayEntry(BaseModel):
    """One array file."""

    model_config = ConfigDict(extra="forbid")
    bytes: int
    xxh3_128: str


class Manifest(BaseModel):
    """The `manifest.json` of a folder of arrays."""

    model_config = ConfigDict(extra="forbid")
    kind: str  # what the folder holds: "hand strength", "card abstraction"
    format_version: int
    fingerprint: str
    made_from: dict[str, Any]  # whatever explains the fingerprint to a reader
    arrays: dict[str, ArrayEntry]


def file_checksum(path: Path) -> str:
    digest = xxhash.xxh3_128()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def save_arrays(
    folder: Path,
    kind: str,
    format_version: int,
    fingerprint: str,
    made_from: dict[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> Manifest:
    """Write the folder; one that stands there already is replaced."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        entries = {}
        for name, array in arrays.items():
            path = temporary / f"{name}.npy"
            with path.open("wb") as stream:
                np.save(stream, array, allow_pickle=False)
                stream.flush()
                os.fsync(stream.fileno())
            entries[name] = ArrayEntry(bytes=path.stat().st_size, xxh3_128=file_checksum(path))
        manifest = Manifest(
            kind=kind, format_version=format_version, fingerprint=fingerprint, made_from=made_from, arrays=entries
        )
        with (temporary / MANIFEST).open("w") as stream:
            stream.write(manifest.model_dump_json(indent=1))
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o755)
        _replace(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return manifest


def _replace(temporary: Path, folder: Path) -> None:
    """Rename into place. A folder cannot be renamed over a full one, so an old one steps aside first."""
    aside = None
    if folder.exists():
        aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-old-", dir=folder.parent))
        folder.rename(aside / folder.name)
    temporary.rename(folder)
    descriptor = os.open(folder.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if aside is not None:
        shutil.rmtree(aside, ignore_errors=True)


def read_manifest(folder: Path, kind: str, format_version: int) -> Manifest:
    """The manifest of a folder of the given kind and version; `FormatError` when there is none or another."""
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_text())
    except OSError as error:
        raise FormatError(f"{folder}: no readable {MANIFEST} ({error.strerror}); build the folder again") from error
    except ValidationError as error:
        raise FormatError(f"{folder / MANIFEST}: {error.errors()[0]['msg']}; build the folder again") from error
    if (manifest.kind, manifest.format_version) != (kind, format_version):
        raise FormatError(
            f"{folder}: holds {manifest.kind!r} version {manifest.format_version}, expected {kind!r} version "
            f"{format_version}; build the folder again"
        )
    return manifest


def load_arrays(
    folder: Path, kind: str, format_version: int, *, check: bool = True
) -> tuple[Manifest, dict[str, NDArray[Any]]]:
    """Manifest and read-only memory-mapped arrays; `FormatError` when a file is missing, cut or damaged."""
    manifest = read_manifest(folder, kind, format_version)
    arrays = {}
    for name, entry in manifest.arrays.items():
        path = folder / f"{name}.npy"
        size = path.stat().st_size if path.is_file() else -1
        if size != entry.bytes or (check and file_checksum(path) != entry.xxh3_128):
            raise FormatError(f"{path}: damaged ({size} bytes, expected {entry.bytes}); build the folder again")
        arrays[name] = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    return manifest, arrays
