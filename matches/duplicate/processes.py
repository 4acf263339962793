"""One run over sockets: a dealer and its players as processes, their output kept, none left behind.

The dealer and the built-in players are forked from a server process that has loaded everything; external programs are
started as they are, in their own folders.
"""

import contextlib
import multiprocessing
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from foldwise.agent.player_spec import PlayerKind
from foldwise.game.definition import parse_definition
from foldwise.game.errors import DefinitionError, ProtocolError
from foldwise.matches.duplicate import process_entry
from foldwise.matches.plan import PLAN_FILE, MatchStoppedError, Run
from foldwise.matches.table.dealer import MatchSettings
from foldwise.matches.table.log import is_complete
from foldwise.search.players import is_searching

HOST = "127.0.0.1"
_GRACE_SECONDS = 10.0  # for a player to end by itself after the dealer has closed; the competition's allowance
_KILL_SECONDS = 2.0
_PORT_SECONDS = 120.0  # for the dealer to start: the fork server may have to compile first
_POLL_SECONDS = 0.02
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["foldwise.matches.duplicate.preload"])


class Child:
    """A process of a run: one of ours, or a program in a session of its own with all it starts."""

    def __init__(self, process: "ForkServerProcess | subprocess.Popen[bytes]"):
        self._process = process

    @property
    def exit_code(self) -> int | None:
        process = self._process
        return process.poll() if isinstance(process, subprocess.Popen) else process.exitcode

    def wait(self, seconds: float) -> bool:
        """Whether the process has ended by then."""
        deadline = time.monotonic() + seconds
        while self.exit_code is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)  # the two kinds of process have different ways to wait with a time limit
        return True

    def end(self) -> None:
        """End it by its process id: politely, then not."""
        pid = self._process.pid
        assert pid is not None
        kill: Callable[[int, int], None] = os.killpg if isinstance(self._process, subprocess.Popen) else os.kill
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.exit_code is None:
                with contextlib.suppress(ProcessLookupError):
                    kill(pid, number)
                self.wait(_KILL_SECONDS)


def _start_dealer(run: Run, folder: Path, core: int | None) -> tuple[Child, list[int]]:
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
    process.start()
    theirs.close()
    dealer = Child(process)
    with ours:
        try:
            if ours.poll(_PORT_SECONDS):
                return dealer, list(map(int, ours.recv().split()))
        except EOFError:
            pass
    dealer.end()
    raise ProtocolError(f"run {run.name}: the dealer did not start; its output is in {folder / run.name}.err")


def _start_player(run: Run, seat: int, port: int, folder: Path, core: int | None) -> Child:
    spec = run.players()[seat]
    out, err = (folder / f"{run.name}.player{seat}.{ending}" for ending in ("std", "err"))
    if spec.kind != PlayerKind.PROGRAM:
        plan = run.plan
        seed = run.player_seeds()[seat]
        own_core = None if is_searching(spec) else core  # a solve has threads on all of them
        arguments = (spec, seed, plan.definition, port, plan.deadline_seconds, out, err, own_core)
        process = _CONTEXT.Process(target=process_entry.play, args=arguments, daemon=True)
        process.start()
        return Child(process)
    program, *extra = shlex.split(spec.subject)
    with out.open("ab") as stdout, err.open("ab") as stderr:
        try:
            return Child(
                subprocess.Popen(
                    [program, *extra, HOST, str(port)],
                    cwd=Path(program).parent,
                    stdin=subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=stderr,
                    start_new_session=True,
                )
            )
        except OSError as error:
            raise DefinitionError(f"cannot start {program!r} ({error.strerror}): give an executable") from error


def play_over_tcp(run: Run, folder: Path, stop: threading.Event, core: int | None = None) -> int:
    """Play a run, or the rest of a broken one, in `folder`; how many players ended with a fault.

    Dealer and built-in players keep to the processor `core`: they take turns, and a turn on one processor costs a
    switch, where on several it costs waking one that has gone idle. Programs run where they like.
    """
    log = run.log_path(folder)
    if log.exists() and is_complete(log):
        return 0
    with contextlib.ExitStack() as stack:
        dealer, ports = _start_dealer(run, folder, core)
        stack.callback(dealer.end)
        players = []
        for seat, port in enumerate(ports):
            players.append(_start_player(run, seat, port, folder, core))
            stack.callback(players[-1].end)
        _wait_for_dealer(dealer, players, stop)
        if dealer.exit_code != 0:
            if stop.is_set():
                raise MatchStoppedError(f"run {run.name} was stopped; continue with --resume {folder}")
            raise ProtocolError(_why_broken(run, folder, players))
        for player in players:
            player.wait(_GRACE_SECONDS)
        return sum(player.exit_code != 0 for player in players)


def _wait_for_dealer(dealer: Child, players: list[Child], stop: threading.Event) -> None:
    """Wait until the dealer ends. If a player ends first, the dealer has a while to notice before it is stopped."""
    while not dealer.wait(_POLL_SECONDS):
        if stop.is_set() or (
            any(player.exit_code is not None for player in players) and not dealer.wait(_GRACE_SECONDS)
        ):
            dealer.end()


def _why_broken(run: Run, folder: Path, players: list[Child]) -> str:
    errors = folder / f"{run.name}.err"
    lines = errors.read_text(encoding="latin-1").splitlines() if errors.exists() else []
    said = [line for line in lines if line.startswith("ERROR")]
    left = [name for name, player in zip(run.names(), players) if player.exit_code is not None]
    reason = said[-1] if said else f"player {left[0]} ended before the match" if left else "the dealer ended early"
    return f"run {run.name} broke off: {reason}; its output is in {folder}; continue with --resume {folder}"
