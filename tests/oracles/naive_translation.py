"""Translation in plain Python, a function for each formula of Ganzfried and Sandholm (IJCAI 2013), sections 5 and 6."""

import math
from collections.abc import Sequence
from typing import NamedTuple

CALL_INDEX = -1  # a bet read as a call (or a check)


class Reading(NamedTuple):
    """The two sizes a bet may be read as, by index (CALL_INDEX for a call), and the probability of the smaller."""

    smaller: int
    larger: int
    probability_smaller: float


def pseudo_harmonic(x: float, a: float, b: float) -> float:
    """f = (B - x)(1 + A) / ((B - A)(1 + x)): Ganzfried and Sandholm (2013), section 6.

    The only mapping under which calling A with 1 / (1 + A) and B with 1 / (1 + B) calls every x with 1 / (1 + x).
    """
    return (b - x) * (1.0 + a) / ((b - a) * (1.0 + x))


def arithmetic(x: float, a: float, b: float) -> float:
    """f = (B - x) / (B - A): section 5.2. For comparison; exploitable by bets far from both sizes."""
    return (b - x) / (b - a)


def geometric(x: float, a: float, b: float) -> float:
    """f = A(B - x) / (A(B - x) + x(x - A)): section 5.4, its "randomized geometric 1". For comparison.

    With A = 0 every bet is read as B. The paper's formula gives 0 / 0 at x = A = 0; here f(A) = 1 always. Numerator and
    denominator are divided by A, so that no tiny A or x underflows to 0 / 0.
    """
    if x <= a:
        return 1.0
    return (b - x) / (b - x + (x - a) * (x / a)) if a > 0.0 else 0.0


def smaller_probability(mapping: str, x: float, a: float, b: float) -> float:
    """The probability that a bet of x pots, a <= x <= b and a < b, is read as a."""
    if mapping == "pseudo-harmonic":
        return pseudo_harmonic(x, a, b)
    return arithmetic(x, a, b) if mapping == "arithmetic" else geometric(x, a, b)


def median(mapping: str, a: float, b: float) -> float:
    """The size x* at which f is 1/2: pseudo-harmonic (A + B + 2AB) / (A + B + 2), section 6."""
    if mapping == "pseudo-harmonic":
        return (a + b + 2.0 * a * b) / (a + b + 2.0)
    return (a + b) / 2.0 if mapping == "arithmetic" else math.sqrt(a * b)


def read_bet(
    mapping: str, x: float, sizes_pot: Sequence[float], *, call_continues: bool, randomised: bool = True
) -> Reading:
    """How a real bet of x pots is read at a node whose abstract bets are `sizes_pot`.

    `sizes_pot` ascends strictly; an all-in, where the node offers one, is its last entry. Below the smallest size
    A is 0, a call; but if reading a call would end the street or the hand (`call_continues` false), the smallest size
    is taken. Above the largest of the smaller sizes B is the all-in; beyond the last entry it is the last entry.
    A node that offers no bet reads a call.
    """
    if not sizes_pot:
        return Reading(CALL_INDEX, CALL_INDEX, 1.0)
    larger = 0
    while larger < len(sizes_pot) and sizes_pot[larger] < x:
        larger += 1
    if larger == len(sizes_pot):
        return Reading(larger - 1, larger - 1, 1.0)
    smaller = larger - 1  # CALL_INDEX below the smallest size
    if smaller == CALL_INDEX and not call_continues:
        return Reading(larger, larger, 1.0)
    a = 0.0 if smaller == CALL_INDEX else sizes_pot[smaller]
    b = sizes_pot[larger]
    if randomised:
        return Reading(smaller, larger, smaller_probability(mapping, x, a, b))
    return Reading(smaller, larger, 1.0 if x <= median(mapping, a, b) else 0.0)
