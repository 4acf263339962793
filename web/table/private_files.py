"""Files only the server's user may read. They are not fsynced: they need to survive the process, not a power cut."""

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    temporary = path.with_name(path.name + ".new")
    _write(temporary, text, os.O_TRUNC)
    temporary.replace(path)


def append_private(path: Path, text: str) -> None:
    """Append text to a file, which is created if needed."""
    _write(path, text, os.O_APPEND)


def _write(path: Path, text: str, how: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
