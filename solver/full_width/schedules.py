"""Schedules of full-width CFR: what iteration t multiplies old regrets and sums by, and what new ones weigh."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foldwise.game.arrays import Float


class Steps(NamedTuple):
    """The numbers of iterations t: what old regrets and sums are multiplied by, and what new ones weigh. All [T]."""

    positive: Float
    negative: Float
    sum_factor: Float
    sum_weight: Float
    floor: Float


Schedule = Callable[[Float], Steps]


def cfr(t: Float) -> Steps:
    """Zinkevich et al. (NIPS 2007)."""
    one = np.ones_like(t)
    return Steps(one, one, one, one, np.full_like(t, -np.inf))


def cfr_plus(t: Float) -> Steps:
    """Tammelin et al. (IJCAI 2015): regret matching+, the average weighted by t."""
    one = np.ones_like(t)
    return Steps(one, one, one, t, np.zeros_like(t))


def linear(t: Float) -> Steps:
    """Linear CFR, Brown and Sandholm (AAAI 2019): everything weighted by t."""
    share = (t - 1.0) / t
    return Steps(share, share, share, np.ones_like(t), np.full_like(t, -np.inf))


def discounted(t: Float) -> Steps:
    """Discounted CFR with alpha 3/2, beta 0, gamma 2, Brown and Sandholm (AAAI 2019)."""
    last = t - 1.0
    positive = last**1.5 / (last**1.5 + 1.0)
    return Steps(positive, np.full_like(t, 0.5), (last / t) ** 2, np.ones_like(t), np.full_like(t, -np.inf))


def discounted_plus(t: Float) -> Steps:
    """DCFR+ with alpha 3/2, gamma 4, Xu et al. (IJCAI 2024): discounted CFR whose regrets are floored as in CFR+."""
    return discounted(t)._replace(sum_factor=((t - 1.0) / t) ** 4, floor=np.zeros_like(t))
