"""The end of a connection's task."""

import asyncio

from foldwise.matches.network.connection import end_task


async def test_a_lost_cancellation_is_made_again():
    """As in Python 3.11's `wait_for`, which returns its result if result and cancellation arrive together."""
    lost = []

    async def stubborn():
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if lost:
                    raise
                lost.append("once")

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await end_task(task)
    assert task.cancelled() and lost == ["once"]
