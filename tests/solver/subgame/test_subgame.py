"""Subgames without card abstraction: against the slow vector solver on matrices of all pairs of hands."""

import numpy as np
import pytest

from foldwise.game.arrays import Float
from foldwise.game.betting import CALL, RAISE, Action, BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.errors import DefinitionError
from foldwise.game.evaluator import rank_hand
from foldwise.game.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.library import find_definition
from foldwise.game.tree import ALL_IN, BetMenu, build_tree, pot_size
from foldwise.game.tree_kernels import CHANCE, DECISION, FOLDED, SHOWDOWN
from foldwise.solver.full_width.vector_cfr import SCHEDULES
from foldwise.solver.subgame.subgame import Subgame
from foldwise.solver.subgame.subgame_tree import build_subtree

MENU = BetMenu.same_everywhere([pot_size(1.0), ALL_IN], 4)


def reached(betting: str) -> BettingState:
    """The state after calls (`c`) and raises to the chips given."""
    state = BettingState(find_definition("hunl"))
    for word in betting.split():
        state.apply(Action(CALL) if word == "c" else Action(RAISE, int(word)))
    return state


def some_ranges(seed: int, board: list[int]) -> tuple[Float, Float]:
    """Two ranges over the same 150 hands that the board allows; all other hands have weight zero."""
    rng = np.random.default_rng(seed)
    live = [number for number, pair in enumerate(PAIR_CARDS.tolist()) if not set(pair) & set(board)]
    chosen = rng.choice(live, 150, replace=False)
    ranges = np.zeros((2, NUM_PAIRS))
    ranges[:, chosen] = rng.random((2, 150)) + 0.01
    return ranges[0], ranges[1]


class SlowSolver:
    """Discounted CFR and best responses by recursion over matrices of all pairs of hands, in double precision.

    Hands outside of both ranges are left out: they change nothing for the others.
    """

    def __init__(self, game: Subgame, board: list[int], ranges: tuple[Float, Float]):
        self.nodes, self.board = game.nodes, board
        self.pairs = np.flatnonzero(ranges[0])
        self.hands = PAIR_CARDS[self.pairs].tolist()
        self.ranges = [one[self.pairs] / one.sum() for one in ranges]
        self.apart = np.array([[float(not set(one) & set(other)) for other in self.hands] for one in self.hands])
        self.mass = float(self.ranges[0] @ self.apart @ self.ranges[1])
        self.regrets: dict[tuple[int, int], Float] = {}
        self.sums: dict[tuple[int, int], Float] = {}
        self.settle = {river: self._settle(river) for river in ([-1] if len(board) == 5 else self.rivers())}

    def _settle(self, river: int) -> Float:
        board = [*self.board, river] if river >= 0 else self.board
        ranks = np.array([0 if set(hand) & set(board) else rank_hand([*hand, *board]) for hand in self.hands])
        live = ranks > 0
        return self.apart * np.sign(ranks[:, None] - ranks[None, :]) * live[:, None] * live[None, :]

    def rivers(self) -> list[int]:
        return [card for card in range(52) if card not in self.board]

    def value(self, at: int, river: int, player: int, own: Float, other: Float, t: int) -> Float:
        """Values by hand; t = 0 responds to the averages, else iteration t learns."""
        node = self.nodes[at]
        first = int(node["first_child"])
        scale = float(node["value"])
        if node["kind"] == FOLDED:
            return (-scale if node["player"] == player else scale) * self._live(river) * (self.apart @ other)
        if node["kind"] == SHOWDOWN:
            rivers = self.rivers() if len(self.board) == 4 and river < 0 else [river]
            return scale * sum(self.settle[card] @ other for card in rivers) / (1.0 if len(rivers) == 1 else 44.0)
        if node["kind"] == CHANCE:
            parts = [self.value(first, card, player, own, other * self._live(card), t) for card in self.rivers()]
            return np.sum([part * self._live(card) for part, card in zip(parts, self.rivers())], axis=0) / 44.0
        key = (at, river)
        shape = (int(node["num_children"]), len(self.hands))
        regrets, sums = (table.setdefault(key, np.zeros(shape)) for table in (self.regrets, self.sums))
        sigma = self.shares(sums if t == 0 else regrets)
        mine = node["player"] == player
        values = [
            self.value(
                first + a, river, player, own * sigma[a] if mine else own, other if mine else other * sigma[a], t
            )
            for a in range(shape[0])
        ]
        if not mine:
            return np.sum(values, axis=0)
        if t == 0:
            return np.max(values, axis=0)
        value: Float = (sigma * values).sum(axis=0)
        steps = [step[0] for step in SCHEDULES["dcfr"](np.array([float(t)]))]
        regrets[:] = regrets * np.where(regrets > 0, steps[0], steps[1]) + (np.array(values) - value)
        sums[:] = sums * steps[2] + own * sigma
        return value

    @staticmethod
    def shares(weights: Float) -> Float:
        weights = np.maximum(weights, 0.0)
        total = weights.sum(axis=0)
        return np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / len(weights))

    def _live(self, river: int) -> Float:
        return np.array([float(river not in hand) for hand in self.hands])

    def run(self, iterations: int) -> None:
        for t in range(1, iterations + 1):
            for player in range(2):
                self.value(0, -1, player, np.ones(len(self.hands)), self.ranges[1 - player], t)

    def best_response(self, player: int) -> float:
        values = self.value(0, -1, player, np.ones(len(self.hands)), self.ranges[1 - player], 0)
        return 1000.0 / 100.0 * float(self.ranges[player] @ values) / self.mass


RIVERS = [("c c c c c c", "Ah7d2c9s4h"), ("300 c c 600 c 1200 c 3000", "KhKd8c8s3d")]


@pytest.mark.parametrize("betting, text", RIVERS)
@pytest.mark.parametrize("threads", [1, 2])
def test_river_equals_slow_solver(betting: str, text: str, threads: int) -> None:
    """Averages, best responses and values after five iterations, from the first action of a street or later."""
    state, board = reached(betting), list(parse_cards(text))
    ranges = some_ranges(1, board)
    game = Subgame(state, board, ranges, MENU, threads)
    game.run(5)
    slow = SlowSolver(game, board, ranges)
    slow.run(5)
    ours = game.exploitability()
    for player in range(2):
        assert ours.best_response_mbb[player] == pytest.approx(slow.best_response(player), rel=1e-4, abs=0.05)
    for at in np.flatnonzero(game.nodes["kind"] == DECISION).tolist():
        close = np.abs(game.strategy(at)[:, slow.pairs] - slow.shares(slow.sums[at, -1])) < 2e-3
        assert close.mean() > 0.98  # regrets near zero may fall to either side in single precision
    assert ours.exploitability_mbb > 0.0


def test_turn_equals_slow_solver() -> None:
    """A turn with one bet left behind: every river below every leaf, and all-ins on the turn."""
    menu = BetMenu.same_everywhere([ALL_IN], 4)
    state, board = reached("5000 c 12000 c"), list(parse_cards("Ah7d2c9s"))
    ranges = some_ranges(2, board)
    game = Subgame(state, board, ranges, menu)
    game.run(2)
    slow = SlowSolver(game, board, ranges)
    slow.run(2)
    ours = game.exploitability()
    for player in range(2):
        assert ours.best_response_mbb[player] == pytest.approx(slow.best_response(player), rel=1e-4, abs=0.05)
    river, behind = (
        game.river_cards[20],
        int(game.nodes[np.flatnonzero(game.nodes["kind"] == CHANCE)[0]]["first_child"]),
    )
    wanted = slow.shares(slow.sums[behind, river])
    live = [river not in hand for hand in slow.hands]
    assert np.abs(game.strategy(behind, river)[:, slow.pairs] - wanted)[:, live].max() < 2e-3
    both = Subgame(state, board, ranges, menu, threads=2)
    both.run(2)
    assert both.hand_nodes == game.hand_nodes
    assert both.exploitability().exploitability_mbb == pytest.approx(ours.exploitability_mbb, rel=1e-4)


def test_rivers_are_solved() -> None:
    """200 iterations bring a river within a hundredth of the pot; responses bracket the value."""
    state = reached("c c c c c c")
    game = Subgame(state, parse_cards("Ah7d2c9s4h"), (np.ones(NUM_PAIRS), np.ones(NUM_PAIRS)), MENU)
    game.run(10)
    early = game.exploitability().exploitability_mbb
    game.run(190)
    result = game.exploitability()
    assert result.exploitability_mbb < 20.0 < early
    assert -result.best_response_mbb[1] <= result.value_mbb <= result.best_response_mbb[0]
    root = game.strategy()
    assert root.shape == (len(game.actions), NUM_PAIRS)
    assert root[:, game.board.pairs].sum(axis=0) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("name", ["leduc", "two-nl-20", "two-limit-4"])
def test_subtrees_equal_whole_trees(name: str) -> None:
    """From the start of a game the builder makes the records `build_tree` makes."""
    definition = find_definition(name)
    menu = BetMenu.same_everywhere([pot_size(0.5), pot_size(1.0), ALL_IN], 2)
    nodes, states = build_subtree(BettingState(definition), menu)
    whole = build_tree(definition, menu)
    inner = (nodes["kind"] == DECISION) | (nodes["kind"] == CHANCE)
    for field in ("kind", "player", "street", "num_children", "value"):
        assert np.array_equal(nodes[field], whole.nodes[field]), field
    assert np.array_equal(nodes["first_child"][inner], whole.nodes["first_child"][inner])
    assert len(states) == len(nodes)


def test_bad_input_is_refused() -> None:
    everything = np.ones(NUM_PAIRS)
    river = reached("c c c c c c")
    with pytest.raises(DefinitionError, match="turn or the river"):
        Subgame(reached("c c"), parse_cards("AsKd2c"), (everything, everything), MENU)
    with pytest.raises(DefinitionError, match="expected 5 distinct cards"):
        Subgame(river, parse_cards("AsKd2c"), (everything, everything), MENU)
    with pytest.raises(DefinitionError, match="ranges"):
        Subgame(river, parse_cards("Ah7d2c9s4h"), (-everything, everything), MENU)
    only = np.zeros(NUM_PAIRS)
    only[-1] = 1.0
    with pytest.raises(DefinitionError, match="no two hands"):
        Subgame(river, parse_cards("Ah7d2c9s4h"), (only, only), MENU)
