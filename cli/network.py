"""`foldwise watch` and `foldwise worker`, and what the other commands need to reach a broker."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foldwise.cli.output import JsonOption, ProgressLine, emit, stderr, stdout

if TYPE_CHECKING:
    from foldwise.agent.client import ClientReport
    from foldwise.agent.player import Player
    from foldwise.game.definition import GameDefinition
    from foldwise.matches.duplicate.comparison import Comparison, Table
    from foldwise.matches.duplicate.match import RunListener
    from foldwise.matches.network.connection import Broker
    from foldwise.matches.plan import MatchPlan
    from foldwise.matches.table.dealer import MatchSettings

# Help is markup, where "[/ROOT]" would close a tag.
BROKER_HELP = "MQTT broker, as in mqtt://HOST[:PORT]\\[/ROOT]; mqtts:// for TLS. Passwords: see docs/mqtt.md."
BrokerOption = Annotated[str | None, typer.Option("--broker", metavar="URL", help=BROKER_HELP)]
RequiredBroker = Annotated[str, typer.Option("--broker", metavar="URL", help=BROKER_HELP)]
PatienceOption = Annotated[
    float, typer.Option("--patience", help="Seconds without a broker after which to give up.", min=0.1)
]


def register(app: typer.Typer) -> None:
    app.command("watch")(watch)
    app.command("worker")(worker)


def say(text: str) -> None:
    """One line about the network, on stderr."""
    stderr.print(text, soft_wrap=True)


def _say_nothing(text: str) -> None:
    """For a second connection to the same broker: one line about an outage is enough."""


def open_broker(url: str) -> "Broker":
    """The broker of a URL; the rest of what is needed comes from the environment."""
    import logging

    from foldwise.matches.network.connection import read_broker

    logging.basicConfig(stream=sys.stderr, format="%(message)s", level=logging.WARNING)
    return read_broker(url)


@contextmanager
def feed_of(url: str | None, plan: "MatchPlan", patience: float) -> "Iterator[RunListener | None]":
    """Who listens to a match's hands: its feed at a broker for as long as the block lasts, or nobody."""
    if url is None:
        yield None
        return
    from foldwise.game.definition import parse_definition
    from foldwise.matches.network.feed import MatchProgress, match_info, new_match_id, published
    from foldwise.matches.plan import PLAN_FILE

    opened = open_broker(url)
    unit = parse_definition(plan.definition, source=PLAN_FILE).big_blind
    info = match_info(new_match_id(plan.game.rpartition("/")[2]), plan)
    say(f"match {info.match} at {opened}")
    with published(opened, info, say, patience) as feed:
        yield MatchProgress(plan, unit, feed).listener


def compare_published(
    table: "Table",
    folder: Path,
    variants: Sequence[str],
    opponents: Sequence[str],
    translation: str,
    line: ProgressLine,
    url: str,
    patience: float,
) -> "Comparison":
    """Compare on this machine; the totals of every finished cell are published."""
    from foldwise.matches.duplicate.comparison import compare
    from foldwise.matches.network.feed import CellProgress, published

    opened = open_broker(url)
    progress = CellProgress(table, folder, variants, opponents)
    say(f"match {progress.info.match} at {opened}")
    with published(opened, progress.info, say, patience) as feed:
        progress.feed = feed
        return compare(table, folder, variants, opponents, line.update, translation, progress.add)


def compare_split(
    table: "Table",
    folder: Path,
    variants: Sequence[str],
    opponents: Sequence[str],
    translation: str,
    line: ProgressLine,
    url: str,
    patience: float,
    output: Path | None,
    resume: bool,
) -> "Comparison":
    """Compare on the workers of a broker."""
    import time

    from foldwise.matches.duplicate.comparison import comparison_of
    from foldwise.matches.network.block_store import BlockStore, open_job
    from foldwise.matches.network.coordinator import Coordinator
    from foldwise.matches.network.feed import CellProgress, published
    from foldwise.matches.network.job import make_job
    from foldwise.matches.table.loop import run_loop

    opened = open_broker(url)
    progress = CellProgress(table, folder, variants, opponents)
    job = make_job(table, folder, variants, opponents, translation, progress.info.match)
    if output is not None:
        job = open_job(job, output, resume)
    store = BlockStore(job, output)
    start = time.monotonic()
    say(f"match {progress.info.match} at {opened}: {len(store.blocks)} blocks, {store.num_done} of them done")
    with published(opened, progress.info, _say_nothing, patience) as feed:  # the coordinator's link says it
        progress.feed = feed
        progress.add_store(store, resumed=True)

        def listen() -> None:
            line.update(f"{store.num_done} of {len(store.blocks)} blocks", store.num_done / len(store.blocks))
            progress.add_store(store)

        try:
            run_loop(Coordinator(opened, store, say, listen, patience).run())
        finally:
            store.close()
    return comparison_of(table, variants, opponents, store.values, time.monotonic() - start)


def deal_remote(
    settings: "MatchSettings",
    url: str,
    table: str,
    patience: float,
    write_out: Callable[[str], None],
    write_err: Callable[[bytes], None],
) -> int:
    """Deal one match to seats at a broker and at ports."""
    from foldwise.matches.network.table_server import deal_at_broker
    from foldwise.matches.table.loop import run_loop

    deal = deal_at_broker(settings, open_broker(url), table, write_out, write_err, Path(), say, patience)
    return 0 if run_loop(deal) else 1


def serve_tables(
    settings: "MatchSettings", tables: int, matches: int | None, url: str | None, table: str, patience: float
) -> int:
    """Deal match after match; a line for each on stdout."""
    from foldwise.matches.network.table_server import TableServer
    from foldwise.matches.table.loop import run_loop

    def status(text: str) -> None:
        stdout.print(text, soft_wrap=True)

    opened = open_broker(url) if url is not None else None
    server = TableServer(settings, tables, matches, Path(), status, say, opened, table, patience)
    return 0 if run_loop(server.run()) == 0 else 1


def play_remote(
    player: "Player",
    definition: "GameDefinition | None",
    url: str,
    table: str,
    seat: int | None,
    deadline: float,
    patience: float,
) -> "ClientReport":
    """Play one match at a table of a broker."""
    from foldwise.agent.strategy_player import check_same_game
    from foldwise.matches.network.player import RemoteSeat
    from foldwise.matches.table.loop import run_loop

    def choose_game(dealt: "GameDefinition") -> "GameDefinition":
        if definition is not None:
            check_same_game(dealt, definition, "the player")
        return definition or dealt

    remote = RemoteSeat(open_broker(url), table, seat, say, deadline, patience)
    return run_loop(remote.play(player, choose_game))


def watch(
    broker: RequiredBroker,
    match: Annotated[str | None, typer.Argument(metavar="[MATCH]", help="Only this match, until its end.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Print what is known after a second, and end.")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Take ended matches off the broker.")] = False,
    patience: PatienceOption = 60.0,
    as_json: JsonOption = False,
) -> int:
    """Show running matches: totals with intervals, last hands, rates. Ctrl-C ends it.

    With MATCH it ends by itself when the match does: exit code 0 if it finished, 1 if not. Off a terminal it prints
    a picture every ten seconds if anything changed. --json prints one object and ends, as --once does.

    Example: foldwise watch --broker mqtt://127.0.0.1

    Example: foldwise watch --broker mqtts://user@host/league hunl-3f2a9c01 --json
    """
    import time

    from rich.live import Live

    from foldwise.cli.watch_view import board_dict, board_view
    from foldwise.matches.network.messages import check_word
    from foldwise.matches.network.watch import Board
    from foldwise.matches.network.watch import watch as watch_broker
    from foldwise.matches.table.loop import run_loop

    if match is not None:
        check_word(match, "match")
    opened = open_broker(broker)
    board = Board(opened.topics)
    start = time.monotonic()
    printed = float("-inf")
    last: dict[str, Any] = {}
    live = Live(console=stdout, auto_refresh=False) if stdout.is_terminal and not (once or as_json) else None

    def show() -> bool:
        nonlocal printed, last
        watched = board.matches.get(match) if match is not None else None
        ended = watched is not None and watched.ended
        now = time.monotonic()
        if live is not None:
            live.update(board_view(board, match), refresh=True)
        elif not (once or as_json) and (ended or now - printed >= 10.0):
            printed, known = now, board_dict(board, match)
            if known != last:
                last = known
                stdout.print(board_view(board, match))
        return not ended and not ((once or as_json) and now - start >= 1.0)

    with live or nullcontext():
        run_loop(watch_broker(opened, board, show, say, forget=forget, patience_seconds=patience))
    if once or as_json:
        emit(board_dict(board, match), as_json, lambda: stdout.print(board_view(board, match)))
    if match is None:
        return 0
    found = board.matches.get(match)
    return 0 if found is not None and found.state in ("finished", "running") else 1


def worker(
    broker: RequiredBroker,
    strategies: Annotated[
        Path | None, typer.Option("--strategies", metavar="FOLDER", help="Folder whose strategies this worker plays.")
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Blocks at a time; default: one a core.", min=1, max=4096)] = None,
    name: Annotated[str | None, typer.Option(help="Name of this worker; default: host and a random number.")] = None,
    patience: PatienceOption = 60.0,
) -> None:
    """Offer this machine's cores to comparisons at a broker; Ctrl-C ends it.

    Example: foldwise worker --broker mqtt://127.0.0.1 --strategies runs
    """
    from foldwise.matches.duplicate.match import default_jobs
    from foldwise.matches.network.worker import Worker, default_name
    from foldwise.matches.table.loop import run_loop

    opened = open_broker(broker)
    made = Worker(opened, name or default_name(), strategies, threads or default_jobs(), say, patience)
    run_loop(made.run())
