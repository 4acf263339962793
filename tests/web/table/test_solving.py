"""The queue of long work: one job at a time, users in turn, and no cancellation stops the queue."""

import asyncio
import subprocess
import sys
import threading

import pytest

from foldwise.web.table.solving import BusyError, SolveQueue
from tests.support.places import ROOT
from tests.support.web_server import SECONDS


async def test_users_take_turns():
    """Ann asks for three jobs before Bob and Cid ask for one each: they wait for one of hers, not for three."""
    queue, order = SolveQueue(), []
    held = threading.Event()
    running, most = 0, 0
    lock = threading.Lock()

    def work(name):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        if name == "ann 1":
            held.wait()
        order.append(name)
        with lock:
            running -= 1
        return name

    names = ["ann 1", "ann 2", "ann 3", "bob 1", "cid 1"]
    tasks = [asyncio.create_task(queue.run(name.split()[0], lambda name=name: work(name))) for name in names]
    while len(queue._waiting) < 3:
        await asyncio.sleep(0)
    held.set()
    assert await asyncio.gather(*tasks) == names
    assert order == ["ann 1", "ann 2", "bob 1", "cid 1", "ann 3"]
    assert most == 1


async def test_errors_and_cancellation_hand_the_turn_on():
    queue = SolveQueue()
    held = threading.Event()
    first = asyncio.create_task(queue.run("ann", held.wait))
    await asyncio.sleep(0)
    second = asyncio.create_task(queue.run("bob", lambda: "never"))
    third = asyncio.create_task(queue.run("cid", lambda: 1 / 0))
    fourth = asyncio.create_task(queue.run("dan", lambda: "done"))
    while len(queue._waiting) < 3:
        await asyncio.sleep(0)
    second.cancel()
    held.set()
    assert await first
    with pytest.raises(asyncio.CancelledError):
        await second
    with pytest.raises(ZeroDivisionError):
        await third
    assert await fourth == "done"


async def test_one_user_cannot_fill_the_line():
    queue = SolveQueue()
    held = threading.Event()
    tasks = [asyncio.create_task(queue.run("ann", held.wait)) for _ in range(9)]
    while len(queue._waiting.get("ann", ())) < 8:
        await asyncio.sleep(0)
    with pytest.raises(BusyError, match="let one finish"):
        await queue.run("ann", held.wait)
    held.set()
    assert await queue.run("bob", lambda: 1) == 1
    assert all(await asyncio.gather(*tasks))


async def test_who_stops_waiting_does_not_let_two_run_at_once():
    queue, held, order = SolveQueue(), threading.Event(), []
    first = asyncio.create_task(queue.run("ann", lambda: (held.wait(), order.append("ann"))))
    await asyncio.sleep(0)
    second = asyncio.create_task(queue.run("bob", lambda: order.append("bob")))
    while not queue._waiting:
        await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert not second.done()
    held.set()
    await second
    assert order == ["ann", "bob"]


def test_work_that_never_ends_does_not_keep_the_process():
    script = (
        "import asyncio, threading; from foldwise.web.table.solving import SolveQueue\n"
        "async def main():\n"
        "    task = asyncio.create_task(SolveQueue().run('ann', threading.Event().wait))\n"
        "    await asyncio.sleep(0); await asyncio.sleep(0); task.cancel()\n"
        "asyncio.run(main())"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, timeout=SECONDS, check=False).returncode == 0
