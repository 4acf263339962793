# mypy: allow-untyped-defs, allow-untyped-calls
"""All-in on the flop: how often each hand beats each other, over all turns and rivers. m: hands on the flop."""

import numpy as np

from foldwise.game.compiled import kernel


@kernel
def count_wins(ranks, low, high, out):  # uint16[R, m] rank of every hand, 0 where it clashes; int16[m, m]
    """Add, for hands j < i, the runouts low..high - 1 on which i beats j less those on which it loses to it."""
    num_hands = ranks.shape[1]
    for r in range(low, high):
        here = ranks[r]
        for j in range(num_hands):
            mine = here[j]
            if mine == 0:
                continue
            row = out[j]
            for i in range(j + 1, num_hands):
                other = here[i]
                row[i] += np.int16(other > mine) - np.int16((other < mine) & (other > 0))


@kernel(_nrt=False)
def settle_all_in(gain, reach, scale, out):  # float32[m, m], [m], chips, [m]
    """What every hand wins in an all-in that is called: scale * sum over j of reach[j] * gain[j]."""
    for i in range(out.size):
        out[i] = np.float32(0.0)
    for j in range(reach.size):
        weight = scale * reach[j]
        if weight != np.float32(0.0):
            row = gain[j]
            for i in range(out.size):
                out[i] += weight * row[i]
