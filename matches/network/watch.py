"""What a spectator knows: the matches and workers at a broker, from retained and live messages."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from foldwise.matches.network.connection import PATIENCE_SECONDS, Broker, Link, Say
from foldwise.matches.network.messages import (
    HandBatch,
    MatchInfo,
    MatchStatus,
    MatchTotals,
    MessageError,
    Topics,
    WorkerPresence,
    decode,
)

_MAX_MATCHES = 200
_MAX_WORKERS = 500
_LAST_HANDS = 8
_PARTS = ("info", "status", "totals", "hands")


@dataclass
class WatchedMatch:
    """One match, from the messages received so far."""

    match: str
    info: MatchInfo | None = None
    state: str = "unknown"
    totals: MatchTotals | None = None
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST_HANDS))
    updated: float = field(default_factory=time.monotonic)

    @property
    def ended(self) -> bool:
        return self.state in ("finished", "stopped", "failed", "lost")


class Board:
    """All matches and workers; malformed messages change nothing, and if there are too many the oldest are dropped."""

    def __init__(self, topics: Topics):
        self._topics = topics
        self.matches: dict[str, WatchedMatch] = {}
        self.workers: dict[str, WorkerPresence] = {}

    def receive(self, topic: str, payload: bytes) -> None:
        levels = self._topics.split(topic)
        if len(levels) == 3 and levels[0] == "matches" and levels[2] in _PARTS:
            self._receive_match(levels[1], levels[2], payload)
        elif len(levels) == 3 and levels[0] == "workers" and levels[2] == "presence":
            self._receive_worker(levels[1], payload)
        else:
            raise MessageError("no topic of ours")

    def _receive_match(self, name: str, part: str, payload: bytes) -> None:
        if not payload:  # a retained message was removed
            self.matches.pop(name, None)
            return
        message: MatchInfo | MatchStatus | MatchTotals | HandBatch
        if part == "info":
            message = decode(MatchInfo, payload)
        elif part == "status":
            message = decode(MatchStatus, payload)
        elif part == "totals":
            message = decode(MatchTotals, payload)
        else:
            message = decode(HandBatch, payload)
        if message.match != name:
            raise MessageError(f"it names match {message.match!r}")
        watched = self.matches.setdefault(name, WatchedMatch(name))
        watched.updated = time.monotonic()
        match message:
            case MatchInfo():
                watched.info = message
            case MatchStatus():
                watched.state = message.state
            case MatchTotals():
                watched.totals = message
            case HandBatch():
                watched.lines.extend(message.lines)
        if len(self.matches) > _MAX_MATCHES:
            oldest = min(self.matches.values(), key=lambda known: (not known.ended, known.updated))
            del self.matches[oldest.match]

    def _receive_worker(self, name: str, payload: bytes) -> None:
        if not payload:
            self.workers.pop(name, None)
            return
        presence = decode(WorkerPresence, payload)
        if presence.worker != name:
            raise MessageError(f"it names worker {presence.worker!r}")
        if presence.online and len(self.workers) < _MAX_WORKERS:
            self.workers[name] = presence
        else:
            self.workers.pop(name, None)


async def watch(
    broker: Broker,
    board: Board,
    show: Callable[[], bool],
    say: Say,
    interval_seconds: float = 0.5,
    forget: bool = False,
    patience_seconds: float = PATIENCE_SECONDS,
) -> None:
    """Keep the board; `show` is called at every interval once connected, until it returns False.

    With `forget`, finished matches are removed from the broker first.
    """
    topics = broker.topics
    subscribe = [topics.match("+", "+"), topics.presence("+")]

    async def look(link: Link) -> None:
        await link.connected.wait()
        going_on = True
        while going_on:
            await asyncio.sleep(interval_seconds)
            if forget:
                for watched in [known for known in board.matches.values() if known.ended]:
                    for part in ("info", "status", "totals"):
                        link.send(topics.match(watched.match, part), b"", True)
            going_on = show()
        await link.flush(2.0)

    link = Link(broker, subscribe=subscribe, receive=board.receive, say=say, patience_seconds=patience_seconds)
    async with link:
        await link.during(look(link))
