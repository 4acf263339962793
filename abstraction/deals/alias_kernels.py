# mypy: allow-untyped-defs, allow-untyped-calls
"""Drawing from a fixed distribution in constant time: Walker's alias method (Vose, IEEE TSE 1991)."""

import numpy as np

from foldwise.game.compiled import kernel


@kernel
def build_alias(probability):  # float64[C] -> float64[C] share kept, int32[C] where the rest goes
    num = probability.size
    keep = np.ones(num)
    other = np.arange(num).astype(np.int32)
    scaled = probability * (num / probability.sum())
    small = np.empty(num, dtype=np.int64)
    large = np.empty(num, dtype=np.int64)
    num_small = num_large = 0
    for i in range(num):
        if scaled[i] < 1.0:
            small[num_small] = i
            num_small += 1
        else:
            large[num_large] = i
            num_large += 1
    while num_small > 0 and num_large > 0:
        num_small -= 1
        low = small[num_small]
        high = large[num_large - 1]
        keep[low] = scaled[low]
        other[low] = high
        scaled[high] -= 1.0 - scaled[low]
        if scaled[high] < 1.0:
            num_large -= 1
            small[num_small] = high
            num_small += 1
    return keep, other
