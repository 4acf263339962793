"""What a cached result was made from: the sources of a module and of everything it imports inside the rooms.

Compiled kernels (`game.compiled`) and tables in the cache (`abstraction`) are named by a hash of these sources. There
is no list to maintain: a module imported directly or indirectly counts, any other does not, and renames are followed.
"""

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_SOURCE_ROOT = Path(__file__).resolve().parent.parent
_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n]*)", re.MULTILINE)
_NAMED = re.compile(r"""["'](foldwise\.[\w.]+):\w+["']""")
_NAME = re.compile(r"[A-Za-z_][\w.]*")


def imported_sources(start: Iterable[Path], root: Path | None = None) -> dict[Path, bytes]:
    """The files given and every file of the rooms they import, directly or indirectly, inside functions too."""
    root = root or _SOURCE_ROOT
    found: dict[Path, bytes] = {}
    waiting = list(start)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = path.read_bytes()
            waiting += [file for name in _imported_names(found[path].decode()) for file in _module_files(root, name)]
    return found


@cache
def source_hash(module: str) -> str:
    """Hash of a module's source and of all it imports inside the rooms."""
    path = _module_files(_SOURCE_ROOT, module)[-1]
    digest = hashlib.sha256()
    for _, text in sorted(imported_sources([path]).items()):
        digest.update(text)
    return digest.hexdigest()[:16]


def _imported_names(text: str) -> set[str]:
    """Dotted names that may be modules: `b` of `from a import b` may be a module or a name inside one.

    Registries name makers as "foldwise.ROOM.MODULE:NAME" and load them later: these count as imports too.
    """
    names = {name for line in _IMPORT.findall(text) for name in _NAME.findall(line)} | set(_NAMED.findall(text))
    for module, taken in _FROM.findall(text):
        names |= {module, *(f"{module}.{name}" for name in _NAME.findall(taken))}
    return names


def _module_files(root: Path, name: str) -> list[Path]:
    """The file of a module of the rooms, preceded by the `__init__.py` of its packages; nothing for any other name."""
    package, *parts = name.split(".")
    if package != "foldwise" or not parts:
        return []
    packages = [root.joinpath(*parts[:depth], "__init__.py") for depth in range(1, len(parts) + 1)]
    return [file for file in (*packages, root.joinpath(*parts).with_suffix(".py")) if file.is_file()]
