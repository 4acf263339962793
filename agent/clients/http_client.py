"""The agent at an HTTP table: a client of Slumbot's interface, as `foldwise serve` and slumbot.com speak it.

After a lost connection the same token asks for a hand, and a server that keeps the hand in play (ours does) returns it.
If the server deals another hand, the old one is counted as lost; its result is not guessed.
"""

import http.client
import json
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from foldwise.agent.clients.seat_report import SeatReport
from foldwise.agent.player import Player, guarded_choice, warm_up
from foldwise.game.cards import parse_cards
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError, FormatError, ProtocolError
from foldwise.game.text.match_state import MatchState
from foldwise.game.text.slumbot import StreetBetting, action_text, read_slumbot

_DEFAULT_PATH = "/slumbot/api/"
_MOST_ANSWER = 1 << 20
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.25, 8.0
Say = Callable[[str], None]


class TableAnswer(BaseModel):
    """A server's description of a hand. Missing or additional fields are tolerated."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    action: str = Field(default="", max_length=2000)
    client_pos: int = Field(default=0, ge=0, le=1)  # some servers omit a zero
    hole_cards: list[str]
    board: list[str] = []
    token: str | None = None
    winnings: float | None = None
    bot_hole_cards: list[str] | None = None
    baseline_winnings: float | None = None


@dataclass(frozen=True)
class HttpHand:
    """A finished hand as its player saw it. Cards by position; empty where the server did not show them."""

    position: int
    state: StreetBetting
    hole_cards: tuple[tuple[int, ...], tuple[int, ...]]
    board: tuple[int, ...]
    winnings: float
    baseline: float | None


@dataclass
class HttpReport(SeatReport):
    """What happened, seen from the client."""

    hands: int = 0
    reconnections: int = 0
    lost_hands: int = 0  # in play when a connection broke, and not returned


class HttpTable:
    """One session at a server: calls and answers, on one connection that is made again when it breaks."""

    def __init__(self, url: str, timeout_seconds: float, patience_seconds: float, say: Say):
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = 0
        if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
            raise DefinitionError(
                f"table {url!r}: expected an address as in http://127.0.0.1:8765 or https://slumbot.com"
            )
        self._url = url
        self._secure = parts.scheme == "https"
        self._address = (parts.hostname, port)
        self._path = parts.path.rstrip("/") + "/" if parts.path.strip("/") else _DEFAULT_PATH
        self._timeout, self._patience, self._say = timeout_seconds, patience_seconds, say
        self._connection: http.client.HTTPConnection | None = None
        self.token: str | None = None
        self.reconnections = 0

    def login(self, user: str, password: str) -> None:
        """Log in under a name, or at a server that asks for a password."""
        answer = self._retried("login", {"username": user, "password": password})
        token = answer.get("token")
        if not isinstance(token, str):
            raise ProtocolError(f"{self._url} answered login without a token: is it a table of Slumbot's interface?")
        self.token = token

    def new_hand(self) -> TableAnswer:
        """The next hand, or the one in play."""
        return self._hand(self._retried("new_hand", {"token": self.token} if self.token else {}))

    def act(self, increment: str) -> TableAnswer | None:
        """The hand after our action and the server's; None if the connection broke, and the action may or may not count."""
        try:
            return self._hand(self._call("act", {"token": self.token, "incr": increment}))
        except (OSError, http.client.HTTPException) as error:
            self._lost("act", error)
            return None

    def _hand(self, answer: dict[str, Any]) -> TableAnswer:
        try:
            hand = TableAnswer.model_validate(answer)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise ProtocolError(
                f"{self._url} answered without a hand ({place}: {first['msg']}): is it a table?"
            ) from None
        self.token = hand.token or self.token
        return hand

    def _retried(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """A call that is safe to repeat: retried until the time for retries is over."""
        deadline = time.monotonic() + self._patience
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                return self._call(name, body)
            except (OSError, http.client.HTTPException) as error:
                if time.monotonic() + pause > deadline:
                    raise ProtocolError(
                        f"no answer from {self._url} to {name} ({_reason(error)}): start a table with 'foldwise serve'"
                    ) from None
                self._lost(name, error)
            time.sleep(pause)  # the table may come back; there is no event to wait for
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _lost(self, name: str, error: Exception) -> None:
        self.reconnections += 1
        self._say(f"connection lost at {name} ({_reason(error)}), trying again")

    def _call(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        if self._connection is None:
            host, port = self._address
            if self._secure:
                context = ssl.create_default_context()
                self._connection = http.client.HTTPSConnection(host, port, timeout=self._timeout, context=context)
            else:
                self._connection = http.client.HTTPConnection(host, port, timeout=self._timeout)
        headers = {"Content-Type": "application/json"}
        try:
            self._connection.request("POST", self._path + name, json.dumps(body), headers)
            response = self._connection.getresponse()
            status, data = response.status, response.read(_MOST_ANSWER)
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        try:
            answer = json.loads(data)
            assert isinstance(answer, dict)
        except (ValueError, AssertionError):
            self.close()
            if status >= 500:  # e.g. a proxy while the server restarts
                raise http.client.HTTPException(f"status {status}") from None
            raise ProtocolError(
                f"{self._url} answered {name} with status {status} and no JSON object: is it a table of Slumbot's interface?"
            ) from None
        if answer.get("error_msg") is not None:
            raise ProtocolError(f"{self._url} refused {name}: {' '.join(str(answer['error_msg']).split())[:300]}")
        if status != 200:
            raise ProtocolError(
                f"{self._url} answered {name} with status {status}: is it a table of Slumbot's interface?"
            )
        return answer

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "timed out"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def play_hands(
    player: Player, definition: GameDefinition, table: HttpTable, num_hands: int, report: HttpReport
) -> Iterator[HttpHand]:
    """Play, and yield every finished hand."""
    warm_up(player)
    answer = None
    while report.hands < num_hands:
        answer = table.new_hand() if answer is None else answer
        first = answer
        while answer is not None and answer.winnings is None:
            state = _state(answer, definition, report.hands)
            report.decisions += 1
            action, error = guarded_choice(player, state[0])
            report.errors += error is not None
            after = table.act(action_text(state[1], action))
            if after is None:  # it may have counted: ask the server where the hand stands
                after = table.new_hand()
                if not _same_hand(first, after):
                    report.lost_hands += 1
                    first = after
            answer = after
        assert answer is not None
        yield _finished(answer, definition)
        report.hands += 1
        report.reconnections = table.reconnections
        answer = None


def _same_hand(one: TableAnswer, other: TableAnswer) -> bool:
    return (one.client_pos, one.hole_cards) == (other.client_pos, other.hole_cards)


def _state(answer: TableAnswer, definition: GameDefinition, number: int) -> tuple[MatchState, StreetBetting]:
    try:
        betting = read_slumbot(answer.action, definition)
        holes: list[tuple[int, ...]] = [(), ()]
        holes[answer.client_pos] = parse_cards("".join(answer.hole_cards))
        board = parse_cards("".join(answer.board))
    except FormatError as error:
        raise ProtocolError(f"the table's hand cannot be read ({error}): is it 50/100 with 20,000 chips?") from None
    expected = definition.board_sizes[betting.betting.round]
    if betting.betting.player_to_act != answer.client_pos or len(board) < expected:
        raise ProtocolError(
            f"the table's hand {answer.action!r} with board {''.join(answer.board)!r} is not ours to play: "
            f"expected {expected} board cards and position {answer.client_pos} to act"
        )
    return MatchState(answer.client_pos, number, betting.betting, holes, board[:expected]), betting


def _finished(answer: TableAnswer, definition: GameDefinition) -> HttpHand:
    try:
        state = read_slumbot(answer.action, definition)
        mine = parse_cards("".join(answer.hole_cards))
        theirs = parse_cards("".join(answer.bot_hole_cards or []))
        board = parse_cards("".join(answer.board))
    except FormatError as error:
        raise ProtocolError(f"the table's hand cannot be read ({error}): is it 50/100 with 20,000 chips?") from None
    if not state.betting.finished:
        raise ProtocolError(
            f"the table ended a hand after {answer.action!r}, which is no end: expected a fold or a showdown"
        )
    assert answer.winnings is not None
    return HttpHand(
        position=answer.client_pos,
        state=state,
        hole_cards=(mine, theirs) if answer.client_pos == 0 else (theirs, mine),
        board=board[: definition.board_sizes[state.betting.round]],
        winnings=answer.winnings,
        baseline=answer.baseline_winnings,
    )
