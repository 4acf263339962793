"""Ends of a hand in lanes: against the kernels for one range, compiled and in Python."""

import numpy as np
import pytest

from foldwise.game.cards import parse_cards
from foldwise.game.compiled import kernel
from foldwise.game.hands.showdown import RangeShowdown, empty_lane_sums, make_lane_board
from foldwise.game.hands.showdown_lane_kernels import LaneBoard, LaneSums, settle_fold_lanes, settle_showdown_lanes
from foldwise.game.primitives.lane_kernels import WIDTH, from_lanes, to_lanes


@kernel
def settle_lanes(board: LaneBoard, ranges, sums: LaneSums, is_fold: bool, out):  # type: ignore[no-untyped-def]
    to_lanes(ranges, sums.picked, sums.reach)
    if is_fold:
        settle_fold_lanes(board, sums)
    else:
        settle_showdown_lanes(board, sums)
    from_lanes(sums.values, sums.scales, sums.targets, out)


@pytest.mark.parametrize("text", ["Ah7d2c9s4h", "AsKsQsJsTs", "2c2d2h2s3c", "Ah7d2c9s"])
@pytest.mark.parametrize("is_fold", [False, True])
@pytest.mark.parametrize("compiled", [True, False])
def test_lanes_equal_one_range_at_a_time(text: str, is_fold: bool, compiled: bool) -> None:
    """Eight of ten ranges in any order, to eight of ten places, each with a scale of its own."""
    rng = np.random.default_rng(5)
    showdown = RangeShowdown(parse_cards(text))
    board, pairs = make_lane_board(showdown.board), showdown.board.pairs
    ranges = rng.random((10, pairs.size)).astype(np.float32)
    sums = empty_lane_sums(len(parse_cards(text)))
    sums.picked[:], sums.targets[:] = rng.permutation(10)[:WIDTH], rng.permutation(10)[:WIDTH]
    sums.scales[:] = rng.random(WIDTH) * 100.0
    out = np.full_like(ranges, np.nan)
    settle = settle_lanes if compiled else getattr(settle_lanes, "py_func", settle_lanes)
    settle(board, ranges, sums, is_fold, out)
    for picked, target, scale in zip(sums.picked, sums.targets, sums.scales):
        reach = np.zeros(1326)
        reach[pairs] = ranges[picked]
        wanted = (showdown.fold if is_fold else showdown.showdown)(reach)[pairs]
        assert np.allclose(out[target], scale * wanted, rtol=1e-4, atol=1e-5 * scale * reach.sum())
    untouched = sorted({*range(10)} - {*sums.targets.tolist()})
    assert np.isnan(out[untouched]).all()
