"""Slumbot's HTTP interface: a bot written for slumbot.com plays against our strategy once its address is changed.

`login`, `new_hand` and `act` under `/api/` and `/slumbot/api/`, JSON in and out; an error is `{"error_msg"}` with status
200, as in the original. Calling `new_hand` in the middle of a hand returns the hand in play: a player cannot walk away from
a bad hand, and a client that lost a response can continue.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from foldwise.game.cards import card_text
from foldwise.game.errors import DefinitionError, FormatError, IllegalActionError
from foldwise.game.text.slumbot import read_increment, read_slumbot, slumbot_text
from foldwise.matches.table.hand import format_value
from foldwise.web.connection.guard import DOOR_PATHS, Access, Flood
from foldwise.web.table.opponents import Opponent
from foldwise.web.table.sessions import Place, Sessions, UnknownSessionError
from foldwise.web.table.solving import BusyError


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Login(_Body):
    username: str = Field(max_length=100)
    password: str = Field(max_length=200)


class _NewHand(_Body):
    token: str | None = Field(default=None, max_length=200)


class _Act(_Body):
    token: str = Field(max_length=200)
    incr: str = Field(max_length=20)


class Door:
    """The three calls."""

    def __init__(self, sessions: Sessions, opponent: Opponent, access: Access):
        self._sessions = sessions
        self._opponent = opponent
        self._access = access
        self._begun = Flood(burst=200, rate=20)  # sessions of one address

    def routes(self) -> list[BaseRoute]:
        calls = {"login": self._login, "new_hand": self._new_hand, "act": self._act}
        return [
            Route(prefix + name, self._answer(call), methods=["POST"])
            for prefix in DOOR_PATHS
            for name, call in calls.items()
        ]

    def _answer(self, call: Any) -> Any:
        async def answer(request: Request) -> JSONResponse:
            try:
                content = await call(request)
            except ValidationError as error:
                first = error.errors()[0]
                place = ".".join(map(str, first["loc"])) or "body"
                content = {"error_msg": f"{place}: {first['msg']}: expected a JSON object as in Slumbot's interface"}
            except (DefinitionError, FormatError, IllegalActionError, UnknownSessionError, BusyError) as error:
                content = {"error_msg": str(error)}
            return JSONResponse(content)

        return answer

    async def _login(self, request: Request) -> dict[str, Any]:
        body = _Login.model_validate_json(await request.body())
        if not (request.state.has_access or self._access.is_token(body.password)):
            return {"error_msg": "this server asks for its token: give it as the password"}
        return {"token": self._begin(request, body.username).token}

    async def _new_hand(self, request: Request) -> dict[str, Any]:
        body = _NewHand.model_validate_json(await request.body() or b"{}")
        if body.token:
            place = self._find(body.token)
        elif request.state.has_access:
            place = self._begin(request, "guest")
        else:
            return {"error_msg": "this server asks for its token: log in with it as the password"}
        async with place.lock:
            if not place.session.in_play:
                place.session.start_hand()
            before = _betting(place)
            await self._sessions.let_bot_act(place)
            return _hand(place, before)

    async def _act(self, request: Request) -> dict[str, Any]:
        body = _Act.model_validate_json(await request.body())
        place = self._find(body.token)
        async with place.lock:
            session = place.session
            if session.hand is None or not session.in_play:
                return {"error_msg": "no hand is in play: call new_hand"}
            before = _betting(place)
            await self._sessions.let_bot_act(place)  # does nothing unless the server died between two actions
            if session.in_play:
                session.apply(read_increment(body.incr, read_slumbot(before, session.definition)))
                await self._sessions.let_bot_act(place)
            return _hand(place, before)

    def _begin(self, request: Request, username: str) -> Place:
        if self._sessions.opponents.definition(self._opponent).limit:
            raise DefinitionError(
                "this server's strategy is for a limit game: Slumbot's interface is for no-limit games"
            )
        if not self._begun.allows(request.state.address):
            raise BusyError("too many new sessions from your address: use the token you have, or wait a second")
        return self._sessions.create("door", username, self._opponent)

    def _find(self, token: str) -> Place:
        place = self._sessions.find(token)
        if place.session.settings.kind != "door":
            raise UnknownSessionError("no session has this token: begin a new one without a token")
        return place


def _betting(place: Place) -> str:
    hand = place.session.hand
    return "" if hand is None else slumbot_text(hand.betting)


def _chips(value: float) -> int | float:
    return int(value) if value == int(value) else float(format_value(value))


def _hand(place: Place, before: str) -> dict[str, Any]:
    """The response: the hand as its player may see it."""
    session = place.session
    hand, position = session.hand, session.position
    assert hand is not None
    state = hand.state(position)
    answer: dict[str, Any] = {
        "old_action": before,
        "action": slumbot_text(hand.betting),
        "client_pos": position,
        "hole_cards": list(map(card_text, state.hole_cards[position])),
        "board": list(map(card_text, state.board)),
        "token": place.token,
    }
    end = session.finished
    if end is not None:
        totals = session.totals
        answer |= {
            "winnings": _chips(end.winnings),
            "won_pot": _chips(end.won_pot),
            "bot_hole_cards": list(map(card_text, hand.deal.hole_cards[1 - position])),
            "session_num_hands": totals.hands,
            "baseline_winnings": _chips(end.baseline),
            "session_total": _chips(totals.chips),
            "session_baseline_total": _chips(totals.baseline_chips),
        }
    return answer
