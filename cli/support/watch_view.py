"""How `foldwise watch` shows a board: a table of matches, then totals and last hands. Names are text, never markup."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypedDict

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from foldwise.cli.support.output import text_table

if TYPE_CHECKING:
    from foldwise.matches.network.messages import Total
    from foldwise.matches.network.watch import Board, WatchedMatch

_MOST_ROWS = 12


def _interval(row: "Total") -> str:
    return f"{row.mean_mbb:+.1f} ± {'-' if row.ci95_mbb is None else f'{row.ci95_mbb:.1f}'}"


def _chosen(board: "Board", match: str | None) -> list["WatchedMatch"]:
    known = board.matches.values()
    chosen = [watched for watched in known if watched.info is not None and match in (None, watched.match)]
    return sorted(chosen, key=lambda watched: (watched.ended, -watched.info.started if watched.info else 0.0))


def board_view(board: "Board", match: str | None) -> RenderableType:
    """The view of all matches, or of one."""
    shown = _chosen(board, match)
    parts: list[RenderableType] = []
    workers = board.workers.values()
    threads = sum(worker.threads for worker in workers)
    if match is None:
        parts.append(Text(f"{len(shown)} matches; {len(workers)} workers with {threads} threads", style="bold"))
    if not shown:
        parts.append(Text("no match yet" if match is None else f"match {match} is not known here yet"))
        return Group(*parts)
    table = text_table(
        ("match", "state", "game", "players", "hands", "done", "hands/s", "mbb/h"),
        ("match", "state", "game", "players"),
    )
    for watched in shown[:_MOST_ROWS]:
        table.add_row(*map(Text, _cells(watched)))
    parts.append(table)
    if len(shown) > _MOST_ROWS:
        parts.append(Text(f"and {len(shown) - _MOST_ROWS} more"))
    first = shown[0]
    if first.totals is not None and len(first.totals.rows) > 1:
        parts.append(_totals(first.totals.rows))
    if first.lines:
        parts.append(Text(f"last hands of {first.match}", style="bold"))
        parts += [Text(f"  {line}", no_wrap=True, overflow="ellipsis") for line in first.lines]
    return Group(*parts)


def _cells(watched: "WatchedMatch") -> list[str]:
    info, totals = watched.info, watched.totals
    assert info is not None
    players = " - ".join(info.players[:3]) + (f" and {len(info.players) - 3} more" if len(info.players) > 3 else "")
    hands = totals.hands if totals is not None else 0
    return [
        watched.match,
        watched.state,
        info.game,
        players,
        f"{hands:,}",
        f"{100 * hands / info.hands:.0f}%" if info.hands else "",
        f"{totals.hands_per_second:,.0f}" if totals is not None else "",
        _interval(totals.rows[0]) if totals is not None and totals.rows else "",
    ]


def _totals(rows: Iterable["Total"]) -> Table:
    table = text_table(("against", "hands", "mbb/h"), ("against",))
    for row in list(rows)[:_MOST_ROWS]:
        table.add_row(Text(row.name), f"{row.hands:,}", _interval(row))
    return table


class WatchResult(TypedDict):
    matches: list[dict[str, object]]  # what a match said of itself, its state, totals and last hands
    workers: list[dict[str, object]]


def board_result(board: "Board", match: str | None) -> WatchResult:
    """The same as JSON."""
    return {
        "matches": [
            {
                **(watched.info.model_dump(exclude={"v"}) if watched.info else {}),
                "state": watched.state,
                "totals": watched.totals.model_dump(exclude={"v", "match"}) if watched.totals else None,
                "last_hands": list(watched.lines),
            }
            for watched in _chosen(board, match)
        ],
        "workers": [worker.model_dump(exclude={"v", "online"}) for worker in board.workers.values()],
    }
