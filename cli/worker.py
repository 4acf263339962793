"""`foldwise worker`: this machine's cores for the comparisons at a broker."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from foldwise.cli.options import PatienceOption, RequiredBroker


@dataclass(frozen=True, kw_only=True)
class WorkerRequest:
    broker: RequiredBroker
    strategies: Annotated[
        Path | None, typer.Option("--strategies", metavar="FOLDER", help="Folder whose strategies this worker plays.")
    ] = None
    threads: Annotated[int | None, typer.Option(help="Blocks at a time; default: one a core.", min=1, max=4096)] = None
    name: Annotated[str | None, typer.Option(help="Name of this worker; default: host and a random number.")] = None
    patience: PatienceOption = 60.0


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
    run_loop(made.run())
