"""Comparisons on shared deals: one strategy under several post-processings, and cross tables of players.

Every match of a comparison has the same seed, so the same cards and, for each player, the same draws. What two variants
win on the same pair of hands against the same opponent is then correlated, and their difference has an interval of its
own, tighter than those of the two results.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NotRequired, TypedDict

import numpy as np
import numpy.typing as npt

from foldwise.agent.bots import Bot
from foldwise.agent.mappings.translation import DEFAULT_TRANSLATION, Translation
from foldwise.agent.player import Player
from foldwise.agent.player_spec import PlayerKind, PlayerSpec, as_player
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.arrays import Float
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.matches.duplicate.cells import CellStore
from foldwise.matches.duplicate.match import pairs_by_position, play_match
from foldwise.matches.engine.compiled_match import play_values
from foldwise.matches.plan import PLAN_FILE, MatchPlan, ScoreName, create_folder, load_plan
from foldwise.matches.scores import SCORES, load_score
from foldwise.matches.scoring.scorers import make_scorer
from foldwise.matches.statistics import Estimate, estimate, pair_values
from foldwise.search.players import is_searching, make_player

Listener = Callable[[str, float], None]  # what was done, and the share of all matches
ShareListener = Callable[[float], None]  # the share of one cell that is done
CellListener = Callable[[int, int, Float], None]  # variant, opponent, and the values of the pairs


@dataclass(frozen=True)
class Table:
    """What all matches of a comparison share."""

    game: str
    definition: GameDefinition
    hands: int  # from each side
    seed: int
    over: str  # tcp or memory; an external program always plays over tcp
    jobs: int
    folder: Path | None = None  # each match gets its own folder in it; None: no logs are kept
    score: ScoreName = "chips"
    cells: CellStore | None = None  # what was played earlier

    def plan(self, first: PlayerSpec, second: PlayerSpec) -> MatchPlan:
        external = PlayerKind.PROGRAM in (first.kind, second.kind)
        return MatchPlan(
            players=(first, second),
            game=self.game,
            definition=self.definition.to_text(),
            hands=self.hands,
            seed=self.seed,
            repeat=1,
            over="tcp" if external or self.over == "tcp" else "memory",
            score=self.score,
        )

    def pairs(self, first: PlayerSpec, second: PlayerSpec, listen: ShareListener = lambda share: None) -> Float:
        """What `first` wins per hand in each pair, in chips, by the comparison's way of scoring."""
        if self.cells is not None:
            return self.cells.pairs(first, second, lambda: self._play(first, second, listen))
        return self._play(first, second, listen)

    def _play(self, first: PlayerSpec, second: PlayerSpec, listen: ShareListener) -> Float:
        plan = self.plan(first, second)
        board_values = SCORES[self.score].board_values
        if board_values:
            score = load_score(board_values)
            values = score(
                self.definition, plan.players, self.seed, self.hands, self.jobs, lambda done: listen(done / self.hands)
            )
            return np.asarray(values.mean(axis=1))
        in_engine = plan.over == "memory" and not any(map(is_searching, plan.players))
        if in_engine and self.folder is None and self.score == "chips":
            return self._pairs_in_memory(plan, listen)
        with ExitStack() as stack:
            played = plan.model_copy(update={"score": "chips"})  # scored below, from the logs
            if self.folder is not None:
                folder = self._match_folder(self.folder, played)
            else:
                folder = Path(stack.enter_context(TemporaryDirectory(prefix="foldwise-compare-"))) / "match"
                create_folder(folder, played)
            result = play_match(played, folder, self.jobs, lambda _, share: listen(share))
            if result["faults"]:
                fault = result["first_fault"].partition("\n")[0]
                raise DefinitionError(
                    f"{str(first)!r} against {str(second)!r}: {result['faults']} faults, the first: {fault}; "
                    "play it with 'match' to see more"
                )
            scorer = make_scorer(plan, self.definition, self.jobs, lambda *_: None)
            return np.asarray(pairs_by_position(plan, folder, 0, self.definition, scorer).mean(axis=1))

    def _match_folder(self, parent: Path, plan: MatchPlan) -> Path:
        """The folder of an interrupted match with this plan, which is then continued, or a new one."""
        folders = sorted(parent.iterdir())
        for folder in folders:
            if (folder / PLAN_FILE).is_file() and load_plan(folder) == plan:
                return folder
        folder = parent / f"{len(folders):03d}"
        create_folder(folder, plan)
        return folder

    def _pairs_in_memory(self, plan: MatchPlan, listen: ShareListener) -> Float:
        tables: list[npt.NDArray[np.int64]] = []

        def hands_done(done: int) -> None:
            listen((len(tables) * plan.hands + done) / (2 * plan.hands))

        for run in plan.runs(0):
            players = tuple(make_player(spec, seed) for spec, seed in zip(run.players(), run.player_seeds()))
            _check_compiled(players)
            tables.append(play_values(self.definition, players, run.seed, plan.hands, self.jobs, hands_done))
        return np.asarray(pair_values(*tables).mean(axis=1))

    def estimate(self, pairs: Float) -> Estimate:
        return estimate(pairs, self.definition.big_blind)


def _check_compiled(players: Sequence[Player]) -> None:
    for player in players:
        if not isinstance(player, Bot | StrategyPlayer):
            raise DefinitionError(f"{type(player).__name__} plays over tcp only: give --over tcp")


@dataclass(frozen=True)
class Row:
    """One variant against every opponent."""

    variant: str
    results: list[Estimate]  # by opponent
    average: Estimate  # over the opponents
    minimum_mbb: float


@dataclass(frozen=True)
class Difference:
    """How much more variant `a` wins than `b` on the same deals, averaged over the opponents, and by opponent."""

    a: str
    b: str
    average: Estimate
    results: list[Estimate]


@dataclass(frozen=True)
class Comparison:
    """Variants x opponents."""

    opponents: list[PlayerSpec]
    rows: list[Row]
    differences: list[Difference]
    seconds: float
    hands_per_second: float


class _CellProgress:
    """Reports how far a cell is as a share of all cells, with its rate."""

    def __init__(self, table: Table, text: str, number: int, num_cells: int, listen: Listener):
        boards = bool(SCORES[table.score].board_values)
        self._count, self._unit = (table.hands, "boards") if boards else (2 * table.hands, "hands")
        self._text, self._number, self._num_cells, self._listen = text, number, num_cells, listen
        self._start = time.monotonic()
        self.update(0.0)

    def update(self, share: float) -> None:
        seconds = time.monotonic() - self._start
        rate = f", {share * self._count / seconds:,.0f} {self._unit}/s" if share > 0.0 and seconds > 0.0 else ""
        self._listen(f"{self._text}{rate}", (self._number + share) / self._num_cells)


def compare(
    table: Table,
    folder: Path,
    variants: Sequence[str],
    opponents: Sequence[PlayerSpec | str],
    listen: Listener,
    translation: Translation = DEFAULT_TRANSLATION,
    listen_cells: CellListener | None = None,
) -> Comparison:
    """The strategy in `folder` under each of `variants`, against each of `opponents`."""
    start = time.monotonic()
    players = list(map(as_player, opponents))
    pairs = np.empty((len(variants), len(players), table.hands))
    for i, variant in enumerate(variants):
        for j, player in enumerate(players):
            progress = _CellProgress(
                table, f"{variant} against {player.short()}", i * len(players) + j, len(variants) * len(players), listen
            )
            pairs[i, j] = table.pairs(variant_player(folder, variant, translation), player, progress.update)
            if listen_cells is not None:
                listen_cells(i, j, pairs[i, j])
    return comparison_of(table, variants, players, pairs, time.monotonic() - start)


def variant_player(folder: Path, variant: str, translation: Translation) -> PlayerSpec:
    """The strategy in `folder` under one of the post-processings that are compared."""
    return PlayerSpec(PlayerKind.STRATEGY, str(folder), variant, translation)


def comparison_of(
    table: Table, variants: Sequence[str], opponents: Sequence[PlayerSpec], pairs: Float, seconds: float
) -> Comparison:
    """The comparison of what each variant wins from each opponent in each pair, [variant, opponent, pair]."""
    rows = []
    for variant, of_variant in zip(variants, pairs):
        results = [table.estimate(values) for values in of_variant]
        average = table.estimate(of_variant.mean(axis=0))
        rows.append(Row(variant, results, average, min(result.mean_mbb for result in results)))
    differences = []
    for i, j in combinations(range(len(variants)), 2):
        delta = pairs[i] - pairs[j]
        by_opponent = [table.estimate(values) for values in delta]
        differences.append(Difference(variants[i], variants[j], table.estimate(delta.mean(axis=0)), by_opponent))
    hands = 2 * table.hands * len(variants) * len(opponents)
    return Comparison(list(opponents), rows, differences, seconds, hands / max(seconds, 1e-9))


class CellResult(TypedDict):
    """What a variant won from one opponent, as JSON."""

    opponent: str
    mean_mbb: float
    ci95_mbb: float
    hands: int


class RowResult(TypedDict):
    """One variant, as JSON; exploitability and LBR if they were requested and are known."""

    variant: str
    results: list[CellResult]
    avg_mbb: float
    avg_ci95_mbb: float
    min_mbb: float
    exploitability_mbb: NotRequired[float]
    lbr_mbb: NotRequired[float]
    lbr_ci95_mbb: NotRequired[float]
    lbr_hands: NotRequired[int]


class DifferenceResult(TypedDict):
    """Two variants, as JSON."""

    a: str
    b: str
    mean_mbb: float
    ci95_mbb: float
    results: list[CellResult]


class ComparisonResult(TypedDict):
    """`comparison.json`."""

    strategy: str
    seed: int
    score: str
    opponents: list[str]
    rows: list[RowResult]
    differences: list[DifferenceResult]
    seconds: float
    hands_per_second: float
    boards_counted: NotRequired[int]


def comparison_result(
    comparison: Comparison,
    exploitability_mbb: Sequence[float | None],
    *,
    strategy: str,
    seed: int,
    score: str,
) -> ComparisonResult:
    """A comparison as JSON, with what each variant can lose if it is known."""
    opponents = list(map(str, comparison.opponents))
    rows = []
    for row, exploitability in zip(comparison.rows, exploitability_mbb):
        entry = RowResult(
            variant=row.variant,
            results=_cells(opponents, row.results),
            avg_mbb=row.average.mean_mbb,
            avg_ci95_mbb=row.average.ci95_mbb,
            min_mbb=row.minimum_mbb,
        )
        if exploitability is not None:
            entry["exploitability_mbb"] = exploitability
        rows.append(entry)
    return ComparisonResult(
        strategy=strategy,
        seed=seed,
        score=score,
        opponents=opponents,
        rows=rows,
        differences=[
            DifferenceResult(
                a=difference.a,
                b=difference.b,
                mean_mbb=difference.average.mean_mbb,
                ci95_mbb=difference.average.ci95_mbb,
                results=_cells(opponents, difference.results),
            )
            for difference in comparison.differences
        ],
        seconds=comparison.seconds,
        hands_per_second=comparison.hands_per_second,
    )


def _cells(opponents: Sequence[str], results: Sequence[Estimate]) -> list[CellResult]:
    return [
        CellResult(opponent=opponent, mean_mbb=result.mean_mbb, ci95_mbb=result.ci95_mbb, hands=2 * result.count)
        for opponent, result in zip(opponents, results)
    ]


def cross_table(table: Table, players: Sequence[PlayerSpec | str], listen: Listener) -> list[list[Estimate | None]]:
    """What each row's player wins from each column's; None on the diagonal."""
    specs = list(map(as_player, players))
    cells: list[list[Estimate | None]] = [[None] * len(players) for _ in players]
    meetings = list(combinations(range(len(players)), 2))
    for done, (i, j) in enumerate(meetings):
        progress = _CellProgress(table, f"{specs[i].short()} against {specs[j].short()}", done, len(meetings), listen)
        result = table.estimate(table.pairs(specs[i], specs[j], progress.update))
        cells[i][j] = result
        cells[j][i] = Estimate(-result.mean_mbb, result.ci95_mbb, result.sd_mbb, result.count)
    return cells
