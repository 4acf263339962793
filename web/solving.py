"""Work that takes longer than an answer may: one piece at a time in a thread, and users in turn."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")
_MOST_WAITING = 8  # pieces of one user


class BusyError(RuntimeError):
    """A user who has asked for too much at once."""


class SolveQueue:
    """Runs one piece of work at a time. A user with many pieces waits behind everyone who has one."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._running = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="solve")

    async def run(self, user: str, work: Callable[[], Result]) -> Result:
        """The result of `work`, once it is this user's turn."""
        await self._turn(user)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        finally:
            self._running = False
            self._next()

    async def _turn(self, user: str) -> None:
        if not self._running:
            self._running = True
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue = self._waiting.setdefault(user, deque())
        if len(queue) >= _MOST_WAITING:
            raise BusyError(f"{_MOST_WAITING} of your solves are waiting: let one finish first")
        queue.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():  # the turn had just come: hand it on
                self._running = False
                self._next()
            raise

    def _next(self) -> None:
        """Wake the user who has waited longest for a turn; one with more work goes to the end of the line."""
        while self._waiting and not self._running:
            user, queue = self._waiting.popitem(last=False)
            while queue and queue[0].cancelled():
                queue.popleft()
            if not queue:
                continue
            waiter = queue.popleft()
            if queue:
                self._waiting[user] = queue
            self._running = True
            waiter.set_result(None)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
