"""`foldwise dealer`, `foldwise play` and `foldwise match`: both ends of the ACPC protocol, and both together."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from foldwise.cli.network import BrokerOption, PatienceOption, deal_remote, feed_of, play_remote, serve_tables
from foldwise.cli.output import MOST_HANDS, JsonOption, ProgressLine, SeedOption, emit, stderr, stdout
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.game.definition import GameDefinition
    from foldwise.matches.plan import MatchPlan, Score

ScoreOption = Annotated[
    str,
    typer.Option(
        help="chips (as played), expectation (two strategies: mean over all hands, on each board) or aivat "
        "(one strategy or two: played hands without the luck we know of)."
    ),
]


def register(app: typer.Typer) -> None:
    app.command("dealer")(dealer)
    app.command("play")(play)
    app.command("startme")(startme)
    app.command("match")(match)


def table_definition(game: str) -> "GameDefinition":
    """The rules of a game a dealer can deal: a built-in name or the path of a `.game` file."""
    from foldwise.game.library import PokerGame, find_game

    found = find_game(game)
    if not isinstance(found, PokerGame) or found.run_out_cards:
        raise DefinitionError(
            f"game {game!r} has no ACPC table form: expected kuhn, leduc, limit, hunl, two-limit-1, two-limit-4, "
            "two-nl-K or the path of a .game file"
        )
    return found.definition


def _write_out(line: str) -> None:
    print(line, flush=True)


def _write_err(data: bytes) -> None:
    sys.stderr.buffer.write(data)
    sys.stderr.buffer.flush()


def _read_ports(text: str) -> tuple[int, ...]:
    ports = text.split(",")
    if not all(port.isascii() and port.isdigit() and int(port) < 2**16 for port in ports):
        raise DefinitionError(f"ports {text!r}: expected numbers below 65536 parted by commas, 0 for any")
    return tuple(map(int, ports))


def dealer(
    name: Annotated[str, typer.Argument(help="Name of the match; NAME.log and NAME.tlog are named after it.")],
    game: Annotated[str, typer.Argument(help="A game's name, or the path of an ACPC .game file.")],
    hands: Annotated[int, typer.Argument(help="Hands to play.", min=1, max=MOST_HANDS)],
    seed: Annotated[int, typer.Argument(help="Seed of the cards; the same cards as the reference dealer's.")],
    players: Annotated[list[str], typer.Argument(help="A name for each seat.")],
    fixed_seats: Annotated[bool, typer.Option("-f", help="Fixed seats: the button does not move.")] = False,
    log: Annotated[bool, typer.Option("-L/-l", help="With or without a log file.")] = True,
    transactions: Annotated[bool, typer.Option("-T/-t", help="With or without a transaction file.")] = False,
    append: Annotated[bool, typer.Option("-a", help="Append to the files; with -T, take up a broken match.")] = False,
    ports: Annotated[str, typer.Option("-p", help="Ports by seat, as in 9001,9002; missing or 0: any.")] = "0",
    quiet: Annotated[bool, typer.Option("-q", help="No line per message on stderr.")] = False,
    t_response: Annotated[int, typer.Option("--t_response", help="Milliseconds for one answer.", min=0)] = 600_000,
    t_hand: Annotated[int, typer.Option("--t_hand", help="Milliseconds for one hand.", min=0)] = 600_000,
    t_per_hand: Annotated[int, typer.Option("--t_per_hand", help="Milliseconds a hand on average.", min=0)] = 7_000,
    start_timeout: Annotated[
        int, typer.Option("--start_timeout", help="Milliseconds for all to connect; negative: no limit.")
    ] = -1,
    bind: Annotated[str, typer.Option("--bind", help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    broker: BrokerOption = None,
    table: Annotated[
        str | None, typer.Option(help="With --broker: the table's name there; default: NAME. With --serve, NAME-1 ...")
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Deal match after match, with seeds SEED, SEED+1, ...")
    ] = False,
    tables: Annotated[int, typer.Option(help="With --serve: matches at a time.", min=1, max=100)] = 1,
    matches: Annotated[int | None, typer.Option(help="With --serve: end after so many.", min=1)] = None,
    patience: PatienceOption = 60.0,
) -> int:
    """Deal one ACPC match: prints the ports, waits for the players, plays, prints the score.

    With --broker seats can also be taken over MQTT (foldwise play ... --broker URL --table NAME), and the match is
    published for foldwise watch. With --serve it deals NAME-0001, NAME-0002, ... at fixed ports until Ctrl-C; matches
    whose logs are complete are passed over, so a server goes on where it stopped.

    Example: foldwise dealer demo hunl 100 7 Alice Bob -q

    Example: foldwise dealer league hunl 1000 7 Alice Bob --serve --tables 2 -p 9001,9002 --broker mqtt://127.0.0.1
    """
    from foldwise.matches.table.dealer import MatchSettings, run_match
    from foldwise.matches.table.loop import run_loop

    definition = table_definition(game)
    if len(players) < definition.num_players:
        raise DefinitionError(
            f"{len(players)} player names: game {game!r} has {definition.num_players} seats; give a name for each"
        )
    settings = MatchSettings(
        name=name,
        game=game,
        definition=definition,
        num_hands=hands,
        seed=seed % 2**32,
        players=tuple(players[: definition.num_players]),
        fixed_seats=fixed_seats,
        log=log,
        transactions=transactions,
        append=append,
        ports=_read_ports(ports),
        quiet=quiet,
        response_ms=t_response,
        hand_ms=t_hand,
        per_hand_ms=t_per_hand,
        start_timeout_ms=start_timeout,
        bind=bind,
    )
    if serve:
        return serve_tables(settings, tables, matches, broker, table or name, patience)
    if broker is not None:
        return deal_remote(settings, broker, table or name, patience, _write_out, _write_err)
    return 0 if run_loop(run_match(settings, _write_out, _write_err)) else 1


def play(
    player: Annotated[
        str, typer.Argument(metavar="DIR", help="A strategy folder, a player such as bot:call, or human.")
    ],
    host: Annotated[str | None, typer.Argument(help="Address of the dealer, or of an HTTP table: http://...")] = None,
    port: Annotated[int | None, typer.Argument(help="Port of the seat.", min=1, max=65535)] = None,
    postprocess: Annotated[str | None, typer.Option(help="Post-processing of a strategy, as in new(0.2).")] = None,
    translation: Annotated[
        str | None,
        typer.Option(
            help="How a strategy reads bets of other sizes: pseudo-harmonic (the default), arithmetic or geometric, "
            "with 'deterministic' after it for the nearest by the mapping's median instead of by chance."
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Log every decision of a strategy on stderr.")] = False,
    game: Annotated[
        str | None, typer.Option(help="The game the dealer deals; by default the strategy's own, or hunl.")
    ] = None,
    deadline: Annotated[
        float | None,
        typer.Option(help="Seconds after which check or fold is answered: 5, for a person 600.", min=0.001),
    ] = None,
    reveal: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With human: the bot's strategy, to explain it after showdowns.")
    ] = None,
    broker: BrokerOption = None,
    table: Annotated[str | None, typer.Option(help="With --broker: the table to play at.")] = None,
    seat: Annotated[
        int | None, typer.Option(help="With --broker: the seat, from 1; default: a free one.", min=1)
    ] = None,
    patience: PatienceOption = 60.0,
    hands: Annotated[int, typer.Option(help="At an HTTP table: hands to play.", min=1, max=MOST_HANDS)] = 1000,
    user: Annotated[
        str | None,
        typer.Option(help="At an HTTP table: log in by this name, with the password in FOLDWISE_TABLE_PASSWORD."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="At an HTTP table: folder for http.log.")
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> int:
    """Play one match at an ACPC dealer, by HOST and PORT or at a table of a broker; ends when the dealer closes.

    A single address that starts with http is a table of Slumbot's interface, as 'foldwise serve' is one: there --hands
    are played, logged with -o, and scored.

    Exit code 1 when the player failed or was late and check or fold was answered in its place.

    Example: foldwise play runs/small 127.0.0.1 9001 --postprocess "new(0.2)"

    Example: foldwise play bot:call 127.0.0.1 9001 --game leduc

    Example: foldwise play human 127.0.0.1 9001 --reveal runs/small

    Example: foldwise play runs/small --broker mqtt://127.0.0.1 --table demo

    Example: foldwise play runs/small http://127.0.0.1:8765 --hands 500 -o runs/http
    """
    at_http = host is not None and port is None and host.startswith(("http://", "https://"))
    if player == "human":
        from foldwise.cli.people import play_human

        if host is None or port is None:
            raise DefinitionError("play human: expected HOST and PORT of a dealer")
        return play_human(host, port, game, deadline or 600.0, reveal, as_json)
    if reveal is not None:
        raise DefinitionError(f"--reveal with player {player!r}: it explains the bot to a person, as in 'play human'")
    from foldwise.agent.client import play_match
    from foldwise.agent.player import make_player
    from foldwise.agent.strategy_player import StrategyPlayer, check_same_game

    complete = at_http or (host is not None and port is not None)
    if (broker is None) != (table is None) or (broker is None) != complete:
        raise DefinitionError(
            "play: expected HOST and PORT of a dealer, the http address of a table, or --broker URL and --table NAME"
        )
    spec = _with_options(player_spec(player), postprocess, translation)
    made = make_player(spec, seed)
    definition = table_definition(game) if game is not None else None
    if isinstance(made, StrategyPlayer):
        definition = definition or made.definition
        check_same_game(definition, made.definition, made.name)
        if explain:
            made.listener = lambda decision: print(decision, file=sys.stderr, flush=True)
    elif explain:
        raise DefinitionError(f"--explain: player {player!r} is no strategy")
    if at_http and host is not None:
        from foldwise.cli.http_play import play_http

        rules = definition or table_definition("hunl")
        return play_http(made, spec, rules, host, hands, user, output, patience, as_json)
    if broker is not None and table is not None:
        report = play_remote(made, definition, broker, table, seat, deadline or 5.0, patience)
    else:
        assert host is not None and port is not None
        report = play_match(made, definition or table_definition("hunl"), host, port, deadline or 5.0)
    result = {
        "player": player,
        "hands": len(report.hands),
        "states": report.states,
        "decisions": report.decisions,
        "errors": report.errors,
        "late": report.late,
        "unreadable": report.unreadable,
    }
    summary = (
        f"{report.decisions} decisions in {len(report.hands)} hands; player errors {report.errors}, "
        f"late {report.late}, unreadable lines {report.unreadable}"
    )
    emit(result, as_json, lambda: stderr.print(summary))
    return 1 if report.faults else 0


def player_spec(text: str) -> str:
    """A player's name; a strategy folder may be given by its path alone."""

    folder = text.partition("|")[0]
    return f"strategy:{text}" if (Path(folder) / "manifest.json").is_file() else text


def _with_options(spec: str, postprocess: str | None, translation: str | None) -> str:
    if postprocess is None and translation is None:
        return spec
    if not spec.startswith("strategy:") or "|" in spec:
        raise DefinitionError(f"--postprocess, --translation: player {spec!r} is no plain strategy folder")
    return f"{spec}|{postprocess or ''}|{translation or ''}"


def startme(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A strategy folder, as solve writes it.")],
    postprocess: Annotated[str, typer.Option(help="Post-processing to play with, as in new(0.2).")] = "none",
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Write startme.sh beside a strategy: `startme.sh HOST PORT` is what competition scripts call.

    Example: foldwise startme runs/small --postprocess "new(0.2)"
    """
    import shlex

    from foldwise.agent.strategy_player import OpenStrategy
    from foldwise.postprocess.language import parse_pipeline

    OpenStrategy(directory)
    options = ["--postprocess", str(parse_pipeline(postprocess)), "--seed", str(seed)]
    script = directory / "startme.sh"
    script.write_text(
        "#!/bin/sh\n"
        "# Plays this strategy at an ACPC dealer: startme.sh HOST PORT\n"
        'folder=$(cd "$(dirname "$0")" && pwd)\n'
        f'exec {shlex.quote(sys.executable)} -m foldwise.cli.main play "$folder" "$1" "$2" {shlex.join(options)}\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    emit({"script": str(script)}, as_json, lambda: stdout.print(f"written to {script}"))


def resolve_player(spec: str) -> str:
    """The player with its paths absolute: players are started in folders of their own."""
    import shlex

    kind, colon, rest = spec.partition(":")
    if colon and kind == "cmd":
        parts = shlex.split(rest)
        if not parts or not Path(parts[0]).is_file():
            raise DefinitionError(f"player {spec!r}: expected cmd: and the path of a program")
        return "cmd:" + shlex.join([str(Path(parts[0]).resolve()), *parts[1:]])
    if colon and kind == "python":
        file, _, name = rest.rpartition(":")
        return f"python:{Path(file).resolve()}:{name}"
    if colon and kind == "strategy":
        folder, bar, pipeline = rest.partition("|")
        return f"strategy:{Path(folder).resolve()}{bar}{pipeline}"
    return spec


def match(
    a: Annotated[
        str | None, typer.Argument(help="A: bot:NAME, strategy:DIR, python:FILE.py:CLASS or cmd:PROGRAM.")
    ] = None,
    b: Annotated[str | None, typer.Argument(help="B, likewise.")] = None,
    hands: Annotated[
        int, typer.Option(help="Hands from each side: a duplicate match has twice as many.", min=1, max=MOST_HANDS)
    ] = 3000,
    game: Annotated[str, typer.Option(help="A two-player game's name, or the path of a .game file.")] = "hunl",
    over: Annotated[str, typer.Option(help="tcp (a dealer and processes) or memory (one process).")] = "memory",
    repeat: Annotated[int | None, typer.Option(help="Duplicate matches, each with a further seed.", min=1)] = None,
    until_ci: Annotated[
        float | None, typer.Option(help="Play on until the 95% half-width is at most this many mbb/h.", min=0.001)
    ] = None,
    all_in_ev: Annotated[
        bool, typer.Option("--all-in-ev", help="Average all-in hands over the cards to come.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Write every decision of a strategy beside the logs, for report.")
    ] = False,
    score: ScoreOption = "chips",
    jobs: Annotated[int | None, typer.Option(help="Runs at a time; default: one a core.", min=1)] = None,
    deadline: Annotated[float, typer.Option(help="Seconds a built-in player has for an answer.", min=0.001)] = 5.0,
    output: Annotated[str | None, typer.Option("-o", help="Folder for logs, players' output and result.json.")] = None,
    resume: Annotated[str | None, typer.Option(help="Continue the interrupted match of this folder.")] = None,
    broker: BrokerOption = None,
    patience: PatienceOption = 60.0,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> int:
    """Play a duplicate match: the same cards from both sides, and A's result in mbb per hand.

    Example: foldwise match bot:strength bot:random --hands 3000 --seed 7

    Example: foldwise match strategy:runs/small strategy:runs/tiny --score expectation --hands 500
    """
    from tempfile import TemporaryDirectory

    from foldwise.agent.player import check_player
    from foldwise.matches.duplicate.match import default_jobs
    from foldwise.matches.plan import MatchPlan, create_folder, load_plan
    from foldwise.matches.scoring.scorers import check_score

    if resume is not None:
        folder = Path(resume)
        plan = load_plan(folder)
        return _play_and_show(plan, folder, jobs or default_jobs(), as_json, broker, patience)
    if a is None or b is None:
        raise DefinitionError("players A and B: expected two, as in 'foldwise match bot:strength bot:random'")
    if over not in ("tcp", "memory"):
        raise DefinitionError(f"--over {over!r}: expected tcp or memory")
    players = (resolve_player(player_spec(a)), resolve_player(player_spec(b)))
    for player in players:
        check_player(player, over == "tcp")
    check_score(score, players)
    if all_in_ev and score != "chips":
        raise DefinitionError(f"--all-in-ev with --score {score}: each scores the hands its own way; give one")
    definition = table_definition(game)
    plan = MatchPlan(
        players=players,
        game=str(Path(game).resolve()) if Path(game).is_file() else game,
        definition=definition.to_text(),
        hands=hands,
        seed=seed % 2**32,
        repeat=repeat or (1000 if until_ci is not None else 1),
        over="tcp" if over == "tcp" else "memory",
        all_in_ev=all_in_ev,
        score=cast("Score", score),
        until_ci_mbb=until_ci,
        deadline_seconds=deadline,
        explain=explain,
    )
    if explain and output is None:
        raise DefinitionError("--explain without a folder to write to: give -o DIR")
    if output is not None:
        create_folder(Path(output), plan)
        return _play_and_show(plan, Path(output), jobs or default_jobs(), as_json, broker, patience)
    with TemporaryDirectory(prefix="foldwise-match-") as temporary:
        return _play_and_show(plan, Path(temporary), jobs or default_jobs(), as_json, broker, patience)


def _play_and_show(
    plan: "MatchPlan", folder: Path, jobs: int, as_json: bool, broker: str | None, patience: float
) -> int:
    from foldwise.matches.duplicate.match import play_match

    progress = ProgressLine("match")
    with feed_of(broker, plan, patience) as hands:
        result = play_match(plan, folder, jobs, progress.update, hands)
    if plan.explain:
        from foldwise.matches.report.explanations import write_explanations

        differing = write_explanations(plan, folder, result["matches"])
        if differing:
            progress.say(
                f"{differing} explained actions differ from the log: late answers, or a folder that has changed"
            )
    emit(result, as_json, lambda: _show_match(result))
    return 1 if result["faults"] else 0


def _show_match(result: dict[str, Any]) -> None:
    first, second = result["players"]
    half_width = "-" if result["ci95_mbb"] is None else f"{result['ci95_mbb']:.1f}"
    stdout.print(f"{first} against {second}, {result['game']}: {result['hands']} hands, {result['pairs']} pairs")
    mean = f"[bold]{result['mean_mbb']:+.1f} ± {half_width} mbb/h[/bold] (95%, {result['interval']})"
    stdout.print(mean, markup=True)
    if "chips" in result:
        chips, ratio = result["chips"], result["variance_ratio"]
        width = "-" if chips["ci95_mbb"] is None else f"{chips['ci95_mbb']:.1f}"
        times = "without variance" if ratio is None else f"of {ratio:,.1f} times the variance"
        stdout.print(f"  in chips {chips['mean_mbb']:+.1f} ± {width} mbb/h, {times}")
    for found in result["positions"]:
        stdout.print(f"  in position {found['position']}: {found['mean_mbb']:+.1f} mbb/h")
    stdout.print(f"{result['hands_per_second']:.0f} hands/s in {result['seconds']:.1f} s")
    if result["faults"]:
        stdout.print(f"{result['faults']} faults of the players: see their .err files")
