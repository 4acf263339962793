"""Players as they are typed: a folder alone is a strategy, and paths are made absolute."""

import shlex
from pathlib import Path

from foldwise.game.errors import DefinitionError


def player_spec(text: str) -> str:
    """A player's name; a strategy folder may be given by its path alone."""
    folder = text.partition("|")[0]
    return f"strategy:{text}" if (Path(folder) / "manifest.json").is_file() else text


def resolve_player(spec: str) -> str:
    """The player with its paths absolute: players are started in folders of their own."""
    kind, colon, rest = spec.partition(":")
    if colon and kind == "cmd":
        parts = shlex.split(rest)
        if not parts or not Path(parts[0]).is_file():
            raise DefinitionError(f"player {spec!r}: expected cmd: and the path of a program")
        return "cmd:" + shlex.join([str(Path(parts[0]).resolve()), *parts[1:]])
    if colon and kind == "python":
        file, _, name = rest.rpartition(":")
        return f"python:{Path(file).resolve()}:{name}"
    if colon and kind == "strategy":
        folder, bar, pipeline = rest.partition("|")
        return f"strategy:{Path(folder).resolve()}{bar}{pipeline}"
    return spec
