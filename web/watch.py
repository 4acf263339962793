"""Watching matches in the browser: folders on this machine, read as far as they are written, and a broker's feed."""

import asyncio
import hashlib
import json
import logging
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from foldwise.game.cards import card_text
from foldwise.game.definition import parse_definition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.matches.network.connection import read_broker
from foldwise.matches.network.watch import Board, WatchedMatch, watch
from foldwise.matches.plan import PLAN_FILE, RESULT_FILE, load_plan
from foldwise.matches.report.page import report_page
from foldwise.matches.report.report import COMPARISON_FILE, TOURNAMENT_FILE, Curve, MatchReport, load_report
from foldwise.matches.table.log import LoggedHand, parse_state_line, state_lines
from foldwise.web.answers import Body, mistake_text, read_message
from foldwise.web.sessions import UnknownSessionError
from foldwise.web.solving import SolveQueue

_log = logging.getLogger(__name__)
_LAST_HANDS = 8
_MOST_FOLDERS = 200
_MOST_LOG_BYTES = 200 << 20  # more is for the command 'foldwise report'
_LOOK_SECONDS = 1.0
_REPORT_HANDS = 100
# The report is a page of its own, with its style and script inside it: it gets an origin of its own too.
_REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
)


class _Watch(Body):
    match: str = Field(max_length=100)


class WatchRoutes:
    """The routes of the watch page."""

    def __init__(self, folders: Sequence[Path], broker: str | None, solving: SolveQueue):
        self._folders = list(folders)
        self._solving = solving
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
        """Begin to listen to the broker, if there is one."""
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
            except Exception as error:  # noqa: BLE001  # a broker that is not there must not end the table
                self._say(str(error))
            await asyncio.sleep(5.0)

    def _say(self, text: str) -> None:
        self._trouble = text
        _log.warning("%s", text)

    def _found(self) -> dict[str, Path]:
        """Match, comparison and tournament folders by an id that says nothing of where they are."""
        found: dict[str, Path] = {}
        for folder in self._folders:
            for place in (folder, *sorted(folder.glob("*/"), key=_written, reverse=True)):
                if any((place / name).is_file() for name in (PLAN_FILE, COMPARISON_FILE, TOURNAMENT_FILE)):
                    found[hashlib.sha256(str(place.resolve()).encode()).hexdigest()[:16]] = place
                if len(found) >= _MOST_FOLDERS:
                    break
        return found

    async def _matches(self, request: Request) -> JSONResponse:
        local = []
        for key, folder in self._found().items():
            try:
                local.append({"id": key, **_summary(folder)})
            except (DefinitionError, FormatError, OSError) as error:
                local.append(
                    {"id": key, "title": folder.name, "players": [], "state": "unreadable", "note": mistake_text(error)}
                )
        feed = [_remote(known) for known in self._board.matches.values()] if self._board is not None else []
        return JSONResponse(
            {"folders": local, "feed": feed, "broker": self._broker is not None, "trouble": self._trouble},
            headers={"Cache-Control": "no-store"},
        )

    async def _report(self, request: Request) -> Response:
        folder = self._found().get(request.path_params["match"])
        if folder is None:
            return PlainTextResponse("no such match\n", 404)
        try:
            _check_size(folder)
            report = await self._solving.run(request.state.address, partial(load_report, folder, _REPORT_HANDS))
        except (DefinitionError, FormatError) as error:
            return PlainTextResponse(mistake_text(error) + "\n", 409)
        return HTMLResponse(
            report_page(report), headers={"Content-Security-Policy": _REPORT_POLICY, "Cache-Control": "no-store"}
        )

    async def _watch(self, websocket: WebSocket) -> None:
        """What a match has come to, again whenever it has changed."""
        await websocket.accept()
        try:
            wanted = read_message(_Watch, await websocket.receive_text()).match
            told = None
            while True:
                view = await self._look(wanted, websocket)
                if view != told:
                    told = view
                    await websocket.send_json({"match": view})
                    if view["state"] != "running":
                        break
                await asyncio.sleep(_LOOK_SECONDS)
            await websocket.close()
        except (ValidationError, DefinitionError, FormatError, UnknownSessionError) as error:
            await websocket.send_json({"error": mistake_text(error)})
            await websocket.close()
        except (WebSocketDisconnect, RuntimeError):
            return

    async def _look(self, wanted: str, websocket: WebSocket) -> dict[str, Any]:
        if self._board is not None and wanted.startswith("feed:"):
            known = self._board.matches.get(wanted.removeprefix("feed:"))
            if known is None:
                raise UnknownSessionError("no such match at the broker")
            return _remote(known)
        folder = self._found().get(wanted)
        if folder is None:
            raise UnknownSessionError("no such match on this machine")
        user = websocket.client.host if websocket.client else ""
        return {"id": wanted, **await self._solving.run(user, partial(look_at, folder))}


def _written(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def _state(folder: Path) -> str:
    return "finished" if (folder / RESULT_FILE).is_file() else "running"


def _check_size(folder: Path) -> None:
    size = sum(path.stat().st_size for path in folder.glob("*.log"))
    if size > _MOST_LOG_BYTES:
        raise DefinitionError(f"the logs take {size >> 20} MB: 'foldwise report' makes a page of any size")


def _summary(folder: Path) -> dict[str, Any]:
    """For the list: quick, from the plan and the result alone."""
    if not (folder / PLAN_FILE).is_file():
        kind = "comparison" if (folder / COMPARISON_FILE).is_file() else "tournament"
        return {"title": folder.name, "players": [kind], "state": "finished", "kind": kind}
    plan = load_plan(folder)
    summary: dict[str, Any] = {
        "title": folder.name,
        "players": list(plan.names()),
        "state": _state(folder),
        "kind": "match",
    }
    if summary["state"] == "finished":
        result = json.loads((folder / RESULT_FILE).read_text(encoding="utf-8"))
        summary |= {
            "mean_mbb": result.get("mean_mbb"),
            "ci95_mbb": result.get("ci95_mbb"),
            "hands": result.get("hands"),
        }
    return summary


def look_at(folder: Path) -> dict[str, Any]:
    """A match as far as it has been played: totals with their interval, the curve, the last hands."""
    _check_size(folder)
    plan = load_plan(folder)
    definition = parse_definition(plan.definition, source=PLAN_FILE)
    view: dict[str, Any] = {
        "title": folder.name,
        "players": list(plan.names()),
        "state": _state(folder),
        "game": plan.game,
    }
    try:
        report = load_report(folder, num_hands=1, num_biggest=1)
    except DefinitionError:  # nothing is finished yet
        return {**view, "hands": 0, "planned": 2 * plan.hands * plan.repeat, "last": []}
    assert isinstance(report, MatchReport)
    result = report.result
    logs = sorted(folder.glob("*.log"), key=_written)
    lines = list(state_lines(logs[-1]))[-_LAST_HANDS:]
    return {
        **view,
        "hands": 2 * result.count,
        "planned": 2 * plan.hands * plan.repeat,
        "mean_mbb": result.mean_mbb,
        "ci95_mbb": result.ci95_mbb if math.isfinite(result.ci95_mbb) else None,
        "curve": _points(report.curve),
        "last": [_last(logs[-1].stem, parse_state_line(line, definition)) for line in reversed(lines)],
    }


def _points(curve: Curve) -> list[list[float | None]]:
    columns = zip(curve.hands, curve.total, curve.low, curve.high)
    return [[round(float(value), 3) if math.isfinite(value) else None for value in point] for point in columns]


def _last(log: str, hand: LoggedHand) -> dict[str, Any]:
    return {
        "label": f"{log} hand {hand.number}",
        "names": list(hand.names),
        "cards": [[card_text(card) for card in cards] for cards in hand.hole_cards],
        "board": [card_text(card) for card in hand.board],
        "betting": hand.betting.betting_text(),
        "values": list(hand.values),
    }


def _remote(known: WatchedMatch) -> dict[str, Any]:
    """A match of the feed as its messages have told it; its lines are shown as they came."""
    rows = known.totals.rows if known.totals is not None else []
    return {
        "id": f"feed:{known.match}",
        "title": known.match,
        "players": list(known.info.players) if known.info is not None else [],
        "state": known.state,
        "kind": known.info.kind if known.info is not None else "match",
        "game": known.info.game if known.info is not None else "",
        "hands": known.totals.hands if known.totals is not None else 0,
        "planned": known.info.hands if known.info is not None else None,
        "rows": [row.model_dump() for row in rows],
        "lines": list(known.lines),
    }
