"""One run in one folder: who writes there holds its lock, and a second run is told who that is.

The kernel holds the lock (`flock`) for as long as the process lives, so a killed run leaves none behind: its file may
stay, and the next run takes it over.
"""

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from foldwise.game.errors import DefinitionError

LOCK_FILE = ".lock"


def _take(path: Path) -> int:
    """A descriptor that holds the lock; raises `BlockingIOError` while another does."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The holder before us removes its file: a lock on a file that has gone from the folder is none.
            if _same(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _same(descriptor: int, path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.stat())
    return False


@contextlib.contextmanager
def locked(folder: Path | None) -> Iterator[None]:
    """Hold a folder, made if need be, for the length of the block; raises `DefinitionError` where another run does."""
    if folder is None:
        yield
        return
    path = folder / LOCK_FILE
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = _take(path)
    except BlockingIOError:
        holder = path.read_text(encoding="utf-8", errors="replace").strip() or "another run"
        raise DefinitionError(
            f"{str(folder)!r} is in use by {holder}: wait for it to end, or give another folder"
        ) from None
    except OSError as error:
        raise DefinitionError(
            f"output {str(folder)!r} cannot be written ({error.strerror}): give another folder"
        ) from None
    try:
        command = " ".join(Path(word).name if index == 0 else word for index, word in enumerate(sys.argv[:2]))
        text = f"process {os.getpid()} ({command}, since {time.strftime('%H:%M:%S')})\n"
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)
        if made:  # a run that was refused leaves no empty folder behind
            with contextlib.suppress(OSError):
                folder.rmdir()
