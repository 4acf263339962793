"""`foldwise match`: two players, the same cards from both sides."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from foldwise.cli.options import (
    MOST_HANDS,
    SCORE_HELP,
    BoardsOption,
    BrokerOption,
    JsonOption,
    PatienceOption,
    ThreadsOption,
    output_option,
)
from foldwise.cli.support.interrupts import going_on
from foldwise.cli.support.output import ProgressLine, emit, stderr, stdout
from foldwise.cli.support.outputs import check_folder_for
from foldwise.cli.support.requests import holding
from foldwise.cli.support.search_option import searching
from foldwise.game.errors import DefinitionError, ProtocolError

if TYPE_CHECKING:
    from foldwise.matches.duplicate.match import RunListener
    from foldwise.matches.plan import MatchPlan
    from foldwise.matches.results import MatchResult


@dataclass(frozen=True, kw_only=True)
class MatchRequest:
    a: Annotated[
        str | None,
        typer.Argument(
            help="A: bot:NAME, strategy:DIR, default, champion, python:FILE.py:CLASS or cmd:PROGRAM; NAME= before it "
            "names it."
        ),
    ] = None
    b: Annotated[str | None, typer.Argument(help="B, written the same way.")] = None
    hands: Annotated[
        int | None,
        typer.Option(
            help="Hands from each side: a duplicate match has twice as many; by default 3000.", min=1, max=MOST_HANDS
        ),
    ] = None
    boards: BoardsOption = None
    game: Annotated[
        str | None,
        typer.Option(
            help="A two-player game's name, or the path of a .game file; by default that of the first strategy, else hunl."
        ),
    ] = None
    over: Annotated[
        str | None,
        typer.Option(help="tcp (a dealer and processes) or memory (one process): the default, except for cmd:."),
    ] = None
    repeat: Annotated[int | None, typer.Option(help="Duplicate matches, each with the next seed.", min=1)] = None
    until_ci: Annotated[
        float | None, typer.Option(help="Keep playing until the 95% half-width is at most this many mbb/h.", min=0.001)
    ] = None
    all_in_ev: Annotated[bool, typer.Option("--all-in-ev", help="Average all-in hands over the cards to come.")] = False
    explain: Annotated[
        bool, typer.Option("--explain", help="Write every decision of a strategy beside the logs, for report.")
    ] = False
    search: Annotated[
        str | None,
        typer.Option(help="A solves turn and river while it plays: fast, normal or deep; off also for champion."),
    ] = None
    score: Annotated[str | None, typer.Option(help=f"{SCORE_HELP} By default chips.")] = None
    threads: ThreadsOption = None
    deadline: Annotated[
        float | None, typer.Option(help="Seconds a built-in player has for an answer; by default 5.", min=0.001)
    ] = None
    output: Annotated[Path | None, output_option("Folder for logs, players' output and result.json.")] = None
    resume: Annotated[bool, typer.Option("--resume", help="Continue the interrupted match in the folder of -o.")] = (
        False
    )
    broker: BrokerOption = None
    patience: PatienceOption = 60.0
    seed: Annotated[int | None, typer.Option(help="Seed of every random number drawn; by default 0.")] = None
    as_json: JsonOption = False


@holding(lambda request: request.output)
def match(request: MatchRequest) -> int:
    """Play a duplicate match: the same cards from both sides, and A's result in mbb per hand.

    Example: foldwise match bot:strength bot:random --hands 3000 --seed 7

    Example: foldwise match strategy:runs/small strategy:runs/tiny --score expectation --boards 500

    Example: foldwise match runs/small runs/small --search fast --hands 200

    Example: foldwise match "careful=strategy:runs/small|new(0.2)" "raw=strategy:runs/small"

    Example: foldwise match champion bot:strength --hands 100

    Example: foldwise match -o runs/match --resume
    """
    from foldwise.matches.plan import PLAN_FILE, create_folder, load_plan

    output = request.output
    if request.resume:
        if output is None:
            raise DefinitionError("--resume: give the folder of the match, as in -o DIR --resume")
        plan = load_plan(output)
        _check_resumed(plan, request)
        return _play_and_show(plan, output, request)
    plan = _plan(request)
    if output is not None:
        check_folder_for(output, PLAN_FILE)
        create_folder(output, plan)
        return _play_and_show(plan, output, request)
    with TemporaryDirectory(prefix="foldwise-match-") as temporary:
        return _play_and_show(plan, Path(temporary), request)


def _check_resumed(plan: "MatchPlan", request: MatchRequest) -> None:
    """A resumed match keeps its settings: whatever is given again must be the same."""
    from foldwise.cli.support.players import own_search, typed_player

    typed = [None if player is None else typed_player(player) for player in (request.a, request.b)]
    game = None if request.game is None else _game_name(request.game)
    given: list[tuple[str, object, object]] = [
        ("A", typed[0] and searching(typed[0], request.search, own_search(request.a or "")), plan.players[0]),
        ("B", typed[1], plan.players[1]),
        ("--hands", request.hands, plan.hands),
        ("--boards", request.boards, plan.hands),
        ("--game", game, plan.game),
        ("--over", request.over, plan.over),
        ("--repeat", request.repeat, plan.repeat),
        ("--until-ci", request.until_ci, plan.until_ci_mbb),
        ("--all-in-ev", request.all_in_ev or None, plan.all_in_ev),
        ("--explain", request.explain or None, plan.explain),
        ("--score", request.score, plan.score),
        ("--deadline", request.deadline, plan.deadline_seconds),
        ("--seed", None if request.seed is None else request.seed % 2**32, plan.seed),
    ]
    differing = [f"{name} {now}, there {then}" for name, now, then in given if now is not None and now != then]
    if differing:
        raise DefinitionError(
            f"{str(request.output)!r} holds another match ({'; '.join(differing)}): leave these out to continue it, or "
            "give another folder without --resume"
        )


def _game_name(game: str) -> str:
    return str(Path(game).resolve()) if Path(game).is_file() else game


def _plan(request: MatchRequest) -> "MatchPlan":
    from foldwise.agent.player_spec import PlayerKind
    from foldwise.cli.support.counts import hands_or_boards
    from foldwise.cli.support.players import own_search, typed_players
    from foldwise.cli.support.table_game import players_game
    from foldwise.matches.plan import MatchPlan
    from foldwise.matches.scoring.scorers import check_score
    from foldwise.search.players import check_player

    if request.a is None or request.b is None:
        raise DefinitionError("players A and B: expected two, as in 'foldwise match bot:strength bot:random'")
    first, second = typed_players((request.a, request.b))
    first = searching(first, request.search, own_search(request.a))
    external = PlayerKind.PROGRAM in (first.kind, second.kind)
    over = request.over or ("tcp" if external else "memory")
    if over not in ("tcp", "memory"):
        raise DefinitionError(f"--over {over!r}: expected tcp or memory")
    for player in (first, second):
        check_player(player, over == "tcp")
    game, definition = players_game(request.game, (first, second))
    score = request.score or "chips"
    check_score(score, (first, second))
    if request.all_in_ev and score != "chips":
        raise DefinitionError(f"--all-in-ev with --score {score}: each scores the hands its own way; give one")
    if request.explain and request.output is None:
        raise DefinitionError("--explain without a folder to write to: give -o DIR")
    return MatchPlan(
        players=(first, second),
        game=_game_name(game),
        definition=definition.to_text(),
        hands=hands_or_boards(request.hands, request.boards, score, 3000),
        seed=(request.seed or 0) % 2**32,
        repeat=request.repeat or (1000 if request.until_ci is not None else 1),
        over="tcp" if over == "tcp" else "memory",
        all_in_ev=request.all_in_ev,
        score=score,
        until_ci_mbb=request.until_ci,
        deadline_seconds=request.deadline or 5.0,
        explain=request.explain,
    )


@contextmanager
def _feed(url: str | None, plan: "MatchPlan", patience: float) -> "Iterator[RunListener | None]":
    """The listener of a match's hands: its feed at a broker while the block runs, or None."""
    if url is None:
        yield None
        return
    from foldwise.cli.support.broker import open_broker, say
    from foldwise.game.definition import parse_definition
    from foldwise.matches.network.feed import MatchProgress, match_info, new_match_id, published
    from foldwise.matches.plan import PLAN_FILE

    opened = open_broker(url)
    unit = parse_definition(plan.definition, source=PLAN_FILE).big_blind
    info = match_info(new_match_id(plan.game.rpartition("/")[2]), plan)
    say(f"match {info.match} at {opened}")
    with published(opened, info, say, patience) as feed:
        yield MatchProgress(plan, unit, feed).listener


def _play_and_show(plan: "MatchPlan", folder: Path, request: MatchRequest) -> int:
    from foldwise.matches.duplicate.match import default_jobs, play_match

    progress = ProgressLine("match")
    how = (
        f"continue with: foldwise match -o {quote(str(folder))} --resume"
        if request.output
        else "give -o DIR to keep what was played"
    )
    with going_on(how), _feed(request.broker, plan, request.patience) as hands:
        try:
            result = play_match(plan, folder, request.threads or default_jobs(), progress.update, hands)
        except ProtocolError as error:
            where = f"all output is in {folder}; " if request.output else ""
            raise ProtocolError(f"{error}; {where}{how}") from error
    if plan.explain:
        from foldwise.matches.report.explanations import write_explanations

        differing = write_explanations(plan, folder, result["matches"])
        if differing:
            progress.say(
                f"{differing} explained actions differ from the log: late answers, or a folder that has changed"
            )
    if result["faults"]:
        where = f"; players' output is in {folder}" if request.output and plan.over == "tcp" else ""
        stderr.print(f"{result['faults']} faults of the players, answered by a check or fold{where}; the first:")
        stderr.print(result["first_fault"].rstrip())
    emit(result, request.as_json, lambda: _show_match(result))
    return 1 if result["faults"] else 0


def _show_match(result: "MatchResult") -> None:
    from foldwise.agent.player_spec import parse_player
    from foldwise.matches.report.report import rate_text

    first, second = (parse_player(player).short() for player in result["players"])
    half_width = "-" if result["ci95_mbb"] is None else f"{result['ci95_mbb']:.1f}"
    counted = f"{result['hands']} hands, {result['pairs']} pairs"
    if result["score"] == "expectation":
        counted = f"{result['pairs']} boards"
    stdout.print(f"{first} against {second}, {result['game']}: {counted}, by {result['score']}")
    mean = f"[bold]{result['mean_mbb']:+.1f} ± {half_width} mbb/h[/bold] (95%, {result['interval']})"
    stdout.print(mean, markup=True)
    if "chips" in result:
        chips, ratio = result["chips"], result["variance_ratio"]
        width = "-" if chips["ci95_mbb"] is None else f"{chips['ci95_mbb']:.1f}"
        times = "without variance" if ratio is None else f"of {ratio:,.1f} times the variance"
        stdout.print(f"  in chips {chips['mean_mbb']:+.1f} ± {width} mbb/h, {times}")
    for found in result["positions"]:
        stdout.print(f"  in position {found['position']}: {found['mean_mbb']:+.1f} mbb/h")
    stdout.print(f"{rate_text(result['hands_per_second'], result['score'])} in {result['seconds']:.1f} s")
    if "search" in result:
        searched = result["search"]
        stdout.print(
            f"search: {searched['solves']} solves, {searched['fallbacks']} fallbacks; half of the decisions within "
            f"{searched['seconds_p50']:.2f} s, 99% within {searched['seconds_p99']:.2f} s, all within "
            f"{searched['seconds_max']:.2f} s"
        )
