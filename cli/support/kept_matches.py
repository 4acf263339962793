"""The folder in which a comparison or a tournament keeps its matches."""

from pathlib import Path

from foldwise.game.errors import DefinitionError


def matches_folder(output: Path | None, logs: bool, score: str) -> Path | None:
    """Where the matches are kept, if they are; a new folder."""
    if not logs:
        return None
    if score == "expectation":
        raise DefinitionError("--logs with --score expectation: no hand is played, so there is no log; leave one out")
    if output is None:
        raise DefinitionError("--logs without a folder to write to: give -o DIR")
    folder = output / "matches"
    if folder.exists():
        raise DefinitionError(f"{str(folder)!r} holds matches: give another folder with -o")
    folder.mkdir(parents=True)
    return folder
