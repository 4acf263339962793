"""Small tables that take longer to build than to read: cached, and verified whenever they are read."""

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
    """The arrays that `make` returns: read from the cache, or made and kept. The file is named by the sources of `module`.

    The file is a SHA-256 followed by the npz it belongs to. A damaged file is made again; without a writable cache, always.
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
