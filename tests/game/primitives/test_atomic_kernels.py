"""Counters shared by threads inside of kernels: each number is claimed once, nothing added is lost."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from foldwise.game.compiled import kernel
from foldwise.game.primitives.atomic_kernels import add_to_counter, claim_number, let_others_run, read_counter


@kernel
def claim_all(counters, claimed):  # type: ignore[no-untyped-def]
    """Claims numbers until none is left; counts how many it was given."""
    mine = 0
    while True:
        number = read_counter(counters, 0)
        if number == claimed.size:
            return mine
        if claim_number(counters, 0, number):
            claimed[number] += 1
            mine += 1
            add_to_counter(counters, 8, 3)
            if mine % 16 == 0:
                let_others_run()


@pytest.mark.parametrize("compiled", [True, False])
def test_each_number_is_claimed_once(compiled: bool) -> None:
    function: Any = claim_all if compiled else getattr(claim_all, "py_func", claim_all)
    count = 200_000 if compiled and hasattr(claim_all, "py_func") else 2_000
    counters, claimed = np.zeros(16, np.int64), np.zeros(count, np.int64)
    with ThreadPoolExecutor(4) as pool:
        given = list(pool.map(lambda _: function(counters, claimed), range(4)))
    assert sum(given) == count
    assert (claimed == 1).all()
    assert counters[0] == count
    assert counters[8] == 3 * count


def test_a_number_that_has_passed_is_not_claimed() -> None:
    counters = np.array([5], np.int64)
    assert not claim_number(counters, 0, 4)
    assert claim_number(counters, 0, 5)
    assert not claim_number(counters, 0, 5)
    assert add_to_counter(counters, 0, 2) == 6
    assert read_counter(counters, 0) == 8
