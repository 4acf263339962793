"""Small tables that take longer to make than to read: kept in the cache, and checked whenever they are read."""

import hashlib
import os
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foldwise.game.compiled import cache_folder
from foldwise.game.sources import source_hash

_DIGEST = "digest"
Tables = dict[str, NDArray[Any]]


def kept_tables(name: str, module: str, make: Callable[[], Tables]) -> Tables:
    """The arrays that `make` gives: read, or made and kept. The sources of `module` name the file.

    What is damaged is made again, and what cannot be written is made each time.
    """
    path = cache_folder() / "tables" / f"{name}-{source_hash(module)}.npz"
    with suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        with np.load(path, allow_pickle=False) as stored:
            tables = {key: stored[key] for key in stored.files}
        if tables.pop(_DIGEST).tobytes() == _digest(tables):
            return tables
    tables = make()
    temporary = path.with_name(f".{path.stem}-{os.getpid()}.npz")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            np.savez(temporary, **tables, **{_DIGEST: np.frombuffer(_digest(tables), np.uint8)})
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    return tables


def _digest(tables: Mapping[str, NDArray[Any]]) -> bytes:
    digest = hashlib.sha256()
    for name, table in sorted(tables.items()):
        digest.update(f"{name} {table.dtype.str} {table.shape} ".encode())
        digest.update(np.ascontiguousarray(table).tobytes())
    return digest.digest()
