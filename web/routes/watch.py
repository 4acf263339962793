"""Watching matches in the browser: folders on this machine, read while they are being written, and a broker's feed."""

import asyncio
import hashlib
import logging
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from foldwise.game.errors import DefinitionError, FormatError
from foldwise.matches.network.connection import read_broker
from foldwise.matches.network.watch import Board, watch
from foldwise.matches.plan import PLAN_FILE
from foldwise.matches.report.page import report_page
from foldwise.matches.report.report import COMPARISON_FILE, TOURNAMENT_FILE, load_report
from foldwise.web.routes.answers import Body, mistake_text, read_message
from foldwise.web.routes.match_view import check_size, feed_view, folder_summary, folder_view, written
from foldwise.web.table.sessions import UnknownSessionError
from foldwise.web.table.solving import SolveQueue

_log = logging.getLogger(__name__)
_MOST_FOLDERS = 200
_LOOK_SECONDS = 1.0
_MOST_SHARE = 5.0  # wait at least five times as long as the last read took
_REPORT_HANDS = 100
# The report is a self-contained page with inline style and script, so it gets a sandboxed origin of its own.
_REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
)


class _Watch(Body):
    match: str = Field(max_length=100)


class WatchRoutes:
    """The routes of the watch page."""

    def __init__(self, folders: Sequence[Path], broker: str | None, looking: SolveQueue):
        self._folders = list(folders)
        self._looking = looking
        self._broker = read_broker(broker) if broker is not None else None
        self._board = Board(self._broker.topics) if self._broker is not None else None
        self._trouble = ""
        self._feed: asyncio.Task[None] | None = None

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/page/matches", self._matches, methods=["GET"]),
            Route("/page/report/{match}", self._report, methods=["GET"]),
            WebSocketRoute("/page/watch", self._watch),
        ]

    def start(self) -> None:
        """Start listening to the broker, if there is one."""
        if self._broker is not None and self._board is not None:
            self._feed = asyncio.create_task(self._listen())

    def stop(self) -> None:
        if self._feed is not None:
            self._feed.cancel()

    async def _listen(self) -> None:
        assert self._broker is not None and self._board is not None
        while True:
            try:
                await watch(self._broker, self._board, lambda: True, self._say)
            except Exception as error:  # noqa: BLE001  # a missing broker must not stop the server
                self._say(str(error))
            await asyncio.sleep(5.0)

    def _say(self, text: str) -> None:
        self._trouble = text
        _log.warning("%s", text)

    def _found(self) -> dict[str, Path]:
        """Match, comparison and tournament folders by an id that does not reveal their paths."""
        found: dict[str, Path] = {}
        for folder in self._folders:
            for place in (folder, *sorted(folder.glob("*/"), key=written, reverse=True)):
                if any((place / name).is_file() for name in (PLAN_FILE, COMPARISON_FILE, TOURNAMENT_FILE)):
                    found[hashlib.sha256(str(place.resolve()).encode()).hexdigest()[:16]] = place
                if len(found) >= _MOST_FOLDERS:
                    break
        return found

    async def _matches(self, request: Request) -> JSONResponse:
        local = []
        for key, folder in self._found().items():
            try:
                local.append({"id": key, **folder_summary(folder)})
            except (DefinitionError, FormatError, OSError) as error:
                local.append(
                    {"id": key, "title": folder.name, "players": [], "state": "unreadable", "note": mistake_text(error)}
                )
        feed = [feed_view(known) for known in self._board.matches.values()] if self._board is not None else []
        return JSONResponse(
            {"folders": local, "feed": feed, "broker": self._broker is not None, "trouble": self._trouble},
            headers={"Cache-Control": "no-store"},
        )

    async def _report(self, request: Request) -> Response:
        folder = self._found().get(request.path_params["match"])
        if folder is None:
            return PlainTextResponse("no such match\n", 404)
        try:
            check_size(folder)
            report = await self._looking.run(request.state.address, partial(load_report, folder, _REPORT_HANDS))
        except (DefinitionError, FormatError) as error:
            return PlainTextResponse(mistake_text(error) + "\n", 409)
        return HTMLResponse(
            report_page(report), headers={"Content-Security-Policy": _REPORT_POLICY, "Cache-Control": "no-store"}
        )

    async def _watch(self, websocket: WebSocket) -> None:
        """Send the state of a match whenever it has changed."""
        await websocket.accept()
        gone: asyncio.Task[Any] | None = None
        try:
            wanted = read_message(_Watch, await websocket.receive_text()).match
            told = None
            gone = asyncio.create_task(websocket.receive())  # the page has nothing more to say, so it is its end
            while not gone.done():
                start = time.monotonic()
                view = await self._look(wanted, websocket)
                if view != told:
                    told = view
                    await websocket.send_json({"match": view})
                    if view["state"] != "running":
                        break
                await asyncio.wait({gone}, timeout=max(_LOOK_SECONDS, _MOST_SHARE * (time.monotonic() - start)))
            if not gone.done():
                await websocket.close()
        except (ValidationError, DefinitionError, FormatError, UnknownSessionError) as error:
            await websocket.send_json({"error": mistake_text(error)})
            await websocket.close()
        except (WebSocketDisconnect, RuntimeError):
            return
        finally:
            if gone is not None:
                gone.cancel()

    async def _look(self, wanted: str, websocket: WebSocket) -> dict[str, Any]:
        if self._board is not None and wanted.startswith("feed:"):
            known = self._board.matches.get(wanted.removeprefix("feed:"))
            if known is None:
                raise UnknownSessionError("no such match at the broker")
            return feed_view(known)
        folder = self._found().get(wanted)
        if folder is None:
            raise UnknownSessionError("no such match on this machine")
        user = websocket.client.host if websocket.client else ""
        return {"id": wanted, **await self._looking.run(user, partial(folder_view, folder))}
