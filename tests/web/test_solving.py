"""The queue of long work: one piece at a time, users in turn, and nobody's cancellation stops the line."""

import asyncio
import threading

import pytest

from foldwise.web.solving import BusyError, SolveQueue


async def test_users_take_turns():
    """Ann asks for three pieces before Bob and Cid ask for one each: they wait for one of hers, not for three."""
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
    queue.close()


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
    queue.close()


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
    queue.close()
