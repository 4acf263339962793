"""A dealer and its clients in one event loop, over real sockets: what the dealer tests have in common."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from foldwise.agent.clients.client import ClientReport, play_match
from foldwise.agent.player import Player
from foldwise.game.definition import GameDefinition, parse_definition
from foldwise.matches.table import dealer, seat_connection
from foldwise.matches.table.dealer import Dealer, MatchSettings
from tests.support.places import GOLDEN

THREE_PLAYER_LIMIT = """GAMEDEF
limit
numPlayers = 3
numRounds = 4
blind = 5 10 0
raiseSize = 10 10 20 20
firstPlayer = 3 1 1 1
maxRaises = 3 4 4 4
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""


PATIENT_SECONDS = 3600.0  # of players and dealers in a match that is not about time: however busy, no limit decides it
PATIENT = {name: int(1000 * PATIENT_SECONDS) for name in ("response_ms", "hand_ms", "per_hand_ms")}
Result = TypeVar("Result")


@dataclass
class Outcome:
    """All that a match leaves behind. `received` is by seat."""

    completed: bool = False
    received: list[bytes] = field(default_factory=list)
    out: list[str] = field(default_factory=list)
    err: bytearray = field(default_factory=bytearray)
    log: str = ""

    def log_lines(self, prefix: str) -> list[str]:
        return [line for line in self.log.splitlines() if line.startswith(prefix)]

    def complaints(self) -> list[str]:
        """Warnings and errors, in order."""
        lines = self.err.decode("latin-1").splitlines()
        return [line for line in lines if line.startswith(("WARNING", "ERROR"))]


def make_settings(definition_text: str, hands: int, seed: int, **options: Any) -> MatchSettings:
    definition = parse_definition(definition_text, "test")
    names = tuple(("Alice", "Bob", "Carol", "Dave")[: definition.num_players])
    return MatchSettings("match", "game", definition, hands, seed, names, **{"quiet": True, **PATIENT, **options})


async def open_seat(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)


async def read_all(reader: asyncio.StreamReader) -> bytes:
    """To the end of the stream; a reset is an end too."""
    received = bytearray()
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            received += data
    return bytes(received)


async def send_all(writer: asyncio.StreamWriter, data: bytes) -> None:
    with contextlib.suppress(ConnectionError):
        writer.write(data)
        await writer.drain()


class Time:
    """The dealer's time, passing only when the test says so: its waits for clients, and what answers cost them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self._seconds = 1e9
        self._waits: dict[asyncio.Future[None], float] = {}
        self.num_waits = 0
        wait = seat_connection.Readiness.wait

        async def wait_in_own_time(readiness: seat_connection.Readiness, timeout_seconds: float | None) -> bool:
            if timeout_seconds is None:
                return await wait(readiness, None)
            over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waits[over] = self._seconds + timeout_seconds
            self.num_waits += 1
            waiting = asyncio.ensure_future(wait(readiness, None))
            try:
                done, _ = await asyncio.wait((waiting, over), return_when=asyncio.FIRST_COMPLETED)
                return waiting in done
            finally:
                waiting.cancel()
                del self._waits[over]

        monkeypatch.setattr(seat_connection.Readiness, "wait", wait_in_own_time)
        monkeypatch.setattr(dealer, "_now", lambda: int(self._seconds * 1e6))

    @property
    def waiting(self) -> bool:
        """Whether the dealer waits for a client, and has read all that came."""
        return bool(self._waits)

    def advance(self, seconds: float) -> None:
        self._seconds += seconds
        for over, deadline in self._waits.items():
            if deadline <= self._seconds and not over.done():
                over.set_result(None)


class Table:
    """A dealer running as a task beside its clients."""

    def __init__(self, settings: MatchSettings, folder: Path):
        self.outcome = Outcome()
        self._settings = settings
        self._folder = folder
        self._dealer = Dealer(settings, self.outcome.out.append, self.outcome.err.extend, folder)
        self.ports = self._dealer.open()
        self._task = asyncio.create_task(self._dealer.run())

    @property
    def finished(self) -> bool:
        return self._task.done()

    @property
    def num_seated(self) -> int:
        return len(self._dealer._seats)

    async def play(self, *clients: Callable[[], Result]) -> list[Result]:
        """What clients return that block, each in a thread; one that fails ends the match, so that no other waits for it."""

        async def run(client: Callable[[], Result]) -> Result:
            try:
                return await asyncio.to_thread(client)
            except BaseException:
                self._task.cancel()
                raise

        return await asyncio.gather(*map(run, clients))

    def client(self, seat: int, player: Player, definition: GameDefinition) -> Callable[[], ClientReport]:
        """A player at a seat, for `play`."""
        return partial(play_match, player, definition, "127.0.0.1", self.ports[seat], PATIENT_SECONDS)

    async def seat(self, definition: GameDefinition, *players: Player) -> list[ClientReport]:
        """A player at each seat, to the end of the match."""
        return await self.play(*(self.client(seat, player, definition) for seat, player in enumerate(players)))

    async def finish(self) -> Outcome:
        self.outcome.completed = await asyncio.wait_for(self._task, 300.0)  # only a hung dealer takes this long
        log = self._folder / f"{self._settings.name}.log"
        self.outcome.log = log.read_text(encoding="latin-1") if log.exists() else ""
        return self.outcome


async def drive(settings: MatchSettings, streams: list[bytes], folder: Path, half_close: bool = False) -> Outcome:
    """Play a match whose clients send fixed streams, all at once: what is not asked for yet waits in the socket."""
    table = Table(settings, folder)

    async def play(port: int, stream: bytes) -> bytes:
        reader, writer = await open_seat(port)
        sending = asyncio.create_task(send_all(writer, stream))
        if half_close:
            await sending
            with contextlib.suppress(OSError):
                writer.write_eof()
        received = await read_all(reader)
        sending.cancel()
        writer.close()
        return received

    table.outcome.received = list(await asyncio.gather(*map(play, table.ports, streams)))
    return await table.finish()


def load_recording(name: str) -> dict[str, Any]:
    recording: dict[str, Any] = json.loads((GOLDEN / f"match_{name}.json").read_text(encoding="utf-8"))
    return recording


def recording_names() -> list[str]:
    return sorted(path.stem.removeprefix("match_") for path in GOLDEN.glob("match_*.json"))
