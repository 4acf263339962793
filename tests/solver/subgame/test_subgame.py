"""Subgames without card abstraction: against the slow vector solver on matrices of all pairs of hands."""

import numpy as np
import pytest

from foldwise.game.arrays import Float
from foldwise.game.betting import BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.hole_cards import NUM_PAIRS
from foldwise.game.library import find_definition
from foldwise.game.trees.tree import ALL_IN, BetMenu, build_tree, pot_size
from foldwise.game.trees.tree_kernels import CHANCE, DECISION
from foldwise.solver.subgame.subgame import Subgame
from foldwise.solver.subgame.subgame_tree import build_subtree
from tests.oracles.naive_subgame import MENU, SlowSolver, reached, some_ranges

RIVERS = [("c c c c c c", "Ah7d2c9s4h"), ("300 c c 600 c 1200 c 3000", "KhKd8c8s3d")]


def solved_twice(
    state: BettingState, board: list[int], ranges: tuple[Float, Float], menu: BetMenu, iterations: int, threads: int = 1
) -> tuple[Subgame, SlowSolver]:
    """A subgame after a few iterations, beside the slow solver; the best responses are the same."""
    game = Subgame(state, board, ranges, menu, threads)
    game.run(iterations)
    slow = SlowSolver(game, board, ranges)
    slow.run(iterations)
    for player, ours in enumerate(game.exploitability().best_response_mbb):
        assert ours == pytest.approx(slow.best_response(player), rel=1e-4, abs=0.05)
    return game, slow


@pytest.mark.parametrize("betting, text", RIVERS)
@pytest.mark.parametrize("threads", [1, 2])
def test_river_equals_slow_solver(betting: str, text: str, threads: int) -> None:
    """Averages, best responses and values after five iterations, from the first action of a street or later."""
    state, board = reached(betting), list(parse_cards(text))
    game, slow = solved_twice(state, board, some_ranges(1, board), MENU, 5, threads)
    for at in np.flatnonzero(game.nodes["kind"] == DECISION).tolist():
        close = np.abs(game.strategy(at)[:, slow.pairs] - slow.shares(slow.sums[at, -1])) < 2e-3
        assert close.mean() > 0.98  # regrets near zero may fall to either side in single precision
    assert game.exploitability().exploitability_mbb > 0.0


@pytest.mark.parametrize("threads", [1, 3])
def test_river_with_a_trunk_equals_slow_solver(threads: int) -> None:
    """A tree too large for one block: the trunk ends at leaves of several kinds and sizes."""
    menu = BetMenu.same_everywhere([pot_size(0.5), pot_size(1.0), pot_size(3.0)], 4)
    board = list(parse_cards("Ah7d2c9s4h"))
    game, slow = solved_twice(reached("300 c c c c c"), board, some_ranges(3, board), menu, 2, threads)
    assert len(game.nodes) > 150
    assert game._trunk.leaf_at.size > 3
    for at in np.flatnonzero(game.nodes["kind"] == DECISION).tolist():
        close = np.abs(game.strategy(at)[:, slow.pairs] - slow.shares(slow.sums[at, -1])) < 2e-3
        assert close.mean() > 0.98


def test_turn_equals_slow_solver() -> None:
    """A turn with one bet left behind: every river below every leaf, and all-ins on the turn."""
    menu = BetMenu.same_everywhere([ALL_IN], 4)
    state, board = reached("5000 c 12000 c"), list(parse_cards("Ah7d2c9s"))
    ranges = some_ranges(2, board)
    game, slow = solved_twice(state, board, ranges, menu, 2)
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
    assert both.exploitability().exploitability_mbb == pytest.approx(game.exploitability().exploitability_mbb, rel=1e-4)


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
    subtree = build_subtree(BettingState(definition), menu)
    nodes, states = subtree.nodes, subtree.states
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
