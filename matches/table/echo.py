"""Clients' bytes as they appear on stderr: escaped, and limited to what a match needs.

The reference dealer repeats every line as it came, so one client can fill a disk and drive a terminal.
"""

MAX_IDLE_BYTES = 1 << 20  # a seat and match: of lines that answer nothing, echoed and complained of

_PRINTABLE = {code: chr(code) for code in range(32, 127)}
_ESCAPES = [_PRINTABLE.get(code, f"\\x{code:02x}") for code in range(256)]


def escaped(data: bytes) -> str:
    """Bytes of a client, without its line end, as they may stand on a terminal."""
    return "".join(map(_ESCAPES.__getitem__, data.rstrip(b"\r\n")))


class Allowance:
    """What a seat may still make us write with lines that answer nothing; beyond it they are counted."""

    def __init__(self) -> None:
        self._left = MAX_IDLE_BYTES
        self.num_unsaid = 0

    def take(self, text: str) -> bool:
        """Whether the text may be written."""
        self._left -= len(text)
        if self._left < 0:
            self.num_unsaid += 1
        return self._left >= 0
