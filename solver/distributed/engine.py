"""How the head calls its children: the same method on all, answers in their order, calls executed in order."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from foldwise.solver.distributed.child import ChildSpec, ClusterChild, make_child


class Engine(Protocol):
    """Calls children."""

    def call_all(self, method: str, *arguments: Any) -> Callable[[], list[Any]]:
        """Call `method` of every child; returns a function that waits for the answers. Calls to a child keep their order."""

    def close(self) -> None:
        """End the children; nothing is left running."""


class InProcessEngine:
    """Children in this process, a thread each: their kernels run without the interpreter's lock."""

    def __init__(self, children: Sequence[ClusterChild]):
        self._children = list(children)
        self._threads = [ThreadPoolExecutor(1) for _ in self._children]

    def call_all(self, method: str, *arguments: Any) -> Callable[[], list[Any]]:
        pending: list[Future[Any]] = [
            thread.submit(getattr(child, method), *arguments) for thread, child in zip(self._threads, self._children)
        ]
        return lambda: [answer.result() for answer in pending]

    def close(self) -> None:
        for thread in self._threads:
            thread.shutdown(cancel_futures=True)


def start_engine(specs: Sequence[ChildSpec], ray_address: str | None) -> Engine:
    """Start children with these specs: in this process, or on Ray."""
    if ray_address is None:
        return InProcessEngine([make_child(spec) for spec in specs])
    from foldwise.solver.distributed.ray_engine import RayEngine

    return RayEngine(specs, ray_address)
