"""Tables that deal match after match, several at once, to players over TCP and at a broker."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import numpy.typing as npt

from foldwise.matches.network.connection import PATIENCE_SECONDS, Broker, Say
from foldwise.matches.network.feed import Feed, new_match_id, short_game, total_row
from foldwise.matches.network.messages import MatchInfo, Total, check_word, plain_text
from foldwise.matches.network.seats import RemoteTable
from foldwise.matches.statistics import estimate_of_sums
from foldwise.matches.table.dealer import Dealer, MatchSettings
from foldwise.matches.table.hand import format_value
from foldwise.matches.table.log import is_complete
from foldwise.matches.table.log_tail import LogTail
from foldwise.matches.table.ports import PortTakenError

_TAIL_SECONDS = 1.0
TAKEN_SECONDS = 10.0  # between attempts to open a port that is taken
_FAILURE_SECONDS = 1.0  # between a match that failed and the next: a port's players may be failing in a loop
_NOBODY_CAME = "timed out waiting"


async def deal_at_broker(
    settings: MatchSettings,
    broker: Broker,
    table: str,
    write_out: Callable[[str], None],
    write_err: Callable[[bytes], None],
    folder: Path,
    say: Say,
    patience_seconds: float = PATIENCE_SECONDS,
) -> bool:
    """Deal one match whose seats can be taken at a broker, and publish it: True if it was completed."""
    check_word(table, "table")
    dealer = Dealer(settings, write_out, write_err, folder)
    ports = dealer.open()
    remote = RemoteTable(broker, table, settings, ports, say, patience_seconds)
    # The feed has another connection: one report about the broker is enough.
    feed = Feed(broker, _table_info(settings), lambda _: None, patience_seconds)
    tail = asyncio.create_task(_publish_log(settings, folder, feed))
    completed = False
    try:
        completed = await remote.play(dealer)
        return completed
    finally:
        tail.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await tail
        await asyncio.to_thread(feed.close, "finished" if completed else "failed")


def _table_info(settings: MatchSettings) -> MatchInfo:
    return MatchInfo(
        match=new_match_id(settings.name),
        kind="table",
        players=[plain_text(player) for player in settings.players],
        game=short_game(settings.game),
        hands=settings.num_hands,
        seed=settings.seed,
        started=time.time(),
    )


async def _publish_log(settings: MatchSettings, folder: Path, feed: Feed) -> None:
    """Follow the match's log; what is left when the match ends is read once more."""
    if not settings.log:
        return
    seats = len(settings.players)
    sums = np.zeros((2, seats))
    num_hands = 0

    def rows() -> list[Total]:
        unit = settings.definition.big_blind
        found = [estimate_of_sums(num_hands, float(total), float(squares), unit) for total, squares in sums.T]
        return [
            total_row(plain_text(name), estimate).model_copy(update={"hands": num_hands})
            for name, estimate in zip(settings.players, found)
        ]

    def listen(first_number: int, by_seat: npt.NDArray[np.float64], lines: bytes) -> None:
        nonlocal num_hands
        num_hands += len(by_seat)
        sums[0] += by_seat.sum(axis=0)
        sums[1] += (by_seat**2).sum(axis=0)
        feed.hands(len(by_seat), lines)
        feed.totals(num_hands, rows)

    tail = LogTail(folder / f"{settings.name}.log", listen, settings.fixed_seats)
    try:
        while True:
            await asyncio.sleep(_TAIL_SECONDS)
            tail.read()
    finally:
        tail.read()


class TableServer:
    """Deals NAME-0001, NAME-0002, ... with seeds counting up; complete logs of an earlier run are skipped."""

    def __init__(
        self,
        settings: MatchSettings,
        num_tables: int,
        num_matches: int | None,
        folder: Path,
        status: Callable[[str], None],
        say: Say,
        broker: Broker | None = None,
        table: str = "table",
        patience_seconds: float = PATIENCE_SECONDS,
    ):
        self._settings = settings
        self._num_tables = num_tables
        self._folder = folder
        self._status = status
        self._say = say
        self._broker = broker
        self._table = table if broker is None else check_word(table, "table")
        self._patience_seconds = patience_seconds
        self._numbers = self._unplayed(num_matches)
        self.num_completed = 0
        self.num_failed = 0

    def _unplayed(self, num_matches: int | None) -> Iterator[int]:
        for number in count(1) if num_matches is None else range(1, num_matches + 1):
            log = self._folder / f"{self._settings.name}-{number:04d}.log"
            if not (log.exists() and is_complete(log)):
                yield number

    async def run(self) -> int:
        """Run until all matches are played, or forever; returns how many failed."""
        try:
            async with asyncio.TaskGroup() as group:
                for index in range(self._num_tables):
                    group.create_task(self._serve(index))
        except ExceptionGroup as errors:  # one table's failure ends all tables: report the first error
            raise errors.exceptions[0] from None
        self._status(f"{self.num_completed} matches completed, {self.num_failed} failed")
        return self.num_failed

    async def _serve(self, index: int) -> None:
        for number in self._numbers:
            while not await self._deal(index, number):
                self._status(f"{self._name(number)} table {index + 1}: not played; waiting again")

    def _name(self, number: int) -> str:
        return f"{self._settings.name}-{number:04d}"

    async def _deal(self, index: int, number: int) -> bool:
        """Deal one match; False if its players did not connect and it should be dealt again."""
        base = self._settings
        seats = base.definition.num_players
        settings = replace(
            base,
            name=self._name(number),
            seed=(base.seed + number - 1) % 2**32,
            # Each table uses the next of the given ports.
            ports=tuple(port + index * seats if port else 0 for port in base.ports),
        )
        place = f"{settings.name} table {index + 1}"
        errors = bytearray()
        score = ""

        def write_out(line: str) -> None:
            nonlocal score
            if line.startswith("SCORE:"):
                score = line
            else:
                self._status(f"{place}: seed {settings.seed}, waiting at ports {line}")

        with (self._folder / f"{settings.name}.err").open("ab") as file:

            def write_err(data: bytes) -> None:
                file.write(data)
                file.flush()
                if data.startswith(b"ERROR"):
                    errors[:] = data

            start = time.monotonic()
            try:
                completed = await self._play(settings, index, write_out, write_err)
            except PortTakenError as error:  # this table waits, the others keep playing
                self._status(f"{place}: {error}; trying again in {TAKEN_SECONDS:g} s")
                await asyncio.sleep(TAKEN_SECONDS)
                return False
        seconds = time.monotonic() - start
        if completed:
            self.num_completed += 1
            self._status(f"{place}: {settings.num_hands} hands in {format_value(round(seconds, 1))} s, {score}")
            return True
        reason = errors.decode("latin-1").partition("\n")[0] or "the match broke off"
        if _NOBODY_CAME in reason:
            return False
        self.num_failed += 1
        self._status(f"{place}: failed after {seconds:.1f} s, {reason}")
        await asyncio.sleep(_FAILURE_SECONDS)
        return True

    async def _play(
        self,
        settings: MatchSettings,
        index: int,
        write_out: Callable[[str], None],
        write_err: Callable[[bytes], None],
    ) -> bool:
        if self._broker is None:
            dealer = Dealer(settings, write_out, write_err, self._folder)
            dealer.open()
            return await dealer.run()
        table = self._table if self._num_tables == 1 else f"{self._table}-{index + 1}"
        return await deal_at_broker(
            settings, self._broker, table, write_out, write_err, self._folder, self._say, self._patience_seconds
        )
