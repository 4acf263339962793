# mypy: allow-untyped-defs, allow-untyped-calls
"""The mappings of `agent.mappings.translation`: sizes in pots in, an index and a probability out.

Source: Ganzfried and Sandholm (IJCAI 2013). `tests/oracles/naive_translation.py` has the same formula by formula.
"""

from importlib import import_module

from foldwise.agent.mappings.translation import MAPPINGS
from foldwise.game.compiled import kernel


def _formula(name):
    module, _, attribute = MAPPINGS[name].partition(":")
    return getattr(import_module(module), attribute)


def _by_number(number, formula, others):
    """A kernel that is `formula` for a mapping of this number and `others` for any before it."""

    @kernel(cache=False)  # compiled into its callers, which are cached
    def chosen(mapping, x, a, b):
        if mapping == number:
            return formula(x, a, b)
        return others(mapping, x, a, b)

    return chosen


@kernel(cache=False)
def smaller_probability(mapping, x, a, b):
    """Probability that a bet of x pots between sizes a < b is read as a, by the mapping of this number."""
    return 1.0


for _number, _name in enumerate(MAPPINGS):
    smaller_probability = _by_number(_number, _formula(_name), smaller_probability)


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
    probability = smaller_probability(mapping, x, a, b)
    if not randomised:
        probability = 1.0 if probability >= 0.5 else 0.0
    return smaller, larger, probability
