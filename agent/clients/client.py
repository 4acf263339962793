"""The ACPC client: any `Player` at any dealer. It sends only legal actions, and never late ones.

Two threads share the work. The driver reads states and asks the player; the guard watches the time. When the player is
late or stuck, the guard answers check or fold in its place and becomes the driver, so that states are read and answered
on time whatever the player does; the late thread, once it returns, becomes the guard.
"""

import contextlib
import logging
import math
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import NamedTuple

from foldwise.agent.clients.account import Account
from foldwise.agent.clients.seat_report import SeatReport
from foldwise.agent.clients.state_reader import StateReader
from foldwise.agent.player import Player, Watcher, guarded_choice, limit_time, safe_action, warm_up
from foldwise.game.betting import Action
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import ProtocolError
from foldwise.game.text.match_state import MatchState

VERSION_LINE = b"VERSION:2.0.0\r\n"
# No dealer's line is longer; without a bound a stream without line ends would fill the memory.
MAX_LINE = 4095
_CONNECT_SECONDS = 10.0
_COUNTED = "; further ones are counted, not shown"
THINKING_SHARE = 0.8  # of the deadline; the rest is left for the fallback answer
_AT_ONCE_SECONDS = 0.002  # a line that takes longer to read was not there when it was asked for
_log = logging.getLogger(__name__)


@dataclass
class ClientReport(SeatReport):
    """What happened in a match, as seen from one seat."""

    states: int = 0
    late: int = 0
    unreadable: int = 0  # lines that are neither a state nor a comment
    hands: set[int] = field(default_factory=set, repr=False)

    @property
    def faults(self) -> int:
        return self.errors + self.late + self.unreadable


class _Request(NamedTuple):
    line: str
    state: MatchState
    deadline: float


class Client:
    """One seat of one match over a connected socket."""

    def __init__(
        self,
        sock: socket.socket,
        player: Player,
        definition: GameDefinition,
        deadline_seconds: float = 5.0,
        seconds_a_hand: float = math.inf,
    ):
        """Of `seconds_a_hand`, the account over the match, only a player that heeds the clock takes notice."""
        self._socket = sock
        self._player = player
        self._watcher = player if isinstance(player, Watcher) else None
        self._definition = definition
        self._deadline_seconds = deadline_seconds
        self._account = Account(seconds_a_hand)
        self._stream = sock.makefile("rb")
        self._lock = threading.Lock()
        self._request: _Request | None = None  # what the player is thinking about
        self._player_busy = False  # with a request that was answered without it
        self._done = threading.Event()
        self._failure: BaseException | None = None
        self.report = ClientReport()

    def run(self) -> ClientReport:
        """Play until the dealer closes the connection."""
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(None)
        self._send(VERSION_LINE)
        for driving in (True, False):
            # Daemons: a player that never returns must not keep the process alive after the match.
            threading.Thread(target=self._work, args=(driving,), daemon=True).start()
        self._done.wait()
        if self._failure is not None:
            raise self._failure
        self._stream.close()
        return self.report

    def _work(self, driving: bool) -> None:
        try:
            while not self._done.is_set():
                driving = self._drive() if driving else self._guard()
        except BaseException as failure:  # noqa: BLE001  # raised again by the thread that waits in run()
            self._failure = failure
            self._done.set()

    def _drive(self) -> bool:
        """Read and answer until the match ends or this thread is relieved; returns its next role (False: guard)."""
        reader = StateReader(self._definition)
        came = busy_since = time.monotonic()
        while True:
            asked = time.monotonic()
            line = self._read_line()
            if line is None:
                self._done.set()
                return False
            if line[:1] in ("#", ";", ""):
                continue
            state = reader.read(line)
            if state is None or not state.hole_cards[state.position]:
                self.report.unreadable += 1
                if self.report.unreadable == 1:
                    _log.error("not a state of this game, not answered: %r%s", line[:200], _COUNTED)
                continue
            self.report.states += 1
            if self._watcher is not None and not self._player_busy:
                now = time.monotonic()
                # What was there already may have waited as long as the player was busy watching.
                came = now if now - asked > _AT_ONCE_SECONDS else busy_since
                left = came + self._deadline_seconds - now
                if state.is_turn():  # while the opponent is to act nothing is charged
                    left = min(left, self._account.left(state.hand_number))
                limit_time(self._player, THINKING_SHARE * left)
                busy_since = now
                self._watcher.observe(state)
            if not state.is_turn():
                continue
            self.report.decisions += 1
            self.report.hands.add(state.hand_number)
            if self._player_busy:
                self.report.late += 1
                self._answer(line, state, safe_action(state))
                continue
            request = _Request(line, state, time.monotonic() + self._deadline_seconds)
            self._request = request
            action, error = guarded_choice(self._player, state)
            with self._lock:
                late = self._request is not request
                if not late:
                    self._request = None
            if late:
                self._account.spend(self._deadline_seconds)
                self._player_busy = False
                return False
            if error is not None:
                self.report.errors += 1
                if self.report.errors == 1:
                    _log.error("player failed; checked or folded at %r%s", line, _COUNTED, exc_info=error)
            self._answer(line, state, action)
            busy_since = time.monotonic()
            self._account.spend(busy_since - came)

    def _guard(self) -> bool:
        """Watch the player's time; True when it was late and this thread has answered: the next role is the driver.

        A request made during a wait is due no earlier than the wait ends, so requests need not wake this thread.
        """
        while True:
            request = self._request
            due = time.monotonic() + self._deadline_seconds if request is None else request.deadline
            if self._done.wait(max(due - time.monotonic(), 0.0)):
                return False
            if request is None:
                continue
            with self._lock:
                if self._request is not request:
                    continue
                self._request = None
                self._player_busy = True
            self.report.late += 1
            if self.report.late == 1:
                seconds = self._deadline_seconds
                _log.error("player over its %.3g s; checked or folded at %r%s", seconds, request.line, _COUNTED)
            self._answer(request.line, request.state, safe_action(request.state))
            return True

    def _answer(self, line: str, state: MatchState, action: Action) -> None:
        text = action.text(state.betting.definition.limit)
        self._send(f"{line}:{text}\r\n".encode("ascii"))

    def _send(self, data: bytes) -> None:
        # A dealer that has gone is noticed at the end of the stream, after everything it sent.
        with contextlib.suppress(OSError):
            self._socket.sendall(data)

    def _read_line(self) -> str | None:
        """The next line without its end; None at the end of the stream. Lines that are too long are skipped."""
        overlong = False
        while True:
            try:
                line = self._stream.readline(MAX_LINE + 1)
            except OSError:
                return None  # a reset is normal: the dealer closed with bytes of ours unread
            if line.endswith(b"\n"):
                if not overlong:
                    return line.rstrip(b"\r\n").decode("latin-1")
                overlong = False
            elif len(line) <= MAX_LINE:
                return None
            elif not overlong:
                overlong = True
                self.report.unreadable += 1
                if self.report.unreadable == 1:
                    _log.error("line of more than %d bytes skipped%s", MAX_LINE, _COUNTED)


def play_match(
    player: Player,
    definition: GameDefinition,
    host: str,
    port: int,
    deadline_seconds: float = 5.0,
    seconds_a_hand: float = math.inf,
) -> ClientReport:
    """Connect to a dealer and play one match."""
    warm_up(player)
    limit_time(player, THINKING_SHARE * deadline_seconds)
    try:
        sock = socket.create_connection((host, port), timeout=_CONNECT_SECONDS)
    except OSError as error:
        raise ProtocolError(f"no dealer at {host}:{port} ({error}): start one with 'foldwise dealer'") from error
    with sock:
        try:
            return Client(sock, player, definition, deadline_seconds, seconds_a_hand).run()
        finally:
            # The client's stream keeps the socket open: shut it down, so that the dealer notices our leaving at once.
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
