"""`foldwise play`: the agent at a dealer, or a person in its place."""

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict

import typer

from foldwise.cli.options import MOST_HANDS, BrokerOption, JsonOption, PatienceOption, SeedOption, output_option
from foldwise.cli.support.output import emit, stderr
from foldwise.cli.support.search_option import AUTO, SeatSearchOption, searching
from foldwise.cli.support.strategies import typed_folder
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.agent.clients.client import ClientReport
    from foldwise.agent.player import Player
    from foldwise.agent.player_spec import PlayerSpec
    from foldwise.game.definition import GameDefinition


MOST_SECONDS_A_HAND = 600.0


@dataclass(frozen=True, kw_only=True)
class PlayRequest:
    player: Annotated[
        str,
        typer.Argument(
            metavar="DIR", help="A strategy folder, default, champion, a player such as bot:call, or human."
        ),
    ]
    host: Annotated[str | None, typer.Argument(help="Address of the dealer, or of an HTTP table: http://...")] = None
    port: Annotated[int | None, typer.Argument(help="Port of the seat.", min=1, max=65535)] = None
    postprocess: Annotated[str | None, typer.Option(help="Post-processing of a strategy, as in new(0.2).")] = None
    translation: Annotated[
        str | None,
        typer.Option(
            help="How a strategy reads bets of other sizes: pseudo-harmonic (the default), arithmetic or geometric, "
            "with 'deterministic' after it for the nearest by the mapping's median instead of by chance."
        ),
    ] = None
    search: SeatSearchOption = AUTO
    explain: Annotated[bool, typer.Option("--explain", help="Log every decision of a strategy on stderr.")] = False
    game: Annotated[
        str | None, typer.Option(help="The game the dealer deals; by default the strategy's own, or hunl.")
    ] = None
    deadline: Annotated[
        float | None,
        typer.Option(help="Seconds after which check or fold is answered: 5, for a person 600.", min=0.001),
    ] = None
    t_per_hand: Annotated[
        float | None,
        typer.Option(
            "--t_per_hand",
            metavar="SECONDS",
            help="The dealer's account, 7 in the competition: how much is searched is chosen by this machine's speed, once.",
        ),
    ] = None
    reveal: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", callback=typed_folder, help="With human: the bot's strategy, to explain it after showdowns."
        ),
    ] = None
    broker: BrokerOption = None
    table: Annotated[str | None, typer.Option(help="With --broker: the table to play at.")] = None
    seat: Annotated[int | None, typer.Option(help="With --broker: the seat, from 1; default: a free one.", min=1)] = (
        None
    )
    patience: PatienceOption = 60.0
    hands: Annotated[int, typer.Option(help="At an HTTP table: hands to play.", min=1, max=MOST_HANDS)] = 1000
    user: Annotated[
        str | None,
        typer.Option(help="At an HTTP table: log in under this name, with the password in FOLDWISE_TABLE_PASSWORD."),
    ] = None
    output: Annotated[Path | None, output_option("At an HTTP table: folder for http.log.")] = None
    seed: SeedOption = 0
    as_json: JsonOption = False

    @property
    def at_http(self) -> bool:
        return self.host is not None and self.port is None and self.host.startswith(("http://", "https://"))


class PlayResult(TypedDict):
    player: str
    hands: int
    states: int
    decisions: int
    errors: int
    late: int
    unreadable: int
    search: NotRequired[dict[str, float]]  # as `match --json` has it


def play(request: PlayRequest) -> int:
    """Play one match at an ACPC dealer, by HOST and PORT or at a table of a broker; ends when the dealer closes.

    A single address that starts with http is a table with Slumbot's interface, such as 'foldwise serve': there --hands
    are played, logged with -o, and scored.

    Exit code 1 if the player failed or was late, so that check or fold was answered in its place.

    Example: foldwise play runs/small 127.0.0.1 9001 --postprocess "new(0.2)"

    Example: foldwise play runs/small 127.0.0.1 9001 --search fast --explain

    Example: foldwise play default 127.0.0.1 9001

    Example: foldwise play default 127.0.0.1 9001 --t_per_hand 7 --deadline 20

    Example: foldwise play champion 127.0.0.1 9001

    Example: foldwise play bot:call 127.0.0.1 9001 --game leduc

    Example: foldwise play human 127.0.0.1 9001 --reveal runs/small

    Example: foldwise play runs/small --broker mqtt://127.0.0.1 --table demo

    Example: foldwise play runs/small http://127.0.0.1:8765 --hands 500 -o runs/http
    """
    player, host, port = request.player, request.host, request.port
    if player == "human":
        from foldwise.cli.support.human_seat import play_human

        if host is None or port is None:
            raise DefinitionError("play human: expected HOST and PORT of a dealer")
        return play_human(host, port, request.game, request.deadline or 600.0, request.reveal, request.as_json)
    if request.reveal is not None:
        raise DefinitionError(f"--reveal with player {player!r}: it explains the bot to a person, as in 'play human'")
    from foldwise.agent.clients.client import play_match
    from foldwise.cli.support.players import own_search
    from foldwise.cli.support.table_game import table_definition

    at_dealer, at_table = request.at_http or (host is not None and port is not None), request.table is not None
    if (request.broker is not None) != at_table or at_table == at_dealer:
        raise DefinitionError(
            "play: expected HOST and PORT of a dealer, the http address of a table, or --broker URL and --table NAME"
        )
    spec = searching(_spec(request), request.search, own_search(player))
    made, definition = _seated(spec, request)
    if request.t_per_hand is not None:
        _plan(made, request, request.t_per_hand)
    if request.at_http:
        from foldwise.cli.support.http_play import HttpSeat, play_http

        assert host is not None
        seat = HttpSeat(
            host, request.user, request.hands, request.patience, request.output, request.seed, request.as_json
        )
        return play_http(made, spec, definition or table_definition("hunl"), seat)
    if request.broker is not None:
        report = _play_remote(made, definition, request.broker, request)
    else:
        assert host is not None and port is not None
        game, account = definition or table_definition("hunl"), request.t_per_hand or math.inf
        report = play_match(made, game, host, port, request.deadline or 5.0, account)
    result = PlayResult(
        player=player,
        hands=len(report.hands),
        states=report.states,
        decisions=report.decisions,
        errors=report.errors,
        late=report.late,
        unreadable=report.unreadable,
    )
    summary = (
        f"{report.decisions} decisions in {len(report.hands)} hands; player errors {report.errors}, "
        f"late {report.late}, unreadable lines {report.unreadable}"
    )
    from foldwise.search.player import SearchPlayer

    if isinstance(made, SearchPlayer):
        result["search"] = {"work": made.settings.work, **made.report.to_dict()}
        summary += f"; {made.report.solves} solves, {made.report.fallbacks} decisions left to the table"
    emit(result, request.as_json, lambda: stderr.print(summary))
    return 1 if report.faults else 0


def _seated(spec: "PlayerSpec", request: PlayRequest) -> "tuple[Player, GameDefinition | None]":
    """The player, and the game if it is known before the dealer announces it."""
    from foldwise.agent.strategy_player import StrategyPlayer, check_same_game
    from foldwise.cli.support.table_game import table_definition
    from foldwise.search.player import SearchPlayer
    from foldwise.search.players import make_player

    made = make_player(spec, request.seed)
    definition = table_definition(request.game) if request.game is not None else None
    if isinstance(made, StrategyPlayer | SearchPlayer):
        definition = definition or made.definition
        check_same_game(definition, made.definition, made.name)
        if request.explain:
            made.listener = lambda decision: print(decision, file=sys.stderr, flush=True)
    elif request.explain:
        raise DefinitionError(f"--explain: player {request.player!r} is not a strategy")
    return made, definition


def _plan(player: "Player", request: PlayRequest, seconds: float) -> None:
    """Choose how much is searched, and say so with the name that plays the same on any machine."""
    from foldwise.agent.clients.client import THINKING_SHARE
    from foldwise.search.player import SearchPlayer
    from foldwise.search.work import plan

    if not MOST_SECONDS_A_HAND >= seconds > 0.0:
        raise DefinitionError(
            f"--t_per_hand {seconds:g}: expected seconds up to {MOST_SECONDS_A_HAND:g}, as in 7 (dealers: milliseconds)"
        )
    if request.port is None:
        raise DefinitionError("--t_per_hand: expected HOST and PORT of a dealer, which keeps the account")
    if not isinstance(player, SearchPlayer):
        raise DefinitionError(f"--t_per_hand: player {request.player!r} does not search, it has no use for the time")
    chosen = plan(player, seconds, THINKING_SHARE * (request.deadline or 5.0))
    stderr.print(f"{chosen}; the same anywhere: {player.settings}")


def _spec(request: PlayRequest) -> "PlayerSpec":
    """The player, options included."""
    from foldwise.cli.support.players import with_options

    return with_options(request.player, request.postprocess, request.translation)


def _play_remote(
    player: "Player", definition: "GameDefinition | None", url: str, request: PlayRequest
) -> "ClientReport":
    """Play one match at a table of a broker."""
    from foldwise.agent.strategy_player import check_same_game
    from foldwise.cli.support.broker import open_broker, say
    from foldwise.matches.network.player import RemoteSeat
    from foldwise.matches.table.loop import run_loop

    def choose_game(dealt: "GameDefinition") -> "GameDefinition":
        if definition is not None:
            check_same_game(dealt, definition, "the player")
        return definition or dealt

    assert request.table is not None
    remote = RemoteSeat(open_broker(url), request.table, request.seat, say, request.deadline or 5.0, request.patience)
    return run_loop(remote.play(player, choose_game))
