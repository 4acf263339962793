"""Where results go: nothing that exists is replaced unless asked for."""

from pathlib import Path

from foldwise.game.errors import DefinitionError


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
