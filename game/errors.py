"""The errors foldwise raises on purpose. A message says what came, what was expected and what to do."""

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


class Naming:
    """Adds a file's name to system errors of a write: the system names it only when opening fails.

    `with Naming(path):` around one write; whoever writes line after line keeps the object and uses it again.
    """

    __slots__ = ("_path",)

    def __init__(self, path: Path):
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, OSError) and error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(self._path)) from None
