"""Finished cells of a comparison or a tournament, kept on disk so that they are not played again."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from foldwise.abstraction.storage.checked_values import read_values, write_values
from foldwise.abstraction.storage.whole_file import make_folder
from foldwise.abstraction.strategy import Strategy
from foldwise.agent.player_spec import PlayerKind, PlayerSpec
from foldwise.game.arrays import Float

CELLS_FOLDER = "cells"


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
        write_values(path, values)
        return values

    def _path(self, first: PlayerSpec, second: PlayerSpec) -> Path:
        players = [[str(replace(player, alias="")), contents_of(player)] for player in (first, second)]
        text = json.dumps([players, self._conditions], sort_keys=True)
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.npy"


def read_cell(path: Path, num_pairs: int | None = None) -> Float:
    """What a cell's file holds; raises `FormatError` if it is damaged, or not of that many pairs."""
    return read_values(path, (num_pairs,), "remove it, and the cell is played again")


def contents_of(player: PlayerSpec) -> str:
    """A hash of the strategy's content: after more solving it is another player under the same name. Empty for others."""
    if player.kind != PlayerKind.STRATEGY:
        return ""
    return Strategy(player.folder).manifest.arrays["probabilities"].xxh3
