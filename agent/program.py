"""A player that is an external program, `cmd:PROGRAM ARGUMENTS`: how the program is found.

As a shell finds it: by its path where that has a `/`, else on the PATH, else in the current folder.
"""

import os
import shlex
import shutil
from pathlib import Path

from foldwise.game.errors import DefinitionError


def resolve_program(command: str) -> str:
    """The text after `cmd:`, checked and with absolute paths, since a match may be resumed from another folder."""
    program, *arguments = program_words(command)
    if "/" in program or shutil.which(program) is None:
        path = Path(program).resolve()
        if not path.is_file():
            where = "" if "/" in program else ", on the PATH or here"
            raise DefinitionError(f"player 'cmd:{command}': no program {program!r}{where}: expected cmd: and a program")
        if not os.access(path, os.X_OK):
            raise DefinitionError(
                f"player 'cmd:{command}': {str(path)!r} is not executable: run chmod +x, or name what runs it, "
                f"as in 'cmd:python3 {program}'"
            )
        program = str(path)
    return shlex.join([program, *(str(Path(word).resolve()) if Path(word).is_file() else word for word in arguments)])


def program_words(command: str) -> list[str]:
    """The words of a command, the program first."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DefinitionError(f"player 'cmd:{command}': {error}: expected words as in a shell") from None
    if not words:
        raise DefinitionError("player 'cmd:': expected cmd: and a program, as in 'cmd:python3 bot.py'")
    return words
