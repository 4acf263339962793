"""Random numbers: generator states for kernels, independent by (seed, worker), and a counter-based uniform.

A state is a uint64[4] array, cheap to keep in a checkpoint. Streams of one seed lie 2^128 steps of xoshiro256++ apart,
so workers never overlap. `game.primitives.rng_kernels` draws from a state inside kernels.
"""

import numpy as np
from numpy.typing import NDArray

from foldwise.game.primitives import rng_kernels as kernels

_MASK = (1 << 64) - 1


def make_state(seed: int, worker: int = 0) -> NDArray[np.uint64]:
    """State of stream `worker` of `seed`: four SplitMix64 outputs, then `worker` jumps."""
    if worker < 0:
        raise ValueError(f"worker {worker}: expected 0 or more")
    start = np.uint64(seed & _MASK)
    state = np.array([kernels.split_mix(start, step) for step in range(1, 5)], np.uint64)
    for _ in range(worker):
        kernels.jump(state)
    return state


def make_states(seed: int, num_workers: int) -> NDArray[np.uint64]:
    """[num_workers, 4] the states of streams 0 to num_workers - 1; row `w` equals `make_state(seed, w)`."""
    states = np.empty((num_workers, 4), np.uint64)
    state = make_state(seed)
    for worker in range(num_workers):
        states[worker] = state
        kernels.jump(state)
    return states


def counter_uniform(seed: int, hand: int, decision: int) -> float:
    """A number in [0, 1) that depends only on its arguments: the agent's choice at one decision of one hand."""
    return float(kernels.counter_uniform(np.uint64(seed & _MASK), np.uint64(hand & _MASK), np.uint64(decision & _MASK)))
