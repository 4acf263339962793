"""A user's own post-processing rules: `python:FILE.py:NAME` as a step of a pipeline.

NAME is called with rows [rows, A], which it may change, and the `Actions` their columns stand for; it returns rows of the
same shape. What it returns is checked: probabilities that sum to one.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from foldwise.game.errors import DefinitionError
from foldwise.game.python_file import load_name, own_code_error, resolve_name
from foldwise.postprocess.language import PYTHON_RULE
from foldwise.postprocess.pipeline import Pipeline, PythonStep, Rule
from foldwise.postprocess.transforms import Actions, FloatArray

_WHAT: Final = "post-processing"
_EXPECTED: Final = "NAME(rows, actions) that returns probabilities of the same shape, see docs/postprocessing.md"
_SUM_TOLERANCE: Final = 1e-6


def resolve_rules(text: str) -> str:
    """Post-processing text with absolute paths of rule files, for players that are started in another folder."""
    return PYTHON_RULE.sub(lambda name: resolve_name(_WHAT, name.group()), text)


def load_rules(pipeline: Pipeline) -> Pipeline:
    """The same pipeline with its rule files loaded, ready to be applied."""
    steps = [
        replace(step, rule=_load_rule(step.text)) if isinstance(step, PythonStep) and step.rule is None else step
        for step in pipeline.steps
    ]
    return replace(pipeline, steps=tuple(steps))


def _load_rule(text: str) -> Rule:
    own_rule = load_name(_WHAT, text, _EXPECTED)

    def rule(rows: FloatArray, actions: Actions) -> FloatArray:
        try:
            result = np.asarray(own_rule(rows.copy(), actions), dtype=np.float64)
        except Exception as error:  # the user's code may raise anything
            raise own_code_error(_WHAT, text, error, _EXPECTED) from error
        if result.shape != rows.shape:
            raise DefinitionError(
                f"{_WHAT} {text!r}: returned shape {result.shape} for {rows.shape}: expected {_EXPECTED}"
            )
        sums = result.sum(axis=-1)
        if not (np.isfinite(result).all() and (result >= 0.0).all() and np.allclose(sums, 1.0, atol=_SUM_TOLERANCE)):
            raise DefinitionError(f"{_WHAT} {text!r}: returned rows that are no probabilities: expected {_EXPECTED}")
        return np.asarray(result / sums[..., np.newaxis])

    return rule
