"""`foldwise worker`: this machine's cores for the comparisons at a broker."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from foldwise.cli.options import JsonOption, PatienceOption, RequiredBroker
from foldwise.cli.support.interrupts import going_on
from foldwise.cli.support.output import emit, stderr


@dataclass(frozen=True, kw_only=True)
class WorkerRequest:
    broker: RequiredBroker
    strategies: Annotated[
        Path | None, typer.Option("--strategies", metavar="FOLDER", help="Folder whose strategies this worker plays.")
    ] = None
    threads: Annotated[int | None, typer.Option(help="Blocks at a time; default: one per core.", min=1, max=4096)] = (
        None
    )
    name: Annotated[str | None, typer.Option(help="Name of this worker; default: host and a random number.")] = None
    patience: PatienceOption = 60.0
    as_json: JsonOption = False


class WorkerResult(TypedDict):
    name: str
    blocks: int
    seconds: float


def worker(request: WorkerRequest) -> None:
    """Offer this machine's cores to comparisons at a broker; Ctrl-C ends it.

    Example: foldwise worker --broker mqtt://127.0.0.1 --strategies runs
    """
    from foldwise.cli.support.broker import open_broker, say
    from foldwise.matches.duplicate.match import default_jobs
    from foldwise.matches.network.signature import read_signer
    from foldwise.matches.network.worker import Worker, default_name
    from foldwise.matches.table.loop import run_loop

    opened = open_broker(request.broker)
    made = Worker(
        opened,
        request.name or default_name(),
        request.strategies,
        request.threads or default_jobs(),
        say,
        request.patience,
        read_signer(),
    )
    start = time.monotonic()
    try:
        with going_on("start it again to offer its cores again"):
            run_loop(made.run())
    finally:
        seconds = time.monotonic() - start
        result = WorkerResult(name=made.name, blocks=made.num_played, seconds=seconds)
        emit(result, request.as_json, lambda: stderr.print(f"{made.num_played:,} blocks played in {seconds:.0f} s"))
