"""Memory and threads that solves of subgames share, one after the other or side by side."""

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from foldwise.game.arrays import Single, aligned_zeros
from foldwise.game.errors import DefinitionError
from foldwise.solver.memory_estimate import available_bytes
from foldwise.solver.side_by_side import Result, Share, side_by_side


class Workspace:
    """Lends tables to subgames and takes them back, so that the next subgame reuses them.

    A subgame keeps its tables while it exists, so several players may share one workspace, and no solution is overwritten
    while it is in use. Memory never exceeds the most that was lent at one time.
    """

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1))  # threads start with the first work
        self._free: list[Single] = []
        self._returned: deque[Single] = deque()
        self._lock = threading.Lock()

    def share(self, work: Callable[[Share], Result], shares: Sequence[Share]) -> list[Result]:
        """Call `work` on every share, side by side."""
        return side_by_side(self.pool, work, shares)

    @property
    def num_free_bytes(self) -> int:
        """What is kept for the next subgame."""
        return sum(table.nbytes for table in (*self._free, *self._returned))

    def lend(self, size: int) -> Single:
        """At least `size` numbers, the first `size` of them zero: the smallest free table that is large enough."""
        with self._lock:
            while self._returned:
                self._free.append(self._returned.popleft())
            fitting = [k for k, table in enumerate(self._free) if table.size >= size]
            if fitting:
                table = self._free.pop(min(fitting, key=lambda k: self._free[k].size))
                table[:size] = 0.0
                return table
            if self._free:  # all are too small: free the largest for a new one
                self._free.sort(key=len)
                self._free.pop()
        _check_memory(4 * size)
        return aligned_zeros(size)

    def take_back(self, table: Single) -> None:
        """Without the lock: a finalizer calls it, which may run anywhere, also within `lend`."""
        self._returned.append(table)


def _check_memory(needed: int) -> None:
    available = available_bytes()
    if needed > available:
        raise DefinitionError(
            f"a subgame of {needed / 1e9:.1f} GB where {available / 1e9:.1f} GB are free: choose fewer bet sizes"
        )
