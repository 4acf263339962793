"""Finished cells of a comparison or a tournament, kept on disk so that they are not played again."""

import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import xxhash

from foldwise.abstraction.storage.array_store import map_file
from foldwise.abstraction.storage.whole_file import bytes_written_whole, make_folder
from foldwise.abstraction.strategy import Strategy
from foldwise.agent.player_spec import PlayerKind, PlayerSpec
from foldwise.game.arrays import Float
from foldwise.game.errors import FormatError

CELLS_FOLDER = "cells"
_CHECKSUM_BYTES = 16


class CellStore:
    """A file for each pair of players, named by the players and everything else that decides the result."""

    def __init__(self, folder: Path, num_pairs: int, **conditions: str | int):
        self._folder = folder / CELLS_FOLDER
        self._num_pairs = num_pairs
        self._conditions = {**conditions, "pairs": num_pairs}
        make_folder(self._folder)

    def pairs(self, first: PlayerSpec, second: PlayerSpec, play: Callable[[], Float]) -> Float:
        """What `first` wins per hand in each pair: read from disk, or played and kept."""
        path = self._path(first, second)
        if path.exists():
            return read_cell(path, self._num_pairs)
        values = play()
        packed = io.BytesIO()
        np.save(packed, values)
        with bytes_written_whole(path) as file:
            file.write(packed.getvalue() + _checksum(packed.getvalue()))
        return values

    def _path(self, first: PlayerSpec, second: PlayerSpec) -> Path:
        players = [[str(replace(player, alias="")), contents_of(player)] for player in (first, second)]
        text = json.dumps([players, self._conditions], sort_keys=True)
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.npy"


def _checksum(data: bytes) -> bytes:
    """The last bytes of a cell's file, behind its array."""
    return xxhash.xxh3_128(data).digest()


def read_cell(path: Path, num_pairs: int | None = None) -> Float:
    """What a cell's file holds; raises `FormatError` if it is damaged, or not of that many pairs."""
    remedy = "remove it, and the cell is played again"
    values: Float = np.array(map_file(path, remedy))
    expected = (len(values) if num_pairs is None and values.ndim else num_pairs,)
    if values.shape != expected or values.dtype.kind != "f" or not np.isfinite(values).all():
        raise FormatError(f"{str(path)!r} is damaged (it holds {values.shape} values): {remedy}")
    data = path.read_bytes()
    if _checksum(data[:-_CHECKSUM_BYTES]) != data[-_CHECKSUM_BYTES:]:
        raise FormatError(f"{str(path)!r} is damaged (its checksum is another): {remedy}")
    return values


def contents_of(player: PlayerSpec) -> str:
    """A hash of the strategy's content: after more solving it is another player under the same name. Empty for others."""
    if player.kind != PlayerKind.STRATEGY:
        return ""
    return Strategy(player.folder).manifest.arrays["probabilities"].xxh3
