"""Reports of the searching players of a match about their solves: a file for each run and seat, and a summary."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

import numpy as np

from foldwise.abstraction.storage.whole_file import write_whole
from foldwise.agent.player import Player
from foldwise.matches.plan import MatchPlan, Run
from foldwise.matches.results import SearchSummary
from foldwise.search.players import is_searching


class _Report(TypedDict):
    solves: int
    fallbacks: int
    unpriced: int
    pondered: int
    seconds: list[float]


def report_path(folder: Path, run_name: str, seat: int) -> Path:
    return folder / f"{run_name}.player{seat}.search.json"


def write_report(player: Player, path: Path) -> None:
    """Write a searching player's report beside the log of its run; other players have none."""
    report = getattr(player, "report", None)
    if report is not None:
        kept = _Report(
            solves=report.solves,
            fallbacks=report.fallbacks,
            unpriced=report.unpriced,
            pondered=report.pondered,
            seconds=report.seconds,
        )
        write_whole(path, json.dumps(kept) + "\n")


def search_summary(plan: MatchPlan, folder: Path, num_matches: int) -> SearchSummary | None:
    """The summary over all runs of a match; None if nobody searches or no report was kept."""
    found: dict[str, list[_Report]] = {}
    for run in (run for index in range(num_matches) for run in plan.runs(index)):
        for seat in range(2):
            path = report_path(folder, run.name, seat)
            if is_searching(run.players()[seat]) and path.exists():
                found.setdefault(_letter(run, seat), []).append(json.loads(path.read_text(encoding="utf-8")))
    if not found:
        return None
    summary = _summary(report for reports in found.values() for report in reports)
    if len(found) > 1:
        summary["players"] = {letter: _summary(reports) for letter, reports in sorted(found.items())}
    return summary


def _letter(run: Run, seat: int) -> str:
    return run.order[seat]


def _summary(reports: Iterable[_Report]) -> SearchSummary:
    kept = list(reports)
    seconds = [second for report in kept for second in report["seconds"]] or [0.0]
    return SearchSummary(
        solves=sum(report["solves"] for report in kept),
        fallbacks=sum(report["fallbacks"] for report in kept),
        pondered=sum(report.get("pondered", 0) for report in kept),  # reports of before do not have it
        seconds_p50=float(np.percentile(seconds, 50)),
        seconds_p99=float(np.percentile(seconds, 99)),
        seconds_max=max(seconds),
    )
