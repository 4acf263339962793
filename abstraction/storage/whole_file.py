"""Files that appear completely or not at all: written under a temporary name, fsynced, then renamed."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from foldwise.game.errors import Naming


def sync_folder(folder: Path) -> None:
    """Fsync a folder: only then is a new file in it sure to be found after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, and fsync them, so that files written there later survive a power cut."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for place in reversed(missing):
        sync_folder(place.parent)


@contextlib.contextmanager
def _written_whole(path: Path, mode: str, **options: Any) -> Iterator[IO[Any]]:
    # A device or a pipe cannot be renamed over, and a link must not be: /dev/stdout is one, and leads to a plain file
    # where output is redirected.
    if path.is_symlink() or (path.exists() and not path.is_file()):
        with Naming(path), path.open(mode, **options) as file:
            yield file
        return
    temporary = path.with_name(f".{path.name}.new")
    if not path.parent.exists():
        make_folder(path.parent)
    try:
        with Naming(path), temporary.open(mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def written_whole(path: Path, encoding: str = "utf-8") -> contextlib.AbstractContextManager[IO[str]]:
    """A text file that appears completely when the block ends, or not at all; an earlier file stays until then."""
    return _written_whole(path, "w", encoding=encoding, errors="replace", newline="")


def bytes_written_whole(path: Path) -> contextlib.AbstractContextManager[IO[bytes]]:
    """The same for bytes."""
    return _written_whole(path, "wb")


def write_whole(path: Path, text: str) -> None:
    """Write a text file completely or not at all."""
    with written_whole(path) as file:
        file.write(text)
