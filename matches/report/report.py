"""The content of a report on a match, a comparison or a tournament: read from its folder and computed, not yet drawn.

A match is read from its logs, so an interrupted one can be reported too: as far as both halves of a pair have been
played. The unit of every interval is the duplicate pair; in a single log it is the hand.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

from foldwise.game.arrays import Float
from foldwise.game.definition import GameDefinition, parse_definition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.matches.plan import MATCHES_FOLDER, PLAN_FILE, RESULT_FILE, MatchPlan, Run, load_plan
from foldwise.matches.report.duel import DUEL_FILE, duel_logs, load_duel
from foldwise.matches.report.explanations import (
    Explained,
    by_position,
    explain_hand,
    explanation_path,
    read_explanations,
    run_players,
)
from foldwise.matches.report.hand_files import log_definition
from foldwise.matches.report.replay import ReplayRecord, position_names, replay_record, street_names
from foldwise.matches.scoring.all_in import expected_line_values
from foldwise.matches.statistics import Estimate, estimate
from foldwise.matches.table.log import hand_number, line_values, parse_state_line, state_lines

COMPARISON_FILE = "comparison.json"
TOURNAMENT_FILE = "tournament.json"
_LEAST_HANDS = 10  # to replay, of each of its matches
_CURVE_POINTS = 300


@dataclass(frozen=True)
class Half:
    """One log, and the seat A has in it."""

    path: Path
    seat_of_a: int
    run: Run | None  # None for a log outside a match folder


@dataclass(frozen=True)
class PlayedHand:
    """What counting needs from one line of a log. Values are A's, in chips."""

    half: Half
    line: str
    number: int
    position: int  # A's
    value: float
    scored: float  # `value`, or with all-in expectation
    street: int  # the hand ended on
    folded: bool
    pot: float  # matched chips


@dataclass(frozen=True)
class Curve:
    """A running total with its 95% interval, in big blinds, against the number of hands."""

    hands: Float
    total: Float
    low: Float
    high: Float


@dataclass(frozen=True)
class StreetRow:
    """The hands that ended on one street in one way."""

    street: str
    ending: str
    hands: int
    total_bb: float  # A's
    mean_mbb: float


@dataclass(frozen=True)
class MatchReport:
    """Everything that the page of a match shows."""

    title: str
    players: tuple[str, str]
    game: str
    facts: list[tuple[str, str]]
    result: Estimate
    unit: str  # "pair" or "hand": what an interval counts
    curve: Curve
    positions: list[tuple[str, Estimate]]
    streets: list[StreetRow]
    pots_bb: list[float]  # of the first, and biggest, of `hands`
    hands: list[ReplayRecord] = field(repr=False)  # for the replayer, by size of the pot
    num_explained: int = 0


@dataclass(frozen=True)
class TableReport:
    """A comparison or a tournament, as in its JSON file."""

    title: str
    kind: str  # "comparison" or "tournament"
    data: dict[str, Any]
    matches: list[MatchReport] = field(default_factory=list)  # if the logs were kept


Report = MatchReport | TableReport


def load_report(
    source: Path, num_hands: int = 200, num_biggest: int = 12, explain: bool = False, game: str | None = None
) -> Report:
    """The report of a match, comparison or tournament folder, or of a single ACPC log.

    The `num_hands` hands of the largest pots can be replayed. `explain` recomputes their decisions if the match
    did not record them.
    """
    if source.is_file():
        return _match_report(_read_log(source, game), num_hands, num_biggest, explain=False)
    for name, kind in ((COMPARISON_FILE, "comparison"), (TOURNAMENT_FILE, "tournament")):
        if (source / name).is_file():
            folders = sorted((source / MATCHES_FOLDER).glob("*/")) if (source / MATCHES_FOLDER).is_dir() else []
            each = max(_LEAST_HANDS, num_hands // max(1, len(folders)))
            matches = [_match_report(_read_folder(folder), each, min(each, 5), explain) for folder in folders]
            return TableReport(source.resolve().name, kind, _read_json(source / name), matches)
    if duel_logs(source):
        return _match_report(_read_duels(source, game), num_hands, num_biggest, explain=False)
    if not (source / PLAN_FILE).is_file():
        raise DefinitionError(
            f"{str(source)!r} has no {PLAN_FILE}, {COMPARISON_FILE}, {TOURNAMENT_FILE} or duel: "
            "give a folder written by match, compare, tournament or duel with -o, or an ACPC log"
        )
    return _match_report(_read_folder(source), num_hands, num_biggest, explain)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        assert isinstance(data, dict)
    except (ValueError, AssertionError):
        raise FormatError(f"{path}: expected one JSON object: write the folder again") from None
    return data


@dataclass(frozen=True)
class _Source:
    """The input of a match report."""

    title: str
    players: tuple[str, str]  # as shown
    logged: tuple[str, str]  # as the logs call them
    game: str
    facts: list[tuple[str, str]]
    unit: str
    definition: GameDefinition
    hands: list[PlayedHand]
    values: Float  # of each unit, A's, chips a hand


def _read_folder(folder: Path) -> _Source:
    plan = load_plan(folder)
    definition = parse_definition(plan.definition, source=PLAN_FILE)
    pairs: list[tuple[PlayedHand, PlayedHand]] = []
    for runs in (plan.runs(index) for index in range(plan.repeat)):
        halves = [Half(run.log_path(folder), seat, run) for seat, run in enumerate(runs)]
        if all(half.path.exists() for half in halves):
            first, second = (_played(half, definition, plan.all_in_ev) for half in halves)
            pairs += zip(first, second)
    if not pairs and plan.score == "expectation":
        raise DefinitionError(
            f"{folder} was scored by expectation, over boards and without logs: its result is in {RESULT_FILE}; "
            "a page shows hands: play with --score aivat or chips"
        )
    if not pairs:
        raise DefinitionError(f"{folder}: no pair of hands is finished yet: continue the match with --resume")
    planned = plan.hands * plan.repeat
    done = "" if len(pairs) == planned or plan.until_ci_mbb is not None else f" of {planned:,} planned"
    facts = [
        ("game", plan.game),
        ("pairs", f"{len(pairs):,}{done}"),
        ("hands", f"{2 * len(pairs):,}"),
        ("seed", str(plan.seed)),
        ("played", {"tcp": "over TCP", "memory": "in memory"}[plan.over]),
        ("scoring", "all-in expectation" if plan.all_in_ev else "chips as won"),
        *_scored_otherwise(folder, plan),
    ]
    values = np.array([(first.scored + second.scored) / 2 for first, second in pairs])
    hands = [hand for pair in pairs for hand in pair]
    a, b = (player.short() for player in plan.players)
    shown = (a, b) if a != b else (f"{a} (A)", f"{b} (B)")
    return _Source(folder.resolve().name, shown, plan.names(), plan.game, facts, "pair", definition, hands, values)


def _scored_otherwise(folder: Path, plan: MatchPlan) -> list[tuple[str, str]]:
    """The result of a match that was not scored in chips, which is what the page counts."""
    if plan.score == "chips" or not (folder / RESULT_FILE).is_file():
        return []
    result = _read_json(folder / RESULT_FILE)
    try:
        shown = f"{result['mean_mbb']:+,.1f} ± {result['ci95_mbb']:,.1f} mbb per hand"
    except (KeyError, TypeError, ValueError):
        raise FormatError(f"{folder / RESULT_FILE}: expected a match's result: continue it with --resume") from None
    return [(f"by {score_name(plan.score)}", shown)]


def score_name(score: str) -> str:
    """The name of a score in a sentence."""
    return {"aivat": "AIVAT"}.get(score, score)


def num_hands_text(hands: int, score: str) -> str:
    """How much was counted: hands, or by expectation boards, each of which stands for two."""
    return f"{hands // 2:,} boards" if score == "expectation" else f"{hands:,} hands"


def rate_text(hands_per_second: float, score: str) -> str:
    """How fast it was counted, in the same unit."""
    return f"{hands_per_second / 2:,.0f} boards/s" if score == "expectation" else f"{hands_per_second:,.0f} hands/s"


def _read_duels(folder: Path, game: str | None) -> _Source:
    """All sessions of a person in order; the running total is the bankroll."""
    logs, kept = duel_logs(folder), load_duel(folder)
    definition = log_definition(logs[0], game)
    if kept is not None and game is None:
        definition = parse_definition(kept.definition, source=DUEL_FILE)
    hands = [hand for log in logs for hand in _played(Half(log, 0, None), definition, False)]
    if not hands:
        raise DefinitionError(f"{folder}: no hand is finished yet: play one with 'foldwise duel ... -o {folder}'")
    values = np.array([hand.scored for hand in hands])
    sessions = f"{len(logs)} session{'s' * (len(logs) > 1)}"
    facts = [
        ("hands", f"{len(hands):,} in {sessions}"),
        ("bankroll", f"{values.sum():+,.0f} chips"),
        ("scoring", "chips as won"),
    ]
    logged = parse_state_line(hands[0].line, definition).names
    names = (logged[hands[0].position], logged[1 - hands[0].position])
    name = kept.game if kept is not None else game or folder.name
    return _Source(folder.resolve().name, names, names, name, facts, "hand", definition, hands, values)


def _read_log(log: Path, game: str | None) -> _Source:
    definition = log_definition(log, game)
    if definition.num_players != 2:
        raise DefinitionError(f"{log} is of a game for {definition.num_players} players: a report is of two")
    hands = _played(Half(log, 0, None), definition, False)
    if not hands:
        raise DefinitionError(f"{log} has no finished hand: give a log with STATE lines")
    first, second = parse_state_line(hands[0].line, definition, hidden=True).names
    if hands[0].number % 2:
        first, second = second, first
    facts = [("hands", f"{len(hands):,}"), ("log", log.name), ("scoring", "chips as won")]
    values = np.array([hand.scored for hand in hands])
    names = (first, second)
    return _Source(log.name, names, names, game or log.stem, facts, "hand", definition, hands, values)


def _match_report(source: _Source, num_hands: int, num_biggest: int, explain: bool) -> MatchReport:
    definition, hands = source.definition, source.hands
    big_blind = definition.big_blind
    shown = sorted(hands, key=lambda hand: (-hand.pot, -len(hand.line)))[:num_hands]  # longer lines first
    records, num_explained = _records(shown, definition, explain, dict(zip(source.logged, source.players)))
    return MatchReport(
        title=source.title,
        players=source.players,
        game=source.game,
        facts=source.facts,
        result=estimate(source.values, big_blind),
        unit=source.unit,
        curve=running_total(source.values, big_blind, 2 if source.unit == "pair" else 1),
        positions=[
            (name, estimate(np.array([hand.scored for hand in hands if hand.position == position]), big_blind))
            for position, name in enumerate(position_names(definition))
        ],
        streets=_street_rows(hands, definition),
        pots_bb=[hand.pot / big_blind for hand in shown[:num_biggest]],
        hands=records,
        num_explained=num_explained,
    )


def _played(half: Half, definition: GameDefinition, all_in_ev: bool) -> list[PlayedHand]:
    played = []
    for line in state_lines(half.path):
        number = hand_number(line)
        position = (half.seat_of_a - number) % 2
        values = line_values(line)
        betting = line.split(":", 3)[2]
        value = values[position]
        scored = expected_line_values(line, definition)[position] if all_in_ev else value
        # The loser loses what he put in, and the pot holds as much from the winner; a split pot must be added up.
        pot = 2 * abs(value) if value else float(2 * min(parse_state_line(line, definition, hidden=True).betting.spent))
        played.append(
            PlayedHand(half, line, number, position, value, scored, betting.count("/"), betting.endswith("f"), pot)
        )
    return played


def running_total(values: Float, big_blind: int, hands_each: int) -> Curve:
    """The running total of observations in chips a hand, and the Student interval at each point, thinned out."""
    count = np.arange(1, values.size + 1)
    scale = hands_each / big_blind
    total = np.cumsum(values) * scale
    squares = np.cumsum((values * scale) ** 2)
    spread = np.maximum(squares - total**2 / count, 0.0) / np.maximum(count - 1, 1)
    half = np.where(count > 1, stdtrit(np.maximum(count - 1, 1), 0.975) * np.sqrt(spread * count), np.nan)
    # With few observations the interval would dwarf the chart: it begins at the tenth.
    half[: min(9, max(0, values.size - 2))] = np.nan
    kept = np.unique(np.linspace(0, values.size - 1, min(_CURVE_POINTS, values.size)).round().astype(int))
    return Curve((count * hands_each)[kept].astype(float), total[kept], (total - half)[kept], (total + half)[kept])


def _street_rows(hands: Sequence[PlayedHand], definition: GameDefinition) -> list[StreetRow]:
    rows = []
    for street, name in enumerate(street_names(definition)):
        for folded, ending in ((True, "fold"), (False, "showdown")):
            values = [hand.scored for hand in hands if hand.street == street and hand.folded == folded]
            if values:
                total = sum(values) / definition.big_blind
                rows.append(StreetRow(name, ending, len(values), total, 1000 * total / len(values)))
    return rows


def _records(
    hands: Sequence[PlayedHand], definition: GameDefinition, explain: bool, shown_names: dict[str, str]
) -> tuple[list[ReplayRecord], int]:
    """Hands for the replayer, and how many of them come with a strategy's probabilities."""
    recorded: dict[Path, dict[int, Explained]] = {}
    players: dict[Path, Any] = {}
    records = []
    explained_hands = 0
    for hand in hands:
        path = hand.half.path
        if path not in recorded:
            recorded[path] = read_explanations(explanation_path(path))
        logged = parse_state_line(hand.line, definition, hidden=True)
        explained = recorded[path].get(hand.number, {})
        if not explained and explain and hand.half.run is not None:
            if path not in players:
                players[path] = run_players(hand.half.run)
            explained = explain_hand(logged, by_position(players[path], hand.number))
        explained_hands += bool(explained)
        label = f"{path.name.removesuffix('.log')} hand {hand.number}"
        named = replace(logged, names=tuple(shown_names.get(name, name) for name in logged.names))
        records.append(replay_record(named, label, hand.position, explained))
    return records, explained_hands
