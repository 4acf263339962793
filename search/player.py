"""A player that solves the turn and the river, and if asked the flop, while it plays them.

Before that the blueprint plays. As soon as the turn card is known, even if the opponent acts first, turn and river
are solved from the turn's root with the ranges of both players, and the whole turn is played from that solution; at the
river's root the river is solved again, with the river's bet sizes of the turn's solution. What is played is the average
strategy after post-processing, drawn by the counter of `agent.following.decision_kernels`.

A choice is a function of the state and the seed: what is kept between two decisions of a hand is only what would be
computed again. The clock is an emergency brake: if it, or an error, stops a solve, the blueprint's row is played, the
log says so once, and the report counts it.
"""

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np

from foldwise.agent.following.decision_kernels import action_draw, drawn_action
from foldwise.agent.postprocessing.python_rules import load_rules
from foldwise.agent.strategy_player import Decision, StrategyPlayer
from foldwise.game.arrays import Float
from foldwise.game.betting import CALL_ACTION, Action, BettingState
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.hole_cards import pair_number
from foldwise.game.text.match_state import MatchState
from foldwise.game.trees.tree import BetMenu
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.blueprint_values import BlueprintValues
from foldwise.search.explanation import explain
from foldwise.search.flop.flop_game import FlopGame, FlopSource
from foldwise.search.gadgets import DEFAULT_WEIGHTS, GadgetWeights, make_gadget, zero_sum
from foldwise.search.modes import Budget
from foldwise.search.ranges import FollowedHand, Policy, PublicState, TableRanges
from foldwise.search.settings import SearchSettings, is_searchable
from foldwise.search.street import BehindFlop, StreetProblem, StreetSearch, without_card
from foldwise.solver.subgame.subgame import Subgame
from foldwise.solver.subgame.subgame_tree import Path
from foldwise.solver.subgame.workspace import Workspace

_FLOP, _TURN, _RIVER = 1, 2, 3
_ONE_VISIT = Budget(0.0, 1, 1)
_log = logging.getLogger(__name__)


class SearchLateError(RuntimeError):
    """The time for a decision ran out before its solve was done."""


@dataclass
class SearchReport:
    """A summary of the searches of a match."""

    solves: int = 0
    fallbacks: int = 0  # decisions the blueprint made instead
    unpriced: int = 0  # solves whose gadget had no values to offer
    pondered: int = 0  # solves done while the opponent was to act
    seconds: list[float] = field(default_factory=list, repr=False)  # of each decision on a searched street

    def to_dict(self) -> dict[str, float]:
        """The form that `match --json` prints."""
        times = self.seconds or [0.0]
        return {
            "solves": self.solves,
            "fallbacks": self.fallbacks,
            "pondered": self.pondered,
            "seconds_p50": float(np.percentile(times, 50)),
            "seconds_p99": float(np.percentile(times, 99)),
            "seconds_max": max(times),
        }


class _Key(NamedTuple):
    """Which street of which hand a search belongs to."""

    hand_number: int
    position: int
    before: tuple[tuple[Action, ...], ...]
    board: tuple[int, ...]


def _num_cores() -> int:
    """The number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def shared_workspace() -> Workspace:
    """Tables and threads shared by all searching seats of this process."""
    return Workspace()


class SearchPlayer:
    """Plays a blueprint before the turn, and its own solutions from there on. Not thread-safe."""

    def __init__(
        self,
        table: StrategyPlayer,
        pipeline: Pipeline,
        settings: SearchSettings,
        *,
        threads: int | None = None,
        workspace: Workspace | None = None,
        menu: BetMenu | None = None,
        weights: GadgetWeights = DEFAULT_WEIGHTS,
    ):
        """`menu` replaces the mode's bet sizes."""
        check_searchable(table)
        self.table = table
        self.settings = settings
        self.definition = table.definition
        self.name = table.name
        self.report = SearchReport()
        self.ranges = TableRanges(table)
        self.listener: Callable[[Decision], None] | None = None
        self._pipeline = load_rules(pipeline)
        self._threads = threads or _num_cores()
        self._workspace = workspace or shared_workspace()
        self._limit_seconds: float | None = None
        self._menu = menu
        self._weights = weights
        self._values = BlueprintValues(self.ranges, self._workspace, self._threads)
        self._flops = FlopSource(self.ranges, self._workspace, self._threads)
        self._keeps_branches = False
        self._kept: dict[int, tuple[_Key, dict[Path, StreetSearch]]] = {}  # by street, then by what was played on it
        self._failed: set[_Key] = set()
        self._has_complained = False

    def warm_up(self) -> None:
        """Compile everything, and touch the memory of a solve, before the first hand: one visit of each street."""
        self.table.warm_up()
        betting = BettingState(self.definition)
        board = tuple(self.definition.deck[: self.definition.board_sizes[-1]])
        for street in (_FLOP, _TURN, _RIVER):
            while betting.round < street:
                betting.apply(CALL_ACTION)
            state = PublicState(betting, board[: self.definition.board_sizes[street]], betting.player_to_act, 0)
            if self.settings.on(street) is not None:
                self._policy(state, lambda: None, _ONE_VISIT)
        self._kept.clear()
        self.report = SearchReport()

    def measure(self) -> None:
        """Prepare for measurements: keep every solved path of a street, and ignore the clock."""
        self._keeps_branches = True
        self.limit_time(None)

    def limit_time(self, seconds: float | None) -> None:
        """Set the time a decision may take before the blueprint answers; None for no limit."""
        self._limit_seconds = seconds

    def forget(self) -> None:
        """Free the solutions kept for the hand in play; if it goes on, they are computed again."""
        self._kept.clear()

    def choose(self, state: MatchState) -> Action:
        if self.listener is not None:
            decision, action = self.explain(state)
            self.listener(decision)
            return action
        return self._choose(state)[0]

    def explain(self, state: MatchState) -> tuple[Decision, Action]:
        """The same choice, with everything it was derived from."""
        action, policy = self._choose(state)
        if policy is None:
            return self.table.explain(state)
        public = self._public(state)
        search = self._street(public, public.betting.round, lambda: None)
        return explain(state, search, policy, public.own_buckets[-1], action, self.report.seconds[-1]), action

    def _choose(self, state: MatchState) -> tuple[Action, Policy | None]:
        """The choice, and on a searched street the rows it was drawn from."""
        if self.settings.on(state.betting.round) is None:
            return self.table.choose(state), None
        start = time.monotonic()
        policy = self.policy(self._public(state))
        if policy is None:
            self.report.fallbacks += 1
            action = self.table.choose(state)
        else:
            row = np.ascontiguousarray(policy.rows[:, pair_number(*state.hole_cards[state.position])])
            draw = action_draw(self.table.seat.seed, state.hand_number, sum(map(len, state.betting.actions)))
            action = policy.actions[int(drawn_action(row, draw))]
        self.report.seconds.append(time.monotonic() - start)
        return action, policy

    def observe(self, state: MatchState) -> None:
        """Solve a street as soon as its card is known, while the opponent is to act; on our turn `choose` does it."""
        betting = state.betting
        if not betting.finished and not state.is_turn() and self.settings.on(betting.round) is not None:
            solves = self.report.solves
            self.policy(self._public(state))
            self.report.pondered += self.report.solves - solves

    def ranges_before(self, state: MatchState) -> tuple[Float, Float]:
        """Both players' ranges, by position, at the decision of the state."""
        public = self._public(state)
        if self.settings.on(public.betting.round) is None or self.policy(public) is None:
            return self.ranges.follow(*public).ranges
        return self._street(public, public.betting.round, lambda: None).ranges()

    def rows(self, state: PublicState) -> Policy:
        """What all hands of the player to act do on any street: by search where it searches, else by the blueprint."""
        found = self.policy(state) if self.settings.on(state.betting.round) is not None else None
        return self.ranges.rows(state) if found is None else found

    def policy(self, state: PublicState) -> Policy | None:
        """What all hands of the player to act do on a searched street; None where a solve failed."""
        key = _key(state, state.betting.round)
        if key in self._failed:
            return None
        start = time.monotonic()
        mode = self.settings.on(state.betting.round)
        assert mode is not None
        limit = self._limit_seconds

        def brake() -> None:
            if limit is not None and time.monotonic() - start > limit:
                raise SearchLateError(f"a solve on the {mode.name} budget is not done after {limit:.3g} s")

        try:
            return self._policy(state, brake)
        except Exception as error:  # noqa: BLE001  # whatever stops a solve, the hand must continue
            self._failed = {key}
            self._complain(error)
            return None

    def solution(self, state: PublicState) -> StreetSearch:
        """The search of the street a state is on, followed to it; whatever stops a solve is raised."""
        return self._street(state, state.betting.round, lambda: None)

    def _complain(self, error: Exception) -> None:
        if not self._has_complained:
            _log.warning("search stopped, the blueprint answers (said once): %s: %s", type(error).__name__, error)
            self._has_complained = True

    def _public(self, state: MatchState) -> PublicState:
        return PublicState(
            state.betting, state.board, state.position, state.hand_number, tuple(self.table.buckets(state))
        )

    def _policy(self, state: PublicState, brake: Callable[[], None], budget: Budget | None = None) -> Policy:
        return self._street(state, state.betting.round, brake, budget).policy()

    def _street(
        self, state: PublicState, street: int, brake: Callable[[], None], budget: Budget | None = None
    ) -> StreetSearch:
        """The search of a street, followed to where the hand is, or to the street's end."""
        key = _key(state, street)
        actions = tuple(action for _, action in state.betting.actions[street])
        kept_key, kept = self._kept.get(street, (None, {}))
        done = max((k for k in range(len(actions) + 1) if actions[:k] in kept), default=None)
        if kept_key != key or done is None:
            self._kept.pop(street, None)  # frees its tables for the next search
            del kept
            root = StreetSearch(self._problem(state, street, brake, budget), brake)
            self.report.solves += 1
            kept, done = {(): root}, 0
            self._kept[street] = (key, kept)
        search = kept[actions[:done]]
        for k in range(done, len(actions)):
            after = search.after(actions[k], brake)
            self.report.solves += after.num_solves - search.num_solves
            if not self._keeps_branches:
                kept.clear()
            kept[actions[: k + 1]] = search = after
        return search

    def _problem(
        self, state: PublicState, street: int, brake: Callable[[], None], budget: Budget | None
    ) -> StreetProblem:
        mode = self.settings.on(street)
        assert mode is not None
        root = root_of_street(state.betting, street)
        board = state.board[: self.definition.board_sizes[street]]
        at_root = state._replace(betting=root, board=board, own_buckets=state.own_buckets[: street + 1])
        before = self._before(state, street, brake, budget)
        behind = None
        if before is None:
            followed = self.ranges.follow(*at_root)
            behind = BehindFlop(self._flops, followed.node) if street == _FLOP else None
            ranges, values = followed.ranges, self._blueprint_values(at_root, followed)
        elif street == _TURN:
            ranges, values = self._from_flop(before, at_root)
        else:
            ranges, values = self._from_turn(before, at_root)
        if values is None and self.settings.gadget != "unsafe":
            self.report.unpriced += 1
        return StreetProblem(
            root=root,
            board=board,
            ranges=ranges,
            position=state.position,
            menu=self._menu or (before.problem.menu if street == _RIVER and before is not None else mode.menu(root)),
            budget=budget or mode.budget(street, self.settings.work),
            pipeline=self._pipeline,
            gadget=make_gadget(self.settings.gadget, 1 - state.position, values, self._weights),
            threads=self._threads,
            workspace=self._workspace,
            behind=behind,
        )

    def _before(
        self, state: PublicState, street: int, brake: Callable[[], None], budget: Budget | None
    ) -> StreetSearch | None:
        """The search of the street before, at its end; None if the blueprint played it."""
        before = street - 1
        if self.settings.on(before) is None or _key(state, before) in self._failed:
            return None
        board = state.board[: self.definition.board_sizes[before]]
        return self._street(state._replace(board=board), before, brake, budget)

    def _blueprint_values(self, state: PublicState, followed: FollowedHand) -> Float | None:
        """The opponent's values to offer at a root reached by the blueprint, where the blueprint knows them.

        If bets were translated, the values are those of the abstract node that was drawn, scaled by the ratio of real
        to abstract pot.
        """
        ranges, node = followed.ranges, followed.node
        if self.settings.gadget == "unsafe" or followed.reopened:
            return None
        if state.betting.round == _FLOP:
            game = FlopGame(self._flops, state.betting, state.board, node, ranges)
            game.play_blueprint()
            values = (game.values(0, "best"), game.values(1, "best"))
            return zero_sum(state.board, ranges, values, 1 - state.position)
        abstract_pot = max(1, int(self.table.seat.tree.spent[node].sum()))
        return self._priced(node, state, ranges, sum(state.betting.spent) / abstract_pot)

    def _priced(self, node: int, state: PublicState, ranges: tuple[Float, Float], scale: float) -> Float | None:
        """The opponent's values from best responses through the blueprint's tree below a node of turn or river."""
        if self.settings.gadget == "unsafe" or not self._values.is_known(node):
            return None
        values = [self._values.response(node, state.board, player, ranges[1 - player]) for player in (0, 1)]
        found = zero_sum(state.board, ranges, (values[0], values[1]), 1 - state.position)
        return None if found is None else found * scale

    def _from_flop(self, flop: StreetSearch, state: PublicState) -> tuple[tuple[Float, Float], Float | None]:
        """Ranges after the flop's solution, and the opponent's values where it took the blueprint to go on."""
        assert isinstance(flop.subgame, FlopGame)
        first, second = flop.ranges()
        ranges = (without_card(first, state.board[-1]), without_card(second, state.board[-1]))
        node, scale = flop.subgame.abstract_at(flop.path)
        return ranges, self._priced(node, state, ranges, scale)

    def _from_turn(self, turn: StreetSearch, state: PublicState) -> tuple[tuple[Float, Float], Float | None]:
        """Ranges after the turn's solution, and the opponent's values from best responses to it."""
        river = state.board[-1]
        first, second = turn.ranges()
        ranges = (without_card(first, river), without_card(second, river))
        own, opponent = state.position, 1 - state.position
        if self.settings.gadget == "unsafe":
            return ranges, None
        subgame = turn.subgame
        assert isinstance(subgame, Subgame)
        at = subgame.node_at(turn.path)
        reaches = (subgame.reach(at, 0, river), subgame.reach(at, 1, river))
        values = tuple(subgame.values_at(at, river, player, "best") for player in (0, 1))
        found = zero_sum(state.board, reaches, (values[0], values[1]), opponent)
        mass = float(reaches[own].sum())
        if found is None or mass <= 0.0:
            return ranges, None
        return ranges, found * (float(ranges[own].sum()) / mass)  # our range as played may differ from the average


def root_of_street(betting: BettingState, street: int) -> BettingState:
    """The betting when a street begins."""
    root = BettingState(betting.definition)
    for part in betting.actions[:street]:
        for _, action in part:
            root.apply(action)
    return root


def _key(state: PublicState, street: int) -> _Key:
    before = tuple(tuple(action for _, action in part) for part in state.betting.actions[:street])
    return _Key(state.hand_number, state.position, before, state.board[: state.betting.definition.board_sizes[street]])


def check_searchable(table: StrategyPlayer) -> None:
    """Raise `DefinitionError` for a strategy whose game has no turn and river to solve."""
    if not is_searchable(table.definition):
        raise DefinitionError(
            f"search with {table.name}: expected heads-up hold'em with flop, turn and river; play it without search(...)"
        )
