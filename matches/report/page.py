"""The report as one HTML page: style, script, charts and hands inside it, so that it works from the file, offline."""

import json
import math
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from foldwise.agent.player_spec import parse_player
from foldwise.game.errors import FormatError
from foldwise.matches.report.charts import Interval, interval_chart, running_chart
from foldwise.matches.report.replay import ReplayRecord
from foldwise.matches.report.report import MatchReport, Report, num_hands_text, score_name
from foldwise.matches.statistics import Estimate

# The page may load nothing from outside, so it cannot reach the network even after a faulty edit.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def report_page(report: Report) -> str:
    """The whole page."""
    if isinstance(report, MatchReport):
        heading, body = _match_body(report)
    else:
        make_body = _comparison_body if report.kind == "comparison" else _tournament_body
        try:
            heading, body = make_body(report.data)
        except (LookupError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
            raise FormatError(
                f"{report.title}/{report.kind}.json is not a {report.kind} of ours ({error!r}): write the folder again"
            ) from None
        body += _kept_matches(report.matches)
    style = files("foldwise.matches.report").joinpath("assets", "report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>foldwise: {escape(report.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<header><p class='kind'>foldwise report · {escape(report.title)}</p>{heading}</header>\n<main>\n{body}</main>\n"
        "</body>\n</html>\n"
    )


def _section(title: str, content: str, note: str = "", name: str = "") -> str:
    note = f"<p class='note'>{escape(note)}</p>" if note else ""
    mark = f' id="{name}"' if name else ""
    return f"<section{mark}><h2>{escape(title)}</h2>{content}{note}</section>\n"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose cells are already HTML; on a narrow screen it scrolls sideways."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _amount(value: float, digits: int = 1) -> str:
    sign = "win" if value > 0 else "loss" if value < 0 else "even"
    return f"<span class='{sign}'>{value:+,.{digits}f}</span>"


def _plus_minus(mean: float, half: float | None) -> str:
    """A mean with its interval; coloured only if the interval excludes 0."""
    if half is None or not math.isfinite(half):
        return f"<span class='even'>{mean:+,.1f}</span> <small>± –</small>"
    shown = _amount(mean) if abs(mean) > half else f"<span class='even'>{mean:+,.1f}</span>"
    return f"{shown} <small>± {half:,.1f}</small>"


def _estimate(value: Estimate) -> str:
    return _plus_minus(value.mean_mbb, value.ci95_mbb)


def _match_body(report: MatchReport) -> tuple[str, str]:
    a, b = (escape(name) for name in report.players)
    heading = (
        f"<h1>{a} <span class='against'>against</span> {b}</h1>"
        f"<p class='result'>{_estimate(report.result)} <span class='unit'>mbb per hand for {a}, 95% interval</span></p>"
        "<dl>"
        + "".join(f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>" for key, value in report.facts)
        + "</dl>"
    )
    total = report.curve.total[-1]
    parts = [
        _section(
            "Running total",
            running_chart(report.curve, report.unit),
            f"{report.players[0]} stands at {total:+,.1f} big blinds after {report.curve.hands[-1]:,.0f} hands. "
            f"One observation is a {report.unit}"
            + (": the same cards from both sides." if report.unit == "pair" else "."),
            "running",
        ),
        _section("By position", _position_table(report), name="positions"),
        _section("By street", _street_table(report), "Where hands ended, and what A won or lost in them.", "streets"),
        _section("Biggest pots", _biggest_table(report), "Click a hand to replay it.", "biggest"),
        _replayer(report.hands, report.num_explained),
    ]
    return heading, "".join(parts)


def _position_table(report: MatchReport) -> str:
    return _table(
        ("position of A", "hands", "mbb per hand"),
        [(escape(name), f"{value.count:,}", _estimate(value)) for name, value in report.positions],
    )


def _kept_matches(matches: Sequence[MatchReport]) -> str:
    """The matches of a comparison or tournament, collapsed, and one replayer for all of them."""
    if not matches:
        return ""
    parts = []
    hands: list[ReplayRecord] = []
    for match in matches:
        a, b = (escape(name) for name in match.players)
        parts.append(
            f"<details><summary>{a} <span class='against'>against</span> {b}: {_estimate(match.result)}</summary>"
            f"{running_chart(match.curve, match.unit)}<h3>By position</h3>{_position_table(match)}<h3>By street</h3>"
            f"{_street_table(match)}<h3>Biggest pots</h3>{_biggest_table(match, len(hands))}</details>"
        )
        hands += [{**hand, "label": f"{match.title} {hand['label']}"} for hand in match.hands]
    section = _section(
        "Matches", "".join(parts), "A is the first player of each; click a hand to replay it.", "matches"
    )
    return section + _replayer(hands, sum(match.num_explained for match in matches))


def _street_table(report: MatchReport) -> str:
    num_hands = sum(row.hands for row in report.streets)
    rows = [
        (
            f"{escape(row.street)}, {row.ending}",
            f"{row.hands:,}",
            f"{100 * row.hands / num_hands:.1f}%",
            _amount(row.total_bb),
            _amount(row.mean_mbb, 0),
        )
        for row in report.streets
    ]
    return _table(("ended", "hands", "share", "A's total, bb", "mbb per such hand"), rows)


def _biggest_table(report: MatchReport, first: int = 0) -> str:
    """The biggest pots; `first` is the place of the report's first hand in the replayer."""
    rows = []
    for index, (pot, hand) in enumerate(zip(report.pots_bb, report.hands), start=first):
        cards = " ".join(hand["cards"][hand["a"]]), " ".join(hand["cards"][1 - hand["a"]])
        rows.append(
            (
                f"<button type='button' data-hand='{index}'>{escape(hand['label'])}</button>",
                f"{pot:,.1f}",
                _amount(hand["values"][hand["a"]], 0),
                escape(cards[0]),
                escape(cards[1]),
                escape(" ".join(hand["board"])),
            )
        )
    return _table(("hand", "pot, bb", "A's chips", "A", "B", "board"), rows)


def _replayer(hands: Sequence[ReplayRecord], num_explained: int) -> str:
    data = json.dumps(list(hands), separators=(",", ":")).replace("<", "\\u003c")
    script = files("foldwise.matches.report").joinpath("assets", "replayer.js").read_text(encoding="utf-8")
    markup = files("foldwise.matches.report").joinpath("assets", "replayer.html").read_text(encoding="utf-8")
    note = f"The {len(hands):,} hands with the largest pots"
    if num_explained:
        note += f"; a strategy's probabilities are known in {num_explained:,} of them"
    return (
        _section("Replay", markup, f"{note}. Arrow keys step through a hand.", "replay")
        + f'<script type="application/json" id="hands">{data}</script>\n<script>\n{script}</script>\n'
    )


def _comparison_body(data: dict[str, Any]) -> tuple[str, str]:
    rows = data["rows"]
    names = [parse_player(opponent).short() for opponent in data["opponents"]]
    strategy = escape(Path(data["strategy"]).name)
    score = data.get("score", "chips")
    counted = num_hands_text(rows[0]["results"][0]["hands"], score)
    heading = (
        f"<h1>{strategy}, {len(rows)} ways of post-processing</h1>"
        f"<p class='result'><span class='unit'>{counted} a cell, the same deals in all, seed {data['seed']}, "
        f"scored by {escape(score_name(score))}</span></p>"
    )
    known = any("exploitability_mbb" in row for row in rows)
    headings = ["variant", *names, "average", "minimum"]
    sample = f" on {data['boards_counted']:,} boards" if "boards_counted" in data else ""
    headings += [f"exploitability{sample}"] if known else []
    table = []
    for row in rows:
        cells = [_plus_minus(cell["mean_mbb"], cell["ci95_mbb"]) for cell in row["results"]]
        last = [f"{row['exploitability_mbb']:.2f}" if "exploitability_mbb" in row else ""] if known else []
        average = _plus_minus(row["avg_mbb"], row["avg_ci95_mbb"])
        table.append([escape(row["variant"]), *cells, average, _amount(row["min_mbb"]), *last])
    body = _section("Variants", _table(headings, table), "mbb per hand with 95% intervals.", "variants")
    charts = []
    for column, name in enumerate(names):
        of_column = [(row["variant"], row["results"][column]) for row in rows]
        intervals = [Interval(variant, cell["mean_mbb"], cell["ci95_mbb"]) for variant, cell in of_column]
        charts.append(
            f"<figure><figcaption>{escape(name)}</figcaption>"
            f"{interval_chart(intervals, f'Variants against {name}')}</figure>"
        )
    body += _section("Against each opponent", "".join(charts), name="plot")
    if data["differences"]:
        table = [
            [
                f"{escape(entry['a'])} <small>over</small> {escape(entry['b'])}",
                *(_plus_minus(cell["mean_mbb"], cell["ci95_mbb"]) for cell in entry["results"]),
                _plus_minus(entry["mean_mbb"], entry["ci95_mbb"]),
            ]
            for entry in data["differences"]
        ]
        headings = ["variants", *names, "average"]
        note = "What one variant wins more than another on the same pairs of hands: tighter than either result."
        body += _section("Differences", _table(headings, table), note, "differences")
    return heading, body


def _tournament_body(data: dict[str, Any]) -> tuple[str, str]:
    players = [parse_player(player).short() for player in data["players"]]
    score = data.get("score", "chips")
    heading = (
        f"<h1>{len(players)} players, every pair</h1><p class='result'><span class='unit'>"
        f"{escape(data['game'])}, {num_hands_text(data['hands'], score)} a cell, seed {data['seed']}, "
        f"scored by {escape(score_name(score))}</span></p>"
    )
    table = []
    averages = []
    for name, cells in zip(players, data["cells"]):
        played = [cell for cell in cells if cell is not None]
        mean = sum(cell["mean_mbb"] for cell in played) / len(played)
        # The deals are shared, so a player's matches are not independent: the mean of their intervals is an upper bound.
        half = sum(cell["ci95_mbb"] for cell in played) / len(played)
        averages.append(Interval(name, mean, half))
        shown = ["" if cell is None else _plus_minus(cell["mean_mbb"], cell["ci95_mbb"]) for cell in cells]
        table.append([escape(name), *shown, _amount(mean)])
    note = "What the row wins from the column, mbb per hand with 95% intervals."
    body = _section("Cross table", _table(["", *players, "average"], table), note, "cross")
    ranked = sorted(averages, key=lambda row: -row.mean)
    note = "Bars are the mean of a player's intervals: an upper bound, whatever the deals have in common."
    chart = interval_chart(ranked, "Average of each player")
    return heading, body + _section("Averages", chart, note, "plot")
