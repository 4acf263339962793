"""The coordinator of a comparison split over workers.

Every missing block is queued, held by a worker that was seen lately, or waiting for a second opinion. A worker that
signs off, whose will is published, that is silent or late with a block loses it to the others. Tasks are repeated at
each worker's heartbeat until answered, so nothing depends on one message arriving.

Nobody is trusted further than needed: a result counts once, from the worker its block was given to; how many blocks a
worker holds grows with its answers, not with the threads it claims; one that fails is excluded and named. A share of
the blocks is played by two workers and must agree bit for bit; if they do not, the referee plays the block here, the
worker that was wrong is excluded, and everything it had answered is played again.
"""

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from foldwise.game.arrays import Float
from foldwise.game.errors import DefinitionError, FormatError, ProtocolError
from foldwise.matches.network.block_store import BlockStore
from foldwise.matches.network.connection import PATIENCE_SECONDS, Broker, Link, Outgoing, Say
from foldwise.matches.network.messages import (
    Block,
    BlockResult,
    MessageError,
    Task,
    WorkerPresence,
    decode,
    pack_values,
)
from foldwise.matches.network.signature import Signer
from foldwise.matches.network.worker import BEAT_SECONDS, program_version

SILENT_SECONDS = 4 * BEAT_SECONDS
BLOCKS_AHEAD = 2  # per thread: one in play, one waiting
BLOCK_SECONDS = 600.0  # from task to answer: a block takes a second or so
CHECKED_SHARE = 0.02  # of all blocks, one at least: played by two workers
_MAX_LATE = 3
_MAX_WORKERS = 1000
_MAX_REFUSALS = 3
_LOOK_SECONDS = 0.5


@dataclass
class _Helper:
    """A worker as the coordinator knows it."""

    presence: WorkerPresence
    seen: float
    lacks: set[str] = field(default_factory=set)  # strategies it reported as missing
    held: dict[int, float] = field(default_factory=dict)  # block -> when it was last sent
    given: dict[int, float] = field(default_factory=dict)  # block -> when it was first sent
    num_answers: int = 0
    num_late: int = 0

    @property
    def name(self) -> str:
        return self.presence.worker

    @property
    def capacity(self) -> int:
        """Blocks it may hold: enough for one thread at first, for all its threads once it has delivered."""
        return BLOCKS_AHEAD * min(self.presence.threads, 1 + self.num_answers)

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
        signer: Signer | None = None,
        referee: Callable[[Block], Float] | None = None,
        block_seconds: float = BLOCK_SECONDS,
        checked_share: float = CHECKED_SHARE,
    ):
        self._store = store
        self._job = store.job.job
        self._say = say
        self._listen = listen
        self._patience_seconds = patience_seconds
        self._silent_seconds = silent_seconds
        self._clock = clock
        self._signer = signer or Signer()
        self._referee = referee
        self._block_seconds = block_seconds
        # From the system's generator: a dishonest worker must not know which blocks are checked.
        count = min(len(store.missing()), max(1, round(checked_share * len(store.blocks)))) if checked_share else 0
        self._checked = set(random.SystemRandom().sample(store.missing(), count))
        self._opinions: dict[int, dict[str, str]] = {}  # for blocks to be checked: each worker's answer
        self._judging: set[asyncio.Task[None]] = set()
        self._aside: dict[str, str] = {}  # workers set aside, and why
        self._topics = broker.topics
        self._helpers: dict[str, _Helper] = {}
        self._queue = deque(store.missing())
        self._needs = [
            frozenset(player.strategy for player in block.players if player.strategy is not None)
            for block in store.blocks
        ]
        self._refusals: dict[int, dict[str, str]] = {}
        self._told: set[object] = set()
        self._done = asyncio.Event()
        self._failure: ProtocolError | None = None
        self.num_repeated = 0  # repeated results
        self._link = Link(
            broker,
            subscribe=[self._topics.presence("+"), self._topics.results(self._job, "+")],
            receive=self._receive,
            greet=self._forget_sent,
            say=say,
            patience_seconds=patience_seconds,
        )

    async def run(self) -> None:
        """Run until every block is counted; raises `ProtocolError` if that is impossible."""
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
                    idle_since = connected_since = now  # the connection has its own time limit
                    continue
                for helper in list(self._helpers.values()):
                    if now - max(helper.seen, connected_since) > self._silent_seconds:
                        self._release(helper.name, f"has been silent for {self._silent_seconds:g} s")
                self._take_back_late(now)
                self._assign()
                self._settle_alone()
                if self._judging or any(helper.held for helper in self._helpers.values()):
                    idle_since = now
                elif now - idle_since > self._patience_seconds:
                    raise ProtocolError(f"{self._why_idle()} for {self._patience_seconds:g} s: given up") from None
                else:
                    self._tell("idle", f"{self._why_idle()}; waiting {self._patience_seconds:g} s for one")
        if self._failure is not None:
            raise self._failure

    def _forget_sent(self) -> list[Outgoing]:
        """After an outage every task is sent again, to every worker that the broker announces."""
        for helper in self._helpers.values():
            helper.held = dict.fromkeys(helper.held, -math.inf)
        return []

    def _why_idle(self) -> str:
        if self._aside and not self._helpers:
            named = "; ".join(f"{name}: {why}" for name, why in self._aside.items())
            return f"no worker left at broker {self._link.broker} (set aside: {named})"
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
        if name in self._aside:
            return
        if not presence.online:
            if same:  # else it is the late will of a worker that has reconnected
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
        for block, sent in known.held.items():  # a task or its answer may have been lost
            if now - sent > BEAT_SECONDS / 2:
                self._send(known, block)
        self._assign()

    def _tell_missing(self, helper: _Helper) -> None:
        have = set(helper.presence.strategies)
        for strategy in sorted(frozenset().union(*self._needs) - have):
            self._tell((helper.name, strategy), f"worker {helper.name} lacks strategy {strategy}")

    def _receive_result(self, name: str, payload: bytes) -> None:
        result = self._signer.check(decode(BlockResult, payload))
        if result.job != self._job or result.worker != name or result.block >= len(self._store.blocks):
            raise MessageError("a result of another job, worker or block")
        helper = self._helpers.get(name)
        if helper is None:
            raise MessageError("a result of a worker that is not at work here")
        if result.block not in helper.held:
            if self._store.workers.get(result.block) != name and name not in self._opinions.get(result.block, {}):
                raise MessageError("a result of a block that this worker does not hold")
            self.num_repeated += 1
            return
        helper.seen = self._clock()
        del helper.held[result.block], helper.given[result.block]
        if result.values is not None:
            self._take_values(helper, result.block, result.values)
        elif result.refused is not None:
            self._refuse(helper, result)
        self._assign()

    def _take_values(self, helper: _Helper, block: int, packed: str) -> None:
        try:
            values = pack_values(self._store.unpack(block, packed))
        except MessageError as error:
            self._queue.appendleft(block)
            self._set_aside(helper.name, f"its answer to block {block}: {error}")
            return
        helper.num_answers += 1
        if block not in self._checked:
            self._count(block, values, helper.name)
            return
        opinions = self._opinions.setdefault(block, {})
        opinions[helper.name] = values
        if len(opinions) == 1:
            self._queue.append(block)
        elif len(set(opinions.values())) == 1:
            self._count(block, values, helper.name)
        else:
            self._judge(block)

    def _count(self, block: int, values: str, worker: str) -> None:
        self._store.add(block, values, worker)
        self._listen()
        if self._store.num_done == len(self._store.blocks):
            self._done.set()

    def _settle_alone(self) -> None:
        """When nothing else is left: settle blocks that wait for a second worker when there is none."""
        if any(helper.held for helper in self._helpers.values()):
            return
        waiting = [block for block in self._queue if not self._store.is_done(block)]
        if all(block in self._opinions for block in waiting):
            for block in waiting:
                self._queue.remove(block)
                self._judge(block)

    def _judge(self, block: int) -> None:
        """Play the block here, in a thread, and exclude the workers whose answer differs."""
        if self._referee is None:  # without a referee one answer stands, and two that differ are both dropped
            opinions = self._opinions[block]
            if len(opinions) == 1:
                ((name, values),) = opinions.items()
                self._tell("alone", "one worker only: its blocks are not checked by another")
                self._count(block, values, name)
            else:
                self._queue.appendleft(block)
                for name in list(opinions):
                    self._set_aside(name, f"it and another worker differ in block {block}", replay=True)
            return
        task = asyncio.create_task(self._play_here(block))
        self._judging.add(task)
        task.add_done_callback(self._judging.discard)

    async def _play_here(self, block: int) -> None:
        assert self._referee is not None
        try:
            values = pack_values(await asyncio.to_thread(self._referee, self._store.blocks[block]))
        except (DefinitionError, FormatError, OSError) as error:
            self._failure = ProtocolError(f"block {block} cannot be played here to settle who is right: {error}")
            self._done.set()
            return
        for name, answered in list(self._opinions[block].items()):
            if answered != values:
                self._set_aside(name, f"its answer to block {block} was wrong", replay=True)
        self._count(block, values, "coordinator")
        self._assign()

    def _set_aside(self, name: str, why: str, replay: bool = False) -> None:
        """Exclude a worker: it gets no more blocks; with `replay` none of its answers counts."""
        self._aside[name] = why
        self._release(name, f"is set aside ({why})")
        if not replay:
            return
        for block, opinions in self._opinions.items():
            if opinions.pop(name, None) is not None and not opinions and not self._store.is_done(block):
                self._requeue(block)
        wrong = [block for block, worker in self._store.workers.items() if worker == name]
        for block in wrong:
            self._store.discard(block)
            self._requeue(block)
        if wrong:
            self._say(f"{len(wrong)} blocks of worker {name} are played again")

    def _requeue(self, block: int) -> None:
        if block not in self._queue and not any(block in helper.held for helper in self._helpers.values()):
            self._queue.appendleft(block)

    def _take_back_late(self, now: float) -> None:
        for helper in list(self._helpers.values()):
            late = [block for block, given in helper.given.items() if now - given > self._block_seconds]
            for block in late:
                del helper.held[block], helper.given[block]
                self._queue.appendleft(block)
            if late:
                helper.num_late += 1
                helper.num_answers = 0
                self._tell((helper.name, "late"), f"worker {helper.name} is late: {len(late)} blocks go to others")
                if helper.num_late >= _MAX_LATE:
                    self._set_aside(helper.name, f"no answer within {self._block_seconds:g} s, again and again")

    def _refuse(self, helper: _Helper, result: BlockResult) -> None:
        self._queue.appendleft(result.block)
        if result.missing:
            helper.lacks.update(result.missing)
            for strategy in result.missing:
                self._tell((helper.name, strategy), f"worker {helper.name} lacks strategy {strategy}")
            return
        reason = result.refused or ""
        reasons = self._refusals.setdefault(result.block, {})
        reasons[helper.name] = reason
        self._set_aside(helper.name, reason)
        if len(reasons) >= _MAX_REFUSALS:
            self._failure = ProtocolError(f"block {result.block} was refused by {len(reasons)} workers: {reason}")
            self._done.set()

    def _release(self, name: str, why: str) -> None:
        """Take a worker's blocks back."""
        helper = self._helpers.pop(name, None)
        if helper is None:
            return
        back = [block for block in helper.held if not self._store.is_done(block)]
        self._queue.extendleft(reversed(back))
        self._say(f"worker {name} {why}" + (f": its {len(back)} blocks go to others" if back else ""))
        self._assign()

    def _assign(self) -> None:
        for helper in self._helpers.values():
            while len(helper.held) < helper.capacity:
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
                continue
            if helper.can_play(self._needs[block]) and helper.name not in self._opinions.get(block, {}):
                found = block
            else:
                passed.append(block)
        self._queue.extendleft(reversed(passed))
        return found

    def _send(self, helper: _Helper, block: int) -> None:
        helper.held[block] = self._clock()
        helper.given.setdefault(block, helper.held[block])
        task = self._signer.sign(Task(job=self._job, block=block, work=self._store.blocks[block]))
        self._link.send(self._topics.tasks(helper.name), task.encode())
