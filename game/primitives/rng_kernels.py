# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Random numbers inside kernels: xoshiro256++ over a uint64[4] state that the caller owns, and a counter-based mix.

Blackman and Vigna, Scrambled linear pseudorandom number generators (ACM TOMS 2021); SplitMix64: Steele, Lea and Flood,
Fast splittable pseudorandom number generators (OOPSLA 2014).
"""

import numpy as np

from foldwise.game.compiled import kernel

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
_TO_UNIT = 1.0 / 9007199254740992.0  # 2^-53
# The polynomial of 2^128 steps of the generator.
_JUMP = np.array([0x180EC6D33CFD0ABA, 0xD5A61266F0C9392C, 0xA9582618E03FC9AA, 0x39ABDC4529B1661C], np.uint64)


@kernel(inline="always")
def _rotate_left(x, count):
    return (x << np.uint64(count)) | (x >> np.uint64(64 - count))


@kernel
def next_bits(state):  # [4]
    """The next 64 bits: xoshiro256++."""
    result = _rotate_left(state[0] + state[3], 23) + state[0]
    shifted = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = _rotate_left(state[3], 45)
    return result


@kernel
def next_uniform(state):  # [4]
    """A float64 in [0, 1) on a grid of 2^-53."""
    return np.float64(next_bits(state) >> np.uint64(11)) * _TO_UNIT


@kernel
def next_below(state, limit):  # [4]
    """An integer in [0, limit), every one equally likely; limit at most 2^32.

    Lemire, Fast random integer generation in an interval (ACM TOMACS 2019), with 32-bit draws.
    """
    bound = np.uint64(limit)
    product = (next_bits(state) >> np.uint64(32)) * bound
    low = product & _LOW_32
    if low < bound:
        threshold = (np.uint64(4294967296) - bound) % bound
        while low < threshold:
            product = (next_bits(state) >> np.uint64(32)) * bound
            low = product & _LOW_32
    return np.int64(product >> np.uint64(32))


@kernel
def jump(state):  # [4]
    """Go 2^128 steps ahead: the start of the next independent stream."""
    a, b, c, d = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    for i in range(4):
        for bit in range(64):
            if _JUMP[i] >> np.uint64(bit) & np.uint64(1):
                a ^= state[0]
                b ^= state[1]
                c ^= state[2]
                d ^= state[3]
            next_bits(state)
    state[0], state[1], state[2], state[3] = a, b, c, d


@kernel
def mix_bits(x):
    """SplitMix64's finaliser: a bijection of 64 bits in which every input bit reaches every output bit."""
    x = (x ^ (x >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    return x ^ (x >> np.uint64(31))


@kernel
def split_mix(x, step):
    """Output number `step` (from 1) of SplitMix64 started at x."""
    return mix_bits(np.uint64(x) + np.uint64(step) * _GAMMA)


@kernel
def counter_bits(seed, hand, decision):
    """64 bits that depend on the three numbers alone, so that a decision can be replayed without a generator's past."""
    return split_mix(split_mix(split_mix(seed, 1) + np.uint64(hand), 1) + np.uint64(decision), 1)


@kernel
def counter_uniform(seed, hand, decision):
    """A float64 in [0, 1) from `counter_bits`."""
    return np.float64(counter_bits(seed, hand, decision) >> np.uint64(11)) * _TO_UNIT


@kernel
def fill_bits(state, out):  # [4], [n] uint64
    for i in range(out.size):
        out[i] = next_bits(state)


@kernel
def fill_below(state, limit, out):  # [4], [n]
    for i in range(out.size):
        out[i] = next_below(state, limit)


@kernel
def shuffle_first(state, items, count):  # [4], [n >= count]
    """Fisher-Yates: the first `count` places of `items` become a uniform draw without replacement."""
    for i in range(count):
        j = i + next_below(state, items.size - i)
        items[i], items[j] = items[j], items[i]
