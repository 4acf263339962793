"""The hand in play as a file, so that play resumes after `kill -9`.

One line holds the deal, and after each action a line is added with the betting so far; the last deal and the last line
after it count. Lines are appended because replacing the file at every action makes the file system write it out each time
(measured on ext4: 2.5 ms per action, most of the response time).
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from foldwise.game.errors import FormatError
from foldwise.web.table.private_files import append_private, write_private

_MOST_BYTES = 1 << 16  # a new hand begins a new file when the old one is longer


class HandRecord(BaseModel):
    """The hand in play, or the last one, as it was dealt."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: int = Field(ge=0)
    hole_cards: tuple[tuple[int, ...], ...]
    board: tuple[int, ...]
    baseline_before: float = Field(description="the baseline's chips over all hands before this one")


class HandJournal:
    """The journal of one session."""

    def __init__(self, path: Path):
        self._path = path
        self._num_bytes = path.stat().st_size if path.is_file() else 0

    def begin(self, record: HandRecord) -> None:
        """A new hand."""
        line = record.model_dump_json() + "\n"
        if self._num_bytes > _MOST_BYTES:
            write_private(self._path, line)
            self._num_bytes = len(line)
        else:
            self._append(line)

    def add(self, betting: str) -> None:
        """The betting after one more action."""
        self._append(betting + "\n")

    def _append(self, line: str) -> None:
        append_private(self._path, line)
        self._num_bytes += len(line)

    def read(self) -> tuple[HandRecord, str] | None:
        """The last hand and its betting; None before the first. An incomplete last line, left by a crash, is skipped."""
        if not self._num_bytes:
            return None
        lines = self._path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
        start = max((n for n, line in enumerate(lines) if line.startswith("{")), default=None)
        if start is None:
            raise FormatError(f"{self._path.name}: no deal in it: expected a hand of ours; begin a new session")
        try:
            return HandRecord.model_validate_json(lines[start]), lines[-1] if len(lines) > start + 1 else ""
        except ValidationError as error:
            reason = error.errors()[0]["msg"]
            raise FormatError(f"{self._path.name}: {reason}: expected a hand of ours; begin a new session") from None
