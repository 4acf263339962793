"""A player's decisions compared with a strategy: its probabilities, each action's value, what the choice gave up.

The value of an action is that of `matches.scoring.aivat_values`, what the bucket wins from there on where the strategy
plays itself, in chips of the real pot. A bet between two sizes of the strategy is worth their mixture by the pseudo-harmonic
mapping, and bets on the way are read the same way every time (deterministic translation), so that a review does not change.
On streets a search is given for, values and probabilities are the solution's instead: both players' ranges come from
the strategy, and the values are exact for the hand held.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from foldwise.agent.following.tracker_kernels import read_raise
from foldwise.agent.mappings.translation import parse_translation
from foldwise.agent.strategy_player import OpenStrategy, StrategyPlayer
from foldwise.game.betting import FOLD, FOLD_ACTION, RAISE, Action, BettingState
from foldwise.game.cards import cards_text
from foldwise.game.text.match_state import MatchState, read_action, view
from foldwise.matches.scoring.aivat_values import Values
from foldwise.matches.scoring.player_statistics import PlayerStatistics, player_statistics
from foldwise.matches.table.log import LoggedHand
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.decision_solver import DecisionSolver

_READING = "pseudo-harmonic deterministic"
_LEAST_WEIGHT = 1e-9  # given to an action never played, so that it gets a value too


@dataclass(frozen=True)
class Choice:
    """What could be done in a state: actions as a dealer writes them, probabilities, values in chips over the hand."""

    actions: list[str]
    probabilities: list[float]
    values: list[float]
    chosen_value: float  # of what was done, which may be none of `actions`
    method: str  # "blueprint" or "search"
    reached: bool  # whether the solver ever reached it
    read_as: str = ""  # the betting as the strategy reads it


class Judge(Protocol):
    """Gives the values of a state's actions; None if it cannot."""

    def judge(self, state: MatchState, done: Action) -> Choice | None: ...


@dataclass(frozen=True, kw_only=True)
class JudgedDecision(Choice):
    """One decision of a player, judged: what he could do, and what he did."""

    hand: int
    name: str
    position: int
    street: int
    cards: str
    board: str
    betting: str
    facing: bool  # a bet to call
    done: str
    best: str
    given_up_bb: float


class BlueprintJudge:
    """Values by the strategy's own buckets."""

    def __init__(self, opened: OpenStrategy, values: Values):
        self.player: StrategyPlayer = opened.player(Pipeline(), 0, parse_translation(_READING))
        self._values = values
        self._sizes = np.zeros(2**16)

    def judge(self, state: MatchState, done: Action) -> Choice | None:
        decision, _ = self.player.explain(state)
        first = int(self.player.seat.tree.nodes[decision.node]["first_child"])
        # Sizes that come to the same chips are one action, worth their mean; a fold is always worth what it costs.
        shares: dict[Action, float] = {FOLD_ACTION: 0.0} if state.betting.can_fold() else {}
        sums: dict[Action, float] = {FOLD_ACTION: 0.0} if state.betting.can_fold() else {}
        for a, (text, share) in enumerate(zip(decision.actions, decision.probabilities)):
            action = _exact(text, state)
            shares[action] = shares.get(action, 0.0) + share
            weight = share + _LEAST_WEIGHT
            sums[action] = sums.get(action, 0.0) + weight * self._value(state, action, first + a, decision.bucket)
        counts = Counter(_exact(text, state) for text in decision.actions)
        values = {
            action: total / (shares[action] + _LEAST_WEIGHT * counts[action])
            for action, total in sums.items()
            if counts[action]
        }
        if FOLD_ACTION in shares:
            values[FOLD_ACTION] = -float(state.betting.spent[state.position])
        chosen = values[done] if done in values else self._off_tree(state, done, decision.node, decision.bucket)
        limit = self.player.definition.limit
        return Choice(
            actions=[action.text(limit) for action in shares],
            probabilities=list(shares.values()),
            values=[values[action] for action in shares],
            chosen_value=chosen,
            method="blueprint",
            reached=decision.reached,
            read_as=decision.abstract_betting,
        )

    def _value(self, state: MatchState, action: Action, child: int, bucket: int) -> float:
        """Value of an action that leads to an abstract child: for a fold minus what was put in, else the child's, scaled."""
        after = state.betting.copy()
        after.apply(action)
        if action.kind == FOLD:
            return -float(after.spent[state.position])
        tree = self.player.seat.tree
        scale = sum(after.spent) / max(1, int(tree.spent[child, 0] + tree.spent[child, 1]))
        row = int(self._values.starts[child])
        for street in range(int(tree.nodes[child]["street"]), state.betting.round):
            row += int(self._values.num_buckets[street])
        most = float(
            min(self.player.definition.stacks)
        )  # clamped: in a pot far from the strategy's the value could exceed the stacks
        return float(np.clip(scale * float(self._values.values[state.position, row + bucket]), -most, most))

    def _off_tree(self, state: MatchState, done: Action, node: int, bucket: int) -> float:
        """Value of a bet the strategy has no size for; a call or fold it never considers is worth its nearest action."""
        tree = self.player.seat.tree
        first, count = int(tree.nodes[node]["first_child"]), int(tree.nodes[node]["num_children"])
        if done.kind != RAISE:
            child = next(c for c in range(first, first + count) if int(tree.action[c]) <= 0 or c == first + count - 1)
            return self._value(state, done, child, bucket)
        smaller, larger, chance = read_raise(
            tree,
            node,
            state.position,
            state.betting.max_spent,
            done.raise_to,
            self.player.seat.mapping,
            True,
            self._sizes,
        )
        found = chance * self._value(state, done, int(smaller), bucket) if chance > 0.0 else 0.0
        return found + ((1.0 - chance) * self._value(state, done, int(larger), bucket) if chance < 1.0 else 0.0)


def _exact(text: str, state: MatchState) -> Action:
    """The action of a text; in limit games the rules give the amount."""
    action, _ = read_action(text, 0, state.betting.definition)
    assert action is not None
    bounds = state.betting.raise_range()
    if action.kind == RAISE and state.betting.definition.limit and bounds is not None:
        return Action(RAISE, bounds[0])
    return action


def review_hand(
    hand: LoggedHand, judges: Sequence[Judge], names: Sequence[str] | None = None
) -> Iterator[JudgedDecision]:
    """Every decision of a hand whose cards are known, by the first judge that can value it; `names` selects players."""
    definition = hand.betting.definition
    betting = BettingState(definition)
    for position, action in (entry for actions in hand.betting.actions for entry in actions):
        name = hand.names[position]
        if hand.hole_cards[position] and (names is None or name in names):
            # A decision must not depend on the others' cards.
            holes = [cards if p == position else () for p, cards in enumerate(hand.hole_cards)]
            state = view(betting, holes, hand.board, position, hand.number)
            choice = next((found for judge in judges if (found := judge.judge(state, action)) is not None), None)
            if choice is not None:
                best = int(np.argmax(choice.values))
                given_up = max(0.0, choice.values[best] - choice.chosen_value)
                yield JudgedDecision(
                    hand=hand.number,
                    name=name,
                    position=position,
                    street=betting.round,
                    cards=cards_text(hand.hole_cards[position]),
                    board=cards_text(state.board),
                    betting=betting.betting_text(),
                    facing=betting.can_fold(),
                    done=action.text(definition.limit),
                    **vars(choice),
                    best=choice.actions[best],
                    given_up_bb=given_up / definition.big_blind,
                )
        betting.apply(action)


class SearchJudge:
    """Values from a solve of the decision, on the turn and the river only."""

    def __init__(self, opened: OpenStrategy, mode: str, threads: int = 1):
        player = opened.player(Pipeline(), 0, parse_translation(_READING))
        self._solver = DecisionSolver(player, mode, threads)

    def judge(self, state: MatchState, done: Action) -> Choice | None:
        solved = self._solver.solve(state, done)
        if solved is None or done not in solved.actions:
            return None
        limit = state.betting.definition.limit
        return Choice(
            actions=[action.text(limit) for action in solved.actions],
            probabilities=solved.probabilities,
            values=solved.values,
            chosen_value=solved.values[solved.actions.index(done)],
            method="search",
            reached=True,
        )


@dataclass(frozen=True)
class Review:
    """The review of many hands."""

    by_hand: list[list[JudgedDecision]]  # in the order of the hands, whose numbers may repeat
    statistics: list[PlayerStatistics]

    @property
    def decisions(self) -> list[JudgedDecision]:
        return [decision for judged in self.by_hand for decision in judged]

    @property
    def given_up_bb(self) -> float:
        return sum(decision.given_up_bb for decision in self.decisions)

    def dearest(self, count: int) -> list[JudgedDecision]:
        """The decisions that gave up most, worst first; those that gave up nothing are not among them."""
        costly = [decision for decision in self.decisions if decision.given_up_bb > 0.0]
        return sorted(costly, key=lambda decision: -decision.given_up_bb)[:count]


def review_hands(
    hands: Sequence[LoggedHand],
    judges: Sequence[Judge],
    names: Sequence[str] | None = None,
    listen: Callable[[int], None] | None = None,
) -> Review:
    """Review hands one by one; `listen` is told how many are done, and may raise to stop."""
    by_hand: list[list[JudgedDecision]] = []
    for done, hand in enumerate(hands, start=1):
        by_hand.append(list(review_hand(hand, judges, names)) if judges else [])
        if listen is not None:
            listen(done)
    return Review(by_hand, player_statistics(hands))
