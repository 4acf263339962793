"""Exact best responses in two-round hold'em, in the real game: all hands told apart, over all flops.

The 1,755 suit-distinct flops stand for all 22,100; on each, vectors over 1,176 hands and ends in O(n). No matrix of
all pairs of hands is needed, so a strategy without card abstraction can be measured (Johanson et al., AAMAS 2012).
"""

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.threads import run_blocks
from foldwise.game.arrays import Float
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.hands.showdown import RangeShowdown, empty_board, empty_sums
from foldwise.game.hands.showdown_kernels import NUM_RANKS
from foldwise.game.trees.tree_kernels import CHANCE, FOLDED
from foldwise.solver.response.best_response import Exploitability, Policy
from foldwise.solver.response.two_round_kernels import ResponseFrames, respond_on_flops

_HANDS = 1176  # on a flop
_OTHERS = 1081  # that the opponent may hold then
_FLOPS = 22100
_FOLD_PAIRS = 1326 * 1225


def has_two_round_response(game: AbstractGame) -> bool:
    """Whether the game is two-round hold'em whose buckets do not depend on the names of suits."""
    return game.cards is not None and game.num_streets == 2 and all(s.method != "raw" for s in game.cards.streets)


def _make_frames(depth: int) -> ResponseFrames:
    return ResponseFrames(
        node=np.zeros(depth, dtype=np.int32),
        action=np.zeros(depth, dtype=np.int32),
        own_reach=np.zeros((depth, _HANDS)),
        opponent_reach=np.zeros((depth, _HANDS)),
        value=np.zeros((depth, _HANDS)),
        buckets=np.zeros(_HANDS, dtype=np.int64),
        cards=np.zeros(5, dtype=np.int64),
        ranks=np.zeros(NUM_PAIRS, dtype=np.uint16),
        counts=np.zeros(NUM_RANKS, dtype=np.int64),
    )


class TwoRoundResponse:
    """Best responses in one two-round game, for any policy in its buckets."""

    def __init__(self, game: AbstractGame):
        if game.cards is None or not has_two_round_response(game):
            raise DefinitionError(
                f"game {game.name!r}: expected two-round hold'em with buckets that ignore suits' names"
            )
        self._game = game
        self._cards = game.cards
        self._preflop = game.cards.bucket_hands(0, PAIR_CARDS)
        self._class = hand_index((2,)).index_hands(PAIR_CARDS)  # [1326] of 169
        self._before = RangeShowdown(())

    def exploitability(self, policy: Policy) -> Exploitability:
        """The exploitability of a policy of both players, on all cores."""
        unit = 1000.0 / self._game.unit_chips
        (first, value), (second, _) = (self._respond(policy, player) for player in range(2))
        return Exploitability(
            exploitability_mbb=unit * (first + second) / 2.0,
            best_response_mbb=(unit * first, unit * second),
            value_mbb=unit * value,
        )

    def _respond(self, policy: Policy, traverser: int) -> tuple[float, float]:
        """What the player's best response, and his own policy, win against the other's policy."""
        roots: list[int] = []
        reaches: list[tuple[Float, Float]] = []  # own and the opponent's, at each root
        ends: dict[int, Float] = {}  # values of folds before the flop, by class
        policy_value = self._walk_down(policy, traverser, 0, (np.ones(NUM_PAIRS),) * 2, roots, reaches, ends)
        own = np.array([pair[0] for pair in reaches])
        opponent = np.array([pair[1] for pair in reaches])
        best, flop_value = self._respond_on_flops(policy, traverser, np.array(roots, dtype=np.int32), own, opponent)
        scale = 1.0 / (_FLOPS * _HANDS * _OTHERS)
        for root, values in zip(roots, best):
            ends[root] = scale * self._by_class(values)
        return float(self._walk_up(traverser, 0, ends).sum()), policy_value + scale * flop_value

    def _by_class(self, values: Float) -> Float:
        return np.bincount(self._class, weights=values, minlength=hand_index((2,)).size).astype(np.float64)

    def _walk_down(
        self,
        policy: Policy,
        traverser: int,
        at: int,
        reach: tuple[Float, Float],  # own, the opponent's
        roots: list[int],
        reaches: list[tuple[Float, Float]],
        ends: dict[int, Float],
    ) -> float:
        """Collect ends before the flop and reach vectors on it; returns what the policy wins at the former."""
        node = self._game.tree.nodes[at]
        first = int(node["first_child"])
        if node["kind"] == CHANCE:
            roots.append(first)
            reaches.append(reach)
            return 0.0
        if node["kind"] == FOLDED:
            value = float(node["value"]) * (-1.0 if node["player"] == traverser else 1.0) / _FOLD_PAIRS
            values = value * self._before.fold(reach[1])
            ends[at] = self._by_class(values)
            return float(reach[0] @ values)
        num_actions = int(node["num_children"])
        total = 0.0
        for a in range(num_actions):
            probability = policy[int(node["base"]) + self._preflop * num_actions + a].astype(np.float64)
            own, opponent = reach
            below = (own * probability, opponent) if node["player"] == traverser else (own, opponent * probability)
            total += self._walk_down(policy, traverser, first + a, below, roots, reaches, ends)
        return total

    def _walk_up(self, traverser: int, at: int, ends: dict[int, Float]) -> Float:
        """Best values by class of hole cards."""
        if at in ends:
            return ends[at]
        node = self._game.tree.nodes[at]
        children = range(int(node["first_child"]), int(node["first_child"]) + int(node["num_children"]))
        values = np.array([self._walk_up(traverser, child, ends) for child in children])
        best: Float = values.max(axis=0) if node["player"] == traverser else values.sum(axis=0)
        return best

    def _respond_on_flops(
        self, policy: Policy, traverser: int, roots: npt.NDArray[np.int32], own: Float, opponent: Float
    ) -> tuple[Float, float]:
        flops = boards(3)
        parts: dict[int, tuple[Float, float]] = {}  # by first flop, so that sums do not depend on threads

        def work(first: int, last: int) -> None:
            part = np.zeros_like(own)
            value = respond_on_flops(
                self._game.tree.nodes,
                policy,
                self._cards.tables,
                evaluator_tables(),
                PAIR_CARDS,
                flops,
                first,
                last,
                roots,
                own,
                opponent,
                traverser,
                empty_board(3),
                empty_sums(3),
                _make_frames(self._game.depth),
                part,
            )
            parts[first] = (part, float(value))

        run_blocks(work, len(flops.cards))
        ordered = [parts[first] for first in sorted(parts)]
        best: Float = np.sum([part for part, _ in ordered], axis=0)
        return best, sum(value for _, value in ordered)
