# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="call-arg"
"""Entries of a table in single precision, rounded up or down at random so that the mean of what is stored is exact.

Rounded to nearest, a sum in single precision stops growing where it is 2^24 times what is added; rounded at random (up with
the share of the gap that was passed: stochastic rounding, Forsythe 1950) it goes on growing by the right amount in the mean.
Tables in double precision store what they are given.
"""

import numpy as np
from numba import types
from numba.extending import overload

from foldwise.game.compiled import kernel
from foldwise.game.primitives.rng_kernels import next_bits

_DROPPED = np.uint64((1 << 29) - 1)  # bits of the fraction, from double to single precision
_HIGH = np.uint64(64 - 29)
_NO_BITS = np.uint64(0)


@kernel
def round_randomly(value, bits):
    """A double as one of the two singles around it, the nearer one more often; a single as itself.

    The bits that single precision drops are a number in [0, 2^29): with a uniform one added, it is carried upward as often
    as it should. `bits` uint64: the upper 29 are used.
    """
    raw = np.float64(value).view(np.uint64)
    raised = (raw + (bits >> _HIGH)) & ~_DROPPED
    return np.float32(np.uint64(raised).view(np.float64))


@kernel
def more_bits(bits):
    """Bits for the next entry of a row: a step of Marsaglia's xorshift (Journal of Statistical Software 2003)."""
    bits ^= bits << np.uint64(13)
    bits ^= bits >> np.uint64(7)
    return bits ^ (bits << np.uint64(17))


def rounding_bits(table, rng):
    """Bits for a row of a table in single precision; a table in double precision draws none."""
    return next_bits(rng) if table.dtype == np.float32 else _NO_BITS


def store(table, at, value, bits):
    """table[at] = value, rounded at random where the table is in single precision."""
    table[at] = round_randomly(value, bits) if table.dtype == np.float32 else value


@overload(rounding_bits)
def _compiled_bits(table, rng):
    if table.dtype == types.float32:
        return lambda table, rng: next_bits(rng)
    return lambda table, rng: _NO_BITS


@overload(store)
def _compiled_store(table, at, value, bits):
    def store_single(table, at, value, bits):
        table[at] = round_randomly(value, bits)

    def store_double(table, at, value, bits):
        table[at] = value

    return store_single if table.dtype == types.float32 else store_double
