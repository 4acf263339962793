"""Expectation scoring against every hand played out, against exact values, and against matches."""

import numpy as np
import pytest

from foldwise.game.library import find_definition
from foldwise.matches.engine.compiled_match import play_values
from foldwise.matches.scoring.expectation import Expectation, match_boards
from foldwise.matches.statistics import estimate
from tests.oracles.naive_scoring import TINY_NO_LIMIT, play_all
from tests.support.made_strategies import made_player, short_hunl

SMALL_MENUS = ("f c 0.5p a | f c 1p | f c", "f c 0.75p | f c a | f c")


def small_pairs():
    kuhn, leduc = find_definition("kuhn"), find_definition("leduc")
    return {
        "kuhn": (kuhn, ("f c *", "f c *"), ("none", "none")),
        "leduc": (leduc, ("f c *", "f c * | f c"), ("none", "purify except flop")),
        "tiny no-limit": (TINY_NO_LIMIT, SMALL_MENUS, ("none", "threshold(0.2)")),
        "tiny no-limit, first exempt": (TINY_NO_LIMIT, SMALL_MENUS[::-1], ("new(0.3) except first", "none")),
    }


def small_players(name):
    definition, menus, pipelines = small_pairs()[name]
    players = tuple(
        made_player(definition, menu, seed=seed, pipeline=pipeline)
        for seed, (menu, pipeline) in enumerate(zip(menus, pipelines), start=3)
    )
    return definition, players, pipelines


@pytest.mark.parametrize("name", list(small_pairs()))
def test_value_is_that_of_every_hand_played_out(name):
    """Two betting trees, translation by chance both ways, post-processing: the mean over all hands, to rounding."""
    definition, players, pipelines = small_players(name)
    hands = list(play_all(definition, players, pipelines))
    assert sum(probability for _, probability in hands) == pytest.approx(1.0)
    first = sum(probability * hand.values[0] for hand, probability in hands)
    swapped = play_all(definition, players[::-1], pipelines[::-1])
    second = sum(probability * hand.values[1] for hand, probability in swapped)
    assert abs(first) > 1e-3
    assert Expectation(definition, players).exact() == pytest.approx((first, second), abs=1e-9)


def test_roulette_leaves_the_mean():
    """4,000 walks that drop most branches, within 4 standard errors; and they do drop some."""
    definition, players, _ = small_players("tiny no-limit")
    board = (2,)
    exact = Expectation(definition, players, 0.0).board_values(board)
    sampled = Expectation(definition, players, 0.5, seed=7)
    values = np.array([sampled.board_values(board, number) for number in range(4000)])
    error = values.std(axis=0) / np.sqrt(len(values))
    assert (error > 0).all()
    assert np.abs(values.mean(axis=0) - exact) == pytest.approx(0.0, abs=4 * error.max())


@pytest.fixture(scope="module")
def short_players():
    definition = short_hunl(600)
    menus = ("f c 1p a | f c a | f c", "f c 0.6p a | f c a | f c")
    return definition, tuple(made_player(definition, menu, seed=seed) for seed, menu in enumerate(menus))


def test_agrees_with_played_hands(short_players):
    """Hold'em in vector form: in each position the mean of 15,000 hands, within 4 standard errors."""
    definition, players = short_players
    played = play_values(definition, players, 1, 30_000, 2)[:, 0]
    scored = Expectation(definition, players).values(match_boards(definition, 3, 16), 2)
    for position in range(2):
        chips = estimate(played[position::2].astype(np.float64), definition.big_blind)
        found = estimate(scored[:, position], definition.big_blind)
        assert found.sd_mbb < chips.sd_mbb / 5
        error = np.hypot(chips.sd_mbb / np.sqrt(chips.count), found.sd_mbb / np.sqrt(found.count))
        assert abs(found.mean_mbb - chips.mean_mbb) < 4 * error
        assert abs(-found.mean_mbb - chips.mean_mbb) > 4 * error


def test_threads_and_blocks_change_nothing(short_players):
    definition, players = short_players
    boards = match_boards(definition, 5, 4)
    scoring = Expectation(definition, players, 5.0)
    whole = scoring.values(boards, 1)
    assert np.array_equal(whole, scoring.values(boards, 2))
    assert np.array_equal(whole[2:], scoring.values(boards[2:], 2, first_number=2))
