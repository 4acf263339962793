"""Players as they are typed: a folder alone is a strategy, and paths are made absolute."""

from pathlib import Path

from foldwise.matches.duplicate.program import resolve_program


def player_spec(text: str) -> str:
    """A player's name; a strategy folder may be given by its path alone."""
    folder = text.partition("|")[0]
    return f"strategy:{text}" if (Path(folder) / "manifest.json").is_file() else text


def resolve_player(spec: str) -> str:
    """The player with its paths absolute: players are started in folders of their own."""
    kind, colon, rest = spec.partition(":")
    if colon and kind == "cmd":
        return f"cmd:{resolve_program(rest)}"
    if colon and kind == "python":
        file, _, name = rest.rpartition(":")
        return f"python:{Path(file).resolve()}:{name}"
    if colon and kind == "strategy":
        folder, bar, pipeline = rest.partition("|")
        return f"strategy:{Path(folder).resolve()}{bar}{pipeline}"
    return spec
