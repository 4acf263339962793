"""Turns and rivers behind a flop, in an order that depends on their number alone.

Every 49 runouts have each turn once, each with a river drawn from those left: public chance sampling without replacement
of the turn. What depends on the board alone, ranks and buckets, is looked up once and kept while the flop is played.
"""

from functools import lru_cache

import numpy as np

from foldwise.game.arrays import Counts
from foldwise.game.hands.hole_cards import NUM_PAIRS
from foldwise.game.hands.showdown import make_board, make_lane_board
from foldwise.game.hands.showdown_lane_kernels import LaneBoard
from foldwise.search.flop.continuation_kernels import Runouts
from foldwise.search.ranges import TableRanges

NUM_TURNS = 49
_NUM_RIVERS = 48
# Of 49 * 48 turns and rivers, two hands leave 45 * 44: what a uniformly drawn runout stands for.
RUNOUT_WEIGHT = NUM_TURNS * _NUM_RIVERS / (45 * 44)
_TURN, _RIVER = 2, 3


class RunoutSource:
    """The runouts of one flop under one blueprint's buckets, made in blocks as they are asked for."""

    def __init__(self, ranges: TableRanges, board: tuple[int, ...]):
        self.board = board
        self.trunk = make_board(board)
        self._ranges = ranges
        self._blocks: dict[int, Runouts] = {}

    def block(self, number: int) -> Runouts:
        """Runouts number * 49 .. number * 49 + 48."""
        if number not in self._blocks:
            self._blocks[number] = self._make(runout_cards(self.board, number))
        return self._blocks[number]

    def _make(self, cards: Counts) -> Runouts:
        boards = [(*self.board, int(turn), int(river)) for turn, river in cards]
        made = [make_board(one) for one in boards]
        place = np.zeros(NUM_PAIRS, np.uint16)
        place[self.trunk.pairs] = np.arange(self.trunk.pairs.size)
        lanes = LaneBoard(*(np.stack(arrays) for arrays in zip(*map(make_lane_board, made))))
        pairs = np.array([one.pairs for one in made])
        turn, river = (
            np.array([self._ranges.look_up(street, one[: street + 2], hands.pairs) for one, hands in zip(boards, made)])
            for street in (_TURN, _RIVER)
        )
        return Runouts(lanes, place[pairs], turn.astype(np.uint32), river.astype(np.uint32))


@lru_cache(maxsize=256)
def runout_cards(board: tuple[int, ...], number: int) -> Counts:
    """[49, 2] the turns and rivers of a block."""
    rng = np.random.default_rng(number)
    left = np.array([card for card in range(52) if card not in board])
    turns = rng.permutation(left)
    rivers = rng.integers(0, _NUM_RIVERS, NUM_TURNS)
    return np.array([(turn, left[left != turn][river]) for turn, river in zip(turns, rivers)])
