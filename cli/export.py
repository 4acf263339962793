"""`foldwise export`: a strategy for other programs."""

import csv
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from foldwise.cli.options import JsonOption, OverwriteOption, PostprocessOption, StrategyArgument, output_option
from foldwise.cli.support.output import emit, stdout
from foldwise.cli.support.outputs import check_new_file
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foldwise.agent.reading.strategy_rows import StrategyRow

FORMATS = ("csv", "json", "openspiel")


@dataclass(frozen=True, kw_only=True)
class ExportRequest:
    directory: StrategyArgument
    output: Annotated[Path, output_option("The file to write.", "FILE")]
    form: Annotated[
        str | None, typer.Option("--format", help="csv, json or openspiel; by default the ending of FILE.")
    ] = None
    street: Annotated[int | None, typer.Option(help="Only this street, from 0.", min=0)] = None
    player: Annotated[int | None, typer.Option(help="Only this player, 0 or 1.", min=0, max=1)] = None
    betting: Annotated[
        str | None, typer.Option(help="Only after this abstract betting, as in r300; '' for the root.")
    ] = None
    hand: Annotated[str | None, typer.Option(help="Only this hand, as in AKs, or K/Q in Leduc.")] = None
    bucket: Annotated[int | None, typer.Option(help="Only this bucket.", min=0)] = None
    postprocess: PostprocessOption = "none"
    overwrite: OverwriteOption = False
    as_json: JsonOption = False


class ExportResult(TypedDict):
    output: str
    format: str
    infosets: int


def export(request: ExportRequest) -> None:
    """Write rows of a strategy as CSV or JSON, or a small game's strategy as OpenSpiel's tabular policy.

    Example: foldwise export runs/small -o preflop.csv --street 0 --betting r300

    Example: foldwise export runs/leduc -o leduc.json --format openspiel
    """
    from foldwise.abstraction.storage.whole_file import written_whole
    from foldwise.abstraction.strategy import Strategy
    from foldwise.agent.reading.openspiel import openspiel_policy, policy_record
    from foldwise.agent.reading.strategy_rows import StrategyTable, check_street
    from foldwise.postprocess.language import parse_pipeline

    output = request.output
    form = request.form or output.suffix.removeprefix(".")
    if form not in FORMATS:
        raise DefinitionError(f"format {form!r}: expected csv, json or openspiel, by --format or the end of FILE")
    check_new_file(output, request.overwrite)
    strategy = Strategy(request.directory)
    pipeline = parse_pipeline(request.postprocess)
    if form == "openspiel":
        if (request.street, request.player, request.betting, request.hand, request.bucket) != (None,) * 5:
            raise DefinitionError("--format openspiel writes the whole strategy: leave the conditions out")
        record = policy_record(*openspiel_policy(strategy, pipeline))
        with written_whole(output) as file:
            file.write(json.dumps(record, indent=1) + "\n")
        count = len(record["policy"])
    else:
        table = StrategyTable(strategy, pipeline)
        check_street(table, request.street)
        rows = table.rows(
            street=request.street,
            player=request.player,
            betting=request.betting,
            hand=request.hand,
            bucket=request.bucket,
        )
        count = _write_csv(output, rows) if form == "csv" else _write_json(output, rows)
    result = ExportResult(output=str(output), format=form, infosets=count)
    emit(result, request.as_json, lambda: stdout.print(f"{count:,} infosets written to {output}"))


def _write_csv(output: Path, rows: "Iterable[StrategyRow]") -> int:
    """A line for each action of each infoset: rows of different nodes have different actions."""
    from foldwise.abstraction.storage.whole_file import written_whole

    count = 0
    with written_whole(output) as file:
        writer = csv.writer(file)
        places = ["node", "player", "street", "betting", "bucket", "hand", "reached"]
        writer.writerow([*places, "action", "probability", "postprocessed"])
        for row in rows:
            count += 1
            place = [row.node, row.player, row.street, row.betting, row.bucket, row.hand, int(row.reached)]
            for action, raw, played in zip(row.actions, row.probabilities, row.postprocessed):
                writer.writerow([*place, action, repr(raw), repr(played)])
    return count


def _write_json(output: Path, rows: "Iterable[StrategyRow]") -> int:
    """One array with an object per infoset, written while the strategy is read."""
    from foldwise.abstraction.storage.whole_file import written_whole

    count = 0
    with written_whole(output) as file:
        file.write("[")
        for row in rows:
            file.write(("," if count else "") + "\n " + json.dumps(asdict(row)))
            count += 1
        file.write("\n]\n")
    return count
