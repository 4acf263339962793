"""One HTTP connection, by uvicorn, with two limits that uvicorn lacks: the time to send the headers, and the number of
connections per address. A client that sends its headers a byte a minute, or opens many connections, cannot lock others out.
"""

import asyncio
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_HEAD_SECONDS = 10.0
_MOST_OF_AN_ADDRESS = 400


class Connection(H11Protocol):
    """A connection that must send each request's headers within a time limit from the first byte."""

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if sum(_host(one) == _host(self) for one in self.connections) > _MOST_OF_AN_ADDRESS:
            self._refuse(HTTPStatus.TOO_MANY_REQUESTS, f"{_MOST_OF_AN_ADDRESS} connections of your address are open")
        else:
            self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self.conn.trailing_data[0] and self._head_timer is None:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        late = f"the headers took longer than {_HEAD_SECONDS:g} s"
        self._head_timer = self.loop.call_later(_HEAD_SECONDS, self._refuse, HTTPStatus.REQUEST_TIMEOUT, late)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        if self.transport.is_closing():
            return
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\nConnection: close\r\nContent-Type: text/plain\r\n"
        self.transport.write(f"{head}Content-Length: {len(text) + 1}\r\n\r\n{text}\n".encode())
        self.transport.close()


def _host(connection: Any) -> str | None:
    client = getattr(connection, "client", None)  # websocket connections have a client too
    return client[0] if client else None
