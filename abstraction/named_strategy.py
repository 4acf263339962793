"""How a strategy may be named: its folder, a packed file, or `default`, the packed one that comes with foldwise.

What is packed is unpacked at its first use into the cache, under the file's digest, and checked whenever it is named
again: a folder damaged since is made anew.
"""

import hashlib
import logging
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from foldwise.game.errors import DefinitionError, FormatError

if TYPE_CHECKING:
    from foldwise.abstraction.threads import Report

log = logging.getLogger(__name__)

DEFAULT: Final = "default"
MAGIC: Final = b"foldwise packed strategy 1 "  # what a packed file begins with
_MANIFEST: Final = "manifest.json"


def default_file() -> Path:
    """The packed strategy that comes with foldwise."""
    return Path(str(files("foldwise").joinpath("abstraction", f"{DEFAULT}.packed")))


def is_strategy_name(text: str) -> bool:
    """Whether a text names a strategy by itself, as `default` does: other texts may be anything."""
    return (Path(text) / _MANIFEST).is_file() or _packed_file(text) is not None


def find_strategy(text: str | Path, report: "Report | None" = None) -> Path:
    """The folder of a strategy. A folder called `default` comes before the name; what is neither stays as it is."""
    file = None if (Path(text) / _MANIFEST).is_file() else _packed_file(str(text))
    return Path(text) if file is None else _unpacked(file, report)


def _packed_file(text: str) -> Path | None:
    path = Path(text)
    if not path.is_file():
        return default_file() if text == DEFAULT else None
    with path.open("rb") as file:
        return path if file.read(len(MAGIC)) == MAGIC else None


def _unpacked(file: Path, report: "Report | None") -> Path:
    # What computes is imported only here: most names are folders, and a name is read by every command.
    from foldwise.abstraction.packed_strategy import read_packed, unpack
    from foldwise.game.compiled import cache_folder

    if not file.is_file():
        raise FormatError(f"{str(file)!r} is missing: install foldwise again, or make it with 'foldwise pack'")
    packed = read_packed(file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    folder = cache_folder() / "strategies" / digest / file.stem
    if folder.exists():
        try:
            _check(folder)
            return folder
        except FormatError as error:
            log.warning("%s; unpacking it again", error)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Under another name until it is whole: of two that unpack at once, the second finds the first one's and keeps it.
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            unpack(packed, temporary, report)
            shutil.rmtree(folder, ignore_errors=True)
            temporary.rename(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        if not (folder / _MANIFEST).is_file():
            raise DefinitionError(
                f"strategy {str(file)!r} cannot be unpacked into {str(folder.parent)!r} ({error.strerror}): "
                "set FOLDWISE_CACHE to a folder with room"
            ) from None
    return folder


def _check(folder: Path) -> None:
    """Read an unpacked strategy through, its cards too."""
    from foldwise.abstraction.card_lookup import open_card_lookup
    from foldwise.abstraction.strategy import Strategy

    strategy = Strategy(folder)
    strategy.verify()
    if strategy.manifest.definition is not None:
        strategy.check_rows(open_card_lookup(strategy).num_buckets)
