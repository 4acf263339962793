"""`foldwise score`: an ACPC log scored again, in chips, by all-in expectation and by AIVAT."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from foldwise.cli.options import JsonOption
from foldwise.cli.support.output import ProgressLine, emit, stdout, text_table
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.matches.scoring.log_scores import MethodScore


@dataclass(frozen=True, kw_only=True)
class ScoreRequest:
    log: Annotated[Path | None, typer.Argument(metavar="LOG", help="A dealer's log; its STATE lines are scored.")] = (
        None
    )
    strategy: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Strategy the player played; DIR|POST-PROCESSING|TRANSLATION as in match."),
    ] = None
    player: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The player's name in the log; by default the first one in its first hand."),
    ] = None
    opponent_strategy: Annotated[
        str | None, typer.Option(metavar="DIR", help="The opponent's strategy, if it is known too.")
    ] = None
    game: Annotated[
        str | None,
        typer.Option(help="The log's game; by default the strategy's, else the one the log names, else hunl."),
    ] = None
    fit: Annotated[
        bool, typer.Option("--fit", help="Compute the strategy's values again, even without a log to score.")
    ] = False
    boards: Annotated[
        int | None,
        typer.Option(help="With --fit: boards the values are computed on; by default 200.", min=1, max=10**6),
    ] = None
    seed: Annotated[int, typer.Option(help="Of the values with --fit; of the play of a strategy that searched.")] = 0
    as_json: JsonOption = False


class MethodResult(TypedDict):
    method: str
    mean_mbb: float
    ci95_mbb: float | None
    sd_mbb: float | None
    hands: int


class ScoreResult(TypedDict):
    log: str
    player: str
    hands: int
    methods: list[MethodResult]


class ValuesResult(TypedDict):
    values: list[str]
    boards: int


def score(request: ScoreRequest) -> None:
    """Score a log again: chips, all-in expectation, and with a strategy AIVAT; the log need not come from a duplicate match.

    AIVAT needs the strategy's values. They are computed at first use and kept in DIR/values.

    Example: foldwise score match.log --strategy runs/small --player small

    Example: foldwise score --fit --strategy runs/small --boards 500
    """
    from foldwise.agent.strategy_player import OpenStrategy
    from foldwise.cli.support.players import typed_strategy
    from foldwise.matches.duplicate.match import default_jobs
    from foldwise.matches.report.hand_files import log_definition
    from foldwise.matches.scoring.aivat_values import DEFAULT_BOARDS
    from foldwise.matches.scoring.log_scores import score_log
    from foldwise.matches.scoring.scorers import aivat_by_seeds

    log = request.log
    if log is None and not (request.fit and request.strategy is not None):
        raise DefinitionError("score: give a log, or --fit with --strategy DIR to make values")
    if request.strategy is None and (request.opponent_strategy is not None or request.fit):
        raise DefinitionError("score: --opponent-strategy and --fit need --strategy DIR")
    if log is not None and log.is_dir():
        logs = sorted(path.name for path in log.glob("*.log"))
        remedy = (
            f"give one of its logs, such as {str(log / logs[0])!r}" if logs else "it holds no logs; give a dealer's log"
        )
        raise DefinitionError(f"log {str(log)!r} is a folder: {remedy}")
    if log is not None and not log.is_file():
        raise DefinitionError(f"log {str(log)!r}: no such file")
    if request.boards is not None and not request.fit:
        raise DefinitionError("--boards is what values are made on: add --fit to compute them again, or leave it out")
    line = ProgressLine("score")
    typed = (request.strategy, request.opponent_strategy)
    specs = [typed_strategy(text) for text in typed if text is not None]
    if request.fit:
        _fit([spec.folder for spec in specs], request, line)
    if log is None:
        made = [str(spec.folder / "values") for spec in specs]
        values = ValuesResult(values=made, boards=request.boards or DEFAULT_BOARDS)
        emit(values, request.as_json, lambda: stdout.print(f"written to {', '.join(made)}"))
        return
    if request.game is not None or not specs:
        definition = log_definition(log, request.game, default="hunl")
    else:
        definition = OpenStrategy(specs[0].folder).definition
    aivat = aivat_by_seeds(definition, specs, default_jobs(), line.update)((request.seed,) * 2) if specs else None
    name, methods = score_log(log, definition, request.player, aivat, line.update)
    result = ScoreResult(
        log=str(log),
        player=name,
        hands=methods[0].estimate.count,
        methods=[_method_result(method) for method in methods],
    )
    emit(result, request.as_json, lambda: _show(result))


def _fit(folders: Sequence[Path], request: ScoreRequest, line: ProgressLine) -> None:
    """Compute the values of strategies again."""
    from foldwise.agent.strategy_player import OpenStrategy
    from foldwise.matches.duplicate.match import default_jobs
    from foldwise.matches.scoring.aivat_values import DEFAULT_BOARDS, make_values

    boards = request.boards or DEFAULT_BOARDS

    def listen(done: int) -> None:
        line.update(f"values, {done} boards", done / boards)

    for folder in folders:
        make_values(OpenStrategy(folder), boards, request.seed, default_jobs(), listen)


def _method_result(method: "MethodScore") -> MethodResult:
    found = method.estimate
    finite = found.count > 1
    return MethodResult(
        method=method.method,
        mean_mbb=found.mean_mbb,
        ci95_mbb=found.ci95_mbb if finite else None,
        sd_mbb=found.sd_mbb if finite else None,
        hands=found.count,
    )


def _show(result: ScoreResult) -> None:
    table = text_table(
        ("method", "mean", "95%", "sd a hand"), ("method",), f"{result['player']}, {result['hands']:,} hands, mbb/h"
    )
    for method in result["methods"]:
        width, sd = method["ci95_mbb"], method["sd_mbb"]
        shown = ("-", "-") if width is None or sd is None else (f"± {width:.1f}", f"{sd:,.0f}")
        table.add_row(method["method"], f"{method['mean_mbb']:+.1f}", *shown)
    stdout.print(table)
