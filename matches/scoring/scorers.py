"""How the hands of a match are scored: chips, all-in expectation, AIVAT; and matches scored without playing a hand."""

import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.storage.array_store import map_file
from foldwise.abstraction.storage.whole_file import bytes_written_whole
from foldwise.agent.mappings.translation import DEFAULT_TRANSLATION
from foldwise.agent.player_spec import PlayerKind, PlayerSpec
from foldwise.agent.strategy_player import OpenStrategy, StrategyPlayer, make_strategy_player, parse_postprocess
from foldwise.game.arrays import Float
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.matches.engine.compiled_match import play_values
from foldwise.matches.plan import MatchPlan
from foldwise.matches.results import Effort, MatchResult, match_result, narrow_enough
from foldwise.matches.scores import SCORES, known_score, load_score
from foldwise.matches.scoring.aivat import Aivat
from foldwise.matches.scoring.aivat_values import DEFAULT_BOARDS, Values, load_values, make_values
from foldwise.matches.scoring.all_in import expected_line_values
from foldwise.matches.scoring.expectation import Expectation, match_boards
from foldwise.matches.statistics import pair_values
from foldwise.matches.table.log import line_values, parse_state_line
from foldwise.search.players import check_plays_tables, make_player

Listener = Callable[[str, float], None]  # what is done, and its share
Scorer = Callable[[str, int], list[float]]  # a log line and A's position in it -> values by position


def check_score(score: str, players: Sequence[PlayerSpec]) -> None:
    """Raise `DefinitionError` for a score that does not exist or does not work for these players."""
    needed = SCORES[known_score(score)].num_strategies
    if needed:
        for player in players:
            check_plays_tables(player, f"--score {score}")
    others = [player for player in players if player.kind != PlayerKind.STRATEGY]
    if len(players) - len(others) < needed:
        raise DefinitionError(
            f"--score {score}: {str(others[0])!r} is not a strategy: it takes {needed} of them, --score chips any players"
        )


def open_with_values(spec: PlayerSpec, threads: int, listen: Listener) -> tuple[StrategyPlayer, Values]:
    """A strategy as a player, and its values: kept beside the strategy, made at the first use."""
    pipeline = parse_postprocess(spec)
    opened = OpenStrategy(spec.folder)
    values = load_values(opened.strategy)
    if values is None:
        values = make_values(
            opened,
            DEFAULT_BOARDS,
            0,
            threads,
            lambda done: listen(f"values of {spec.folder.name}: {done} boards", done / DEFAULT_BOARDS),
        )
    return opened.player(pipeline, 0, spec.translation or DEFAULT_TRANSLATION), values


def make_scorer(plan: MatchPlan, definition: GameDefinition, threads: int, listen: Listener) -> Scorer:
    """How the lines of a match's logs are scored."""
    scorer: Scorer = load_score(SCORES[plan.score].log_scorer)(plan, definition, threads, listen)
    return scorer


def make_chips_scorer(plan: MatchPlan, definition: GameDefinition, threads: int, listen: Listener) -> Scorer:
    """Chips as won, or averaged over the cards to come where all chips are in."""
    return (lambda line, _: expected_line_values(line, definition)) if plan.all_in_ev else chips_scorer


def chips_scorer(line: str, first: int) -> list[float]:
    """What the log says."""
    return line_values(line)


def make_aivat_scorer(plan: MatchPlan, definition: GameDefinition, threads: int, listen: Listener) -> Scorer:
    """Played hands without the luck that one strategy, or both, explain."""
    check_score("aivat", plan.players)
    opened = {
        name: open_with_values(spec, threads, listen)
        for name, spec in zip("AB", plan.players)
        if spec.kind == PlayerKind.STRATEGY
    }
    known, other = ("A", "B") if "A" in opened else ("B", "A")
    aivat = Aivat(definition, *opened[known], *opened.get(other, (None, None)))
    planned = 2 * plan.hands * plan.repeat
    numbers = count(1)

    def score(line: str, first: int) -> list[float]:
        number = next(numbers)
        listen(f"{number} hands scored", min(1.0, number / planned))
        position = first if known == "A" else 1 - first
        won = aivat.score(parse_state_line(line, definition), position)
        return [won, -won] if position == 0 else [-won, won]

    return score


def expectation_pairs(
    definition: GameDefinition,
    players: Sequence[PlayerSpec],
    seed: int,
    hands: int,
    threads: int,
    listen: Callable[[int], None],
) -> Float:
    """[hands, 2]: A's expected value in positions 0 and 1 on each board of a match; the exact one in a small game."""
    check_score("expectation", players)
    first, second = (make_strategy_player(player, 0) for player in players)
    scoring = Expectation(definition, (first, second), seed=seed)
    exact = scoring.exact()
    if exact is not None:
        return np.tile(np.array(exact), (hands, 1))
    return scoring.values(match_boards(definition, seed, hands), threads, listen=listen)


def score_boards(
    plan: MatchPlan, definition: GameDefinition, folder: Path, threads: int, listen: Listener
) -> MatchResult:
    """A match scored by its boards, its hands played in memory for comparison. Continues what is there."""
    board_values = load_score(SCORES[plan.score].board_values)
    start = time.monotonic()
    matches: list[Float] = []
    chips: list[Float] = []
    while len(matches) < plan.repeat and not narrow_enough(plan, matches, definition.big_blind):
        index = len(matches)
        path = folder / f"{index:04d}.{plan.score}.npy"
        seed = (plan.seed + index) % 2**32
        if not path.exists():

            def tell(done: int, before: int = index * plan.hands) -> None:
                boards = before + done
                listen(f"{boards} boards", boards / (plan.hands * plan.repeat))

            values = board_values(definition, plan.players, seed, plan.hands, threads, tell)
            with bytes_written_whole(path) as file:
                np.save(file, values)
        matches.append(_read_boards(path, plan.hands))
        chips.append(_played(plan, definition, index, threads))
    return match_result(plan, definition, matches, chips, Effort(time.monotonic() - start))


def _read_boards(path: Path, hands: int) -> Float:
    """[hands, 2]: the values of a match's boards, as `score_boards` keeps them."""
    remedy = "remove it, and resume the match"
    values: Float = np.array(map_file(path, remedy))
    if values.shape != (hands, 2) or values.dtype.kind != "f" or not np.isfinite(values).all():
        raise FormatError(f"{str(path)!r} is damaged (it holds {values.shape}, expected finite {(hands, 2)}): {remedy}")
    return values


def _played(plan: MatchPlan, definition: GameDefinition, index: int, threads: int) -> Float:
    """What A really wins on the same cards, in positions 0 and 1."""
    tables: list[npt.NDArray[np.int64]] = []
    for run in plan.runs(index):
        players = tuple(make_player(spec, seed) for spec, seed in zip(run.players(), run.player_seeds()))
        tables.append(play_values(definition, players, run.seed, plan.hands, threads))
    return pair_values(*tables)
