"""One run per folder: the writer holds its lock, and a second run is told who that is.

The kernel holds the lock (`flock`) for as long as the process lives, so a killed run leaves none behind: its file may
stay, and the next run takes it over. In the cache, where several may want the same thing, they wait for one another.
"""

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from foldwise.abstraction.storage.whole_file import make_folder
from foldwise.game.errors import DefinitionError, Naming

LOCK_FILE = ".lock"


def _take(path: Path) -> int:
    """A descriptor that holds the lock; raises `BlockingIOError` while another does."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The previous holder removes its file: a lock on a removed file does not count.
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


def lock_path(folder: Path) -> Path:
    """Beside the folder, so that the folder holds only results; inside it if the parent is not writable."""
    folder = folder.resolve()
    if folder.is_dir() and not os.access(folder.parent, os.W_OK):
        return folder / LOCK_FILE
    return folder.with_name(f".{folder.name}{LOCK_FILE}")


@contextlib.contextmanager
def locked(folder: Path | None) -> Iterator[None]:
    """Hold a folder, which need not exist yet, while the block runs; `DefinitionError` if another run holds it."""
    if folder is None:
        yield
        return
    path = lock_path(folder)
    missing = [parent for parent in path.parents if not parent.exists()]
    try:
        if missing:
            make_folder(path.parent)
        descriptor = _take(path)
    except BlockingIOError:
        holder = path.read_text(encoding="utf-8", errors="replace").strip() or "another run"
        raise DefinitionError(
            f"{str(folder)!r} is in use by {holder}: wait for it to end, or give another folder"
        ) from None
    except OSError as error:
        raise DefinitionError(
            f"output {str(folder)!r} cannot be made ({error.strerror}): give another folder"
        ) from None
    try:
        command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]])
        with Naming(path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()} ({command}, since {time.strftime('%H:%M:%S')})\n".encode(), 0)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)
        with contextlib.suppress(OSError):  # a refused run leaves no empty folders behind
            for parent in missing:
                parent.rmdir()


@contextlib.contextmanager
def taking_turns(folder: Path) -> Iterator[None]:
    """Hold a cache folder while it is looked up and made: other processes wait, and then find it.

    Without a lock, as in an unwritable cache, nothing can be kept either, so nobody waits.
    """
    try:
        make_folder(folder.parent)
        descriptor = os.open(folder.with_name(f".{folder.name}{LOCK_FILE}"), os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:
        yield
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
