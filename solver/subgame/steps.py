"""The numbers of an iteration, as kernels over hands read them."""

from typing import Final, Literal

import numpy as np

from foldwise.game.arrays import Counts, Single
from foldwise.solver.full_width.schedules import Schedule
from foldwise.solver.samplers import load_rule
from foldwise.solver.subgame.hand_kernels import Rules

Kind = Literal["average", "best"]

NUM_STEPS: Final = Rules._fields.index("learns")
_VALUE = Rules(*(np.float32(0.0),) * 5, learns=False, averages=True, responds=False)
VALUE_RULES: Final[dict[Kind, Rules]] = {"average": _VALUE, "best": _VALUE._replace(responds=True)}


def schedule_steps(schedule: Schedule, iterations: Counts) -> Single:
    """What a schedule says of iterations: [iterations, NUM_STEPS]."""
    found = schedule(iterations.astype(np.float64))
    return np.ascontiguousarray(np.stack(found, axis=1), dtype=np.float32)


def learning_rules(schedule: str, iteration: int) -> Rules:
    """What the schedule of a name (see `samplers.FULL_WIDTH`) says of one iteration; the first is 1."""
    positive, negative, sum_factor, sum_weight, floor = schedule_steps(load_rule(schedule), np.array([iteration]))[0]
    return Rules(positive, negative, sum_factor, sum_weight, floor, learns=True, averages=False, responds=False)
