"""One seat's connection: lines are pulled from the socket only when they are wanted, states are pushed at once.

What a client sends ahead of its turn waits in the kernel's buffer until TCP slows the sender down, so a flood costs the
dealer neither time nor memory, and a write to a vanished client fails at the same write as the reference dealer's.
"""

import asyncio
import contextlib
import socket

# The reference dealer's line buffer: what is longer is cut and the rest becomes the next line.
MAX_LINE = 4095
_CHUNK = 16384
# States a client has not read. A client that lets this fill up is not playing.
MAX_BACKLOG = 1 << 16


async def wait_readable(sock: socket.socket, timeout_seconds: float | None) -> bool:
    """Wait until `sock` has something to read or accept; False when the time is over."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    # Both callbacks may fire in one turn of the loop: the first one counts.
    timer = None if timeout_seconds is None else loop.call_later(max(timeout_seconds, 0.0), _settle, ready, False)
    loop.add_reader(sock.fileno(), _settle, ready, True)
    try:
        return bool(await ready)
    finally:
        loop.remove_reader(sock.fileno())
        if timer is not None:
            timer.cancel()


def _settle(future: "asyncio.Future[bool]", value: bool) -> None:
    if not future.done():
        future.set_result(value)


class SeatConnection:
    """The dealer's end of one player's connection."""

    def __init__(self, sock: socket.socket):
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = sock
        self._received = bytearray()
        self.ended = False
        self._unsent = bytearray()
        self._broken: OSError | None = None

    async def read_line(self, timeout_seconds: float | None) -> bytes | None:
        """The next line, its end included; None when the time is over or the stream has ended with nothing left.

        At most `MAX_LINE` bytes are one line. An unfinished line before the end of the stream counts as a line.
        """
        deadline = None
        while True:
            line = self._take_line()
            if line is not None:
                return line
            if self.ended:
                return None
            try:
                data = self._socket.recv(_CHUNK)
            except BlockingIOError:
                left = None
                if timeout_seconds is not None:
                    now = asyncio.get_running_loop().time()
                    deadline = now + timeout_seconds if deadline is None else deadline
                    left = deadline - now
                if not await wait_readable(self._socket, left):
                    return None
            except OSError:  # reset by the peer: what came before it is lost, as it is to any reader
                self.ended = True
            else:
                self._received += data
                self.ended = not data

    def _take_line(self) -> bytes | None:
        received = self._received
        if not received:
            return None
        end = received.find(b"\n", 0, MAX_LINE) + 1
        if end == 0:
            if len(received) < MAX_LINE and not self.ended:
                return None
            end = min(len(received), MAX_LINE)
        line = bytes(received[:end])
        del received[:end]
        return line

    def send(self, data: bytes) -> None:
        """Send now what the socket takes and keep the rest; raises `OSError` where the peer is gone."""
        if self._broken is not None:
            raise self._broken
        if self._unsent:
            self._unsent += data
            return
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        if sent < len(data):
            self._unsent += data[sent:]
            asyncio.get_running_loop().add_writer(self._socket.fileno(), self._send_more)

    def _send_more(self) -> None:
        try:
            del self._unsent[: self._socket.send(self._unsent)]
        except BlockingIOError:
            return
        except OSError as error:
            self._broken = error
            self._unsent.clear()
        if not self._unsent:
            asyncio.get_running_loop().remove_writer(self._socket.fileno())

    @property
    def backlog(self) -> int:
        """Bytes accepted by `send` that the client has not taken."""
        return len(self._unsent)

    async def drain(self, most: int, timeout_seconds: float) -> bool:
        """Wait until at most `most` bytes are unsent; False when the time is over."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_seconds
        while len(self._unsent) > most:
            if loop.time() >= deadline:
                return False
            await asyncio.sleep(0.01)
        return True

    def close(self) -> None:
        if self._unsent:
            asyncio.get_running_loop().remove_writer(self._socket.fileno())
        with contextlib.suppress(OSError):
            self._socket.close()
