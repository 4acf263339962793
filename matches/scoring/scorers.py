"""How the hands of a match are scored: chips, all-in expectation, AIVAT; and matches scored without playing a hand."""

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.storage.checked_values import read_values, write_values
from foldwise.agent.mappings.translation import DEFAULT_TRANSLATION
from foldwise.agent.player_spec import PlayerKind, PlayerSpec
from foldwise.agent.strategy_player import OpenStrategy, StrategyPlayer, make_strategy_player, parse_postprocess
from foldwise.game.arrays import Float
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.matches.engine.compiled_match import play_values
from foldwise.matches.plan import MatchPlan, Run
from foldwise.matches.results import Effort, MatchResult, match_result, narrow_enough
from foldwise.matches.scores import SCORES, known_score, load_score
from foldwise.matches.scoring.aivat import Aivat
from foldwise.matches.scoring.aivat_values import DEFAULT_BOARDS, Values, load_values, make_values
from foldwise.matches.scoring.all_in import expected_line_values
from foldwise.matches.scoring.expectation import Expectation, match_boards
from foldwise.matches.statistics import pair_values
from foldwise.matches.table.log import LoggedHand, line_values, parse_state_line
from foldwise.search.players import check_plays_tables, is_searching, make_player

Listener = Callable[[str, float], None]  # what is done, and its share
HandScore = Callable[[LoggedHand, int], float]  # what a player wins in a hand, by his position
Scorer = Callable[[Run, str, int], list[float]]  # a line of a run's log and A's position in it -> values by position


def check_score(score: str, players: Sequence[PlayerSpec]) -> None:
    """Raise `DefinitionError` for a score that does not exist or does not work for these players."""
    needed = SCORES[known_score(score)].num_strategies
    if SCORES[score].board_values:
        for player in players:
            check_plays_tables(player, f"--score {score}")
    others = [player for player in players if player.kind != PlayerKind.STRATEGY]
    if len(players) - len(others) < needed:
        raise DefinitionError(
            f"--score {score}: {str(others[0])!r} is not a strategy: it takes {needed} of them, --score chips any players"
        )


def open_with_values(spec: PlayerSpec, threads: int, listen: Listener) -> tuple[StrategyPlayer, Values]:
    """A strategy as a player, and its values, which are computed at first use and kept beside the strategy."""
    opened = OpenStrategy(spec.folder)
    player = opened.player(parse_postprocess(spec), 0, spec.translation or DEFAULT_TRANSLATION)
    return player, strategy_values(opened, threads, listen)


def strategy_values(opened: OpenStrategy, threads: int, listen: Listener) -> Values:
    """The values kept beside the strategy, computed at first use."""
    values = load_values(opened.strategy)
    if values is None:
        values = make_values(
            opened,
            DEFAULT_BOARDS,
            0,
            threads,
            lambda done: listen(f"values of {opened.strategy.folder.name}: {done} boards", done / DEFAULT_BOARDS),
        )
    return values


def make_scorer(plan: MatchPlan, definition: GameDefinition, threads: int, listen: Listener) -> Scorer:
    """How the lines of a match's logs are scored."""
    scorer: Scorer = load_score(SCORES[plan.score].log_scorer)(plan, definition, threads, listen)
    return scorer


def make_chips_scorer(plan: MatchPlan, definition: GameDefinition, threads: int, listen: Listener) -> Scorer:
    """Chips as won, or averaged over the cards to come where all chips are in."""
    return (lambda run, line, first: expected_line_values(line, definition)) if plan.all_in_ev else chips_scorer


def chips_scorer(run: Run, line: str, first: int) -> list[float]:
    """The values in the log."""
    return line_values(line)


def make_aivat_scorer(plan: MatchPlan, definition: GameDefinition, threads: int, listen: Listener) -> Scorer:
    """Played hands without the luck that one strategy, or both, explain."""
    check_score("aivat", plan.players)
    letters = [letter for letter, spec in zip("AB", plan.players) if spec.kind == PlayerKind.STRATEGY]
    specs = [plan.players["AB".index(letter)] for letter in letters]
    score_as = aivat_by_seeds(definition, specs, threads, listen)
    planned = 2 * plan.hands * plan.repeat
    numbers = count(1)

    def score(run: Run, line: str, first: int) -> list[float]:
        number = next(numbers)
        listen(f"{number} hands scored", min(1.0, number / planned))
        position = first if letters[0] == "A" else 1 - first
        by_letter = dict(zip(run.order, run.player_seeds()))
        won = score_as(tuple(by_letter[letter] for letter in letters))(parse_state_line(line, definition), position)
        return [won, -won] if position == 0 else [-won, won]

    return score


def aivat_by_seeds(
    definition: GameDefinition, specs: Sequence[PlayerSpec], threads: int, listen: Listener
) -> Callable[[tuple[int, ...]], HandScore]:
    """What the first of one or two strategies wins in a hand, for the seeds they played by.

    Tables need no seed, since readings are averaged over. A searching player is asked again, with the seed of the run.
    """
    if not any(map(is_searching, specs)):
        known = [open_with_values(spec, threads, listen) for spec in specs]
        aivat = Aivat(definition, *known[0], *(known[1] if len(known) > 1 else (None, None)))
        return lambda seeds: aivat.score
    from foldwise.matches.scoring.aivat_rows import RowsScorer, rows_player, score_both  # loads the solver

    values = [strategy_values(OpenStrategy(spec.folder), threads, listen) for spec in specs]

    @lru_cache(maxsize=1)  # runs are scored one after the other
    def searching(seeds: tuple[int, ...]) -> HandScore:
        asked = [rows_player(make_player(spec, seed)) for spec, seed in zip(specs, seeds)]
        if len(asked) == 1:
            return RowsScorer(definition, asked[0], values[0]).score
        return score_both(definition, asked, values)

    return searching


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
    """A match scored by its boards; its hands are played in memory for comparison. Continues an existing folder."""
    board_values = load_score(SCORES[plan.score].board_values)
    start = time.monotonic()
    matches: list[Float] = []
    chips: list[Float] = []
    while len(matches) < plan.repeat and not narrow_enough(plan, matches, definition.big_blind):
        index = len(matches)
        path = boards_path(plan, folder, index)
        seed = (plan.seed + index) % 2**32
        if not path.exists():

            def tell(done: int, before: int = index * plan.hands) -> None:
                boards = before + done
                listen(f"{boards} boards", boards / (plan.hands * plan.repeat))

            values = board_values(definition, plan.players, seed, plan.hands, threads, tell)
            write_values(path, values)
        matches.append(read_boards(path, plan.hands))
        chips.append(_played(plan, definition, index, threads))
    return match_result(plan, definition, matches, chips, Effort(time.monotonic() - start))


def boards_path(plan: MatchPlan, folder: Path, index: int) -> Path:
    """The values of the boards of a plan's match, where hands are not played."""
    return folder / f"{index:04d}.{plan.score}.npy"


def read_boards(path: Path, hands: int) -> Float:
    """[hands, 2]: the values of a match's boards, as `score_boards` keeps them."""
    return read_values(path, (hands, 2), "remove it, and resume the match")


def _played(plan: MatchPlan, definition: GameDefinition, index: int, threads: int) -> Float:
    """What A really wins on the same cards, in positions 0 and 1."""
    tables: list[npt.NDArray[np.int64]] = []
    for run in plan.runs(index):
        players = tuple(make_player(spec, seed) for spec, seed in zip(run.players(), run.player_seeds()))
        tables.append(play_values(definition, players, run.seed, plan.hands, threads))
    return pair_values(*tables)
