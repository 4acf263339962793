"""What the tests of the match network share: a real broker, strategies made up, and waiting with a deadline."""

import asyncio
import contextlib
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import AbstractionConfig, check_config
from foldwise.abstraction.strategy import save_strategy
from foldwise.cli.support.local_broker import LocalBroker, find_mosquitto
from foldwise.game.library import find_definition
from foldwise.matches.network.connection import Broker, Link, read_broker
from tests.support.places import ROOT

PREFER_OWN = os.environ.get("FOLDWISE_TEST_BROKER") == "own"
SECONDS = 300.0  # of any wait: only a failing test waits this long, however busy the machine


def broker_name() -> str:
    return "own" if PREFER_OWN or find_mosquitto() is None else "mosquitto"


def start_broker(folder: Path, **options) -> LocalBroker:
    broker = LocalBroker(folder, prefer_own=PREFER_OWN, **options)
    broker.start()
    return broker


def at(broker: LocalBroker) -> Broker:
    """The broker under a root of its own, so that no test sees another's messages."""
    return read_broker(url(broker), {})


def url(broker: LocalBroker) -> str:
    return f"{broker.url}/test-{secrets.token_hex(4)}"


async def until(condition, what: str, seconds: float = SECONDS) -> None:
    """Wait for a condition that nothing signals."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds:g} s"
        await asyncio.sleep(0.01)


async def within(work, seconds: float = SECONDS):
    return await asyncio.wait_for(work, seconds)


class Clock:
    """Time that passes only when the test says so: a limit of minutes can end at once, and no other ends by itself."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def __call__(self) -> float:
        return self._seconds

    def advance(self, seconds: float) -> None:
        self._seconds += seconds


class Listener:
    """Collects what is published under some topics."""

    def __init__(self, broker: Broker, *subscribe: str):
        self.messages: list[tuple[str, bytes]] = []
        self.link = Link(broker, subscribe=subscribe, receive=lambda *message: self.messages.append(message))

    def payloads(self, ending: str) -> list[bytes]:
        return [payload for topic, payload in self.messages if topic.endswith(ending)]

    async def __aenter__(self):
        await self.link.__aenter__()
        await within(self.link.connected.wait())
        return self

    async def __aexit__(self, *error):
        await self.link.__aexit__(*error)


def write_strategy(folder: Path, seed: int) -> Path:
    """A strategy of Leduc that nobody solved: random rows."""
    game = build_abstract_game(check_config({"name": "leduc", "game": "leduc"}, AbstractionConfig, "test"))
    table = np.random.default_rng(seed).random(2 * game.num_entries)
    fields = {
        "name": "leduc",
        "game": "leduc",
        "definition": find_definition("leduc").to_text(),
        "config": {"name": "leduc", "game": "leduc"},
        "abstraction": game.fingerprint,
        "seed": seed,
        "threads": 1,
        "iterations": seed,
        "nodes": 0,
        "seconds": 0.0,
        "history": [],
    }
    save_strategy(folder, game, table, fields)
    return folder


def start_python(script: str, *arguments: str, **options) -> "subprocess.Popen[bytes]":
    """A Python process that can import the project."""
    return subprocess.Popen([sys.executable, "-c", script, *arguments], cwd=ROOT, **options)


@contextlib.contextmanager
def ended(process: "subprocess.Popen[bytes]"):
    """A process that does not outlive the block; ended by its id."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
