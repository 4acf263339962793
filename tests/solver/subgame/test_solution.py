"""What is asked of a subgame besides its average: values and ranges at nodes, frozen rows, added sizes, shared memory."""

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from foldwise.game.arrays import aligned_zeros
from foldwise.game.betting import CALL, FOLD, RAISE, Action
from foldwise.game.cards import parse_cards
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.hands.showdown import RangeShowdown
from foldwise.game.trees.tree import ALL_IN, BetMenu, pot_size
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.solver.subgame import subgame
from foldwise.solver.subgame.subgame import Subgame
from foldwise.solver.subgame.workspace import Workspace
from tests.oracles.naive_subgame import MENU, SlowSolver, reached, some_ranges

TURN = list(parse_cards("Ah7d2c9s"))
RIVER = list(parse_cards("Ah7d2c9s4h"))
SHOVE = BetMenu.same_everywhere([ALL_IN], 4)
DEEP, SHALLOW = "c c c c", "5000 c 12000 c"
CHECK = Action(CALL)


@pytest.mark.parametrize("betting, board, menu", [(DEEP + " c c", RIVER, MENU), (SHALLOW, TURN, SHOVE)])
def test_threads_give_the_same_bits(betting: str, board: list[int], menu: BetMenu) -> None:
    ranges = some_ranges(1, board)
    found = []
    for threads in (1, 2, 3):
        game = Subgame(reached(betting), board, ranges, menu, threads)
        game.run(4)
        found.append(
            (game.strategy().tobytes(), game.values(0, "best").tobytes(), game.exploitability(), game.hand_nodes)
        )
    assert found[0][:3] == found[1][:3] == found[2][:3]
    assert board is RIVER or found[0] == found[1] == found[2]  # on the river the trunk is cut for the threads


def test_values_add_up_to_exploitability() -> None:
    """By hand and in chips times the other's reach as given, they sum to what `exploitability` says of the profile."""
    ranges = some_ranges(2, RIVER)
    ranges = (3.0 * ranges[0], 0.25 * ranges[1])
    game = Subgame(reached("c c c c c c"), RIVER, ranges, MENU)
    game.run(20)
    result = game.exploitability()
    mass = float(ranges[0] @ RangeShowdown(RIVER).fold(ranges[1]))
    unit = 1000.0 / (100.0 * mass)
    average, other = unit * float(ranges[0] @ game.values(0)), unit * float(ranges[1] @ game.values(1))
    assert average == pytest.approx(result.value_mbb, rel=1e-4)
    assert other == pytest.approx(-average, rel=1e-3, abs=0.1)
    for player in range(2):
        best = unit * float(ranges[player] @ game.values(player, "best"))
        assert best == pytest.approx(result.best_response_mbb[player], rel=1e-4)
        assert (game.values(player, "best") >= game.values(player) - 1e-2).all()


def test_values_behind_the_turn() -> None:
    """Where everybody checks, the values of the rivers, each of 44, are the root's."""
    ranges = some_ranges(3, TURN)
    game = Subgame(reached(SHALLOW), TURN, ranges, BetMenu.same_everywhere([], 4))  # check, check, and a river to check
    game.run(3)
    leaf = game.node_at((CHECK, CHECK))
    for player in range(2):
        for kind in ("average", "best"):
            total = sum(game.values_at(leaf, river, player, kind) for river in game.river_cards)
            assert np.allclose(total / 44.0, game.values(player, kind), rtol=1e-4, atol=5.0)  # of a million


def test_values_at_a_node_equal_slow_solver() -> None:
    """The best response on one river behind a check and a shove that both happen on the turn."""
    ranges = some_ranges(4, TURN)
    game = Subgame(reached(SHALLOW), TURN, ranges, SHOVE)
    game.run(2)
    slow = SlowSolver(game, TURN, ranges)
    slow.run(2)
    leaf = game.node_at((CHECK, CHECK))
    at, river = game.child(leaf, CHECK), game.river_cards[7]
    assert game.paths[at] == (CHECK, CHECK, CHECK)
    live = ~(river == PAIR_CARDS).any(axis=1)
    for player in range(2):
        other = game.reach(at, 1 - player, river)
        assert (other[~live] == 0.0).all() and 0.0 < other.sum() < ranges[1 - player].sum()
        wanted = slow.value(at, river, player, np.ones(len(slow.hands)), other[slow.pairs], 0)
        found = game.values_at(at, river, player, "best")[slow.pairs]
        assert np.allclose(found[live[slow.pairs]], wanted[live[slow.pairs]], rtol=1e-3, atol=0.5)
    with pytest.raises(DefinitionError, match="name the river"):
        game.values_at(at, None, 0)
    with pytest.raises(DefinitionError, match="node on the river"):
        game.values_at(game.node_at((CHECK,)), river, 0)


def test_reach_is_the_product_of_the_strategies() -> None:
    ranges = some_ranges(5, RIVER)
    game = Subgame(reached("c c c c c c"), RIVER, ranges, MENU)
    game.run(10)
    first = game.actions_at(0)[1]
    at = game.node_at((first,))
    answer = game.actions_at(at)[-1]
    after = game.child(at, answer)
    assert np.allclose(game.reach(after, 0), ranges[0] * game.strategy(0)[1])
    assert np.allclose(game.reach(after, 1), ranges[1] * game.strategy(at)[-1])
    whole = sum(game.reach(game.child(0, action), 0) for action in game.actions)
    assert np.allclose(whole, ranges[0], atol=1e-5)


def test_frozen_rows_are_played_and_kept() -> None:
    """Everybody's averages equal those of the slow solver with the same rows frozen; a responder does not leave them."""
    ranges = some_ranges(6, RIVER)
    state = reached("1000 c c 3000 c 6000 c")
    rows = np.random.default_rng(7).random((2, NUM_PAIRS))
    rows /= rows.sum(axis=0)
    free = Subgame(state, RIVER, ranges, SHOVE)
    game = Subgame(state, RIVER, ranges, SHOVE, frozen={(): rows})
    for one in (free, game):
        one.run(6)
    slow = SlowSolver(game, RIVER, ranges)
    slow.frozen[0] = rows[:, slow.pairs]
    slow.run(6)
    assert np.allclose(game.strategy(0)[:, slow.pairs], rows[:, slow.pairs], atol=1e-6)
    for at in np.flatnonzero(game.nodes["kind"] == DECISION).tolist()[1:]:
        assert np.abs(game.strategy(at)[:, slow.pairs] - slow.shares(slow.sums[at, -1])).max() < 2e-3
    for player in range(2):
        best = game.exploitability().best_response_mbb[player]
        assert best == pytest.approx(slow.best_response(player), rel=1e-4, abs=0.05)
    assert game.exploitability().best_response_mbb[0] < free.exploitability().best_response_mbb[0]
    with pytest.raises(DefinitionError, match="2 actions of 1326"):
        Subgame(state, RIVER, ranges, SHOVE, frozen={(): rows[:1]})
    with pytest.raises(DefinitionError, match="no such sequence"):
        Subgame(state, RIVER, ranges, SHOVE, frozen={(Action(FOLD),): rows})


def test_added_sizes_are_in_the_tree() -> None:
    """A bet beyond the menu stands in order among the others; the same bet as a size of the menu is the same game."""
    ranges = some_ranges(8, RIVER)
    state = reached("1000 c c 3000 c 6000 c")
    odd, after = Action(RAISE, 10200), Action(RAISE, 15000)
    game = Subgame(state, RIVER, ranges, SHOVE, extra_sizes={(): [10200], (odd,): [15000]})
    assert game.actions == [CHECK, odd, Action(RAISE, 20000)]
    assert after in game.actions_at(game.child(0, odd))
    assert after not in game.actions_at(game.child(0, CHECK))
    listed = BetMenu(sizes=((((),) * 3 + (((pot_size(0.35), ALL_IN), (ALL_IN,)),)),) * 2)
    same = Subgame(state, RIVER, ranges, listed)
    added = Subgame(state, RIVER, ranges, SHOVE, extra_sizes=[((), [10200]), ((CHECK,), [10200])])
    for one in (same, added):
        one.run(5)
    assert same.actions == added.actions
    assert np.array_equal(same.strategy(), added.strategy())
    with pytest.raises(DefinitionError, match="raise to 6001 added"):
        Subgame(state, RIVER, ranges, SHOVE, extra_sizes={(): [6001]})
    with pytest.raises(DefinitionError, match="no decision of the subgame"):
        Subgame(state, RIVER, ranges, SHOVE, extra_sizes={(Action(RAISE, 7777),): [9000]})


def test_start_from_an_earlier_solve() -> None:
    """Without a new size the solve goes on as if unbroken; with one it is ahead of a solve from nothing."""
    ranges = some_ranges(9, RIVER)
    state = reached("300 c c 600 c 1200 c")
    unbroken = Subgame(state, RIVER, ranges, MENU)
    unbroken.run(60)
    first = Subgame(state, RIVER, ranges, MENU)
    first.run(50)
    second = Subgame(state, RIVER, ranges, MENU)
    second.start_from(first)
    second.run(10)
    assert np.array_equal(second.strategy(), unbroken.strategy())

    sizes = {(CHECK,): [2000]}
    cold, warm = (Subgame(state, RIVER, ranges, MENU, extra_sizes=sizes) for _ in range(2))
    warm.start_from(first)
    for one in (cold, warm):
        one.run(25)
    assert warm.exploitability().exploitability_mbb < cold.exploitability().exploitability_mbb
    with pytest.raises(DefinitionError, match="another state"):
        second.start_from(Subgame(reached("c c c c c c"), RIVER, ranges, MENU))


def test_workspace_lends_what_was_given_back() -> None:
    """One that lives is never overwritten; one that is gone leaves its memory, and the next begins from zero."""
    ranges = some_ranges(10, RIVER)
    workspace = Workspace()

    def solved(board: list[int]) -> Subgame:
        game = Subgame(reached("c c c c c c"), board, ranges, MENU, workspace=workspace)
        game.run(3)
        return game

    first = solved(RIVER)
    kept = first.strategy()
    second = solved(list(parse_cards("AhKd2c9s4h")))
    assert np.array_equal(first.strategy(), kept)
    assert workspace.num_free_bytes == 0
    num_bytes = second.num_bytes
    del second
    gc.collect()
    assert workspace.num_free_bytes == num_bytes
    again = solved(RIVER)
    assert workspace.num_free_bytes == 0
    assert np.array_equal(again.strategy(), kept)


def test_a_table_comes_back_while_another_is_lent() -> None:
    """A finalizer may run within `lend`: what it calls must not wait for the lock that `lend` holds."""
    workspace = Workspace()
    with workspace._lock:
        giving = threading.Thread(target=workspace.take_back, args=(aligned_zeros(64),), daemon=True)
        giving.start()
        giving.join(60)
        assert not giving.is_alive()
    assert workspace.num_free_bytes == 4 * 64
    workspace.lend(64)
    assert workspace.num_free_bytes == 0


def test_an_interrupt_leaves_no_thread_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that helps is let go when the first one never begins."""
    workspace = Workspace()
    workspace.pool = ThreadPoolExecutor(1)
    game = Subgame(reached(SHALLOW), TURN, some_ranges(11, TURN), SHOVE, threads=2, workspace=workspace)

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(subgame, "lead_passes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            game.run(1)
    workspace.pool.shutdown(wait=True)  # waits for ever if a thread does


@pytest.mark.parametrize("rivers", [6, 12])
def test_sampled_rivers_are_unbiased(rivers: int) -> None:
    """Over all samples of a visit the values at the root are on average those of all 48 rivers."""
    ranges = some_ranges(11, TURN)
    game = Subgame(reached(SHALLOW), TURN, ranges, SHOVE, rivers=rivers)
    game.run(48 // rivers)  # so that strategies differ from river to river
    num_samples = 48 // rivers
    for player in range(2):
        parts = [
            game._values_on(game._sample(3, part), game._sampled_tasks, player, "average")
            for part in range(num_samples)
        ]
        assert np.allclose(np.mean(parts, axis=0), game._root_values(player, "average"), rtol=1e-3, atol=0.5)
        assert np.abs(parts[0] - parts[1]).max() > 10.0  # chips: samples differ


def test_sampled_rivers_pay_and_depend_on_no_thread() -> None:
    """The same work brings a turn nearer to equilibrium with a sixth of the rivers an iteration."""
    state, ranges = reached("300 c c c"), some_ranges(12, TURN)
    menu = BetMenu.same_everywhere([pot_size(1.0)], 4)
    menu = BetMenu(sizes=tuple(tuple((sets[0], ()) for sets in player) for player in menu.sizes))
    full = Subgame(state, TURN, ranges, menu)
    full.run(8)
    sampled = [Subgame(state, TURN, ranges, menu, threads, rivers=8) for threads in (1, 2, 3)]
    for game in sampled:
        game.run(48)
    assert sampled[0].exploitability().exploitability_mbb < 0.7 * full.exploitability().exploitability_mbb
    assert len({game.strategy().tobytes() for game in sampled}) == 1
    assert len({game.values(1, "best").tobytes() for game in sampled}) == 1
    with pytest.raises(DefinitionError, match="divisor of 48"):
        Subgame(state, TURN, ranges, menu, rivers=13)
