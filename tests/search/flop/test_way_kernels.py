"""Loops written for LLVM against the same in Python."""

import numpy as np
import pytest

from foldwise.game.compiled import kernel
from foldwise.search.flop import way_kernels
from foldwise.search.flop.way_kernels import WAYS, add_multiplied_ways, add_played, multiply_ways, put_played

HANDS, BUCKETS, PADDED = 37, 11, 40


@kernel
def compiled_multiply(source, rows, buckets, out):
    multiply_ways(source, rows, buckets, out)


@kernel
def compiled_add_multiplied(source, rows, buckets, out):
    add_multiplied_ways(source, rows, buckets, out)


@kernel
def compiled_put(rows, buckets, is_wide, single, wide, out):
    put_played(rows, buckets, is_wide, single, wide, out)


@kernel
def compiled_add(rows, buckets, is_wide, single, wide, out):
    add_played(rows, buckets, is_wide, single, wide, out)


def made(seed):
    rng = np.random.default_rng(seed)
    numbers = [rng.uniform(-1, 1, size).astype(np.float32) for size in (PADDED * WAYS, BUCKETS * WAYS, PADDED)]
    return *numbers, rng.integers(0, BUCKETS, HANDS).astype(np.uint32)


@pytest.mark.parametrize("name", ["multiply", "add_multiplied"])
def test_reaches(name):
    source, rows, _, buckets = made(1)
    plain = getattr(way_kernels, f"{name}_ways")
    ours = {"multiply": compiled_multiply, "add_multiplied": compiled_add_multiplied}[name]
    outs = [np.full(source.size if name == "multiply" else PADDED, 7.0, np.float32) for _ in range(2)]
    for function, out in zip((plain, ours), outs):
        function(source, rows, buckets, out)
    assert np.array_equal(*outs)
    width = WAYS if name == "multiply" else 1
    assert (outs[0][HANDS * width :] == 7.0).all()  # hands beyond the board's are left alone
    expected = source.reshape(-1, WAYS)[5] * rows.reshape(-1, WAYS)[buckets[5]]
    found = outs[0].reshape(-1, width)[5]
    np.testing.assert_allclose(found, expected if name == "multiply" else expected.sum(), rtol=1e-5)


@pytest.mark.parametrize("is_wide", [True, False])
@pytest.mark.parametrize("is_added", [True, False])
def test_values(is_wide, is_added):
    wide, rows, single, buckets = made(2)
    outs = [np.full(wide.size, 7.0, np.float32) for _ in range(2)]
    pair = (add_played, compiled_add) if is_added else (put_played, compiled_put)
    for function, out in zip(pair, outs):
        function(rows, buckets, is_wide, single, wide, out)
    np.testing.assert_allclose(*outs, rtol=1e-6)  # a product may be added without rounding in between
    worth = wide.reshape(-1, WAYS)[3] if is_wide else single[3]
    expected = worth * rows.reshape(-1, WAYS)[buckets[3]] + (7.0 if is_added else 0.0)
    np.testing.assert_allclose(outs[0].reshape(-1, WAYS)[3], expected, rtol=1e-5)
