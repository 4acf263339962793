"""Code from a user's own file, `python:FILE.py:NAME`: a player, a post-processing rule or a sampler."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

from foldwise.game.errors import DefinitionError

PYTHON: Final = "python:"


def resolve_name(what: str, text: str) -> str:
    """The same name with an absolute path, so that it is found from another folder."""
    path, name = _parts(what, text)
    return f"{PYTHON}{path.resolve()}:{name}"


def _parts(what: str, text: str) -> tuple[Path, str]:
    file, _, name = text.removeprefix(PYTHON).rpartition(":")
    path = Path(file)
    if not file or path.suffix != ".py" or not path.is_file():
        raise DefinitionError(f"{what} {text!r}: expected python:FILE.py:NAME with a file that exists")
    return path, name


def load_name(what: str, text: str, expected: str) -> Any:
    """The object `python:FILE.py:NAME` names. The file is run anew each time, so that nothing is shared.

    `what` and `expected` are for the errors: "player", "a class that is made from a seed".
    """
    path, name = _parts(what, text)
    spec = spec_from_file_location(f"{PYTHON}{path.resolve()}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look up their module there
    try:
        spec.loader.exec_module(module)
        return getattr(module, name)
    except Exception as error:  # the user's code may raise anything; report it in one line
        raise own_code_error(what, text, error, expected) from error


def own_code_error(what: str, text: str, error: Exception, expected: str) -> DefinitionError:
    """One line for an exception of the user's own code."""
    reason = " ".join(repr(error).split())
    return DefinitionError(f"{what} {text!r}: {reason}: expected {expected}")
