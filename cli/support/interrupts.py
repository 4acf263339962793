"""Ctrl-C and SIGTERM as a request to stop at the next safe point."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
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
def going_on(how: str | Callable[[], str]) -> Iterator[None]:
    """While the block runs, Ctrl-C ends the command with a line that says how to continue, which may depend on what is
    kept by then."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interruption(how if isinstance(how, str) else how()) from None


def how_to_resume(folder: Path | None, *kept: str) -> str:
    """How to continue a command that keeps its work in a folder, once one of the files named is there."""
    if folder is None:
        return "nothing is kept without a folder: give -o DIR to be able to --resume"
    if not any((folder / name).exists() for name in kept):
        return "give the command again; nothing was finished yet"
    return f"what was finished is kept in {quote(str(folder))}: continue with the same command and --resume"
