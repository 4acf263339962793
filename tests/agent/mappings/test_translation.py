"""Translation: published tables, axioms, rules at both ends, and the kernels against the plain functions."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from foldwise.agent.mappings import translation_kernels
from foldwise.agent.mappings.translation import MAPPINGS, Translation, parse_translation
from tests.oracles import naive_translation
from tests.oracles.naive_translation import CALL_INDEX, Reading, median


def smaller_probability(mapping, x, a, b):
    return translation_kernels.smaller_probability(Translation(mapping).number, x, a, b)


def read_bet(mapping, x, sizes_pot, *, call_continues, randomised=True):
    sizes = np.array(sizes_pot, dtype=np.float64)
    return Reading(*translation_kernels.read_bet(Translation(mapping).number, randomised, x, sizes, call_continues))


SIZES = st.integers(0, 2_000_000).map(lambda size: size / 10_000)  # pots: a bet is never a billionth of one
mappings = st.sampled_from(list(MAPPINGS))


@st.composite
def brackets(draw):
    """(x, a, b) with a <= x <= b and b - a not lost in rounding."""
    a, x, b = sorted(draw(st.tuples(SIZES, SIZES, SIZES)))
    assume(b - a > 1e-3)
    return x, a, b


# --- paper numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mapping, published",
    [
        ("arithmetic", (0.75, 0.751, 0.758, 0.789, 0.833)),
        ("geometric", (0.0, 0.012, 0.111, 0.429, 0.667)),
        ("pseudo-harmonic", (0.6, 0.601, 0.612, 0.663, 0.733)),
    ],
)
def test_published_table_1(mapping, published):
    """Ganzfried and Sandholm (IJCAI 2013), Table 1: a bet of 0.25 pot, larger size 1 pot, the smaller growing."""
    computed = [smaller_probability(mapping, 0.25, a, 1.0) for a in (0.0, 0.001, 0.01, 0.05, 0.1)]
    assert computed == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize(
    "mapping, sizes, published, within",
    [
        ("geometric", [0.01, 1.0], 0.1, 1e-9),
        ("arithmetic", [0.01, 1.0], 0.505, 1e-9),
        ("pseudo-harmonic", [0.01, 1.0], 0.34, 5e-3),
        ("pseudo-harmonic", [1.0], 1 / 3, 1e-9),
    ],
)
def test_published_medians(mapping, sizes, published, within):
    """The same paper, section 7 and footnote 3: A = 0.01, B = 1, and 1/3 between a check and a pot."""
    for x, smaller in ((published - within, 1.0), (published + within, 0.0)):
        reading = read_bet(mapping, x, sizes, call_continues=True, randomised=False)
        assert reading.probability_smaller == smaller


def clairvoyance_exploitability(mapping, n, randomised, steps_per_pot=10):
    """Player 2's exploitability in the clairvoyance game: pot 1, stacks n, player 1 knows whether he wins.

    Player 2 calls an abstract size s with probability 1 / (1 + s); the abstract sizes are check, pot and all-in.
    Player 1's best response takes the best bet with a winning and the best with a losing hand.
    """
    sizes = sorted({1.0, float(n)})
    best_winning, best_losing = 1.0, 0.0
    for step in range(1, n * steps_per_pot + 1):
        x = step / steps_per_pot
        reading = read_bet(mapping, x, sizes, call_continues=True, randomised=randomised)
        smaller, larger = (0.0 if i == CALL_INDEX else sizes[i] for i in (reading.smaller, reading.larger))
        p = reading.probability_smaller
        calls = p / (1.0 + smaller) + (1.0 - p) / (1.0 + larger)
        best_winning = max(best_winning, 1.0 + x * calls)
        best_losing = max(best_losing, 1.0 - calls - x * calls)
    return (best_winning + best_losing) / 2.0 - (1.0 + n / (1.0 + n)) / 2.0


CLAIRVOYANCE = {  # Ganzfried and Sandholm (IJCAI 2013), Table 2, stacks 1, 3, 5, 10, 20, 50, 100
    ("arithmetic", False): (0.01, 0.24, 0.49, 1.12, 2.38, 6.12, 12.37),
    ("arithmetic", True): (0.00, 0.02, 0.09, 0.36, 0.96, 2.82, 5.94),
    ("geometric", False): (0.23, 0.28, 0.36, 0.63, 0.99, 1.68, 2.43),
    ("geometric", True): (0.23, 0.23, 0.23, 0.24, 0.36, 0.66, 1.01),
    ("pseudo-harmonic", False): (0.15, 0.19, 0.33, 0.47, 0.59, 0.67, 0.71),
    ("pseudo-harmonic", True): (0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00),
}
STACKS = (1, 3, 5, 10, 20, 50, 100)
# Three entries of 42 are not ours to the last digit: at stack 1 the paper has 0.01 where every tie rule gives at least
# 0.10 (its neighbours agree, so we take it for a slip); at 20 our 2.3726 rounds to 2.37; at 100 the bet at the
# geometric median, which we read as the smaller size, costs 2.45 where the larger costs 2.43.
NOT_TO_THE_DIGIT = {
    ("arithmetic", False, 1): 0.1,
    ("arithmetic", False, 20): 2.3726,
    ("geometric", False, 100): 2.45,
}


@pytest.mark.parametrize("mapping, randomised", CLAIRVOYANCE)
def test_published_clairvoyance_game(mapping, randomised):
    for n, published in zip(STACKS, CLAIRVOYANCE[mapping, randomised]):
        expected = NOT_TO_THE_DIGIT.get((mapping, randomised, n))
        computed = clairvoyance_exploitability(mapping, n, randomised)
        if expected is None:
            assert computed == pytest.approx(published, abs=0.005 + 1e-9), n
        else:
            assert computed == pytest.approx(expected, abs=5e-5), n


def test_clairvoyance_deterministic_arithmetic_within_a_hundredth():
    """2.38 is the value without steps: its supremum is 2.375 for stacks of 20 and 12.375 for stacks of 100."""
    assert clairvoyance_exploitability("arithmetic", 20, False) == pytest.approx(2.38, abs=0.01)
    assert clairvoyance_exploitability("arithmetic", 20, False, 1000) == pytest.approx(2.375, abs=1e-4)


# --- axioms --------------------------------------------------------------------------------------------------------


@given(mappings, brackets())
def test_boundaries(mapping, bracket):
    _, a, b = bracket
    assert smaller_probability(mapping, a, a, b) == pytest.approx(1.0)
    assert smaller_probability(mapping, b, a, b) == 0.0


@given(mappings, brackets(), st.floats(0.0, 1.0))
def test_monotone_probability(mapping, bracket, share):
    x, a, b = bracket
    further = min(x + share * (b - x), b)
    near, far = smaller_probability(mapping, x, a, b), smaller_probability(mapping, further, a, b)
    assert 0.0 <= far <= near + 1e-12
    assert near <= 1.0 + 1e-12


@given(mappings, brackets(), st.floats(0.01, 100.0), st.floats(0.01, 1000.0))
def test_scale_free(mapping, bracket, scale, pot_chips):
    """Scaling chips and pot together does not change the reading."""
    x, a, b = bracket
    chips = [size * pot_chips for size in (x, a, b)]
    scaled = [chip * scale / (pot_chips * scale) for chip in chips]
    assert smaller_probability(mapping, *scaled) == pytest.approx(smaller_probability(mapping, x, a, b), abs=1e-6)


@given(st.sampled_from(["arithmetic", "geometric"]), brackets(), st.floats(0.1, 10.0))
def test_arithmetic_and_geometric_need_no_pot(mapping, bracket, scale):
    x, a, b = bracket
    assume(a > 1e-3)
    scaled = smaller_probability(mapping, scale * x, scale * a, scale * b)
    assert scaled == pytest.approx(smaller_probability(mapping, x, a, b), abs=1e-6)


def test_pseudo_harmonic_needs_pot_fractions():
    """Fed with chips instead of pots it answers something else: 0.44 for 0.579."""
    assert smaller_probability("pseudo-harmonic", 0.9, 0.5, 2.0) == pytest.approx(0.5789, abs=1e-4)
    assert smaller_probability("pseudo-harmonic", 9.0, 5.0, 20.0) == pytest.approx(0.44)


@given(st.sampled_from(["pseudo-harmonic", "arithmetic"]), brackets(), st.floats(-1e-4, 1e-4))
def test_robust(mapping, bracket, nudge):
    """Action and boundary robustness: moving x, A or B by e moves f by at most K e, A = 0 included.

    All three derivatives of either mapping are at most (1 + B) / (B - A) in size; twice that covers the change of the
    bound over the nudge.
    """
    x, a, b = bracket
    assume(b - a > 0.01)
    bound = 2.0 * (1.0 + b) / (b - a) * abs(nudge) + 1e-9
    f = smaller_probability(mapping, x, a, b)
    if a <= x + nudge <= b:
        assert abs(smaller_probability(mapping, x + nudge, a, b) - f) <= bound
    if 0.0 <= a + nudge <= x:
        assert abs(smaller_probability(mapping, x, a + nudge, b) - f) <= bound
    if b + nudge >= x:
        assert abs(smaller_probability(mapping, x, a, b + nudge) - f) <= bound


def test_geometric_is_not_robust_at_a_check():
    """The paper's proposition 2: a smaller size of 0 and of nearly 0 read the same bet apart."""
    assert smaller_probability("geometric", 0.001, 0.0, 1.0) == 0.0
    assert smaller_probability("geometric", 0.001, 0.0009, 1.0) > 0.99


@given(mappings, brackets())
def test_median_halves(mapping, bracket):
    _, a, b = bracket
    assume(a > 1e-3 or mapping != "geometric")
    assert smaller_probability(mapping, median(mapping, a, b), a, b) == pytest.approx(0.5, abs=1e-6)


@given(brackets())
def test_pseudo_harmonic_keeps_calls_in_balance(bracket):
    """Section 6: calling A and B with 1 / (1 + size) calls every x between them with 1 / (1 + x)."""
    x, a, b = bracket
    f = smaller_probability("pseudo-harmonic", x, a, b)
    assert f / (1.0 + a) + (1.0 - f) / (1.0 + b) == pytest.approx(1.0 / (1.0 + x))


# --- rules at both ends --------------------------------------------------------------------------------------------


def test_below_the_smallest_size():
    """A is a call; where a call would end the street or the hand it is the smallest raise."""
    sizes = [0.5, 1.0, 20.0]
    reading = read_bet("pseudo-harmonic", 0.2, sizes, call_continues=True)
    assert (reading.smaller, reading.larger) == (CALL_INDEX, 0)
    assert reading.probability_smaller == pytest.approx((0.5 - 0.2) / (0.5 * 1.2))
    assert read_bet("pseudo-harmonic", 0.2, sizes, call_continues=False) == Reading(0, 0, 1.0)


def test_above_the_largest_size():
    """Between the largest size and all-in B is all-in; past the last entry nothing larger is left."""
    sizes = [0.5, 1.0, 20.0]
    reading = read_bet("pseudo-harmonic", 8.0, sizes, call_continues=True)
    assert (reading.smaller, reading.larger) == (1, 2)
    assert reading.probability_smaller == pytest.approx(12 * 2 / (19 * 9))
    assert read_bet("pseudo-harmonic", 25.0, sizes, call_continues=True) == Reading(2, 2, 1.0)
    assert read_bet("pseudo-harmonic", 25.0, [], call_continues=False).smaller == CALL_INDEX


def certain(reading):
    """The only size a reading leaves possible."""
    assert reading.probability_smaller in (0.0, 1.0)
    return reading.smaller if reading.probability_smaller == 1.0 else reading.larger


def test_an_abstract_size_is_read_as_itself():
    sizes = [0.5, 1.0, 20.0]
    for mapping, randomised, (index, size) in itertools.product(MAPPINGS, (True, False), enumerate(sizes)):
        for call_continues in (True, False):
            reading = read_bet(mapping, size, sizes, call_continues=call_continues, randomised=randomised)
            assert certain(reading) == index


def test_deterministic_reads_the_smaller_up_to_the_median():
    sizes = [0.5, 1.0]
    middle = median("pseudo-harmonic", 0.5, 1.0)
    assert middle == pytest.approx(2.5 / 3.5)
    for x, index in ((middle - 1e-9, 0), (middle + 1e-9, 1)):
        reading = read_bet("pseudo-harmonic", x, sizes, call_continues=True, randomised=False)
        assert certain(reading) == index


# --- kernels -------------------------------------------------------------------------------------------------------

size_lists = st.lists(st.floats(0.01, 200.0), max_size=6, unique=True).map(sorted)


@given(mappings, st.booleans(), st.one_of(SIZES, st.integers(0, 5)), size_lists, st.booleans())
def test_kernels_equal_the_plain_functions(mapping, randomised, x, sizes, call_continues):
    x = sizes[x] if isinstance(x, int) and x < len(sizes) else float(x)
    expected = naive_translation.read_bet(mapping, x, sizes, call_continues=call_continues, randomised=randomised)
    found = read_bet(mapping, x, sizes, call_continues=call_continues, randomised=randomised)
    chance = read_bet(mapping, x, sizes, call_continues=call_continues).probability_smaller
    assume(randomised or abs(chance - 0.5) > 1e-9)  # exactly at the median rounding decides
    assert found == pytest.approx(expected)


@given(mappings, st.booleans())
def test_a_translation_is_read_as_it_is_written(mapping, randomised):
    translation = Translation(mapping, randomised)
    assert parse_translation(f" {translation} ") == translation
