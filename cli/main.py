"""`foldwise COMMAND`: the commands, and the one place where errors become a line and an exit code."""

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from foldwise.cli.support.interrupts import Interruption
from foldwise.cli.support.output import ProgressLine
from foldwise.cli.support.requests import add_command
from foldwise.cli.support.spellings import modern_spelling
from foldwise.game.errors import DefinitionError, FormatError, IllegalActionError, ProtocolError

# In the order of `foldwise --help`; each is a function in a module, both of that name.
COMMANDS = (
    "games",
    "configs",
    "abstract",
    "solve",
    "average",
    "exploitability",
    "plot",
    "inspect",
    "dealer",
    "play",
    "startme",
    "match",
    "duel",
    "compare",
    "tournament",
    "score",
    "spot",
    "lbr",
    "watch",
    "worker",
    "report",
    "review",
    "export",
    "convert",
    "pack",
    "verify",
    "serve",
    "bench",
)
_HELP = (
    "A heads-up hold'em bot: solve a game offline, play it over the ACPC protocol.\n\n"
    "Start with [bold]foldwise games[/bold]. Every command takes [bold]--json[/bold], and [bold]--help[/bold] explains it."
)


_INTERRUPTED = "interrupted: give the command again; no file is left half-written"


def make_app(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """The program with these commands; other commands' modules are not loaded."""
    app = typer.Typer(
        name="foldwise",
        no_args_is_help=True,
        add_completion=False,
        # The group's own help, where a command is named, is never asked for; reading it costs an import of pydantic.
        add_help_option=len(names) != 1,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        help=_HELP,
    )
    app.callback()(_options)
    for name in names:
        add_command(app, getattr(import_module(f"foldwise.cli.{name}"), name))
    return app


def _wanted(arguments: Sequence[str]) -> Sequence[str]:
    """The commands that an argument list can mean: loading all of them takes longer than running some."""
    first = arguments[0] if arguments else ""
    if first == "--version":
        return ()
    return (first,) if first in COMMANDS else COMMANDS


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"foldwise {version('foldwise')}")
        raise typer.Exit


# A callback of the option itself: without a command the application's callback is never called.
def _options(
    show_version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


# typer.BadParameter -> UsageError -> ClickException: typer does not export the base it raises for bad arguments.
_ArgumentError: Any = typer.BadParameter.__mro__[2]
_INPUT_ERRORS = (DefinitionError, FormatError, IllegalActionError)


def _system_text(error: OSError) -> str:
    """What the system refused, if it says so, and what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        file = f" for {error.filename!r}" if error.filename else ""
        return f"{error.strerror}{file}: make room or give another folder; files written before are whole"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return f"{error.filename!r} cannot be opened or written ({error.strerror}): give another file or folder"
    return str(error)


def _value_text(error: ValueError) -> str:
    """The text for a value refused by a library that is slow to load and imported only here; other errors are bugs: raise."""
    from pydantic import ValidationError

    from foldwise.postprocess.language import PipelineError

    if isinstance(error, PipelineError):
        return str(error)
    if isinstance(error, ValidationError):  # a number or name that does not fit a message or file
        first = error.errors()[0]
        return f"{error.title}: {'.'.join(map(str, first['loc']))}: {first['msg']}: give another"
    if "integer string conversion" in str(error):  # Python's own limit of 4,300 digits
        return "a number of thousands of digits: give a smaller one"
    raise error


def _is_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def _fail(message: str, code: int) -> int:
    ProgressLine.clear()
    line = " ".join(str(message).split())
    print(f"foldwise: {line}", file=sys.stderr)
    return code


def main(arguments: list[str] | None = None) -> int:
    """Run one command: 0 done, 2 bad input, 1 a failure on the other side, 130 interrupted."""
    given, notes = modern_spelling(sys.argv[1:] if arguments is None else arguments)
    for word in given:
        if not _is_text(word):  # valid as a file name, but not in JSON or a log
            return _fail(f"{word!r} is not UTF-8: rename the file or folder", 2)
    ProgressLine.silent = "--json" in given
    for note in notes:
        print(f"foldwise: {note}", file=sys.stderr)
    try:
        result = make_app(_wanted(given))(args=given, standalone_mode=False, prog_name="foldwise")
    except BrokenPipeError:  # the reader of our output closed it: not an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Interruption as interruption:
        return _fail(f"interrupted: {interruption}", 130)
    except (typer.Abort, KeyboardInterrupt):
        return _fail(_INTERRUPTED, 130)
    except _ArgumentError as error:
        context = getattr(error, "ctx", None)
        if not error.format_message():  # no arguments were given, and help has been printed
            return 2
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        return _fail(error.format_message() + hint, 2)
    except ProtocolError as error:
        return _fail(str(error), 1)
    except (MemoryError, OverflowError) as error:
        return _fail(f"more than this machine can hold ({error}): give smaller numbers", 2)
    except RecursionError:
        return _fail("a file is nested too deep to be read: expected one that foldwise or a person wrote", 2)
    except _INPUT_ERRORS as error:
        return _fail(str(error), 2)
    except ValueError as error:
        return _fail(_value_text(error), 2)
    except OSError as error:
        return _fail(_system_text(error), 2)
    if result == 130:  # typer turns Ctrl-C into a silent exit code
        return _fail(_INTERRUPTED, 130)
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    sys.exit(main())
