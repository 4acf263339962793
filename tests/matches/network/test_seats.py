"""Seats over MQTT at a real broker: the same match as over TCP, and nobody sees another's cards."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from foldwise.agent.bots import Bot
from foldwise.agent.clients.client import play_match
from foldwise.cli.support.local_broker import LocalBroker
from foldwise.game.errors import DefinitionError, ProtocolError
from foldwise.game.library import find_definition
from foldwise.matches.network.connection import BrokerError, Link, read_broker
from foldwise.matches.network.messages import MessageError, SeatPresence
from foldwise.matches.network.player import RemoteSeat
from foldwise.matches.network.seats import RemoteTable
from foldwise.matches.network.table_server import TableServer, deal_at_broker
from foldwise.matches.table.log import is_complete
from tests.support.network import ROOT, SECONDS, Listener, at, broker_name, ended, start_broker, until, url, within
from tests.support.table import Table, make_settings

LEDUC = find_definition("leduc")
EXAMPLE = ROOT / "docs" / "examples" / "mosquitto"
BOTS = ("random", "strength")
mosquitto_only = pytest.mark.skipif(
    broker_name() != "mosquitto", reason="no mosquitto: the shipped access list, passwords and TLS are not checked"
)


def quiet(text):
    pass


def settings(hands=60, **options):
    return make_settings(LEDUC.to_text(), hands, 7, **options)


def bot(seat):
    return Bot(BOTS[seat], seed=40 + seat)


async def sit(broker, seat, say=quiet, player=None, table="demo", **options):
    """A bot at a seat of the table."""
    remote = RemoteSeat(broker, table, seat + 1, say, **{"deadline_seconds": SECONDS, **options})
    return await remote.play(player or bot(seat), lambda dealt: dealt)


def deal(broker, config, folder, out=None, err=None, say=quiet):
    out, err = [] if out is None else out, bytearray() if err is None else err
    return deal_at_broker(config, broker, "demo", out.append, err.extend, folder, say)


async def log_over_tcp(config, folder):
    table = Table(config, folder)
    await table.seat(LEDUC, bot(0), bot(1))
    return (await table.finish()).log


def play_at(seat, port):
    """A bot at a dealer's port."""
    return asyncio.to_thread(play_match, bot(seat), LEDUC, "127.0.0.1", port, SECONDS)


@pytest.fixture(scope="module")
def tcp_log(tmp_path_factory):
    return asyncio.run(log_over_tcp(settings(), tmp_path_factory.mktemp("tcp")))


async def test_same_log_as_over_tcp(local_broker, tmp_path, tcp_log):
    broker = at(local_broker)
    completed, *reports = await within(
        asyncio.gather(deal(broker, settings(), tmp_path), sit(broker, 0), sit(broker, 1))
    )
    assert completed
    assert (tmp_path / "match.log").read_text() == tcp_log
    assert tcp_log.count("STATE:") == 60
    assert all(len(report.hands) >= 55 and report.faults == 0 for report in reports)


async def test_one_seat_over_tcp_and_one_over_mqtt(local_broker, tmp_path, tcp_log):
    broker = at(local_broker)
    out = []
    dealing = asyncio.create_task(deal(broker, settings(), tmp_path, out))
    await until(lambda: out, "the port line")
    port = int(out[0].split()[0])
    sitting = asyncio.create_task(sit(broker, 1))
    await within(play_at(0, port))
    assert await within(dealing)
    await within(sitting)
    assert (tmp_path / "match.log").read_text() == tcp_log


async def test_broker_killed_in_the_middle_of_a_match(tmp_path, tcp_log):
    local = start_broker(tmp_path)
    broker = at(local)
    said = []
    log = tmp_path / "match.log"
    try:
        playing = asyncio.gather(deal(broker, settings(), tmp_path, say=said.append), sit(broker, 0), sit(broker, 1))
        await until(lambda: log.exists() and log.read_text().count("STATE:") >= 15, "fifteen hands")
        local.kill()
        await until(lambda: any("connection lost" in line for line in said), "a word about it")
        local.start()
        completed, *_ = await within(playing)
    finally:
        local.stop()
    assert completed
    assert log.read_text() == tcp_log
    assert sum("connection lost" in line for line in said) == 1


async def test_states_and_answers_said_twice(local_broker, tmp_path, tcp_log):
    """Another client repeats everything on the table's topics."""
    broker = at(local_broker)
    heard = set()

    def echo(topic, payload):
        if (topic, payload) not in heard and payload:
            heard.add((topic, payload))
            echoes.send(topic, payload)

    parts = [broker.topics.seat("demo", "+", part, "+") for part in ("states", "answers")]
    echoes = Link(broker, subscribe=parts, receive=echo)
    err = bytearray()
    async with echoes:
        await within(echoes.connected.wait())
        completed, *_ = await within(
            asyncio.gather(deal(broker, settings(), tmp_path, err=err), sit(broker, 0), sit(broker, 1))
        )
    assert completed and b"WARNING" not in err
    assert (tmp_path / "match.log").read_text() == tcp_log
    assert len(heard) > 200


async def test_a_seat_that_leaves_can_be_taken_up(local_broker, tmp_path, tcp_log):
    """A player that vanishes in mid-match is replaced by another with the same seed: its states are sent again."""
    broker = at(local_broker)
    said = []
    log = tmp_path / "match.log"
    dealing = asyncio.create_task(deal(broker, settings(), tmp_path, say=said.append))
    other = asyncio.create_task(sit(broker, 0))
    leaving = asyncio.create_task(sit(broker, 1))
    await until(lambda: log.exists() and log.read_text().count("STATE:") >= 10, "ten hands")
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    await until(lambda: any("seat 2 (Bob) is away" in line for line in said), "a word about it")
    await within(sit(broker, 1))
    assert await within(dealing)
    await within(other)
    assert log.read_text() == tcp_log


async def test_time_limits_are_those_of_tcp(local_broker, tmp_path, own_time):
    """A seat that never answers is charged as over TCP, and the match ends."""
    broker = at(local_broker)
    err = bytearray()
    config = make_settings(LEDUC.to_text(), 5, 7, response_ms=500)
    topic = broker.topics.seat("demo", 1, "presence", "silent")
    async with Listener(broker, broker.topics.seat("demo", 1, "states", "silent")) as silent:
        silent.link.send(topic, SeatPresence(session="silent").encode(), True)
        playing = asyncio.gather(deal(broker, config, tmp_path, err=err), sit(broker, 1))
        await until(lambda: silent.messages and own_time.waiting, "its turn")
        own_time.advance(1.0)
        completed, _ = await within(playing)
        silent.link.send(topic, b"", True)
        assert await silent.link.flush(SECONDS)
    assert not completed
    assert b"could not get action from seat 1" in err


async def test_answers_that_answer_nothing_never_reach_the_dealer(local_broker, tmp_path, tcp_log, caplog):
    """Somebody without the seat, and the seat itself with nonsense: dropped with a line each."""
    broker = at(local_broker)
    hostile = Link(broker)
    err = bytearray()
    async with hostile:
        await within(hostile.connected.wait())
        for session in ("other", "x"):
            for payload in (b"MATCHSTATE:0:0::Ks|:f", b"\xff\xff", b"", b"{}"):
                hostile.send(broker.topics.seat("demo", 1, "answers", session), payload)
        completed, *_ = await within(
            asyncio.gather(deal(broker, settings(), tmp_path, err=err), sit(broker, 0), sit(broker, 1))
        )
    assert completed and b"WARNING" not in err
    assert (tmp_path / "match.log").read_text() == tcp_log


async def test_what_a_player_is_told_when_it_cannot_sit(local_broker, tmp_path):
    broker = at(local_broker)
    with pytest.raises(ProtocolError, match="is not open since"):
        await within(sit(broker, 0, patience_seconds=0.3))
    dealing = asyncio.create_task(deal(broker, settings(), tmp_path))
    first = asyncio.create_task(sit(broker, 0))
    with pytest.raises(DefinitionError, match="has 2 seats"):
        await within(sit(broker, 6, player=bot(0)))

    def wrong_game(dealt):
        raise DefinitionError("another game")

    with pytest.raises(DefinitionError, match="another game"):
        await within(RemoteSeat(broker, "demo", None, quiet).play(bot(1), wrong_game))
    said = []
    async with Listener(broker, broker.topics.table("demo")) as listener:
        await until(lambda: any(b'"session":"' in payload for _, payload in listener.messages), "seat 1 taken")
    with pytest.raises(ProtocolError, match=r"seat 1 .* is taken"):
        await within(sit(broker, 0))
    free = RemoteSeat(broker, "demo", None, said.append)
    await within(free.play(bot(1), lambda dealt: dealt))
    assert "table demo: seat 2 is ours" in said
    await within(asyncio.gather(dealing, first))


async def test_killed_dealer_frees_its_players(local_broker, tmp_path):
    """The command itself, killed in the middle of its match: its will says that the table is lost."""
    address = url(local_broker)
    broker = read_broker(address, {})
    match = ["dealer", "match", "leduc", "1000000", "7", "Alice", "Bob", "-q"]
    reach = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-m", "foldwise.cli.main", *match, "--broker", address, "--table", "demo"],
        cwd=tmp_path,  # its log goes there
        env={**os.environ, "PYTHONPATH": reach},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with ended(process):
        seats = [asyncio.create_task(sit(broker, seat)) for seat in range(2)]
        log = tmp_path / "match.log"
        await until(lambda: log.exists() and "STATE:" in log.read_text(), "a hand")
        process.kill()
        results = await within(asyncio.gather(*seats, return_exceptions=True))
    assert [str(result) for result in results] == ["the dealer of table 'demo' is gone"] * 2


async def test_table_server_deals_match_after_match(tmp_path):
    """Two tables at once over TCP; a second server goes on where the first stopped."""
    status = []
    base = make_settings(LEDUC.to_text(), 10, 7, ports=(0, 0))
    server = TableServer(base, 2, 3, tmp_path, status.append, quiet)
    serving = asyncio.create_task(server.run())
    seated = set()
    clients = []

    def seat_players():
        for line in list(status):
            if "waiting at ports" in line and line not in seated:
                seated.add(line)
                for seat, port in enumerate(line.partition("ports ")[2].split()):
                    clients.append(asyncio.create_task(play_at(seat, int(port))))
        return serving.done()

    await until(seat_players, "three matches")
    await asyncio.gather(*clients)
    assert serving.result() == 0
    assert status[-1] == "3 matches completed, 0 failed"
    assert sum("SCORE:" in line for line in status) == 3
    logs = sorted(tmp_path.glob("match-*.log"))
    assert [path.name for path in logs] == ["match-0001.log", "match-0002.log", "match-0003.log"]
    assert all(map(is_complete, logs))
    assert len({path.read_text().splitlines()[4] for path in logs}) == 3  # other cards in each
    assert await within(TableServer(base, 2, 3, tmp_path, status.append, quiet).run()) == 0
    assert status[-1] == "0 matches completed, 0 failed"


async def test_table_server_at_a_broker_goes_on_after_a_failure(local_broker, tmp_path, own_time):
    broker = at(local_broker)
    status = []
    base = make_settings(LEDUC.to_text(), 5, 7, response_ms=2000)
    server = TableServer(base, 1, 2, tmp_path, status.append, quiet, broker, "demo")
    serving = asyncio.create_task(server.run())

    class Leaver(Bot):
        def choose(self, state):
            leaving.get_loop().call_soon_threadsafe(leaving.cancel)
            return super().choose(state)

    leaving = asyncio.create_task(sit(broker, 0, player=Leaver("call")))
    staying = asyncio.create_task(sit(broker, 1))
    await within(asyncio.gather(leaving, return_exceptions=True))
    await until(lambda: any("failed after" in line for line in status) or own_time.advance(3.0), "the failure")
    await within(asyncio.gather(staying, return_exceptions=True))
    await until(lambda: sum("waiting" in line for line in status) == 2, "the second match")
    await within(asyncio.gather(sit(broker, 0), sit(broker, 1)))
    assert await within(serving) == 1
    assert status[-1] == "1 matches completed, 1 failed"


async def test_a_taken_port_holds_up_its_own_table_only(tmp_path, monkeypatch):
    """The first table's port is taken until the second has played its match."""
    monkeypatch.setattr("foldwise.matches.network.table_server.TAKEN_SECONDS", 0.05)
    status = []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        base = make_settings(LEDUC.to_text(), 5, 7, ports=(port, 0))
        serving = asyncio.create_task(TableServer(base, 2, 2, tmp_path, status.append, quiet).run())

        async def play_through(table):
            await until(lambda: any(f"{table}: seed" in line for line in status), f"{table} open")
            line = next(line for line in status if f"{table}: seed" in line)
            ports = map(int, line.partition("ports ")[2].split())
            await asyncio.gather(*(play_at(seat, at) for seat, at in enumerate(ports)))

        await play_through("table 2")
        await until(lambda: any("5 hands" in line for line in status), "the second table's match")
        assert any("table 1" in line and "is taken" in line for line in status)
    await play_through("table 1")
    assert await within(serving) == 0
    assert status[-1] == "2 matches completed, 0 failed"


@pytest.mark.parametrize("number", ["9" * 5000, "١", "²", "0", "01", "-1", "+1", "1 ", "", "3"])
async def test_a_topic_of_no_seat_harms_nobody(local_broker, tmp_path, number):
    broker = at(local_broker)
    ports = [1, 2]
    table = RemoteTable(broker, "demo", settings(), ports, quiet)
    topic = broker.topics.seat("demo", number, "presence", "x")
    with pytest.raises(MessageError, match=r"no topic of this table|has 2 seats"):
        table._receive(topic, SeatPresence(session="x").encode())


async def test_no_exception_of_a_receiver_ends_a_link(local_broker, caplog):
    broker = at(local_broker)
    heard = []

    def receive(topic, payload):
        heard.append(payload)
        int(payload)

    async with Listener(broker) as sender:
        link = Link(broker, subscribe=[broker.topics.table("t")], receive=receive)
        async with link:
            await within(link.connected.wait())
            for payload in (b"9" * 5000, b"x", b"1"):
                sender.link.send(broker.topics.table("t"), payload)
            await until(lambda: len(heard) == 3, "all three")
            assert link.connected.is_set()
        assert link.drops.dropped == 2


# The shipped access list, by delivery: refusals are silent.


@pytest.fixture(scope="module")
def guarded_broker(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guarded")
    passwords = shutil.copy(EXAMPLE / "passwords", folder / "passwords")
    Path(passwords).chmod(0o600)
    program = shutil.which("mosquitto_passwd") or pytest.skip(
        "no mosquitto_passwd: passwords at a broker are not checked"
    )
    subprocess.run([program, "-U", passwords], check=True)
    assert "change-me" not in Path(passwords).read_text()
    shutil.copy(EXAMPLE / "acl", folder / "acl")
    config = f"allow_anonymous false\npassword_file {passwords}\nacl_file {folder / 'acl'}\n"
    with LocalBroker(folder, config) as broker:
        yield broker


def user(broker, name):
    environment = {"FOLDWISE_MQTT_USER": name, "FOLDWISE_MQTT_PASSWORD": f"change-me-{name}"}
    return read_broker(broker.url, environment)


@mosquitto_only
async def test_seat_cannot_read_nor_answer_for_another(guarded_broker):
    """Each message that must not arrive is followed, on the same connection, by one that must."""
    topics = user(guarded_broker, "dealer").topics
    everything = ["foldwise/#", topics.seat("demo", 2, "states", "+"), topics.seat("demo", 1, "states", "+")]
    async with (
        Listener(user(guarded_broker, "seat1"), *everything) as seat1,
        Listener(user(guarded_broker, "dealer"), topics.seat("demo", "+", "answers", "+")) as dealer,
    ):
        dealer.link.send(topics.seat("demo", 2, "states", "s2"), b"MATCHSTATE:1:0::|Ks")
        dealer.link.send(topics.seat("demo", 1, "states", "s1"), b"MATCHSTATE:0:0::Qh|")
        await until(lambda: seat1.payloads("s1"), "its own state")
        assert not seat1.payloads("s2")
        seat1.link.send(topics.seat("demo", 2, "answers", "s2"), b"MATCHSTATE:1:0::|Ks:f")
        seat1.link.send(topics.seat("demo", 1, "answers", "s1"), b"MATCHSTATE:0:0::Qh|:c")
        await until(lambda: dealer.payloads("s1"), "its own answer")
        assert not dealer.payloads("s2")


@mosquitto_only
async def test_match_under_the_shipped_access_list(guarded_broker, tmp_path, tcp_log):
    completed, *_ = await within(
        asyncio.gather(
            deal(user(guarded_broker, "dealer"), settings(), tmp_path),
            sit(user(guarded_broker, "seat1"), 0),
            sit(user(guarded_broker, "seat2"), 1),
        )
    )
    assert completed
    assert (tmp_path / "match.log").read_text() == tcp_log
    with pytest.raises(ProtocolError, match=r"access list|is not open"):  # the first seat's user at the second seat
        await within(
            asyncio.gather(
                deal(user(guarded_broker, "dealer"), settings(start_timeout_ms=3000), tmp_path),
                sit(user(guarded_broker, "seat1"), 1, patience_seconds=1.0),
            )
        )


@mosquitto_only
async def test_wrong_password_fails_at_once_and_is_not_told(guarded_broker):
    broker = read_broker(guarded_broker.url, {"FOLDWISE_MQTT_USER": "seat1", "FOLDWISE_MQTT_PASSWORD": "sesame"})
    link = Link(broker)
    with pytest.raises(BrokerError, match="refuses us") as error:
        async with link:
            await within(link.during(asyncio.Event().wait()), 20)
    assert "sesame" not in str(error.value)


@mosquitto_only
async def test_tls_with_certificates_of_both_sides(tmp_path):
    openssl = shutil.which("openssl") or pytest.skip("no openssl: TLS at a broker is not checked")

    def make(*arguments):
        subprocess.run([openssl, *arguments], cwd=tmp_path, check=True, capture_output=True)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    make("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "2")
    (tmp_path / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for name in ("server", "client"):
        make("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        make(
            *("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"),
            *("-out", f"{name}.pem", "-days", "2", "-extfile", "names"),
        )
    listener = f"cafile {tmp_path}/ca.pem\ncertfile {tmp_path}/server.pem\nkeyfile {tmp_path}/server.key\n"
    with LocalBroker(tmp_path, listener_config=listener + "require_certificate true\n") as local:
        address = local.url.replace("mqtt://", "mqtts://")
        files = f"?ca={tmp_path}/ca.pem&cert={tmp_path}/client.pem&key={tmp_path}/client.key"
        broker = read_broker(address + files, {})
        async with Listener(broker, "foldwise/x") as listening:
            listening.link.send("foldwise/x", b"hello")
            await until(lambda: listening.messages == [("foldwise/x", b"hello")], "a message over TLS")
        link = Link(read_broker(address, {}))  # the authority is not known to us
        with pytest.raises(BrokerError, match=r"\?ca=FILE"):
            async with link:
                await within(link.during(asyncio.Event().wait()), 20)
