"""A searching player at a real table: odd bets and all-ins, over sockets and in memory the same hands."""

import socket
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from foldwise.agent.bots import Bot
from foldwise.agent.clients.client import Client
from foldwise.game.text.match_state import parse_match_state
from foldwise.matches.engine.compiled_match import MemoryMatch, play_in_memory
from foldwise.matches.table.log import state_lines
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.modes import MODES, Budget
from foldwise.search.player import SearchPlayer
from foldwise.search.settings import SearchSettings
from tests.support.made_strategies import made_player, short_hunl
from tests.support.table import Table, make_settings

NUM_HANDS = 14
FEW = {"flop": Budget(0.0, 2, 2), "turn": Budget(0.0, 1, 1), "river": Budget(0.0, 3, 3)}


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch):
    monkeypatch.setitem(MODES, "fast", replace(MODES["fast"], **FEW))


def seated(**searched):
    definition, settings = short_hunl(1500), SearchSettings(**searched)
    search = SearchPlayer(made_player(definition, "f c 1p a | f c a | f c", seed=3), Pipeline(), settings)
    return definition, (search, Bot("random", 5))


@pytest.mark.parametrize(
    "betting, board, searched",
    [("cc/", "Ts8c3d", {"flop": "fast"}), ("cc/cc/", "Ts8c3d/6h", {}), ("cc/cc/cc/", "Ts8c3d/6h/2s", {"turn": "off"})],
)
def test_a_street_is_solved_while_the_opponent_thinks_and_not_again_when_asked(betting, board, searched):
    """At a socket: his check comes only after the state that asked him was watched, and the answer is that of a seat that
    was asked at once."""
    definition, (searching, _) = seated(**searched)
    watched, observe = threading.Event(), searching.observe

    def observe_and_tell(state):
        observe(state)
        watched.set()

    searching.observe = observe_and_tell
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    ours_over_tcp = SimpleNamespace(
        setsockopt=lambda *_: None, settimeout=ours.settimeout, makefile=ours.makefile, sendall=ours.sendall
    )
    playing = threading.Thread(target=Client(ours_over_tcp, searching, definition, 600.0).run, daemon=True)
    playing.start()
    with ours, theirs, theirs.makefile("rb") as answers:
        answers.readline()
        theirs.sendall(f"MATCHSTATE:1:3:{betting}:|QhQs/{board}\r\n".encode())
        assert watched.wait(600)
        report = searching.report
        assert (report.pondered, report.solves) == (1, 1)
        asked = f"MATCHSTATE:1:3:{betting}c:|QhQs/{board}"
        theirs.sendall(f"{asked}\r\n".encode())
        answer = answers.readline().decode().strip()
        assert (report.pondered, report.solves, report.fallbacks) == (1, 1, 0)
        theirs.shutdown(socket.SHUT_WR)
        playing.join(600)
    at_once = seated(**searched)[1][0].choose(parse_match_state(asked, definition))
    assert answer == f"{asked}:{at_once.text(limit=False)}"


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
