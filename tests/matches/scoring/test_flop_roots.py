"""What a searched flop is worth, measured on flop roots."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from foldwise.matches.scoring.flop_roots import flop_gain
from foldwise.matches.scoring.turn_roots import street_roots
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.flop.flop_game import FlopGame
from foldwise.search.modes import MODES, Budget
from foldwise.search.player import SearchPlayer
from foldwise.search.settings import SearchSettings
from tests.support.made_strategies import made_player, short_hunl

MENU = "f c 1p a | f c a | f c"


@pytest.fixture
def search(monkeypatch):
    monkeypatch.setitem(MODES, "fast", replace(MODES["fast"], flop=Budget(0.0, 60, 60)))
    table = made_player(short_hunl(1500), MENU)
    return SearchPlayer(table, Pipeline(), SearchSettings(flop="fast", gadget="unsafe"), threads=1)


def first_root(search):
    return next(street_roots((search.table, search.table), 4, 50, street=1))


def test_the_tables_own_rows_gain_nothing(search, monkeypatch):
    root = first_root(search)
    game = search.solution
    monkeypatch.setattr(search, "solution", lambda state: SimpleNamespace(subgame=as_blueprint(game(state).subgame)))
    found = flop_gain(search, root, root.betting.player_to_act, blocks=1)
    assert found.gain == pytest.approx(0.0, abs=1e-2)
    assert found.response_after == pytest.approx(found.response_before, rel=1e-4)


def as_blueprint(game: FlopGame) -> FlopGame:
    game.play_blueprint()
    return game


def test_a_solution_wins_from_random_rows_and_gives_a_best_response_less(search):
    root = first_root(search)
    found = flop_gain(search, root, root.betting.player_to_act, blocks=1)
    assert found.gain > 0.0
    assert found.response_after < found.response_before
