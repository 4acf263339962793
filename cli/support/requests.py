"""From a command line to a request: the options of a command are the fields of a frozen dataclass."""

import functools
import inspect
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, get_type_hints

import typer

from foldwise.cli.support.interrupts import going_on, how_to_resume

Command = Callable[[Any], int | None]


def add_command(app: typer.Typer, command: Command) -> None:
    """Add `command(request)` under the function's name; its docstring is the help.

    Typer reads options from a signature, so the fields of the request's class are presented as one.
    """
    (request,) = inspect.signature(command).parameters.values()
    request_type = request.annotation
    types = get_type_hints(request_type, include_extras=True)

    def run(**values: Any) -> int | None:
        return command(request_type(**values))

    parameters = [_parameter(field, types[field.name]) for field in fields(request_type)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    run.__doc__ = command.__doc__
    app.command(command.__name__)(run)


def holding(folder: Callable[[Any], Path | None], *kept: str) -> Callable[[Command], Command]:
    """A decorator for a command that writes a folder (`folder(request)`): two runs cannot write there at once.

    `kept`: what is there as soon as an interrupted run can be resumed; a command that says so itself has none.
    """

    def wrap(command: Command) -> Command:
        @functools.wraps(command)
        def hold(request: Any) -> int | None:
            from foldwise.abstraction.storage.folder_lock import locked

            going = going_on(lambda: how_to_resume(folder(request), *kept)) if kept else nullcontext()
            with locked(folder(request)), going:
                return command(request)

        return hold

    return wrap


def _parameter(field: "Field[Any]", annotation: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
