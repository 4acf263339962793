"""The work of a match is one number, chosen from measured seconds; with that number named nothing is measured."""

from dataclasses import replace

import numpy as np
import pytest

from foldwise.game.betting import CALL_ACTION, BettingState
from foldwise.game.errors import DefinitionError
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search import work as work_module
from foldwise.search.modes import MODES, Budget
from foldwise.search.player import PublicState, SearchPlayer
from foldwise.search.settings import LEAST_WORK, MOST_WORK, SearchSettings
from foldwise.search.work import WorkPlan, choose_plan, plan, time_streets
from tests.support.made_strategies import made_player, short_hunl

LONGEST = 1.5  # of a street's seconds: solved, and half of that again for a bet outside the tree


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch):
    mode = replace(MODES["fast"], flop=Budget(0.0, 2, 2), turn=Budget(0.0, 4, 4), river=Budget(0.0, 8, 8))
    monkeypatch.setitem(MODES, "fast", mode)


def player(**settings):
    table = made_player(short_hunl(1500), "f c 1p a | f c a | f c", seed=1)
    return SearchPlayer(table, Pipeline(), SearchSettings(**settings), threads=1)


@pytest.mark.parametrize(
    "seconds, a_hand, a_decision, work",
    [
        ([1.0, 0.2, 0.1], 7.0, 1000.0, 2.0),  # 3.5 s of the account, 2.6 of them used
        ([1.0, 0.2, 0.1], 5.0, 1000.0, 1.0),
        ([1.0, 0.2, 0.1], 1000.0, LONGEST, 1.0),
        ([1.0, 0.2, 0.1], 1000.0, 0.99 * LONGEST, 0.5),
        ([1.0], 600.0, 1e9, MOST_WORK),
        ([1.0], 1e-3, 1e9, LEAST_WORK),
    ],
)
def test_the_largest_power_of_two_within_account_and_decision(seconds, a_hand, a_decision, work):
    chosen = choose_plan(seconds, a_hand, a_decision)
    assert chosen == WorkPlan(work, pytest.approx(work * sum(seconds)), pytest.approx(work * LONGEST * max(seconds)))


def test_more_time_never_means_less_work():
    works = [choose_plan([0.9, 0.17, 0.02], seconds, 4.0 * seconds).work for seconds in np.geomspace(0.01, 600.0, 200)]
    assert works == sorted(works)
    assert len(set(works)) > 5


def test_every_searched_street_is_timed_once(monkeypatch):
    """By a clock that advances by one second whenever it is read."""
    seconds = iter(range(1000))
    monkeypatch.setattr(work_module, "time", type("Clock", (), {"monotonic": lambda: float(next(seconds))}))
    for settings, streets in (({}, 2), ({"flop": "fast"}, 3), ({"turn": "off"}, 1)):
        timed = player(**settings)
        found = time_streets(timed)
        assert found == [1.0] * streets
        assert timed.report.solves == 0
        assert not timed._kept


def test_a_planned_player_plays_as_one_whose_work_is_named():
    planned, named, usual = player(flop="fast"), player(flop="fast", work=64.0), player(flop="fast")
    chosen = plan(planned, 1e9, 1e9)
    assert (chosen.work, planned.settings) == (64.0, named.settings)
    betting = BettingState(planned.definition)
    for _ in range(2):
        betting.apply(CALL_ACTION)
    state = PublicState(betting, tuple(planned.definition.deck[:3]), betting.player_to_act, 0)
    rows = [one.policy(state).rows for one in (planned, named, usual)]
    assert np.array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[2])


def test_work_and_account_together_are_refused():
    with pytest.raises(DefinitionError, match=r"search\(fast, work=2\) with an account of 7 s a hand: .*give one"):
        plan(player(work=2.0), 7.0, 4.0)
