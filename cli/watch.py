"""`foldwise watch`: the matches at a broker, as they are played."""

import time
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Annotated

import typer

from foldwise.cli.options import JsonOption, PatienceOption, RequiredBroker
from foldwise.cli.support.output import emit, stdout


@dataclass(frozen=True, kw_only=True)
class WatchRequest:
    broker: RequiredBroker
    match: Annotated[str | None, typer.Argument(metavar="[MATCH]", help="Only this match, until its end.")] = None
    once: Annotated[bool, typer.Option("--once", help="Print the state after a second, and exit.")] = False
    forget: Annotated[bool, typer.Option("--forget", help="Remove finished matches from the broker.")] = False
    patience: PatienceOption = 60.0
    as_json: JsonOption = False


def watch(request: WatchRequest) -> int:
    """Show running matches: totals with intervals, last hands, rates. Ctrl-C ends it.

    With MATCH it ends when the match does: exit code 0 if it finished, 1 if not. Without a terminal it prints
    the table every ten seconds if anything changed. --json prints one object and exits, like --once.

    Example: foldwise watch --broker mqtt://127.0.0.1

    Example: foldwise watch --broker mqtts://user@host/league hunl-3f2a9c01 --json
    """
    from rich.live import Live

    from foldwise.cli.support.broker import open_broker, say
    from foldwise.cli.support.watch_view import WatchResult, board_result, board_view
    from foldwise.matches.network.messages import check_word
    from foldwise.matches.network.watch import Board
    from foldwise.matches.network.watch import watch as watch_broker
    from foldwise.matches.table.loop import run_loop

    match, once, as_json = request.match, request.once or request.as_json, request.as_json
    if match is not None:
        check_word(match, "match")
    opened = open_broker(request.broker)
    board = Board(opened.topics)
    start = time.monotonic()
    printed = float("-inf")
    last: WatchResult | None = None
    live = Live(console=stdout, auto_refresh=False) if stdout.is_terminal and not once else None

    def show() -> bool:
        nonlocal printed, last
        watched = board.matches.get(match) if match is not None else None
        ended = watched is not None and watched.ended
        now = time.monotonic()
        if live is not None:
            live.update(board_view(board, match), refresh=True)
        elif not once and (ended or now - printed >= 10.0):
            printed, known = now, board_result(board, match)
            if known != last:
                last = known
                stdout.print(board_view(board, match))
        return not ended and not (once and now - start >= 1.0)

    with live or nullcontext():
        run_loop(watch_broker(opened, board, show, say, forget=request.forget, patience_seconds=request.patience))
    if once:
        emit(board_result(board, match), as_json, lambda: stdout.print(board_view(board, match)))
    if match is None:
        return 0
    found = board.matches.get(match)
    return 0 if found is not None and found.state in ("finished", "running") else 1
