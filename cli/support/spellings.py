"""Earlier spellings of options: they still work, with a note on the new spelling."""

from collections.abc import Sequence
from pathlib import Path

_RENAMED = {"--jobs": "--threads"}


def modern_spelling(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """(the arguments in today's spelling, a note for each that was changed)."""
    modern: list[str] = []
    notes: list[str] = []
    rest = list(arguments)
    if "--" in rest:  # what follows is not an option
        cut = rest.index("--")
        rest, verbatim = rest[:cut], rest[cut:]
    else:
        verbatim = []
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name in _RENAMED:
            modern.append(_RENAMED[name] + equals + value)
            notes.append(f"{name} is now {_RENAMED[name]}")
        elif name == "--resume" and arguments[0] == "match" and (equals or (rest and _is_match(rest[0]))):
            folder = value if equals else rest.pop(0)
            modern += ["-o", folder, "--resume"]
            notes.append(f"--resume {folder} is now -o {folder} --resume")
        else:
            modern.append(word)
    return modern + verbatim, notes


def _is_match(word: str) -> bool:
    """Whether a word after --resume is a match folder: not an option, and not a player."""
    return not word.startswith("-") and ":" not in word and not (Path(word) / "manifest.json").is_file()
