"""The result of a match from A's values in each pair of hands, however they were scored."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NotRequired, TypedDict

import numpy as np

from foldwise.agent.player import Faults
from foldwise.game.arrays import Float
from foldwise.game.definition import GameDefinition
from foldwise.matches.plan import MatchPlan
from foldwise.matches.scores import SCORES
from foldwise.matches.statistics import Estimate, estimate, sequence_half_width

# Scoring by boards needs far fewer observations than scoring by chips: tune the confidence sequence to this many.
_TUNED_BOARDS = 500


def half_width(plan: MatchPlan, pairs: Estimate) -> float:
    """The half-width of a plan's interval: a confidence sequence if the plan checks its result more than once."""
    if plan.until_ci_mbb is None:
        return pairs.ci95_mbb
    if pairs.count < 2:
        return math.inf
    if SCORES[plan.score].board_values:
        return sequence_half_width(pairs.sd_mbb, pairs.count, _TUNED_BOARDS)
    return sequence_half_width(pairs.sd_mbb, pairs.count)


def narrow_enough(plan: MatchPlan, matches: Sequence[Float], unit_chips: float) -> bool:
    """Whether a match that plays until its interval is narrow may stop."""
    if plan.until_ci_mbb is None or not matches:
        return False
    return half_width(plan, estimate(np.concatenate(matches).mean(axis=1), unit_chips)) <= plan.until_ci_mbb


class PositionResult(TypedDict):
    """A's hands in one position, as JSON."""

    position: int
    hands: int
    mean_mbb: float
    ci95_mbb: float | None
    sd_mbb: float | None


class ChipsResult(TypedDict):
    """The same hands in chips, as JSON."""

    mean_mbb: float
    ci95_mbb: float | None
    sd_mbb: float | None


class SearchSummary(TypedDict):
    """Of decisions on the streets that are searched, as JSON."""

    solves: int
    fallbacks: int  # decisions the blueprint made instead
    pondered: int  # solves done while the opponent was to act; in memory nobody watches
    seconds_p50: float
    seconds_p99: float
    seconds_max: float
    players: NotRequired[dict[str, "SearchSummary"]]  # by A and B, where both search


class MatchResult(TypedDict):
    """`result.json`: A's result. The last fields are present if hands are not scored in chips as played."""

    players: list[str]
    game: str
    seed: int
    over: str
    score: str
    matches: int
    hands: int
    pairs: int
    mean_mbb: float
    ci95_mbb: float | None
    sd_mbb: float | None
    interval: str
    all_in_ev: bool
    score_chips: list[float]
    positions: list[PositionResult]
    seconds: float
    hands_per_second: float
    faults: int
    first_fault: NotRequired[str]
    chips: NotRequired[ChipsResult]
    variance_ratio: NotRequired[float | None]
    search: NotRequired[SearchSummary]  # where a player searches


@dataclass(frozen=True)
class Effort:
    """What a match took: time, hands that existed before, and the players' faults."""

    seconds: float
    hands_before: int = 0
    faults: Faults = field(default_factory=Faults)


def match_result(
    plan: MatchPlan,
    definition: GameDefinition,
    matches: Sequence[Float],
    chips: Sequence[Float] | None,
    effort: Effort,
) -> MatchResult:
    """Of matches played: A's value in positions 0 and 1 of each pair, [pairs, 2], scored and, if other, in chips."""
    unit = definition.big_blind
    values = np.concatenate(matches)
    pairs = estimate(values.mean(axis=1), unit)
    raw = values if chips is None else np.concatenate(chips)
    score = float(raw.sum())
    result = MatchResult(
        players=list(map(str, plan.players)),
        game=plan.game,
        seed=plan.seed,
        over=plan.over,
        score=plan.score,
        matches=len(matches),
        hands=2 * pairs.count,
        pairs=pairs.count,
        mean_mbb=pairs.mean_mbb,
        ci95_mbb=_finite(half_width(plan, pairs)),
        sd_mbb=_finite(pairs.sd_mbb),
        interval="student" if plan.until_ci_mbb is None else "confidence sequence",
        all_in_ev=plan.all_in_ev,
        score_chips=[score, -score],
        positions=[_position(estimate(values[:, position], unit), position) for position in range(2)],
        seconds=effort.seconds,
        hands_per_second=(2 * pairs.count - effort.hands_before) / effort.seconds,
        faults=effort.faults.count,
    )
    if effort.faults.count:
        result["first_fault"] = effort.faults.first
    if chips is not None:
        played = estimate(raw.mean(axis=1), unit)
        result["chips"] = ChipsResult(
            mean_mbb=played.mean_mbb, ci95_mbb=_finite(played.ci95_mbb), sd_mbb=_finite(played.sd_mbb)
        )
        result["variance_ratio"] = _finite((played.sd_mbb / pairs.sd_mbb) ** 2 if pairs.sd_mbb > 0.0 else math.inf)
    return result


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _position(found: Estimate, position: int) -> PositionResult:
    return PositionResult(
        position=position,
        hands=found.count,
        mean_mbb=found.mean_mbb,
        ci95_mbb=_finite(found.ci95_mbb),
        sd_mbb=_finite(found.sd_mbb),
    )
