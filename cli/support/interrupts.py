"""Ctrl-C and SIGTERM as a request to stop at the next safe point."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stopped_by_signals(stop: Callable[[], None]) -> Iterator[list[int]]:
    """While the block runs, either signal calls `stop`; the list collects the signals received."""
    received: list[int] = []

    def ask(number: int, _: FrameType | None) -> None:
        received.append(number)
        stop()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Interruption(Exception):
    """The command was interrupted; the message says how to continue."""


@contextmanager
def going_on(how: str) -> Iterator[None]:
    """While the block runs, Ctrl-C ends the command with a line that says how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interruption(how) from None
