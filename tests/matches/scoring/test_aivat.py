"""AIVAT: unbiased over every hand of small games, whatever the value function; and what it takes away."""

import math

import numpy as np
import pytest

from foldwise.abstraction.deals.joint_deals import EnumeratedViews
from foldwise.agent.following.tracker import make_seat
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.errors import FormatError
from foldwise.game.library import find_definition
from foldwise.matches.scoring.aivat import Aivat, RangeScorer
from foldwise.matches.scoring.aivat_values import Values, fit_values, frozen
from foldwise.postprocess.pipeline import Pipeline
from tests.oracles.naive_scoring import TINY_FLOP, TINY_NO_LIMIT, play_all
from tests.oracles.naive_solver import random_policy, small_game
from tests.support.made_strategies import made_player

MENUS = ("f c 1p | f c a | f c", "f c 0.7p | f c")


def lossless_player(name, seed):
    """A random strategy of a toy game that tells all hands apart."""
    definition, game = find_definition(name), small_game(name)
    policy = random_policy(game, seed, 0.2)
    seat = make_seat(game.tree, policy, definition, Pipeline(), seed)
    return StrategyPlayer(seat, definition, EnumeratedViews(definition, False))


def fitted(player):
    return fit_values(player.definition, player.seat, player.lookup, num_boards=4)


def made_up_values(player, seed):
    """Values without any sense: AIVAT must stay unbiased."""
    true = fitted(player)
    noise = np.random.default_rng(seed).normal(0.0, 5.0, true.values.shape).astype(np.float32)
    return frozen(Values(true.starts, true.num_buckets, noise))


def mean_and_sd(pairs):
    total = sum(probability for _, probability in pairs)
    mean = sum(value * probability for value, probability in pairs) / total
    return mean, math.sqrt(max(0.0, sum(p * (value - mean) ** 2 for value, p in pairs) / total))


def cases():
    return {
        "kuhn": (lossless_player("kuhn", 1), lossless_player("kuhn", 2)),
        "leduc": (lossless_player("leduc", 1), made_player(find_definition("leduc"), "f c * | f c", seed=2)),
        "tiny no-limit": (
            made_player(TINY_NO_LIMIT, MENUS[0], seed=1, pipeline="threshold(0.2) except first"),
            made_player(TINY_NO_LIMIT, MENUS[1], seed=2),
        ),
        "two hole cards and a flop": (
            made_player(TINY_FLOP, "f c a | f c", seed=1),
            made_player(TINY_FLOP, "f c a | f c", seed=2),
        ),
    }


@pytest.mark.parametrize("name", list(cases()))
@pytest.mark.parametrize("position", [0, 1])
def test_unbiased_over_every_hand(name, position):
    """Every deal, action and reading with its probability: the mean score is the mean of chips.

    Against an opponent nothing is known of and against a known one, with nonsense for values. Bets are translated in
    the no-limit game, in both directions.
    """
    known, opponent = cases()[name]
    definition = known.definition
    pipelines = ("threshold(0.2) except first" if name == "tiny no-limit" else "none", "none")
    players = (known, opponent) if position == 0 else (opponent, known)
    hands = list(play_all(definition, players, pipelines if position == 0 else pipelines[::-1]))
    mean, _ = mean_and_sd([(hand.values[position], p) for hand, p in hands])
    values = made_up_values(known, 3)
    # Leduc has thousands of hands: nothing known of the opponent in one position, all in the other.
    for other in (None, opponent) if name != "leduc" else ((None, opponent)[position],):
        scorer = RangeScorer(definition, known, values, other)
        scores = [(scorer.score(hand, position), p) for hand, p in hands]
        assert mean_and_sd(scores)[0] == pytest.approx(mean, abs=2e-6)
    assert mean_and_sd(scores)[1] > 0.0


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_known_strategies_in_toy_games_leave_no_luck(name):
    """Self-play with exact values: the standard deviation falls by far more than 99%, to rounding.

    Where the opponent plays the same but is not known, cards and our own draws are corrected still.
    """
    player = lossless_player(name, 5)
    hands = list(play_all(player.definition, (player, player)))[:: 5 if name == "leduc" else 1]
    values = fitted(player)
    _, raw = mean_and_sd([(hand.values[1], p) for hand, p in hands])
    both = Aivat(player.definition, player, values, player, values)
    _, left = mean_and_sd([(both.score(hand, 1), p) for hand, p in hands])
    assert left < 1e-5 * raw
    one = RangeScorer(player.definition, player, values)
    _, left = mean_and_sd([(one.score(hand, 1), p) for hand, p in hands])
    assert 1e-3 * raw < left < 0.6 * raw


def test_a_hand_the_strategy_never_plays_is_refused():
    known, opponent = (made_player(find_definition("kuhn"), menu, seed=9) for menu in ("f c", "f c *"))
    scorer = RangeScorer(known.definition, known, fitted(known))
    refused = []
    for hand, _ in play_all(known.definition, (opponent, opponent)):
        try:
            scorer.score(hand, 0)
        except FormatError as error:
            refused.append(str(error))
    assert refused
    assert all("never played" in text for text in refused)
