"""Playing in the browser: new sessions, a websocket for each open table, the graph, and the reveal after a hand."""

import asyncio
import time
from functools import partial
from typing import Any

from pydantic import Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from foldwise.agent.human import parse_answer
from foldwise.web.connection.guard import Flood
from foldwise.web.routes.answers import MISTAKES, Body, mistake_text, post, read_message
from foldwise.web.table.opponents import Opponent
from foldwise.web.table.scores import SessionScores, StrategyValues
from foldwise.web.table.session import Session
from foldwise.web.table.sessions import Place, Sessions, UnknownSessionError
from foldwise.web.table.solving import SolveQueue
from foldwise.web.table.table_view import table_view

_SILENT_SECONDS = 3600.0  # an idle table is closed; the page reconnects when used


class _Begin(Body):
    player: str = Field(default="you", max_length=60)
    opponent: Opponent
    seed: int | None = Field(default=None, ge=0, lt=2**32)


class OfSession(Body):
    """A request about one session."""

    session: str = Field(max_length=100)


class OfHand(OfSession):
    """A request about one finished hand."""

    hand: int = Field(ge=0)


class _Message(Body):
    """A message from the page: an action as `agent.human` reads it, or a request for the next hand."""

    session: str | None = Field(default=None, max_length=100)
    act: str | None = Field(default=None, max_length=40)
    next: bool = False
    hand: int | None = None  # the hand the page was showing: a second tab of the session may be behind
    moves: int | None = None


class PlayRoutes:
    """The routes of the play page."""

    def __init__(
        self,
        sessions: Sessions,
        values: StrategyValues,
        looking: SolveQueue,
        solving: SolveQueue,
        opponent: Opponent,
    ):
        self._sessions = sessions
        self._values = values
        self._scores = SessionScores(sessions.opponents, values)
        self._looking = looking
        self._solving = solving
        self._opponent = opponent
        self._begun = Flood(burst=60, rate=1)

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/page/opponents", self._opponents, methods=["GET"]),
            post("/page/sessions", _Begin, self._begin),
            post("/page/graph", OfSession, self._graph),
            post("/page/reveal", OfHand, self._reveal),
            post("/page/log", OfSession, self._log),
            WebSocketRoute("/page/play", self._play),
        ]

    async def _opponents(self, request: Request) -> JSONResponse:
        offers = [vars(offer) for offer in self._sessions.opponents.offers()]
        return JSONResponse({"opponents": offers, "default": self._opponent.model_dump()})

    async def _begin(self, request: Request, body: _Begin) -> dict[str, Any]:
        if not self._begun.allows(request.state.address):
            raise UnknownSessionError("too many new sessions from your address: wait a little")
        return {"session": self._sessions.create("page", body.player, body.opponent, body.seed).token}

    def find(self, token: str) -> Place:
        """A session begun on the page; sessions of the HTTP interface are not found here."""
        place = self._sessions.find(token)
        if place.session.settings.kind != "page":
            raise UnknownSessionError("no session has this token: begin a new one")
        return place

    async def _graph(self, request: Request, body: OfSession) -> dict[str, Any]:
        """The graph as far as it is known: `to_correct` hands are still to be corrected by AIVAT; ask again for those."""
        place = self.find(body.session)
        session = place.session
        if self._scores.is_correctable(session) and self._values.is_ready(session.settings.opponent.name):
            await self._queue(session).run(place.token, partial(self._scores.correct, session))
        return await self._looking.run(place.token, partial(self._scores.curves, session))

    async def _reveal(self, request: Request, body: OfHand) -> dict[str, Any]:
        place = self.find(body.session)
        session = place.session
        if body.hand >= session.totals.hands:
            raise UnknownSessionError(f"hand {body.hand + 1} is not over: it is revealed at its end")
        return await self._queue(session).run(place.token, lambda: self._scores.reveal(session, body.hand))

    def _queue(self, session: Session) -> SolveQueue:
        """Where a look at a session's hands is worked out: against a searching bot it has to solve."""
        return self._looking if session.settings.opponent.search == "off" else self._solving

    async def _log(self, request: Request, body: OfSession) -> Response:
        path = self.find(body.session).session.log_path
        text = path.read_text(encoding="latin-1") if path.is_file() else ""
        return PlainTextResponse(text, headers={"Cache-Control": "no-store"})

    async def _play(self, websocket: WebSocket) -> None:
        await websocket.accept()
        place: Place | None = None
        flood = Flood(burst=300, rate=20)  # a quick hand at the table, and then some: only scripts send more
        try:
            while True:
                text = await asyncio.wait_for(websocket.receive_text(), _SILENT_SECONDS)
                if not flood.allows("", time.monotonic()):
                    await websocket.send_json({"error": "too many messages: slow down"})
                    continue
                try:
                    message = read_message(_Message, text)
                    if message.session is not None:
                        place = self.find(message.session)
                    if place is None:
                        raise UnknownSessionError("say which session this table is of")
                    await self._answer(websocket, place, message)
                except (ValidationError, *MISTAKES) as error:
                    await websocket.send_json({"error": mistake_text(error)})
        except (WebSocketDisconnect, TimeoutError, RuntimeError):
            return

    async def _answer(self, websocket: WebSocket, place: Place, message: _Message) -> None:
        session = place.session
        async with place.lock:
            if message.act is not None and session.in_play and session.hand is not None:
                seen = (session.hand.number, sum(map(len, session.hand.betting.actions)))
                if (message.hand, message.moves) == seen and not session.bot_to_act():
                    session.apply(parse_answer(message.act, session.hand.state(session.position)))
            elif not session.in_play and (message.next or session.hand is None):
                session.start_hand()
            if session.bot_to_act():
                await websocket.send_json({"table": table_view(session)})
                await self._sessions.let_bot_act(place)
            await websocket.send_json({"table": table_view(session)})
