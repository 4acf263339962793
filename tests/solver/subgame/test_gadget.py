"""The opponent's choice at the root of a subgame: against the slow solver, and by what it promises."""

import numpy as np
import pytest

from foldwise.game.arrays import Float
from foldwise.game.cards import parse_cards
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.hole_cards import NUM_PAIRS
from foldwise.game.trees.tree import ALL_IN, BetMenu
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.solver.subgame.gadget import Gadget
from foldwise.solver.subgame.subgame import Subgame
from tests.oracles.naive_subgame import SlowSolver, reached

BOARD = list(parse_cards("Ah7d2c9s4h"))
MENU = BetMenu.same_everywhere([ALL_IN], 4)
# Little behind: with a hundred pots behind, regrets are so near zero at first that single precision decides them.
BETTING = "1000 c c 3000 c 6000 c"


def full_ranges(seed: int) -> tuple[Float, Float]:
    """Every hand of both, scaled to sums of 1 over the hands of the board: values then need no scale either."""
    rng = np.random.default_rng(seed)
    live = np.zeros(NUM_PAIRS)
    live[Subgame(reached(BETTING), BOARD, (np.ones(NUM_PAIRS),) * 2, MENU).board.pairs] = 1.0
    first, second = (live * (rng.random(NUM_PAIRS) + 0.01) ** 3 for _ in range(2))
    return first / first.sum(), second / second.sum()


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("weights", [(0.0, 1.0, 0.0), (1.0, 0.5, 0.02)])
def test_choice_equals_slow_solver(player: int, weights: tuple[float, float, float]) -> None:
    """Averages of both players after six iterations, with random values of staying out."""
    ranges = full_ranges(3)
    values = 3000.0 * np.random.default_rng(4).standard_normal(NUM_PAIRS)
    gadget = Gadget(player, values, None, *weights)
    state = reached(BETTING)
    game = Subgame(state, BOARD, ranges, MENU, gadget=gadget)
    game.run(6)
    slow = SlowSolver(game, BOARD, ranges)
    entering = slow.run(6, gadget)
    assert 0.1 < (entering > 0.5).mean() < 0.9  # both answers occur
    plain = Subgame(state, BOARD, ranges, MENU)
    plain.run(6)
    for at in np.flatnonzero(game.nodes["kind"] == DECISION).tolist():
        wanted = slow.shares(slow.sums[at, -1])
        assert (np.abs(game.strategy(at)[:, slow.pairs] - wanted) < 2e-3).mean() > 0.98
    searcher = int(np.flatnonzero(game.nodes["player"] == 1 - player)[0])
    assert np.abs(game.strategy(searcher) - plain.strategy(searcher)).max() > 0.05  # the gadget matters


def blueprint_values(ranges: tuple[Float, Float], player: int) -> Float:
    """What a best responder wins by hand from a strategy that was hardly solved."""
    coarse = Subgame(reached(BETTING), BOARD, ranges, MENU)
    coarse.run(3)
    return coarse.values(player, "best")


@pytest.mark.parametrize("player", [0, 1])
def test_resolving_gives_no_hand_more_than_it_had(player: int) -> None:
    """Burch, Johanson and Bowling (2014), theorem 1: the excess over the values falls with the solve's error.

    The values are a best response's against a strategy in the same tree, so a solution without excess exists. Without
    the gadget, and with a range that is wrong about most hands, some hands gain a lot.
    """
    ours, _ = full_ranges(5)
    trusted = full_ranges(6)[player].copy()
    trusted[np.random.default_rng(7).random(NUM_PAIRS) < 0.9] = 0.0  # he holds what we believe impossible
    ranges = (trusted, ours) if player == 0 else (ours, trusted)
    had = blueprint_values(ranges, player)

    def excess(gadget: Gadget | None, iterations: int) -> float:
        game = Subgame(reached(BETTING), BOARD, ranges, MENU, gadget=gadget)
        game.run(iterations)
        return float(np.maximum(game.values(player, "best") - had, 0.0).sum())

    unsafe, early, late = (
        excess(None, 400),
        excess(Gadget.resolve(player, had), 20),
        excess(Gadget.resolve(player, had), 400),
    )
    assert late < 0.2 * early
    assert late < 0.02 * unsafe


def test_unnormalised_ranges_scale_values() -> None:
    """Ranges and values times seven are the same game."""
    ranges = full_ranges(8)
    had = blueprint_values(ranges, 0)
    first = Subgame(reached(BETTING), BOARD, ranges, MENU, gadget=Gadget(0, had))
    scaled = (7.0 * ranges[0], 7.0 * ranges[1])
    assert blueprint_values(scaled, 0) == pytest.approx(7.0 * had, rel=1e-4, abs=1e-6)
    second = Subgame(reached(BETTING), BOARD, scaled, MENU, gadget=Gadget(0, 7.0 * had))
    for game in (first, second):
        game.run(5)
    assert np.allclose(first.strategy(), second.strategy(), atol=1e-3)


def test_bad_gadgets_are_refused() -> None:
    ranges = full_ranges(9)
    state = reached(BETTING)
    with pytest.raises(DefinitionError, match="weights"):
        Subgame(state, BOARD, ranges, MENU, gadget=Gadget(0, np.zeros(NUM_PAIRS), own=-1.0))
    with pytest.raises(DefinitionError, match="values of a gadget"):
        Subgame(state, BOARD, ranges, MENU, gadget=Gadget(0, np.full(NUM_PAIRS, np.nan)))
