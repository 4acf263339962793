"""Random numbers: the authors' published vectors, the jump by linear algebra, uniformity, independence of streams."""

import numpy as np
import pytest

from foldwise.game.primitives import rng_kernels as kernels
from foldwise.game.primitives.rng import counter_uniform, make_state, make_states

# With the compiler switched off, numpy's scalars warn where the kernels mean to wrap.
pytestmark = pytest.mark.filterwarnings("ignore:overflow")


def test_xoshiro_vector():
    """The reference implementation from state 1, 2, 3, 4."""
    out = np.empty(10, np.uint64)
    kernels.fill_bits(np.array([1, 2, 3, 4], np.uint64), out)
    assert out.tolist() == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
        9973669472204895162,
        14011001112246962877,
        12406186145184390807,
        15849039046786891736,
        10450023813501588000,
    ]


def test_split_mix_vector():
    """The reference implementation from 1234567."""
    assert [int(kernels.split_mix(np.uint64(1234567), step)) for step in range(1, 6)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_jump_is_two_to_the_128_steps():
    """The state's step is linear over GF(2): squaring its matrix 128 times gives the jump."""

    def bits(state):
        return np.array([int(word) >> bit & 1 for word in state for bit in range(64)], np.float32)

    step = np.empty((256, 256), np.float32)
    for column in range(256):
        state = np.zeros(4, np.uint64)
        state[column // 64] = np.uint64(1 << column % 64)
        kernels.next_bits(state)
        step[:, column] = bits(state)
    for _ in range(128):
        step = (step @ step) % 2
    state = make_state(7)
    expected = step @ bits(state) % 2
    kernels.jump(state)
    assert (bits(state) == expected).all()


def test_streams():
    states = make_states(11, 4)
    assert all((states[worker] == make_state(11, worker)).all() for worker in range(4))
    rows = [tuple(row) for row in np.concatenate([states, make_states(12, 4)])]
    assert len(set(rows)) == 8
    with pytest.raises(ValueError, match="expected 0 or more"):
        make_state(1, -1)


@pytest.mark.parametrize("limit", [1, 2, 3, 52, 1326, 3_000_000_000])
def test_integers_below_a_limit(limit):
    """Ten equal classes of the range hold 20,000 draws within five standard deviations, and no draw lies outside."""
    out = np.empty(20_000, np.int64)
    kernels.fill_below(make_state(limit), limit, out)
    assert out.min() >= 0 and out.max() < limit
    if limit <= 52:
        counts = np.bincount(out, minlength=limit)
        expected = np.full(limit, out.size / limit)
    else:
        counts = np.histogram(out, bins=10, range=(0, limit))[0]
        expected = np.histogram(np.arange(limit), bins=10, range=(0, limit))[0] if limit < 10_000 else np.full(10, 0.1)
        expected = expected / expected.sum() * out.size
    assert (np.abs(counts - expected) <= 5 * np.sqrt(expected)).all()


def test_draws_are_without_bias():
    """A third of 2^32 does not divide it: the values of one 32-bit draw that would favour some numbers are refused."""
    limit = 3 << 30
    out = np.empty(60_000, np.int64)
    kernels.fill_below(make_state(5), limit, out)
    # Without rejection, every number that is a multiple of three would appear twice as often as the others.
    counts = np.bincount(out % 3, minlength=3)
    assert (np.abs(counts - 20_000) < 5 * np.sqrt(20_000 * 2 / 3)).all()


def test_uniform_and_shuffle():
    state = make_state(3)
    draws = np.array([kernels.next_uniform(state) for _ in range(4000)])
    assert draws.min() >= 0 and draws.max() < 1
    assert abs(draws.mean() - 0.5) < 5 / np.sqrt(12 * 4000)
    deck = np.arange(52)
    seen = np.zeros(52, np.int64)
    for _ in range(2000):
        kernels.shuffle_first(state, deck, 9)
        seen[deck[:9]] += 1
    assert sorted(deck.tolist()) == list(range(52))
    assert (np.abs(seen - 2000 * 9 / 52) < 5 * np.sqrt(2000 * 9 / 52)).all()


def test_counter_uniform():
    """Depends on its arguments alone, in their order; a grid of neighbouring counters looks uniform."""
    assert counter_uniform(1, 2, 3) == counter_uniform(1, 2, 3)
    assert (
        len({counter_uniform(1, 2, 3), counter_uniform(2, 1, 3), counter_uniform(1, 3, 2), counter_uniform(3, 2, 1)})
        == 4
    )
    grid = np.array([counter_uniform(9, hand, decision) for hand in range(100) for decision in range(40)])
    counts = np.histogram(grid, bins=20, range=(0, 1))[0]
    assert (np.abs(counts - 200) < 5 * np.sqrt(200)).all()
    assert abs(np.corrcoef(grid[:-1], grid[1:])[0, 1]) < 5 / np.sqrt(grid.size)
    # Frozen, so that recorded matches can be replayed: SplitMix64 chained over the three numbers.
    mask = (1 << 64) - 1
    x = 9
    for number in (7, 5, None):
        x = (x + 0x9E3779B97F4A7C15) & mask
        x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ x >> 27) * 0x94D049BB133111EB) & mask
        x ^= x >> 31
        x = (x + (number or 0)) & mask
    assert counter_uniform(9, 7, 5) == (x >> 11) / 2**53
