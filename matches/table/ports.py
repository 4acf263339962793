"""Listening sockets: the ports given, or those the reference dealer would try for the seed."""

import errno
import socket
from collections.abc import Iterator

from foldwise.game.errors import DefinitionError

_FIRST_PORT = 1024
_ATTEMPTS = 10


def _additive_random(seed: int) -> Iterator[int]:
    """The C library's random() of 2^31 values: additive feedback over 31 words, the first 310 outputs dropped."""
    words = [seed or 1]
    word = words[0] - 2**32 if words[0] >= 2**31 else words[0]
    for _ in range(30):
        high = abs(word) // 127773 * (1 if word >= 0 else -1)  # C divides towards zero
        word = 16807 * (word - 127773 * high) - 2836 * high
        word += 2**31 - 1 if word < 0 else 0
        words.append(word)
    words += words[:3]
    drawn = 0
    while True:
        words.append((words[-31] + words[-3]) % 2**32)
        del words[:-34]
        drawn += 1
        if drawn > 310:
            yield words[-1] >> 1


def _listen(address: str, port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((address, port))
        sock.listen(8)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock


def open_listeners(address: str, ports: tuple[int, ...], num_seats: int, seed: int) -> list[socket.socket]:
    """One listening socket per seat. A port that is missing or 0 is drawn from the seed, as the reference draws it;
    if ten in a row are taken (where the reference gives up) the system chooses a free one.
    """
    candidates = _additive_random(seed % 2**32)
    listeners: list[socket.socket] = []
    try:
        for seat in range(num_seats):
            wanted = ports[seat] if seat < len(ports) else 0
            if wanted:
                listeners.append(_listen_given(address, wanted))
            else:
                listeners.append(_listen_drawn(address, candidates))
    except BaseException:
        for listener in listeners:
            listener.close()
        raise
    return listeners


class PortTakenError(DefinitionError):
    """Another program is using the port."""


def _listen_given(address: str, port: int) -> socket.socket:
    try:
        return _listen(address, port)
    except (OSError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise PortTakenError(
                f"cannot listen on {address}:{port}, it is taken: give a free port, or 0 for any"
            ) from None
        raise DefinitionError(f"cannot listen on {address}:{port} ({error}): give a free port, or 0 for any") from error


def _listen_drawn(address: str, candidates: Iterator[int]) -> socket.socket:
    for _ in range(_ATTEMPTS):
        try:
            return _listen(address, _FIRST_PORT + next(candidates) % (2**16 - _FIRST_PORT))
        except OSError:
            continue
    return _listen_given(address, 0)
