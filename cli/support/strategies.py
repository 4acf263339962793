"""Strategies as typed on the command line: a folder, a packed file, or `default`; unpacking shows its progress."""

from pathlib import Path

from foldwise.abstraction.named_strategy import find_strategy
from foldwise.cli.support.output import ProgressLine


def typed_folder(folder: Path | None) -> Path | None:
    """The folder of a strategy's name; an option's callback."""
    return None if folder is None else strategy_folder(folder)


def typed_folders(folders: list[Path] | None) -> list[Path] | None:
    """The same for an option that may be repeated."""
    return None if folders is None else [strategy_folder(folder) for folder in folders]


def strategy_folder(name: str | Path) -> Path:
    """The folder of a strategy's name; a packed one is unpacked, which builds its card tables the first time."""
    line = ProgressLine(f"unpacking {Path(name).name}")
    try:
        return find_strategy(name, line.update)
    finally:
        ProgressLine.clear()
