# mypy: allow-untyped-defs, allow-untyped-calls
"""The choice before a subgame: enter it, or stay out. n: hands."""

from typing import NamedTuple

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.solver.subgame.hand_kernels import add_products, learn_regrets, match_hands, multiply


class EntryChoice(NamedTuple):
    """Who chooses, what his hands have learned, and what they are offered."""

    player: int  # -1: nobody
    entering: np.ndarray  # float32[n]: the weight with which each hand enters
    forced: np.ndarray  # float32[n]: the part of it that has no choice
    offered: np.float32  # the part that has one
    outside: np.ndarray  # float32[n]: values of staying out
    regrets: np.ndarray  # float32[2, n]: of coming in, and of staying out
    sigma: np.ndarray  # float32[2, n]
    total: np.ndarray  # float32[n]


@kernel(_nrt=False)
def enter_by_choice(choice):
    """The weight with which each hand enters: the forced part, and the share of the offered part that chooses to."""
    match_hands(choice.regrets, choice.sigma, choice.total)
    for h in range(choice.entering.size):
        choice.entering[h] = choice.forced[h] + choice.offered * choice.sigma[0, h]


@kernel(_nrt=False)
def learn_choice(choice, inside, rules):  # ..., float32[n] values of coming in
    """Regrets of the choice between entering and staying out."""
    total, outside = choice.total, choice.outside
    multiply(choice.sigma[0], inside, total)
    add_products(choice.sigma[1], outside, total)
    learn_regrets(choice.regrets[0], inside, total, rules.positive, rules.negative, rules.floor)
    learn_regrets(choice.regrets[1], outside, total, rules.positive, rules.negative, rules.floor)
