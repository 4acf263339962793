"""The live feed and its spectators at a real broker."""

import asyncio
import json
import signal
import socket
import struct
import subprocess
import sys

import pytest

from foldwise.cli.main import main
from foldwise.matches.network.connection import read_broker
from foldwise.matches.network.feed import BATCH_LINES, Feed
from foldwise.matches.network.messages import (
    MAX_ROWS,
    HandBatch,
    MatchInfo,
    MatchStatus,
    MatchTotals,
    Total,
    WorkerPresence,
    decode,
)
from foldwise.matches.network.watch import Board
from tests.support.network import ROOT, SECONDS, Listener, at, ended, start_broker, start_python, until, url, within

INFO = MatchInfo(match="m", kind="match", players=["bot:call", "bot:fold"], game="leduc", hands=40, seed=1, started=1.0)
LINE = b"STATE:%d:cc/cc:Ks|Qs/Jh:1|-1:A|B"


def rows():
    return [Total(name="bot:call", hands=20, mean_mbb=5.0, ci95_mbb=2.0)]


async def test_late_subscriber_learns_everything_but_the_hands(local_broker, patient_feed):
    broker = at(local_broker)
    topics = broker.topics
    async with Listener(broker, topics.match("+", "+")) as early:
        feed = await asyncio.to_thread(Feed, broker, INFO, pytest.fail)
        feed.hands(3, b"\n".join(LINE % number for number in range(3)))
        feed.totals(20, rows)
        await until(lambda: early.payloads("hands") and early.payloads("totals"), "a batch")
        async with Listener(broker, topics.match("+", "+")) as late:
            parts = ("info", "status", "totals")
            await until(lambda: all(map(late.payloads, parts)), "the retained messages")
            assert not late.payloads("hands")
        assert decode(MatchInfo, late.payloads("info")[0]) == INFO
        assert decode(MatchStatus, late.payloads("status")[0]).state == "running"
        assert decode(MatchTotals, late.payloads("totals")[0]).rows == rows()
        batch = decode(HandBatch, early.payloads("hands")[0])
        assert batch.lines == [(LINE % number).decode() for number in range(3)] and batch.left_out == 0
        await asyncio.to_thread(feed.close, "finished")
        await until(lambda: len(early.payloads("status")) == 2, "the end")
    assert decode(MatchStatus, early.payloads("status")[-1]).state == "finished"


async def test_more_hands_than_a_batch_holds_are_counted(local_broker, patient_feed):
    broker = at(local_broker)
    async with Listener(broker, broker.topics.match("+", "hands"), broker.topics.match("+", "totals")) as listener:
        feed = await asyncio.to_thread(Feed, broker, INFO, pytest.fail)
        for start in range(0, 20_000, 2000):
            feed.hands(2000, b"\n".join(LINE % number for number in range(start, start + 2000)))
        feed.totals(20_000, lambda: 600 * rows())  # a sweep has more cells than a message rows
        await asyncio.to_thread(feed.close, "finished")
        await until(lambda: listener.payloads("hands") and listener.payloads("totals"), "a batch and totals")
    assert len(decode(MatchTotals, listener.payloads("totals")[-1]).rows) == MAX_ROWS
    batches = [decode(HandBatch, payload) for payload in listener.payloads("hands")]
    assert sum(batch.left_out + len(batch.lines) for batch in batches) == 20_000
    assert all(len(batch.lines) <= BATCH_LINES for batch in batches)
    assert batches[-1].lines[-1] == (LINE % 19_999).decode()


DYING_FEED = """
import sys, time
import foldwise.matches.network.feed as feeds
from foldwise.matches.network.connection import read_broker
from foldwise.matches.network.messages import MatchInfo
class Link(feeds.Link):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        links.append(self)
links, feeds.Link = [], Link
feeds.Feed(read_broker(sys.argv[1]), MatchInfo.model_validate_json(sys.argv[2]), print)
while not (links and links[0].connected.is_set()) or links[0]._outbox or links[0]._flying:
    time.sleep(0.01)  # polling, until the broker has acknowledged what was sent
print("acknowledged", flush=True)
time.sleep(1000)  # until it is killed
"""


async def test_will_of_a_killed_publisher(local_broker):
    address = url(local_broker)
    broker = read_broker(address, {})
    async with Listener(broker, broker.topics.match("m", "status")) as listener:
        process = start_python(DYING_FEED, address, INFO.encode().decode(), stdout=subprocess.PIPE)
        with ended(process):
            await until(lambda: listener.messages, "the start")
            assert await asyncio.to_thread(process.stdout.readline) == b"acknowledged\n"
            process.send_signal(signal.SIGKILL)
            await until(lambda: len(listener.messages) == 2, "the will")
    states = [decode(MatchStatus, payload).state for _, payload in listener.messages]
    assert states == ["running", "lost"]


async def test_match_goes_on_without_its_broker(capsys):
    """Unreachable from the start: one line, and the result without waiting for the broker's patience to end."""
    arguments = ["match", "bot:call", "bot:fold", "--game", "leduc", "--hands", "50", "--json"]
    broker = ["--broker", "mqtt://127.0.0.1:1", "--patience", "3600"]  # on a busy machine the match takes its time
    assert await asyncio.to_thread(main, [*arguments, *broker]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["hands"] == 100
    assert err.count("not to be reached") == 1
    assert "given up" not in err


async def test_broker_restarted_under_a_feed(tmp_path, patient_feed):
    local = start_broker(tmp_path)
    broker = at(local)
    said = []
    try:
        feed = await asyncio.to_thread(Feed, broker, INFO, said.append)
        async with Listener(broker, broker.topics.match("+", "+")) as listener:
            await until(lambda: listener.payloads("status"), "the start")
            local.kill()
            await until(lambda: said, "a word about it")
            feed.totals(20, rows)
            local.start()
            await until(lambda: listener.payloads("totals"), "totals after the outage")
            await asyncio.to_thread(feed.close, "finished")
            await until(lambda: b"finished" in listener.payloads("status")[-1], "the end")
    finally:
        local.stop()
    assert ["connection lost" in said[0], "back after" in said[1], len(said)] == [True, True, 2]


async def test_feed_gives_up_after_its_patience():
    said = []
    feed = await asyncio.to_thread(Feed, read_broker("mqtt://127.0.0.1:1", {}), INFO, said.append, 0.3)
    await until(lambda: len(said) == 2, "giving up")
    assert "the match goes on without its feed" in said[1]
    feed.totals(20, rows)
    feed.hands(1, LINE % 1)
    await until(lambda: not feed._thread.is_alive(), "the end of its thread")  # so nothing is left to wait for
    await asyncio.to_thread(feed.close, "finished")


def mqtt_string(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


async def test_slow_subscriber_slows_nobody(local_broker, patient_feed):
    """A subscriber that never reads its socket: a megabyte of hands is published all the same."""
    address = url(local_broker)
    broker = read_broker(address, {})
    slow = socket.create_connection(("127.0.0.1", local_broker.port))
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    hello = mqtt_string("MQTT") + b"\x04\x02\x00\x00" + mqtt_string("slow")
    slow.sendall(b"\x10" + bytes([len(hello)]) + hello)
    await asyncio.to_thread(slow.recv, 4)
    subscribe = b"\x00\x01" + mqtt_string(f"{broker.root}/#") + b"\x01"
    slow.sendall(b"\x82" + bytes([len(subscribe)]) + subscribe)
    try:
        async with Listener(broker, broker.topics.match("+", "+")) as listener:
            feed = await asyncio.to_thread(Feed, broker, INFO, pytest.fail)
            for _ in range(10):
                seen = len(listener.payloads("hands"))
                feed.hands(1000, b"\n".join(LINE % number for number in range(1000)))
                await until(lambda: len(listener.payloads("hands")) > seen, "a batch")  # noqa: B023  # called at once
            await asyncio.to_thread(feed.close, "finished")
            await until(lambda: b"finished" in listener.payloads("status")[-1], "the end")
    finally:
        slow.close()


@pytest.mark.parametrize("over", ["memory", "tcp"])
async def test_match_and_watch_commands(local_broker, over, capsys, patient_feed):
    """What `watch` shows of a finished match is its result."""
    address = url(local_broker)
    arguments = ["match", "bot:strength", "bot:random", "--game", "leduc", "--hands", "300", "--over", over, "--json"]
    assert await asyncio.to_thread(main, [*arguments, "--broker", address]) == 0
    result = json.loads(capsys.readouterr().out)

    async def watched():
        assert await asyncio.to_thread(main, ["watch", "--broker", address, "--json"]) == 0
        return json.loads(capsys.readouterr().out)["matches"]

    while not (found := await watched()):  # it shows what came within half a second
        pass
    (shown,) = found
    assert (shown["state"], shown["hands"], shown["totals"]["hands"]) == ("finished", 600, 600)
    row = shown["totals"]["rows"][0]
    assert row["mean_mbb"] == pytest.approx(result["mean_mbb"])
    assert row["ci95_mbb"] == pytest.approx(result["ci95_mbb"])
    assert (
        await asyncio.to_thread(main, ["watch", shown["match"], "--broker", address]) == 0
    )  # it is over: ends at once
    assert shown["match"] in capsys.readouterr().out
    while await watched():
        assert await asyncio.to_thread(main, ["watch", "--broker", address, "--once", "--forget"]) == 0
        capsys.readouterr()


async def test_local_comparison_is_published(local_broker, strategies, capsys, patient_feed):
    address = url(local_broker)
    arguments = [
        "compare",
        str(strategies / "one"),
        "bot:call",
        "--variants",
        "none,purify",
        "--hands",
        "200",
        "--local",
    ]
    assert await asyncio.to_thread(main, [*arguments, "--no-exploitability", "--json", "--broker", address]) == 0
    result = json.loads(capsys.readouterr().out)
    shown = ""
    while "none - bot:call" not in shown:  # it shows what came within half a second
        assert await asyncio.to_thread(main, ["watch", "--broker", address, "--once"]) == 0
        shown = capsys.readouterr().out
    assert "none - bot:call" in shown and "purify - bot:call" in shown
    assert f"{result['rows'][1]['results'][0]['mean_mbb']:+.1f}" in shown


def test_watch_ends_cleanly_on_an_interrupt(local_broker):
    arguments = [sys.executable, "-m", "foldwise.cli.main", "watch", "--broker", url(local_broker)]

    def heed_interrupts() -> None:  # where the tests run in a shell's background they are ignored, and inherited so
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    process = subprocess.Popen(
        arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts
    )
    with ended(process):
        assert "0 matches" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_board_is_bounded():
    board = Board(read_broker("mqtt://x", {}).topics)
    for number in range(600):
        name = f"m{number}"
        board.receive(f"foldwise/matches/{name}/status", MatchStatus(match=name, state="finished").encode())
        presence = WorkerPresence(worker=name, session="s", online=True)
        board.receive(f"foldwise/workers/{name}/presence", presence.encode())
    assert len(board.matches) == 200 and "m599" in board.matches
    assert len(board.workers) == 500
    board.receive("foldwise/workers/m3/presence", b"")
    assert "m3" not in board.workers


async def test_watch_without_a_broker_fails_clearly(capsys):
    assert await within(asyncio.to_thread(main, ["watch", "--broker", "mqtt://127.0.0.1:1", "--patience", "0.3"])) == 1
    err = capsys.readouterr().err
    assert "not to be reached" in err and "given up" in err
    assert await asyncio.to_thread(main, ["watch", "--broker", "mqtt://me:secret@h"]) == 2
    assert "secret" not in capsys.readouterr().err
