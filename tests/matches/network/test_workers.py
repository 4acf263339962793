"""A comparison split over workers at a real broker: the same bits as on one machine, whatever fails on the way."""

import asyncio
import json
import random
import signal
import subprocess
import sys
import threading
from contextlib import AsyncExitStack, asynccontextmanager

import numpy as np
import pytest

from foldwise.agent.player_spec import parse_player
from foldwise.cli.main import main
from foldwise.game.errors import DefinitionError, FormatError, ProtocolError
from foldwise.game.library import find_definition
from foldwise.matches.duplicate.comparison import Table, compare
from foldwise.matches.network.block_player import (
    BlockPlayer,
    StrategyShelf,
    UnknownStrategyError,
    fingerprint_of,
    player_name,
)
from foldwise.matches.network.block_store import BLOCKS_FILE, BlockStore, open_job
from foldwise.matches.network.connection import BrokerError, Link, end_task, read_broker
from foldwise.matches.network.coordinator import CHECKED_SHARE, Coordinator
from foldwise.matches.network.job import make_job
from foldwise.matches.network.messages import BlockResult, MessageError, Task, WorkerPresence, decode, pack_values
from foldwise.matches.network.signature import read_signer
from foldwise.matches.network.worker import Worker, program_version
from tests.support.hostile import random_payload
from tests.support.network import (
    ROOT,
    SECONDS,
    Clock,
    Listener,
    at,
    ended,
    start_broker,
    start_python,
    until,
    url,
    within,
)

VARIANTS = ["none", "purify"]
HANDS = 3000


def quiet(text):
    pass


@pytest.fixture(scope="module")
def table():
    return Table("leduc", find_definition("leduc"), HANDS, 11, "memory", 2)


@pytest.fixture(scope="module")
def opponents(strategies):
    return [parse_player("bot:random"), parse_player(f"strategy:{strategies / 'two'}")]


@pytest.fixture(scope="module")
def expected(table, strategies, opponents):
    """What one process makes of it."""
    pairs = np.empty((2, 2, HANDS))

    def listen(variant, opponent, values):
        pairs[variant, opponent] = values

    compare(table, strategies / "one", VARIANTS, opponents, lambda *_: None, listen_cells=listen)
    return pairs


@pytest.fixture
def job(table, strategies, opponents):
    return make_job(table, strategies / "one", VARIANTS, opponents, "pseudo-harmonic", "job-1")


@asynccontextmanager
async def workers(broker, strategies, *names, threads=1, player=None, each=lambda worker: None):
    """Workers in this process, each with its own connection; `each` may change them before they begin."""
    async with AsyncExitStack() as stack:
        made = []
        for name in names:
            worker = Worker(broker, name, strategies, threads, quiet)
            if player is not None:
                worker._player = player
            each(worker)
            task = asyncio.create_task(worker.run())
            stack.push_async_callback(end_task, task)
            made.append(worker)
        yield made


class Lines(list):
    """What the user is told."""

    def __call__(self, text):
        self.append(text)

    def having(self, *words):
        return [line for line in self if all(word in line for word in words)]


def test_blocks_are_the_match_in_pieces(table, job, strategies, expected):
    """Blocks in any order and of any size, each played alone."""
    player = BlockPlayer(StrategyShelf(strategies))
    store = BlockStore(job, None)
    for block in reversed(store.missing()):
        assert store.add(block, pack_values(player.play(store.blocks[block])))
    assert np.array_equal(store.values, expected)


def test_fingerprints_name_what_plays(strategies, tmp_path):
    one, two = (player_name(parse_player(f"strategy:{strategies / name}|purify")) for name in ("one", "two"))
    assert one.strategy != two.strategy and one.pipeline == "purify"
    shelf = StrategyShelf(strategies)
    assert shelf.scan() == sorted([one.strategy, two.strategy])
    assert fingerprint_of(shelf.open(one.strategy).strategy) == one.strategy
    with pytest.raises(UnknownStrategyError, match="0000"):
        shelf.open("0" * 32)
    with pytest.raises(DefinitionError, match="other machines"):
        player_name(parse_player("cmd:/bin/true"))


def test_store_counts_every_block_once(job, tmp_path):
    store = BlockStore(job, tmp_path)
    values = pack_values(np.arange(500) / 500)
    assert store.add(3, values)
    assert not store.add(3, values)
    with pytest.raises(MessageError, match="different values"):
        store.add(3, pack_values(np.zeros(500)))
    for block, packed in (
        (len(store.blocks), values),
        (2, pack_values(np.zeros(499))),
        (2, pack_values(np.full(500, 3e9))),
    ):
        with pytest.raises(MessageError):
            store.add(block, packed)
    store.close()
    with (tmp_path / BLOCKS_FILE).open("a") as file:
        file.write('{"block": 4, "val')  # a killed process
    again = BlockStore(job, tmp_path)
    assert again.num_done == 1 and again.is_done(3) and again.num_pairs == 500
    again.close()
    (tmp_path / BLOCKS_FILE).write_text('{"block": 1}\n')
    with pytest.raises(FormatError, match="line 1 is not a block"):
        BlockStore(job, tmp_path)


def test_a_job_is_resumed_only_as_it_was(job, tmp_path):
    with pytest.raises(DefinitionError, match="no comparison to resume"):
        open_job(job, tmp_path, True)
    assert open_job(job, tmp_path, False) == job
    with pytest.raises(DefinitionError, match="--resume"):
        open_job(job, tmp_path, False)
    assert open_job(job.model_copy(update={"job": "other"}), tmp_path, True).job == "job-1"
    with pytest.raises(DefinitionError, match="another 'seed'"):
        open_job(job.model_copy(update={"seed": 12}), tmp_path, True)


async def test_split_over_two_workers_is_the_same_bit_for_bit(local_broker, strategies, job, expected):
    broker = at(local_broker)
    store, said = BlockStore(job, None), Lines()
    both = threading.Barrier(2, timeout=SECONDS)

    def meet_first(worker):
        """No worker finishes its first block before the other has begun one, so that both play on any machine."""
        play, met = worker._player.play, threading.Event()

        def play_in_company(block):
            if not met.is_set():
                met.set()
                both.wait()
            return play(block)

        worker._player.play = play_in_company

    async with workers(broker, strategies, "w1", "w2", each=meet_first) as made:
        await within(Coordinator(broker, store, said).run())
        assert np.array_equal(store.values, expected)
        assert sum(worker.num_played for worker in made) == len(store.blocks) + 1  # one is played by both
        assert all(worker.num_played > 0 for worker in made)
    assert sorted(said) == ["worker w1: 1 threads", "worker w2: 1 threads"]


async def test_repeated_and_delayed_messages_count_once(local_broker, strategies, job, expected):
    """Another client says every task and every result again, twice, at once and after the next ones."""
    broker = at(local_broker)
    store = BlockStore(job, None)
    heard = []

    def echo(topic, payload):
        if (topic, payload) not in heard:
            heard.append((topic, payload))
            echoes.send(topic, payload)
            if len(heard) > 3:
                echoes.send(*heard[-4])

    echoes = Link(broker, subscribe=[broker.topics.tasks("+"), broker.topics.results("+", "+")], receive=echo)
    async with echoes:
        await within(echoes.connected.wait())
        async with workers(broker, strategies, "w1", "w2") as made:
            coordinator = Coordinator(broker, store, quiet, checked_share=0.0)
            await within(coordinator.run())
            played = sum(worker.num_played for worker in made)
    assert np.array_equal(store.values, expected)
    assert coordinator.num_repeated > 0
    assert played == len(store.blocks)


STUCK_WORKER = """
import asyncio, sys, time
from pathlib import Path
from foldwise.matches.network.connection import read_broker
from foldwise.matches.network.worker import Worker
worker = Worker(read_broker(sys.argv[1]), "stuck", Path(sys.argv[2]), 2, lambda text: None)
worker._player.play = lambda block: (print("playing", flush=True), time.sleep(1000))  # stuck until it is killed
asyncio.run(worker.run())
"""


async def test_blocks_of_a_killed_worker_go_to_another(local_broker, strategies, job, expected):
    address = url(local_broker)
    broker = read_broker(address, {})
    store, said = BlockStore(job, None), Lines()
    process = start_python(STUCK_WORKER, address, str(strategies), stdout=subprocess.PIPE)
    with ended(process):
        running = asyncio.create_task(Coordinator(broker, store, said).run())
        await within(asyncio.to_thread(process.stdout.readline))  # in the middle of a block
        async with workers(broker, strategies, "good"):
            await until(lambda: store.num_done >= len(store.blocks) - 3, "all but the stuck worker's blocks")
            process.send_signal(signal.SIGKILL)
            await within(running)
        process.stdout.close()
    assert np.array_equal(store.values, expected)
    assert said.having("stuck is gone", "its 2 blocks go to others")


async def test_a_silent_worker_loses_its_blocks(local_broker, strategies, job, expected):
    """Its presence stands, retained, but nobody is behind it: a broker that crashed sends no wills."""
    broker = at(local_broker)
    store, said = BlockStore(job, None), Lines()
    shelf = StrategyShelf(strategies)
    ghost = WorkerPresence(
        worker="ghost", session="s", online=True, threads=1, program=program_version(), strategies=shelf.scan()
    )
    link = Link(broker)
    async with link:
        link.send(broker.topics.presence("ghost"), ghost.encode(), True)
        assert await link.flush(20)
        async with workers(broker, strategies, "good"):
            clock = Clock()
            coordinator = Coordinator(broker, store, said, patience_seconds=1e9, silent_seconds=60.0, clock=clock)
            running = asyncio.create_task(coordinator.run())
            await until(lambda: store.num_done >= len(store.blocks) - 3, "all but the ghost's blocks")
            clock.advance(61.0)  # the good worker is silent too, until its next beat
            await within(running)
        link.send(broker.topics.presence("ghost"), b"", True)
        await link.flush(20)
    assert np.array_equal(store.values, expected)
    assert said.having("ghost has been silent", "its 2 blocks go to others")


async def test_a_worker_without_the_strategy_says_so(local_broker, strategies, job, tmp_path):
    """Without a worker that has it, the comparison ends with a clear message after its time limit."""
    broker = at(local_broker)
    said = Lines()
    async with workers(broker, tmp_path, "empty"):
        clock = Clock()
        coordinator = Coordinator(broker, BlockStore(job, None), said, silent_seconds=1e9, clock=clock)
        running = asyncio.create_task(coordinator.run())
        await until(lambda: len(said.having("empty lacks strategy")) == 2, "a word about each")
        await until(lambda: said.having("has strategy", "waiting 60 s"), "a word about waiting")
        clock.advance(61.0)
        with pytest.raises(ProtocolError, match=r"has strategy .* given up"):
            await within(running)


async def test_results_count_only_from_the_worker_a_block_was_given_to(local_broker, strategies, job, expected, caplog):
    """A stranger answers every block; another worker, announced and idle, answers those of its neighbour."""
    broker = at(local_broker)
    store, said = BlockStore(job, None), Lines()
    neighbour = WorkerPresence(worker="neighbour", session="s", online=True, threads=4, program=program_version())
    forger = Link(broker)
    player = GatedPlayer(StrategyShelf(strategies), 0)
    coordinator = Coordinator(broker, store, said, checked_share=0.0, silent_seconds=1e9)
    async with forger, workers(broker, strategies, "good", player=player):
        await within(forger.connected.wait())
        running = asyncio.create_task(coordinator.run())
        await until(lambda: "good" in coordinator._helpers, "the worker")
        forger.send(broker.topics.presence("neighbour"), neighbour.encode(), True)  # without strategies: gets no blocks
        await until(lambda: "neighbour" in coordinator._helpers, "its neighbour")
        for block in range(len(store.blocks)):
            for name in ("nobody", "neighbour"):
                values = pack_values(np.full(500, 1.0))
                result = BlockResult(job=job.job, block=block, worker=name, values=values)
                forger.send(broker.topics.results(job.job, name), result.encode())
        await until(lambda: coordinator._link.drops.dropped == 2 * len(store.blocks), "all dropped")
        assert store.num_done == 0
        player.gate.set()
        await within(running)
        forger.send(broker.topics.presence("neighbour"), b"", True)
        assert await forger.flush(SECONDS)
    assert np.array_equal(store.values, expected)
    assert set(store.workers.values()) == {"good"}


async def test_capacity_is_earned_and_late_blocks_go_to_others(local_broker, strategies, job, expected):
    """A presence that claims 4,096 threads and only sends heartbeats gets one thread's blocks, and loses them in time."""
    broker = at(local_broker)
    store, said, clock = BlockStore(job, None), Lines(), Clock()
    fingerprints = StrategyShelf(strategies).scan()
    given = []
    idle = Link(broker, subscribe=[broker.topics.tasks("idle")], receive=lambda topic, payload: given.append(payload))

    def beat():
        presence = WorkerPresence(
            worker="idle", session="s", online=True, threads=4096, program=program_version(), strategies=fingerprints
        )
        idle.send(broker.topics.presence("idle"), presence.encode(), True)

    async with idle:
        await within(idle.connected.wait())
        beat()
        coordinator = Coordinator(broker, store, said, silent_seconds=1e9, patience_seconds=1e9, clock=clock)
        running = asyncio.create_task(coordinator.run())
        await until(lambda: len({decode(Task, payload).block for payload in given}) == 2, "its two blocks")
        for _ in range(3):
            await until(lambda: len(coordinator._helpers["idle"].held) == 2, "two blocks held")
            clock.advance(601.0)
            await until(
                lambda: (
                    "idle" not in coordinator._helpers
                    or not coordinator._helpers["idle"].given
                    or min(coordinator._helpers["idle"].given.values()) == clock()
                ),
                "blocks taken back",
            )
        await until(lambda: said.having("idle is set aside"), "a word about it")
        async with workers(broker, strategies, "good"):
            await within(running)
        idle.send(broker.topics.presence("idle"), b"", True)
        assert await idle.flush(SECONDS)
    assert np.array_equal(store.values, expected)


async def test_a_worker_that_fails_is_set_aside_and_the_rest_go_on(local_broker, strategies, job, expected):
    broker = at(local_broker)
    store, said = BlockStore(job, None), Lines()

    def damage(worker):
        def play(block):
            raise FormatError("'two/probabilities.npy' is damaged")

        if worker.name == "bad":
            worker._player.play = play

    async with workers(broker, strategies, "bad", "good", each=damage):
        await within(Coordinator(broker, store, said).run())
    assert np.array_equal(store.values, expected)
    assert all("is damaged" in line for line in said.having("bad is set aside"))


@pytest.mark.parametrize("others", [("honest",), ()])
async def test_a_liar_is_found_and_nothing_it_said_counts(local_broker, strategies, job, expected, tmp_path, others):
    """A worker adds a chip to every tenth pair. With every block checked, by another worker or here, it is caught at once."""
    broker = at(local_broker)
    store, said = BlockStore(job, tmp_path), Lines()
    referee = BlockPlayer(StrategyShelf(strategies)).play

    def lie(worker):
        play = worker._player.play
        if worker.name == "liar":
            worker._player.play = lambda block: play(block) + (np.arange(block.count) % 10 == 0)

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(workers(broker, strategies, "liar", *others, each=lie))
        coordinator = Coordinator(broker, store, said, referee=referee, checked_share=1.0)
        running = asyncio.create_task(coordinator.run())
        await until(lambda: said.having("liar is set aside", "was wrong"), "the liar found out")
        await stack.enter_async_context(workers(broker, strategies, "late"))
        await within(running)
    assert np.array_equal(store.values, expected)
    store.close()
    assert "liar" not in BlockStore(job, tmp_path).workers.values()


def test_blocks_taken_back_stay_so_on_disk(job, tmp_path):
    store = BlockStore(job, tmp_path)
    store.add(3, pack_values(np.zeros(500)), "liar")
    store.add(4, pack_values(np.ones(500)), "good")
    store.discard(3)
    store.add(3, pack_values(np.ones(500)), "good")
    store.close()
    with (tmp_path / BLOCKS_FILE).open("a") as file:
        file.write('{"block": 5, "values": "' + "x" * 200_000)  # torn, and longer than a piece of the file's end
    again = BlockStore(job, tmp_path)
    assert again.num_done == 2 and again.workers == {3: "good", 4: "good"}
    assert np.all(again.values[~np.isnan(again.values)] == 1.0)
    again.close()


async def test_a_job_with_a_secret_takes_signed_messages_only(local_broker, strategies, job, expected, caplog):
    broker = at(local_broker)
    store = BlockStore(job, None)
    signer = read_signer({"FOLDWISE_JOB_SECRET": "0123456789abcdef"})

    def initiate(worker):
        if worker.name == "initiated":
            worker._signer = signer

    async with workers(broker, strategies, "initiated", "stranger", each=initiate) as made:
        coordinator = Coordinator(broker, store, quiet, signer=signer, silent_seconds=1e9, checked_share=0.0)
        running = asyncio.create_task(coordinator.run())
        await until(lambda: "stranger" in coordinator._helpers, "the stranger's presence")
        await until(lambda: store.num_done >= len(store.blocks) - 2, "all but what the stranger was given")
        coordinator._release("stranger", "is asked to leave")
        await within(running)
        assert np.array_equal(store.values, expected)
        assert set(store.workers.values()) == {"initiated"}
        assert made[0].num_played == len(store.blocks)
    assert any("right signature" in record.getMessage() for record in caplog.records)
    with pytest.raises(DefinitionError, match="16 or more"):
        read_signer({"FOLDWISE_JOB_SECRET": "short"})


async def test_a_task_for_an_unknown_strategy_is_refused(local_broker, strategies, job, tmp_path):
    """The worker is asked although its presence does not name the strategy."""
    broker = at(local_broker)
    async with Listener(broker, broker.topics.results("+", "+")) as listener, workers(broker, tmp_path, "empty"):
        task = Task(job="j", block=0, work=job.blocks()[0])

        def answered():
            listener.link.send(broker.topics.tasks("empty"), task.encode())  # it may not have subscribed yet
            return listener.payloads("/results/empty")

        await until(answered, "a refusal")
    result = decode(BlockResult, listener.payloads("/results/empty")[0])
    assert result.values is None and "is not here" in result.refused
    assert result.missing[0] in {player.strategy for player in task.work.players}


async def test_no_worker_at_all(local_broker, job):
    said, clock = Lines(), Clock()
    running = asyncio.create_task(Coordinator(at(local_broker), BlockStore(job, None), said, clock=clock).run())
    await until(lambda: said, "a word about it")
    clock.advance(61.0)
    with pytest.raises(ProtocolError, match=r"no worker at broker .* given up"):
        await within(running)
    assert len(said) == 1


class GatedPlayer(BlockPlayer):
    """Plays a number of blocks, then waits to be released."""

    def __init__(self, shelf, free):
        super().__init__(shelf)
        self.gate = threading.Event()
        self.free = threading.Semaphore(free)
        self.waiting = threading.Event()

    def play(self, block):
        if not self.free.acquire(blocking=False):
            self.waiting.set()
            assert self.gate.wait(SECONDS)
        return super().play(block)


async def test_broker_killed_and_restarted(tmp_path, strategies, job, expected):
    """In the middle of a comparison: everybody comes back, nothing is lost, one line tells of it."""
    local = start_broker(tmp_path)
    broker = at(local)
    store, said = BlockStore(job, None), Lines()
    player = GatedPlayer(StrategyShelf(strategies), 5)
    try:
        async with workers(broker, strategies, "w1", "w2", player=player):
            running = asyncio.create_task(Coordinator(broker, store, said).run())
            await until(player.waiting.is_set, "blocks in play")
            local.kill()
            await until(lambda: said.having("connection lost"), "a word about it")
            player.gate.set()  # the blocks are finished, their results cannot be sent
            local.start()
            await within(running)
    finally:
        player.gate.set()
        local.stop()
    assert np.array_equal(store.values, expected)
    assert len(said.having("connection lost")) == 1
    assert len(said.having("back after")) == 1


async def test_broker_that_never_comes(tmp_path, job):
    said = Lines()
    broker = read_broker("mqtt://127.0.0.1:1", {})  # nobody listens there
    with pytest.raises(BrokerError, match=r"no connection to broker .* for 0.5 s .* given up"):
        await within(Coordinator(broker, BlockStore(job, None), said, patience_seconds=0.5).run())
    assert len(said.having("not to be reached")) == 1


def compare_arguments(strategies, opponents, address, folder):
    return [
        *("compare", str(strategies / "one"), "--variants", ",".join(VARIANTS), "--opponents", *map(str, opponents)),
        *("--hands", str(HANDS), "--seed", "11", "--no-exploitability", "--json"),
        *("--broker", address, "-o", str(folder)),
    ]


async def test_killed_coordinator_is_resumed(local_broker, strategies, opponents, expected, tmp_path, capfd):
    """The command itself, killed when a few blocks are done; what is done is not played again."""
    address = url(local_broker)
    broker = read_broker(address, {})
    folder = tmp_path / "out"
    arguments = compare_arguments(strategies, opponents, address, folder)
    player = GatedPlayer(StrategyShelf(strategies), 7)
    blocks = folder / BLOCKS_FILE
    async with workers(broker, strategies, "w1", player=player):
        process = subprocess.Popen(
            [sys.executable, "-m", "foldwise.cli.main", *arguments], cwd=ROOT, stderr=subprocess.DEVNULL
        )
        with ended(process):
            await until(
                lambda: blocks.exists() and blocks.read_text().count("\n") >= 6, "six blocks on disk"
            )  # the seventh may wait for another worker
            process.send_signal(signal.SIGKILL)
            process.wait()
        num_done = blocks.read_text().count("\n")
        player.gate.set()
        assert await asyncio.to_thread(main, arguments) == 2  # not without --resume
        assert await asyncio.to_thread(main, [*arguments, "--resume"]) == 0
    out, err = capfd.readouterr()
    assert f"24 blocks, {num_done} of them done" in err
    result = json.loads(out)
    for row, pairs in zip(result["rows"], expected):
        for cell, values in zip(row["results"], pairs):
            assert cell["hands"] == 2 * HANDS
            assert cell["mean_mbb"] == float((values * 1000.0).mean())
    stored = [json.loads(line)["block"] for line in blocks.read_text().splitlines()]
    assert sorted(stored) == list(range(24))


async def test_hostile_messages_beside_a_comparison(local_broker, strategies, job, expected, caplog):
    """Noise on every topic a worker and a coordinator read."""
    broker = at(local_broker)
    topics = broker.topics
    draw = random.Random(3)
    store = BlockStore(job, None)
    hostile = Link(broker)
    async with hostile, workers(broker, strategies, "w1"):
        await within(hostile.connected.wait())
        for topic in (topics.presence("w9"), topics.presence("w1"), topics.tasks("w1"), topics.results(job.job, "w1")):
            for _ in range(50):
                hostile.send(topic, b"x" + random_payload(draw))
        await within(Coordinator(broker, store, quiet).run())
    assert np.array_equal(store.values, expected)
    assert any("dropped" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("words, share", [([], CHECKED_SHARE), (["--checked", "0.5"], 0.5), (["--checked", "0"], 0.0)])
def test_the_share_that_is_played_twice_is_an_option(words, share, local_broker, strategies, monkeypatch, capsys):
    def coordinator(*_, checked_share, **options):
        raise DefinitionError(f"share {checked_share}")

    monkeypatch.setattr("foldwise.cli.support.network_comparison.Coordinator", coordinator)
    assert main(["compare", str(strategies / "one"), "bot:call", "--broker", url(local_broker), *words]) == 2
    assert f"share {share}\n" in capsys.readouterr().err


def test_compare_says_what_it_cannot_split(strategies, capsys):
    folder = str(strategies / "one")
    assert main(["compare", folder, "bot:call", "--broker", "mqtt://127.0.0.1:1", "--over", "tcp"]) == 2
    assert "--local" in capsys.readouterr().err
    assert main(["compare", folder, "bot:call", "--resume"]) == 2
    assert "give -o DIR" in capsys.readouterr().err
    assert main(["worker", "--broker", "mqtt://127.0.0.1:1", "--strategies", "/nowhere"]) == 2
    assert "expected a folder" in capsys.readouterr().err
    assert main(["worker", "--broker", "mqtt://127.0.0.1:1", "--patience", "0.2"]) == 1
    assert "given up" in capsys.readouterr().err
