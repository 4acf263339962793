"""How a strategy may be named: its folder, a packed file, or a name for the packed one that comes with foldwise.

`default` is its tables, `champion` a player: what is done to the rows while it plays comes with the name. It stays text
here, which `agent.player_spec` and `search.language` read. A folder or a file that is called so takes precedence.

A packed strategy is unpacked into the cache at first use, under the file's digest, and verified at every later use: a
folder damaged since is made again.
"""

import hashlib
import logging
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from foldwise.game.errors import DefinitionError, FormatError

if TYPE_CHECKING:
    from foldwise.abstraction.threads import Report

log = logging.getLogger(__name__)

DEFAULT: Final = "default"


class PlayedAs(NamedTuple):
    """What a name does to the strategy's rows."""

    search: str = ""  # as in search(fast); empty: the tables play
    postprocess: str = ""

    def steps(self, postprocess: str | None = None, search: str | None = None) -> str:
        """The text of both parts; one that is given takes the place of the name's own. `none` and `off` leave it out."""
        parts = (self.search if search is None else search, self.postprocess if postprocess is None else postprocess)
        return " | ".join(part for part in parts if part.strip() not in ("", "none", "off"))


NAMED: Final = {
    DEFAULT: PlayedAs(),
    "champion": PlayedAs(search="search(fast, flop=fast)"),
}
MAGIC: Final = b"foldwise packed strategy 1 "  # what a packed file begins with
_MANIFEST: Final = "manifest.json"


def default_file() -> Path:
    """The packed strategy that comes with foldwise."""
    return Path(str(files("foldwise").joinpath("abstraction", f"{DEFAULT}.packed")))


def played_as(text: str | Path) -> PlayedAs:
    """What a strategy's name stands for besides the strategy; nothing for folders and files."""
    named = NAMED.get(str(text))
    return PlayedAs() if named is None or _is_folder(text) or Path(text).is_file() else named


def is_strategy_name(text: str) -> bool:
    """Whether a text is a strategy's name on its own, as `default` is."""
    return _is_folder(text) or _packed_file(text) is not None


def find_strategy(text: str | Path, report: "Report | None" = None) -> Path:
    """The folder of a strategy. An existing folder called as a name of `NAMED` takes precedence; other text is a path."""
    file = None if _is_folder(text) else _packed_file(str(text))
    return Path(text) if file is None else _unpacked(file, report)


def _is_folder(text: str | Path) -> bool:
    return (Path(text) / _MANIFEST).is_file()


def _packed_file(text: str) -> Path | None:
    path = Path(text)
    if not path.is_file():
        return default_file() if text in NAMED else None
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
