"""The transaction file: one line per accepted action, from which an interrupted match continues in mid-hand."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from foldwise.game.betting import Action
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import FormatError, Naming
from foldwise.game.text.match_state import read_action

_STAMP = re.compile(r"\s*(\d+)\s+(\d+)\.(\d+)\s+(\d+)\.(\d+)")


class Transaction(NamedTuple):
    """An action as it was played, and when it was asked for and received (microseconds)."""

    action: Action
    hand_number: int
    sent: int
    received: int


def stamp(microseconds: int) -> str:
    """Seconds with six decimals."""
    return f"{microseconds // 1_000_000}.{microseconds % 1_000_000:06d}"


class TransactionFile:
    """Reads the history of a match, then takes further actions. Every line is in the file before its action counts."""

    def __init__(self, path: Path, append: bool):
        self._path = path
        self._naming = Naming(path)
        if append and path.exists():
            _drop_unfinished_line(path)
        self._file = path.open("ab" if append else "wb", buffering=0)

    def history(self, definition: GameDefinition) -> Iterator[Transaction]:
        """The actions already in the file; raises `FormatError` at a line that is not an action."""
        with self._path.open(encoding="latin-1") as file:
            for line in file:
                yield _parse(line.rstrip("\n"), definition)

    def write(self, action: Action, limit: bool, hand_number: int, sent: int, received: int) -> None:
        with self._naming:
            self._file.write(f"{action.text(limit)} {hand_number} {stamp(sent)} {stamp(received)}\n".encode("ascii"))

    def close(self) -> None:
        self._file.close()


def _parse(line: str, definition: GameDefinition) -> Transaction:
    action, end = read_action(line, 0, definition)
    match = _STAMP.match(line, end) if end >= 0 else None
    if action is None or match is None:
        raise FormatError(f"transaction {line!r}: expected ACTION HAND SEND-TIME RECEIVE-TIME")
    hand, *times = map(int, match.groups())
    return Transaction(action, hand, times[0] * 1_000_000 + times[1], times[2] * 1_000_000 + times[3])


def _drop_unfinished_line(path: Path) -> None:
    """Remove half a line left by a killed process: its action was never applied."""
    with path.open("rb+") as file:
        content = file.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            file.truncate(whole)
            file.flush()
            os.fsync(file.fileno())
