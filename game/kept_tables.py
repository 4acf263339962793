"""Small tables that take longer to make than to read: kept in the cache, and checked whenever they are read."""

import hashlib
import io
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foldwise.game.compiled import cache_folder
from foldwise.game.sources import source_hash

Tables = dict[str, NDArray[Any]]


def kept_tables(name: str, module: str, make: Callable[[], Tables]) -> Tables:
    """The arrays that `make` gives: read, or made and kept. The sources of `module` name the file.

    The file is a SHA-256 and the npz it is of. What is damaged is made again, what cannot be written each time.
    """
    path = cache_folder() / "tables" / f"{name}-{source_hash(module)}"
    with suppress(OSError):
        data = path.read_bytes()
        size = hashlib.sha256().digest_size
        if hashlib.sha256(data[size:]).digest() == data[:size]:
            with np.load(io.BytesIO(data[size:]), allow_pickle=False) as stored:
                return {key: stored[key] for key in stored.files}
    tables = make()
    packed = io.BytesIO()
    np.savez(packed, **tables)  # type: ignore[arg-type]  # its stub takes them for allow_pickle
    temporary = path.with_name(f".{path.name}-{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(hashlib.sha256(packed.getvalue()).digest() + packed.getvalue())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    return tables
