"""Results with honest intervals. The unit is the duplicate pair: the same cards, once from each side.

The two hands of a pair share their cards, so they are not independent; their mean is one observation.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from foldwise.game.arrays import Float

_ALPHA = 0.05
# The confidence sequence is narrowest around this many pairs.
_TUNED_PAIRS = 20_000


@dataclass(frozen=True)
class Estimate:
    """A mean with the half-width of its 95% interval; sd of one observation. Thousandths of a big blind per hand."""

    mean_mbb: float
    ci95_mbb: float
    sd_mbb: float
    count: int


def estimate(values_chips: Float, unit_chips: float) -> Estimate:
    """Mean and Student interval of independent observations, given in chips."""
    count = values_chips.size
    values = values_chips * (1000.0 / unit_chips)
    mean = float(values.mean()) if count else 0.0
    if count < 2:
        return Estimate(mean, math.inf, math.inf, count)
    sd = float(values.std(ddof=1))
    return Estimate(mean, float(stdtrit(count - 1, 1 - _ALPHA / 2)) * sd / math.sqrt(count), sd, count)


def estimate_of_sums(count: int, total_chips: float, squares_chips: float, unit_chips: float) -> Estimate:
    """The same from running sums of the observations and of their squares."""
    scale = 1000.0 / unit_chips
    mean = total_chips / count if count else 0.0
    if count < 2:
        return Estimate(mean * scale, math.inf, math.inf, count)
    sd = math.sqrt(max(squares_chips - count * mean * mean, 0.0) / (count - 1)) * scale
    return Estimate(mean * scale, float(stdtrit(count - 1, 1 - _ALPHA / 2)) * sd / math.sqrt(count), sd, count)


def sequence_half_width(sd: float, count: int, tuned: int = _TUNED_PAIRS) -> float:
    """Half-width of a 95% confidence sequence: it covers at all looks together, so a match may stop at any of them.

    Asymptotic confidence sequence, Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (Annals of Statistics 2024), eq. 3:
    Robbins' normal mixture with an estimated variance, narrowest around `tuned` observations, which is chosen before.
    An ordinary interval that is checked repeatedly until it is narrow covers less than 95%.
    """
    rho_squared = (-2 * math.log(_ALPHA) + math.log(-2 * math.log(_ALPHA)) + 1) / tuned
    scaled = count * rho_squared + 1
    return sd * math.sqrt(2 * scaled / (count**2 * rho_squared) * math.log(math.sqrt(scaled) / _ALPHA))


def pair_values(first: npt.ArrayLike, second: npt.ArrayLike) -> Float:
    """What A wins in each pair of a duplicate match, by A's position, [pairs, 2].

    From the values by hand and seat of its halves, [hands, 2]: A has seat 0 in the first and seat 1 in the second. Seat 0
    has position 0 in even hands. The mean of a pair's two values is one observation.
    """
    in_first, in_second = np.asarray(first, np.float64)[:, 0], np.asarray(second, np.float64)[:, 1]
    count = min(len(in_first), len(in_second))
    in_first, in_second = in_first[:count], in_second[:count]
    even = np.arange(count) % 2 == 0
    return np.stack([np.where(even, in_first, in_second), np.where(even, in_second, in_first)], axis=1)
