"""Two-round limit hold'em with few buckets and no list of deals, and one board of it as the kernels deal it."""

from math import inf

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame, make_abstract_game
from foldwise.abstraction.cards.card_abstraction import CardAbstraction, StreetAbstraction
from foldwise.abstraction.deals.holdem_deals import CardSource
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.library import PokerGame, find_game
from foldwise.game.primitives.rng import make_state
from foldwise.solver.sampling.public_chance import make_board_deals, make_ends, make_public_frames
from foldwise.solver.sampling.public_deal_kernels import deal_board
from foldwise.solver.sampling.public_kernels import Hands, walk_public

Array = npt.NDArray[np.float64]


def coarse_two_limit(num_preflop: int, num_flop: int) -> AbstractGame:
    """Two-round limit hold'em with buckets drawn at random, so that many hands share one."""
    rng = np.random.default_rng(1)
    streets = [
        StreetAbstraction(
            "table", count, shape, table=rng.integers(count, size=hand_index(shape).size, dtype=np.uint16)
        )
        for count, shape in ((num_preflop, (2,)), (num_flop, (2, 3)))
    ]
    game = find_game("two-limit-1")
    assert isinstance(game, PokerGame)
    cards = CardAbstraction(streets, {"test": 1})
    return make_abstract_game("two-limit-1", game.build_tree(), CardSource(cards, 2, 3), 1, cards)


class Board:
    """One board of the coarse game, with its hands as the kernels deal them."""

    def __init__(self, game: AbstractGame, seed: int):
        assert game.cards is not None
        self.game = game
        self.ends = make_ends(3)
        deals = make_board_deals(game, game.cards)
        self.hands = deals.hands
        self.frames = make_public_frames(game, self.hands.num_hands)
        deal_board(make_state(seed), deals, self.ends.board)
        self.flop = deals.scratch.deck[:3].tolist()

    def change(self, table: Array, hands: tuple[Hands, Hands], first: int, last: int) -> Array:
        after = table.copy()
        walk_public(self.game.tree.nodes, after, hands, self.ends, first, last, 1.0, -inf, self.frames)
        return after - table
