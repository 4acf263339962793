"""`foldwise match`: two players, the same cards from both sides."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from foldwise.cli.options import MOST_HANDS, BrokerOption, JsonOption, PatienceOption, ScoreOption, SeedOption
from foldwise.cli.support.output import ProgressLine, emit, stdout
from foldwise.cli.support.requests import holding
from foldwise.cli.support.search_option import searching
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.matches.duplicate.match import RunListener
    from foldwise.matches.plan import MatchPlan
    from foldwise.matches.results import MatchResult


@dataclass(frozen=True, kw_only=True)
class MatchRequest:
    a: Annotated[
        str | None,
        typer.Argument(
            help="A: bot:NAME, strategy:DIR, python:FILE.py:CLASS or cmd:PROGRAM; NAME= before it names it."
        ),
    ] = None
    b: Annotated[str | None, typer.Argument(help="B, likewise.")] = None
    hands: Annotated[
        int, typer.Option(help="Hands from each side: a duplicate match has twice as many.", min=1, max=MOST_HANDS)
    ] = 3000
    game: Annotated[str, typer.Option(help="A two-player game's name, or the path of a .game file.")] = "hunl"
    over: Annotated[str, typer.Option(help="tcp (a dealer and processes) or memory (one process).")] = "memory"
    repeat: Annotated[int | None, typer.Option(help="Duplicate matches, each with a further seed.", min=1)] = None
    until_ci: Annotated[
        float | None, typer.Option(help="Play on until the 95% half-width is at most this many mbb/h.", min=0.001)
    ] = None
    all_in_ev: Annotated[bool, typer.Option("--all-in-ev", help="Average all-in hands over the cards to come.")] = False
    explain: Annotated[
        bool, typer.Option("--explain", help="Write every decision of a strategy beside the logs, for report.")
    ] = False
    search: Annotated[str, typer.Option(help="A solves turn and river while it plays: fast, normal or deep.")] = "off"
    score: ScoreOption = "chips"
    jobs: Annotated[int | None, typer.Option(help="Runs at a time; default: one a core.", min=1)] = None
    deadline: Annotated[float, typer.Option(help="Seconds a built-in player has for an answer.", min=0.001)] = 5.0
    output: Annotated[str | None, typer.Option("-o", help="Folder for logs, players' output and result.json.")] = None
    resume: Annotated[str | None, typer.Option(help="Continue the interrupted match of this folder.")] = None
    broker: BrokerOption = None
    patience: PatienceOption = 60.0
    seed: SeedOption = 0
    as_json: JsonOption = False


def _folder(request: "MatchRequest") -> Path | None:
    chosen = request.resume or request.output
    return None if chosen is None else Path(chosen)


@holding(_folder)
def match(request: MatchRequest) -> int:
    """Play a duplicate match: the same cards from both sides, and A's result in mbb per hand.

    Example: foldwise match bot:strength bot:random --hands 3000 --seed 7

    Example: foldwise match strategy:runs/small strategy:runs/tiny --score expectation --hands 500

    Example: foldwise match runs/small runs/small --search fast --hands 200

    Example: foldwise match "careful=strategy:runs/small|new(0.2)" "raw=strategy:runs/small"
    """
    from foldwise.matches.plan import create_folder, load_plan

    if request.resume is not None:
        folder = Path(request.resume)
        return _play_and_show(load_plan(folder), folder, request)
    plan = _plan(request)
    if request.output is not None:
        create_folder(Path(request.output), plan)
        return _play_and_show(plan, Path(request.output), request)
    with TemporaryDirectory(prefix="foldwise-match-") as temporary:
        return _play_and_show(plan, Path(temporary), request)


def _plan(request: MatchRequest) -> "MatchPlan":
    from foldwise.cli.support.players import typed_players
    from foldwise.cli.support.table_game import table_definition
    from foldwise.matches.plan import MatchPlan
    from foldwise.matches.scoring.scorers import check_score
    from foldwise.search.players import check_player

    if request.a is None or request.b is None:
        raise DefinitionError("players A and B: expected two, as in 'foldwise match bot:strength bot:random'")
    if request.over not in ("tcp", "memory"):
        raise DefinitionError(f"--over {request.over!r}: expected tcp or memory")
    first, second = typed_players((request.a, request.b))
    first = searching(first, request.search)
    for player in (first, second):
        check_player(player, request.over == "tcp")
    check_score(request.score, (first, second))
    if request.all_in_ev and request.score != "chips":
        raise DefinitionError(f"--all-in-ev with --score {request.score}: each scores the hands its own way; give one")
    if request.explain and request.output is None:
        raise DefinitionError("--explain without a folder to write to: give -o DIR")
    return MatchPlan(
        players=(first, second),
        game=str(Path(request.game).resolve()) if Path(request.game).is_file() else request.game,
        definition=table_definition(request.game).to_text(),
        hands=request.hands,
        seed=request.seed % 2**32,
        repeat=request.repeat or (1000 if request.until_ci is not None else 1),
        over="tcp" if request.over == "tcp" else "memory",
        all_in_ev=request.all_in_ev,
        score=request.score,
        until_ci_mbb=request.until_ci,
        deadline_seconds=request.deadline,
        explain=request.explain,
    )


@contextmanager
def _feed(url: str | None, plan: "MatchPlan", patience: float) -> "Iterator[RunListener | None]":
    """Who listens to a match's hands: its feed at a broker for as long as the block lasts, or nobody."""
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
    with _feed(request.broker, plan, request.patience) as hands:
        result = play_match(plan, folder, request.jobs or default_jobs(), progress.update, hands)
    if plan.explain:
        from foldwise.matches.report.explanations import write_explanations

        differing = write_explanations(plan, folder, result["matches"])
        if differing:
            progress.say(
                f"{differing} explained actions differ from the log: late answers, or a folder that has changed"
            )
    emit(result, request.as_json, lambda: _show_match(result))
    return 1 if result["faults"] else 0


def _show_match(result: "MatchResult") -> None:
    from foldwise.agent.player_spec import parse_player

    first, second = (parse_player(player).short() for player in result["players"])
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
    if "search" in result:
        searched = result["search"]
        stdout.print(
            f"search: {searched['solves']} solves, {searched['fallbacks']} fallbacks; half of the decisions within "
            f"{searched['seconds_p50']:.2f} s, 99% within {searched['seconds_p99']:.2f} s, all within "
            f"{searched['seconds_max']:.2f} s"
        )
    if result["faults"]:
        stdout.print(f"{result['faults']} faults of the players: see their .err files")
