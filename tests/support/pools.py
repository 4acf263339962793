"""A pool whose threads do no more than the first block of work until the pool is shut down."""

import threading
from concurrent.futures import ThreadPoolExecutor


class HeldPool(ThreadPoolExecutor):
    """One thread. Blocks after the first call `hold`, which returns once the pool is shutting down: what is played after
    an interrupt is what was not cancelled, however slow the machine.
    """

    def __init__(self, threads: int):
        super().__init__(1)
        self.ending = threading.Event()

    def submit(self, work, /, *arguments, **named):
        first = not self._work_queue.qsize() and not self._threads

        def held():
            if not first:
                self.ending.wait()
            return work(*arguments, **named)

        return super().submit(held)

    def shutdown(self, wait=True, *, cancel_futures=False):
        super().shutdown(wait=False, cancel_futures=cancel_futures)
        self.ending.set()
        super().shutdown(wait=wait)
