"""`foldwise play PLAYER URL`: the agent at an HTTP table."""

import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypedDict

from foldwise.cli.support.output import ProgressLine, emit, stdout
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.agent.player import Player
    from foldwise.agent.player_spec import PlayerSpec
    from foldwise.game.definition import GameDefinition

PASSWORD = "FOLDWISE_TABLE_PASSWORD"
_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class HttpSeat:
    """Where to play, how many hands, and where to keep them."""

    url: str
    user: str | None
    hands: int
    patience_seconds: float
    output: Path | None
    seed: int  # of the player
    as_json: bool


class TableScore(TypedDict):
    method: str
    mean_mbb: float
    ci95_mbb: float | None
    hands: int


class HttpPlayResult(TypedDict):
    player: str
    url: str
    hands: int
    decisions: int
    errors: int
    mean_mbb: float
    baseline_mbb: float | None
    methods: list[TableScore]
    reconnections: int
    lost_hands: int
    hidden_hands: int
    differing_hands: int
    log: str | None


def play_http(player: "Player", spec: "PlayerSpec", definition: "GameDefinition", seat: HttpSeat) -> int:
    """Play at a table, log the hands and score them; returns 1 if the player failed."""
    from foldwise.agent.clients.http_client import HttpTable
    from foldwise.matches.report.hand_files import game_name
    from foldwise.matches.table.http_match import NAMES, play_http_match

    url, hands, output = seat.url, seat.hands, seat.output
    game = game_name(definition)
    if game is None or definition.limit or definition.num_players != 2:
        raise DefinitionError(
            f"player {spec.short()!r} plays another game than an HTTP table: expected no-limit hold'em (hunl)"
        )
    line = ProgressLine("play")
    table = HttpTable(url, _TIMEOUT_SECONDS, seat.patience_seconds, line.say)
    if output is not None and (output / "http.log").exists():
        raise DefinitionError(f"{str(output)!r} holds a match: give another folder with -o")
    if seat.user is not None:
        table.login(seat.user, os.environ.get(PASSWORD, ""))

    def listen(done: int, chips: float) -> None:
        mean = 1000 * chips / definition.big_blind / done
        line.update(f"{done:,} of {hands:,} hands, {mean:+,.0f} mbb/h", done / hands)

    with TemporaryDirectory(prefix="foldwise-http-") as temporary:
        folder = output or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        log = folder / "http.log"
        played = play_http_match(player, definition, table, hands, log, game, listen)
        methods = _scores(log, definition, spec, seat.seed, NAMES[0], line) if played.hidden < hands else []
    report = played.report
    unit = 1000 / definition.big_blind / max(1, report.hands)
    result: HttpPlayResult = {
        "player": str(spec),
        "url": url,
        "hands": report.hands,
        "decisions": report.decisions,
        "errors": report.errors,
        "mean_mbb": unit * played.chips,
        "baseline_mbb": None if played.baseline_chips is None else unit * played.baseline_chips,
        "methods": methods,
        "reconnections": report.reconnections,
        "lost_hands": report.lost_hands,
        "hidden_hands": played.hidden,
        "differing_hands": played.differing,
        "log": str(output / "http.log") if output is not None else None,
    }

    def show() -> None:
        stdout.print(f"{spec.short()} at {url}: {report.hands:,} hands, {report.decisions:,} decisions")
        for method in methods:
            width = "" if method["ci95_mbb"] is None else f" ± {method['ci95_mbb']:,.1f}"
            stdout.print(f"  {method['method']:<8} {method['mean_mbb']:+,.1f}{width} mbb/h")
        if result["baseline_mbb"] is not None:
            stdout.print(f"  less the table's baseline: {result['mean_mbb'] - result['baseline_mbb']:+,.1f} mbb/h")
        trouble = {
            "errors": report.errors,
            "reconnections": report.reconnections,
            "lost hands": report.lost_hands,
            "hidden hands": played.hidden,
            "differing hands": played.differing,
        }
        told = [f"{name} {count}" for name, count in trouble.items() if count]
        if told:
            stdout.print(f"  {', '.join(told)}")
        if output is not None:
            stdout.print(f"written to {result['log']}")

    emit(result, seat.as_json, show)
    return 1 if report.errors else 0


def _scores(
    log: Path, definition: "GameDefinition", spec: "PlayerSpec", seed: int, name: str, line: ProgressLine
) -> list[TableScore]:
    """Raw, all-in and, for a strategy, AIVAT."""
    from foldwise.agent.player_spec import PlayerKind
    from foldwise.matches.duplicate.match import default_jobs
    from foldwise.matches.scoring.log_scores import score_log
    from foldwise.matches.scoring.scorers import aivat_by_seeds

    is_strategy = spec.kind == PlayerKind.STRATEGY
    aivat = aivat_by_seeds(definition, [spec], default_jobs(), line.update)((seed,)) if is_strategy else None
    _, methods = score_log(log, definition, name, aivat, line.update)
    return [
        {
            "method": method.method,
            "mean_mbb": method.estimate.mean_mbb,
            "ci95_mbb": method.estimate.ci95_mbb if method.estimate.count > 1 else None,
            "hands": method.estimate.count,
        }
        for method in methods
    ]
