"""One run over sockets: a dealer and its players as processes, their output kept, none left behind."""

import asyncio
import contextlib
import os
import shlex
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from game.errors import DefinitionError, ProtocolError
from matches.plan import Run
from matches.transcript import is_complete

HOST = "127.0.0.1"
# How the parts of foldwise are started as programs of their own.
FOLDWISE = (sys.executable, "-m", "cli.main")
_GRACE_SECONDS = 10.0  # for a player to end by itself after the dealer has closed; the competition's allowance
_KILL_SECONDS = 2.0
_SOURCE_ROOT = Path(__file__).resolve().parent.parent


@asynccontextmanager
async def _process(
    command: tuple[str, ...], folder: Path, out: Path | None, err: Path
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process in a session of its own, so that it can be ended with all it has started."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_SOURCE_ROOT), os.environ.get("PYTHONPATH", "")])}
    with contextlib.ExitStack() as files:
        stdout = asyncio.subprocess.PIPE if out is None else files.enter_context(out.open("ab"))
        stderr = files.enter_context(err.open("ab"))
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise DefinitionError(f"cannot start {command[0]!r} ({error.strerror}): give an executable") from error
    try:
        yield process
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process group by the process id: politely, then not."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _KILL_SECONDS)


def _dealer_command(run: Run) -> tuple[str, ...]:
    plan = run.plan
    names = run.names()
    return (*FOLDWISE, "dealer", run.name, plan.game, str(plan.hands), str(run.seed), *names, "-q", "-T", "-a")


def _player_command(run: Run, seat: int, port: str, folder: Path) -> tuple[tuple[str, ...], Path]:
    """The command of a player, and the folder it is started in."""
    spec = run.players()[seat]
    if spec.startswith("cmd:"):
        program, *arguments = shlex.split(spec.removeprefix("cmd:"))
        return (program, *arguments, HOST, port), Path(program).parent
    seed = str(run.player_seeds()[seat])
    deadline = str(run.plan.deadline_seconds)
    options = ("--game", run.plan.game, "--seed", seed, "--deadline", deadline)
    return (*FOLDWISE, "play", spec, HOST, port, *options), folder


async def play_over_tcp(run: Run, folder: Path) -> int:
    """Play a run, or the rest of a broken one, in `folder`; how many players reported faults."""
    log = run.log_path(folder)
    if log.exists() and is_complete(log):
        return 0
    async with contextlib.AsyncExitStack() as stack:
        errors = folder / f"{run.name}.err"
        dealer = await stack.enter_async_context(_process(_dealer_command(run), folder, None, errors))
        assert dealer.stdout is not None
        ports = (await dealer.stdout.readline()).decode().split()
        players = []
        for seat, port in enumerate(ports):
            command, start_folder = _player_command(run, seat, port, folder)
            std = folder / f"{run.name}.player{seat}.std"
            err = folder / f"{run.name}.player{seat}.err"
            players.append(await stack.enter_async_context(_process(command, start_folder, std, err)))
        await _wait_for_dealer(dealer, players)
        if dealer.returncode != 0:
            raise ProtocolError(_why_broken(run, folder, errors, players))
        for player in players:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(player.wait(), _GRACE_SECONDS)
        return sum(player.returncode != 0 for player in players)


async def _wait_for_dealer(dealer: asyncio.subprocess.Process, players: list[asyncio.subprocess.Process]) -> None:
    """Until the dealer ends; a player that ends first leaves it a while to notice, then it is ended."""
    dealing = asyncio.create_task(dealer.wait())
    leaving = [asyncio.create_task(player.wait()) for player in players]
    try:
        await asyncio.wait([dealing, *leaving], return_when=asyncio.FIRST_COMPLETED)
        if not dealing.done():
            await asyncio.wait([dealing], timeout=_GRACE_SECONDS)
        if not dealing.done():
            await _end(dealer)
            await dealing
    finally:
        for task in (dealing, *leaving):
            task.cancel()


def _why_broken(run: Run, folder: Path, errors: Path, players: list[asyncio.subprocess.Process]) -> str:
    lines = errors.read_text(encoding="latin-1").splitlines() if errors.exists() else []
    said = [line for line in lines if line.startswith(("ERROR", "foldwise:"))]
    left = [name for name, player in zip(run.names(), players) if player.returncode not in (0, None)]
    reason = said[-1] if said else f"player {left[0]} ended before the match" if left else "the dealer ended early"
    return f"run {run.name} broke off: {reason}; its output is in {folder}; continue with --resume {folder}"
