"""Exact best responses in two-round hold'em: against matrices of all pairs of hands, and the abstract game's own."""

import numpy as np
import numpy.typing as npt
import pytest
from naive_solver import random_policy
from test_public_chance import coarse_two_limit

from abstraction.abstract_game import AbstractGame, JointSource, make_abstract_game
from abstraction.boards import Boards, boards
from abstraction.holdem_deals import two_round_joint
from game.errors import DefinitionError
from game.evaluator import rank_pairs
from game.hand_index import hand_index
from game.hole_cards import PAIR_CARDS
from game.tree_kernels import CHANCE, DECISION, FOLDED
from solver import two_round_response
from solver.two_round_response import TwoRoundResponse, has_two_round_response

Float = npt.NDArray[np.float64]
MASKS = (np.int64(1) << PAIR_CARDS.astype(np.int64)).sum(axis=1)
APART = ((MASKS[:, None] & MASKS[None, :]) == 0).astype(float)  # [1326, 1326]


class Oracle:
    """Recursion with matrices of all pairs of hands, flop by flop; the traverser picks by class before the flop."""

    def __init__(self, game: AbstractGame, policy: Float, traverser: int, flops: Boards):
        self.game, self.policy, self.traverser, self.flops = game, policy, traverser, flops
        self.classes = hand_index((2,)).index_hands(PAIR_CARDS)

    def by_class(self, values: Float) -> Float:
        return np.bincount(self.classes, weights=values, minlength=169)

    def best(self, at: int, reach: Float, flop: int | None) -> Float:
        """Values by class before the flop, by hand on it."""
        node = self.game.tree.nodes[at]
        first, value = int(node["first_child"]), float(node["value"])
        if node["kind"] == CHANCE:
            parts = [w * self.best(first, reach, f) for f, w in enumerate(self.flops.orbits)]
            return self.by_class(np.sum(parts, axis=0)) / (22100 * 1176 * 1081)
        if node["kind"] == DECISION:
            children = [
                self.best(first + a, reach * self.probability(node, a, flop), flop)
                for a in range(int(node["num_children"]))
            ]
            mine = node["player"] == self.traverser
            return np.max(children, axis=0) if mine else np.sum(children, axis=0)
        live = np.ones(1326)
        matrix = APART
        if flop is not None:
            ranks = rank_pairs(self.flops.cards[flop].tolist()).astype(int)
            live = (ranks > 0).astype(float)
            if node["kind"] != FOLDED:
                matrix = APART * np.sign(ranks[:, None] - ranks[None, :])
        scale = -value if node["kind"] == FOLDED and node["player"] == self.traverser else value
        values: Float = scale * live * (matrix @ (live * reach))
        return values if flop is not None else self.by_class(values) / (1326 * 1225)

    def probability(self, node: np.void, action: int, flop: int | None) -> Float:
        if node["player"] == self.traverser:
            return np.ones(1326)
        assert self.game.cards is not None
        if flop is None:
            buckets = self.game.cards.bucket_hands(0, PAIR_CARDS)
        else:
            hands = np.hstack([PAIR_CARDS, np.broadcast_to(self.flops.cards[flop], (1326, 3))])
            live = rank_pairs(self.flops.cards[flop].tolist()) > 0
            buckets = np.zeros(1326, dtype=np.int64)
            buckets[live] = self.game.cards.bucket_hands(1, np.ascontiguousarray(hands[live]))
        return self.policy[int(node["base"]) + buckets * int(node["num_children"]) + action]


def test_best_responses_equal_recursion_over_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """With three flops instead of 1,755: paired, of one suit, and neither."""
    every = boards(3)
    rows = [0, 700, 1754]
    few = every._replace(cards=every.cards[rows].copy(), orbits=every.orbits[rows].copy())
    monkeypatch.setattr(two_round_response, "boards", lambda size: few)
    game = coarse_two_limit(4, 6)
    policy = random_policy(game, 2, share_of_zeros=0.3)
    ours = TwoRoundResponse(game).exploitability(policy)
    for traverser in range(2):
        oracle = Oracle(game, policy, traverser, few)
        wanted = oracle.best(0, np.ones(1326), None).sum()
        assert ours.best_response_mbb[traverser] == pytest.approx(1000.0 * wanted, rel=1e-10)


def test_values_equal_those_of_the_joint_deals() -> None:
    """All 1,755 flops: the strategy's value agrees with the joint deals of its buckets, and a response gains on it."""
    coarse = coarse_two_limit(3, 4)
    assert coarse.cards is not None
    joint = two_round_joint(coarse.cards)
    assert joint is not None
    game = make_abstract_game("coarse", coarse.tree, JointSource(joint), 1, coarse.cards)
    policy = random_policy(game, 1)
    real = TwoRoundResponse(game).exploitability(policy)
    probability, value = joint.probability, 0.0
    for category in range(len(probability)):
        value += probability[category] * _value(game, policy, 0, category)
    assert real.value_mbb == pytest.approx(1000.0 * value, rel=1e-9)
    assert real.best_response_mbb[0] > real.value_mbb
    assert real.best_response_mbb[1] > -real.value_mbb


def _value(game: AbstractGame, policy: Float, at: int, category: int) -> float:
    """What player 0 gets in one category of the deal, by recursion."""
    joint = game.deals.joint
    assert joint is not None
    node = game.tree.nodes[at]
    first, player = int(node["first_child"]), int(node["player"])
    if node["kind"] == CHANCE:
        return _value(game, policy, first, category)
    if node["kind"] == DECISION:
        width = int(node["num_children"])
        row = int(node["base"]) + int(joint.buckets[category, player, node["street"]]) * width
        return sum(float(policy[row + a]) * _value(game, policy, first + a, category) for a in range(width))
    if node["kind"] == FOLDED:
        return float(node["value"]) * (-1.0 if player == 0 else 1.0)
    return float(node["value"]) * float(joint.outcomes[joint.outcome_row[category], node["detail"]])


def test_other_games_are_refused() -> None:
    from naive_solver import small_game

    leduc = small_game("leduc")
    assert not has_two_round_response(leduc)
    with pytest.raises(DefinitionError, match="two-round"):
        TwoRoundResponse(leduc)
