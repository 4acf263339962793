"""The errors foldwise raises on purpose. A message says what came, what was expected and what to do."""

import contextlib
from collections.abc import Iterator
from pathlib import Path


class DefinitionError(ValueError):
    """A game definition, game name or configuration that cannot be used."""


class TreeSizeError(DefinitionError):
    """A game whose public tree is too large to store."""


class IllegalActionError(ValueError):
    """An action the rules do not allow in the given state."""


class FormatError(ValueError):
    """Text or a file that does not have the promised form."""


class ProtocolError(RuntimeError):
    """A peer that violates the ACPC protocol."""


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the file's name to system errors of a write: the system names it only when opening fails."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
