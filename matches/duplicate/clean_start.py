"""Starting a fresh Python without the current folder on its module path, and where Ctrl-C is left to its parent."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker
from types import FrameType

_VARIABLE = "PYTHONSAFEPATH"
_lock = threading.Lock()
_users = 0
_before: str | None = None


@contextlib.contextmanager
def clean_start() -> Iterator[None]:
    """While the block runs, interpreters are started as by `python -P`.

    multiprocessing starts them with `-c`, which puts the current folder first on the path: a user's own `queue.py` would
    hide the standard library's.
    """
    global _users, _before
    with _lock:
        if _users == 0:
            _before = os.environ.get(_VARIABLE)
            os.environ[_VARIABLE] = "1"
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _restore(os.environ)


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """Processes started in the block do not hear Ctrl-C, which a terminal sends to all at once: their parent ends them.

    One that heard it while it loads would print a traceback, as would one whose parent was interrupted before it had told
    it what to do: in the main thread the interrupt waits for the end of the block.
    """
    resource_tracker.ensure_running()  # multiprocessing's helper; starting it would end the block
    with _later_interrupts():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _later_interrupts() -> Iterator[None]:
    """Blocking the signal is not enough: another thread may receive it, and the main thread then handles it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: received.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if received and callable(before):
            before(*received[0])


@contextlib.contextmanager
def hearing_interrupts() -> Iterator[None]:
    """While the block runs, a process started without interrupts hears Ctrl-C: the work ends by `KeyboardInterrupt`."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def user_environment() -> dict[str, str]:
    """The user's original environment, for external programs, which may import modules beside them."""
    with _lock:
        environment = dict(os.environ)
        if _users:
            _restore(environment)
    return environment


def _restore(environment: "os._Environ[str] | dict[str, str]") -> None:
    if _before is None:
        environment.pop(_VARIABLE, None)
    else:
        environment[_VARIABLE] = _before
