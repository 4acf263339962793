"""Listening: uvicorn in our own event loop, on a port that is known before anything is printed."""

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

from foldwise.game.errors import DefinitionError
from foldwise.matches.table.loop import run_loop
from foldwise.web.connection.http_connection import Connection

_MOST_CONNECTIONS = 2000
_GRACE_SECONDS = 1  # open connections are cut after this when the server ends


class _Server(uvicorn.Server):
    """uvicorn's server without its signal handlers: the caller handles signals, as in every command."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _is_news(record: logging.LogRecord) -> bool:
    """Filter out the messages about connections closed at shutdown: that is the normal end."""
    return not str(record.msg).startswith("Cancel ")


def listen(address: str, port: int) -> socket.socket:
    """A listening socket; port 0 is any free one."""
    try:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((address, port))
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DefinitionError(f"cannot listen at {address}:{port} ({reason}): give another --port or --bind") from None
    sock.listen(256)
    return sock


def _allow_connections() -> None:
    """Raise the limit on open files to the maximum: each connection and each session's log takes one."""
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def serve(app: ASGIApp, sock: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until SIGTERM, or until SIGINT, which raises `KeyboardInterrupt` as usual.

    `ready` is called once requests are answered.
    """
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        ws_max_size=1 << 16,
        http=Connection,
        ws="websockets-sansio",
    )
    _allow_connections()
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    ended_by = run_loop(_serve(_Server(config), sock, ready))
    logging.disable()  # a solve that is cut off complains while the process ends: that is no news either
    if ended_by == signal.SIGINT:
        raise KeyboardInterrupt


async def _serve(server: _Server, sock: socket.socket, ready: Callable[[], None]) -> signal.Signals | None:
    """Serve, and return the signal that ended it."""
    loop = asyncio.get_running_loop()
    ended: list[signal.Signals] = []

    def end(number: signal.Signals) -> None:
        server.force_exit = server.should_exit  # a second signal stops at once
        server.should_exit = True
        ended.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end, number)
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    if not serving.done():
        ready()
    await serving
    return ended[0] if ended else None
