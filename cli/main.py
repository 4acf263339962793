"""`foldwise COMMAND`: the commands, and one place where errors become one line and an exit code."""

import errno
import os
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from foldwise.cli import (
    abstract,
    bench,
    compare,
    export,
    games,
    inspect,
    lbr,
    network,
    offline,
    online,
    people,
    report,
    review,
    score,
    serve,
)
from foldwise.game.errors import DefinitionError, FormatError, IllegalActionError, ProtocolError
from foldwise.postprocess.language import PipelineError

app = typer.Typer(
    name="foldwise",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="A heads-up hold'em bot: solve a game offline, play it over the ACPC protocol.\n\n"
    "Start with [bold]foldwise games[/bold]. Every command takes [bold]--json[/bold], and [bold]--help[/bold] teaches.",
)
for _commands in (
    games,
    abstract,
    offline,
    inspect,
    online,
    people,
    compare,
    score,
    lbr,
    network,
    report,
    review,
    export,
    serve,
    bench,
):
    _commands.register(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"foldwise {version('foldwise')}")
        raise typer.Exit


# The option's own callback: without a command the callback of the application is never reached.
@app.callback()
def foldwise(
    show_version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


# typer.BadParameter -> UsageError -> ClickException: typer does not export the base it raises for bad arguments.
_ArgumentError: Any = typer.BadParameter.__mro__[2]
_INPUT_ERRORS = (DefinitionError, FormatError, IllegalActionError, PipelineError)


def _system_text(error: OSError) -> str:
    """What the system refused, where it says so, and what to do."""
    if error.errno == errno.ENOSPC:
        return "no space left on the device: make room or give another folder; files written before are whole"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return f"{error.filename!r} cannot be opened or written ({error.strerror}): give another file or folder"
    return str(error)


def _fail(message: str, code: int) -> int:
    line = " ".join(str(message).split())
    print(f"foldwise: {line}", file=sys.stderr)
    return code


def main(arguments: list[str] | None = None) -> int:
    """Run one command: 0 done, 2 bad input, 1 a failure on the other side, 130 interrupted."""
    try:
        result = app(args=arguments, standalone_mode=False, prog_name="foldwise")
    except BrokenPipeError:  # the reader of our output went away: not an error of ours
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (typer.Abort, KeyboardInterrupt):
        return _fail("interrupted", 130)
    except _ArgumentError as error:
        context = getattr(error, "ctx", None)
        if not error.format_message():  # help was asked for by giving no arguments, and is printed
            return 2
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        return _fail(error.format_message() + hint, 2)
    except ProtocolError as error:
        return _fail(str(error), 1)
    except ValidationError as error:  # a number or name no message or file of ours can hold
        first = error.errors()[0]
        return _fail(f"{error.title}: {'.'.join(map(str, first['loc']))}: {first['msg']}: give another", 2)
    except (MemoryError, OverflowError) as error:
        return _fail(f"more than this machine can hold ({error}): give smaller numbers", 2)
    except _INPUT_ERRORS as error:
        return _fail(str(error), 2)
    except OSError as error:
        return _fail(_system_text(error), 2)
    if result == 130:  # typer turns Ctrl-C into a silent exit code
        return _fail("interrupted", 130)
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    sys.exit(main())
