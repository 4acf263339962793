"""The dealer over real sockets: recorded matches to the byte, resuming, time limits, and clients that misbehave."""

import asyncio
import contextlib
import socket

import pytest

from foldwise.game.definition import parse_definition
from foldwise.game.errors import DefinitionError
from foldwise.game.library import PokerGame, find_game
from foldwise.matches.table import seat_connection
from foldwise.matches.table.dealer import COMMENT_PATIENCE, MatchSettings, run_match
from foldwise.matches.table.log import is_complete, read_log
from foldwise.matches.table.ports import open_listeners
from foldwise.matches.table.seat_connection import MAX_LINE, SeatConnection
from tests.support.network import until
from tests.support.table import (
    Table,
    drive,
    load_recording,
    make_settings,
    open_seat,
    read_all,
    recording_names,
    send_all,
)

VERSION = b"VERSION:2.0.0\r\n"
GAME = find_game("hunl")
assert isinstance(GAME, PokerGame)
HUNL = GAME.definition.to_text()


async def _call_always(port, limit=None, before_line=None):
    """A plain client: checks and calls, by the rule that it may act on every line (un-requested ones are ignored)."""
    reader, writer = await open_seat(port)
    await send_all(writer, VERSION)
    received = b""
    with contextlib.suppress(ConnectionError):
        while (line := await reader.readline()) and (limit is None or received.count(b"\n") < limit):
            received += line
            if before_line is not None:
                await before_line(received.count(b"\n"))
            await send_all(writer, line.rstrip(b"\r\n") + b":c\r\n")
    writer.close()
    return received


@pytest.mark.parametrize("name", recording_names())
async def test_recorded_match_to_the_byte(name, tmp_path):
    recording = load_recording(name)
    settings = make_settings(recording["definition"], recording["hands"], recording["seed"])
    outcome = await drive(settings, [sent.encode("latin-1") for sent in recording["sent"]], tmp_path)
    assert outcome.completed
    assert [received.decode("latin-1") for received in outcome.received] == recording["received"]
    assert outcome.log_lines("STATE") + outcome.log_lines("SCORE") == recording["log"]
    assert outcome.complaints() == recording["complaints"]
    assert outcome.out[-1] == recording["log"][-1]
    assert outcome.log.startswith(f"# name/game/hands/seed match game {recording['hands']} {recording['seed']}\n")
    hands = list(read_log(tmp_path / "match.log", settings.definition))
    assert [hand.number for hand in hands] == list(range(recording["hands"]))


async def test_a_match_taken_up_again_is_the_unbroken_match(tmp_path):
    """Broken after every fifth line of the first seat, in mid-hand or not, until it is through."""
    recording = load_recording("strength_random_11")
    settings = make_settings(recording["definition"], recording["hands"], recording["seed"], transactions=True)
    answers = [sent.encode("latin-1").splitlines(keepends=True)[1:] for sent in recording["sent"]]
    seen = [b"", b""]
    for attempt in range(200):
        # Answers given before are un-requested now and ignored.
        streams = [VERSION + b"".join(answers[0][: 5 * (attempt + 1)]), VERSION + b"".join(answers[1])]
        settings = make_settings(
            recording["definition"], recording["hands"], recording["seed"], transactions=True, append=attempt > 0
        )
        outcome = await drive(settings, streams, tmp_path, half_close=True)
        seen = [old + new for old, new in zip(seen, outcome.received)]
        if outcome.completed:
            break
    assert attempt > 3
    assert outcome.log_lines("STATE") + outcome.log_lines("SCORE") == recording["log"]
    for lines, expected in zip(seen, recording["received"]):
        assert list(dict.fromkeys(lines.decode().splitlines())) == list(dict.fromkeys(expected.splitlines()))


async def test_a_hand_that_was_played_but_not_logged_is_logged_when_resuming(tmp_path):
    recording = load_recording("strength_random_11")
    sent = [stream.encode("latin-1") for stream in recording["sent"]]
    text, hands, seed = recording["definition"], recording["hands"], recording["seed"]
    await drive(make_settings(text, hands, seed, transactions=True), sent, tmp_path)
    log, transactions = tmp_path / "match.log", tmp_path / "match.tlog"
    # Killed in the middle of a log line and of a transaction: both are cut off.
    log.write_text("\n".join(log.read_text().splitlines()[:9]) + "\nSTATE:5:cr2")
    transactions.write_text("".join(transactions.read_text().splitlines(keepends=True)[:-3]) + "r20")
    outcome = await drive(make_settings(text, hands, seed, transactions=True, append=True), sent, tmp_path)
    assert outcome.completed
    assert outcome.log_lines("STATE") + outcome.log_lines("SCORE") == recording["log"]


async def test_a_complete_history_gives_the_score_at_once(tmp_path):
    recording = load_recording("strength_random_11")
    sent = [stream.encode("latin-1") for stream in recording["sent"]]
    text, hands, seed = recording["definition"], recording["hands"], recording["seed"]
    await drive(make_settings(text, hands, seed, transactions=True), sent, tmp_path)
    outcome = await drive(make_settings(text, hands, seed, transactions=True, append=True), [VERSION] * 2, tmp_path)
    assert outcome.completed
    assert outcome.received == [b"", b""]
    assert outcome.out[-1] == recording["log"][-1]


async def test_a_false_history_is_refused(tmp_path):
    (tmp_path / "match.tlog").write_text("r20001 0 1.000000 2.000000\n")
    settings = make_settings(HUNL, 3, 1, transactions=True, append=True)
    outcome = await drive(settings, [VERSION] * 2, tmp_path)
    assert not outcome.completed
    assert outcome.complaints() == ["ERROR: invalid action in transaction log: r20001 0"]


@pytest.mark.parametrize(
    "line, complaint",
    [
        (b"HELLO\r\n", "ERROR: invalid version string HELLO"),
        (b"VERSION:2.0\n", "ERROR: invalid version string VERSION:2.0"),
        (b"", "ERROR: could not read version string from seat 2"),
    ],
)
async def test_unreadable_version_ends_the_match(line, complaint, tmp_path):
    outcome = await drive(make_settings(HUNL, 3, 1), [VERSION, line], tmp_path, half_close=True)
    assert not outcome.completed
    assert outcome.complaints() == [complaint]
    assert outcome.received == [b"", b""]


async def test_other_version_is_told_and_played(tmp_path):
    recording = load_recording("strength_random_11")
    streams = [sent.encode("latin-1").replace(b"2.0.0", b"3.1.0", 1) for sent in recording["sent"]]
    settings = make_settings(recording["definition"], recording["hands"], recording["seed"])
    outcome = await drive(settings, streams, tmp_path)
    assert outcome.completed
    assert outcome.complaints() == ["ERROR: this server is currently using version 2.0.0"] * 2


async def test_silent_client_without_version_line_does_not_hold_the_match_for_ever(tmp_path):
    table = Table(make_settings(HUNL, 3, 1, response_ms=100), tmp_path)
    _, silent = await open_seat(table.ports[0])
    other = asyncio.create_task(_call_always(table.ports[1]))
    outcome = await table.finish()
    silent.close()
    assert await other == b""
    assert not outcome.completed
    assert outcome.complaints() == ["ERROR: could not read version string from seat 1"]
    assert "# ERROR: could not read version string from seat 1" in outcome.log


async def test_start_timeout(tmp_path, own_time):
    table = Table(make_settings(HUNL, 3, 1, start_timeout_ms=50), tmp_path)
    _, writer = await open_seat(table.ports[0])
    await until(lambda: table.num_seated == 1 and own_time.waiting, "the first seat")
    own_time.advance(0.1)
    outcome = await table.finish()
    writer.close()
    assert outcome.complaints() == ["ERROR: timed out waiting for seat 2 to connect"]


@pytest.mark.parametrize(
    "limits, complaint",
    [
        ({"response_ms": 100}, "ERROR: could not get action from seat 1"),
        ({"hand_ms": 100}, "ERROR: seat 1 ran out of time"),
        ({"per_hand_ms": 2}, "ERROR: seat 1 ran out of time"),
    ],
)
async def test_time_limits(limits, complaint, tmp_path, own_time):
    """Fifty hands, so 2 ms a hand are 100 ms for the match; the first seat rests 250 ms at its seventh line, its turn."""
    table = Table(make_settings(HUNL, 50, 1, **limits), tmp_path)

    async def rest(line):
        if line == 7:
            await until(lambda: own_time.waiting, "the dealer's wait")
            own_time.advance(0.25)

    slow = asyncio.create_task(_call_always(table.ports[0], before_line=rest))
    other = asyncio.create_task(_call_always(table.ports[1]))
    outcome = await table.finish()
    await asyncio.gather(slow, other)
    assert not outcome.completed
    assert [line for line in outcome.complaints() if line.startswith("ERROR")] == [complaint]
    if "response_ms" in limits:
        assert b" seconds spent waiting; timeout 0.1" in outcome.err
    assert "SCORE" not in outcome.log


async def test_comments_do_not_hold_the_match_for_ever(tmp_path, own_time):
    """A comment every 15 ms with a limit of 20 ms: each is in time, until ten times the limit has passed."""
    table = Table(make_settings(HUNL, 3, 1, response_ms=20), tmp_path)
    other = asyncio.create_task(_call_always(table.ports[0]))
    reader, writer = await open_seat(table.ports[1])
    await send_all(writer, VERSION)
    await reader.readline()  # its turn
    num_comments = 0
    while not table.finished:
        await until(lambda: own_time.waiting or table.finished, "the dealer's wait")
        seen = own_time.num_waits
        own_time.advance(0.015)
        await send_all(writer, b"# thinking\n")
        num_comments += 1
        await until(lambda: own_time.num_waits > seen or table.finished, "the comment read")  # noqa: B023  # called at once
    outcome = await table.finish()
    assert num_comments == int(COMMENT_PATIENCE * 0.02 / 0.015) + 1
    writer.close()
    await other
    assert outcome.complaints() == ["ERROR: seat 2 sends only comments"]
    assert outcome.log.endswith("# ERROR: seat 2 sends only comments\n")


@pytest.mark.parametrize("quiet", [False, True])
async def test_one_client_cannot_fill_the_disk(tmp_path, monkeypatch, own_time, quiet):
    """Lines that answer nothing are echoed with warnings up to a bound, then only counted; answers are always echoed."""
    monkeypatch.setattr("foldwise.matches.table.echo.MAX_IDLE_BYTES", 5000)
    noise = b"# " + b"n" * 1000 + b"\n" + b"MATCHSTATE:9:9::\n"
    outcome = await drive(
        make_settings(HUNL, 1, 1, quiet=quiet),
        [VERSION, VERSION + 500 * noise + b"MATCHSTATE:1:0::|Kd5c:f\r\n"],
        tmp_path,
    )
    assert outcome.completed
    assert len(outcome.err) < 10_000
    assert b"further lines of seat 2 that answered nothing" in outcome.err
    if not quiet:
        assert outcome.err.count(b"nnn") > 1 and b"MATCHSTATE:1:0::|Kd5c:f" in outcome.err


async def test_bytes_of_a_client_are_escaped(tmp_path):
    hostile = b"#\x1b[2J\x07\xff\n"
    table = Table(make_settings(HUNL, 1, 1, quiet=False), tmp_path)
    other = asyncio.create_task(_call_always(table.ports[0]))
    reader, writer = await open_seat(table.ports[1])
    await send_all(writer, VERSION)
    line = await reader.readline()
    await send_all(writer, hostile + line.rstrip(b"\r\n") + b":f\r\n")
    outcome = await table.finish()
    writer.close()
    await other
    assert outcome.completed
    assert rb"#\x1b[2J\x07\xff" in outcome.err and b"\x1b" not in outcome.err


@pytest.mark.parametrize(
    "name, players", [("a\nb", "AB"), ("../a", "AB"), ("", "AB"), ("m", ("A|C", "B")), ("m", ("A", "B:1"))]
)
def test_names_that_would_break_a_log_or_leave_the_folder_are_refused(name, players):
    with pytest.raises(DefinitionError, match="name"):
        MatchSettings(name, "g", parse_definition(HUNL, "test"), 1, 1, tuple(players))


async def test_answer_without_line_end_before_end_of_stream_counts(tmp_path):
    """One hand: the big blind's check after a call is the last thing the second client's peer sends."""
    table = Table(make_settings(HUNL, 1, 1), tmp_path)
    reader, writer = await open_seat(table.ports[1])
    await send_all(writer, VERSION)
    other = asyncio.create_task(_call_always(table.ports[0]))
    line = await reader.readline()
    await send_all(writer, line.rstrip(b"\r\n") + b":f")
    writer.write_eof()
    rest = await read_all(reader)
    outcome = await table.finish()
    assert outcome.completed
    assert rest.startswith(b"MATCHSTATE:1:0:f:")
    assert outcome.log_lines("STATE")[0].startswith("STATE:0:f:")
    await other


async def test_client_gone_while_another_acts_ends_the_match_with_a_message(tmp_path):
    """The reference dealer dies of SIGPIPE here, at the second write to the closed connection."""
    table = Table(make_settings(HUNL, 5, 1), tmp_path)
    reader, writer = await open_seat(table.ports[0])
    await send_all(writer, VERSION)
    other_reader, other_writer = await open_seat(table.ports[1])
    await send_all(other_writer, VERSION)
    await reader.readline()
    line = await other_reader.readline()
    writer.transport.abort()
    await writer.wait_closed()
    await send_all(other_writer, line.rstrip(b"\r\n") + b":f\r\n")
    rest = await read_all(other_reader)
    outcome = await table.finish()
    other_writer.close()
    assert not outcome.completed
    assert len(outcome.complaints()) == 1
    assert outcome.complaints()[0].startswith("ERROR: seat 1 has closed its connection")
    assert outcome.log_lines("STATE")[0].startswith("STATE:0:f:")  # the finished hand is in the log
    assert outcome.log_lines("# ERROR: seat 1 has closed")
    assert rest.count(b"MATCHSTATE") <= 1


async def test_floods_stall_nobody_and_cost_no_memory(tmp_path, monkeypatch, own_time):
    """Two matches in one process: the first with a client of megabytes without a line end and one of many lines."""
    largest = 0
    take_line = SeatConnection._take_line

    def measure(connection):
        nonlocal largest
        largest = max(largest, len(connection._received))
        return take_line(connection)

    monkeypatch.setattr(SeatConnection, "_take_line", measure)
    (tmp_path / "flooded").mkdir()
    flooded = Table(make_settings(HUNL, 3, 1, hand_ms=1500), tmp_path / "flooded")
    _, quiet = await open_seat(flooded.ports[0])
    _, noisy = await open_seat(flooded.ports[1])
    filling = asyncio.create_task(send_all(quiet, VERSION + b"x" * (1 << 22)))
    await send_all(noisy, VERSION)

    async def flood():
        with contextlib.suppress(ConnectionError):
            while not noisy.is_closing():
                noisy.write(b"# nothing\n" * 1000 + b"MATCHSTATE:0:0::\r\n")
                await noisy.drain()

    flooding = asyncio.create_task(flood())
    played = Table(make_settings(HUNL, 50, 1), tmp_path)
    received = await asyncio.gather(*(_call_always(port) for port in played.ports))
    outcome = await played.finish()
    assert outcome.completed and not flooded.finished  # played through beside the flood
    own_time.advance(2.0)
    assert received[0].count(b"\n") == received[1].count(b"\n") > 300
    outcome = await flooded.finish()
    assert "ERROR: seat 2 ran out of time" in outcome.complaints()
    assert set(outcome.complaints()) == {"ERROR: seat 2 ran out of time", "WARNING: ignoring un-requested response"}
    assert largest <= 16384 + MAX_LINE
    flooding.cancel()
    filling.cancel()
    quiet.close()
    noisy.close()


async def test_client_that_does_not_read_ends_its_match(tmp_path, monkeypatch, own_time):
    """With no unread byte allowed, the first state is already too much; only the wait for that is in real time."""
    monkeypatch.setattr("foldwise.matches.table.dealer.MAX_BACKLOG", -1)
    outcome = await drive(make_settings(HUNL, 3, 1, response_ms=50), [VERSION] * 2, tmp_path)
    assert outcome.complaints() == ["ERROR: seat 1 does not read what it is sent"]
    assert outcome.log.endswith("# ERROR: seat 1 does not read what it is sent\n")


async def test_unread_bytes_are_counted_and_kept_in_order():
    left, right = socket.socketpair()
    connection = SeatConnection(_as_tcp(left))
    lines = [b"%06d\n" % number for number in range(200_000)]
    for line in lines:
        connection.send(line)
    assert connection.backlog > 0
    assert not await connection.drain(0, 0.05)
    received = bytearray()
    right.setblocking(False)
    while len(received) < 7 * len(lines):
        received += await asyncio.get_running_loop().sock_recv(right, 1 << 16)
    assert received == b"".join(lines)
    assert await connection.drain(0, 1.0)
    right.close()
    with pytest.raises(OSError, match=r"pipe|reset"):
        connection.send(b"to nobody")
    connection.close()


async def test_a_dealer_alone_in_its_process_waits_at_the_socket_first(monkeypatch):
    """An answer that is there, or comes soon, does not trouble the event loop; one that takes longer is awaited there."""
    monkeypatch.setattr(seat_connection, "_IN_PLACE_MS", 1)
    wait, waits = seat_connection.Readiness.wait, []

    async def counted(readiness, timeout_seconds):
        waits.append(timeout_seconds)
        return await wait(readiness, timeout_seconds)

    monkeypatch.setattr(seat_connection.Readiness, "wait", counted)
    left, right = socket.socketpair()
    connection = SeatConnection(_as_tcp(left), alone=True)
    right.send(b"first\nsecond\nthi")
    assert await connection.read_line(1000.0) == b"first\n"
    assert await connection.read_line(1000.0) == b"second\n"
    assert not waits
    later = asyncio.create_task(connection.read_line(1000.0))
    while not waits:
        await asyncio.sleep(0)
    right.send(b"rd\n")
    assert await later == b"third\n"
    assert await connection.read_line(0.0) is None
    right.close()
    assert await connection.read_line(None) is None and connection.ended
    connection.close()


@pytest.mark.parametrize("alone", [False, True])
async def test_line_longer_than_the_buffer_is_cut(alone):
    left, right = socket.socketpair()
    connection = SeatConnection(_as_tcp(left), alone)
    right.setblocking(False)
    right.send(b"#" + b"x" * 5000 + b"\nlast")
    right.shutdown(socket.SHUT_WR)
    lines = []
    while (line := await connection.read_line(1.0)) is not None:
        lines.append(line)
    assert list(map(len, lines)) == [MAX_LINE, 5002 - MAX_LINE, 4]
    connection.close()
    right.close()


def _as_tcp(sock):
    """A socket pair has no Nagle's algorithm to switch off; all else is the same."""

    class Pair(socket.socket):
        def setsockopt(self, *arguments):
            pass

    return Pair(fileno=sock.detach())


def test_ports_are_those_the_reference_tries_for_the_seed():
    listeners = open_listeners("127.0.0.1", (), 2, 515)
    again = open_listeners("127.0.0.1", (), 2, 515)  # taken: the next ones
    ports = [sock.getsockname()[1] for sock in (*listeners, *again)]
    for sock in (*listeners, *again):
        sock.close()
    assert len(set(ports)) == 4
    if {57571, 54686} <= set(ports):  # unless another program holds them
        assert ports[:2] == [57571, 54686]
        assert ports[2:] == [53357, 47871]


async def test_taken_port_is_an_input_error(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = make_settings(HUNL, 1, 1, ports=(taken.getsockname()[1],))
        with pytest.raises(DefinitionError, match="is taken: give a free port"):
            await run_match(settings, lambda _: None, lambda _: None, tmp_path)


async def test_messages_on_stderr(tmp_path):
    """Times aside, the lines of a hand as the reference prints them."""
    settings = make_settings(HUNL, 1, 1, quiet=False)
    table = Table(settings, tmp_path)
    await asyncio.gather(*(_fold_first(port) for port in table.ports))
    outcome = await table.finish()
    words = [line.split()[0] for line in outcome.err.decode().splitlines()[4:]]
    assert words == ["STARTED", "TO", "TO", "FROM", "TO", "TO", "Seconds", "Seconds", "FINISHED", words[-1]]
    assert words[-1].startswith("SCORE:")
    assert is_complete(tmp_path / "match.log")


async def _fold_first(port):
    reader, writer = await open_seat(port)
    await send_all(writer, VERSION)
    line = await reader.readline()
    await send_all(writer, line.rstrip(b"\r\n") + b":f\r\n")
    await read_all(reader)
    writer.close()


async def test_fixed_seats_and_no_log(tmp_path):
    table = Table(make_settings(HUNL, 4, 1, fixed_seats=True, log=False), tmp_path)
    received = await asyncio.gather(*(_call_always(port) for port in table.ports))
    outcome = await table.finish()
    assert outcome.completed
    assert not (tmp_path / "match.log").exists()
    assert all(line.startswith(b"MATCHSTATE:0:") for line in received[0].splitlines())


def test_a_game_whose_hands_cannot_be_ranked_is_refused():
    text = HUNL.replace("numHoleCards = 2", "numHoleCards = 3")
    settings = MatchSettings("m", "g", parse_definition(text, "test"), 1, 1, ("A", "B"))
    with pytest.raises(DefinitionError, match="at most 7"):
        asyncio.run(run_match(settings, lambda _: None, lambda _: None))
