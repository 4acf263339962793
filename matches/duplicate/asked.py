"""What a comparison or a tournament was asked for (`asked.json`), so that another one does not continue it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foldwise.abstraction.storage.checked_json import CHECKSUM, write_checked
from foldwise.agent.player_spec import PlayerSpec
from foldwise.game.errors import DefinitionError
from foldwise.matches.duplicate.cells import contents_of
from foldwise.matches.result_file import read_object

ASKED_FILE = "asked.json"
REMEDY = "remove it, and continue with --resume"
_NUM_DIGITS = 12


def player_text(player: PlayerSpec) -> str:
    """A player's name, and of a strategy what it holds: after more solving it is another player."""
    contents = contents_of(player)
    return f"{player}, contents {contents[:_NUM_DIGITS]}" if contents else str(player)


def keep_asked(folder: Path, result_file: str, asked: Mapping[str, object], resume: bool) -> None:
    """Write down what was asked for; of what is resumed, all that was asked for before must be asked for again.

    Keys are the words of the command line, in the order of complaints; None stands for what was not asked for, which may
    be added to a result later.
    """
    path = folder / ASKED_FILE
    if resume:
        if path.exists():
            _check_same(folder, read_object(path, REMEDY), asked)
        elif (folder / result_file).exists():
            raise DefinitionError(
                f"{str(folder)!r} is from before results said what was asked for ({ASKED_FILE} is missing): "
                "add --overwrite in place of --resume, or give another folder"
            )
    write_checked(path, asked)


def _check_same(folder: Path, there: Mapping[str, Any], asked: Mapping[str, object]) -> None:
    differing = [
        f"{word} {_text(asked.get(word))}, there {_text(before)}"
        for word, before in there.items()
        if word != CHECKSUM and before is not None and before != asked.get(word)
    ]
    if differing:
        raise DefinitionError(
            f"{str(folder)!r} holds another result ({'; '.join(differing)}): repeat the original command with --resume, or "
            "give another folder without it"
        )


def _text(value: object) -> str:
    if isinstance(value, list):
        return " and ".join(map(str, value))
    return "not asked for" if value is None else str(value)
