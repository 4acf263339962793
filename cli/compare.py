"""`foldwise compare`: variants of one strategy x opponents, on the same deals."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table as TextTable

from foldwise.cli.lbr import LbrRequest, measure
from foldwise.cli.options import (
    MOST_HANDS,
    BoardsOption,
    BrokerOption,
    HandsOption,
    JsonOption,
    LogsOption,
    OverOption,
    OverwriteOption,
    PatienceOption,
    ResumeOption,
    ScoreOption,
    SeedOption,
    StrategyArgument,
    ThreadsOption,
    TranslationOption,
    output_option,
)
from foldwise.cli.support.output import ProgressLine, against, emit, plus_minus, stdout, text_table
from foldwise.cli.support.outputs import KEPT
from foldwise.cli.support.requests import holding
from foldwise.cli.support.search_option import SearchOption, with_search
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.agent.mappings.translation import Translation
    from foldwise.agent.player_spec import PlayerSpec
    from foldwise.matches.duplicate.comparison import Comparison, ComparisonResult, RowResult, Table
    from foldwise.matches.statistics import Estimate
    from foldwise.postprocess.pipeline import Pipeline

_HANDS = 50_000  # if neither --hands nor --boards is given
_BOARDS = 500
_RESULT = "comparison.json"
DEFAULT_VARIANTS = "none,threshold(0.15),purify,new(0.2)"


@dataclass(frozen=True, kw_only=True)
class CompareRequest:
    directory: StrategyArgument
    opponents: Annotated[
        list[str] | None,
        typer.Option(
            "--opponents", metavar="PLAYER", help="bot:NAME, strategy:DIR, a folder or cmd:PROGRAM; repeatable."
        ),
    ] = None
    more: Annotated[list[str] | None, typer.Argument(metavar="[PLAYER]...", help="Further opponents.")] = None
    variants: Annotated[str, typer.Option(help="Post-processings, separated by commas.")] = DEFAULT_VARIANTS
    sweep: Annotated[
        str | None, typer.Option(help="Instead of --variants, one with a sweep start:stop:step, as in new(0:0.5:0.05).")
    ] = None
    translation: TranslationOption = "pseudo-harmonic"
    hands: HandsOption = None
    boards: BoardsOption = None
    search: SearchOption = None
    score: ScoreOption = "chips"
    over: OverOption = "memory"
    threads: ThreadsOption = None
    exploit: Annotated[
        bool, typer.Option("--exploitability/--no-exploitability", help="Also print exploitability, if it is exact.")
    ] = True
    lbr: Annotated[
        bool, typer.Option("--lbr", help="Also print what local best response wins: fcpa from the turn; see 'lbr'.")
    ] = False
    lbr_hands: Annotated[
        int, typer.Option(help="With --lbr: hands from each position, for each variant.", min=2, max=MOST_HANDS)
    ] = 10_000
    output: Annotated[Path | None, output_option("Folder for JSON, CSV and the plot.")] = None
    logs: LogsOption = False
    broker: BrokerOption = None
    local: Annotated[bool, typer.Option("--local", help="With --broker: play here, and only publish the progress.")] = (
        False
    )
    resume: ResumeOption = False
    overwrite: OverwriteOption = False
    patience: PatienceOption = 60.0
    checked: Annotated[
        float,
        typer.Option(
            help="With --broker: share of the blocks that two workers play, compared bit for bit.", min=0.0, max=1.0
        ),
    ] = 0.02
    seed: SeedOption = 0
    as_json: JsonOption = False


@holding(lambda request: request.output, _RESULT, *KEPT)
def compare(request: CompareRequest) -> None:
    """Compare post-processings of one strategy against several opponents, on the same deals.

    With --broker the work is split over the workers there (foldwise worker); the result is the same, bit for bit.

    Example: foldwise compare runs/small --variants "none,purify,new(0.2)" --opponents bot:strength strategy:runs/tiny

    Example: foldwise compare runs/small --sweep "new(0:0.5:0.05)" --opponents bot:strength -o sweep

    Example: foldwise compare runs/small --opponents bot:strength --broker mqtt://127.0.0.1 -o big --hands 1000000
    """
    from foldwise.agent.mappings.translation import parse_translation
    from foldwise.agent.player_spec import PlayerKind, PlayerSpec
    from foldwise.agent.postprocessing.python_rules import resolve_rules
    from foldwise.cli.support.players import typed_players
    from foldwise.matches.duplicate.comparison import comparison_result
    from foldwise.matches.scoring.scorers import check_score
    from foldwise.search.language import parse_steps, parse_variants

    folder, output = request.directory.resolve(), request.output
    typed = resolve_rules(request.sweep if request.sweep is not None else request.variants)
    steps = [parse_steps(with_search(str(variant), request.search)) for variant in parse_variants(typed)]
    texts = list(map(str, steps))
    if len(set(texts)) < len(texts):
        raise DefinitionError(f"variants {', '.join(texts)}: one is given twice; give each once")
    players = typed_players([*(request.opponents or []), *(request.more or [])])
    if not players:
        raise DefinitionError("compare: give at least one opponent, as in --opponents bot:strength")
    _check_broker(request)
    for player in players:
        for text in texts:
            check_score(request.score, (PlayerSpec(PlayerKind.STRATEGY, str(folder), text), player))
    table = _table(folder, texts, players, request)
    comparison = _compare(table, texts, players, parse_translation(request.translation), request)
    exploitability: Sequence[float | None] = [None] * len(texts)
    boards_counted = None
    if request.exploit:
        tables = [step.pipeline if step.search is None else None for step in steps]
        exploitability, boards_counted = _exploitability(folder, tables)
    result = comparison_result(comparison, exploitability, strategy=str(folder), seed=request.seed, score=request.score)
    if boards_counted is not None:
        result["boards_counted"] = boards_counted
    if request.lbr:
        _add_lbr(result["rows"], request)
    written = None
    try:
        if output is not None:
            _write(output, result, request.sweep)
            written = output
    finally:  # the result is printed even if the disk is full
        emit(result, request.as_json, lambda: _show(result, written))


def _check_broker(request: CompareRequest) -> None:
    split = request.broker is not None and not request.local
    if split and request.resume and request.output is None:
        raise DefinitionError("--resume needs the folder: give -o DIR")
    if split and request.score != "chips":
        raise DefinitionError(
            f"--score {request.score} with --broker: workers count chips; add --local to score it here"
        )


def _table(
    folder: Path, variants: Sequence[str], opponents: "Sequence[PlayerSpec]", request: CompareRequest
) -> "Table":
    from foldwise.abstraction.storage.array_store import check_writable
    from foldwise.agent.player_spec import PlayerKind, PlayerSpec
    from foldwise.agent.strategy_player import OpenStrategy
    from foldwise.cli.support.counts import counted_by, hands_or_boards
    from foldwise.cli.support.kept_matches import matches_folder, open_cells, open_output
    from foldwise.matches.duplicate.asked import keep_asked, player_text
    from foldwise.matches.duplicate.comparison import Table
    from foldwise.matches.duplicate.match import default_jobs

    if request.over not in ("tcp", "memory"):
        raise DefinitionError(f"--over {request.over!r}: expected tcp or memory")
    opened = OpenStrategy(folder)
    split = request.broker is not None and not request.local  # then the coordinator keeps the blocks
    open_output(request.output, _RESULT, request.resume, request.overwrite, split)
    if request.output is not None:
        check_writable(request.output)
    hands = hands_or_boards(
        request.hands, request.boards, request.score, _BOARDS if request.score == "expectation" else _HANDS
    )
    seed = request.seed % 2**32
    if request.output is not None:
        asked = {
            "strategy": player_text(PlayerSpec(PlayerKind.STRATEGY, str(folder))),
            "--variants": list(variants),
            "--opponents": list(map(player_text, opponents)),
            "--translation": request.translation,
            counted_by(request.score): hands,
            "--score": request.score,
            "--seed": seed,
            "--lbr-hands": request.lbr_hands if request.lbr else None,
            "--exploitability": request.exploit or None,
        }
        keep_asked(request.output, _RESULT, asked, request.resume)
    return Table(
        game=opened.strategy.manifest.game,
        definition=opened.definition,
        hands=hands,
        seed=seed,
        over=request.over,
        jobs=request.threads or default_jobs(),
        folder=matches_folder(request.output, request.logs, request.score),
        score=request.score,
        cells=None if split else open_cells(request.output, opened.definition, hands, seed, request.score),
    )


def _compare(
    table: "Table",
    variants: Sequence[str],
    opponents: "Sequence[PlayerSpec]",
    translation: "Translation",
    request: CompareRequest,
) -> "Comparison":
    """Play here, play here and publish the progress, or let the workers at a broker play."""
    folder, line = request.directory.resolve(), ProgressLine("compare")
    if request.broker is None:
        from foldwise.matches.duplicate.comparison import compare

        return compare(table, folder, variants, opponents, line.update, translation)
    from foldwise.cli.support.network_comparison import NetworkComparison

    network = NetworkComparison(
        table, folder, variants, opponents, translation, request.broker, request.patience, request.checked
    )
    return network.publish(line) if request.local else network.split(line, request.output, request.resume)


def _add_lbr(rows: "Sequence[RowResult]", request: CompareRequest) -> None:
    """Add what each variant loses to local best response to its row; all variants face the same deals."""
    line = ProgressLine("lbr")
    for number, row in enumerate(rows):

        def listen(done: int, found: "Estimate", row: "RowResult" = row, number: int = number) -> None:
            share = (number + done / request.lbr_hands) / len(rows)
            line.update(f"{row['variant']} {found.mean_mbb:+.0f} ± {found.ci95_mbb:.0f} mbb/h", share)

        asked = LbrRequest(
            directory=request.directory,
            postprocess=row["variant"],
            translation=request.translation,
            hands=request.lbr_hands,
            threads=request.threads,
            seed=request.seed,
        )
        total = measure(asked, listen)[0].total
        row["lbr_mbb"], row["lbr_ci95_mbb"], row["lbr_hands"] = total.mean_mbb, total.ci95_mbb, 2 * total.count


def _exploitability(folder: Path, pipelines: "Sequence[Pipeline | None]") -> tuple[list[float | None], int | None]:
    """Exploitability of each variant if the abstract game has an exact best response, and the number of boards if sampled.

    None stands for a variant that searches: it does not play in the abstract game.
    """
    from foldwise.abstraction.build import load_abstract_game
    from foldwise.abstraction.strategy import Strategy
    from foldwise.cli.support.policies import postprocessed_policy
    from foldwise.solver.response.responses import has_response, make_response

    strategy = Strategy(folder)
    if strategy.manifest.history and strategy.manifest.history[-1].exploitability_mbb is None:
        return [None] * len(pipelines), None  # the solver had none either: do not build the deals just to find out
    game = load_abstract_game(strategy)
    if not has_response(game):
        return [None] * len(pipelines), None
    response = make_response(game)
    answers = [
        None if pipeline is None else response.exploitability(postprocessed_policy(strategy, game, pipeline))
        for pipeline in pipelines
    ]
    counted = next((answer.boards_counted for answer in answers if answer is not None), None)
    return [None if answer is None else answer.exploitability_mbb for answer in answers], counted


def _write(output: Path, result: "ComparisonResult", sweep: str | None) -> None:
    from foldwise.cli.support.comparison_pictures import draw_comparison, draw_sweep
    from foldwise.matches.result_file import write_result

    known = ("exploitability_mbb", "lbr_mbb", "lbr_ci95_mbb")
    rows: list[list[object]] = [["variant", "opponent", "mean_mbb", "ci95_mbb", "hands", *known]]
    for row in result["rows"]:
        last = [row.get(key, "") for key in known]
        for cell in row["results"]:
            values = (cell["opponent"], cell["mean_mbb"], cell["ci95_mbb"], cell["hands"])
            rows.append([row["variant"], *values, *last])
        rows.append([row["variant"], "average", row["avg_mbb"], row["avg_ci95_mbb"], "", *last])
    differences: list[list[object]] = [["a", "b", "opponent", "mean_mbb", "ci95_mbb"]]
    for entry in result["differences"]:
        for cell in entry["results"]:
            differences.append([entry["a"], entry["b"], cell["opponent"], cell["mean_mbb"], cell["ci95_mbb"]])
        differences.append([entry["a"], entry["b"], "average", entry["mean_mbb"], entry["ci95_mbb"]])
    write_result(output / _RESULT, result, {"comparison.csv": rows, "differences.csv": differences})
    picture = output / "comparison.png"
    if sweep is not None:
        draw_sweep(result, sweep, picture)
    else:
        draw_comparison(result, picture)


def _show(result: "ComparisonResult", output: Path | None) -> None:
    from foldwise.agent.player_spec import parse_player
    from foldwise.matches.report.report import num_hands_text, rate_text

    opponents = [parse_player(opponent).short() for opponent in result["opponents"]]
    counted = num_hands_text(result["rows"][0]["results"][0]["hands"], result["score"])
    known = any("exploitability_mbb" in row for row in result["rows"])
    with_lbr = any("lbr_mbb" in row for row in result["rows"])
    table = TextTable(
        box=None, header_style="bold", title=f"mbb/h with 95% intervals, {counted} a cell, by {result['score']}"
    )
    headings = ["variant", *opponents, "average", "minimum", *(["exploitability"] if known else [])]
    headings += ["loses to lbr"] if with_lbr else []
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "variant" else "right")
    for row in result["rows"]:
        cells = [plus_minus(cell["mean_mbb"], cell["ci95_mbb"]) for cell in row["results"]]
        average = plus_minus(row["avg_mbb"], row["avg_ci95_mbb"])
        exact = row.get("exploitability_mbb")
        last = ["-" if exact is None else f"{exact:.2f}"] if known else []
        last += [plus_minus(row["lbr_mbb"], row["lbr_ci95_mbb"])] if with_lbr else []
        table.add_row(row["variant"], *cells, average, f"{row['min_mbb']:+.1f}", *last)
    stdout.print(table)
    if "boards_counted" in result:
        stdout.print(f"exploitability{against(result['boards_counted'])}")
    if result["differences"]:
        table = text_table(("variants", *opponents, "average"), ("variants",), "differences on the same deals, mbb/h")
        for entry in result["differences"]:
            cells = [plus_minus(cell["mean_mbb"], cell["ci95_mbb"]) for cell in entry["results"]]
            name = f"{entry['a']} over {entry['b']}"
            table.add_row(name, *cells, plus_minus(entry["mean_mbb"], entry["ci95_mbb"]))
        stdout.print(table)
    stdout.print(f"{rate_text(result['hands_per_second'], result['score'])} in {result['seconds']:.1f} s")
    if output is not None:
        stdout.print(f"written to {output}")
