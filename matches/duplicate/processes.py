"""One run over sockets: a dealer and its players as processes, their output kept, none left behind.

The dealer and the built-in players are forked from a server process that has loaded everything; external programs are
started as they are, in their own folders.
"""

import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from foldwise.agent.player import Faults
from foldwise.agent.player_spec import PlayerKind
from foldwise.game.definition import parse_definition
from foldwise.game.errors import ProtocolError
from foldwise.matches.duplicate import process_entry
from foldwise.matches.duplicate.blame import Ended, last_lines, why_broken, written_since
from foldwise.matches.duplicate.clean_start import clean_start, without_interrupts
from foldwise.matches.duplicate.program import start_program
from foldwise.matches.plan import PLAN_FILE, MatchStoppedError, Run
from foldwise.matches.table.dealer import MatchSettings
from foldwise.matches.table.log import is_complete
from foldwise.search.players import is_searching

HOST = "127.0.0.1"
# For a player to exit after the dealer has closed. The competition gave ten seconds; with eight times as much to do as it has
# cores a machine needed longer to end a well-behaved Python program.
_GRACE_SECONDS = 60.0
_KILL_SECONDS = 2.0
_PORT_SECONDS = 120.0  # for the dealer to start: the fork server may have to compile first
_POLL_SECONDS = 0.02
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["foldwise.matches.duplicate.preload"])


class Child:
    """A process of a run: one of ours, or an external program in its own session with everything it starts."""

    def __init__(self, process: "ForkServerProcess | subprocess.Popen[bytes]"):
        self._process = process

    @property
    def exit_code(self) -> int | None:
        process = self._process
        return process.poll() if isinstance(process, subprocess.Popen) else process.exitcode

    def wait(self, seconds: float) -> bool:
        """Wait; returns whether the process has ended."""
        deadline = time.monotonic() + seconds
        while self.exit_code is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)  # the two kinds of process have no common way to wait
        return True

    def end(self) -> None:
        """End it by its process id: by SIGTERM, then by SIGKILL."""
        pid = self._process.pid
        assert pid is not None
        kill: Callable[[int, int], None] = os.killpg if isinstance(self._process, subprocess.Popen) else os.kill
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.exit_code is None:
                with contextlib.suppress(ProcessLookupError):
                    kill(pid, number)
                self.wait(_KILL_SECONDS)


class _Dealer(Child):
    """The dealer, and the pipe for its ports, the news that all are seated, and the reason of a failure, which a full disk
    could not hold.
    """

    def __init__(self, process: ForkServerProcess, pipe: Connection):
        super().__init__(process)
        self._pipe = pipe
        self._failure = ""
        self._seated = False

    def ports(self) -> list[int]:
        """The ports of its seats; empty if it did not start."""
        try:
            if self._pipe.poll(_PORT_SECONDS):
                kind, text = self._pipe.recv()
                if kind == "ports":
                    return list(map(int, text.split()))
                self._failure = text
        except EOFError:
            pass
        return []

    def failure(self) -> str:
        """Why it failed, unless a player caused it."""
        self._hear()
        return self._failure

    @property
    def killed(self) -> bool:
        """Whether it was ended by a signal, as `end` does."""
        return (self.exit_code or 0) < 0

    def seated(self) -> bool:
        """Whether all players have connected."""
        self._hear()
        return self._seated

    def _hear(self) -> None:
        with contextlib.suppress(EOFError, OSError):
            while self._pipe.poll():
                kind, text = self._pipe.recv()
                if kind == "seated":
                    self._seated = True
                else:
                    self._failure = text

    def end(self) -> None:
        super().end()
        self._pipe.close()


def _start_dealer(run: Run, folder: Path, core: int | None) -> _Dealer:
    plan = run.plan
    settings = MatchSettings(
        name=run.name,
        game=plan.game,
        definition=parse_definition(plan.definition, source=PLAN_FILE),
        num_hands=plan.hands,
        seed=run.seed,
        players=run.names(),
        transactions=True,
        append=True,
        quiet=True,
    )
    ours, theirs = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=process_entry.deal, args=(settings, folder, theirs, core), daemon=True)
    with clean_start(), without_interrupts():
        process.start()
    theirs.close()
    return _Dealer(process, ours)


def _start_player(run: Run, seat: int, port: int, folder: Path, core: int | None) -> Child:
    spec = run.players()[seat]
    out, err = (folder / f"{run.name}.player{seat}.{ending}" for ending in ("std", "err"))
    if spec.kind == PlayerKind.PROGRAM:
        with out.open("ab") as stdout, err.open("ab") as stderr:
            return Child(start_program(spec.subject, HOST, port, stdout, stderr))
    plan = run.plan
    own_core = None if is_searching(spec) else core  # a solve uses threads on all cores
    arguments = (spec, run.player_seeds()[seat], plan.definition, port, plan.deadline_seconds, out, err, own_core)
    process = _CONTEXT.Process(target=process_entry.play, args=arguments, daemon=True)
    with clean_start(), without_interrupts():
        process.start()
    return Child(process)


class _Outputs:
    """The output of a run's processes; before a resume the same files were written to."""

    def __init__(self, run: Run, folder: Path):
        endings = ("err", "player0.err", "player1.err", "player0.std", "player1.std")
        self._paths = {ending: folder / f"{run.name}.{ending}" for ending in endings}
        self._sizes = {ending: path.stat().st_size if path.exists() else 0 for ending, path in self._paths.items()}

    def text(self, ending: str) -> str:
        return written_since(self._paths[ending], self._sizes[ending])


def play_over_tcp(run: Run, folder: Path, stop: threading.Event, core: int | None = None) -> Faults:
    """Play a run, or the rest of an interrupted one, in `folder`; returns the players' faults.

    Dealer and built-in players stay on the processor `core`: they take turns, and a context switch costs less than waking
    an idle processor. External programs run anywhere.
    """
    log = run.log_path(folder)
    if log.exists() and is_complete(log):
        return Faults()
    outputs = _Outputs(run, folder)
    with contextlib.ExitStack() as stack:
        dealer = _start_dealer(run, folder, core)
        stack.callback(dealer.end)
        ports = dealer.ports()
        if not ports:
            reason = dealer.failure() or last_lines(outputs.text("err")) or "no reason given"
            raise ProtocolError(f"run {run.name}: the dealer did not start: {reason}")
        players = []
        for seat, port in enumerate(ports):
            players.append(_start_player(run, seat, port, folder, core))
            stack.callback(players[-1].end)
        left = _wait_for_dealer(dealer, players, stop)
        if dealer.exit_code != 0:
            if stop.is_set():
                raise MatchStoppedError(f"run {run.name} was stopped")
            for player in players:  # those disconnected are ending: wait a little for their exit codes
                player.wait(_KILL_SECONDS)
            if not dealer.killed:  # else those who had not failed before found no dealer
                left += [player for player in players if player.exit_code and player not in left]
            ended = [
                Ended(name, player.exit_code, player in left, outputs.text(f"player{seat}.err"))
                for seat, (name, player) in enumerate(zip(run.names(), players))
            ]
            reason = why_broken(dealer.failure(), outputs.text("err"), ended)
            raise ProtocolError(f"run {run.name} broke off: {reason}")
        for player in players:
            player.wait(_GRACE_SECONDS)
        faults = Faults()
        for seat, (name, player) in enumerate(zip(run.names(), players)):
            if player.exit_code != 0:
                faults += _player_faults(name, player, outputs, seat)
        return faults


def _player_faults(name: str, player: Child, outputs: _Outputs, seat: int) -> Faults:
    """The faults of a player that failed: those it counted itself, else one."""
    words = outputs.text(f"player{seat}.err")
    try:
        count = int(json.loads(outputs.text(f"player{seat}.std").splitlines()[-1])["faults"])
    except (LookupError, ValueError, TypeError):  # an external program may write anything
        count = 1
    how = (
        "was still running after the match" if player.exit_code is None else f"ended with exit code {player.exit_code}"
    )
    return Faults(count, f"player {name} {how}" + (f"\n{words.rstrip()}" if words.strip() else ""))


def _wait_for_dealer(dealer: _Dealer, players: list[Child], stop: threading.Event) -> list[Child]:
    """Wait for the dealer to end; after a player has ended, the dealer has a while to notice, then it is ended.

    One that failed before all were seated can have played nothing: the dealer, which would wait for it, is ended at once.
    Returns the players that ended before it, or by an error at about the same time.
    """
    while not dealer.wait(_POLL_SECONDS):
        left = [player for player in players if player.exit_code is not None]
        absent = any(player.exit_code for player in left) and not dealer.seated()
        if stop.is_set() or absent or (left and not dealer.wait(_GRACE_SECONDS)):
            dealer.end()
            return left
    return [player for player in players if player.exit_code]
