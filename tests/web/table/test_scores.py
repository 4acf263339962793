"""Scores of sessions: a strategy's values are computed beside everything else, and hands are corrected little by little."""

import asyncio
import threading

import pytest

from foldwise.game.betting import CALL_ACTION
from foldwise.game.errors import FormatError
from foldwise.web.table import scores as scores_module
from foldwise.web.table.opponents import Opponent, Opponents
from foldwise.web.table.scores import SessionScores, StrategyValues
from foldwise.web.table.sessions import Sessions
from foldwise.web.table.solving import SolveQueue


@pytest.fixture
def opponents(strategies):
    return Opponents([strategies])


async def test_values_are_computed_once_for_all_who_wait(opponents, monkeypatch):
    held, made = threading.Event(), []

    def make(opened):
        made.append(opened)
        held.wait()
        return "values"

    monkeypatch.setattr(scores_module, "load_values", lambda strategy: None)
    monkeypatch.setattr(scores_module, "_made", make)
    values = StrategyValues(opponents)
    assert not values.is_ready("one")
    waiting = [asyncio.create_task(values.prepare("one")) for _ in range(20)]
    await asyncio.sleep(0)
    waiting[0].cancel()  # one who leaves does not stop it
    held.set()
    await asyncio.gather(*waiting[1:])
    assert values.is_ready("one")
    assert len(made) == 1
    assert values.get("one") == "values"


async def test_values_that_cannot_be_made_are_tried_again(opponents, monkeypatch):
    tries = []

    def load(strategy):
        tries.append(strategy)
        raise FormatError("of an earlier solution")

    monkeypatch.setattr(scores_module, "load_values", load)
    values = StrategyValues(opponents)
    for _ in range(2):
        with pytest.raises(FormatError, match="earlier solution"):
            await values.prepare("one")
    assert len(tries) == 2


async def test_hands_are_corrected_little_by_little(opponents, tmp_path, monkeypatch):
    """With no time to spend a call corrects one hand; the parts add up to what one call would have said."""
    rooms = Sessions(tmp_path, opponents, SolveQueue())
    place = rooms.create("page", "Ann", Opponent(name="one"))
    while place.session.totals.hands < 5:
        place.session.apply(CALL_ACTION) if place.session.in_play else place.session.start_hand()
        await rooms.let_bot_act(place)
    values = StrategyValues(opponents)
    await values.prepare("one")
    monkeypatch.setattr(scores_module, "_STEP_SECONDS", float("inf"))
    whole = SessionScores(opponents, values)
    whole.correct(place.session)
    monkeypatch.setattr(scores_module, "_STEP_SECONDS", -1.0)
    parts = SessionScores(opponents, values)
    left = []
    for _ in range(5):
        left.append(parts.curves(place.session)["to_correct"])
        parts.correct(place.session)
    assert left == [5, 4, 3, 2, 1]
    assert parts.curves(place.session) == whole.curves(place.session)
    assert parts.curves(place.session)["methods"]["aivat"]["hands"] == 5
