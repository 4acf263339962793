"""Follows a log that another process writes."""

from pathlib import Path

import numpy as np

from foldwise.game.errors import FormatError
from foldwise.matches.table.log import HandListener, hand_number, log_bytes, log_text, seat_values

_CHUNK = 1 << 20


class LogTail:
    """Passes on what has been appended to a log, in whole lines."""

    def __init__(self, path: Path, listen: HandListener, fixed_seats: bool = False):
        self._path = path
        self._listen = listen
        self._fixed_seats = fixed_seats
        self._offset = 0
        self._rest = b""

    def read(self) -> None:
        """Continue where the last call stopped. A log that does not exist yet is empty."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        with file:
            file.seek(self._offset)
            while data := file.read(_CHUNK):
                self._offset += len(data)
                whole, end, self._rest = (self._rest + data).rpartition(b"\n")
                self._pass_on(whole + end)

    def _pass_on(self, data: bytes) -> None:
        lines = [line for line in log_text(data).split("\n") if line.startswith("STATE:")]
        if not lines:
            return
        try:
            values = np.array(seat_values(lines, self._fixed_seats))
            self._listen(hand_number(lines[0]), values, log_bytes("\n".join(lines)))
        except FormatError:  # reported when the result is read from the whole log
            return
