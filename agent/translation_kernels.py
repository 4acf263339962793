# mypy: allow-untyped-defs, allow-untyped-calls
"""Translation for compiled walks: the same rules as `agent/translation.py`, numbers in and an index out."""

import math

from foldwise.game.compiled import kernel

# Values of `agent.translation.Mapping`; a test holds them equal.
PSEUDO_HARMONIC, ARITHMETIC, GEOMETRIC = 0, 1, 2


@kernel
def smaller_probability(mapping, x, a, b):
    """Probability that a bet of x pots between sizes a < b is read as a: Ganzfried and Sandholm (IJCAI 2013)."""
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
    """(smaller index, larger index, probability of the smaller) of a bet of x pots; -1 is a call."""
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


@kernel
def translate(mapping, randomised, x, sizes_pot, call_continues, draw):
    """The index of the abstract size a bet of x pots is read as, by a uniform draw from [0, 1); -1 is a call."""
    smaller, larger, probability = read_bet(mapping, randomised, x, sizes_pot, call_continues)
    return smaller if draw < probability else larger
