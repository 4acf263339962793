"""`foldwise dealer`: an ACPC dealer for one match, or a server of tables."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foldwise.cli.options import MOST_HANDS, BrokerOption, PatienceOption
from foldwise.cli.support.output import stdout
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.matches.table.dealer import MatchSettings


@dataclass(frozen=True, kw_only=True)
class DealerRequest:
    name: Annotated[str, typer.Argument(help="Name of the match; NAME.log and NAME.tlog are named after it.")]
    game: Annotated[str, typer.Argument(help="A game's name, or the path of an ACPC .game file.")]
    hands: Annotated[int, typer.Argument(help="Hands to play.", min=1, max=MOST_HANDS)]
    seed: Annotated[int, typer.Argument(help="Seed of the cards; the same cards as the reference dealer's.")]
    players: Annotated[list[str], typer.Argument(help="A name for each seat.")]
    fixed_seats: Annotated[bool, typer.Option("-f", help="Fixed seats: the button does not move.")] = False
    log: Annotated[bool, typer.Option("-L/-l", help="With or without a log file.")] = True
    transactions: Annotated[bool, typer.Option("-T/-t", help="With or without a transaction file.")] = False
    append: Annotated[bool, typer.Option("-a", help="Append to the files; with -T, continue an interrupted match.")] = (
        False
    )
    ports: Annotated[str, typer.Option("-p", help="Ports by seat, as in 9001,9002; missing or 0: any free port.")] = "0"
    quiet: Annotated[bool, typer.Option("-q", help="Do not print a line per message on stderr.")] = False
    t_response: Annotated[int, typer.Option("--t_response", help="Milliseconds for one answer.", min=0)] = 600_000
    t_hand: Annotated[int, typer.Option("--t_hand", help="Milliseconds for one hand.", min=0)] = 600_000
    t_per_hand: Annotated[int, typer.Option("--t_per_hand", help="Milliseconds per hand on average.", min=0)] = 7_000
    start_timeout: Annotated[
        int, typer.Option("--start_timeout", help="Milliseconds for all players to connect; negative: no limit.")
    ] = -1
    bind: Annotated[str, typer.Option("--bind", help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1"
    broker: BrokerOption = None
    table: Annotated[
        str | None, typer.Option(help="With --broker: the table's name there; default: NAME. With --serve, NAME-1 ...")
    ] = None
    serve: Annotated[bool, typer.Option("--serve", help="Deal match after match, with seeds SEED, SEED+1, ...")] = False
    tables: Annotated[int, typer.Option(help="With --serve: matches at a time.", min=1, max=100)] = 1
    matches: Annotated[int | None, typer.Option(help="With --serve: end after this many.", min=1)] = None
    patience: PatienceOption = 60.0


def dealer(request: DealerRequest) -> int:
    """Deal one ACPC match: prints the ports, waits for the players, plays, prints the score.

    With --broker seats can also be taken over MQTT (foldwise play ... --broker URL --table NAME), and the match is
    published for foldwise watch. With --serve it deals NAME-0001, NAME-0002, ... at fixed ports until Ctrl-C; matches
    whose logs are complete are skipped, so a server continues where it stopped.

    Example: foldwise dealer demo hunl 100 7 Alice Bob -q

    Example: foldwise dealer league hunl 1000 7 Alice Bob --serve --tables 2 -p 9001,9002 --broker mqtt://127.0.0.1
    """
    from foldwise.matches.table.dealer import run_match
    from foldwise.matches.table.loop import run_loop

    settings = _settings(request)
    if request.serve:
        return _serve_tables(settings, request)
    if request.broker is not None:
        return _deal_remote(settings, request.broker, request)
    return 0 if run_loop(run_match(settings, _write_out, _write_err, alone=True)) else 1


def _settings(request: DealerRequest) -> "MatchSettings":
    from foldwise.cli.support.table_game import table_definition
    from foldwise.matches.table.dealer import MatchSettings

    definition = table_definition(request.game)
    if len(request.players) < definition.num_players:
        raise DefinitionError(
            f"{len(request.players)} player names: game {request.game!r} has {definition.num_players} seats; "
            "give a name for each"
        )
    return MatchSettings(
        name=request.name,
        game=request.game,
        definition=definition,
        num_hands=request.hands,
        seed=request.seed % 2**32,
        players=tuple(request.players[: definition.num_players]),
        fixed_seats=request.fixed_seats,
        log=request.log,
        transactions=request.transactions,
        append=request.append,
        ports=_read_ports(request.ports),
        quiet=request.quiet,
        response_ms=request.t_response,
        hand_ms=request.t_hand,
        per_hand_ms=request.t_per_hand,
        start_timeout_ms=request.start_timeout,
        bind=request.bind,
    )


def _deal_remote(settings: "MatchSettings", url: str, request: DealerRequest) -> int:
    """Deal one match to seats at a broker and at ports."""
    from foldwise.cli.support.broker import open_broker, say
    from foldwise.matches.network.table_server import deal_at_broker
    from foldwise.matches.table.loop import run_loop

    table = request.table or request.name
    deal = deal_at_broker(settings, open_broker(url), table, _write_out, _write_err, Path(), say, request.patience)
    return 0 if run_loop(deal) else 1


def _serve_tables(settings: "MatchSettings", request: DealerRequest) -> int:
    """Deal match after match; a line for each on stdout."""
    from foldwise.cli.support.broker import open_broker, say
    from foldwise.matches.network.table_server import TableServer
    from foldwise.matches.table.loop import run_loop

    def status(text: str) -> None:
        stdout.print(text, soft_wrap=True)

    opened = open_broker(request.broker) if request.broker is not None else None
    table = request.table or request.name
    server = TableServer(
        settings, request.tables, request.matches, Path(), status, say, opened, table, request.patience
    )
    return 0 if run_loop(server.run()) == 0 else 1


def _write_out(line: str) -> None:
    print(line, flush=True)


def _write_err(data: bytes) -> None:
    sys.stderr.buffer.write(data)
    sys.stderr.buffer.flush()


def _read_ports(text: str) -> tuple[int, ...]:
    ports = text.split(",")
    if not all(port.isascii() and port.isdigit() and int(port) < 2**16 for port in ports):
        raise DefinitionError(f"ports {text!r}: expected numbers below 65536 separated by commas, 0 for any")
    return tuple(map(int, ports))
