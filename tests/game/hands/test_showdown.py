"""Showdowns and folds of range against range: equal to all pairs of hands compared one by one."""

import numpy as np
import pytest

from foldwise.game.arrays import Float
from foldwise.game.cards import parse_cards
from foldwise.game.hands.evaluator import rank_hand
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS, pair_number
from foldwise.game.hands.showdown import RangeShowdown, empty_sums, make_board
from foldwise.game.hands.showdown_kernels import settle_fold, settle_showdown


def all_pairs(board: list[int], reach: Float) -> tuple[Float, Float]:
    """Showdown and fold values by comparing every two hands."""
    hands = [tuple(pair) for pair in PAIR_CARDS.tolist()]
    live = [i for i, hand in enumerate(hands) if not set(hand) & set(board)]
    rank = {i: rank_hand([*hands[i], *board]) if board else 1 for i in live}
    masks = np.array([(1 << a) | (1 << b) for a, b in hands])
    showdown, fold = np.zeros(NUM_PAIRS), np.zeros(NUM_PAIRS)
    others = np.array(live)
    ranks = np.array([rank[i] for i in live])
    for i in live:
        apart = (masks[others] & masks[i]) == 0
        showdown[i] = (reach[others] * apart * np.sign(rank[i] - ranks)).sum()
        fold[i] = (reach[others] * apart).sum()
    return showdown, fold


BOARDS = ["AsKsQsJsTs", "2c2d2h2s7c", "Ah7d2c9s4h", "KhKd8c8s3d", "9c8c7c6d2s", "AsKd2c", "QcQdQh", "Jh9h4h2c"]


@pytest.mark.parametrize("text", ["", *BOARDS])
@pytest.mark.parametrize("seed", [0, 1])
def test_values_equal_all_pairs_compared(text: str, seed: int) -> None:
    """Boards where everything ties, where nearly nothing does, with zeros in the range and without."""
    rng = np.random.default_rng(seed)
    board = list(parse_cards(text))
    reach = rng.random(NUM_PAIRS) * (rng.random(NUM_PAIRS) < (1.0, 0.3)[seed])
    showdown, fold = all_pairs(board, reach)
    kernels = RangeShowdown(board)
    assert kernels.fold(reach) == pytest.approx(fold, abs=1e-10)
    assert kernels.showdown(reach) == pytest.approx(showdown, abs=1e-10)
    if text == "AsKsQsJsTs":
        assert not kernels.showdown(reach).round(10).any()


def test_random_boards_in_single_precision() -> None:
    """float32 prefix sums over 1,081 hands: within a few units of the last place of the total."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        board = rng.permutation(52)[:5].tolist()
        reach = rng.random(NUM_PAIRS)
        showdown, fold = all_pairs(board, reach)
        prepared, sums = make_board(board), empty_sums(5, np.float32)
        out = np.empty(prepared.pairs.size, np.float32)
        narrow = reach[prepared.pairs].astype(np.float32)
        settle_showdown(prepared, narrow, np.float32(3.0), sums, out)
        assert out.dtype == np.float32
        assert out == pytest.approx(3.0 * showdown[prepared.pairs], abs=3e-3)
        settle_fold(prepared, narrow, np.float32(3.0), sums, out)
        assert out == pytest.approx(3.0 * fold[prepared.pairs], abs=3e-3)


def test_hands_that_meet_none_of_a_range() -> None:
    """Weights may leave a rounding error where every hand of a range shares a card."""
    board, reach = parse_cards("4s8hTc9h2s"), np.zeros(NUM_PAIRS)
    reach[[pair_number(*parse_cards(hand)) for hand in ("AsQd", "KsQs", "AcKs")]] = (0.1, 0.2, 0.7)
    meets = RangeShowdown(board).meets(reach)
    for hand, expected in (("AsKs", False), ("AhAs", True), ("QdKs", False), ("7d7c", True), ("4s7c", False)):
        assert meets[pair_number(*parse_cards(hand))] == expected


def test_boards_are_sorted_and_whole() -> None:
    board = list(parse_cards("Ah7d2c9s4h"))
    prepared = make_board(board)
    assert prepared.pairs.size == 1081 and len(set(prepared.pairs.tolist())) == 1081
    assert (np.diff(prepared.ranks.astype(int)) >= 0).all()
    for pair, rank, cards in list(zip(prepared.pairs, prepared.ranks, prepared.cards))[::97]:
        assert cards.tolist() == PAIR_CARDS[pair].tolist()
        assert rank == rank_hand([*cards.tolist(), *board])


@pytest.mark.parametrize("board", [(0, 1, 1), (0, 1, 2, 3, 3), (0, 1), (0, 1, 52), (-1, 0, 1), (0, 1, 2, 3, 4, 5)])
def test_a_board_that_cannot_be_dealt_is_refused(board):
    """A card twice leaves more hands than there is memory for: the kernel would write beyond it."""
    with pytest.raises(ValueError, match="3 to 5 different cards"):
        RangeShowdown(board)
