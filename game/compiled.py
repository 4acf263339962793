"""`@kernel`: numba compilation with a cache that cannot go stale.

numba notices an edit to the file that holds a kernel, but not to a helper in another file: the cached caller then runs
the old helper. So compiled code goes into a folder named by a hash of all sources that can shape it, and an edit of any
of them starts a new folder: the `*_kernels.py` of the kernel's room and of the rooms it may import, whatever those
import in turn (constants are compiled in), and files with a `NamedTuple` (a kernel that takes one is compiled for the
order of its fields, and the cache knows the class by its name alone). Two checkouts with the same sources share what they
compiled. Folders unused for two weeks are removed. Nothing is written next to the code: everything lives under
`FOLDWISE_CACHE` (default: the user's cache directory).

The first start of a program waits for the compiler, so two habits of numba are changed here: it formats the two shapes when a
slice is assigned from another size, and compiles its strings for that; and Python's collector looks through all that the
compiler holds, again and again.
"""

import gc
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import numba
import platformdirs
from numba.core import caching, event
from numba.extending import overload
from numba.np import arrayobj

from foldwise.game.sources import imported_sources

_SOURCE_ROOT = Path(__file__).resolve().parent.parent
# The arrows of the project: which rooms' kernels a room's kernels may call.
_UPSTREAM = {
    "game": ("game",),
    "abstraction": ("game", "abstraction"),
    "solver": ("game", "abstraction", "solver"),
    "postprocess": ("postprocess",),
    "agent": ("game", "abstraction", "postprocess", "agent"),
    "search": ("game", "abstraction", "solver", "postprocess", "agent", "search"),
    "matches": ("game", "abstraction", "postprocess", "agent", "search", "matches"),
}
_UNUSED_SECONDS = 14 * 24 * 3600


def cache_folder() -> Path:
    """Where foldwise keeps what it can rebuild: `FOLDWISE_CACHE`, or the user's cache directory."""
    configured = os.environ.get("FOLDWISE_CACHE")
    return Path(configured).expanduser() if configured else Path(platformdirs.user_cache_dir("foldwise"))


def _sources(room: str) -> dict[Path, bytes]:
    """Every source that can affect a room's compiled code. A user's own kernel, outside the rooms, may call all of them."""
    tuples: dict[Path, bytes] = {}
    kernels: list[Path] = []
    for upstream in _UPSTREAM.get(room, tuple(_UPSTREAM)):
        for path in (_SOURCE_ROOT / upstream).rglob("*.py"):
            if path.stem.endswith("_kernels"):
                kernels.append(path)
            elif b"namedtuple" in (text := path.read_bytes()).lower():
                tuples[path] = text
    return tuples | imported_sources(kernels, _SOURCE_ROOT)


@cache
def _numba_folder(room: str) -> str | None:
    """The folder of a room's compiled code, or None if it is not writable."""
    digest = hashlib.sha256(f"numba {numba.__version__}".encode())
    for _, text in sorted(_sources(room).items()):
        digest.update(text)
    folder = cache_folder() / "numba" / f"{room}-{digest.hexdigest()[:16]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    with suppress(OSError):  # another process may be removing the same ones
        _remove_unused(folder.parent)
    return str(folder)


def _room(module: str) -> str:
    """`game` of `game.trees.tree_kernels`; a user's own module is its own room."""
    package, _, rest = module.partition(".")
    return rest.partition(".")[0] if package == "foldwise" else package


def _remove_unused(parent: Path) -> None:
    oldest = time.time() - _UNUSED_SECONDS
    for folder in parent.iterdir():
        if folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


# The folder of the kernel being made: numba's own setting is one for all threads, and threads may import at once.
_folder_of_kernel: ContextVar[str | None] = ContextVar("folder of the kernel being made", default=None)
_Located: Any = caching.UserProvidedCacheLocator


class _SharedLocator(_Located):  # type: ignore[misc]  # numba has no types, so its class is Any
    """Stores what `kernel` compiles, by module instead of by path: the folder's name already identifies the sources."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        ours = py_func.__module__.startswith("foldwise.")  # a user's own kernel is identified by its path alone
        name = py_func.__module__ if ours else self.get_suitable_cache_subpath(py_file)
        self._cache_path = str(Path(_folder_of_kernel.get() or "") / name)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        if _folder_of_kernel.get() is None:
            return None  # not a kernel of `kernel`: numba's own ways
        return super(_Located, cls).from_function(py_func, py_file)


_located_by: Any = caching.CacheImpl
_located_by._locator_classes.insert(0, _SharedLocator)


def _raise_unequal_shapes(source_shape: Any, target_shape: Any) -> None:
    """Stands for numba's function of the same arguments: the error without the two shapes."""


@overload(_raise_unequal_shapes)
def _compiled_raise(source_shape: Any, target_shape: Any) -> Any:
    def raise_it(source_shape: Any, target_shape: Any) -> None:
        raise ValueError("cannot assign a slice from an array of another size")

    return raise_it


_arrays: Any = arrayobj
_arrays.raise_with_shape_context = _raise_unequal_shapes


class _CollectorRests(event.Listener):
    """Switches Python's collector off while a kernel is compiled. Compilations nest; numba lets in one thread at a time."""

    def __init__(self) -> None:
        self._depth = 0
        self._was_on = False

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._was_on = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._was_on:
            gc.enable()


_events: Any = event
_events.register("numba:compile", _CollectorRests())


def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile with numba, cached as described above and releasing the GIL. Options go to `numba.njit`."""
    if function is None:
        return lambda inner: kernel(inner, **options)
    folder = _numba_folder(_room(function.__module__))
    making = _folder_of_kernel.set(folder)
    try:
        # Without a writable cache only compile time is lost; left alone, numba would write next to the code.
        made = numba.njit(function, **{"cache": folder is not None, "nogil": True, **options})
    finally:
        _folder_of_kernel.reset(making)
    _save_if_possible(made)
    return made


def _save_if_possible(dispatcher: Any) -> None:
    """A disk that fills up while kernels are compiled only makes the next start compile again."""
    stored: Any = getattr(dispatcher, "_cache", None)
    save = getattr(stored, "save_overload", None)
    if save is None:  # compilation is disabled
        return

    def save_overload(*arguments: Any) -> None:
        with suppress(OSError):
            save(*arguments)

    stored.save_overload = save_overload
