"""A searching player at a real table: odd bets and all-ins, over sockets and in memory the same hands."""

from dataclasses import replace

import pytest

from foldwise.agent.bots import Bot
from foldwise.matches.engine.compiled_match import MemoryMatch, play_in_memory
from foldwise.matches.table.log import state_lines
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.modes import MODES, Budget
from foldwise.search.player import SearchPlayer
from foldwise.search.settings import SearchSettings
from tests.support.made_strategies import made_player, short_hunl
from tests.support.table import Table, make_settings

NUM_HANDS = 14


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch):
    monkeypatch.setitem(MODES, "fast", replace(MODES["fast"], turn=Budget(0.0, 1, 1), river=Budget(0.0, 3, 3)))


def seated():
    definition = short_hunl(1500)
    search = SearchPlayer(made_player(definition, "f c 1p a | f c a | f c", seed=3), Pipeline(), SearchSettings())
    return definition, (search, Bot("random", 5))


async def test_sockets_and_memory_play_the_same_hands(tmp_path):
    """Against a bettor of any size; nothing illegal, late or missing."""
    definition, players = seated()
    table = Table(make_settings(definition.to_text(), NUM_HANDS, 9), tmp_path)
    reports = await table.seat(definition, *players)
    outcome = await table.finish()
    assert outcome.completed
    assert not outcome.complaints()
    assert [report.faults for report in reports] == [0, 0]
    assert players[0].report.solves > 0
    assert players[0].report.fallbacks == 0
    _, again = seated()
    play_in_memory(MemoryMatch("m", "game", definition, NUM_HANDS, 9, ("Alice", "Bob")), again, tmp_path / "memory.log")
    assert outcome.log_lines("STATE") == list(state_lines(tmp_path / "memory.log"))
