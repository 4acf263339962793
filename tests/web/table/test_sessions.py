"""Sessions without a network: other games, seeds, few in memory, damaged folders, opponents that search."""

import asyncio
import json
import threading

import pytest

from foldwise.game.betting import CALL_ACTION
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.hands.dealing import Shoe
from foldwise.game.library import find_definition
from foldwise.matches.report.hand_files import log_definition
from foldwise.matches.table.log import read_log
from foldwise.postprocess.language import PipelineError
from foldwise.web.table import hand_journal
from foldwise.web.table import sessions as sessions_module
from foldwise.web.table.opponents import Opponent, Opponents
from foldwise.web.table.session import clean_name
from foldwise.web.table.sessions import Sessions, UnknownSessionError
from foldwise.web.table.solving import SolveQueue
from foldwise.web.table.table_view import table_view


@pytest.fixture
def rooms(tmp_path, strategies):
    """Sessions against made-up strategies of Leduc: one card each, a limit game."""
    queue = SolveQueue()
    yield Sessions(tmp_path / "sessions", Opponents([strategies]), queue)


async def play(rooms, place, hands):
    session = place.session
    while session.totals.hands < hands:
        if session.in_play:
            session.apply(CALL_ACTION)
        else:
            session.start_hand()
        await rooms.let_bot_act(place)


async def test_any_two_player_game_is_played(rooms):
    place = rooms.create("page", "Ann", Opponent(name="one"))
    await play(rooms, place, 12)
    session = place.session
    leduc = find_definition("leduc")
    assert log_definition(session.log_path) == leduc
    hands = list(read_log(session.log_path, leduc))
    assert len(hands) == 12
    assert sum(hand.values[hand.number % 2] for hand in hands) == session.totals.chips
    view = table_view(session)
    assert (view["limit"], view["board_size"], len(view["hand"]["cards"])) == (True, 1, 1)


async def test_a_seed_is_the_dealers(rooms):
    """The cards of a seed are those of the reference dealer's match, hand after hand, also after a restart."""
    place = rooms.create("page", "Ann", Opponent(name="two"), seed=5)
    await play(rooms, place, 3)
    rooms._places.clear()
    again = rooms.find(place.token)
    assert again.session is not place.session
    await play(rooms, again, 6)
    hands = list(read_log(again.session.log_path, again.session.definition))
    for hand, deal in zip(hands, Shoe(again.session.definition, 5).deals()):
        assert hand.hole_cards == deal.hole_cards
    assert [hand.number for hand in hands] == list(range(6))
    assert again.session.log_path.read_text().splitlines()[0].endswith(" 5")


async def test_few_are_kept_in_memory(rooms, monkeypatch):
    monkeypatch.setattr(sessions_module, "_MOST_IN_MEMORY", 3)
    places = [rooms.create("page", f"p{n}", Opponent(name="bot:call")) for n in range(8)]
    for place in places:
        await play(rooms, rooms.find(place.token), 2)
    assert len(rooms._places) <= 3
    for place in places:
        assert rooms.find(place.token).session.totals.hands == 2


async def test_damaged_folders_are_said_so(rooms):
    place = rooms.create("page", "Ann", Opponent(name="one"))
    await play(rooms, place, 1)
    rooms._places.clear()
    settings = place.session.folder / "session.json"
    whole = settings.read_text()
    settings.write_text(whole[:30])
    with pytest.raises(FormatError, match="cannot be read"):
        rooms.find(place.token)
    settings.write_text(whole)
    (place.session.folder / "hand.journal").write_text("{}\n")
    with pytest.raises(FormatError, match="expected a hand of ours"):
        rooms.find(place.token)
    with pytest.raises(UnknownSessionError):
        rooms.find("nobody")


def test_only_what_is_there_can_be_chosen(rooms, tmp_path):
    for name in ("../one", "three", "/etc", "bot:nobody"):
        with pytest.raises(DefinitionError):
            rooms.create("page", "Ann", Opponent(name=name))
    with pytest.raises(PipelineError):
        rooms.create("page", "Ann", Opponent(name="one", postprocess="cmd:ls"))
    assert not list((tmp_path / "sessions").iterdir())
    names = [offer.name for offer in rooms.opponents.offers()]
    assert names[:2] == ["one", "two"]
    assert "bot:strength" in names


@pytest.mark.parametrize(
    "given, kept",
    [
        ("Ann", "Ann"),
        (" a|b:c/d ", "a.b.c.d"),
        ("x\ny\x00", "xy"),
        ("", "player"),
        ("日本", "??"),
        ("n" * 99, "n" * 40),
    ],
)
def test_names_fit_into_a_log(given, kept):
    assert clean_name(given) == kept


async def test_private_files_are_private(rooms):
    place = rooms.create("door", "Ann", Opponent(name="one"))
    await play(rooms, place, 1)
    for name in ("session.json", "hand.journal"):
        assert (place.session.folder / name).stat().st_mode & 0o077 == 0
    assert place.token not in place.session.folder.name
    assert place.token not in "".join(path.read_text() for path in place.session.folder.iterdir())
    assert json.loads((place.session.folder / "session.json").read_text())["seed"] is None


@pytest.mark.parametrize("when", ["before the log", "after the log", "half a line"])
async def test_a_server_that_died_at_the_end_of_a_hand(rooms, when):
    """The hand is over in the journal; its line is in the log, not yet in it, or half in it."""
    place = rooms.create("door", "Ann", Opponent(name="one"))
    await play(rooms, place, 2)
    before = place.session.totals
    log = place.session.log_path
    whole = log.read_text()
    lines = whole.splitlines(keepends=True)
    if when == "before the log":
        log.write_text("".join(lines[:-1]))
    elif when == "half a line":
        log.write_text("".join(lines[:-1]) + lines[-1][:12])
    rooms._places.clear()
    again = rooms.find(place.token)
    assert again.session.totals == before
    assert log.read_text() == whole
    await play(rooms, again, 3)
    assert log.read_text().startswith(whole)
    assert [hand.number for hand in read_log(log, again.session.definition)] == [0, 1, 2]


async def test_a_journal_stays_short_and_half_a_line_is_passed_over(rooms, monkeypatch):
    monkeypatch.setattr(hand_journal, "_MOST_BYTES", 400)
    place = rooms.create("door", "Ann", Opponent(name="one"))
    path = place.session.folder / "hand.journal"
    for hands in range(1, 30):
        await play(rooms, place, hands)
        assert path.stat().st_size < 800
    session = place.session
    session.start_hand()
    await rooms.let_bot_act(place)
    with path.open("a") as file:
        file.write("rr")  # what a machine that lost its power may leave
    rooms._places.clear()
    again = rooms.find(place.token).session
    assert again.hand.deal == session.hand.deal
    assert again.hand.betting == session.hand.betting
    assert again.totals == session.totals


@pytest.fixture
def searching(tmp_path, holdem_strategy):
    """Sessions of no-limit hold'em, and the queue of their solves."""
    queue = SolveQueue()
    yield Sessions(tmp_path / "sessions", Opponents([holdem_strategy]), queue), queue


FAST = Opponent(name="rough", search="fast")


def solutions(place):
    return len(place.session.bot._kept)


async def play_to_the_river(rooms, place):
    """Hands by checks and calls until one is on the river, and the bot has searched."""
    session = place.session
    while not (session.in_play and session.hand.betting.round == 3 and solutions(place)):
        if session.in_play:
            session.apply(CALL_ACTION)
        else:
            session.start_hand()
        await rooms.let_bot_act(place)


async def test_a_searching_opponent_answers_at_once_where_it_does_not_search(searching):
    """Somebody's solve never ends; before the flop the bot plays all the same."""
    rooms, queue = searching
    held = threading.Event()
    solve = asyncio.create_task(queue.run("somebody", held.wait))
    await asyncio.sleep(0)
    for _ in range(5):
        place = rooms.create("door", "Ann", FAST)
        place.session.start_hand()
        assert place.session.bot_to_act()  # it has the button
        await rooms.let_bot_act(place)
        assert not place.session.bot_to_act()
    held.set()
    assert await solve


async def test_solutions_are_freed_at_the_end_of_a_hand(searching):
    rooms, _ = searching
    place = rooms.create("door", "Ann", FAST)
    await play_to_the_river(rooms, place)
    assert solutions(place) > 0
    while place.session.in_play:
        place.session.apply(CALL_ACTION)
        await rooms.let_bot_act(place)
    assert solutions(place) == 0


async def test_few_sessions_keep_their_solutions(searching, monkeypatch):
    """The one that searched longest ago loses them, and plays on as it would have."""
    monkeypatch.setattr(sessions_module, "_MOST_SOLUTIONS", 1)
    rooms, _ = searching
    first, second = (rooms.create("door", name, FAST, seed=4) for name in ("Ann", "Bob"))
    await play_to_the_river(rooms, first)
    await play_to_the_river(rooms, second)
    assert (solutions(first), solutions(second) > 0) == (0, True)
    assert first.session.hand.betting == second.session.hand.betting
    for place in (first, second):
        while place.session.in_play:
            place.session.apply(CALL_ACTION)
            await rooms.let_bot_act(place)
    assert first.session.finished.line == second.session.finished.line.replace("Bob", "Ann")
