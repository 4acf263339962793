"""The client plays every game without a fault, and answers on time whatever its player does."""

import math
import select
import socket
import threading
import time
from types import SimpleNamespace

import numba
import pytest

from foldwise.abstraction.cards.card_abstraction_kernels import bucket_of
from foldwise.agent.bots import BOT_CODES, Bot
from foldwise.agent.clients.client import MAX_LINE, VERSION_LINE, Client, play_match
from foldwise.agent.following import decision_kernels
from foldwise.agent.player import check_player, make_player
from foldwise.game.betting import CALL_ACTION, RAISE, Action
from foldwise.game.definition import parse_definition
from foldwise.game.errors import DefinitionError, ProtocolError
from foldwise.game.library import PokerGame, find_game
from foldwise.game.text.match_state import parse_match_state
from tests.support.table import THREE_PLAYER_LIMIT, Table, make_settings

GAME = find_game("hunl")
assert isinstance(GAME, PokerGame)
HUNL = GAME.definition


class Scripted:
    """A player made of a function."""

    def __init__(self, choose):
        self.choose = choose


def _run(
    player,
    dealer_bytes,
    deadline_seconds=300.0,
    definition=HUNL,
    before_close=lambda answers: None,
    seconds_a_hand=math.inf,
):
    """Feed a client bytes, then end the stream; its report and its answers."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    answers = bytearray()

    def collect():
        while data := theirs.recv(1 << 16):
            answers.extend(data)

    class Pair(socket.socket):
        def setsockopt(self, *arguments):
            pass

    client = Client(Pair(fileno=ours.detach()), player, definition, deadline_seconds, seconds_a_hand)
    collecting = threading.Thread(target=collect, daemon=True)
    collecting.start()
    reports = []
    playing = threading.Thread(target=lambda: reports.append(client.run()), daemon=True)
    playing.start()
    theirs.sendall(dealer_bytes)
    before_close(answers)
    theirs.shutdown(socket.SHUT_WR)
    playing.join(300)
    assert reports, "the client did not end with the stream"
    client._socket.close()
    collecting.join(300)
    theirs.close()
    lines = bytes(answers).splitlines(keepends=True)
    assert lines[0] == VERSION_LINE
    return reports[0], [line.decode() for line in lines[1:]]


def _wait_for(condition):
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)  # polling a condition, with a deadline


FIRST = b"MATCHSTATE:1:0::|2hAc\r\n"
CHECKED = b"MATCHSTATE:1:0:cc/c:|2hAc/5sKs7s\r\n"


def test_answers_its_turns_and_nothing_else():
    stream = (
        b"# hello\r\n;gui\r\n"
        + FIRST
        + b"MATCHSTATE:1:0:c:|2hAc\r\n"
        + CHECKED
        + b"MATCHSTATE:1:0:cc/cr200:|2hAc/5sKs7s\r\n"
    )
    report, answers = _run(Bot("call"), stream)
    assert answers == ["MATCHSTATE:1:0::|2hAc:c\r\n", "MATCHSTATE:1:0:cc/c:|2hAc/5sKs7s:c\r\n"]
    assert (report.states, report.decisions, report.faults, report.hands) == (4, 2, 0, {0})


def test_lines_in_pieces_and_without_return():
    ours = b"".join(bytes([byte]) for byte in FIRST.replace(b"\r", b""))
    assert _run(Bot("call"), ours)[1] == ["MATCHSTATE:1:0::|2hAc:c\r\n"]


@pytest.mark.parametrize(
    "choose",
    [lambda state: 1 // 0, lambda state: Action(RAISE, 150), lambda state: None, lambda state: Action(RAISE, 10**12)],
)
def test_failing_player_checks_or_folds_and_is_counted(choose, caplog):
    report, answers = _run(Scripted(choose), FIRST + CHECKED)
    assert [answer[-3] for answer in answers] == ["f", "c"]
    assert (report.errors, report.faults) == (2, 2)
    assert "MATCHSTATE:1:0::|2hAc" in caplog.text


def test_late_player_is_answered_for_in_time(caplog):
    """The player thinks until it is released: its first state is answered by the guard, later ones at once."""
    released = threading.Event()

    def choose(state):
        if state.hand_number == 0:
            released.wait(300)
        return CALL_ACTION

    def before_close(answers):
        _wait_for(lambda: answers.count(b"\n") == 3)  # version, guard's answer, and one while the player is busy
        released.set()

    report, answers = _run(Scripted(choose), FIRST + CHECKED, 0.05, before_close=before_close)
    assert [answer[-3] for answer in answers] == ["f", "c"]
    assert (report.late, report.errors) == (2, 0)
    assert "over its 0.05 s" in caplog.text


def test_player_that_comes_back_plays_on():
    release, returned = threading.Event(), threading.Event()

    class Slow:
        def choose(self, state):
            if state.hand_number == 0:
                release.wait(300)
                returned.set()
            return CALL_ACTION

    ours, theirs = socket.socketpair(socket.AF_UNIX)

    class Pair(socket.socket):
        def setsockopt(self, *arguments):
            pass

    client = Client(Pair(fileno=ours.detach()), Slow(), HUNL, 0.05)
    playing = threading.Thread(target=client.run, daemon=True)
    playing.start()
    answers = theirs.makefile("rb")
    assert answers.readline() == VERSION_LINE
    theirs.sendall(FIRST)
    assert answers.readline().endswith(b":f\r\n")
    release.set()
    returned.wait(300)
    _wait_for(lambda: not client._player_busy)
    client._deadline_seconds = 300.0  # from here on only the player answers, however slow the machine
    theirs.sendall(b"MATCHSTATE:1:2::|2hAc\r\n")
    assert answers.readline() == b"MATCHSTATE:1:2::|2hAc:c\r\n"
    theirs.shutdown(socket.SHUT_WR)
    playing.join(300)
    assert (client.report.late, client.report.decisions) == (1, 2)
    theirs.close()


def test_time_spent_watching_is_taken_from_the_decision_that_waited(monkeypatch):
    clock = SimpleNamespace(now=100.0, monotonic=lambda: clock.now)
    monkeypatch.setattr("foldwise.agent.clients.client.time", clock)

    class Watching:
        def __init__(self):
            self.limits = []

        def limit_time(self, seconds):
            self.limit = seconds

        def observe(self, state):
            clock.now += 0.0 if state.is_turn() else 30.0

        def choose(self, state):
            self.limits.append(self.limit)
            clock.now += 7.0
            return CALL_ACTION

    player = Watching()
    watched = b"MATCHSTATE:1:0:cc/:|2hAc/5sKs7s\r\n"
    _run(player, FIRST + watched + CHECKED, 100.0)
    assert player.limits == [80.0, pytest.approx(0.8 * 70.0)]  # the third line was there while the second was watched


def test_the_account_over_the_match_limits_a_decision(monkeypatch):
    """10 s a hand: 30 s spent in the first leave none in the second, and what was lent is paid back by later hands."""
    clock = SimpleNamespace(now=100.0, monotonic=lambda: clock.now)
    monkeypatch.setattr("foldwise.agent.clients.client.time", clock)

    class Thinking:
        def __init__(self):
            self.limits = []

        def limit_time(self, seconds):
            self.limit = seconds

        def observe(self, state):
            pass

        def choose(self, state):
            self.limits.append(self.limit)
            clock.now += 30.0 if len(self.limits) == 1 else 0.0
            return CALL_ACTION

    player = Thinking()
    lines = b"".join(b"MATCHSTATE:1:%d::|2hAc\r\n" % hand for hand in range(5))
    _run(player, lines, 100.0, seconds_a_hand=10.0)
    assert player.limits == pytest.approx([8.0, -8.0, 0.0, 8.0, 16.0])


def test_stuck_player_does_not_keep_the_client_alive():
    stuck = threading.Event()
    report, answers = _run(Scripted(lambda state: stuck.wait(300)), FIRST + CHECKED, 0.02)
    assert report.late >= 1
    stuck.set()
    assert answers[0].endswith(":f\r\n")


def test_unreadable_lines_are_counted_and_not_answered():
    stream = (
        b"hello\r\nMATCHSTATE:1:0::\r\nMATCHSTATE:1:0:r:|2hAc\r\n"
        + b"x" * (2 * MAX_LINE)
        + b"\r\n\xff\xfe\r\n"
        + FIRST
        + b"MATCHSTATE:1"
    )
    report, answers = _run(Bot("call"), stream)
    assert answers == ["MATCHSTATE:1:0::|2hAc:c\r\n"]
    assert report.unreadable == 5


def test_everything_slow_is_done_before_connecting(holdem_strategy):
    """So that the first answer comes at once: all that a choice needs is loaded, and only then the dealer is called."""
    player = make_player(f"strategy:{holdem_strategy}", 0)
    load, choose = player.warm_up, player.choose
    called, loaded = [], []
    with socket.create_server(("127.0.0.1", 0)) as dealer:

        def warm_up():
            load()
            called.extend(select.select([dealer], [], [], 0)[0])
            loaded.append(_loaded_kernels())

        def choose_and_look(state):
            action = choose(state)
            loaded.append(_loaded_kernels())
            return action

        player.warm_up, player.choose = warm_up, choose_and_look
        port = dealer.getsockname()[1]
        playing = threading.Thread(target=play_match, args=(player, player.definition, "127.0.0.1", port, 300.0))
        playing.start()
        seat, _ = dealer.accept()
        with seat, seat.makefile("rb") as stream:
            assert stream.readline() == VERSION_LINE
            seat.sendall(b"MATCHSTATE:1:0::|AsKs\r\n")
            assert stream.readline().startswith(b"MATCHSTATE:1:0::|AsKs:")
        playing.join()
    assert not called
    assert len(loaded) == 2 and loaded[0] == loaded[1]
    assert numba.config.DISABLE_JIT or min(loaded[0]) >= 1


def _loaded_kernels() -> list[int]:
    """How many versions of the kernels behind a choice are loaded."""
    return [len(getattr(kernel, "signatures", ())) for kernel in (decision_kernels.answer, bucket_of)]


def test_no_dealer_is_a_protocol_error():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ProtocolError, match="no dealer at"):
        play_match(Bot("call"), HUNL, "127.0.0.1", port)


@pytest.mark.parametrize("game", ["hunl", "limit", "leduc", "kuhn", "three"])
async def test_every_bot_plays_every_game_without_a_fault(game, tmp_path):
    text = THREE_PLAYER_LIMIT if game == "three" else find_game(game).definition.to_text()
    definition = parse_definition(text, game)
    for number, name in enumerate(BOT_CODES):
        table = Table(make_settings(text, 6, number), tmp_path)
        bots = [Bot(name, 1), Bot("random", 2), Bot("strength", 3)][: definition.num_players]
        reports = await table.seat(definition, *bots)
        outcome = await table.finish()
        assert outcome.completed
        assert outcome.complaints() == []
        assert [report.faults for report in reports] == [0] * len(bots)
        assert sum(report.decisions for report in reports) == reports[0].states - 6


def test_bots_do_what_they_are_named_after():
    first, facing = "MATCHSTATE:1:0::|2hAc", "MATCHSTATE:0:0:r300:2hAc|"
    free = "MATCHSTATE:0:0:c:2hAc|"
    choices = {
        name: [Bot(name, 1).choose(parse_match_state(line, HUNL)).text(False) for line in (first, facing, free)]
        for name in ("call", "fold", "raise")
    }
    assert choices == {"call": ["c", "c", "c"], "fold": ["f", "f", "c"], "raise": ["r200", "r500", "r200"]}


def test_strength_bot_folds_trash_and_raises_aces():
    actions = {
        hand: Bot("strength", 1).choose(parse_match_state(f"MATCHSTATE:0:0:r1000:{hand}|", HUNL)).text(False)[0]
        for hand in ("7d2c", "AsAd", "QsJs")
    }
    assert actions == {"7d2c": "f", "AsAd": "r", "QsJs": "c"}


def test_a_choice_depends_on_seed_hand_and_decision_only():
    bot = Bot("random", 5)
    states = [parse_match_state(f"MATCHSTATE:1:{hand}::|2hAc", HUNL) for hand in range(40)]
    forwards = [bot.choose(state) for state in states]
    backwards = [bot.choose(state) for state in reversed(states)]
    assert forwards == backwards[::-1] == [Bot("random", 5).choose(state) for state in states]
    assert forwards != [Bot("random", 6).choose(state) for state in states]
    assert {action.kind for action in forwards} == {0, 1, 2}


@pytest.mark.parametrize("spec", ["call", "bot:", "bot:clever", "cmd:x", "", "strategy"])
def test_unknown_players_are_refused_with_what_is_expected(spec):
    with pytest.raises(DefinitionError, match=r"expected|over tcp only"):
        make_player(spec, 0)


def test_programs_play_over_tcp_only():
    check_player("cmd:/bin/true", over_tcp=True)
    with pytest.raises(DefinitionError, match="over tcp only"):
        check_player("cmd:/bin/true", over_tcp=False)
