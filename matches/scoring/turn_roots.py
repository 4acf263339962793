"""Players that search, scored by turn roots: the value of a whole turn and river over all hands.

Two strategies play each other to the turn with their tables. From there on both players have every hand at once: each
action is expanded by its probabilities, all-ins are exact over all rivers, and where the turn ends some rivers are drawn,
the same ones at every end of a root. A root on the flop is played out on one drawn turn, all-ins too. What the players,
one of them searching or both, win there more than their tables do in their places is one observation. Everything before
the turn is the same for both and cancels; so what a searching player wins from another one is what the tables win by
`expectation`, and this on top.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.arrays import Float
from foldwise.game.betting import BettingState
from foldwise.game.hands.dealing import Shoe
from foldwise.game.text.match_state import view
from foldwise.matches.scoring.range_ends import end_value, showdown_on, unseen
from foldwise.matches.scoring.vector_response import RangeAgent
from foldwise.search.ranges import PublicState, TableRanges
from foldwise.search.street import without_card

_TURN = 2
_TURN_CARDS = 4
_HOLE_CARDS = 4  # of both players

Agents = tuple[RangeAgent, RangeAgent]  # by position


@dataclass(frozen=True)
class StreetRoot:
    """A state at the root of a street, and how likely each player's hands reach it."""

    number: int  # of the hand
    betting: BettingState
    board: tuple[int, ...]
    ranges: tuple[Float, Float]


def street_roots(
    tables: tuple[StrategyPlayer, StrategyPlayer],
    seed: int,
    num_hands: int,
    first: int = 0,
    step: int = 1,
    street: int = _TURN,
) -> Iterator[StreetRoot]:
    """Roots of hands of two strategies, by position, as a dealer deals them; hands are numbered from `first` by `step`."""
    definition = tables[0].definition
    ranges = [TableRanges(table) for table in tables]
    for dealt, deal in zip(range(num_hands), Shoe(definition, seed).deals()):
        betting, number = BettingState(definition), first + step * dealt
        while not betting.finished and betting.round < street:
            player = betting.player_to_act
            betting.apply(tables[player].choose(view(betting, deal.hole_cards, deal.board, player, number)))
        if not betting.finished:
            board = tuple(deal.board[: definition.board_sizes[street]])
            followed = [ranges[player].follow(betting, board, player, number).ranges[player] for player in (0, 1)]
            yield StreetRoot(number, betting, board, (followed[0], followed[1]))


class RootMatch:
    """Two players from turn roots on, beside the tables that came there."""

    def __init__(self, players: Agents, tables: Agents, rivers: int = 2, least: float = 1e-2, seed: int = 0):
        self.players = players
        self.tables = tables
        self.rivers = rivers  # drawn where a turn ends
        # A branch whose probability times chips is below this share of the root's is walked with a matching probability
        # and weighted up accordingly.
        self.least = least
        self.seed = seed

    def gain(self, root: StreetRoot) -> float:
        """How many more chips per hand that reaches the root position 0 wins from position 1 than the tables do."""
        return self.value(root, self.players) - self.value(root, self.tables)

    def value(self, root: StreetRoot, agents: Agents) -> float:
        """What position 0 wins per hand that reaches the root."""
        mass = float(root.ranges[0] @ showdown_on(root.board).fold(root.ranges[1]))
        rng = np.random.default_rng((self.seed, root.number))
        num_turns = _TURN_CARDS - len(root.board)
        drawn = rng.choice(unseen(root.board), num_turns + self.rivers, replace=False).tolist()
        walk = _RootWalk(
            agents, root.number, drawn[:num_turns], drawn[num_turns:], self.least * mass * root.betting.max_spent, rng
        )
        return walk.value(root.betting, root.board, root.ranges) / mass


@dataclass
class _RootWalk:
    """One root, for two agents."""

    agents: Agents
    number: int
    turns: list[int]  # of a flop's root: one
    rivers: list[int]
    least: float  # stake below which branches are drawn
    rng: np.random.Generator

    def value(self, betting: BettingState, board: tuple[int, ...], ranges: tuple[Float, Float]) -> float:
        """What position 0 wins, times both reaches."""
        if betting.finished and (len(board) >= _TURN_CARDS or not betting.is_showdown()):
            return end_value(betting, board, ranges)
        if betting.finished or len(board) < betting.definition.board_sizes[betting.round]:
            cards, total = self.rivers if len(board) == _TURN_CARDS else self.turns, 0.0
            for card in cards:
                after = (without_card(ranges[0], card), without_card(ranges[1], card))
                total += self.value(betting, (*board, card), after)
            left = len(unseen(board))
            return total * left / (len(cards) * (left - _HOLE_CARDS))
        player = betting.player_to_act
        policy = self.agents[player].rows(PublicState(betting, board, player, self.number))
        total = 0.0
        for action, row in zip(policy.actions, policy.rows):
            reach = ranges[player] * row
            after = (reach, ranges[1]) if player == 0 else (ranges[0], reach)
            following = betting.copy()
            following.apply(action)
            stake = float(after[0] @ showdown_on(board).fold(after[1])) * following.max_spent
            weight = 1.0
            if stake < self.least:
                if self.rng.random() * self.least >= stake:
                    continue
                weight = self.least / stake
            total += weight * self.value(following, board, after)
        return total
