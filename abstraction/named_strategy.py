"""How a strategy may be named: its folder, a packed file, or `default`, the packed one that comes with foldwise.

A packed strategy is unpacked into the cache at first use, under the file's digest, and verified at every later use: a
folder damaged since is made again.
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
    """Whether a text is a strategy's name on its own, as `default` is."""
    return (Path(text) / _MANIFEST).is_file() or _packed_file(text) is not None


def find_strategy(text: str | Path, report: "Report | None" = None) -> Path:
    """The folder of a strategy. An existing folder called `default` takes precedence; other text is a path."""
    file = None if (Path(text) / _MANIFEST).is_file() else _packed_file(str(text))
    return Path(text) if file is None else _unpacked(file, report)


def _packed_file(text: str) -> Path | None:
    path = Path(text)
    if not path.is_file():
        return default_file() if text == DEFAULT else None
    with path.open("rb") as file:
        return path if file.read(len(MAGIC)) == MAGIC else None


def _unpacked(file: Path, report: "Report | None") -> Path:
    # Slow imports are made only here: most names are folders, and every command reads names.
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
        # Under a temporary name until complete: if two processes unpack at once, the second keeps the first one's folder.
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
    """Verify an unpacked strategy completely, cards included."""
    from foldwise.abstraction.card_lookup import open_card_lookup
    from foldwise.abstraction.strategy import Strategy

    strategy = Strategy(folder)
    strategy.verify()
    if strategy.manifest.definition is not None:
        strategy.check_rows(open_card_lookup(strategy).num_buckets)
