"""Messages as they should be, and payloads as they should not."""

import random

import numpy as np

from foldwise.game.library import find_definition
from foldwise.matches.network.messages import (
    Block,
    BlockResult,
    HandBatch,
    MatchInfo,
    MatchStatus,
    MatchTotals,
    PlayerName,
    SeatEnd,
    SeatPresence,
    TableInfo,
    Task,
    Total,
    WorkerPresence,
    pack_values,
)
from foldwise.matches.network.worker import program_version

LEDUC = find_definition("leduc").to_text()
BLOCK = Block(definition=LEDUC, seed=3, first=0, count=500, players=(PlayerName(bot="call"), PlayerName(bot="fold")))
MESSAGES = [
    MatchInfo(match="m", kind="match", players=["bot:call"], game="leduc", hands=10, seed=1, started=1e9),
    MatchStatus(match="m", state="running"),
    MatchTotals(match="m", hands=4, hands_per_second=2.5, rows=[Total(name="a", hands=4, mean_mbb=1.5, ci95_mbb=None)]),
    HandBatch(match="m", left_out=7, lines=["STATE:0:cc/cc:Ks|Qs/Jh:1|-1:A|B"]),
    WorkerPresence(worker="w", session="s", online=True, threads=2, program=program_version(), strategies=["0" * 32]),
    Task(job="j", block=0, work=BLOCK),
    BlockResult(job="j", block=0, worker="w", values=pack_values(np.zeros(500))),
    TableInfo(table="t", dealer="d", state="open", game="leduc", definition=LEDUC, hands=5),
    SeatPresence(session="s"),
    SeatEnd(end="over"),
]


def random_payload(draw: random.Random) -> bytes:
    """Noise, pieces of JSON and of lines, and true messages with a few changed bytes."""
    choice = draw.randrange(5)
    if choice == 0:
        return draw.randbytes(draw.randrange(300))
    if choice == 1:
        return draw.choice([b"", b"{}", b"[]", b"null", b'{"v":1}', b"1" * 5000, b"[" * 3000, b"\x00", b'{"v":1e999}'])
    if choice == 2:
        data = bytearray(draw.choice([b"MATCHSTATE:0:3:r300c/:9s8h|/AsKsQs:c", b"MATCHSTATE:1:3::|2c", b'{"end":"x"}']))
    else:
        data = bytearray(draw.choice(MESSAGES).encode())
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(data) + 1)
        piece = draw.choice([b'"', b"{", b":", b"-1", b"9" * 30, b"\xff", b"null", draw.randbytes(2)])
        data[at : at + draw.randrange(3)] = piece
    return bytes(data)
