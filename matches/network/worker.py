"""A worker: offers its cores at a broker, plays the blocks it is sent, and answers each with its values.

A repeated task is answered again but not played again, so that coordinators may resend freely. A worker guarantees
nothing beyond its answers: when it is gone, as its presence shows, the coordinator must ask another one.
"""

import asyncio
import logging
import secrets
import socket
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

from foldwise.game.errors import DefinitionError, FormatError
from foldwise.matches.network.block_player import BlockPlayer, StrategyShelf, UnknownStrategyError
from foldwise.matches.network.connection import PATIENCE_SECONDS, Broker, Link, Outgoing, Say
from foldwise.matches.network.messages import (
    BlockResult,
    MessageError,
    Task,
    WorkerPresence,
    check_word,
    decode,
    pack_values,
)
from foldwise.matches.network.signature import Signer

BEAT_SECONDS = 5.0
_MAX_QUEUED = 4096
_MAX_ANSWERS = 512
_MOST_STRATEGIES = 1500
_log = logging.getLogger(__name__)


def default_name() -> str:
    host = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in socket.gethostname())
    return f"{host[:40] or 'worker'}-{secrets.token_hex(4)}"


def program_version() -> str:
    """The program's version, which must be the same on all machines of a comparison."""
    return f"foldwise {version('foldwise')}"


class Worker:
    """One worker process. `run` continues until it is cancelled."""

    def __init__(
        self,
        broker: Broker,
        name: str,
        strategies: Path | None,
        threads: int,
        say: Say,
        patience_seconds: float = PATIENCE_SECONDS,
        signer: Signer | None = None,
    ):
        if strategies is not None and not strategies.is_dir():
            raise DefinitionError(f"--strategies {str(strategies)!r}: expected a folder")
        self.name = check_word(name, "worker")
        self._session = secrets.token_hex(8)
        self._shelf = StrategyShelf(strategies)
        self._player = BlockPlayer(self._shelf)
        self._threads = threads
        self._say = say
        self._signer = signer or Signer()
        self._strategies: list[str] = []
        self._running: set[tuple[str, int]] = set()
        self._answers: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self.num_played = 0
        topics = broker.topics
        self._topics = topics
        self._link = Link(
            broker,
            subscribe=[topics.tasks(name)],
            receive=self._receive,
            greet=lambda: [self._presence(True)],
            will=self._presence(False),
            say=say,
            patience_seconds=patience_seconds,
        )

    async def run(self) -> None:
        """Work until cancelled; raises `BrokerError` when the broker is gone."""
        self._loop = asyncio.get_running_loop()
        self._strategies = (await asyncio.to_thread(self._shelf.scan))[:_MOST_STRATEGIES]
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="block")
        try:
            async with self._link as link:
                try:
                    await link.during(self._beat())
                finally:
                    if link.connected.is_set():
                        link.send(*self._presence(False))
                        await link.flush(2.0)
        finally:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._say(f"worker {self.name}: {self.num_played} blocks played")

    def _presence(self, online: bool) -> Outgoing:
        presence = WorkerPresence(
            worker=self.name,
            session=self._session,
            online=online,
            threads=self._threads if online else 0,
            program=program_version(),
            strategies=self._strategies if online else [],
        )
        return Outgoing(self._topics.presence(self.name), presence.encode(), True)

    async def _beat(self) -> None:
        """Announce our presence at intervals: a broker may have restarted, or may have published our will."""
        await self._link.connected.wait()
        self._say(
            f"worker {self.name}: {self._threads} threads, {len(self._strategies)} strategies; waiting for blocks"
        )
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            self._strategies = (await asyncio.to_thread(self._shelf.scan))[:_MOST_STRATEGIES]
            if self._link.connected.is_set():
                self._link.send(*self._presence(True))

    def _receive(self, topic: str, payload: bytes) -> None:
        task = self._signer.check(decode(Task, payload))
        key = (task.job, task.block)
        if key in self._answers:
            self._link.send(self._topics.results(task.job, self.name), self._answers[key])
        elif key not in self._running:
            if len(self._running) >= _MAX_QUEUED:
                raise MessageError(f"{len(self._running)} blocks are waiting already")
            self._running.add(key)
            self._pool.submit(self._play, task)

    def _play(self, task: Task) -> None:
        """In a thread of the pool."""
        result = BlockResult(job=task.job, block=task.block, worker=self.name)
        try:
            values = pack_values(self._player.play(task.work))
            result = result.model_copy(update={"values": values})
        except UnknownStrategyError as error:
            result = result.model_copy(update={"refused": str(error), "missing": [error.fingerprint]})
        except (DefinitionError, FormatError, OSError) as error:
            result = result.model_copy(update={"refused": _one_line(error)})
        except Exception as error:  # noqa: BLE001  # a task must neither end the worker nor go unanswered
            _log.exception("block %d of %s", task.block, task.job)
            result = result.model_copy(update={"refused": _one_line(error)})
        self._loop.call_soon_threadsafe(self._finish, task, result)

    def _finish(self, task: Task, result: BlockResult) -> None:
        key = (task.job, task.block)
        payload = self._signer.sign(result).encode()
        self._running.discard(key)
        if result.refused is None:
            self.num_played += 1
            self._answers[key] = payload
            if len(self._answers) > _MAX_ANSWERS:
                self._answers.popitem(last=False)
        else:
            self._say(f"worker {self.name}: block {task.block} of {task.job} refused: {result.refused}")
        self._link.send(self._topics.results(task.job, self.name), payload)


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return "".join(letter for letter in f"{type(error).__name__}: {text}" if letter.isprintable())[:400]
