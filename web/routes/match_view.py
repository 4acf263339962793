"""Matches as the watch page shows them: a folder as written so far, or a broker's match as published so far."""

import contextlib
import json
import math
from pathlib import Path
from typing import Any

from foldwise.game.cards import card_text
from foldwise.game.definition import parse_definition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.library import find_definition, is_built_in
from foldwise.matches.network.watch import WatchedMatch
from foldwise.matches.plan import PLAN_FILE, RESULT_FILE, load_plan
from foldwise.matches.report.replay import replay_steps
from foldwise.matches.report.report import COMPARISON_FILE, Curve, MatchReport, load_report
from foldwise.matches.table.log import LoggedHand, parse_state_line, state_lines

_LAST_HANDS = 8
_MOST_LOG_BYTES = 200 << 20  # larger ones are left to 'foldwise report'


def written(folder: Path) -> float:
    """When a file or folder was last changed; 0 if it no longer exists."""
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def _state(folder: Path) -> str:
    return "finished" if (folder / RESULT_FILE).is_file() else "running"


def check_size(folder: Path) -> None:
    """Raise for a match whose logs are too large to show here."""
    size = sum(path.stat().st_size for path in folder.glob("*.log"))
    if size > _MOST_LOG_BYTES:
        raise DefinitionError(f"the logs take {size >> 20} MB: 'foldwise report' makes a page of any size")


def folder_summary(folder: Path) -> dict[str, Any]:
    """A line for the list, read quickly from the plan and the result alone."""
    if not (folder / PLAN_FILE).is_file():
        kind = "comparison" if (folder / COMPARISON_FILE).is_file() else "tournament"
        return {"title": folder.name, "players": [kind], "state": "finished", "kind": kind}
    plan = load_plan(folder)
    summary: dict[str, Any] = {
        "title": folder.name,
        "players": list(plan.names()),
        "state": _state(folder),
        "kind": "match",
    }
    if summary["state"] == "finished":
        result = json.loads((folder / RESULT_FILE).read_text(encoding="utf-8"))
        summary |= {
            "mean_mbb": result.get("mean_mbb"),
            "ci95_mbb": result.get("ci95_mbb"),
            "hands": result.get("hands"),
        }
    return summary


def folder_view(folder: Path) -> dict[str, Any]:
    """A match as played so far: totals with their interval, the curve, the last hands."""
    check_size(folder)
    plan = load_plan(folder)
    definition = parse_definition(plan.definition, source=PLAN_FILE)
    view: dict[str, Any] = {
        "title": folder.name,
        "players": list(plan.names()),
        "state": _state(folder),
        "game": plan.game,
    }
    try:
        report = load_report(folder, num_hands=1, num_biggest=1)
    except DefinitionError:  # no hand is finished yet
        return {**view, "hands": 0, "planned": 2 * plan.hands * plan.repeat, "last": []}
    assert isinstance(report, MatchReport)
    result = report.result
    logs = sorted(folder.glob("*.log"), key=written)
    lines = list(state_lines(logs[-1]))[-_LAST_HANDS:]
    hands = [parse_state_line(line, definition) for line in reversed(lines)]
    return {
        **view,
        "hands": 2 * result.count,
        "planned": 2 * plan.hands * plan.repeat,
        "mean_mbb": result.mean_mbb,
        "ci95_mbb": result.ci95_mbb if math.isfinite(result.ci95_mbb) else None,
        "curve": _points(report.curve),
        "last": [_last(f"{logs[-1].stem} hand {hand.number}", hand) for hand in hands],
    }


def _points(curve: Curve) -> list[list[float | None]]:
    columns = zip(curve.hands, curve.total, curve.low, curve.high)
    return [[round(float(value), 3) if math.isfinite(value) else None for value in point] for point in columns]


def _last(label: str, hand: LoggedHand) -> dict[str, Any]:
    return {
        "label": label,
        "names": list(hand.names),
        "cards": [[card_text(card) for card in cards] for cards in hand.hole_cards],
        "board": [card_text(card) for card in hand.board],
        "values": list(hand.values),
        "story": [
            {"text": step.text, "by": "dealer" if step.player < 0 else f"seat-{step.player}"}
            for step in replay_steps(hand)
        ],
    }


def feed_view(known: WatchedMatch) -> dict[str, Any]:
    """A match of the feed, from the messages received so far."""
    rows = known.totals.rows if known.totals is not None else []
    info = known.info
    return {
        "id": f"feed:{known.match}",
        "title": known.match,
        "players": list(info.players) if info is not None else [],
        "state": known.state,
        "kind": info.kind if info is not None else "match",
        "game": info.game if info is not None else "",
        "hands": known.totals.hands if known.totals is not None else 0,
        "planned": info.hands if info is not None else None,
        "rows": [row.model_dump() for row in rows],
        "last": _feed_hands(known),
    }


def _feed_hands(known: WatchedMatch) -> list[dict[str, Any]]:
    """The last hands of the feed, for built-in games only: a broker's message must not name a file on this machine."""
    if known.info is None or not is_built_in(known.info.game):
        return []
    definition = find_definition(known.info.game)
    hands = []
    for line in reversed(known.lines):
        with contextlib.suppress(FormatError):
            hand = parse_state_line(line, definition)
            hands.append(_last(f"hand {hand.number}", hand))
    return hands
