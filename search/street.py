"""One street solved from its root, for one seat: what all hands play on it, action by action.

The solve always starts at the street's root. When somebody makes a bet that the tree lacks, it is added with its exact
amount, what we have already played on the street is frozen for all hands, and the street is solved again from its root,
starting from what was learned (Brown and Sandholm, NIPS 2017, nested solving; here
the frozen rows keep our past as it was instead of a new root behind it).
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foldwise.game.arrays import Float
from foldwise.game.betting import CALL, FOLD, RAISE, Action, BettingState
from foldwise.game.hands.hole_cards import PAIR_CARDS
from foldwise.game.trees.tree import BetMenu
from foldwise.postprocess import transforms
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.flop.flop_game import FlopGame, FlopSource
from foldwise.search.modes import Budget
from foldwise.search.ranges import Policy
from foldwise.solver.subgame.gadget import Gadget
from foldwise.solver.subgame.subgame import Subgame
from foldwise.solver.subgame.subgame_tree import Path
from foldwise.solver.subgame.workspace import Workspace

# A solve that starts from an earlier one's regrets runs for this share of the usual iterations,
AGAIN_SHARE = 0.5
# and counts iterations from this share on, so that discounting forgets what the new size changes.
_FROM_SHARE = 0.25
# River cards walked per iteration on the turn. For the work of 30 iterations over all 48 rivers, a limped pot is left
# exploitable for 7.8% of the pot with all rivers per iteration, 2.3% with 12, 1.4% with 6.
_RIVERS = 6
# Hand-nodes between two looks at the brake, some hundredths of a second: each look ends a call of the solver's kernels.
_BETWEEN_BRAKES = 10e6

Brake = Callable[[], None]  # raises when there is no time left


class BehindFlop(NamedTuple):
    """How a hand goes on after a flop: by the blueprint, which stands at `node` at the flop's root."""

    source: FlopSource
    node: int


@dataclass(frozen=True)
class StreetProblem:
    """What is solved: everything the solution depends on."""

    root: BettingState
    board: tuple[int, ...]
    ranges: tuple[Float, Float]  # by player, at the root
    position: int  # the searching player
    menu: BetMenu
    budget: Budget
    pipeline: Pipeline
    gadget: Gadget | None
    threads: int
    workspace: Workspace
    behind: BehindFlop | None = None  # of a flop, whose bet sizes are the blueprint's instead of the menu's


class StreetSearch:
    """The solution of a street, seen from one decision. It is immutable: following an action gives a new one."""

    def __init__(self, problem: StreetProblem, brake: Brake):
        self.problem = problem
        self.path: Path = ()
        self.frozen: dict[Path, Float] = {}  # what we have played on the path
        self.added: dict[Path, tuple[int, ...]] = {}  # raises that the menu did not have
        self.num_solves = 0
        self.subgame = self._solve(None, brake)

    def _make(self) -> Subgame | FlopGame:
        problem = self.problem
        if problem.behind is not None:
            return FlopGame(
                problem.behind.source,
                problem.root,
                problem.board,
                problem.behind.node,
                problem.ranges,
                gadget=problem.gadget,
                frozen=self.frozen,
                extra_sizes=self.added,
            )
        return Subgame(
            problem.root,
            problem.board,
            problem.ranges,
            problem.menu,
            problem.threads,
            schedule="dcfr+",
            gadget=problem.gadget,
            frozen=self.frozen,
            extra_sizes=self.added,
            workspace=problem.workspace,
            rivers=_RIVERS,
        )

    def _solve(self, earlier: Subgame | FlopGame | None, brake: Brake) -> Subgame | FlopGame:
        problem, subgame = self.problem, self._make()
        visits, size = problem.budget.visits(subgame.hand_nodes_per_visit), subgame.samples_per_visit
        if earlier is not None:
            _start_from(subgame, earlier, size * max(1, int(_FROM_SHARE * visits)))
            visits = max(1, int(AGAIN_SHARE * visits))
        together = max(1, int(_BETWEEN_BRAKES / subgame.hand_nodes_per_visit))
        for done in range(0, visits, together):
            brake()
            subgame.run(size * min(together, visits - done))
        self.num_solves += 1
        return subgame

    def policy(self) -> Policy:
        """What all hands of the player to act do here: the average strategy, ours after post-processing."""
        at = self.subgame.node_at(self.path)
        actions, rows = self.subgame.actions_at(at), self.subgame.strategy(at)
        state = self.subgame.states[at]
        if state.player_to_act == self.problem.position:
            rows = postprocessed(self.problem.pipeline, state, actions, rows)
        return Policy(actions, rows)

    def after(self, action: Action, brake: Brake) -> "StreetSearch":
        """The search after an action; an action that the tree lacks is added and solved first."""
        at = self.subgame.node_at(self.path)
        search = copy(self)
        if action not in self.subgame.actions_at(at):
            search.added = {**self.added, self.path: (*self.added.get(self.path, ()), action.raise_to)}
            search.subgame = search._solve(self.subgame, brake)
        elif self.subgame.states[at].player_to_act == self.problem.position:
            search.frozen = {**self.frozen, self.path: self.policy().rows}
        search.path = (*self.path, action)
        return search

    def ranges(self) -> tuple[Float, Float]:
        """Both players' ranges at the end of the path: ours as played, the opponent's by the solution's average.

        An action that contradicts every hand says nothing.
        """
        found = [one.copy() for one in self.problem.ranges]
        for k, action in enumerate(self.path):
            path = self.path[:k]
            at = self.subgame.node_at(path)
            player = self.subgame.states[at].player_to_act
            rows = self.frozen.get(path)
            if rows is None:
                rows = self.subgame.strategy(at)
            played = found[player] * rows[self.subgame.actions_at(at).index(action)]
            if np.any(played):
                found[player] = played
        return found[0], found[1]


def _start_from(game: Subgame | FlopGame, earlier: Subgame | FlopGame, iteration: int) -> None:
    if isinstance(game, FlopGame):
        assert isinstance(earlier, FlopGame)
        game.start_from(earlier, iteration)
    else:
        assert isinstance(earlier, Subgame)
        game.start_from(earlier, iteration)


def postprocessed(pipeline: Pipeline, state: BettingState, actions: Sequence[Action], rows: Float) -> Float:
    """Rows [A, 1326] post-processed as a decision that is not the player's first."""
    if not pipeline.steps:
        return rows
    stack = state.definition.stacks[state.player_to_act]
    kinds = [
        {FOLD: transforms.FOLD, CALL: transforms.CALL}.get(
            action.kind, transforms.ALL_IN if action.raise_to >= stack else transforms.BET
        )
        for action in actions
    ]
    sizes = [
        (action.raise_to - state.max_spent) / (2.0 * max(1, state.max_spent)) if action.kind == RAISE else 0.0
        for action in actions
    ]
    live = np.flatnonzero(rows.sum(axis=0))
    out = np.zeros_like(rows)
    table = transforms.Actions(np.array(kinds, np.int8), np.array(sizes))
    out[:, live] = pipeline.apply(np.ascontiguousarray(rows[:, live].T), table, street=state.round).T
    return out


def without_card(weights: Float, card: int) -> Float:
    """A range after a card has been dealt."""
    return np.where(np.isin(PAIR_CARDS, card).any(axis=1), 0.0, weights)
