"""Values behind a node of the blueprint: against recursion over matrices of some hands, and against each other."""

import numpy as np
import pytest

from foldwise.game.cards import parse_cards
from foldwise.game.hands.evaluator import rank_hand
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED
from foldwise.search.blueprint_values import BlueprintValues
from foldwise.search.ranges import TableRanges
from foldwise.solver.subgame.workspace import Workspace
from tests.support.made_strategies import made_player, short_hunl

MENU = "f c 1p a | f c a | f c"
TURN = tuple(parse_cards("Ah7d2c9s"))


class SlowValues:
    """The same values for a few hands of both players, straight from the definition."""

    def __init__(self, player, hands, board, responder, best):
        self.tree, self.seat, self.lookup = player.seat.tree, player.seat, player.lookup
        self.hands, self.board = hands, board
        self.cards = PAIR_CARDS[hands].tolist()
        self.responder, self.best = responder, best
        self.apart = np.array([[float(not set(one) & set(other)) for other in self.cards] for one in self.cards])
        self.last = int(self.tree.nodes["street"].max())

    def row(self, node, board):
        """[hands, actions]"""
        record = self.tree.nodes[node]
        count = int(record["num_children"])
        out = []
        for hand in self.cards:
            start = int(record["base"]) + count * self.lookup.bucket(hand, board)
            row = np.asarray(self.seat.words[start : start + count], float)
            out.append(row / row.sum() if row.sum() > 0 else np.full(count, 1 / count))
        return np.array(out)

    def live(self, board):
        return np.array([float(not set(hand) & set(board)) for hand in self.cards])

    def value(self, node, board, reach):
        record = self.tree.nodes[node]
        live = self.live(board)
        reach = reach * live
        kind, first = int(record["kind"]), int(record["first_child"])
        if kind == FOLDED:
            return (-1 if record["player"] == self.responder else 1) * record["value"] * live * (self.apart @ reach)
        if kind == CHANCE or (kind != DECISION and len(board) < 5):
            below = first if kind == CHANCE else node
            return sum(self.value(below, (*board, card), reach) for card in range(52) if card not in board) / 44
        if kind != DECISION:
            ranks = np.array([0 if not ok else rank_hand([*hand, *board]) for ok, hand in zip(live, self.cards)])
            beats = np.sign(ranks[:, None] - ranks[None, :]) * self.apart * live[:, None] * live[None, :]
            return record["value"] * (beats @ reach)
        row = self.row(node, board)
        own = record["player"] == self.responder
        values = [
            self.value(first + a, board, reach if own else reach * row[:, a])
            for a in range(int(record["num_children"]))
        ]
        if not own:
            return np.sum(values, axis=0)
        return np.max(values, axis=0) if self.best else (row.T * values).sum(axis=0)


def first_turn_node(player):
    """The first decision of the turn when both only called."""
    tree, node = player.seat.tree, 0
    while int(tree.nodes[node]["street"]) < 2 or tree.nodes[node]["kind"] != DECISION:
        first = int(tree.nodes[node]["first_child"])
        node = first if tree.nodes[node]["kind"] == CHANCE else first + int(tree.action[first] == -1)
    return node


def some_range(board, seed, num_hands=12):
    rng = np.random.default_rng(seed)
    live = [h for h, pair in enumerate(PAIR_CARDS.tolist()) if not set(pair) & set(board)]
    hands = np.sort(rng.choice(live, num_hands, replace=False))
    weights = np.zeros(NUM_PAIRS)
    weights[hands] = rng.random(num_hands)
    return hands, weights


@pytest.mark.parametrize("responder", [0, 1])
@pytest.mark.parametrize("best", [True, False])
def test_turn_values_agree_with_recursion(responder, best):
    player = made_player(short_hunl(1000), MENU, seed=2)
    node = first_turn_node(player)
    hands, weights = some_range(TURN, 5)
    found = BlueprintValues(TableRanges(player), Workspace(), 2).response(node, TURN, responder, weights, best)
    expected = SlowValues(player, hands, TURN, responder, best).value(node, TURN, weights[hands])
    np.testing.assert_allclose(found[hands], expected, rtol=2e-4, atol=2e-3)
    assert np.ptp(expected) > 10.0
    assert not found[np.isin(PAIR_CARDS, TURN).any(axis=1)].any()


def test_river_values_agree_with_recursion():
    player = made_player(short_hunl(1000), MENU, seed=2)
    tree, node = player.seat.tree, first_turn_node(player)
    while int(tree.nodes[node]["street"]) < 3 or tree.nodes[node]["kind"] != DECISION:
        first = int(tree.nodes[node]["first_child"])
        node = first if tree.nodes[node]["kind"] == CHANCE else first + int(tree.action[first] == -1)
    board = (*TURN, 30)
    hands, weights = some_range(board, 6, 60)
    found = BlueprintValues(TableRanges(player), Workspace()).response(node, board, 1, weights)
    expected = SlowValues(player, hands, board, 1, True).value(node, board, weights[hands])
    np.testing.assert_allclose(found[hands], expected, rtol=2e-4, atol=2e-3)


def test_values_are_the_same_with_any_number_of_threads_and_add_up_to_zero():
    player = made_player(short_hunl(), MENU, seed=3)
    node, ranges = first_turn_node(player), TableRanges(player)
    rng = np.random.default_rng(1)
    weights = [np.where(np.isin(PAIR_CARDS, TURN).any(axis=1), 0.0, rng.random(NUM_PAIRS)) for _ in range(2)]
    found = [
        [BlueprintValues(ranges, Workspace(), threads).response(node, TURN, p, weights[1 - p], False) for p in (0, 1)]
        for threads in (1, 2, 3)
    ]
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other))
    totals = [float(weights[p] @ found[0][p]) for p in (0, 1)]
    assert totals[0] == pytest.approx(-totals[1], abs=1e-5 * abs(totals[0]) + 1e-2)
    best = [
        float(weights[p] @ BlueprintValues(ranges, Workspace()).response(node, TURN, p, weights[1 - p])) for p in (0, 1)
    ]
    assert best[0] > totals[0]
    assert best[1] > totals[1]
