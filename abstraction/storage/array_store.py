"""Folders of plain `.npy` arrays that a JSON manifest commits: arrays named in the manifest are complete.

Arrays are written first, under names no earlier manifest uses, and fsynced; one rename of the manifest then makes them
the current ones, and arrays that no manifest names any more are removed. A crash at any moment leaves the old folder or the
new one. Arrays are memory-mapped; whatever is played or solved with is read completely and compared with its checksum.
"""

import contextlib
import fcntl
import hashlib
import json
import mmap
import os
import shutil
import tokenize
from collections.abc import Iterable, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import xxhash
from pydantic import BaseModel, ConfigDict, ValidationError

from foldwise.abstraction.storage.checked_json import checked_text, write_model
from foldwise.abstraction.storage.whole_file import make_folder, sync_folder
from foldwise.game.errors import DefinitionError, FormatError, Naming

Manifest = TypeVar("Manifest", bound=BaseModel)

_CHUNK_BYTES = 1 << 24
_FICLONE = 0x40049409  # Linux, linux/fs.h
CHECKED_BYTES = 1 << 26  # arrays up to this size are checked against their checksums whenever they are opened
_MAP_RANDOM_BYTES = 1 << 26  # larger arrays are read at random places: read-ahead would only hurt


class ArrayEntry(BaseModel):
    """One array file of a manifest."""

    model_config = ConfigDict(extra="forbid")

    file: str
    dtype: str
    shape: tuple[int, ...]
    sha256: str
    xxh3: str


def write_array(folder: Path, stem: str, array: npt.NDArray[Any]) -> ArrayEntry:
    """Write one array under a new name, fsynced, with its checksums; a failure leaves no file behind."""
    array = np.ascontiguousarray(array)
    return write_chunks(folder, stem, array.dtype, array.shape, [array])


def write_chunks(
    folder: Path, stem: str, dtype: np.dtype[Any], shape: tuple[int, ...], chunks: Iterable[npt.NDArray[Any]]
) -> ArrayEntry:
    """Write an array that arrives in consecutive pieces, so that it need not be in memory at once."""
    names = chain([f"{stem}.npy"], (f"{stem}-{number}.npy" for number in count(1)))
    file = next(name for name in names if not (folder / name).exists())
    path = folder / file
    sha256, xxh3 = hashlib.sha256(), xxhash.xxh3_128()
    try:
        with Naming(path), path.open("wb") as stream:
            header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_2_0(stream, header)
            for piece in chunks:
                data = memoryview(piece.reshape(-1).view(np.uint8).data)
                for start in range(0, len(data), _CHUNK_BYTES):
                    chunk = data[start : start + _CHUNK_BYTES]
                    sha256.update(chunk)
                    xxh3.update(chunk)
                    stream.write(chunk)
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return ArrayEntry(
        file=file,
        dtype=dtype.str,
        shape=shape,
        sha256=sha256.hexdigest(),
        xxh3=xxh3.hexdigest(),
    )


def find_entry(path: Path, arrays: Mapping[str, ArrayEntry], name: str) -> ArrayEntry:
    """The entry of an array that the manifest at `path` must have."""
    if name not in arrays:
        raise FormatError(f"{str(path)!r} names no array {name!r}: write the folder again")
    return arrays[name]


def check_writable(folder: Path) -> None:
    """Make a folder before the work, so that an unwritable one is noticed at once."""
    try:
        make_folder(folder)
    except OSError as error:
        raise DefinitionError(
            f"output {str(folder)!r} cannot be made ({error.strerror}): give another folder"
        ) from None
    if not os.access(folder, os.W_OK):
        raise DefinitionError(f"output {str(folder)!r} cannot be written to: give another folder")


def check_plain(path: Path, remedy: str = "write the folder again") -> None:
    """Refuse anything but a plain file: opening a pipe would block forever."""
    if path.exists() and not path.is_file():
        raise FormatError(f"{str(path)!r} is not a plain file: {remedy}")


def map_file(path: Path, remedy: str = "write the folder again") -> npt.NDArray[Any]:
    """Map a `.npy` file read-only; a missing, truncated or foreign file is reported by name."""
    check_plain(path, remedy)
    try:
        # Not np.load, which takes a file with a damaged first byte for an archive or a pickle.
        try:
            return np.lib.format.open_memmap(path, mode="r")
        except SystemError:  # of Python 3.11's parser, which reads the header: it miscounts its depth now and then
            return np.lib.format.open_memmap(path, mode="r")
    except FileNotFoundError:
        raise FormatError(f"{str(path)!r} is missing: the folder is incomplete, {remedy}") from None
    except (ValueError, OSError, EOFError, SyntaxError, TypeError, OverflowError, tokenize.TokenError) as error:
        reason = " ".join(str(error).split())
        raise FormatError(f"{str(path)!r} is damaged ({reason}): {remedy}") from error


def open_array(folder: Path, entry: ArrayEntry) -> npt.NDArray[Any]:
    """Map an array read-only, as the manifest describes it."""
    path = folder / entry.file
    array = map_file(path)
    if (array.shape, array.dtype.str) != (entry.shape, entry.dtype):
        raise FormatError(
            f"{str(path)!r} holds {array.dtype.str} {array.shape}, the manifest says {entry.dtype} {entry.shape}: "
            "write the folder again"
        )
    if array.nbytes >= _MAP_RANDOM_BYTES and isinstance(array.base, mmap.mmap):
        array.base.madvise(mmap.MADV_RANDOM)
    plain: npt.NDArray[Any] = np.asarray(array)
    return plain


def copy_file(source: str | Path, target: str | Path) -> None:
    """Copy a file, sharing its blocks copy-on-write if the file system can (`FICLONE`)."""
    with Path(source).open("rb") as old, Path(target).open("wb") as new:
        try:
            fcntl.ioctl(new.fileno(), _FICLONE, old.fileno())
        except OSError:
            shutil.copyfileobj(old, new, _CHUNK_BYTES)
        new.flush()
        os.fsync(new.fileno())


def file_hash(path: Path, num_bytes: int) -> str:
    """xxh3 of a file's last bytes: the array behind the header. Read in order, where a map of a large array is not."""
    xxh3 = xxhash.xxh3_128()
    buffer = bytearray(min(num_bytes, _CHUNK_BYTES))
    with path.open("rb", buffering=0) as stream:
        stream.seek(-num_bytes, os.SEEK_END)
        while size := stream.readinto(buffer):
            xxh3.update(memoryview(buffer)[:size])
    return xxh3.hexdigest()


def verify_array(folder: Path, entry: ArrayEntry) -> None:
    """Read an array completely and compare its checksum; damage is reported by the file's name."""
    if file_hash(folder / entry.file, open_array(folder, entry).nbytes) != entry.xxh3:
        raise FormatError(
            f"{str(folder / entry.file)!r} is damaged: its checksum is not the one in the manifest; write the folder again"
        )


def commit_manifest(folder: Path, name: str, manifest: BaseModel) -> None:
    """Make `manifest` the current one by a single rename, once the names of its arrays are on the disk."""
    sync_folder(folder)
    write_model(folder / name, manifest)


def remove_stale(folder: Path, pattern: str, keep: Mapping[str, ArrayEntry]) -> None:
    """Remove the arrays matching `pattern` that no manifest names any more."""
    kept = {entry.file for entry in keep.values()}
    for path in folder.glob(pattern):
        if path.name not in kept:
            with contextlib.suppress(OSError):
                path.unlink()


def read_manifest(folder: Path, name: str, model: type[Manifest], what: str) -> Manifest:
    """Read and check a manifest; `what` names the folder's kind in errors."""
    path = folder / name
    check_plain(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise FormatError(f"{str(folder)!r} is no {what}: it has no {name}") from None
    except UnicodeDecodeError:
        raise FormatError(f"{str(path)!r} is damaged: it is not text") from None
    try:
        version = json.loads(text).get("format_version")
        expected = model.model_fields["format_version"].default
        if version != expected:
            raise FormatError(
                f"{str(path)!r} has format version {version}, expected {expected}: write the folder again"
            )
        return model.model_validate_json(checked_text(path, text, "write the folder again"))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise FormatError(f"{str(path)!r}: {place}: {first['msg']}: write the folder again") from None
    except FormatError:
        raise
    except (ValueError, AttributeError, RecursionError):  # not JSON, not an object, or absurd numbers or nesting
        raise FormatError(f"{str(path)!r} is damaged: it is not a JSON object") from None
