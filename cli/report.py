"""`foldwise report`: one self-contained HTML page of a match, a comparison or a tournament."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NotRequired, TypedDict

import typer

from foldwise.cli.options import JsonOption, OverwriteOption, output_option
from foldwise.cli.support.output import emit, stdout
from foldwise.cli.support.outputs import check_new_file


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    source: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder of match, compare or tournament (-o), or an ACPC log.")
    ]
    output: Annotated[Path | None, output_option("The page; by default DIR/report.html.", "FILE")] = None
    hands: Annotated[int, typer.Option(help="Hands that can be replayed: those with the largest pots.", min=1)] = 200
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Recompute a strategy's decisions in these hands if they were not recorded."),
    ] = False
    game: Annotated[str | None, typer.Option(help="The game of a single log, if its header does not name it.")] = None
    overwrite: OverwriteOption = False
    as_json: JsonOption = False


class ReportResult(TypedDict):
    output: str
    bytes: int
    title: str
    mean_mbb: NotRequired[float]
    ci95_mbb: NotRequired[float | None]
    replayable: NotRequired[int]
    explained: NotRequired[int]


def report(request: ReportRequest) -> None:
    """Write one HTML page: running total with its interval, positions, streets, biggest pots, a hand replayer.

    The page needs nothing else: no network, no other file. It is readable on a phone. DIR/report.html is written anew each
    time; a FILE that exists is kept unless --overwrite is given.

    Example: foldwise report runs/match -o match.html

    Example: foldwise report runs/compare

    Example: foldwise report test.log --game hunl
    """
    from foldwise.abstraction.storage.whole_file import written_whole
    from foldwise.matches.report.page import report_page
    from foldwise.matches.report.report import MatchReport, load_report

    source = request.source
    check_new_file(request.output, request.overwrite)
    found = load_report(source, num_hands=request.hands, explain=request.explain, game=request.game)
    page = request.output or (source / "report.html" if source.is_dir() else source.with_suffix(".html"))
    text = report_page(found)
    with written_whole(page) as file:
        file.write(text)
    size = len(text.encode())
    result = ReportResult(output=str(page), bytes=size, title=found.title)
    if isinstance(found, MatchReport):
        result["mean_mbb"] = found.result.mean_mbb
        result["ci95_mbb"] = found.result.ci95_mbb if found.result.count > 1 else None
        result["replayable"] = len(found.hands)
        result["explained"] = found.num_explained
    emit(result, request.as_json, lambda: stdout.print(f"written to {page} ({size / 1000:,.0f} kB)"))
