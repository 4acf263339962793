"""The samplers: one table that says of each name what it needs and who makes it.

The table holds names only, so that a config or `--help` can name samplers without loading a kernel. A user's own sampler
is named `python:FILE.py:NAME` instead (docs/api/sampler.md).
"""

from difflib import get_close_matches
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from foldwise.game.python_file import PYTHON, resolve_name

if TYPE_CHECKING:
    from foldwise.abstraction.abstract_game import AbstractGame
    from foldwise.solver.checkpoint import Solver
    from foldwise.solver.config import SolverConfig


class Needs(Enum):
    """What a sampler needs of a game."""

    NOTHING = "any game"
    HANDS = "a card abstraction, or few enough deals to list"
    COUNTED_DEALS = "deals that are listed or counted, in buckets that forget nothing"


class Sampler(NamedTuple):
    """A line of the table. Names are MODULE:NAME below `foldwise.solver`."""

    needs: Needs
    maker: str  # called with a game and a `SolverConfig`, returns a `solver.checkpoint.Solver`
    rule: str = ""  # what is its own: the walk over a block of deals, or the schedule of full-width iterations


_MCCFR = "sampling.mccfr:Mccfr"
_CHANCE = "sampling.chance_pieces:make_chance"
_PUBLIC_CHANCE = "sampling.public_chance:PublicChance"
_VECTOR = "sampling.vector_sampling:VectorSampling"
_FULL_WIDTH = "full_width.batch_cfr:make_full_width"

SAMPLERS: Final[dict[str, Sampler]] = {
    "chance": Sampler(Needs.NOTHING, _CHANCE, "sampling.block_kernels:run_chance"),
    "external": Sampler(Needs.NOTHING, _MCCFR, "sampling.block_kernels:run_external"),
    "outcome": Sampler(Needs.NOTHING, _MCCFR, "sampling.block_kernels:run_outcome"),
    "average": Sampler(Needs.NOTHING, _MCCFR, "sampling.block_kernels:run_average"),
    "pcs": Sampler(Needs.HANDS, _PUBLIC_CHANCE),
    "opcs": Sampler(Needs.HANDS, _PUBLIC_CHANCE),
    "spcs": Sampler(Needs.HANDS, _PUBLIC_CHANCE),
    "cfr": Sampler(Needs.COUNTED_DEALS, _FULL_WIDTH, "full_width.schedules:cfr"),
    "cfr+": Sampler(Needs.COUNTED_DEALS, _FULL_WIDTH, "full_width.schedules:cfr_plus"),
    "lcfr": Sampler(Needs.COUNTED_DEALS, _FULL_WIDTH, "full_width.schedules:linear"),
    "dcfr": Sampler(Needs.COUNTED_DEALS, _FULL_WIDTH, "full_width.schedules:discounted"),
    "dcfr+": Sampler(Needs.COUNTED_DEALS, _FULL_WIDTH, "full_width.schedules:discounted_plus"),
    "vector-average": Sampler(Needs.HANDS, _VECTOR),
    "vector-outcome": Sampler(Needs.HANDS, _VECTOR),
    "vector-external": Sampler(Needs.HANDS, _VECTOR),
    "vector-robust": Sampler(Needs.HANDS, _VECTOR),
    "semivector-average": Sampler(Needs.HANDS, _VECTOR),
    "semivector-outcome": Sampler(Needs.HANDS, _VECTOR),
    "semivector-external": Sampler(Needs.HANDS, _VECTOR),
    "semivector-robust": Sampler(Needs.HANDS, _VECTOR),
    "value-average": Sampler(Needs.HANDS, _VECTOR),
    "value-outcome": Sampler(Needs.HANDS, _VECTOR),
    "value-external": Sampler(Needs.HANDS, _VECTOR),
    "value-robust": Sampler(Needs.HANDS, _VECTOR),
}


FULL_WIDTH: Final = tuple(name for name, sampler in SAMPLERS.items() if sampler.maker == _FULL_WIDTH)
# The walks of `sampling.mccfr`, which discounts, weighs and prunes as the config says.
WALKS: Final = tuple(name for name, sampler in SAMPLERS.items() if sampler.maker in (_MCCFR, _CHANCE, _PUBLIC_CHANCE))


def check_sampler(name: str) -> str:
    """The name, with an absolute path for a user's file; `ValueError` if no sampler has it."""
    if name.startswith(PYTHON):
        return resolve_name("sampler", name)
    if name not in SAMPLERS:
        close = get_close_matches(name, SAMPLERS, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise ValueError(f"expected a sampler, {', '.join(SAMPLERS)} or {PYTHON}FILE.py:NAME, got {name!r}{hint}")
    return name


def samplers_by_needs() -> dict[str, list[str]]:
    """Names of samplers by what they need, in words."""
    found: dict[str, list[str]] = {}
    for name, sampler in SAMPLERS.items():
        found.setdefault(sampler.needs.value, []).append(name)
    return found


def load_rule(name: str) -> Any:
    """The specific part of a sampler: its walk or its schedule."""
    return _load(SAMPLERS[name].rule)


def make_sampler(game: "AbstractGame", config: "SolverConfig") -> "Solver":
    """The sampler a config names, on a game."""
    if config.sampler.startswith(PYTHON):
        from foldwise.solver.python_sampler import PythonSampler

        return PythonSampler(game, config)
    solver: Solver = _load(SAMPLERS[config.sampler].maker)(game, config)
    return solver


def _load(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(f"foldwise.solver.{module}"), attribute)
