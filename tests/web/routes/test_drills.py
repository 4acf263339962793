"""Drills: every kind asked for is the kind found, also in games of few streets."""

import random
from typing import get_args

import pytest

from foldwise.agent.strategy_player import OpenStrategy
from foldwise.game.errors import DefinitionError
from foldwise.postprocess.pipeline import Pipeline
from foldwise.web.routes.drills import BIG_POT_BB, Situation, Street, find_spot, situation_of
from foldwise.web.routes.train import Tally


@pytest.fixture(scope="module")
def player(holdem_strategy):
    return OpenStrategy(holdem_strategy).player(Pipeline(), 0)


@pytest.mark.parametrize("situation", get_args(Situation))
@pytest.mark.parametrize("number, street", list(enumerate(get_args(Street)[1:])))
def test_a_spot_is_of_the_kind_asked_for(player, number, street, situation):
    """What was done before on the street says what the situation is, read here from the betting's text."""
    chance = random.Random(number)
    for _ in range(5):
        spot = find_spot(player, street, situation, chance)
        assert spot is not None
        state = spot.state
        texts = state.betting.betting_text().split("/")
        assert len(texts) == number + 1
        before = texts[-1]
        seen = {"first": not before, "checked": before == "c", "bet": before.count("r") == 1}
        seen |= {"raise": before.count("r") > 1, "big-pot": sum(state.betting.spent) >= 100 * BIG_POT_BB, "any": True}
        assert seen[situation]
        assert seen[situation_of(state.betting)]
        assert state.position == state.betting.player_to_act
        assert len(spot.actions) > 1
        assert ("f" in spot.actions) == state.betting.can_fold()


def test_any_street_is_every_street_alike(player):
    """60 of 240 each, as streets are drawn first: 30 is 4.5 standard deviations less. Drawn for each hand, no river came."""
    chance = random.Random(3)
    rounds = [find_spot(player, "any", "any", chance).state.betting.round for _ in range(240)]
    assert all(rounds.count(street) > 30 for street in range(4))


def test_kinds_that_a_game_does_not_have(strategies):
    leduc = OpenStrategy(strategies / "one").player(Pipeline(), 0)
    with pytest.raises(DefinitionError, match="no river"):
        find_spot(leduc, "river", "any")
    assert find_spot(leduc, "flop", "raise", random.Random(1)) is not None
    assert find_spot(leduc, "preflop", "big-pot", random.Random(1)) is None  # at most 10 antes


def test_a_tally_by_kind():
    tally = Tally().after("flop", "bet", 0.05).after("turn", "first", 2.0).after("flop", "bet", 0.45)
    assert (tally.drills, tally.best, tally.streak, tally.longest_streak) == (3, 1, 0, 1)
    flop, turn = tally.kinds
    assert (flop.street, flop.situation, flop.drills, flop.given_up_bb) == ("flop", "bet", 2, pytest.approx(0.5))
    assert (turn.street, turn.situation, turn.drills) == ("turn", "first", 1)
    assert tally.given_up_bb == pytest.approx(sum(kind.given_up_bb for kind in tally.kinds))
    assert Tally.model_validate_json('{"drills": 3, "given_up_bb": 1.5}').kinds == []  # a score of an older version
