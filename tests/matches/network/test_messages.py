"""Validation in the match network: messages, addresses, and every subscriber against random payloads."""

import asyncio
import base64
import json
import logging
import os
import random
import zlib

import numpy as np
import pytest

from foldwise.game.errors import DefinitionError
from foldwise.matches.network.block_store import BlockStore, Job
from foldwise.matches.network.connection import Broker, read_broker, waits
from foldwise.matches.network.coordinator import Coordinator
from foldwise.matches.network.feed import MatchProgress
from foldwise.matches.network.messages import (
    DropLog,
    MatchInfo,
    MessageError,
    PlayerName,
    Topics,
    answer_place,
    check_word,
    decode,
    pack_values,
    state_place,
    unpack_values,
)
from foldwise.matches.network.player import RemoteSeat
from foldwise.matches.network.seats import RemoteTable
from foldwise.matches.network.watch import Board
from foldwise.matches.network.worker import Worker
from foldwise.matches.plan import MatchPlan
from foldwise.matches.statistics import estimate
from tests.support.hostile import LEDUC, MESSAGES, random_payload
from tests.support.table import make_settings

EXAMPLES = int(os.environ.get("FOLDWISE_FUZZ", "300"))


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_messages_come_back_as_they_went(message):
    assert decode(type(message), message.encode()) == message


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_messages_of_another_form_are_refused(message):
    kind, fields = type(message), json.loads(message.encode())
    for spoiled in (
        {**fields, "v": 2},
        {**fields, "more": 1},
        {**fields, next(name for name in fields if name != "v"): [[["deep"]]]},
        [fields],
        None,
    ):
        with pytest.raises(MessageError, match=kind.__name__):
            decode(kind, json.dumps(spoiled).encode())
    with pytest.raises(MessageError, match="bytes, at most"):
        decode(kind, message.encode() + b" " * kind.max_bytes)
    with pytest.raises(MessageError):
        decode(kind, b"[" * 5000)


@pytest.mark.parametrize("name", ["\x1b[2J", "a\nb", "\u202e", "x" * 401])
def test_names_cannot_reach_a_terminal_as_orders(name):
    payload = json.dumps({**json.loads(MESSAGES[0].encode()), "players": [name]}).encode()
    with pytest.raises(MessageError):
        decode(MatchInfo, payload)


@pytest.mark.parametrize("word", ["", "a/b", "+", "#", "a b", "é", "x" * 65, "a\n"])
def test_words_in_topics(word):
    with pytest.raises(DefinitionError, match="letters"):
        check_word(word, "table")


def test_values_keep_every_bit():
    values = np.random.default_rng(1).normal(size=1000) * 20_000
    assert np.array_equal(unpack_values(pack_values(values), 1000, 1e6), values)


@pytest.mark.parametrize(
    "text, reason",
    [
        (pack_values(np.zeros(999)), "not 1000 numbers"),
        (pack_values(np.zeros(1001)), "not 1000 numbers"),
        (base64.b64encode(zlib.compress(bytes(10**8))).decode(), "not 1000 numbers"),
        (pack_values(np.full(1000, np.nan)), "beyond"),
        (pack_values(np.full(1000, 20_001.0)), "beyond"),
        ("@@@", "unpacked"),
        ("AAAA", "unpacked"),
    ],
)
def test_values_that_are_none(text, reason):
    with pytest.raises(MessageError, match=reason):
        unpack_values(text, 1000, 20_000.0)


def test_states_have_an_order():
    lines = [
        b"MATCHSTATE:0:0::9s8h|",
        b"MATCHSTATE:0:0:c:9s8h|",
        b"MATCHSTATE:0:0:cr300:9s8h|",
        b"MATCHSTATE:1:1::|Jh2c",
        b"MATCHSTATE:1:10:cc/:|Jh2c/AsKsQs",
    ]
    places = [state_place(line) for line in lines]
    assert places == sorted(set(places))
    assert [answer_place(line + b":r600") for line in lines] == places


@pytest.mark.parametrize(
    "line", [b"", b"x", b"MATCHSTATE:0:0::", b"MATCHSTATE:0:0::a\n", b"MATCHSTATE:0:-1::a", b"\xff"]
)
def test_lines_that_are_no_states(line):
    with pytest.raises(MessageError):
        state_place(line)
    with pytest.raises(MessageError):
        answer_place(line)
    with pytest.raises(MessageError):
        answer_place(b"MATCHSTATE:0:0::9s8h|:x")


def test_broker_urls():
    broker = read_broker("mqtt://host", {})
    assert (broker.host, broker.port, broker.root, broker.tls, broker.user) == ("host", 1883, "foldwise", None, None)
    broker = read_broker("mqtts://me@host:99/a/b", {"FOLDWISE_MQTT_PASSWORD": "sesame"})
    assert (broker.port, broker.root, broker.user, broker.password) == (99, "a/b", "me", "sesame")
    assert broker.tls is not None and broker.tls.check_hostname
    for text in (str(broker), repr(broker)):
        assert "sesame" not in text and "me@" not in text


def test_password_from_a_file(tmp_path):
    (tmp_path / "password").write_text("sesame\n")
    environment = {"FOLDWISE_MQTT_PASSWORD_FILE": str(tmp_path / "password"), "FOLDWISE_MQTT_USER": "me"}
    broker = read_broker("mqtt://host", environment)
    assert (broker.user, broker.password) == ("me", "sesame")


@pytest.mark.parametrize(
    "url, reason",
    [
        ("http://host", "expected mqtt"),
        ("host:1883", "expected mqtt"),
        ("mqtt://", "expected mqtt"),
        ("mqtt://host:99999", "expected mqtt"),
        (f"mqtt://{64 * 'h'}", "label too long"),
        ("mqtt://a..b", "label empty"),
        ("mqtt://host/a/#b", "expected mqtt"),
        ("mqtt://host/a+", "topic root"),
        ("mqtt://host?ca=x", "mqtts"),
        ("mqtts://host?colour=red", "colour"),
        ("mqtts://host?ca=/nowhere", "PEM"),
        ("mqtt://me:sesame@host", "list of processes"),
    ],
)
def test_broker_urls_that_are_none(url, reason):
    with pytest.raises(DefinitionError, match=reason) as error:
        read_broker(url, {})
    assert "sesame" not in str(error.value)


def test_waits_double_up_to_a_limit_and_spread():
    first, second = (waits(random.Random(seed)) for seed in (1, 2))
    drawn = [next(first) for _ in range(20)]
    assert all(0.05 * 2**i <= wait <= 0.1 * 2**i for i, wait in enumerate(drawn[:6]))
    assert all(5.0 <= wait <= 10.0 for wait in drawn[8:])
    assert drawn != [next(second) for _ in range(20)]


def test_a_flood_of_bad_messages_is_not_a_flood_of_lines(caplog):
    drops = DropLog()
    for _ in range(1000):
        drops.add("a/b", MessageError("no"))
    drops.add("a/b", MessageError("never"))
    assert [record.getMessage() for record in caplog.records] == [
        "message on 'a/b' dropped: no",
        "10 messages dropped: no",
        "100 messages dropped: no",
        "1000 messages dropped: no",
        "message on 'a/b' dropped: never",
    ]
    for number in range(10_000):  # a reason of its own each time
        drops.add("a/b", MessageError(f"no {number}"))
    assert drops.dropped == 11_001
    assert len(caplog.records) < DropLog.MOST_REASONS + 10


class FeedDouble:
    def hands(self, count, lines):
        pass

    def totals(self, num_hands, rows, resumed=False):
        self.num_hands = num_hands


def test_running_totals_are_those_of_the_pairs_so_far():
    plan = MatchPlan(
        players=("bot:call", "bot:fold"), game="leduc", definition=LEDUC, hands=100, seed=1, repeat=2, over="memory"
    )
    generator = np.random.default_rng(5)
    tables = {(run.index, run.order): generator.integers(-9, 9, (100, 2)) for i in range(2) for run in plan.runs(i)}
    progress = MatchProgress(plan, 2, feed := FeedDouble())
    # Blocks of the runs in turn, some of them told twice.
    for start in (0, 40, 40, 70, 70):
        for index in range(2):
            for run in plan.runs(index):
                end = {0: 40, 40: 70, 70: 100}[start]
                values = tables[index, run.order][start:end].astype(float)
                progress.listener(run)(start, values, b"x")
    pairs = np.concatenate([(tables[i, "AB"][:, 0] + tables[i, "BA"][:, 1]) / 2 for i in range(2)])
    expected, found = estimate(pairs, 2), progress.estimate()
    assert (found.count, feed.num_hands) == (200, 400)
    assert found.mean_mbb == pytest.approx(expected.mean_mbb)
    assert found.ci95_mbb == pytest.approx(expected.ci95_mbb)


# Every subscriber: what it listens to, and a call that gives it one message.


class Sink:
    """In place of a connection."""

    def send(self, *message):
        pass


def subscribers(tmp_path):
    broker = Broker("nowhere", 1, "r")
    topics = Topics("r")
    job = Job(job="j", definition=LEDUC, seed=1, hands=500, block_pairs=500, first=[PlayerName(bot="call")] * 2,
              second=[PlayerName(bot="fold")])  # fmt: skip
    board = Board(topics)
    coordinator = Coordinator(broker, BlockStore(job, None), lambda _: None)
    coordinator._link = Sink()
    worker = Worker(broker, "w", None, 1, lambda _: None)
    worker._link = worker._pool = Sink()
    worker._pool.submit = lambda *_: None
    table = RemoteTable(broker, "t", make_settings(LEDUC, 5, 1), [1, 2], lambda _: None)
    table._link = Sink()
    table._relay = lambda seat: asyncio.sleep(0)
    seat = RemoteSeat(broker, "t", 1, lambda _: None)
    seat._dealer, seat._seat, seat._states_topic = "d", 1, topics.seat("t", 1, "states", "s")
    return {
        "watch": (board._topics, board.receive, [topics.match("m", p) for p in ("info", "status", "totals", "hands")]),
        "coordinator": (topics, coordinator._receive, [topics.presence("w"), topics.results("j", "w")]),
        "worker": (topics, worker._receive, [topics.tasks("w")]),
        "table": (
            topics,
            table._receive,
            [topics.seat("t", n, p, "s") for n in (1, 2) for p in ("presence", "answers")],
        ),
        "seat": (topics, seat._receive, [topics.table("t"), seat._states_topic]),
    }


@pytest.mark.parametrize("name", ["watch", "coordinator", "worker", "table", "seat"])
async def test_random_payloads_do_no_harm(name, tmp_path):
    """EXAMPLES payloads at each subscriber, straight at what its connection calls: only MessageError may come out."""
    logging.disable(logging.WARNING)
    draw = random.Random(7)
    _, receive, topics = subscribers(tmp_path)[name]
    topics += [
        "r/matches",
        "r/tables/t/seats/x/answers/s",
        "r/tables/t/seats/99/answers/s",
        "r",
        "r/jobs/j/results/w/x",
    ]
    dropped = 0
    for _ in range(EXAMPLES):
        try:
            receive(draw.choice(topics), random_payload(draw))
        except MessageError as error:
            dropped += 1
            assert len(str(error)) < 500 and str(error).isprintable()
    logging.disable(logging.NOTSET)
    assert dropped > EXAMPLES // 4
    if name == "table":  # answers to states that were never sent never reach the dealer
        assert all(seat.answered == (-1, -1) for seat in receive.__self__._seats)


def test_program_runs_without_the_mqtt_library():
    """Everything else works where the client library is not even installed."""
    import subprocess
    import sys

    script = (
        "import sys; sys.modules['aiomqtt'] = None; sys.modules['paho'] = None\n"
        "from foldwise.cli.main import main\n"
        "sys.exit(main(['match', 'bot:call', 'bot:fold', '--hands', '5', '--game', 'leduc', '--json']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hands"] == 10
