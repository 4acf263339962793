"""A broker for one machine, where no mosquitto is installed: as much of MQTT 3.1.1 as the match network uses.

Sessions are clean, wills and retained messages are kept, messages go out with quality of service 0 or 1. It listens on
this machine only and knows neither users nor access lists: between machines use mosquitto (docs/mqtt.md).
OASIS, MQTT version 3.1.1 (2014). What differs: an acknowledgement of ours is never waited for, since a connection on
one machine delivers or breaks; a subscription to quality of service 2 is granted 1; publishing with 2 disconnects.

Run as a module: `python -m foldwise.matches.network.broker PORT`.
"""

import asyncio
import logging
import signal
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import count

MAX_PACKET = 4 << 20  # bytes; the longest message of ours has one megabyte
MAX_UNREAD = 64 << 20  # bytes a client may leave unread before it is disconnected
MAX_RETAINED = 100_000
_REFUSED_VERSION = 1  # section 3.2.2.3
_log = logging.getLogger(__name__)


class Kind(IntEnum):
    """Control packets; table 2.1."""

    CONNECT = 1
    CONNACK = 2
    PUBLISH = 3
    PUBACK = 4
    SUBSCRIBE = 8
    SUBACK = 9
    UNSUBSCRIBE = 10
    UNSUBACK = 11
    PINGREQ = 12
    PINGRESP = 13
    DISCONNECT = 14


class PacketError(ValueError):
    """Bytes that violate the protocol; their connection is closed."""


@dataclass(frozen=True)
class Application:
    """A message between clients."""

    topic: str
    payload: bytes
    qos: int
    retain: bool


class Fields:
    """The fields of a packet's body, read one after another."""

    def __init__(self, body: bytes):
        self._body = body
        self._at = 0

    @property
    def more(self) -> bool:
        return self._at < len(self._body)

    def take(self, size: int) -> bytes:
        taken = self._body[self._at : self._at + size]
        if len(taken) < size:
            raise PacketError("a packet ends in the middle of a field")
        self._at += size
        return taken

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self) -> int:
        found: int = struct.unpack(">H", self.take(2))[0]
        return found

    def block(self) -> bytes:
        return self.take(self.number())

    def text(self) -> str:
        try:
            found = self.block().decode("utf-8")
        except UnicodeDecodeError as error:
            raise PacketError(f"text that is not UTF-8 ({error})") from None
        if "\0" in found:
            raise PacketError("a zero in a text")
        return found

    def rest(self) -> bytes:
        return self.take(len(self._body) - self._at)


def split_packets(received: bytearray) -> Iterator[tuple[int, bytes]]:
    """First byte and body of every whole packet, which is removed from `received`."""
    while len(received) >= 2:
        size, shift, at = 0, 0, 1
        while True:
            if at >= len(received):
                return
            digit = received[at]
            size |= (digit & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if not digit & 0x80:
                break
            if shift > 21:
                raise PacketError("a length of more than four bytes")
        if size > MAX_PACKET:
            raise PacketError(f"a packet of {size} bytes, at most {MAX_PACKET} are read")
        if len(received) < at + size:
            return
        first, body = received[0], bytes(received[at : at + size])
        del received[: at + size]
        yield first, body


def packet(kind: int, body: bytes, flags: int = 0) -> bytes:
    """A packet with its length before it."""
    length, size = bytearray(), len(body)
    while True:
        size, digit = divmod(size, 128)
        length.append(digit | (0x80 if size else 0))
        if not size:
            return bytes([kind << 4 | flags]) + length + body


def check_topic(topic: str) -> str:
    if not topic or "+" in topic or "#" in topic:
        raise PacketError(f"no topic to publish on: {topic[:80]!r}")
    return topic


def check_filter(pattern: str) -> str:
    levels = pattern.split("/")
    if not pattern or "#" in "".join(levels[:-1]) or any(len(level) > 1 and set(level) & set("+#") for level in levels):
        raise PacketError(f"no topic filter: {pattern[:80]!r}")
    return pattern


def matches(pattern: str, topic: str) -> bool:
    """Whether a topic is one of a filter's; section 4.7."""
    if topic.startswith("$") and pattern[:1] in "+#":
        return False
    wanted, levels = pattern.split("/"), topic.split("/")
    for index, level in enumerate(wanted):
        if level == "#":
            return True
        if index >= len(levels) or level not in ("+", levels[index]):
            return False
    return len(wanted) == len(levels)


class BrokerClient(asyncio.Protocol):
    """One connection."""

    def __init__(self, broker: "LocalServer"):
        self._broker = broker
        self._transport: asyncio.Transport
        self._received = bytearray()
        self._seen = 0.0
        self._keepalive_seconds = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._will: Application | None = None
        self._numbers = count()
        self.name: str | None = None  # once connected
        self.filters: dict[str, int] = {}  # with the quality of service granted

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._seen = asyncio.get_running_loop().time()
        self._received += data
        try:
            for first, body in split_packets(self._received):
                if self._transport.is_closing():
                    return
                self._handle(first >> 4, first & 15, Fields(body))
        except PacketError as error:
            _log.info("client %s disconnected: %s", self.name, error)
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._broker.leave(self)
        if self._will is not None:
            self._broker.publish(self._will)
            self._will = None

    def close(self) -> None:
        self._transport.close()

    def deliver(self, message: Application) -> None:
        """Send with the message's quality of service; a client that does not read is disconnected, so nobody else waits."""
        if self._transport.is_closing():
            return
        number = struct.pack(">H", next(self._numbers) % 65535 + 1) if message.qos else b""
        topic = message.topic.encode()
        body = struct.pack(">H", len(topic)) + topic + number + message.payload
        self._transport.write(packet(Kind.PUBLISH, body, message.qos << 1 | message.retain))
        if self._transport.get_write_buffer_size() > MAX_UNREAD:
            _log.warning("client %s does not read: disconnected", self.name)
            self._transport.abort()

    def _handle(self, kind: int, flags: int, fields: Fields) -> None:
        if (kind == Kind.CONNECT) != (self.name is None):
            raise PacketError("expected one CONNECT, and first")
        match kind:
            case Kind.CONNECT:
                self._connect(fields)
            case Kind.PUBLISH:
                self._publish(flags, fields)
            case Kind.SUBSCRIBE:
                self._subscribe(fields)
            case Kind.UNSUBSCRIBE:
                number = fields.take(2)
                while fields.more:
                    self.filters.pop(fields.text(), None)
                self._transport.write(packet(Kind.UNSUBACK, number))
            case Kind.PINGREQ:
                self._transport.write(packet(Kind.PINGRESP, b""))
            case Kind.DISCONNECT:
                self._will = None
                self._transport.close()
            case Kind.PUBACK:
                pass
            case _:
                raise PacketError(f"packet of kind {kind}")

    def _connect(self, fields: Fields) -> None:
        protocol, level, flags, keepalive = fields.text(), fields.byte(), fields.byte(), fields.number()
        if protocol != "MQTT":
            raise PacketError(f"protocol {protocol[:20]!r}")
        if level != 4:
            self._transport.write(packet(Kind.CONNACK, bytes([0, _REFUSED_VERSION])))
            raise PacketError(f"version {level} of the protocol")
        name = fields.text()
        if flags & 4:
            self._will = Application(
                check_topic(fields.text()), fields.block(), min(flags >> 3 & 3, 1), bool(flags & 32)
            )
        self.name = name or f"nameless-{id(self)}"
        self._keepalive_seconds = 1.5 * keepalive  # section 3.1.2.10
        if keepalive:
            self._look()
        self._broker.join(self)
        self._transport.write(packet(Kind.CONNACK, bytes(2)))

    def _look(self) -> None:
        """Disconnect a client that is silent for too long."""
        loop = asyncio.get_running_loop()
        left = self._seen + self._keepalive_seconds - loop.time()
        if left <= 0:
            _log.info("client %s is silent: disconnected", self.name)
            self._transport.abort()
        else:
            self._timer = loop.call_later(left, self._look)

    def _publish(self, flags: int, fields: Fields) -> None:
        qos = flags >> 1 & 3
        if qos > 1:
            raise PacketError(f"quality of service {qos}")
        topic = check_topic(fields.text())
        number = fields.take(2) if qos else b""
        self._broker.publish(Application(topic, fields.rest(), qos, bool(flags & 1)))
        if qos:
            self._transport.write(packet(Kind.PUBACK, number))

    def _subscribe(self, fields: Fields) -> None:
        number, granted = fields.take(2), {}
        while fields.more:
            pattern = check_filter(fields.text())
            granted[pattern] = min(fields.byte(), 1)
        self.filters.update(granted)
        self._transport.write(packet(Kind.SUBACK, number + bytes(granted.values())))
        for message in self._broker.kept(granted):
            self.deliver(message)


class LocalServer:
    """All clients, and the retained messages."""

    def __init__(self) -> None:
        self._clients: dict[str, BrokerClient] = {}
        self._retained: dict[str, Application] = {}

    def join(self, client: BrokerClient) -> None:
        """A second client with the same name replaces the first; section 3.1.4."""
        assert client.name is not None
        before = self._clients.get(client.name)
        self._clients[client.name] = client
        if before is not None:
            before.close()

    def leave(self, client: BrokerClient) -> None:
        if client.name is not None and self._clients.get(client.name) is client:
            del self._clients[client.name]

    def publish(self, message: Application) -> None:
        """Send to every client once, however many of its filters match; the newest retained message of a topic is kept."""
        if message.retain:
            self._retained.pop(message.topic, None)
            if message.payload and len(self._retained) < MAX_RETAINED:
                self._retained[message.topic] = message
        for client in list(self._clients.values()):
            granted = [qos for pattern, qos in client.filters.items() if matches(pattern, message.topic)]
            if granted:
                client.deliver(Application(message.topic, message.payload, min(message.qos, max(granted)), False))

    def kept(self, granted: dict[str, int]) -> Iterator[Application]:
        """Retained messages for new subscriptions."""
        for message in list(self._retained.values()):
            levels = [qos for pattern, qos in granted.items() if matches(pattern, message.topic)]
            if levels:
                yield Application(message.topic, message.payload, min(message.qos, max(levels)), True)

    async def serve(self, port: int) -> None:
        """Serve until SIGTERM or SIGINT."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ended.set)
        server = await loop.create_server(lambda: BrokerClient(self), "127.0.0.1", port)
        async with server:
            await ended.wait()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(LocalServer().serve(int(sys.argv[1])))
