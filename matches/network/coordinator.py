"""The coordinator of a comparison split over workers.

Every missing block is always either queued or held by a worker that was seen lately. A worker that says it goes, whose
will is published, or that is silent for too long loses its blocks to the others; what it may still answer is counted if
it comes first. Tasks are repeated with a worker's beat until answered, so nothing depends on one message arriving.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from foldwise.game.errors import ProtocolError
from foldwise.matches.network.block_store import BlockStore
from foldwise.matches.network.connection import PATIENCE_SECONDS, Broker, Link, Outgoing, Say
from foldwise.matches.network.messages import BlockResult, MessageError, Task, WorkerPresence, decode
from foldwise.matches.network.worker import BEAT_SECONDS, program_version

SILENT_SECONDS = 4 * BEAT_SECONDS
BLOCKS_AHEAD = 2  # per thread: one in play, one waiting
_MAX_WORKERS = 1000
_MAX_REFUSALS = 3
_LOOK_SECONDS = 0.5


@dataclass
class _Helper:
    """A worker as the coordinator knows it."""

    presence: WorkerPresence
    seen: float
    lacks: set[str] = field(default_factory=set)  # strategies it said it lacks
    held: dict[int, float] = field(default_factory=dict)  # block -> when it was last sent

    @property
    def name(self) -> str:
        return self.presence.worker

    def can_play(self, strategies: frozenset[str]) -> bool:
        return strategies <= set(self.presence.strategies) and not strategies & self.lacks


class Coordinator:
    """Hands out the missing blocks of a store until none is left."""

    def __init__(
        self,
        broker: Broker,
        store: BlockStore,
        say: Say,
        listen: Callable[[], None] = lambda: None,
        patience_seconds: float = PATIENCE_SECONDS,
        silent_seconds: float = SILENT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._store = store
        self._job = store.job.job
        self._say = say
        self._listen = listen
        self._patience_seconds = patience_seconds
        self._silent_seconds = silent_seconds
        self._clock = clock
        self._topics = broker.topics
        self._helpers: dict[str, _Helper] = {}
        self._queue = deque(store.missing())
        self._needs = [
            frozenset(player.strategy for player in block.players if player.strategy is not None)
            for block in store.blocks
        ]
        self._refusals: dict[int, list[str]] = {}
        self._told: set[object] = set()
        self._done = asyncio.Event()
        self._failure: ProtocolError | None = None
        self.num_repeated = 0  # results that came again
        self._link = Link(
            broker,
            subscribe=[self._topics.presence("+"), self._topics.results(self._job, "+")],
            receive=self._receive,
            greet=self._forget_sent,
            say=say,
            patience_seconds=patience_seconds,
        )

    async def run(self) -> None:
        """Until every block is counted; raises `ProtocolError` when that cannot be."""
        if not self._store.missing():
            return
        async with self._link as link:
            await link.during(self._look())

    async def _look(self) -> None:
        """Wait for the end, and handle workers that fall silent and blocks that nobody can play."""
        idle_since = connected_since = self._clock()
        while not self._done.is_set():
            try:
                await asyncio.wait_for(self._done.wait(), _LOOK_SECONDS)
            except TimeoutError:
                now = self._clock()
                if not self._link.connected.is_set():
                    idle_since = connected_since = now  # the link has its own patience
                    continue
                for helper in list(self._helpers.values()):
                    if now - max(helper.seen, connected_since) > self._silent_seconds:
                        self._release(helper.name, f"has been silent for {self._silent_seconds:g} s")
                self._assign()
                if any(helper.held for helper in self._helpers.values()):
                    idle_since = now
                elif now - idle_since > self._patience_seconds:
                    raise ProtocolError(f"{self._why_idle()} for {self._patience_seconds:g} s: given up") from None
                else:
                    self._tell("idle", f"{self._why_idle()}; waiting {self._patience_seconds:g} s for one")
        if self._failure is not None:
            raise self._failure

    def _forget_sent(self) -> list[Outgoing]:
        """After an outage every task is sent again, to each worker that the broker tells us of."""
        for helper in self._helpers.values():
            helper.held = dict.fromkeys(helper.held, 0.0)
        return []

    def _why_idle(self) -> str:
        if not self._helpers:
            return f"no worker at broker {self._link.broker} (start one: foldwise worker --broker URL)"
        wanted = sorted({strategy for block in self._queue for strategy in self._needs[block]})
        return f"no worker at broker {self._link.broker} has strategy {', '.join(wanted)}"

    def _tell(self, key: object, text: str) -> None:
        if key not in self._told:
            self._told.add(key)
            self._say(text)

    def _receive(self, topic: str, payload: bytes) -> None:
        levels = self._topics.split(topic)
        if len(levels) == 3 and levels[0] == "workers":
            self._receive_presence(levels[1], payload)
        elif len(levels) == 4 and levels[0] == "jobs":
            self._receive_result(levels[3], payload)
        else:
            raise MessageError("no topic of ours")

    def _receive_presence(self, name: str, payload: bytes) -> None:
        if not payload:
            self._release(name, "has signed off")
            return
        presence = decode(WorkerPresence, payload)
        if presence.worker != name:
            raise MessageError(f"it names worker {presence.worker!r}")
        known = self._helpers.get(name)
        same = known is not None and known.presence.session == presence.session
        if not presence.online:
            if same:  # else it is the late will of a worker that is back
                self._release(name, "is gone")
            return
        if not same:
            self._release(name, "started anew")
            known = None
        if presence.program != program_version():
            self._tell(("program", name), f"worker {name} runs {presence.program}, we {program_version()}: not used")
            return
        now = self._clock()
        if known is None:
            if len(self._helpers) >= _MAX_WORKERS:
                raise MessageError(f"{_MAX_WORKERS} workers are known already")
            known = self._helpers[name] = _Helper(presence, now)
            self._say(f"worker {name}: {presence.threads} threads")
            self._tell_missing(known)
        known.presence, known.seen = presence, now
        for block, sent in known.held.items():  # what was sent may have got lost, and so may its answer
            if now - sent > BEAT_SECONDS / 2:
                self._send(known, block)
        self._assign()

    def _tell_missing(self, helper: _Helper) -> None:
        have = set(helper.presence.strategies)
        for strategy in sorted(frozenset().union(*self._needs) - have):
            self._tell((helper.name, strategy), f"worker {helper.name} lacks strategy {strategy}")

    def _receive_result(self, name: str, payload: bytes) -> None:
        result = decode(BlockResult, payload)
        if result.job != self._job or result.worker != name or result.block >= len(self._store.blocks):
            raise MessageError("a result of another job, worker or block")
        helper = self._helpers.get(name)
        if helper is not None:
            helper.seen = self._clock()
            helper.held.pop(result.block, None)
        if result.values is not None:
            self._count(result)
        elif result.refused is not None:
            self._refuse(helper, result)
        self._assign()

    def _count(self, result: BlockResult) -> None:
        assert result.values is not None
        if not self._store.add(result.block, result.values):
            self.num_repeated += 1
            return
        for helper in self._helpers.values():
            helper.held.pop(result.block, None)
        self._listen()
        if self._store.num_done == len(self._store.blocks):
            self._done.set()

    def _refuse(self, helper: _Helper | None, result: BlockResult) -> None:
        if self._store.is_done(result.block) or helper is None:
            return
        if not any(result.block in other.held for other in self._helpers.values()):
            self._queue.appendleft(result.block)
        if result.missing:
            helper.lacks.update(result.missing)
            for strategy in result.missing:
                self._tell((helper.name, strategy), f"worker {helper.name} lacks strategy {strategy}")
            return
        reasons = self._refusals.setdefault(result.block, [])
        reasons.append(result.refused or "")
        if len(reasons) >= _MAX_REFUSALS:
            self._failure = ProtocolError(f"block {result.block} was refused {len(reasons)} times: {reasons[-1]}")
            self._done.set()

    def _release(self, name: str, why: str) -> None:
        """Take a worker's blocks back."""
        helper = self._helpers.pop(name, None)
        if helper is None:
            return
        others = {block for other in self._helpers.values() for block in other.held}
        back = [block for block in helper.held if not self._store.is_done(block) and block not in others]
        self._queue.extendleft(reversed(back))
        self._say(f"worker {name} {why}" + (f": its {len(back)} blocks go to others" if back else ""))
        self._assign()

    def _assign(self) -> None:
        for helper in self._helpers.values():
            while len(helper.held) < BLOCKS_AHEAD * helper.presence.threads:
                block = self._take(helper)
                if block is None:
                    break
                self._send(helper, block)

    def _take(self, helper: _Helper) -> int | None:
        """The first queued block this worker can play."""
        passed: list[int] = []
        found = None
        while self._queue and found is None:
            block = self._queue.popleft()
            if self._store.is_done(block):
                continue  # answered late by a worker that had lost it
            if helper.can_play(self._needs[block]):
                found = block
            else:
                passed.append(block)
        self._queue.extendleft(reversed(passed))
        return found

    def _send(self, helper: _Helper, block: int) -> None:
        helper.held[block] = self._clock()
        task = Task(job=self._job, block=block, work=self._store.blocks[block])
        self._link.send(self._topics.tasks(helper.name), task.encode())
