"""A user's own sampler, `python:FILE.py:NAME`: NAME is called with the game and the `SolverConfig`.

It returns a `solver.checkpoint.Solver`. It runs behind a guard: an exception in its code, or a table from which no
strategy can be made, ends the run with one line, and the last checkpoint stays.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.game.errors import DefinitionError
from foldwise.game.python_file import load_name, own_code_error
from foldwise.solver.checkpoint import Solver
from foldwise.solver.config import SolverConfig

_EXPECTED: Final = "NAME(game, config) that makes a solver, see docs/api/sampler.md"
_MEMBERS: Final = ("iteration", "nodes", "effective_iterations", "table", "largest_step", "advance", "arrays")


class PythonSampler:
    """The user's solver, checked."""

    def __init__(self, game: AbstractGame, config: SolverConfig):
        self._name = config.sampler
        self._num_entries = game.num_entries
        make = load_name("sampler", self._name, _EXPECTED)
        try:
            self._solver: Solver = make(game, config)
        except DefinitionError:
            raise
        except Exception as error:  # the user's code may raise anything
            raise own_code_error("sampler", self._name, error, _EXPECTED) from error
        missing = [member for member in _MEMBERS if not hasattr(self._solver, member)]
        if missing:
            raise self._error(f"what it makes has no {', '.join(missing)}")
        self._check_table()

    def _error(self, complaint: str) -> DefinitionError:
        return DefinitionError(f"sampler {self._name!r}: {complaint}: expected {_EXPECTED}")

    def _check_table(self) -> None:
        table, shape = self._solver.table, (2 * self._num_entries,)
        if not isinstance(table, np.ndarray) or table.shape != shape or table.dtype not in (np.float32, np.float64):
            found = f"{table.dtype}{table.shape}" if isinstance(table, np.ndarray) else type(table).__name__
            raise self._error(f"its table is {found}, not float64{shape} or float32{shape}")
        if not np.isfinite(table).all():
            raise self._error(f"its table holds numbers that are not finite after iteration {self.iteration}")

    @property
    def iteration(self) -> int:
        return self._solver.iteration

    @iteration.setter
    def iteration(self, value: int) -> None:
        self._solver.iteration = value

    @property
    def nodes(self) -> int:
        return self._solver.nodes

    @nodes.setter
    def nodes(self, value: int) -> None:
        self._solver.nodes = value

    @property
    def effective_iterations(self) -> float:
        return self._solver.effective_iterations

    @effective_iterations.setter
    def effective_iterations(self, value: float) -> None:
        self._solver.effective_iterations = value

    @property
    def table(self) -> npt.NDArray[Any]:
        table: npt.NDArray[Any] = self._solver.table
        return table

    @property
    def largest_step(self) -> int:
        return self._solver.largest_step

    def arrays(self) -> Mapping[str, npt.NDArray[Any]]:
        """What a checkpoint keeps: at least the table."""
        arrays = self._solver.arrays()
        if "table" not in arrays or not np.shares_memory(arrays["table"], self._solver.table):
            raise self._error("its arrays() hold no 'table' that is its table")
        return arrays

    def advance(self, iterations: int) -> None:
        """Run that many iterations."""
        goal = self.iteration + iterations
        try:
            self._solver.advance(iterations)
        except DefinitionError:
            raise
        except Exception as error:  # the user's code may raise anything
            raise own_code_error("sampler", self._name, error, f"iteration {goal} to end well") from error
        if self.iteration != goal:
            raise self._error(f"advance({iterations}) led to iteration {self.iteration} instead of {goal}")
        self._check_table()
