"""Solve a single decision: what each action of the player to act is worth with a given hand, on the turn or the river.

The solve is rooted at the decision, with both ranges as a strategy at the table infers them, and with the real bet among
the sizes. It is for reviewing a hand afterwards; a searching player must answer at once and stay consistent over a street.
"""

from typing import NamedTuple

import numpy as np

from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.betting import RAISE, Action
from foldwise.game.hands.hole_cards import pair_number
from foldwise.game.hands.showdown import RangeShowdown
from foldwise.game.text.match_state import MatchState
from foldwise.search.modes import find_mode
from foldwise.search.ranges import TableRanges
from foldwise.solver.subgame.subgame import Subgame
from foldwise.solver.subgame.workspace import Workspace

_TURN = 2
_LEAST_SHARE = 1e-6


class SolvedDecision(NamedTuple):
    """What the actions are worth to one hand."""

    actions: list[Action]
    probabilities: list[float]
    values: list[float]  # chips over the whole hand
    exploitability_mbb: float


class DecisionSolver:
    """Solves decisions of a strategy's hands in one mode. Not for several threads at once."""

    def __init__(self, player: StrategyPlayer, mode: str, threads: int = 1):
        self._ranges = TableRanges(player)
        self._player = player
        self._mode = find_mode(mode)
        self._threads = threads
        self._workspace = Workspace()

    def solve(self, state: MatchState, done: Action | None = None) -> SolvedDecision | None:
        """None before the turn, and in states that the strategy never reaches."""
        betting = state.betting
        if betting.round < _TURN:
            return None
        position = state.position
        followed = self._ranges.follow(betting, state.board, position, state.hand_number, self._player.buckets(state))
        hand = pair_number(*state.hole_cards[position])
        own, other = followed.ranges[position].copy(), followed.ranges[1 - position]
        own[hand] = max(
            own[hand], 1e-6 * float(own.max(initial=1.0))
        )  # so that a hand outside the strategy's range can be judged
        showdown = RangeShowdown(state.board)
        if not showdown.meets(other)[hand]:
            return None
        met = float(showdown.fold(other)[hand])
        extra: dict[tuple[Action, ...], tuple[int, ...]] = (
            {(): (done.raise_to,)} if done is not None and done.kind == RAISE else {}
        )
        ranges = (own, other) if position == 0 else (other, own)
        subgame = Subgame(
            betting,
            state.board,
            ranges,
            self._mode.menu(betting),
            self._threads,
            schedule="dcfr+",
            extra_sizes=extra,
            workspace=self._workspace,
        )
        budget = self._mode.turn if betting.round == _TURN else self._mode.river
        subgame.run(budget.visits(subgame.hand_nodes_per_visit))
        values = subgame.action_values()[:, hand] / met
        return SolvedDecision(
            actions=subgame.actions_at(0),
            probabilities=subgame.strategy(0)[:, hand].tolist(),
            values=np.asarray(values).tolist(),
            exploitability_mbb=subgame.exploitability().exploitability_mbb,
        )
