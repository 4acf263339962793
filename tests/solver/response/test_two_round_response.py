"""Exact best responses in two-round hold'em: against matrices of all pairs of hands."""

import numpy as np
import pytest

from foldwise.abstraction.abstract_game import AbstractGame, make_abstract_game
from foldwise.abstraction.cards.boards import Boards, boards
from foldwise.abstraction.cards.card_abstraction import CardAbstraction, StreetAbstraction
from foldwise.abstraction.deals.holdem_deals import CardSource
from foldwise.game.arrays import Float
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.evaluator import rank_pairs
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import PAIR_CARDS
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED
from foldwise.solver.response import two_round_response
from foldwise.solver.response.best_response import ExactResponse
from foldwise.solver.response.responses import has_response, make_response
from foldwise.solver.response.two_round_response import TwoRoundResponse, has_two_round_response
from tests.oracles.naive_solver import random_policy, small_game
from tests.solver.sampling.test_public_chance import coarse_two_limit

MASKS = (np.int64(1) << PAIR_CARDS.astype(np.int64)).sum(axis=1)
APART = ((MASKS[:, None] & MASKS[None, :]) == 0).astype(float)  # [1326, 1326]


class Oracle:
    """Recursion with matrices of all pairs of hands, flop by flop; the traverser picks by class before the flop."""

    def __init__(self, game: AbstractGame, policy: Float, traverser: int, flops: Boards, responds: bool):
        self.game, self.policy, self.traverser, self.flops, self.responds = game, policy, traverser, flops, responds
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
            mine = node["player"] == self.traverser
            shares = [self.probability(node, a, flop) for a in range(int(node["num_children"]))]
            children = [self.best(first + a, reach if mine else reach * p, flop) for a, p in enumerate(shares)]
            if mine and self.responds:
                return np.max(children, axis=0)
            if mine:  # before the flop a class plays as any of its hands does
                hands = slice(None) if flop is not None else np.unique(self.classes, return_index=True)[1]
                children = [p[hands] * child for p, child in zip(shares, children)]
            return np.sum(children, axis=0)
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
        wanted, value = (
            1000.0 * Oracle(game, policy, traverser, few, responds).best(0, np.ones(1326), None).sum()
            for responds in (True, False)
        )
        assert ours.best_response_mbb[traverser] == pytest.approx(wanted, rel=1e-10)
        assert ours.value_mbb == pytest.approx(value if traverser == 0 else -value, rel=1e-9)


def test_all_flops_together_have_the_weight_of_one_hand() -> None:
    """An opponent who calls before the flop and then gives up to any bet loses, on every flop, all he put in."""
    game = coarse_two_limit(1, 1)
    nodes = game.tree.nodes
    policy = np.zeros(game.num_entries)
    for node in nodes[nodes["kind"] == DECISION]:
        can_fold = nodes[int(node["first_child"])]["kind"] == FOLDED
        policy[int(node["base"]) + (1 if can_fold and node["street"] == 0 else 0)] = 1.0
    result = TwoRoundResponse(game).exploitability(policy)
    lost = 1000.0 * nodes["value"][(nodes["kind"] == FOLDED) & (nodes["street"] == 1)].max()
    assert result.best_response_mbb == pytest.approx((lost, lost), rel=1e-9)
    assert result.value_mbb == pytest.approx(0.0, abs=1e-9)


def test_other_games_are_refused() -> None:
    leduc = small_game("leduc")
    assert not has_two_round_response(leduc)
    with pytest.raises(DefinitionError, match="two-round"):
        TwoRoundResponse(leduc)


def test_games_without_abstraction_are_measured_by_their_flops() -> None:
    """Lossless two-round hold'em is its own abstract game; with buckets that forget, no exact response is known."""
    coarse = coarse_two_limit(2, 2)
    streets = [StreetAbstraction("lossless", hand_index(shape).size, shape) for shape in ((2,), (2, 3))]
    cards = CardAbstraction(streets, {"test": 2})
    lossless = make_abstract_game("lossless", coarse.tree, CardSource(cards, 2, 3), 1, cards)
    assert has_response(lossless) and isinstance(make_response(lossless), TwoRoundResponse)
    assert not has_response(coarse)
    leduc = small_game("leduc")
    assert has_response(leduc) and isinstance(make_response(leduc), ExactResponse)
