"""Mutated streams at the dealer and at the client: no crash, no hang, no unhandled exception, and a log that parses.

A few examples here; `make fuzz` runs FOLDWISE_FUZZ = 10,000 of each.
"""

import asyncio
import logging
import os
import socket
import tempfile
import threading
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foldwise.agent.bots import Bot
from foldwise.agent.clients.client import VERSION_LINE, Client
from foldwise.game.definition import parse_definition
from foldwise.matches.table.log import read_log
from tests.support.table import drive, load_recording, make_settings, recording_names

EXAMPLES = int(os.environ.get("FOLDWISE_FUZZ", "60"))
fuzz = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
# Pieces that mean something to a parser.
_MARKS = [b"\n", b"\r\n", b"\0", b":", b"|", b"/", b"#", b";", b"c", b"f", b"k", b"r", b" ", b"As", b"\xff\xfe"]
_NUMBERS = [b"r0", b"r300", b"r-1", b"b99999", b"r" + b"9" * 25, b"1" * 4400]
_STARTS = [b"MATCHSTATE:", b"MATCHSTATE:0:0::", b"VERSION:2.0.0\r\n", b"x" * 5000]
PIECES = st.sampled_from([*_MARKS, *_NUMBERS, *_STARTS])


@cache
def _recordings():
    return [load_recording(name) for name in recording_names()]


@st.composite
def mutated(draw, stream):
    """A stream with a few cuts, copies, insertions and changed bytes."""
    data = bytearray(stream)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        match draw(st.integers(0, 4)):
            case 0:
                data[at:at] = draw(PIECES)
            case 1:
                del data[at : at + draw(st.integers(1, 200))]
            case 2:
                data[at : at + 1] = draw(st.binary(min_size=1, max_size=3))
            case 3:
                data[at:at] = data[draw(st.integers(0, len(data))) :][: draw(st.integers(0, 300))]
            case 4:
                del data[at:]
    return bytes(data)


@st.composite
def dealer_input(draw):
    recording = draw(st.sampled_from(_recordings()))
    hands = draw(st.integers(1, 6))
    # Enough of each stream for the hands; the end of the stream ends a match that is left waiting.
    streams = [sent.encode("latin-1")[: 6000 * hands] for sent in recording["sent"]]
    return recording, hands, [draw(mutated(stream)) if draw(st.booleans()) else stream for stream in streams]


@fuzz
@given(dealer_input())
def test_dealer_survives_mutated_clients(case):
    recording, hands, streams = case
    config = make_settings(recording["definition"], hands, recording["seed"], transactions=True, response_ms=5000)
    with tempfile.TemporaryDirectory() as folder:
        outcome = asyncio.run(drive(config, streams, Path(folder), half_close=True))
        logged = list(read_log(Path(folder) / "match.log", config.definition))
    assert [hand.number for hand in logged] == list(range(len(logged)))
    assert outcome.completed == (len(logged) == hands and bool(outcome.log_lines("SCORE")))
    assert outcome.completed or any(line.startswith("ERROR") for line in outcome.complaints())
    for hand in logged:
        assert abs(sum(hand.values)) < 1e-6


@st.composite
def client_input(draw):
    recording = draw(st.sampled_from(_recordings()))
    stream = draw(st.sampled_from(recording["received"])).encode("latin-1")
    lines = stream.splitlines(keepends=True)
    start = draw(st.integers(0, len(lines) - 1))
    return recording, draw(mutated(b"".join(lines[start : start + 30])))


class _Pair(socket.socket):
    def setsockopt(self, *arguments):
        """A socket pair has no Nagle's algorithm to switch off."""


@fuzz
@given(client_input(), st.sampled_from(["call", "random", "strength"]))
def test_client_survives_mutated_dealers(case, bot):
    recording, stream = case
    logging.disable(logging.ERROR)
    ours, theirs = socket.socketpair()
    client = Client(_Pair(fileno=ours.detach()), Bot(bot), parse_definition(recording["definition"], "test"))
    answers = bytearray()

    def collect():
        while data := theirs.recv(1 << 16):
            answers.extend(data)

    collecting = threading.Thread(target=collect, daemon=True)
    collecting.start()
    theirs.sendall(stream)
    theirs.shutdown(socket.SHUT_WR)
    report = client.run()
    client._socket.close()
    collecting.join(10)
    theirs.close()
    logging.disable(logging.NOTSET)
    lines = bytes(answers).split(b"\r\n")
    assert lines.pop(0) + b"\r\n" == VERSION_LINE
    assert lines.pop() == b""
    assert len(lines) == report.decisions
    assert report.errors == report.late == 0
    sent = {line.rstrip(b"\r") for line in stream.split(b"\n")}
    for line in lines:
        state, _, action = line.rpartition(b":")
        assert state in sent
        assert action[:1] in (b"f", b"c", b"r")
