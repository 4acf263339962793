"""Results as an array of numbers in one file: `.npy`, and behind it an xxh3 of all before."""

import io
from pathlib import Path

import numpy as np
import xxhash

from foldwise.abstraction.storage.array_store import map_file
from foldwise.abstraction.storage.whole_file import bytes_written_whole
from foldwise.game.arrays import Float
from foldwise.game.errors import FormatError

_CHECKSUM_BYTES = 16


def write_values(path: Path, values: Float) -> None:
    """Write an array and its checksum, whole or not at all."""
    packed = io.BytesIO()
    np.save(packed, values)
    with bytes_written_whole(path) as file:
        file.write(packed.getvalue() + _checksum(packed.getvalue()))


def read_values(path: Path, shape: tuple[int | None, ...], remedy: str) -> Float:
    """What a file holds; `FormatError` if it is damaged or of another shape, in which None stands for any size."""
    values: Float = np.array(map_file(path, remedy))
    fits = len(shape) == values.ndim and all(size in (None, found) for size, found in zip(shape, values.shape))
    if not fits or values.dtype.kind != "f" or not np.isfinite(values).all():
        expected = ", ".join("any" if size is None else str(size) for size in shape)
        raise FormatError(
            f"{str(path)!r} is damaged (it holds {values.shape}, expected finite numbers ({expected})): {remedy}"
        )
    data = path.read_bytes()
    if _checksum(data[:-_CHECKSUM_BYTES]) != data[-_CHECKSUM_BYTES:]:
        raise FormatError(f"{str(path)!r} is damaged (its checksum is another): {remedy}")
    return values


def _checksum(data: bytes) -> bytes:
    return xxhash.xxh3_128(data).digest()
