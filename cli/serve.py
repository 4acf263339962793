"""`foldwise serve`: the table in a browser, and an HTTP interface for other people's bots."""

import json
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from foldwise.abstraction.named_strategy import DEFAULT, played_as
from foldwise.cli.options import BrokerOption, JsonOption, output_option
from foldwise.cli.support.output import stderr, stdout
from foldwise.cli.support.search_option import AUTO, SeatSearchOption
from foldwise.cli.support.strategies import strategy_folder, typed_folders
from foldwise.game.errors import DefinitionError

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_MODES = (AUTO, "off", "fast", "normal", "deep")


@dataclass(frozen=True, kw_only=True)
class ServeRequest:
    strategy: Annotated[
        Path | None,
        typer.Argument(
            metavar="STRATEGY",
            help="A strategy folder or champion: the first opponent, and the bots' one; by default the one that comes "
            "with foldwise.",
        ),
    ] = None
    port: Annotated[int, typer.Option(help="Port to listen on; 0: any free one.", min=0, max=65535)] = 8765
    bind: Annotated[str, typer.Option(help="Address to listen on; another than loopback needs --token.")] = "127.0.0.1"
    token: Annotated[str | None, typer.Option(metavar="TEXT|auto", help="A password for users; auto makes one up.")] = (
        None
    )
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")] = True
    output: Annotated[Path | None, output_option("Sessions and logs; default: the user's data folder.")] = None
    search: SeatSearchOption = AUTO
    strategies: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", callback=typed_folders, help="More strategies, or folders of them; repeatable."),
    ] = None
    matches: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Folders of matches to watch; default: runs, if it exists."),
    ] = None
    broker: BrokerOption = None
    as_json: JsonOption = False


def serve(request: ServeRequest) -> None:
    """Play, explore, review, watch and train in a browser; bots play at the same address over Slumbot's HTTP interface.

    Sessions are kept in DIR as ACPC logs and survive a reload, a lost connection and a restart of the server. Ctrl-C stops
    it; hands in play continue when it runs again.

    Example: foldwise serve

    Example: foldwise serve runs/small

    Example: foldwise serve champion

    Example: foldwise serve runs/small --strategies runs --port 0 --no-open --json

    Example: foldwise serve runs/small --bind 0.0.0.0 --token auto
    """
    import platformdirs

    try:
        from foldwise.web.app import TableSettings, make_app
        from foldwise.web.connection.guard import Access
        from foldwise.web.connection.server import listen
        from foldwise.web.connection.server import serve as serve_app
    except ModuleNotFoundError as error:
        raise DefinitionError(f"serve needs {error.name}: install it with pip install 'foldwise[web]'") from None

    bind, token, strategy = request.bind, request.token, request.strategy
    if request.search not in _MODES:
        raise DefinitionError(f"--search {request.search!r}: expected {', '.join(_MODES[:-1])} or {_MODES[-1]}")
    local = bind in _LOOPBACK
    if not local and token is None:
        raise DefinitionError(f"--bind {bind!r} lets other machines in: give --token TEXT, or --token auto")
    if token is not None and token != "auto" and (len(token) < 8 or not token.isascii() or not token.isprintable()):
        raise DefinitionError("--token: expected at least 8 printable ASCII characters, or auto")
    if token == "auto":
        token = secrets.token_urlsafe(18)
    own, search = played_as(strategy or DEFAULT), request.search
    if own.search and search == AUTO:
        search = own.search.removeprefix("search(").removesuffix(")")
    strategies = (
        *([strategy_folder(strategy)] if strategy is not None else []),
        *(request.strategies or ()),
    )
    folder = request.output or Path(platformdirs.user_data_dir("foldwise")) / "sessions"
    settings = TableSettings(
        sessions_folder=folder,
        strategies=strategies or (strategy_folder(DEFAULT),),
        search=search,
        postprocess=own.postprocess or "none",
        matches=tuple(request.matches if request.matches is not None else filter(Path.is_dir, (Path("runs"),))),
        broker=request.broker,
        access=Access(token, local),
    )
    if stderr.is_terminal:
        stderr.print("opening the strategies; the first time, compiling takes about a minute ...")
    app = make_app(settings)
    sock = listen(bind, request.port)
    shown = f"[{bind}]" if ":" in bind else "127.0.0.1" if bind in ("0.0.0.0", "::") else bind
    url = f"http://{shown}:{sock.getsockname()[1]}/"
    address = url if token is None else f"{url}?token={token}"

    def ready() -> None:
        if request.as_json:
            print(json.dumps({"url": url, "token": token}), flush=True)
        else:
            stdout.print(f"the table is at {address}", soft_wrap=True)
            stdout.print(f"bots play at {url}api/ (Slumbot's interface); sessions in {folder}", soft_wrap=True)
            stdout.print("Ctrl-C ends it; hands in play are kept")
            sys.stdout.flush()
        if request.open_browser and not request.as_json:
            import webbrowser

            if not webbrowser.open(address):
                stderr.print("no browser could be opened: open the address yourself")

    serve_app(app, sock, ready)
