"""Clients' bytes as they appear on stderr: escaped, and limited to what a match needs.

The reference dealer echoes every line unchanged, so a client could fill the disk or control the terminal.
"""

MAX_IDLE_BYTES = 1 << 20  # per seat and match: echo and warnings for lines that answer nothing

_PRINTABLE = {code: chr(code) for code in range(32, 127)}
_ESCAPES = [_PRINTABLE.get(code, f"\\x{code:02x}") for code in range(256)]


def escaped(data: bytes) -> str:
    """A client's bytes, without the line end, made safe for a terminal."""
    return "".join(map(_ESCAPES.__getitem__, data.rstrip(b"\r\n")))


class Allowance:
    """How much a seat may still make us write with lines that answer nothing; beyond it they are only counted."""

    def __init__(self) -> None:
        self._left = MAX_IDLE_BYTES
        self.num_unsaid = 0

    def take(self, text: str) -> bool:
        """Whether the text may be written."""
        self._left -= len(text)
        if self._left < 0:
            self.num_unsaid += 1
        return self._left >= 0
