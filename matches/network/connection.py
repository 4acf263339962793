"""The connection to a broker: where it is, who we are, and how it comes back when it is lost.

aiomqtt's client never reconnects by itself, and a publish that waits for its acknowledgement does not notice a lost
connection; `Link` does both. What is sent during an outage is kept and delivered after it, in order and at least once:
receivers tell repeats by the ids in the messages.
"""

import asyncio
import contextlib
import logging
import os
import random
import socket
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import NamedTuple, Self, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

import aiomqtt

from foldwise.game.errors import DefinitionError, ProtocolError
from foldwise.matches.network.messages import DropLog, MessageError, Topics, check_word

PATIENCE_SECONDS = 60.0
KEEPALIVE_SECONDS = 10
ENVIRONMENT = "FOLDWISE_MQTT_"
_FIRST_WAIT_SECONDS = 0.1
_LONGEST_WAIT_SECONDS = 10.0
_SETTLED_SECONDS = 5.0  # a connection that lasted this long resets the waits
_MAX_FLYING = 64
_MAX_OUTBOX = 1000
_CALL_SECONDS = 10.0
_CANCEL_AGAIN_SECONDS = 1.0
_REFUSED_FOR_GOOD = {1, 2, 4, 5}  # MQTT 3.1.1, table 3.1: protocol, identifier, user or password, not authorised
_log = logging.getLogger(__name__)
Result = TypeVar("Result")


class BrokerError(ProtocolError):
    """There is no broker, or it refuses us."""


@dataclass(frozen=True)
class Broker:
    """A broker's address and our credentials. Its text form, for logs, holds no secret."""

    host: str
    port: int
    root: str  # of all topics
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"{'mqtt' if self.tls is None else 'mqtts'}://{self.host}:{self.port}/{self.root}"

    @property
    def topics(self) -> Topics:
        return Topics(self.root)


def read_broker(url: str, environment: Mapping[str, str] | None = None) -> Broker:
    """`mqtt[s]://[USER@]HOST[:PORT][/ROOT][?ca=FILE&cert=FILE&key=FILE]`, the rest from the environment.

    A password in a URL would be visible to everybody in the list of processes, so it is refused there; it comes from
    FOLDWISE_MQTT_PASSWORD or the file FOLDWISE_MQTT_PASSWORD_FILE names.
    """
    given = os.environ if environment is None else environment
    form = "expected mqtt://HOST[:PORT][/ROOT] or mqtts://HOST[:PORT][/ROOT]"
    try:
        parts = urlsplit(url)
        port = parts.port
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError as error:
        raise DefinitionError(f"broker URL ({error}): {form}") from None
    if parts.password is not None:
        raise DefinitionError(
            f"broker URL of {parts.hostname}: a password in it would show in the list of processes; "
            f"set {ENVIRONMENT}PASSWORD or {ENVIRONMENT}PASSWORD_FILE"
        )
    if parts.scheme not in ("mqtt", "mqtts") or not parts.hostname or parts.fragment:
        raise DefinitionError(f"broker URL {url!r}: {form}")
    try:
        parts.hostname.encode("idna")  # as the resolver will do, but with an error now instead of later
    except UnicodeError as error:
        raise DefinitionError(f"broker URL {url!r} ({error}): {form}") from None
    unknown = sorted(set(options) - {"ca", "cert", "key"})
    if unknown:
        raise DefinitionError(f"broker URL option {unknown[0]!r}: expected ca, cert or key")
    root = unquote(parts.path).strip("/") or "foldwise"
    for level in root.split("/"):
        check_word(level, "topic root")
    secure = parts.scheme == "mqtts"
    files = {name: options.get(name) or given.get(ENVIRONMENT + name.upper()) for name in ("ca", "cert", "key")}
    if options and not secure:
        raise DefinitionError(f"broker URL {url!r}: certificates are for mqtts://")
    return Broker(
        host=parts.hostname,
        port=port or (8883 if secure else 1883),
        root=root,
        tls=_tls_context(files, given.get(f"{ENVIRONMENT}KEY_PASSWORD")) if secure else None,
        user=unquote(parts.username) if parts.username else given.get(f"{ENVIRONMENT}USER"),
        password=_password(given),
    )


def _password(environment: Mapping[str, str]) -> str | None:
    path = environment.get(f"{ENVIRONMENT}PASSWORD_FILE")
    if path is None:
        return environment.get(f"{ENVIRONMENT}PASSWORD")
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123  # a pipe or /dev/fd works too
            return file.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"{ENVIRONMENT}PASSWORD_FILE {path!r} cannot be read ({error})") from None


def _tls_context(files: Mapping[str, str | None], key_password: str | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=files["ca"])
        if files["cert"] is not None:
            context.load_cert_chain(files["cert"], files["key"], key_password or "")
    except OSError as error:  # ssl.SSLError is one
        named = ", ".join(f"{name} {path}" for name, path in files.items() if path)
        raise DefinitionError(f"TLS files ({named}) cannot be used ({error}): expected PEM files") from None
    return context


class Outgoing(NamedTuple):
    """A message to be sent, at least once."""

    topic: str
    payload: bytes
    retain: bool = False


Receiver = Callable[[str, bytes], None]  # topic and payload; raises MessageError to drop it
Say = Callable[[str], None]  # one line for the user


def waits(draw: random.Random) -> Iterator[float]:
    """Seconds between attempts: doubling up to a limit, each drawn from its upper half so that clients spread."""
    wait = _FIRST_WAIT_SECONDS
    while True:
        yield wait * draw.uniform(0.5, 1.0)
        wait = min(2 * wait, _LONGEST_WAIT_SECONDS)


async def end_task(task: "asyncio.Task[None]") -> None:
    """Cancel a task until it ends: Python 3.11's `wait_for` loses a cancellation that arrives with its result."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=_CANCEL_AGAIN_SECONDS)


class Link:
    """A connection that reconnects. `receive` gets the subscribed messages; `greet` gives what to send on each connection."""

    def __init__(
        self,
        broker: Broker,
        *,
        subscribe: Sequence[str] = (),
        receive: Receiver | None = None,
        greet: Callable[[], Sequence[Outgoing]] = tuple,
        will: Outgoing | None = None,
        say: Say = _log.info,
        patience_seconds: float = PATIENCE_SECONDS,
    ):
        self.broker = broker
        self.topics = broker.topics
        self.drops = DropLog()
        self.connected = asyncio.Event()
        self._subscribe = tuple(subscribe)
        self._receive = receive
        self._greet = greet
        self._will = will
        self._say = say
        self._patience_seconds = patience_seconds
        self._random = random.Random()
        self._outbox: deque[Outgoing] = deque()
        self._flying: dict[int, Outgoing] = {}
        self._num_sent = 0
        self._wake = asyncio.Event()
        self._landed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._task is not None
        await end_task(self._task)
        # The failure itself is raised by `during`; here only the end of the task matters.
        with contextlib.suppress(asyncio.CancelledError, BrokerError):
            self._task.result()

    async def during(self, work: Awaitable[Result]) -> Result:
        """The result of `work`; raises `BrokerError` if the connection is given up before."""
        assert self._task is not None
        working = asyncio.ensure_future(work)
        try:
            await asyncio.wait((working, self._task), return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                self._task.result()
        finally:
            if not working.done():
                working.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await working
        return working.result()

    def send(self, topic: str, payload: bytes, retain: bool = False) -> None:
        """Send now or after the outage; in order, at least once."""
        self._outbox.append(Outgoing(topic, payload, retain))
        if len(self._outbox) > _MAX_OUTBOX:
            dropped = self._outbox.popleft()
            self.drops.add(dropped.topic, MessageError("the outage is too long: given up, not sent"))
        self._wake.set()

    async def flush(self, seconds: float) -> bool:
        """Wait until the broker has acknowledged everything; False if the time runs out."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._outbox or self._flying:
                    self._landed.clear()
                    await self._landed.wait()
                return True
        return False

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        pauses = waits(self._random)
        lost = loop.time()
        told = False
        while True:
            reason, since = await self._session(told, lost)
            now = loop.time()
            if since is not None:
                lost, told = now, False
                if now - since > _SETTLED_SECONDS:
                    pauses = waits(self._random)
            if not told:
                what = "connection lost" if since is not None else "not to be reached"
                self._say(f"broker {self.broker}: {what} ({reason}); trying for {self._patience_seconds:g} s")
                told = True
            if now - lost >= self._patience_seconds:
                raise BrokerError(
                    f"no connection to broker {self.broker} for {self._patience_seconds:g} s ({reason}): given up; "
                    "check that it runs and can be reached"
                )
            left = self._patience_seconds - (now - lost)
            await asyncio.sleep(min(next(pauses), left))

    async def _session(self, told: bool, lost: float) -> tuple[str, float | None]:
        """Run one connection to its end; returns why it ended, and when it was established, if it was."""
        loop = asyncio.get_running_loop()
        since = None
        try:
            async with self._client() as client:
                client.pending_calls_threshold = 1 << 20  # we limit the messages in flight ourselves
                since = loop.time()
                await self._subscribe_all(client)
                if told:
                    self._say(f"broker {self.broker}: back after {since - lost:.1f} s")
                self._outbox.extendleft(reversed(self._greet()))
                self.connected.set()
                await self._serve(client)
        except aiomqtt.MqttError as error:
            code = getattr(getattr(error, "rc", None), "value", None)
            if isinstance(error, aiomqtt.MqttCodeError) and since is None and _is_final(code):
                raise BrokerError(
                    f"broker {self.broker} refuses us ({error}): check user and password ({ENVIRONMENT}USER, "
                    f"{ENVIRONMENT}PASSWORD)"
                ) from None
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise BrokerError(f"broker {self.broker}: {error}; give its authority with ?ca=FILE") from None
            return str(error) or type(error).__name__, since
        finally:
            self.connected.clear()
            self._outbox.extendleft(reversed(self._flying.values()))
            self._flying.clear()
        return "closed", since

    def _client(self) -> aiomqtt.Client:
        will = self._will
        broker = self.broker
        return aiomqtt.Client(
            broker.host,
            broker.port,
            username=broker.user,
            password=broker.password,
            identifier=f"foldwise-{self._random.getrandbits(64):016x}",
            will=aiomqtt.Will(will.topic, will.payload, qos=1, retain=will.retain) if will is not None else None,
            tls_context=broker.tls,
            timeout=_CALL_SECONDS,
            keepalive=KEEPALIVE_SECONDS,
            max_queued_incoming_messages=10_000,
            max_inflight_messages=_MAX_FLYING,
            # Without this a QoS 1 round trip takes 88 ms instead of 1.6.
            socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
            logger=_log.getChild("paho"),
        )

    async def _subscribe_all(self, client: aiomqtt.Client) -> None:
        if not self._subscribe:
            return
        codes = await client.subscribe([(topic, 1) for topic in self._subscribe])
        for topic, code in zip(self._subscribe, codes):
            value = getattr(code, "value", code)
            if isinstance(value, int) and value >= 128:
                self._say(f"broker {self.broker} refuses the subscription to {topic!r}: its access list forbids it")

    async def _serve(self, client: aiomqtt.Client) -> None:
        broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        tasks = {asyncio.create_task(self._read(client)), asyncio.create_task(self._pump(client, broken)), broken}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            topic = str(message.topic)
            payload = message.payload if isinstance(message.payload, bytes) else b""
            # Some brokers send more than was asked for (amqtt 0.12.1: the retained messages of everybody's
            # subscriptions to every new client); receivers see their own topics only.
            if self._receive is not None and any(map(message.topic.matches, self._subscribe)):
                try:
                    self._receive(topic, payload)
                except MessageError as error:
                    self.drops.add(topic, error)
                except Exception as error:  # noqa: BLE001  # no message may end a match or a comparison
                    self.drops.add(topic, MessageError(f"{type(error).__name__}: {str(error)[:200]!r}"))

    async def _pump(self, client: aiomqtt.Client, broken: "asyncio.Future[None]") -> None:
        tasks: set[asyncio.Task[None]] = set()
        try:
            while True:
                while self._outbox and len(self._flying) < _MAX_FLYING:
                    number, message = self._num_sent, self._outbox.popleft()
                    self._num_sent += 1
                    self._flying[number] = message
                    # Tasks take their first step, the write, in the order they are made.
                    task = asyncio.create_task(self._deliver(client, number, message, broken))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
                self._wake.clear()
                await self._wake.wait()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _deliver(
        self, client: aiomqtt.Client, number: int, message: Outgoing, broken: "asyncio.Future[None]"
    ) -> None:
        try:
            await client.publish(message.topic, message.payload, qos=1, retain=message.retain)
        except aiomqtt.MqttError as error:
            if not broken.done():
                broken.set_exception(error)
            return
        self._flying.pop(number, None)
        self._landed.set()
        self._wake.set()


def _is_final(code: int | None) -> bool:
    # paho gives version 5's codes for version 3.1.1's refusals: 132 to 135 are the same four.
    return code in _REFUSED_FOR_GOOD or code in (132, 133, 134, 135)
