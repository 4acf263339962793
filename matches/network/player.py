"""Seats at a broker: the player's side. A client plays at one end of a local connection, a relay at the other."""

import asyncio
import contextlib
import secrets
import socket
from collections.abc import Callable

from foldwise.agent.clients.client import Client, ClientReport
from foldwise.agent.player import Player, warm_up
from foldwise.game.definition import GameDefinition, parse_definition
from foldwise.game.errors import DefinitionError, ProtocolError
from foldwise.matches.network.connection import PATIENCE_SECONDS, Broker, Link, Outgoing, Say
from foldwise.matches.network.messages import (
    NO_PLACE,
    MessageError,
    SeatEnd,
    SeatPresence,
    TableInfo,
    check_word,
    decode,
    state_place,
)

_LAST_STATES_SECONDS = 1.0  # for states that arrive after the message of the table's end


class _SeatTakenError(ProtocolError):
    """Somebody else took the seat first."""


def _local_pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a connection on this machine, over TCP because the client sets TCP options."""
    with socket.create_server(("127.0.0.1", 0), backlog=1) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, address = listener.accept()
    # asyncio sets it itself only for sockets made with TCP's protocol number; without it answers are 40 ms late.
    theirs.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if address != ours.getsockname():
        ours.close()
        theirs.close()
        raise ProtocolError("another program connected to a port of ours: try again")
    return ours, theirs


def _hang_up(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


class RemoteSeat:
    """One player at one table."""

    def __init__(
        self,
        broker: Broker,
        table: str,
        seat: int | None,
        say: Say,
        deadline_seconds: float = 5.0,
        patience_seconds: float = PATIENCE_SECONDS,
    ):
        self._broker = broker
        self._topics = broker.topics
        self._table = check_word(table, "table")
        self._wanted = seat
        self._say = say
        self._deadline_seconds = deadline_seconds
        self._patience_seconds = patience_seconds
        self._session = secrets.token_hex(8)
        self._writer: asyncio.StreamWriter | None = None
        self._closed = False
        self._last_place = NO_PLACE
        self._last_answer: bytes | None = None
        self._dealer = ""
        self._link: Link
        self._seated = asyncio.Event()
        self._taken = asyncio.Event()
        self._failure: ProtocolError | None = None
        self.num_repeated = 0

    async def play(self, player: Player, choose_game: Callable[[GameDefinition], GameDefinition]) -> ClientReport:
        """Wait for a free seat, play the match, and return when it is over.

        `choose_game` gets the table's game and returns the one to read states with, or raises.
        """
        warm_up(player)
        while True:
            info, seat = await self._find_seat()
            definition = choose_game(parse_definition(info.definition, source=f"table {self._table}"))
            try:
                return await self._sit(player, definition, info, seat)
            except _SeatTakenError as error:
                if self._wanted is not None:
                    raise
                self._say(str(error))

    async def _find_seat(self) -> tuple[TableInfo, int]:
        found: asyncio.Future[tuple[TableInfo, int]] = asyncio.get_running_loop().create_future()
        full = False

        def receive(topic: str, payload: bytes) -> None:
            nonlocal full
            info = self._read_info(payload)
            if info is None or info.state != "open" or found.done():
                return
            if self._wanted is not None and self._wanted > len(info.seats):
                found.set_exception(DefinitionError(f"table {self._table!r} has {len(info.seats)} seats"))
                return
            wanted = [self._wanted] if self._wanted is not None else range(1, len(info.seats) + 1)
            free = [seat for seat in wanted if info.seats[seat - 1].session is None or self._wanted is not None]
            full = not free
            if free:
                found.set_result((info, free[0]))

        link = Link(
            self._broker,
            subscribe=[self._topics.table(self._table)],
            receive=receive,
            say=self._say,
            patience_seconds=self._patience_seconds,
        )
        async with link:
            try:
                return await link.during(asyncio.wait_for(found, self._patience_seconds))
            except TimeoutError:
                what = "has no free seat" if full else "is not open"
                raise ProtocolError(
                    f"table {self._table!r} at broker {self._broker} {what} since {self._patience_seconds:g} s: given up; "
                    "start one with 'foldwise dealer ... --broker URL'"
                ) from None

    def _read_info(self, payload: bytes) -> TableInfo | None:
        if not payload:
            return None
        info = decode(TableInfo, payload)
        if info.table != self._table:
            raise MessageError(f"it names table {info.table!r}")
        return info

    async def _sit(self, player: Player, definition: GameDefinition, info: TableInfo, seat: int) -> ClientReport:
        self._dealer = info.dealer
        self._seat = seat
        presence = self._topics.seat(self._table, seat, "presence", self._session)
        self._states_topic = self._topics.seat(self._table, seat, "states", self._session)
        self._answers_topic = self._topics.seat(self._table, seat, "answers", self._session)
        self._seated.clear()
        self._taken.clear()

        def greet() -> list[Outgoing]:
            greeting = [Outgoing(presence, SeatPresence(session=self._session).encode(), True)]
            if self._last_answer is not None:  # it may have been lost with the connection
                greeting.append(Outgoing(self._answers_topic, self._last_answer))
            return greeting

        self._link = link = Link(
            self._broker,
            subscribe=[self._topics.table(self._table), self._states_topic],
            receive=self._receive,
            greet=greet,
            will=Outgoing(presence, b"", True),
            say=self._say,
            patience_seconds=self._patience_seconds,
        )
        async with link:
            try:
                return await link.during(self._relay(link, player, definition))
            finally:
                if link.connected.is_set():
                    link.send(presence, b"", True)
                    await link.flush(2.0)

    async def _relay(self, link: Link, player: Player, definition: GameDefinition) -> ClientReport:
        await self._wait_for_seat()
        self._say(f"table {self._table}: seat {self._seat} is ours")
        ours, theirs = _local_pair()
        with ours:
            reader, self._writer = await asyncio.open_connection(sock=theirs)
            client = Client(ours, player, definition, self._deadline_seconds)
            playing = asyncio.create_task(asyncio.to_thread(client.run))
            playing.add_done_callback(lambda _: _hang_up(ours))
            link.send(self._topics.seat(self._table, self._seat, "presence", self._session), self._ready(), True)
            try:
                with contextlib.suppress(OSError):
                    while line := (await reader.readline()).rstrip(b"\r\n"):
                        if line.startswith(b"MATCHSTATE"):  # not the version line: our presence replaces it
                            self._last_answer = line
                            link.send(self._answers_topic, line)
                report = await playing
            finally:
                _hang_up(ours)
                self._writer.close()
                self._writer = None
        if self._failure is not None:
            raise self._failure
        return report

    def _ready(self) -> bytes:
        """Announced again once the client runs: earlier states were ignored, and are sent again."""
        return SeatPresence(session=self._session).encode()

    async def _wait_for_seat(self) -> None:
        waiting = {asyncio.create_task(self._seated.wait()), asyncio.create_task(self._taken.wait())}
        try:
            async with asyncio.timeout(self._patience_seconds):
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            raise ProtocolError(
                f"table {self._table!r} does not answer at seat {self._seat} since {self._patience_seconds:g} s: given "
                "up; does the broker's access list let us have this seat?"
            ) from None
        finally:
            for task in waiting:
                task.cancel()
        if not self._seated.is_set():
            raise _SeatTakenError(f"seat {self._seat} of table {self._table!r} is taken: choose another")

    def _receive(self, topic: str, payload: bytes) -> None:
        if topic == self._states_topic:
            self._receive_state(payload)
            return
        info = self._read_info(payload)
        if info is None:
            return
        if info.dealer != self._dealer or info.state == "lost":
            self._fail(f"the dealer of table {self._table!r} is gone")
        elif info.state == "finished":
            asyncio.get_running_loop().call_later(_LAST_STATES_SECONDS, self._close)
        elif len(info.seats) >= self._seat and info.seats[self._seat - 1].session == self._session:
            self._seated.set()
        elif len(info.seats) >= self._seat and info.seats[self._seat - 1].session is not None:
            self._taken.set()
            self._fail(f"seat {self._seat} of table {self._table!r} went to another player")

    def _receive_state(self, payload: bytes) -> None:
        if payload.startswith(b"{"):
            decode(SeatEnd, payload)
            self._close()
            return
        place = state_place(payload)
        if self._writer is None or self._closed:
            return  # too early: it is sent again when we are ready; too late: nobody reads it
        if place <= self._last_place:
            self.num_repeated += 1
            if self._last_answer is not None and self._last_answer.rpartition(b":")[0] == payload:
                self._link.send(self._answers_topic, self._last_answer)  # asked again: the answer was lost
            return
        self._last_place = place
        self._writer.write(payload + b"\r\n")

    def _fail(self, text: str) -> None:
        if self._writer is not None and not self._closed:
            self._failure = ProtocolError(text)
            self._close()

    def _close(self) -> None:
        """End the client's stream: it returns once it has read everything sent before."""
        if self._writer is not None and not self._closed:
            self._closed = True
            with contextlib.suppress(OSError):
                self._writer.write_eof()
