"""A searching player against tables, scored by turn roots: the value of a whole turn and river over all hands.

The blueprint plays itself to the turn. From there on one seat searches and the other plays its rows, both with every hand
at once: each action is expanded by its probabilities, all-ins are exact over all rivers, and where the turn ends some
rivers are drawn. What the searching seat wins more than the blueprint's own rows in its place, which is computed exactly
over all rivers, is one observation. Everything before the turn is the same for both and cancels.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.arrays import Float
from foldwise.game.betting import BettingState
from foldwise.game.hands.dealing import Shoe
from foldwise.game.text.match_state import view
from foldwise.matches.scoring.range_ends import HIDDEN_RIVERS, end_value, showdown_on, unseen
from foldwise.search.blueprint_values import BlueprintValues
from foldwise.search.player import SearchPlayer, shared_workspace
from foldwise.search.ranges import PublicState, TableRanges
from foldwise.search.street import without_card

_TURN = 2
_NUM_RIVERS = 48


@dataclass(frozen=True)
class TurnRoot:
    """A state at the root of a turn, and how likely each player's hands reach it."""

    number: int  # of the hand
    betting: BettingState
    board: tuple[int, ...]
    ranges: tuple[Float, Float]


def turn_roots(table: StrategyPlayer, seed: int, num_hands: int) -> Iterator[TurnRoot]:
    """Roots of hands of a strategy against itself, as a dealer deals them."""
    definition = table.definition
    ranges = TableRanges(table)
    for number, deal in zip(range(num_hands), Shoe(definition, seed).deals()):
        betting = BettingState(definition)
        while not betting.finished and betting.round < _TURN:
            betting.apply(table.choose(view(betting, deal.hole_cards, deal.board, betting.player_to_act, number)))
        if not betting.finished:
            board = tuple(deal.board[: definition.board_sizes[_TURN]])
            followed = [ranges.follow(betting, board, player, number).ranges[player] for player in (0, 1)]
            yield TurnRoot(number, betting, board, (followed[0], followed[1]))


class RootMatch:
    """A searching player against a table, from turn roots on."""

    def __init__(
        self, search: SearchPlayer, table: StrategyPlayer, rivers: int = 2, least: float = 1e-2, seed: int = 0
    ):
        search.measure()
        self.search = search
        self.table = table
        self.rivers = rivers  # drawn where a turn ends
        # A branch whose probability times chips is below this share of the root's is walked with a matching probability
        # and weighted up accordingly.
        self.least = least
        self._rows = TableRanges(table)
        self._values = BlueprintValues(self._rows, shared_workspace(), 2)
        self._rng = np.random.default_rng(seed)

    def gain(self, root: TurnRoot, position: int) -> float:
        """How many more chips per hand that reaches the root `position` wins by searching than by the table's rows."""
        mass = float(root.ranges[0] @ showdown_on(root.board).fold(root.ranges[1]))
        least = self.least * mass * root.betting.max_spent
        won = self._value(root.number, root.betting, root.board, root.ranges, position, least)
        node = self._rows.follow(root.betting, root.board, position, root.number).node
        own, other = root.ranges[position], root.ranges[1 - position]
        before = float(own @ self._values.response(node, root.board, position, other, best=False))
        return (won - before) / mass

    def _value(
        self,
        number: int,
        betting: BettingState,
        board: tuple[int, ...],
        ranges: tuple[Float, Float],
        position: int,
        least: float,
    ) -> float:
        """What `position` wins by searching, times both reaches; branches of a stake below `least` are drawn."""
        if betting.finished:
            value = end_value(betting, board, ranges)
            return value if position == 0 else -value
        if len(board) < betting.definition.board_sizes[betting.round]:
            total = 0.0
            for card in self._rng.choice(unseen(board), self.rivers, replace=False).tolist():
                after = (without_card(ranges[0], card), without_card(ranges[1], card))
                total += self._value(number, betting, (*board, card), after, position, least)
            return total * _NUM_RIVERS / (self.rivers * HIDDEN_RIVERS)
        player = betting.player_to_act
        agent = self.search if player == position else self._rows
        policy = agent.rows(PublicState(betting, board, player, number))
        total = 0.0
        for action, row in zip(policy.actions, policy.rows):
            reach = ranges[player] * row
            after = (reach, ranges[1]) if player == 0 else (ranges[0], reach)
            following = betting.copy()
            following.apply(action)
            stake = float(after[0] @ showdown_on(board).fold(after[1])) * following.max_spent
            weight = 1.0
            if stake < least:
                if self._rng.random() * least >= stake:
                    continue
                weight = least / stake
            total += weight * self._value(number, following, board, after, position, least)
        return total
