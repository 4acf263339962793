"""Work that takes too long for the event loop: one job at a time in a thread, users in turn."""

import asyncio
import contextlib
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")
_MOST_WAITING = 8  # jobs of one user


class BusyError(RuntimeError):
    """A user has too many jobs waiting."""


class SolveQueue:
    """Runs one job at a time, in turn by user: a user with many jobs does not hold up a user with one."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._running = False

    async def run(self, user: str, work: Callable[[], Result]) -> Result:
        """The result of `work`, once it is this user's turn; cancelling the wait does not stop the work."""
        await self._turn(user)
        done = _in_thread(work)
        done.add_done_callback(self._hand_on)
        return await asyncio.shield(done)

    def _hand_on(self, done: asyncio.Future[Any]) -> None:
        if not done.cancelled():
            done.exception()  # retrieve it, as nobody may be awaiting it
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
            if mine.done() and not mine.cancelled():  # cancelled just as its turn came: pass the turn on
                self._running = False
                self._next()
            raise

    def _next(self) -> None:
        """Wake the user who has waited longest; one with more jobs goes to the end of the queue."""
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


def _in_thread(work: Callable[[], Result]) -> asyncio.Future[Result]:
    """Run the work in a daemon thread, which does not keep the server from exiting."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def settle(set_it: Callable[[Any], None], what: object) -> None:
        if not done.done():
            set_it(what)

    def run() -> None:
        set_it: Callable[[Any], None] = done.set_result
        try:
            what: object = work()
        except Exception as error:  # noqa: BLE001  # passed on to the caller
            set_it, what = done.set_exception, error
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, set_it, what)

    threading.Thread(target=run, name="solve", daemon=True).start()
    return done
