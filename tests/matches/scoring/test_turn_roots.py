"""Search against tables by turn roots: without search nothing is won, and a fresh solve of a bad table wins a lot."""

from dataclasses import replace

import numpy as np
import pytest

from foldwise.game.cards import parse_cards
from foldwise.game.hands.hole_cards import NUM_PAIRS
from foldwise.matches.scoring.range_ends import end_value, showdown_values
from foldwise.matches.scoring.turn_roots import RootMatch, turn_roots
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.modes import MODES, Budget
from foldwise.search.player import SearchPlayer
from foldwise.search.settings import SearchSettings
from tests.support.made_strategies import made_player, short_hunl

MENU = "f c 1p | f c"


@pytest.fixture
def quick(monkeypatch):
    """A mode of a few iterations."""
    mode = replace(MODES["fast"], turn=Budget(0.0, 4, 4), river=Budget(0.0, 20, 20))
    monkeypatch.setitem(MODES, "fast", mode)


def some_root(table):
    return next(root for root in turn_roots(table, 3, 50) if max(root.betting.spent) < 400)


def test_without_search_nothing_is_won():
    """The same rows expanded action by action, over all rivers, against the exact walk over the abstract tree."""
    table = made_player(short_hunl(1000), MENU, seed=2)
    search = SearchPlayer(table, Pipeline(), SearchSettings(turn="off", river="off"))
    match = RootMatch(search, table, rivers=48, least=0.0)
    root = some_root(table)
    for position in range(2):
        assert match.gain(root, position) == pytest.approx(0.0, abs=1e-3)


def test_search_wins_from_random_rows(quick):
    table = made_player(short_hunl(1000), MENU, seed=2)
    search = SearchPlayer(table, Pipeline(), SearchSettings(gadget="unsafe"), threads=1)
    match = RootMatch(search, table, rivers=4, least=0.05, seed=1)
    root = some_root(table)
    gains = [match.gain(root, position) for position in range(2)]
    assert sum(gains) > 100.0  # chips a hand, where the pot is some hundreds
    assert search.report.fallbacks == 0


def test_roots_have_the_ranges_of_both_players_as_they_play():
    table = made_player(short_hunl(1000), MENU, seed=2, pipeline="threshold(0.3)")
    root = some_root(table)
    for player in range(2):
        followed = SearchPlayer(table, Pipeline(), SearchSettings()).ranges.follow(
            root.betting, root.board, player, root.number
        )
        assert np.array_equal(root.ranges[player], followed.ranges[player])
    assert not np.array_equal(*root.ranges)


def test_ends_of_ranges():
    """A showdown on the turn is the mean over rivers; what one player wins the other loses."""
    board = tuple(parse_cards("Ah7d2c9s"))
    rng = np.random.default_rng(1)
    ranges = (rng.random(NUM_PAIRS), rng.random(NUM_PAIRS))
    assert float(ranges[0] @ showdown_values(board, ranges[1])) == pytest.approx(
        -float(ranges[1] @ showdown_values(board, ranges[0]))
    )
    table = made_player(short_hunl(1000), MENU, seed=2)
    root = some_root(table)
    betting = root.betting.copy()
    betting.apply(betting_all_in(betting))
    folded = betting.copy()
    folded.apply(type(betting_all_in(root.betting))(0, 0))
    assert folded.finished
    assert end_value(folded, root.board, ranges) != 0.0


def betting_all_in(betting):
    from foldwise.game.betting import RAISE, Action

    return Action(RAISE, betting.raise_range()[1])
