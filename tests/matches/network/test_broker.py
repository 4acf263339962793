"""Our own broker: the protocol's bytes, wills, retained messages, and clients that misbehave."""

import asyncio
import random
import struct

import pytest

from foldwise.matches.network import broker
from foldwise.matches.network.broker import Kind, LocalServer, PacketError, check_filter, matches, packet, split_packets
from tests.support.network import until


@pytest.mark.parametrize(
    "pattern, topic, expected",
    [
        ("a/b", "a/b", True),
        ("a/b", "a/b/c", False),
        ("a/+", "a/b", True),
        ("a/+", "a", False),
        ("a/+/c", "a/b/c", True),
        ("a/#", "a/b/c", True),
        ("a/#", "a", True),  # section 4.7.1.2
        ("#", "a/b", True),
        ("#", "$SYS/x", False),  # section 4.7.2
        ("+/x", "$SYS/x", False),
        ("$SYS/+", "$SYS/x", True),
        ("+/+", "/a", True),
        ("+", "/a", False),
    ],
)
def test_filters_match_as_the_standard_says(pattern, topic, expected):
    assert matches(check_filter(pattern), topic) is expected


@pytest.mark.parametrize("pattern", ["", "a#", "a/#/b", "a+/b", "#/a"])
def test_what_is_no_filter_is_refused(pattern):
    with pytest.raises(PacketError):
        check_filter(pattern)


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16383, 16384, 2097151, 2097152])
def test_packets_come_out_as_they_went_in(size):
    """The lengths at which another byte is needed, table 2.4; in pieces of any size."""
    data = packet(Kind.PUBLISH, bytes(size), 2) + packet(Kind.PINGREQ, b"")
    received, found = bytearray(), []
    for piece in (data[:1], data[1:3], data[3:7], data[7:]):
        received += piece
        found += split_packets(received)
    assert found == [(0x32, bytes(size)), (0xC0, b"")]
    assert not received


def text(value: str) -> bytes:
    return struct.pack(">H", len(value.encode())) + value.encode()


def hello(name="me", will=None, keepalive=0):
    flags = 2 if will is None else 2 | 4 | 8 | 32
    last = b"" if will is None else text(will[0]) + text(will[1])
    return packet(Kind.CONNECT, text("MQTT") + bytes([4, flags]) + struct.pack(">H", keepalive) + text(name) + last)


class Peer:
    """A client that says exactly what the test says."""

    def __init__(self, port):
        self._port = port
        self.packets = []

    async def __aenter__(self):
        self._reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._reading = asyncio.create_task(self._read())
        return self

    async def _read(self):
        received = bytearray()
        while data := await self._reader.read(1 << 16):
            received += data
            self.packets += split_packets(received)

    async def __aexit__(self, *error):
        self.writer.close()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    def send(self, *packets):
        self.writer.write(b"".join(packets))

    @property
    def ended(self):
        return self._reading.done()

    def bodies(self, kind):
        return [body for first, body in self.packets if first >> 4 == kind]


@pytest.fixture
async def port():
    server = LocalServer()
    listening = await asyncio.get_running_loop().create_server(lambda: broker.BrokerClient(server), "127.0.0.1", 0)
    async with listening:
        yield listening.sockets[0].getsockname()[1]


def subscribe(pattern, qos=1):
    return packet(Kind.SUBSCRIBE, b"\0\1" + text(pattern) + bytes([qos]), 2)


def publish(topic, payload, qos=1, retain=False):
    number = b"\0\7" if qos else b""
    return packet(Kind.PUBLISH, text(topic) + number + payload, qos << 1 | retain)


async def test_retained_live_and_overlapping_subscriptions(port):
    async with Peer(port) as sender, Peer(port) as listener:
        sender.send(hello("sender"), publish("a/b", b"kept", retain=True), publish("a/c", b"gone"))
        await until(lambda: sender.bodies(Kind.PUBACK) == [b"\0\7"] * 2, "acknowledgements")
        listener.send(hello("listener"), subscribe("a/+"), subscribe("a/#", 0))
        await until(lambda: len(listener.bodies(Kind.PUBLISH)) == 2, "the retained message, to each subscription")
        assert [body[-4:] for body in listener.bodies(Kind.PUBLISH)] == [b"kept"] * 2
        assert all(first & 1 for first, _ in listener.packets if first >> 4 == Kind.PUBLISH)
        sender.send(publish("a/b", b"live", retain=True), publish("a/b", b"", retain=True), publish("x", b"other"))
        await until(lambda: len(listener.bodies(Kind.PUBLISH)) == 4, "both, once each")
        assert listener.packets[-1][0] == 0x32  # quality of service 1, not retained
        listener.send(packet(Kind.UNSUBSCRIBE, b"\0\2" + text("a/+") + text("a/#"), 2), subscribe("a/b"))
        await until(lambda: len(listener.bodies(Kind.SUBACK)) == 3, "the subscription")
        sender.send(publish("a/b", b"last", qos=0))
        await until(lambda: listener.bodies(Kind.PUBLISH)[-1].endswith(b"last"), "the last")
        assert len(listener.bodies(Kind.PUBLISH)) == 5  # an empty message took the retained one back


async def test_wills(port):
    """Wills are published for clients that vanish, are replaced or violate the protocol, not for those that disconnect."""
    async with Peer(port) as listener:
        listener.send(hello("listener"), subscribe("will/#"))
        async with Peer(port) as polite:
            polite.send(hello("polite", will=("will/polite", "x")), packet(Kind.DISCONNECT, b""))
            await until(lambda: polite.ended, "the end")
        async with Peer(port) as first, Peer(port) as second:
            first.send(hello("twin", will=("will/twin", "x")))
            await until(lambda: first.packets, "the first")
            second.send(hello("twin"))
            await until(lambda: first.ended and second.packets, "the second in its place")
        async with Peer(port) as rude:
            rude.send(hello("rude", will=("will/rude", "x")), publish("no/#", b""))
            await until(lambda: rude.ended, "the end")
        async with Peer(port) as dead:
            dead.send(hello("dead", will=("will/dead", "x")))
            await until(lambda: dead.packets, "its connection")
            dead.writer.transport.abort()
            await until(lambda: len(listener.bodies(Kind.PUBLISH)) == 3, "three wills")
    found = [body[2:].partition(b"\0")[0].decode() for body in listener.bodies(Kind.PUBLISH)]
    assert found == ["will/twin", "will/rude", "will/dead"]


async def test_a_silent_client_is_hung_up_on(port):
    async with Peer(port) as silent:
        silent.send(hello(keepalive=1))
        await until(lambda: silent.ended, "the end")
        assert silent.bodies(Kind.CONNACK) == [b"\0\0"]


async def test_a_client_that_does_not_read_is_hung_up_on(port, monkeypatch):
    monkeypatch.setattr(broker, "MAX_UNREAD", 1 << 20)
    async with Peer(port) as sender, Peer(port) as slow:
        slow.send(hello("slow"), subscribe("a"))
        await until(lambda: slow.bodies(Kind.SUBACK), "the subscription")
        slow.writer.transport.pause_reading()
        sender.send(hello("sender"), *[publish("a", bytes(1 << 20)) for _ in range(16)], publish("b", b""))
        await until(lambda: len(sender.bodies(Kind.PUBACK)) == 17, "all acknowledgements")
        slow.writer.transport.resume_reading()
        await until(lambda: slow.ended, "the end")


async def test_noise_ends_its_own_connection_only(port):
    draw = random.Random(5)
    true = [hello(), subscribe("a/+"), publish("a/b", b"x"), packet(Kind.PINGREQ, b"")]
    async with Peer(port) as good:
        good.send(hello("good"), subscribe("good"))
        for _ in range(200):
            async with Peer(port) as noisy:
                data = bytearray(
                    b"".join(draw.sample(true, 3)) if draw.random() < 0.5 else hello() + draw.randbytes(80)
                )
                for _ in range(3):
                    data[draw.randrange(len(data))] = draw.randrange(256)
                noisy.send(data)
                noisy.writer.write_eof()
                await until(lambda: noisy.ended, "the end")  # called at once
        good.send(publish("good", b"still here"))
        await until(lambda: any(body.endswith(b"still here") for body in good.bodies(Kind.PUBLISH)), "its message")


@pytest.mark.parametrize(
    "data",
    [
        publish("a", b"before CONNECT"),
        packet(Kind.CONNECT, text("HTTP") + bytes([4, 2, 0, 0]) + text("x")),
        b"\x10\xff\xff\xff\xff\xff",  # a length that never ends
        b"\x30\xff\xff\xff\x7f",  # 256 megabytes
        hello() + hello(),
        hello() + publish("a", b"", qos=2),
        hello() + packet(Kind.SUBSCRIBE, b"\0\1" + text("a")),  # no quality of service
        hello() + packet(Kind.PUBLISH, b"\0\2\xff\xff"),
    ],
)
async def test_what_is_not_the_protocol_ends_the_connection(port, data):
    async with Peer(port) as peer:
        peer.send(data)
        await until(lambda: peer.ended, "the end")
