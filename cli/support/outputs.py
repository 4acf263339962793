"""Where results go: nothing that exists is replaced unless asked for."""

import json
from pathlib import Path

from foldwise.game.errors import DefinitionError

# What a folder of ours holds, by files that only such a folder has. Written out here, since the modules that write them are
# slow to load and a command's help must not wait for them.
_HELD = {
    "manifest.json": "a strategy or a card abstraction",
    "checkpoint.json": "a run of solve",
    "distributed.json": "a run of solve",
    "match.json": "a match",
    "comparison.json": "a comparison",
    "job.json": "a comparison",
    "tournament.json": "a tournament",
    "asked.json": "a comparison or a tournament",
    "lbr.json": "a run of lbr",
    "response.json": "a best response",
    "duel.json": "duels",
}
STRATEGY_KIND = "foldwise strategy"
KEPT = ("cells", "matches", "job.json")  # what an unfinished comparison or tournament can be resumed from


def check_folder_for(folder: Path | None, *own: str) -> None:
    """Refuse a folder that holds results of another command: neither could be resumed, checked or reported for sure.

    `own`: the files of this command's folders.
    """
    for name, held in _HELD.items():
        if folder is not None and name not in own and (folder / name).exists():
            raise DefinitionError(f"{str(folder)!r} holds {held} ({name}): give another folder")


def check_manifest(folder: Path, kind: str) -> None:
    """Refuse a folder whose manifest is of another kind: a strategy and a card abstraction do not replace each other."""
    try:
        found = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["kind"]
    except (OSError, ValueError, LookupError, TypeError):  # none, or a damaged one
        return
    if found != kind:
        raise DefinitionError(f"{str(folder)!r} holds a {found}, not a {kind}: give another folder")


def check_new_file(path: Path | None, overwrite: bool) -> None:
    """Refuse a file that already exists; a pipe or /dev/stdout may be written to."""
    if path is not None and path.is_file() and not overwrite:
        raise DefinitionError(f"{str(path)!r} exists already: add --overwrite to replace it, or give another name")


_PICTURES = (".png", ".pdf", ".svg")


def check_picture(path: Path | None, overwrite: bool) -> None:
    """Refuse a picture format that cannot be written, before any work is done."""
    if path is not None and path.suffix.lower() not in _PICTURES:
        raise DefinitionError(f"picture {str(path)!r}: expected a name that ends with {', '.join(_PICTURES)}")
    check_new_file(path, overwrite)
