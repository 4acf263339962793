"""A player that is a program of its own, `cmd:PROGRAM ARGUMENTS`: how it is found, and where and how it is started.

The program is found as a shell finds it: by its path where it has a `/`, else on the PATH, else in the current folder.
It is started with the dealer's host and port after its own arguments, in the folder of the first word that is a path:
its own, or that of its script in `cmd:python3 bot.py`.
"""

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import IO

from foldwise.game.errors import DefinitionError
from foldwise.matches.duplicate.clean_start import user_environment


def resolve_program(command: str) -> str:
    """What follows `cmd:`, checked, its paths absolute: a match may be resumed from another folder."""
    program, *arguments = _words(command)
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


def start_program(
    command: str, host: str, port: int, stdout: IO[bytes], stderr: IO[bytes]
) -> "subprocess.Popen[bytes]":
    """Start a resolved command in a session of its own, so that all it starts can be ended with it."""
    words = _words(command)
    folder = next((Path(word).parent for word in words if Path(word).is_absolute() and Path(word).is_file()), None)
    try:
        return subprocess.Popen(
            [*words, host, str(port)],
            cwd=folder,
            env=user_environment(),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    except OSError as error:
        raise DefinitionError(f"cannot start {words[0]!r} ({error.strerror}): give an executable") from error


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DefinitionError(f"player 'cmd:{command}': {error}: expected words as in a shell") from None
    if not words:
        raise DefinitionError("player 'cmd:': expected cmd: and a program, as in 'cmd:python3 bot.py'")
    return words
