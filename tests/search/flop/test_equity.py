"""All-ins on the flop."""

from itertools import combinations

import numpy as np

from foldwise.game.cards import parse_cards
from foldwise.game.hands.evaluator import rank_hand
from foldwise.game.hands.hole_cards import PAIR_CARDS
from foldwise.game.hands.showdown import make_board
from foldwise.search.flop.equity import flop_gains
from foldwise.search.flop.equity_kernels import settle_all_in
from foldwise.solver.subgame.workspace import Workspace

BOARD = tuple(parse_cards("Ah7d2c"))


def test_gains_are_counted_over_all_turns_and_rivers():
    hands = make_board(BOARD)
    gains = flop_gains(BOARD, hands, Workspace(), 3)
    assert np.array_equal(gains, -gains.T)
    rng = np.random.default_rng(5)
    for first, second in rng.integers(0, len(hands.pairs), (12, 2)):
        one, other = PAIR_CARDS[hands.pairs[[first, second]]].tolist()
        used = {*one, *other, *BOARD}
        if len(used) < 7:
            assert gains[first, second] == 0.0
            continue
        results = [
            np.sign(rank_hand([*other, *BOARD, *more]) - rank_hand([*one, *BOARD, *more]))
            for more in combinations([card for card in range(52) if card not in used], 2)
        ]
        assert len(results) == 990
        assert np.isclose(gains[first, second], np.mean(results), atol=1e-6)
    reach, out = rng.uniform(0, 1, len(gains)).astype(np.float32), np.zeros(len(gains), np.float32)
    settle_all_in(gains, reach, np.float32(300.0), out)
    np.testing.assert_allclose(out, 300.0 * (reach @ gains), rtol=1e-3, atol=1e-2)
