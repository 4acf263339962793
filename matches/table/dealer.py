"""An ACPC dealer: deals, asks players, repairs answers, logs.

From seed, game, options and the players' bytes alone it sends the bytes and writes the STATE and SCORE lines that the
reference dealer does. Where the reference dies or waits forever, this one ends the match with a message.
"""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from foldwise.game.betting import Action
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError, FormatError, ProtocolError
from foldwise.game.hands.dealing import Deal, Shoe
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.matches.table.echo import Allowance, escaped
from foldwise.matches.table.hand import Hand, check_playable, position_of_seat, score_line, seat_of_position
from foldwise.matches.table.log import LogFile, header_text, log_bytes
from foldwise.matches.table.ports import open_listeners
from foldwise.matches.table.replies import is_comment, read_answer
from foldwise.matches.table.seat_connection import MAX_BACKLOG, Readiness, SeatConnection
from foldwise.matches.table.transactions import TransactionFile, stamp
from foldwise.matches.table.version import OUR_VERSION, is_supported, read_version

# The reference refuses to send more than this, line end not counted.
MAX_STATE_LINE = 4093
# Comments renew the wait for an answer; without a bound they would renew it forever.
COMMENT_PATIENCE = 10
# After this many lines of one seat in a row, other matches in the process get a turn.
LINES_PER_TURN = 50
_CLOSING_SECONDS = 5.0


@dataclass(frozen=True)
class MatchSettings:
    """Everything that determines a match except the players' bytes. Times are milliseconds, as on the command line."""

    name: str  # of the match: log and transaction file are named after it
    game: str  # as the user wrote it, for the log's header
    definition: GameDefinition
    num_hands: int
    seed: int
    players: tuple[str, ...]  # names by seat
    fixed_seats: bool = False
    log: bool = True
    transactions: bool = False
    append: bool = False
    ports: tuple[int, ...] = ()
    quiet: bool = False
    response_ms: int = 600_000
    hand_ms: int = 600_000
    per_hand_ms: int = 7_000
    start_timeout_ms: int = -1  # negative: no limit on the wait for connections
    bind: str = "127.0.0.1"

    def __post_init__(self) -> None:
        if not self.name or not self.name.isprintable() or ".." in Path(self.name).parts:
            raise DefinitionError(
                f"match name {self.name!r}: expected a file's name, without '..' or control characters"
            )
        for player in self.players:
            if not player or not player.isprintable() or set(player) & set("|:"):
                raise DefinitionError(
                    f"player name {player!r}: expected a word for the log, without '|', ':' or line ends"
                )


class MatchFailure(ProtocolError):
    """What ended a match early. `unlike_reference` is set where the reference dealer would die or hang instead."""

    def __init__(self, text: str, unlike_reference: bool = False):
        super().__init__(text)
        self.unlike_reference = unlike_reference


class Clock:
    """Time used by each seat, in microseconds: per hand and over the match."""

    def __init__(self, settings: MatchSettings):
        num_seats = len(settings.players)
        self.response_limit = settings.response_ms * 1000
        self._hand_limit = settings.hand_ms * 1000
        self._match_limit = settings.per_hand_ms * 1000 * settings.num_hands
        self._hand = [0] * num_seats
        self.match = [0] * num_seats

    def new_hand(self) -> None:
        self._hand = [0] * len(self._hand)

    def charge(self, seat: int, sent: int, received: int) -> bool:
        """Add one answer's time to the seat's totals; False if a limit is exceeded."""
        used = max(received - sent, 0)  # a clock that was set back costs nothing
        self._hand[seat] += used
        self.match[seat] += used
        return (
            used <= self.response_limit
            and self._hand[seat] <= self._hand_limit
            and self.match[seat] <= self._match_limit
        )


def _now() -> int:
    return time.time_ns() // 1000


def _load(deals: Iterator[Deal]) -> Deal:
    """Everything the first hand needs."""
    evaluator_tables()
    return next(deals)


class Dealer:
    """One match. `write_out` gets the lines for stdout, `write_err` the raw bytes for stderr."""

    def __init__(
        self,
        settings: MatchSettings,
        write_out: Callable[[str], None],
        write_err: Callable[[bytes], None],
        folder: Path | None = None,
        alone: bool = False,
        seated: Callable[[], None] = lambda: None,
    ):
        check_playable(settings.definition)
        self._seated = seated
        self._alone = alone
        self._settings = settings
        self._definition = settings.definition
        self._num_seats = settings.definition.num_players
        self._names = settings.players[: self._num_seats]
        self._write_out = write_out
        self._write_err = write_err
        self._folder = folder or Path()
        self._clock = Clock(settings)
        self.totals = [0.0] * self._num_seats
        self._seats: list[SeatConnection] = []
        self._allowances = [Allowance() for _ in range(self._num_seats)]
        self._log: LogFile | None = None
        self._transactions: TransactionFile | None = None
        self._positions: list[int] = []  # by seat, in the hand under way
        self._last_sent = 0
        self.listeners: list[socket.socket] = []

    def open(self) -> list[int]:
        """Open files and ports, print the port line and the header; the ports by seat."""
        settings = self._settings
        # Ports first: a match that cannot start must not truncate the log of an earlier one.
        self.listeners = open_listeners(settings.bind, settings.ports, self._num_seats, settings.seed)
        try:
            if settings.log:
                self._log = LogFile(self._folder / f"{settings.name}.log", settings.append)
            if settings.transactions:
                self._transactions = TransactionFile(self._folder / f"{settings.name}.tlog", settings.append)
        except BaseException:
            for listener in self.listeners:
                listener.close()
            raise
        ports = [listener.getsockname()[1] for listener in self.listeners]
        self._write_out(" ".join(map(str, ports)))
        limits = (settings.response_ms, settings.hand_ms, settings.per_hand_ms)
        header = header_text(settings.name, settings.game, settings.num_hands, settings.seed, limits)
        self._say(header)
        if self._log is not None:
            self._log.write(header)
        return ports

    async def run(self) -> bool:
        """Play the match to its end: True if it was completed. `open` comes first."""
        try:
            # Tables and kernels are loaded while the players start, not at the first deal and showdown; in a thread,
            # because the loop may have a broker to talk to.
            deals = Shoe(self._definition, self._settings.seed).deals()
            first = await asyncio.to_thread(_load, deals)
            await self._connect()
            self._seated()
            await self._check_versions()
            await self._play(chain((first,), deals))
        except MatchFailure as failure:
            self._say(f"{failure}\n")
            if failure.unlike_reference and self._log is not None:
                self._log.write("".join(f"# {line}\n" for line in str(failure).splitlines()))
            return False
        finally:
            await self._close()
        return True

    def _say(self, text: str) -> None:
        self._write_err(log_bytes(text))

    async def _connect(self) -> None:
        timeout_ms = self._settings.start_timeout_ms
        deadline = time.monotonic() + timeout_ms / 1000 if timeout_ms >= 0 else None
        for seat, listener in enumerate(self.listeners):
            readiness = Readiness(listener)
            try:
                while len(self._seats) == seat:
                    try:
                        connection, _ = listener.accept()
                        self._seats.append(SeatConnection(connection, self._alone))
                    except (BlockingIOError, ConnectionAbortedError):
                        left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
                        if not await readiness.wait(left):
                            raise MatchFailure(f"ERROR: timed out waiting for seat {seat + 1} to connect") from None
            finally:
                readiness.close()
                listener.close()

    async def _check_versions(self) -> None:
        limit_seconds = self._settings.response_ms / 1000
        for seat, connection in enumerate(self._seats):
            line = await connection.read_line(limit_seconds)
            if line is None:
                raise MatchFailure(
                    f"ERROR: could not read version string from seat {seat + 1}",
                    unlike_reference=not connection.ended,
                )
            version = read_version(line)
            if version is None:
                text = escaped(line.partition(b"\0")[0])
                raise MatchFailure(f"ERROR: invalid version string {text}")
            if not is_supported(version):
                self._say(f"ERROR: this server is currently using version {OUR_VERSION}\n")

    async def _play(self, deals: Iterator[Deal]) -> None:
        settings = self._settings
        self._last_sent = _now()
        if not settings.quiet:
            self._say(f"STARTED at {stamp(self._last_sent)}\n")
        hand = self._replay(deals)
        while hand.number < settings.num_hands:
            while not hand.betting.finished:
                action = await self._ask(hand)
                hand.apply(action)
            self._finish(hand)
            await self._send_states(hand)
            if not settings.quiet and hand.number % 100 == 0:
                for seat, used in enumerate(self._clock.match):
                    self._say(f"Seconds cumulatively spent in match for seat {seat}: {used // 1_000_000}\n")
            hand = self._next_hand(hand.number + 1, deals)
        if not settings.quiet:
            self._say(f"FINISHED at {stamp(self._last_sent)}\n")
        score = score_line(self.totals, self._names)
        self._write_out(score)
        self._say(score + "\n")
        if self._log is not None:
            self._log.write(score + "\n")

    def _next_hand(self, number: int, deals: Iterator[Deal]) -> Hand:
        self._clock.new_hand()
        fixed = self._settings.fixed_seats
        self._positions = [position_of_seat(seat, number, self._num_seats, fixed) for seat in range(self._num_seats)]
        return Hand(self._definition, next(deals), number)

    def _seat_of(self, position: int, hand: Hand) -> int:
        return seat_of_position(position, hand.number, self._num_seats, self._settings.fixed_seats)

    def _finish(self, hand: Hand) -> None:
        """Count a finished hand and log it, unless an earlier run of this match has logged it."""
        values = hand.values()
        seats = [self._seat_of(position, hand) for position in range(self._num_seats)]
        for seat, value in zip(seats, values):
            self.totals[seat] += value
        if self._log is not None and hand.number not in self._log.logged:
            self._log.write(hand.log_line(values, [self._names[seat] for seat in seats]) + "\n")

    def _replay(self, deals: Iterator[Deal]) -> Hand:
        """The hand to continue with: the first, or the one in which the transaction file ends."""
        hand = self._next_hand(0, deals)
        if self._transactions is None or not self._settings.append:
            return hand
        try:
            for action, number, sent, received in self._transactions.history(self._definition):
                text = f"{action.text(self._definition.limit)} {number}"
                if number != hand.number:
                    raise MatchFailure(f"ERROR: handId mismatch in transaction log: {text}, expected {hand.number}")
                if not hand.betting.is_legal(action):
                    raise MatchFailure(f"ERROR: invalid action in transaction log: {text}")
                seat = self._seat_of(hand.betting.player_to_act, hand)
                if not self._clock.charge(seat, sent, received):
                    raise MatchFailure(f"ERROR: seat {seat + 1} ran out of time in transaction file")
                hand.apply(action)
                if hand.betting.finished:
                    self._finish(hand)
                    hand = self._next_hand(hand.number + 1, deals)
        except FormatError as error:
            raise MatchFailure(f"ERROR: could not parse {error}") from error
        return hand

    async def _send_states(self, hand: Hand, to_act: int = -1) -> str:
        """The state to every seat in order; notes when the seat to act got its own, and returns that line."""
        requested = ""
        quiet = self._settings.quiet
        for seat, position in enumerate(self._positions):
            connection = self._seats[seat]
            line = hand.line(position)
            if len(line) > MAX_STATE_LINE:
                raise MatchFailure("ERROR: state message too long")
            data = line.encode("ascii") + b"\r\n"
            try:
                connection.send(data)
            except OSError as error:
                raise MatchFailure(
                    f"ERROR: seat {seat + 1} has closed its connection and cannot be sent hand {hand.number} ({error})",
                    unlike_reference=True,
                ) from error
            if position == to_act:
                self._last_sent = _now()
                requested = line
            if not quiet:
                sent = self._last_sent if position == to_act else _now()
                self._write_err(b"TO %d at %s %s" % (seat + 1, stamp(sent).encode(), data))
            if connection.backlog > MAX_BACKLOG and not await connection.drain(
                MAX_BACKLOG // 2, self._settings.response_ms / 1000
            ):
                raise MatchFailure(f"ERROR: seat {seat + 1} does not read what it is sent", unlike_reference=True)
        return requested

    async def _ask(self, hand: Hand) -> Action:
        """Send the state, and read lines of the player to act until one gives an action."""
        position = hand.betting.player_to_act
        requested = await self._send_states(hand, position)
        seat = self._seat_of(position, hand)
        connection = self._seats[seat]
        clock = self._clock
        sent = self._last_sent
        num_lines = 0
        while True:
            line = await self._read_answer_line(connection, seat)
            received = _now()
            num_lines += 1
            if num_lines % LINES_PER_TURN == 0:
                await asyncio.sleep(0)
            if is_comment(line):
                self._echo(seat, received, line, idle=True)
                if received - sent > COMMENT_PATIENCE * clock.response_limit:
                    raise MatchFailure(f"ERROR: seat {seat + 1} sends only comments", unlike_reference=True)
                continue
            if not clock.charge(seat, sent, received):
                self._echo(seat, received, line, idle=True)
                raise MatchFailure(f"ERROR: seat {seat + 1} ran out of time")
            action, warnings = read_answer(line, hand, requested)
            self._echo(seat, received, line, warnings, idle=action is None)
            if action is not None:
                if self._transactions is not None:
                    self._transactions.write(action, self._definition.limit, hand.number, sent, received)
                return action

    def _echo(self, seat: int, received: int, line: bytes, warnings: Sequence[str] = (), *, idle: bool) -> None:
        """Echo a client's line on stderr with its warnings; lines that answer nothing only up to an allowance."""
        text = "".join(f"{warning}\n" for warning in warnings)
        if not self._settings.quiet:
            text = f"FROM {seat + 1} at {stamp(received)} {escaped(line)}\n{text}"
        if text and (not idle or self._allowances[seat].take(text)):
            self._say(text)

    async def _read_answer_line(self, connection: SeatConnection, seat: int) -> bytes:
        limit_seconds = self._settings.response_ms / 1000
        start = time.monotonic()
        line = await connection.read_line(limit_seconds)
        if line is None:
            waited = time.monotonic() - start
            raise MatchFailure(
                f"ERROR: could not get action from seat {seat + 1}\n"
                f"{waited:.1f} seconds spent waiting; timeout {limit_seconds:.1f}"
            )
        return line

    async def _close(self) -> None:
        for seat, allowance in enumerate(self._allowances):
            if allowance.num_unsaid:
                self._say(f"WARNING: {allowance.num_unsaid} further lines of seat {seat + 1} that answered nothing\n")
        for listener in self.listeners:
            listener.close()
        for connection in self._seats:
            if connection.backlog:
                await connection.drain(0, _CLOSING_SECONDS)
            connection.close()
        if self._transactions is not None:
            self._transactions.close()
        if self._log is not None:
            self._log.close()


async def run_match(
    settings: MatchSettings,
    write_out: Callable[[str], None],
    write_err: Callable[[bytes], None],
    folder: Path | None = None,
    alone: bool = False,
    seated: Callable[[], None] = lambda: None,
) -> bool:
    """Open a dealer and play its match: True if it was completed. `alone`: nothing else runs on this event loop.

    `seated` is called when all players have connected, before the first hand.
    """
    dealer = Dealer(settings, write_out, write_err, folder, alone, seated)
    dealer.open()
    return await dealer.run()
