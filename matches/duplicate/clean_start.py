"""Starting a fresh Python without the current folder on its module path."""

import contextlib
import os
import threading
from collections.abc import Iterator

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
