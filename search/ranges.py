"""Both players' ranges through a hand, for all 1,326 hands, as a strategy at the table sees them.

A range gives, for each hand, the probability that the player's own actions so far were played with it. It is never
normalised, takes no account of the other's cards, and is zero for hands that clash with the board.

- **Ours**: the rows as they are really played, post-processed, at the nodes our seat was really at: each
  bet is read as it was drawn. Abstract actions that come to the same chips count together.
- **The opponent's**: the rows as they are stored. A bet between two abstract sizes counts as the mixture of both readings,
  by the probabilities of the translation; the hand then goes on at the reading that was drawn.
- **Unknown is not knowledge.** A row the solver never reached, a raise that is read at no node of the raiser, and an
  action that contradicts every hand say nothing: where only some hands are unknown, each keeps its share of the range
  (it gets the mean factor of the others); where all are, the range stays as it is.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.agent.following.tracker import make_scratch
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.arrays import Float
from foldwise.game.betting import Action, BettingState
from foldwise.game.betting_kernels import NUM_FIELDS
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.trees.table_rules import table_rules
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.search import range_kernels as kernels

Buckets = npt.NDArray[np.int64]

_KEPT_BOARDS = 64


class Policy(NamedTuple):
    """What every hand does at a decision."""

    actions: list[Action]  # each once
    rows: Float  # [A, 1326]; zero for hands that clash with the board


class PublicState(NamedTuple):
    """All that a search may depend on. Our own cards are not part of it; they only tell apart actions of equal chips."""

    betting: BettingState
    board: tuple[int, ...]
    position: int
    hand_number: int
    own_buckets: Sequence[int] = ()


class FollowedHand(NamedTuple):
    """A history as one seat has followed it."""

    ranges: tuple[Float, Float]  # by player
    node: int  # where the tracker stands
    num_unknown: int  # actions that said nothing about their player's hand
    reopened: bool  # the abstract hand was over (a bet read as all-in, and called) while the real one goes on


class TableRanges:
    """Ranges and rows of one seat. Not thread-safe: it owns its scratch memory."""

    def __init__(self, player: StrategyPlayer):
        self.player = player
        self._rules = table_rules(player.definition)
        self._scratch = make_scratch()
        self._hand = np.zeros(NUM_FIELDS, np.int64)
        most = int(player.seat.tree.nodes["num_children"].max())
        self._rows = np.zeros((NUM_PAIRS, most))
        self._real = np.zeros((most, 2), np.int64)
        self._factors = np.zeros(NUM_PAIRS)
        self._buckets: dict[tuple[int, ...], Buckets] = {}
        seat = player.seat
        self.stored = (seat.floats, seat.words, seat.bytes)[seat.stored_as]  # all rows, as the solver wrote them

    def buckets(self, street: int, board: Sequence[int]) -> Buckets:
        """[1326] of every hand on a board; -1 for hands that clash with it."""
        key = (street, *sorted(board[:3]), *board[3:])
        if key not in self._buckets:
            if len(self._buckets) >= _KEPT_BOARDS:
                self._buckets.clear()
            possible = np.flatnonzero(~np.isin(PAIR_CARDS, board).any(axis=1))
            found = np.full(NUM_PAIRS, -1, np.int64)
            found[possible] = self.look_up(street, board, possible)
            self._buckets[key] = found
        return self._buckets[key]

    def look_up(self, street: int, board: Sequence[int], pairs: npt.NDArray[np.integer]) -> Buckets:
        """Buckets of some hands, none of which clashes with the board; they are not kept."""
        dealt = np.tile(np.array(board, np.uint8), (len(pairs), 1))
        return self.player.lookup.bucket_hands(street, np.concatenate([PAIR_CARDS[pairs], dealt], axis=1))

    @cached_property
    def num_buckets(self) -> Buckets:
        """[N] buckets of each decision's player, from where its rows end and the next decision's begin."""
        tree = self.player.seat.tree
        decisions = np.flatnonzero(tree.nodes["kind"] == DECISION)
        bases = tree.nodes["base"][decisions].astype(np.int64)
        out = np.zeros(len(tree.nodes), np.int64)
        out[decisions] = np.diff(np.append(bases, len(self.stored))) // tree.nodes["num_children"][decisions]
        return out

    def follow(
        self,
        betting: BettingState,
        board: Sequence[int],
        position: int,
        hand_number: int,
        own_buckets: Sequence[int] = (),
    ) -> FollowedHand:
        """Both ranges in a state that is not over, from the seat of `position`.

        `own_buckets`, of the hand held on the streets so far, tell which of several abstract sizes that make the same
        chips was drawn; without them it is the one bucket 0 would have drawn.
        """
        return self._follow(betting, board, position, hand_number, own_buckets)[0]

    def rows(self, state: PublicState) -> Policy:
        """What all hands of the player to act do, after post-processing; actions of the same chips are one."""
        betting, board = state.betting, state.board
        assert betting.player_to_act == state.position
        followed, acted = self._follow(*state)
        buckets = self.buckets(betting.round, board)
        count = kernels.fill_policy(
            self.player.seat,
            self._rules,
            self._hand,
            followed.node,
            buckets,
            not acted,
            self._scratch,
            self._rows,
            self._real,
        )
        merged: dict[Action, Float] = {}
        for a in range(count):
            action = Action(int(self._real[a, 0]), int(self._real[a, 1]))
            merged[action] = merged.get(action, 0.0) + self._rows[:, a]
        return Policy(list(merged), np.array(list(merged.values())))

    def _follow(
        self, betting: BettingState, board: Sequence[int], position: int, hand_number: int, own_buckets: Sequence[int]
    ) -> tuple[FollowedHand, bool]:
        sizes = self.player.definition.board_sizes[: betting.round + 1]
        own = np.zeros(len(sizes), np.int64)
        own[: len(own_buckets)] = own_buckets
        out = np.empty((2, NUM_PAIRS))
        node, acted, num_unknown, reopened = kernels.follow_ranges(
            self.player.seat,
            self._rules,
            self._hand,
            position,
            hand_number,
            np.array([action for part in betting.actions for _, action in part], np.int64).reshape(-1, 2),
            own,
            np.array([self.buckets(street, board[:size]) for street, size in enumerate(sizes)]),
            self._scratch,
            self._rows,
            self._factors,
            out,
        )
        return FollowedHand((out[0], out[1]), int(node), int(num_unknown), bool(reopened)), bool(acted)
