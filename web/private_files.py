"""Files for the server's user alone. None is forced to the disk: they must outlive the process, and they do."""

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """A file, whole or not at all."""
    temporary = path.with_name(path.name + ".new")
    _write(temporary, text, os.O_TRUNC)
    temporary.replace(path)


def append_private(path: Path, text: str) -> None:
    """Text at the end of a file, which may be new."""
    _write(path, text, os.O_APPEND)


def _write(path: Path, text: str, how: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
