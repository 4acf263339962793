"""What players that search, on the flop too, win more than their tables: one deal after the other.

Each street that is searched is a step. On the flop both players have all their hands at once and, behind it, go on with their
tables: what the searched flop wins more than the tables' own. The hand then goes on as the players really play the flop, to
the root of its turn, if it comes to one; there they have all their hands again and turn and river are played out
(`turn_roots`). The steps add up: what players who search win from each other is what their tables win by `expectation`,
and this on top.
"""

from dataclasses import dataclass
from typing import NamedTuple

from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.arrays import Float
from foldwise.game.betting import BettingState
from foldwise.game.hands.dealing import Deal
from foldwise.game.text.match_state import view
from foldwise.matches.scoring.turn_roots import RootMatch, StreetRoot
from foldwise.matches.scoring.vector_response import RangeAgent
from foldwise.search.player import SearchPlayer
from foldwise.search.ranges import Policy, PublicState, TableRanges

_FLOP, _TURN = 1, 2


@dataclass(frozen=True)
class RootPlayer:
    """A player, and its tables alone with the same post-processing."""

    agent: SearchPlayer | TableRanges
    table: StrategyPlayer
    rows: TableRanges

    def searches(self, street: int) -> bool:
        return isinstance(self.agent, SearchPlayer) and self.agent.settings.on(street) is not None

    def reach(self, state: PublicState) -> Float:
        """[1326] how likely its hands come to a street's root."""
        if isinstance(self.agent, SearchPlayer) and self.searches(state.betting.round - 1):
            return self.agent.solution(state).problem.ranges[state.position]
        return self.rows.follow(state.betting, state.board, state.position, state.hand_number).ranges[state.position]


class Until(NamedTuple):
    """An agent up to a street, and its tables behind it."""

    seat: RootPlayer
    street: int

    def rows(self, state: PublicState) -> Policy:
        return (self.seat.agent if state.betting.round <= self.street else self.seat.rows).rows(state)


class SearchedDeals:
    """Two players by position."""

    def __init__(self, seats: tuple[RootPlayer, RootPlayer], rivers: int = 2, seed: int = 0):
        self.seats = seats
        self._rivers = rivers
        self._seed = seed
        self._first = next((s for s in (_FLOP, _TURN) if any(seat.searches(s) for seat in seats)), _TURN)

    def gain(self, deal: Deal, number: int) -> float:
        """How many more chips position 0 wins from position 1 than the tables do in their places."""
        betting, gain = BettingState(self.seats[0].table.definition), 0.0
        while not betting.finished:
            street = betting.round
            if street >= self._first:
                gain += self._step(deal, betting, number)
            if street >= _TURN:
                return gain
            while not betting.finished and betting.round == street:
                player = betting.player_to_act
                seat, state = self.seats[player], view(betting, deal.hole_cards, deal.board, player, number)
                chooser = seat.agent if isinstance(seat.agent, SearchPlayer) else seat.table
                betting.apply(chooser.choose(state))
        return gain

    def _step(self, deal: Deal, betting: BettingState, number: int) -> float:
        """What a street's search changes at its root; on the turn, with the rivers behind it."""
        first, second = self.seats
        street, board = betting.round, tuple(deal.board[: betting.definition.board_sizes[betting.round]])
        ranges = [seat.reach(PublicState(betting, board, player, number)) for player, seat in enumerate(self.seats)]
        root = StreetRoot(number, betting.copy(), board, (ranges[0], ranges[1]))
        agents: tuple[RangeAgent, RangeAgent] = (first.agent, second.agent)
        if street < _TURN:
            agents = (Until(first, street), Until(second, street))
        return RootMatch(agents, (first.rows, second.rows), self._rivers, seed=self._seed).gain(root)
