# mypy: allow-untyped-defs, allow-untyped-calls
"""The mappings of `agent.mappings.translation`: sizes in pots in, an index and a probability out.

Source: Ganzfried and Sandholm (IJCAI 2013). `tests/oracles/naive_translation.py` has the same formula by formula.
"""

import math

from foldwise.game.compiled import kernel

# Values of `agent.mappings.translation.Mapping`; a test holds them equal.
PSEUDO_HARMONIC, ARITHMETIC, GEOMETRIC = 0, 1, 2


@kernel
def smaller_probability(mapping, x, a, b):
    """Probability that a bet of x pots between sizes a < b is read as a.

    Pseudo-harmonic: section 6, the only mapping under which calling A with 1 / (1 + A) and B with 1 / (1 + B) calls every
    x with 1 / (1 + x). Arithmetic: section 5.2. Geometric: section 5.4, its "randomized geometric 1", divided by A so that
    nothing underflows; the paper's 0 / 0 at x = A = 0 is 1 here. The last two are for comparison.
    """
    if mapping == PSEUDO_HARMONIC:
        return (b - x) * (1.0 + a) / ((b - a) * (1.0 + x))
    if mapping == ARITHMETIC:
        return (b - x) / (b - a)
    if x <= a:
        return 1.0
    return (b - x) / (b - x + (x - a) * (x / a)) if a > 0.0 else 0.0


@kernel
def median(mapping, a, b):
    """The size read as either with probability 1/2."""
    if mapping == PSEUDO_HARMONIC:
        return (a + b + 2.0 * a * b) / (a + b + 2.0)
    if mapping == ARITHMETIC:
        return (a + b) / 2.0
    return math.sqrt(a * b)


@kernel
def read_bet(mapping, randomised, x, sizes_pot, call_continues):  # sizes_pot [num sizes], ascending
    """(smaller index, larger index, probability of the smaller) of a bet of x pots; -1 is a call.

    Below the smallest size A is a call; but if reading a call would end the street or the hand (`call_continues` false),
    the smallest size is taken. Beyond the largest size it is the largest. A node that offers no bet reads a call.
    """
    num_sizes = sizes_pot.size
    if num_sizes == 0:
        return -1, -1, 1.0
    larger = 0
    while larger < num_sizes and sizes_pot[larger] < x:
        larger += 1
    if larger == num_sizes:
        return num_sizes - 1, num_sizes - 1, 1.0
    smaller = larger - 1
    if smaller < 0 and not call_continues:
        return larger, larger, 1.0
    a = 0.0
    if smaller >= 0:
        a = sizes_pot[smaller]
    b = sizes_pot[larger]
    if randomised:
        return smaller, larger, smaller_probability(mapping, x, a, b)
    if x <= median(mapping, a, b):
        return smaller, larger, 1.0
    return smaller, larger, 0.0
