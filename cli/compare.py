"""`foldwise compare` and `foldwise tournament`: variants x opponents, and the cross table of all pairs."""

import csv
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table as TextTable

from foldwise.cli.comparison_pictures import draw_comparison, draw_sweep, short_name
from foldwise.cli.lbr import add_lbr
from foldwise.cli.network import BrokerOption, PatienceOption, compare_published, compare_split
from foldwise.cli.offline import StrategyArgument
from foldwise.cli.online import ScoreOption, player_spec, resolve_player, table_definition
from foldwise.cli.output import MOST_HANDS, JsonOption, ProgressLine, SeedOption, against, emit, stdout
from foldwise.game.errors import DefinitionError
from foldwise.matches.plan import written_whole

if TYPE_CHECKING:
    from foldwise.matches.duplicate.comparison import Table

DEFAULT_VARIANTS = "none,threshold(0.15),purify,new(0.2)"
HandsOption = Annotated[
    int, typer.Option(help="Hands from each side, on the same cards in every match.", min=2, max=MOST_HANDS)
]
OverOption = Annotated[str, typer.Option(help="memory (compiled) or tcp (a dealer and processes).")]
LogsOption = Annotated[
    bool, typer.Option("--logs", help="Keep every match in DIR/matches, with its hands for report; slower.")
]
JobsOption = Annotated[int | None, typer.Option(help="Threads; default: one a core.", min=1)]


def register(app: typer.Typer) -> None:
    app.command("compare")(compare)
    app.command("tournament")(tournament)


def compare(
    directory: StrategyArgument,
    opponents: Annotated[
        list[str] | None,
        typer.Option(
            "--opponents", metavar="PLAYER", help="bot:NAME, strategy:DIR, a folder or cmd:PROGRAM; repeatable."
        ),
    ] = None,
    more: Annotated[list[str] | None, typer.Argument(metavar="[PLAYER]...", help="Further opponents.")] = None,
    variants: Annotated[str, typer.Option(help="Post-processings, parted by commas.")] = DEFAULT_VARIANTS,
    sweep: Annotated[
        str | None, typer.Option(help="Instead of --variants, one with a sweep start:stop:step, as new(0:0.5:0.05).")
    ] = None,
    translation: Annotated[
        str, typer.Option(help="How DIR reads bets of other sizes; see 'foldwise play --help'.")
    ] = "pseudo-harmonic",
    hands: HandsOption = 50_000,
    score: ScoreOption = "chips",
    over: OverOption = "memory",
    jobs: JobsOption = None,
    exploit: Annotated[
        bool, typer.Option("--exploitability/--no-exploitability", help="Beside chips, where it is exact.")
    ] = True,
    lbr: Annotated[
        bool, typer.Option("--lbr", help="Local best response beside what is won: fcpa from the turn; see 'lbr'.")
    ] = False,
    lbr_hands: Annotated[
        int, typer.Option(help="Hands of it from each position, for each variant.", min=2, max=MOST_HANDS)
    ] = 10_000,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder for JSON, CSV and the plot.")
    ] = None,
    logs: LogsOption = False,
    broker: BrokerOption = None,
    local: Annotated[
        bool, typer.Option("--local", help="With --broker: play here, and only publish how it stands.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="With --broker and -o: go on with the comparison begun there.")
    ] = False,
    patience: PatienceOption = 60.0,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Compare post-processings of one strategy against several opponents, on the same deals.

    With --broker the work is split over the workers there (foldwise worker); the result is the same, bit for bit.

    Example: foldwise compare runs/small --variants "none,purify,new(0.2)" --opponents bot:strength strategy:runs/tiny

    Example: foldwise compare runs/small --sweep "new(0:0.5:0.05)" --opponents bot:strength -o sweep

    Example: foldwise compare runs/small --opponents bot:strength --broker mqtt://127.0.0.1 -o big --hands 1000000
    """
    from foldwise.abstraction.storage.array_store import check_writable
    from foldwise.agent.translation import parse_translation
    from foldwise.matches.duplicate import comparison as comparisons
    from foldwise.matches.scoring.scorers import check_score
    from foldwise.postprocess.language import parse_pipeline, parse_variants

    folder = directory.resolve()
    texts = [str(pipeline) for pipeline in parse_variants(sweep if sweep is not None else variants)]
    if len(set(texts)) < len(texts):
        raise DefinitionError(f"variants {', '.join(texts)}: one stands there twice; give each once")
    players = [resolve_player(player_spec(player)) for player in [*(opponents or []), *(more or [])]]
    if not players:
        raise DefinitionError("compare: give at least one opponent, as in --opponents bot:strength")
    if resume and (broker is None or local or output is None):
        raise DefinitionError("--resume goes with --broker and -o, and not with --local: that is what is kept on disk")
    if broker is not None and not local and score != "chips":
        raise DefinitionError(f"--score {score} with --broker: workers count chips; add --local to score it here")
    for player in players:
        check_score(score, (f"strategy:{folder}", player))
    table = _table(folder, hands, seed, over, jobs)
    if output is not None:
        check_writable(output)
    table = replace(table, folder=_logs_folder(output, logs, score), score=score)
    line = ProgressLine("compare")
    mapping = str(parse_translation(translation))
    if broker is None:
        comparison = comparisons.compare(table, folder, texts, players, line.update, mapping)
    elif local:
        comparison = compare_published(table, folder, texts, players, mapping, line, broker, patience)
    else:
        comparison = compare_split(table, folder, texts, players, mapping, line, broker, patience, output, resume)
    exploitability: list[float | None] = [None] * len(texts)
    boards_counted = None
    if exploit:
        exploitability, boards_counted = _exploitability(folder, [parse_pipeline(text) for text in texts])
    result = {
        "strategy": str(folder),
        "seed": seed,
        "score": score,
        **comparisons.comparison_dict(comparison, exploitability),
    }
    if boards_counted is not None:
        result["boards_counted"] = boards_counted
    if lbr:
        add_lbr(result["rows"], folder, translation, lbr_hands, jobs, seed)
    written = None
    try:
        if output is not None:
            _write(output, result, sweep)
            written = output
    finally:  # a full disk does not take the result along
        emit(result, as_json, lambda: _show(result, written))


def _table(folder: Path, hands: int, seed: int, over: str, jobs: int | None) -> "Table":
    from foldwise.agent.strategy_player import OpenStrategy
    from foldwise.matches.duplicate.comparison import Table
    from foldwise.matches.duplicate.match import default_jobs

    if over not in ("tcp", "memory"):
        raise DefinitionError(f"--over {over!r}: expected tcp or memory")
    opened = OpenStrategy(folder)
    opened.verify()
    game = opened.strategy.manifest.game
    return Table(game, opened.definition, hands, seed % 2**32, over, jobs or default_jobs())


def _logs_folder(output: Path | None, logs: bool, score: str) -> Path | None:
    """Where the matches are kept, if they are; a new folder."""
    if not logs:
        return None
    if score == "expectation":
        raise DefinitionError("--logs with --score expectation: no hand is played, so there is no log; leave one out")
    if output is None:
        raise DefinitionError("--logs without a folder to write to: give -o DIR")
    folder = output / "matches"
    if folder.exists():
        raise DefinitionError(f"{str(folder)!r} holds matches: give another folder with -o")
    folder.mkdir(parents=True)
    return folder


def _exploitability(folder: Path, pipelines: Sequence[Any]) -> tuple[list[float | None], int | None]:
    """Of each variant, where a best response in the abstract game is exact; and the boards behind it if a sample."""
    from foldwise.abstraction.build import load_abstract_game
    from foldwise.abstraction.strategy import Strategy
    from foldwise.cli.policies import postprocessed_policy
    from foldwise.solver.response.responses import has_response, make_response

    strategy = Strategy(folder)
    if strategy.manifest.history and strategy.manifest.history[-1].exploitability_mbb is None:
        return [None] * len(pipelines), None  # the solver had none either: do not build the deals to find out
    game = load_abstract_game(strategy)
    if not has_response(game):
        return [None] * len(pipelines), None
    response = make_response(game)
    answers = [response.exploitability(postprocessed_policy(strategy, game, pipeline)) for pipeline in pipelines]
    return [answer.exploitability_mbb for answer in answers], answers[0].boards_counted


def _write(output: Path, result: dict[str, Any], sweep: str | None) -> None:
    import json

    with written_whole(output / "comparison.json") as file:
        file.write(json.dumps(result, indent=1) + "\n")
    with written_whole(output / "comparison.csv") as file:
        writer = csv.writer(file)
        known = ("exploitability_mbb", "lbr_mbb", "lbr_ci95_mbb")
        writer.writerow(["variant", "opponent", "mean_mbb", "ci95_mbb", "hands", *known])
        for row in result["rows"]:
            last = [row.get(key, "") for key in known]
            for cell in row["results"]:
                values = (cell["opponent"], cell["mean_mbb"], cell["ci95_mbb"], cell["hands"])
                writer.writerow([row["variant"], *values, *last])
            writer.writerow([row["variant"], "average", row["avg_mbb"], row["avg_ci95_mbb"], "", *last])
    with written_whole(output / "differences.csv") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "opponent", "mean_mbb", "ci95_mbb"])
        for entry in result["differences"]:
            for cell in entry["results"]:
                writer.writerow([entry["a"], entry["b"], cell["opponent"], cell["mean_mbb"], cell["ci95_mbb"]])
            writer.writerow([entry["a"], entry["b"], "average", entry["mean_mbb"], entry["ci95_mbb"]])
    picture = output / "comparison.png"
    if sweep is not None:
        draw_sweep(result, sweep, picture)
    else:
        draw_comparison(result, picture)


def _plus_minus(mean: float, half_width: float) -> str:
    return f"{mean:+.1f} ± {half_width:.1f}"


def _show(result: dict[str, Any], output: Path | None) -> None:
    opponents = result["opponents"]
    hands = result["rows"][0]["results"][0]["hands"]
    known = any("exploitability_mbb" in row for row in result["rows"])
    with_lbr = any("lbr_mbb" in row for row in result["rows"])
    table = TextTable(
        box=None, header_style="bold", title=f"mbb/h with 95% intervals, {hands:,} hands a cell, by {result['score']}"
    )
    headings = ["variant", *map(short_name, opponents), "average", "minimum", *(["exploitability"] if known else [])]
    headings += ["loses to lbr"] if with_lbr else []
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "variant" else "right")
    for row in result["rows"]:
        cells = [_plus_minus(cell["mean_mbb"], cell["ci95_mbb"]) for cell in row["results"]]
        average = _plus_minus(row["avg_mbb"], row["avg_ci95_mbb"])
        last = [f"{row['exploitability_mbb']:.2f}"] if known else []
        last += [_plus_minus(row["lbr_mbb"], row["lbr_ci95_mbb"])] if with_lbr else []
        table.add_row(row["variant"], *cells, average, f"{row['min_mbb']:+.1f}", *last)
    stdout.print(table)
    if "boards_counted" in result:
        stdout.print(f"exploitability{against(result['boards_counted'])}")
    if result["differences"]:
        table = TextTable(box=None, header_style="bold", title="differences on the same deals, mbb/h")
        for heading in ("variants", *map(short_name, opponents), "average"):
            table.add_column(heading, justify="left" if heading == "variants" else "right")
        for entry in result["differences"]:
            cells = [_plus_minus(cell["mean_mbb"], cell["ci95_mbb"]) for cell in entry["results"]]
            name = f"{entry['a']} over {entry['b']}"
            table.add_row(name, *cells, _plus_minus(entry["mean_mbb"], entry["ci95_mbb"]))
        stdout.print(table)
    stdout.print(f"{result['hands_per_second']:,.0f} hands/s in {result['seconds']:.1f} s")
    if output is not None:
        stdout.print(f"written to {output}")


def tournament(
    players: Annotated[list[str], typer.Argument(metavar="PLAYER...", help="Players as in match, or folders.")],
    hands: HandsOption = 20_000,
    game: Annotated[
        str | None, typer.Option(help="The game; by default that of the first strategy, else hunl.")
    ] = None,
    score: ScoreOption = "chips",
    over: OverOption = "memory",
    jobs: JobsOption = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder for JSON and CSV.")
    ] = None,
    logs: LogsOption = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """The cross table of all pairs: what each row wins from each column, on the same deals.

    Example: foldwise tournament bot:call bot:strength runs/tiny "strategy:runs/small|new(0.2)"
    """
    from foldwise.abstraction.storage.array_store import check_writable
    from foldwise.agent.strategy_player import OpenStrategy, parse_spec
    from foldwise.matches.duplicate.comparison import Table, cross_table
    from foldwise.matches.duplicate.match import default_jobs
    from foldwise.matches.scoring.scorers import check_score

    resolved = [resolve_player(player_spec(player)) for player in players]
    for pair in combinations(resolved, 2):
        check_score(score, pair)
    if len(resolved) < 2:
        raise DefinitionError(f"tournament of {len(resolved)}: give two players or more")
    if over not in ("tcp", "memory"):
        raise DefinitionError(f"--over {over!r}: expected tcp or memory")
    strategies = [spec.removeprefix("strategy:") for spec in resolved if spec.startswith("strategy:")]
    if game is None and strategies:
        opened = OpenStrategy(parse_spec(strategies[0]).folder)
        game, definition = opened.strategy.manifest.game, opened.definition
    else:
        game = game or "hunl"
        definition = table_definition(game)
    if output is not None:
        check_writable(output)
    kept = _logs_folder(output, logs, score)
    table = Table(game, definition, hands, seed % 2**32, over, jobs or default_jobs(), kept, score)
    cells = cross_table(table, resolved, ProgressLine("tournament").update)
    result = {
        "players": resolved,
        "game": game,
        "seed": seed,
        "score": score,
        "hands": 2 * hands,
        "cells": [
            [None if cell is None else {"mean_mbb": cell.mean_mbb, "ci95_mbb": cell.ci95_mbb} for cell in row]
            for row in cells
        ],
    }

    if output is not None:
        _write_tournament(output, result)

    def show() -> None:
        text = TextTable(box=None, header_style="bold", title=f"row's mbb/h, {2 * hands:,} hands a cell, by {score}")
        for heading in ("", *map(short_name, resolved), "average"):
            text.add_column(heading, justify="right" if heading else "left")
        for name, row in zip(resolved, cells):
            played = [cell for cell in row if cell is not None]
            shown = ["" if cell is None else _plus_minus(cell.mean_mbb, cell.ci95_mbb) for cell in row]
            text.add_row(short_name(name), *shown, f"{sum(cell.mean_mbb for cell in played) / len(played):+.1f}")
        stdout.print(text)

    emit(result, as_json, show)


def _write_tournament(output: Path, result: dict[str, Any]) -> None:
    import json

    with written_whole(output / "tournament.json") as file:
        file.write(json.dumps(result, indent=1) + "\n")
    with written_whole(output / "tournament.csv") as file:
        writer = csv.writer(file)
        writer.writerow(["player", "opponent", "mean_mbb", "ci95_mbb", "hands"])
        for player, row in zip(result["players"], result["cells"]):
            for opponent, cell in zip(result["players"], row):
                if cell is not None:
                    writer.writerow([player, opponent, cell["mean_mbb"], cell["ci95_mbb"], result["hands"]])
