"""Bet sizes by depth of the stacks, visits by size of the tree."""

import pytest

from foldwise.game.betting import CALL, RAISE, Action, BettingState
from foldwise.game.errors import DefinitionError
from foldwise.game.library import find_definition
from foldwise.search.modes import MODES, Budget, depth_in_pots, find_mode
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


def test_each_street_has_its_budget_and_work_multiplies_it():
    mode = MODES["fast"]
    for street, usual in ((1, mode.flop), (2, mode.turn), (3, mode.river)):
        assert mode.budget(street) == usual
        assert mode.budget(street, 4.0) == Budget(4.0 * usual.hand_nodes, 4 * usual.fewest, 4 * usual.most)


def test_a_share_of_a_budget_solves_at_least_once():
    assert Budget(100.0, 1, 2).times(0.1) == Budget(10.0, 1, 1)
    assert Budget(100.0, 8, 80).times(2.5) == Budget(250.0, 20, 200)


def test_an_unknown_mode_is_refused():
    with pytest.raises(DefinitionError, match="'slow': expected fast, normal, deep"):
        find_mode("slow")
