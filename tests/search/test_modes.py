"""Bet sizes by depth of the stacks, visits by size of the tree."""

import pytest

from foldwise.game.betting import CALL, RAISE, Action, BettingState
from foldwise.game.errors import DefinitionError
from foldwise.game.library import find_definition
from foldwise.search.modes import MODES, Budget, depth_in_pots, find_mode, work_by_pot
from foldwise.solver.subgame.subgame_tree import build_subtree, legal_actions


def reached(betting: str) -> BettingState:
    state = BettingState(find_definition("hunl"))
    for word in betting.split():
        state.apply(Action(CALL) if word == "c" else Action(RAISE, int(word)))
    return state


LIMPED, RAISED, THREE_BET, LARGE = (
    reached(line) for line in ("c c c c", "300 c c c", "300 900 c c c", "300 900 2700 8000 c c c")
)


def test_depth_counts_what_is_left_in_pots():
    assert depth_in_pots(LIMPED) == pytest.approx(19_900 / 200)
    assert depth_in_pots(LARGE) == pytest.approx(12_000 / 16_000)


@pytest.mark.parametrize("name", list(MODES))
def test_every_mode_bets_in_every_pot_and_ends(name):
    for root in (LIMPED, RAISED, THREE_BET, LARGE):
        menu = MODES[name].menu(root)
        assert any(action.kind == RAISE for action in legal_actions(root, menu))
        assert len(build_subtree(root, menu).nodes) < 5000


def test_a_fast_search_has_no_all_in_into_a_small_pot_and_one_into_a_large():
    fast = MODES["fast"]
    for root, is_offered in ((LIMPED, False), (RAISED, False), (THREE_BET, False), (LARGE, True)):
        assert (Action(RAISE, 20_000) in legal_actions(root, fast.menu(root))) == is_offered


def test_visits_come_from_the_budget_alone():
    budget = Budget(450e6, 20, 120)
    assert budget.visits(7.8e6) == 57
    assert budget.visits(1e9) == 20
    assert budget.visits(1.0) == 120


@pytest.mark.parametrize("name", list(MODES))
def test_larger_pots_get_more_work_within_limits(name):
    """By the root of the pot; the mode's budget as it is for a pot of seven big blinds."""
    pots = [2.0 * 1.1**k for k in range(60)]
    shares = [work_by_pot(pot) for pot in pots]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (pytest.approx((2 / 7) ** 0.5), 2.5)
    assert work_by_pot(7.0) == 1.0
    assert work_by_pot(20.0) / work_by_pot(10.0) == pytest.approx(2.0**0.5)
    mode = MODES[name]
    budgets = [mode.budget(root) for root in (LIMPED, RAISED, THREE_BET, LARGE)]
    assert [budget.hand_nodes for budget in budgets] == sorted({budget.hand_nodes for budget in budgets})
    for root, budget in zip((LIMPED, LARGE), (budgets[0], budgets[-1])):
        share = work_by_pot(sum(root.spent) / 100)
        assert budget.hand_nodes == pytest.approx(share * mode.turn.hand_nodes)
        assert (budget.fewest, budget.most) == (round(share * mode.turn.fewest), round(share * mode.turn.most))


def test_each_street_has_its_budget_and_work_multiplies_it():
    mode = MODES["fast"]
    for line, usual in (("300 c", mode.flop), ("300 c c c", mode.turn), ("300 c c c c c", mode.river)):
        root = reached(line)
        assert mode.budget(root).hand_nodes == pytest.approx((6 / 7) ** 0.5 * usual.hand_nodes)
        assert mode.budget(root, 4.0).hand_nodes == pytest.approx(4.0 * mode.budget(root).hand_nodes)


def test_a_share_of_a_budget_solves_at_least_once():
    assert Budget(100.0, 1, 2).times(0.1) == Budget(10.0, 1, 1)
    assert Budget(100.0, 8, 80).times(2.5) == Budget(250.0, 20, 200)


def test_an_unknown_mode_is_refused():
    with pytest.raises(DefinitionError, match="'slow': expected fast, normal, deep"):
        find_mode("slow")
