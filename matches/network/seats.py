"""Seats at a broker: the dealer's side. Every seat of a table can be taken over TCP or over MQTT by the first to come.

A remote seat sits down at the dealer's own port through a relay in the dealer's process, so rules, clocks and log are
those of TCP. The relay turns the broker's at-least-once messages into an exactly-once stream: a seat's states only grow
in hand and betting, so repeats are recognised, and what a seat has not answered is sent again when it reconnects.
"""

import asyncio
import contextlib
import re
import secrets
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from foldwise.matches.network.connection import PATIENCE_SECONDS, Broker, BrokerError, Link, Outgoing, Say
from foldwise.matches.network.messages import (
    MAX_LINE,
    NO_PLACE,
    LinePlace,
    MessageError,
    SeatEnd,
    SeatHolder,
    SeatPresence,
    TableInfo,
    answer_place,
    check_word,
    decode,
    plain_text,
    state_place,
)
from foldwise.matches.table.dealer import Dealer, MatchSettings

VERSION_LINE = b"VERSION:2.0.0\r\n"
OVER_TCP = "tcp"  # used as the session of a seat taken over TCP
_MAX_PENDING = 4096
_SEAT_NUMBER = re.compile(r"[1-9][0-9]?", re.ASCII)
_CLOSING_SECONDS = 5.0


@dataclass
class _Seat:
    """One seat of the table, and its relay once it is taken."""

    number: int  # from 1
    player: str
    port: int
    session: str | None = None
    away: bool = False
    writer: asyncio.StreamWriter | None = None
    relay: "asyncio.Task[None] | None" = None
    pending: deque[tuple[LinePlace, bytes]] = field(default_factory=lambda: deque(maxlen=_MAX_PENDING))
    answered: LinePlace = NO_PLACE


class RemoteTable:
    """Connects players at a broker to the ports of one dealer."""

    def __init__(
        self,
        broker: Broker,
        table: str,
        settings: MatchSettings,
        ports: Sequence[int],
        say: Say,
        patience_seconds: float = PATIENCE_SECONDS,
    ):
        self._table = check_word(table, "table")
        self._settings = settings
        self._topics = broker.topics
        self._say = say
        self._dealer = secrets.token_hex(8)
        self._host = "127.0.0.1" if settings.bind in ("0.0.0.0", "") else settings.bind
        self._seats = [_Seat(i + 1, plain_text(settings.players[i]), port) for i, port in enumerate(ports)]
        self._state = "open"
        self._match: asyncio.Task[bool]
        self._link = Link(
            broker,
            subscribe=[self._topics.seat(table, "+", part, "+") for part in ("presence", "answers")],
            receive=self._receive,
            greet=lambda: [self._info(self._state)],
            will=self._info("lost"),
            say=say,
            patience_seconds=patience_seconds,
        )

    async def play(self, dealer: Dealer) -> bool:
        """Play the match of an opened dealer: True if it was completed."""
        async with self._link as link:
            self._match = match = asyncio.create_task(dealer.run())
            try:
                try:
                    completed = await link.during(asyncio.shield(match))
                except BrokerError as error:  # seats over TCP keep playing; the others run out of time
                    self._say(str(error))
                    self._hang_up()
                    return await match
                await self._end(completed)
                return completed
            finally:
                self._hang_up()
                match.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await match

    async def _end(self, completed: bool) -> None:
        relays = [seat.relay for seat in self._seats if seat.relay is not None]
        if relays:
            await asyncio.wait(relays, timeout=_CLOSING_SECONDS)
        for seat in self._seats:
            if seat.session not in (None, OVER_TCP):
                end = SeatEnd(end="the match is over" if completed else "the match broke off")
                self._link.send(self._seat_topic(seat, "states"), end.encode())
        self._state = "finished"
        self._link.send(*self._info("finished"))
        if self._link.connected.is_set():
            await self._link.flush(_CLOSING_SECONDS)

    def _hang_up(self) -> None:
        for seat in self._seats:
            if seat.relay is not None:
                seat.relay.cancel()

    def _seat_topic(self, seat: _Seat, part: str) -> str:
        return self._topics.seat(self._table, seat.number, part, seat.session or "none")

    def _info(self, state: str) -> Outgoing:
        settings = self._settings
        info = TableInfo.model_validate(
            {
                "table": self._table,
                "dealer": self._dealer,
                "state": state,
                "game": plain_text(settings.game.rpartition("/")[2]),
                "definition": settings.definition.to_text(),
                "hands": settings.num_hands,
                "seats": [
                    SeatHolder(player=seat.player, session=None if seat.away else seat.session) for seat in self._seats
                ],
            }
        )
        return Outgoing(self._topics.table(self._table), info.encode(), True)

    def _receive(self, topic: str, payload: bytes) -> None:
        levels = self._topics.split(topic)
        if len(levels) != 6 or levels[1] != self._table or not _SEAT_NUMBER.fullmatch(levels[3]):
            raise MessageError("no topic of this table")
        number, part, session = int(levels[3]), levels[4], levels[5]
        if not 1 <= number <= len(self._seats):
            raise MessageError(f"this table has {len(self._seats)} seats")
        seat = self._seats[number - 1]
        if part == "presence":
            self._receive_presence(seat, session, payload)
        elif session != seat.session:
            raise MessageError(f"session {session} does not hold seat {number}")
        else:
            self._receive_answer(seat, payload)

    def _receive_presence(self, seat: _Seat, session: str, payload: bytes) -> None:
        if not payload:
            if session == seat.session and not seat.away:
                seat.away = True
                self._say(f"table {self._table}: seat {seat.number} ({seat.player}) is away; its time runs")
                self._link.send(*self._info(self._state))
            return
        if decode(SeatPresence, payload).session != session:
            raise MessageError("presence of another session")
        if seat.session is None or seat.away:
            seat.session, seat.away = session, False
            self._say(f"table {self._table}: seat {seat.number} ({seat.player}) is taken by session {session}")
            self._link.send(*self._info(self._state))
        elif seat.session != session:
            return  # the seat is taken, as the table's info says
        if seat.relay is None:
            seat.relay = asyncio.create_task(self._relay(seat))
        for _, line in seat.pending:
            self._link.send(self._seat_topic(seat, "states"), line)

    def _receive_answer(self, seat: _Seat, payload: bytes) -> None:
        place = answer_place(payload)
        if place <= seat.answered:
            return  # a repeat
        state = payload.rpartition(b":")[0]
        if (place, state) not in seat.pending:
            raise MessageError(f"an answer to no state of seat {seat.number}")
        seat.answered = place
        while seat.pending and seat.pending[0][0] <= place:
            seat.pending.popleft()
        if seat.writer is not None:
            seat.writer.write(payload + b"\r\n")

    async def _relay(self, seat: _Seat) -> None:
        """From the dealer's connection to the seat's topic, until the dealer closes."""
        num_lines = 0
        try:
            reader, writer = await asyncio.open_connection(self._host, seat.port, limit=4 * MAX_LINE)
        except OSError:
            self._lose_to_tcp(seat)
            return
        try:
            seat.writer = writer
            writer.write(VERSION_LINE)
            with contextlib.suppress(OSError, ValueError):
                while line := (await reader.readline()).rstrip(b"\r\n"):
                    num_lines += 1
                    seat.pending.append((state_place(line), line))
                    self._link.send(self._seat_topic(seat, "states"), line)
        finally:
            seat.writer = None
            writer.close()
        if not num_lines:
            await asyncio.wait({self._match}, timeout=_CLOSING_SECONDS)  # a match that ended closes all connections
            if not self._match.done():
                self._lose_to_tcp(seat)

    def _lose_to_tcp(self, seat: _Seat) -> None:
        """Somebody else connected to the port first; the table's info tells the remote player."""
        seat.session, seat.away = OVER_TCP, False
        self._link.send(*self._info(self._state))
