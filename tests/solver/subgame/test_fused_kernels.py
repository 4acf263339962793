"""Decisions of all hands in one pass: against regret matching hand by hand, compiled and in numpy."""

from typing import Any

import numpy as np
import pytest

from foldwise.game.arrays import Single, aligned_zeros
from foldwise.game.compiled import kernel
from foldwise.solver.subgame.cut import padded
from foldwise.solver.subgame.fused_kernels import (
    CHUNK,
    learn_decision,
    play_and_add,
    play_decision,
    share_reach,
)

NUM_HANDS = 3 * CHUNK


@kernel
def pass_down(weights, reach, sigma, reaches, sums, others):  # type: ignore[no-untyped-def]
    share_reach(weights, reach, others, weights, sums)
    play_decision(weights, reach, sigma, reaches)
    play_and_add(weights, reach, sigma, reaches, sums, np.float32(0.75), np.float32(3.0), sums, weights[:0])


@kernel
def pass_up(sigma, action_values, regrets, floor, value):  # type: ignore[no-untyped-def]
    learn_decision(sigma, action_values, regrets, np.float32(0.9), np.float32(0.5), np.float32(floor), value)


def either(function: Any, compiled: bool) -> Any:
    return function if compiled else getattr(function, "py_func", function)


def some(rng: np.random.Generator, *shape: int) -> Single:
    out = aligned_zeros(*shape)
    out[:] = rng.normal(size=shape)
    return out


def matched(weights: Single, hand: int) -> list[float]:
    positive = [max(float(weight), 0.0) for weight in weights[:, hand]]
    total = sum(positive)
    return [one / total for one in positive] if total > 0.0 else [1.0 / len(positive)] * len(positive)


@pytest.mark.parametrize("num_actions", [1, 2, 3, 5])
@pytest.mark.parametrize("compiled", [True, False])
def test_down_equals_hand_by_hand(num_actions: int, compiled: bool) -> None:
    rng = np.random.default_rng(num_actions)
    weights, reach, sums = (
        some(rng, num_actions, NUM_HANDS),
        np.abs(some(rng, NUM_HANDS)),
        some(rng, num_actions, NUM_HANDS),
    )
    weights[:, 5] = 0.0
    weights[:, 6] = -1.0
    weights[:, NUM_HANDS - 1] = 1e-35  # too little to divide by
    before = sums.copy()
    sigma, reaches, others = (aligned_zeros(num_actions, NUM_HANDS) for _ in range(3))
    either(pass_down, compiled)(weights, reach, sigma, reaches, sums, others)
    for hand in range(NUM_HANDS):
        wanted = np.array(matched(weights, hand) if hand < NUM_HANDS - 1 else [1.0 / num_actions] * num_actions)
        assert sigma[:, hand] == pytest.approx(wanted, rel=1e-5)
        assert reaches[:, hand] == pytest.approx(wanted * reach[hand], rel=1e-5)
        assert others[:, hand] == pytest.approx(wanted * reach[hand], rel=1e-5)
        added = 0.75 * before[:, hand] + 3.0 * reach[hand] * wanted
        assert sums[:, hand] == pytest.approx(added, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("num_actions", [1, 2, 3, 5])
@pytest.mark.parametrize("floor", [-np.inf, 0.0])
@pytest.mark.parametrize("compiled", [True, False])
def test_up_equals_hand_by_hand(num_actions: int, floor: float, compiled: bool) -> None:
    rng = np.random.default_rng(num_actions)
    sigma, action_values, regrets = (some(rng, num_actions, NUM_HANDS) for _ in range(3))
    before, value = regrets.copy(), aligned_zeros(NUM_HANDS)
    either(pass_up, compiled)(sigma, action_values, regrets, floor, value)
    for hand in range(NUM_HANDS):
        worth = sum(float(share) * float(one) for share, one in zip(sigma[:, hand], action_values[:, hand]))
        assert value[hand] == pytest.approx(worth, rel=1e-5, abs=1e-5)
        for a in range(num_actions):
            kept = float(before[a, hand]) * (0.9 if before[a, hand] > 0.0 else 0.5)
            wanted = max(kept + float(action_values[a, hand]) - worth, floor)
            assert regrets[a, hand] == pytest.approx(wanted, rel=1e-5, abs=1e-5)


def test_vectors_are_whole_chunks_on_cache_lines() -> None:
    """The loops take whole chunks only, so a vector must be one or more of them."""
    assert [padded(count) for count in (1, CHUNK, CHUNK + 1, 1081, 1128)] == [CHUNK, CHUNK, 2 * CHUNK, 1088, 1152]
    assert all(aligned_zeros(3, 1081).ctypes.data % 64 == 0 for _ in range(5))
