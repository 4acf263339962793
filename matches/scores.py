"""The scores: one table that says of each `--score` what it needs and who computes it.

The table holds names only, so that a plan or `--help` can name scores without loading a kernel.
"""

from importlib import import_module
from typing import Any, Final, NamedTuple

from foldwise.game.errors import DefinitionError


class ScoreMethod(NamedTuple):
    """A line of the table. Names are MODULE:NAME below `foldwise.matches`; a score has one of the two."""

    about: str
    num_strategies: int  # how many of the two players must be strategy folders
    log_scorer: str = ""  # (plan, definition, threads, listen) -> `scoring.scorers.Scorer`, for the lines of a log
    board_values: str = ""  # (definition, players, seed, hands, threads, listen) -> [hands, 2], without playing a hand


SCORES: Final[dict[str, ScoreMethod]] = {
    "chips": ScoreMethod("as played", 0, log_scorer="scoring.scorers:make_chips_scorer"),
    "expectation": ScoreMethod(
        "two strategies: mean over all hands, on each board", 2, board_values="scoring.scorers:expectation_pairs"
    ),
    "aivat": ScoreMethod(
        "one strategy or two: played hands without the luck we know of",
        1,
        log_scorer="scoring.scorers:make_aivat_scorer",
    ),
}


def known_score(name: str) -> str:
    """The name; `DefinitionError` for a score that does not exist."""
    if name not in SCORES:
        *others, last = SCORES
        raise DefinitionError(f"--score {name!r}: expected {', '.join(others)} or {last}")
    return name


def load_score(name: str) -> Any:
    """The function behind a line's name."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(f"foldwise.matches.{module}"), attribute)
