"""Betting rules of the ACPC games: who acts, what is legal, what an action does, who wins what.

A faithful model of the reference dealer, for limit and no-limit games of 2 to 10 players. The compiled tree builder
(`game.trees.tree_kernels`) follows the same rules for two players and is tested against this one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from foldwise.game.definition import GameDefinition
from foldwise.game.errors import IllegalActionError

FOLD, CALL, RAISE = 0, 1, 2
# The reference dealer keeps at most this many actions in one round.
MAX_ACTIONS_PER_ROUND = 64


class Action(NamedTuple):
    """A real action; `raise_to` is what the player has put in over the whole hand after the raise."""

    kind: int
    raise_to: int = 0

    def text(self, limit: bool) -> str:
        """The ACPC text: `f`, `c`, and `r` alone in limit or with the amount in no-limit."""
        if self.kind == RAISE:
            return "r" if limit else f"r{self.raise_to}"
        return "fc"[self.kind]


FOLD_ACTION = Action(FOLD)
CALL_ACTION = Action(CALL)


class BettingState:
    """The betting of one hand, changed in place by `apply`."""

    __slots__ = (
        "_num_active",
        "_num_called",
        "actions",
        "definition",
        "finished",
        "folded",
        "max_spent",
        "min_raise_to",
        "num_raises",
        "player_to_act",
        "round",
        "spent",
    )

    def __init__(self, definition: GameDefinition):
        self.definition = definition
        self.spent = list(definition.blinds)
        self.folded = [False] * definition.num_players
        self.max_spent = definition.big_blind
        self.min_raise_to = 2 * definition.big_blind if definition.big_blind else 1
        self.round = 0
        self.finished = False
        self.actions: list[list[tuple[int, Action]]] = [[]]  # per round: (player, action)
        self._num_active = sum(blind < stack for blind, stack in zip(definition.blinds, definition.stacks))
        self._num_called = 0  # active players who have acted since the last raise of the round, the raiser included
        self.num_raises = 0  # in the round
        self.player_to_act = self._next_active(definition.first_players[0])  # -1 once the hand is finished

    @staticmethod
    def at_street(definition: GameDefinition, street: int, spent: int) -> "BettingState":
        """The start of a street to which every player brought `spent` chips, with no earlier actions recorded."""
        state = BettingState(definition)
        state.spent = [spent] * definition.num_players
        state.max_spent = spent
        state.min_raise_to = spent + max(1, definition.big_blind)
        state.round = street
        state.actions = [[] for _ in range(street + 1)]
        state._num_active = sum(spent < stack for stack in definition.stacks)
        state.player_to_act = state._next_active(definition.first_players[street])
        return state

    def copy(self) -> "BettingState":
        other = BettingState.__new__(BettingState)
        for name in BettingState.__slots__:
            setattr(other, name, getattr(self, name))
        other.spent = self.spent.copy()
        other.folded = self.folded.copy()
        other.actions = [actions.copy() for actions in self.actions]
        return other

    def __eq__(self, other: object) -> bool:
        """Same game, same actions: everything else follows from them."""
        return isinstance(other, BettingState) and self.definition == other.definition and self.actions == other.actions

    __hash__ = None  # type: ignore[assignment]  # mutable, so not hashable

    def _next_active(self, player: int) -> int:
        """The first player from `player` on who can still act: not folded, with chips left."""
        stacks = self.definition.stacks
        while self.folded[player] or self.spent[player] >= stacks[player]:
            player = (player + 1) % len(stacks)
        return player

    def num_folded(self) -> int:
        return sum(self.folded)

    def can_fold(self) -> bool:
        """Folding is legal only where calling would cost chips."""
        return not self.finished and self.spent[self.player_to_act] < self.max_spent

    def raise_range(self) -> tuple[int, int] | None:
        """Smallest and largest raise-to of the player to act, or None where no raise is possible."""
        definition = self.definition
        if self.finished or self._num_active < 2:
            return None
        if self.num_raises >= definition.max_raises[self.round] or self.at_action_limit():
            return None
        stack = definition.stacks[self.player_to_act]
        if definition.limit:
            raise_to = min(self.max_spent + definition.raise_sizes[self.round], stack)
            return raise_to, raise_to
        if self.min_raise_to <= stack:
            return self.min_raise_to, stack
        return None if self.max_spent >= stack else (stack, stack)

    def at_action_limit(self) -> bool:
        """Whether the round already has as many actions as the dealer keeps, so that no further raise is allowed."""
        return len(self.actions[self.round]) + self.definition.num_players > MAX_ACTIONS_PER_ROUND

    def is_legal(self, action: Action) -> bool:
        if self.finished:
            return False
        if action.kind == CALL:
            return True
        if action.kind == FOLD:
            return self.can_fold()
        bounds = self.raise_range()
        if bounds is None:
            return False
        return self.definition.limit or bounds[0] <= action.raise_to <= bounds[1]

    def apply(self, action: Action) -> None:
        """Play a legal action of the player to act."""
        if not self.is_legal(action):
            raise IllegalActionError(self._why_illegal(action))
        definition = self.definition
        player = self.player_to_act
        stack = definition.stacks[player]
        if action.kind == FOLD:
            self.folded[player] = True
        elif action.kind == CALL:
            self.spent[player] = min(self.max_spent, stack)
        else:
            if definition.limit:
                action = Action(RAISE, min(self.max_spent + definition.raise_sizes[self.round], stack))
            else:
                self.min_raise_to = max(self.min_raise_to, 2 * action.raise_to - self.max_spent)
            self.max_spent = self.spent[player] = action.raise_to
            self.num_raises += 1
            self._num_called = 0
        if action.kind != FOLD and self.spent[player] < stack:
            self._num_called += 1
        else:
            self._num_active -= 1
        self.actions[self.round].append((player, action))
        if self.num_folded() == definition.num_players - 1:
            self._finish()
        elif self._num_called < self._num_active:
            self.player_to_act = self._next_active((player + 1) % definition.num_players)
        else:
            self._close_round()

    def _close_round(self) -> None:
        definition = self.definition
        last_round = definition.num_rounds - 1
        if self._num_active >= 2 and self.round < last_round:
            self.round += 1
            self.actions.append([])
            self.min_raise_to = self.max_spent + max(1, definition.big_blind)
            self._num_called = self.num_raises = 0
            self.player_to_act = self._next_active(definition.first_players[self.round])
            return
        self._finish()
        if self._num_active < 2:  # nobody can act any more: the rest of the board is dealt
            self.round = last_round
            self.actions.extend([] for _ in range(definition.num_rounds - len(self.actions)))

    def _finish(self) -> None:
        self.finished = True
        self.player_to_act = -1

    def _why_illegal(self, action: Action) -> str:
        text = action.text(self.definition.limit)
        if self.finished:
            return f"{text!r} after the end of the hand: no action is expected"
        if action.kind == FOLD:
            return "'f' where checking is free: expected 'c' or a raise"
        bounds = self.raise_range()
        if bounds is None:
            return f"{text!r} where no raise is possible: expected 'c'{' or f' if self.can_fold() else ''}"
        return f"{text!r}: expected a raise to between {bounds[0]} and {bounds[1]}"

    def is_showdown(self) -> bool:
        return self.finished and self.num_folded() < self.definition.num_players - 1

    def betting_text(self) -> str:
        """The betting part of a match state: rounds separated by `/`, the current round included."""
        limit = self.definition.limit
        return "/".join("".join(action.text(limit) for _, action in actions) for actions in self.actions)

    def settle(self, hand_ranks: Sequence[int] | None = None) -> list[float]:
        """Profit of each position: the pot cut at each level of chips put in, each slice to the best hands in it.

        `hand_ranks` (higher is better) is needed at a showdown only.
        """
        if not self.finished:
            raise ValueError("settle() before the end of the hand")
        players = range(self.definition.num_players)
        standing = [p for p in players if not self.folded[p]]
        if len(standing) == 1:
            values = [-float(spent) for spent in self.spent]
            winner = standing[0]
            values[winner] = float(sum(self.spent) - self.spent[winner])
            return [value + 0.0 for value in values]  # no negative zero for a free fold
        if hand_ranks is None:
            raise ValueError("settle() at a showdown needs the ranks of the hands")
        values = [0.0] * len(players)
        below = 0
        for level in sorted({spent for spent in self.spent if spent > 0}):
            contributors = [p for p in players if self.spent[p] >= level]
            contenders = [p for p in contributors if not self.folded[p]]  # never empty: the last raiser cannot fold
            height = level - below
            below = level
            best = max(hand_ranks[p] for p in contenders)
            winners = [p for p in contenders if hand_ranks[p] == best]
            share = height * (len(contributors) - len(winners)) / len(winners)
            for p in contributors:
                values[p] += share if p in winners else -height
        return values
