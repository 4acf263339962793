"""Expectation scoring: what one strategy wins from another, without playing a hand.

For each board the value is the mean over all hands of both players with card removal, over both policies as they are
played (post-processing, and the real chips their abstract bets become), over every reading of a bet of an unknown size,
and over both seatings. Only the board is left to chance, so boards are the observations an interval is made of, and one
of them tells as much as many hands. Games with a handful of boards are scored on all of them, and exactly.

An agent draws its actions and readings by counter from its seed; what is computed here is the mean over all seeds. What
is left out by Russian roulette, `least_chips`, is left out without bias and its noise is part of the interval.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.agent.following.tracker import Scratch, make_scratch
from foldwise.agent.strategy_player import StrategyPlayer, check_same_game
from foldwise.game.arrays import Float
from foldwise.game.betting_kernels import NUM_FIELDS
from foldwise.game.definition import GameDefinition
from foldwise.game.hands.dealing import Shoe
from foldwise.game.trees.table_rules import table_rules
from foldwise.matches.scoring import expectation_kernels as kernels
from foldwise.matches.scoring.ranges import RangeBoard, all_boards, board_view, range_board

# On 20 boards of hunl-small against hunl-tiny: sd 78.8 mbb, 79.0 without roulette, for 0.72 of the time.
DEFAULT_LEAST_CHIPS = 0.05
_FIRST_CAPACITY = 256


class Stack(NamedTuple):
    """Branches still to walk; C of them, n hands."""

    hands: npt.NDArray[np.int64]  # [C, NUM_FIELDS]
    nodes: npt.NDArray[np.int64]  # [C, 2]: where each player's tracker stands
    acted: npt.NDArray[np.bool_]  # [C, 2]
    weight: Float  # [C]: chance of the readings so far
    reach: Float  # [C, 2, n]


class ExpectationMemory(NamedTuple):
    """Memory for the branch being walked."""

    hand: npt.NDArray[np.int64]
    after: npt.NDArray[np.int64]
    acted: npt.NDArray[np.bool_]
    reach: Float  # [2, n]
    played: Float  # [n]
    values: Float  # [n]
    rows: Float  # [n, A]
    decision: Scratch


def _make_stack(capacity: int, num_hands: int) -> Stack:
    return Stack(
        hands=np.zeros((capacity, NUM_FIELDS), np.int64),
        nodes=np.zeros((capacity, 2), np.int64),
        acted=np.zeros((capacity, 2), np.bool_),
        weight=np.zeros(capacity),
        reach=np.zeros((capacity, 2, num_hands)),
    )


def _make_work(num_hands: int, most_actions: int) -> ExpectationMemory:
    return ExpectationMemory(
        hand=np.zeros(NUM_FIELDS, np.int64),
        after=np.zeros(NUM_FIELDS, np.int64),
        acted=np.zeros(2, np.bool_),
        reach=np.zeros((2, num_hands)),
        played=np.zeros(num_hands),
        values=np.zeros(num_hands),
        rows=np.zeros((num_hands, most_actions)),
        decision=make_scratch(),
    )


class Expectation:
    """Two strategies of one game, scored board by board."""

    def __init__(
        self,
        definition: GameDefinition,
        players: tuple[StrategyPlayer, StrategyPlayer],
        least_chips: float = DEFAULT_LEAST_CHIPS,
        seed: int = 0,
    ):
        for player in players:
            check_same_game(definition, player.definition, player.name)
        self.definition = definition
        self.least_chips = least_chips
        self._players = players
        self._rules = table_rules(definition)
        self._seed = np.uint64(seed % 2**64)
        self._most_actions = max(int(player.seat.tree.nodes["num_children"].max()) for player in players)

    def board_values(self, board: Sequence[int] | npt.NDArray[np.uint8], number: int = 0) -> tuple[float, float]:
        """What the first player wins a hand in position 0 and in position 1 on a full board, in chips."""
        return self._values(range_board(self.definition, board), number)

    def _values(self, board: RangeBoard, number: int) -> tuple[float, float]:
        views = [board_view(self.definition, player.lookup, board) for player in self._players]
        seats = [player.seat for player in self._players]
        work = _make_work(len(board.hands), self._most_actions)
        forward = self._walk(board, (seats[0], seats[1]), (views[0], views[1]), work, 2 * number)
        swapped = self._walk(board, (seats[1], seats[0]), (views[1], views[0]), work, 2 * number + 1)
        return forward, -swapped

    def _walk(self, board: RangeBoard, seats: object, views: object, work: ExpectationMemory, number: int) -> float:
        capacity = _FIRST_CAPACITY
        while True:
            value, walked = kernels.expected_value(
                self._rules,
                seats,
                views,
                board.ends,
                board.num_pairs,
                self.least_chips,
                self._seed,
                number,
                _make_stack(capacity, len(board.hands)),
                work,
            )
            if walked >= 0:
                return float(value)
            capacity *= 2

    def exact(self) -> tuple[float, float] | None:
        """What the first player wins in each position over all boards; None if the game has too many."""
        boards = all_boards(self.definition)
        if boards is None:
            return None
        exact = Expectation(self.definition, self._players, 0.0)
        first, second = np.mean([exact.board_values(board) for board in boards], axis=0)
        return float(first), float(second)

    def values(
        self,
        boards: npt.NDArray[np.uint8],
        threads: int,
        first_number: int = 0,
        listen: Callable[[int], None] | None = None,
    ) -> Float:
        """[boards, 2]: what the first player wins a hand in each position; `listen` is told how many are done."""
        out = np.empty((len(boards), 2))
        with ThreadPoolExecutor(threads) as pool:
            try:
                for start in range(0, len(boards), 8 * threads):
                    numbers = range(start, min(start + 8 * threads, len(boards)))
                    found = pool.map(lambda number: self.board_values(boards[number], first_number + number), numbers)
                    out[numbers.start : numbers.stop] = list(found)
                    if listen is not None:
                        listen(numbers.stop)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
        return out


def match_boards(definition: GameDefinition, seed: int, num_hands: int) -> npt.NDArray[np.uint8]:
    """[hands, cards]: the full boards of a match, as its dealer draws them."""
    return Shoe(definition, seed).cards(num_hands)[:, definition.num_players * definition.num_hole_cards :]


def boards_of_matches(definition: GameDefinition, seed: int, num_hands: int) -> Iterator[npt.NDArray[np.uint8]]:
    """The boards of match after match, as a plan with `repeat` numbers them."""
    index = 0
    while True:
        yield match_boards(definition, (seed + index) % 2**32, num_hands)
        index += 1
