"""One seat's connection: lines are read from the socket only when needed, states are sent at once.

What a client sends ahead of its turn waits in the kernel's buffer until TCP slows the sender down, so a flood costs the
dealer neither time nor memory, and a write to a vanished client fails at the same write as the reference dealer's.
"""

import asyncio
import contextlib
import select
import socket

# The reference dealer's line buffer: a longer line is cut, and the rest becomes the next line.
MAX_LINE = 4095
_CHUNK = 16384
# Bytes of states that a client has not read. A client that lets this fill up is not playing.
MAX_BACKLOG = 1 << 16
# How long a dealer that has its process to itself waits for an answer outside the event loop. Programs answer sooner; an
# interrupt waits at most so long.
_IN_PLACE_MS = 20


class Readiness:
    """Waits until a socket has something to read or to accept.

    The socket stays registered with the loop between waits, and one timer serves many of them, so that consecutive waits
    cost no system call. It is unregistered only when data arrives that nobody waits for, so that the loop does not spin.
    """

    def __init__(self, sock: socket.socket):
        self._loop = asyncio.get_running_loop()
        self._descriptor = sock.fileno()
        self._registered = False
        self._waiter: asyncio.Future[bool] | None = None
        self._deadline: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def wait(self, timeout_seconds: float | None) -> bool:
        """True once there is something to read; False if the time runs out."""
        if not self._registered:
            self._loop.add_reader(self._descriptor, self._on_readable)
            self._registered = True
        self._deadline = None if timeout_seconds is None else self._loop.time() + timeout_seconds
        if self._deadline is not None and (self._timer is None or self._timer.when() > self._deadline):
            self._set_timer(self._deadline)
        self._waiter = self._loop.create_future()
        try:
            return await self._waiter
        finally:
            self._waiter = None

    def _on_readable(self) -> None:
        if self._waiter is None:
            self._unregister()
        elif not self._waiter.done():
            self._waiter.set_result(True)

    def _set_timer(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        if self._waiter is None or self._waiter.done() or self._deadline is None:
            return
        if self._loop.time() >= self._deadline:
            self._waiter.set_result(False)
        else:
            self._set_timer(self._deadline)

    def _unregister(self) -> None:
        if self._registered:
            self._loop.remove_reader(self._descriptor)
            self._registered = False

    def close(self) -> None:
        """Unregister; call it before the socket is closed."""
        self._unregister()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class SeatConnection:
    """The dealer's end of one player's connection.

    With `alone` nothing else runs on the event loop, and a wait begins at the socket itself: one system call, where the
    loop makes four and runs twice.
    """

    def __init__(self, sock: socket.socket, alone: bool = False):
        sock.setblocking(False)
        self._poll = None
        if alone and hasattr(select, "poll"):  # Windows has none
            self._poll = select.poll()
            self._poll.register(sock, select.POLLIN)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = sock
        self._readiness = Readiness(sock)
        self._received = bytearray()
        self.ended = False
        self._unsent = bytearray()
        self._broken: OSError | None = None

    async def read_line(self, timeout_seconds: float | None) -> bytes | None:
        """The next line with its end; None if the time runs out or the stream has ended.

        At most `MAX_LINE` bytes are one line. An unfinished line before the end of the stream counts as a line.
        """
        deadline = None
        while True:
            line = self._take_line()
            if line is not None:
                return line
            if self.ended:
                return None
            if self._poll is not None and (timeout_seconds is None or 1000 * timeout_seconds > _IN_PLACE_MS):
                self._poll.poll(_IN_PLACE_MS)
            try:
                data = self._socket.recv(_CHUNK)
            except BlockingIOError:
                left = None
                if timeout_seconds is not None:
                    now = asyncio.get_running_loop().time()
                    deadline = now + timeout_seconds if deadline is None else deadline
                    left = deadline - now
                if not await self._readiness.wait(left):
                    return None
            except OSError:  # reset by the peer: data before it is lost to any reader
                self.ended = True
            else:
                if not self._received and 0 < data.find(b"\n") + 1 == len(data) <= MAX_LINE:
                    return data  # one whole line, as a player sends it
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
        """Send what the socket accepts now and keep the rest; raises `OSError` if the peer is gone."""
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
        """Wait until at most `most` bytes are unsent; False if the time runs out."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_seconds
        while len(self._unsent) > most:
            if loop.time() >= deadline:
                return False
            await asyncio.sleep(0.01)
        return True

    def close(self) -> None:
        self._readiness.close()
        if self._unsent:
            asyncio.get_running_loop().remove_writer(self._socket.fileno())
        with contextlib.suppress(OSError):
            self._socket.close()
