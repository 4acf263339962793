"""Starting a player that is an external program.

It gets the dealer's host and port after its own arguments, and runs in the folder of the first word that is a path: its
own, or that of its script in `cmd:python3 bot.py`.
"""

import subprocess
from pathlib import Path
from typing import IO

from foldwise.agent.program import program_words
from foldwise.game.errors import DefinitionError
from foldwise.matches.duplicate.clean_start import user_environment


def start_program(
    command: str, host: str, port: int, stdout: IO[bytes], stderr: IO[bytes]
) -> "subprocess.Popen[bytes]":
    """Start a resolved command in its own session, so that everything it starts can be ended with it."""
    words = program_words(command)
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
