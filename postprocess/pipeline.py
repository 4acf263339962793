"""A post-processing pipeline: steps, exemptions, its canonical text, and its numbers for compiled code.

`language.parse_pipeline` makes one from text; `docs/postprocessing.md` describes both the text and the numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from foldwise.postprocess import transforms
from foldwise.postprocess.transforms import KEEP_ALL, NEVER_FOLD, ONE_BET_CLASS, PURIFY, Actions, FloatArray

STREETS = ("preflop", "flop", "turn", "river")
Float = TypeVar("Float", bound=np.floating)


def number_text(number: float) -> str:
    """The shortest text that reads back as the same number: 0.2, 1, 1e-05."""
    return str(int(number)) if number == int(number) else repr(float(number))


def rule_text(floor: float) -> str:
    """The rule a floor stands for: none, purify or threshold(t)."""
    if floor == KEEP_ALL:
        return "none"
    return "purify" if floor == PURIFY else f"threshold({number_text(floor)})"


@dataclass(frozen=True)
class RowStep:
    """One rule over the whole row: threshold(t) or purify."""

    floor: float

    def __str__(self) -> str:
        return rule_text(self.floor)


@dataclass(frozen=True)
class ClassStep:
    """Fold threshold, rule between classes, rule within them; the defaults are new(1)."""

    fold_over: float = NEVER_FOLD
    split_pot: float = ONE_BET_CLASS
    between: float = PURIFY
    within: float = PURIFY

    def __str__(self) -> str:
        if (self.split_pot, self.between, self.within) == (ONE_BET_CLASS, PURIFY, PURIFY):
            return f"new({number_text(self.fold_over)})"
        options = []
        if self.split_pot != ONE_BET_CLASS:
            options.append(f"bets=split({number_text(self.split_pot)})")
        if self.fold_over != NEVER_FOLD:
            options.append(f"fold={number_text(self.fold_over)}")
        if self.between != PURIFY:
            options.append(f"between={rule_text(self.between)}")
        if self.within != PURIFY:
            options.append(f"within={rule_text(self.within)}")
        return f"classes({', '.join(options)})"


Rule = Callable[[FloatArray, Actions], FloatArray]  # rows [rows, A] to rows of the same shape


@dataclass(frozen=True)
class PythonStep:
    """A rule that is a function over whole tables: no kernel runs it on a row.

    A user's own rule is named `python:FILE.py:NAME` and must be loaded before it is applied: nothing here reads files.
    """

    text: str
    rule: Rule | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text

    def apply(self, table: FloatArray, actions: Actions) -> FloatArray:
        """The rule on one row [A] or a table [rows, A]."""
        if self.rule is None:
            raise ValueError(
                f"post-processing {self.text!r} is not loaded: see agent.postprocessing.python_rules.load_rules"
            )
        return self.rule(np.atleast_2d(table), actions).reshape(table.shape)


class Program(NamedTuple):
    """A pipeline as numbers, for a kernel to run on one row; S steps, done in order.

    Step s with `grouped[s]` is `transforms.by_classes` with the other four; without, it is `transforms.keep_from` with
    the floor `within[s]`. Nothing is done on a street s with bit s of `exempt_streets`, or at the player's first
    decision of the hand when `exempt_first`.
    """

    grouped: npt.NDArray[np.bool_]  # [S]
    fold_over: npt.NDArray[np.float64]  # [S]
    split_pot: npt.NDArray[np.float64]  # [S]
    between: npt.NDArray[np.float64]  # [S]
    within: npt.NDArray[np.float64]  # [S]
    exempt_first: bool
    exempt_streets: int


@dataclass(frozen=True)
class Pipeline:
    """Steps in order, and where they do not apply. `str()` gives the canonical text, which parses back to the same."""

    steps: tuple[RowStep | ClassStep | PythonStep, ...] = ()
    exempt_first: bool = False
    exempt_streets: frozenset[int] = frozenset()

    def __str__(self) -> str:
        if not self.steps:
            return "none"
        text = " | ".join(map(str, self.steps))
        exempt = ["first"] * self.exempt_first + [STREETS[street] for street in sorted(self.exempt_streets)]
        return f"{text} except {'+'.join(exempt)}" if exempt else text

    def apply(
        self,
        table: npt.NDArray[Float],
        actions: Actions,
        *,
        street: int | npt.NDArray[np.integer] = 0,
        first: bool | npt.NDArray[np.bool_] = False,
    ) -> npt.NDArray[Float]:
        """Post-process one row [A] or a table [rows, A]; the dtype stays, the arithmetic is in float64.

        `street` is 0 for preflop; `first` says that this is the player's first decision of the hand. For a table either
        may be an array [rows].
        """
        exempt = np.isin(street, list(self.exempt_streets)) | (np.asarray(first) & self.exempt_first)
        if not self.steps or exempt.all():
            return table.copy()
        result: npt.NDArray[np.floating] = table.astype(np.float64)
        for step in self.steps:
            if isinstance(step, RowStep):
                result = transforms.keep_from(result, step.floor)
            elif isinstance(step, PythonStep):
                result = step.apply(result, actions)
            else:
                result = transforms.by_classes(
                    result,
                    actions,
                    fold_over=step.fold_over,
                    split_pot=step.split_pot,
                    between=step.between,
                    within=step.within,
                )
        return np.where(exempt[..., None], table, result.astype(table.dtype))

    @property
    def has_python(self) -> bool:
        """Whether a step is a function in Python: such a pipeline has no program."""
        return any(isinstance(step, PythonStep) for step in self.steps)

    @property
    def files(self) -> list[str]:
        """Names of the rules that must be loaded from the user's files."""
        return [step.text for step in self.steps if isinstance(step, PythonStep) and step.rule is None]

    def exemptions(self) -> "Pipeline":
        """The exemptions without the steps, for kernels that find the result of the steps in a table."""
        return replace(self, steps=())

    def program(self) -> Program:
        """The same pipeline as arrays."""
        assert not self.has_python
        compiled = [step for step in self.steps if not isinstance(step, PythonStep)]
        steps = [ClassStep(within=step.floor) if isinstance(step, RowStep) else step for step in compiled]
        return Program(
            grouped=np.array([isinstance(step, ClassStep) for step in self.steps], dtype=np.bool_),
            fold_over=np.array([step.fold_over for step in steps], dtype=np.float64),
            split_pot=np.array([step.split_pot for step in steps], dtype=np.float64),
            between=np.array([step.between for step in steps], dtype=np.float64),
            within=np.array([step.within for step in steps], dtype=np.float64),
            exempt_first=self.exempt_first,
            exempt_streets=sum(1 << street for street in self.exempt_streets),
        )
