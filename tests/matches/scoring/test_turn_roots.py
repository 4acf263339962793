"""Turn roots: two tables' value is the exact one over their trees, and a fresh solve of a bad table wins a lot."""

from dataclasses import replace

import numpy as np
import pytest

from foldwise.agent.following.tracker import make_seat
from foldwise.agent.mappings.translation import DEFAULT_TRANSLATION
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.cards import parse_cards
from foldwise.game.hands.hole_cards import NUM_PAIRS
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.matches.scoring.range_ends import end_value, showdown_on, showdown_values
from foldwise.matches.scoring.turn_roots import RootMatch, street_roots
from foldwise.postprocess.language import parse_pipeline
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.blueprint_values import BlueprintValues
from foldwise.search.modes import MODES, Budget
from foldwise.search.player import SearchPlayer, shared_workspace
from foldwise.search.ranges import TableRanges
from foldwise.search.settings import SearchSettings
from tests.support.made_strategies import NUM_BUCKETS, made_player, short_hunl

MENU = "f c 1p | f c"


@pytest.fixture
def quick(monkeypatch):
    """A mode of a few iterations."""
    mode = replace(MODES["fast"], turn=Budget(0.0, 4, 4), river=Budget(0.0, 20, 20))
    monkeypatch.setitem(MODES, "fast", mode)


def some_root(table, other=None):
    roots = street_roots((table, other or table), 3, 50)
    return next(root for root in roots if max(root.betting.spent) < 400)


def seats_of(first, second):
    """A table that plays the rows of one strategy in position 0 and of another, of the same tree, in position 1."""
    tree, rows = first.seat.tree, first.seat.words.copy()
    for node in np.flatnonzero((tree.nodes["kind"] == DECISION) & (tree.nodes["player"] == 1)):
        start = int(tree.nodes[node]["base"])
        end = start + NUM_BUCKETS * int(tree.nodes[node]["num_children"])
        rows[start:end] = second.seat.words[start:end]
    seat = make_seat(tree, rows, first.definition, parse_pipeline("none"), 1, DEFAULT_TRANSLATION)
    return StrategyPlayer(seat, first.definition, first.lookup)


@pytest.mark.parametrize("seeds", [(2, 2), (2, 5)])
def test_two_tables_win_what_the_exact_walk_says(seeds):
    """The rows expanded action by action, over all rivers, against the exact walk over the abstract tree."""
    first, second = (made_player(short_hunl(1000), MENU, seed=seed) for seed in seeds)
    root = some_root(first, second)
    rows = (TableRanges(first), TableRanges(second))
    both = TableRanges(seats_of(first, second))
    exact = BlueprintValues(both, shared_workspace(), 1)
    node = both.follow(root.betting, root.board, 0, root.number).node
    won = float(root.ranges[0] @ exact.response(node, root.board, 0, root.ranges[1], best=False))
    mass = float(root.ranges[0] @ showdown_on(root.board).fold(root.ranges[1]))
    match = RootMatch(rows, rows, rivers=48, least=0.0)
    assert match.value(root, rows) == pytest.approx(won / mass, abs=1e-3)
    assert abs(won / mass) > 1.0  # so that a lost sign would show


def test_without_search_nothing_is_won():
    table = made_player(short_hunl(1000), MENU, seed=2)
    idle = SearchPlayer(table, Pipeline(), SearchSettings(turn="off", river="off"))
    rows = TableRanges(table)
    assert RootMatch((idle, rows), (rows, rows)).gain(some_root(table)) == 0.0


def test_search_wins_from_random_rows(quick):
    table = made_player(short_hunl(1000), MENU, seed=2)
    search = SearchPlayer(table, Pipeline(), SearchSettings(gadget="unsafe"), threads=1)
    search.measure()
    rows = TableRanges(table)
    root = some_root(table)
    first = RootMatch((search, rows), (rows, rows), rivers=4, least=0.05, seed=1).gain(root)
    second = RootMatch((rows, search), (rows, rows), rivers=4, least=0.05, seed=1).gain(root)
    assert first - second > 100.0  # chips a hand, where the pot is some hundreds
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
