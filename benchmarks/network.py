"""What the match network costs: the feed beside a match, a remote seat's round trip, a comparison over two workers.

    python benchmarks/network.py [feed|seats|workers] ...

Ratios are of runs taken in turn on the same machine; the best of each side counts.
"""

import asyncio
import contextlib
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from foldwise.agent.bots import Bot
from foldwise.agent.clients.client import play_match as play_over_socket
from foldwise.agent.player_spec import parse_player
from foldwise.cli.support.local_broker import LocalBroker
from foldwise.game.library import find_definition
from foldwise.matches.duplicate.comparison import Table
from foldwise.matches.duplicate.match import play_match
from foldwise.matches.network.block_player import player_name
from foldwise.matches.network.block_store import BlockStore, Job
from foldwise.matches.network.connection import read_broker
from foldwise.matches.network.coordinator import Coordinator
from foldwise.matches.network.feed import MatchProgress, match_info, published
from foldwise.matches.network.player import RemoteSeat
from foldwise.matches.network.table_server import deal_at_broker
from foldwise.matches.plan import MatchPlan, create_folder
from foldwise.matches.table.dealer import Dealer, MatchSettings

FEED_HANDS = 300_000  # from each side
FEED_ROUNDS = 5
SEAT_HANDS = 500
SPLIT_HANDS = 500_000  # from each side, so a million in all
SPLIT_PLAYERS = ("bot:call", "bot:random")


def quiet(text: str) -> None:
    pass


def feed(broker: LocalBroker, folder: Path) -> None:
    """Hands per second of a match in memory, without and with its feed."""
    plan = MatchPlan(
        players=("bot:call", "bot:random"),
        game="hunl",
        definition=find_definition("hunl").to_text(),
        hands=FEED_HANDS,
        seed=1,
        repeat=1,
        over="memory",
    )
    opened = read_broker(broker.url)

    def once(name: str, with_feed: bool) -> float:
        create_folder(folder / name, plan)
        start = time.process_time()
        if with_feed:
            with published(opened, match_info(name, plan), quiet) as made:
                result = play_match(plan, folder / name, 2, lambda *_: None, MatchProgress(plan, 100, made).listener)
        else:
            result = play_match(plan, folder / name, 2, lambda *_: None)
        seconds = time.process_time() - start
        print(f"  {name}: {result['hands_per_second']:,.0f} hands/s, {seconds:.2f} CPU seconds", flush=True)
        return float(result["hands"]) / seconds

    once("warm", True)
    rates: dict[bool, list[float]] = {False: [], True: []}
    for number in range(FEED_ROUNDS):
        for with_feed in (False, True):
            rates[with_feed].append(once(f"{'feed' if with_feed else 'plain'}-{number}", with_feed))
    cost = 1.0 - max(rates[True]) / max(rates[False])
    print(f"feed: {100 * cost:+.1f}% of the hands per CPU second (best of {FEED_ROUNDS} each)")


def seats(broker: LocalBroker, folder: Path) -> None:
    """From sending a state to having its answer, as the dealer's transaction file has it."""
    leduc = find_definition("leduc")
    opened = read_broker(broker.url)

    def settings(name: str) -> MatchSettings:
        return MatchSettings(name, "leduc", leduc, SEAT_HANDS, 1, ("A", "B"), transactions=True, quiet=True)

    async def over_tcp() -> None:
        dealer = Dealer(settings("tcp"), quiet, lambda _: None, folder)
        ports = dealer.open()
        players = [asyncio.to_thread(play_over_socket, Bot("call", 1), leduc, "127.0.0.1", port) for port in ports]
        await asyncio.gather(dealer.run(), *players)

    async def over_mqtt() -> None:
        dealing = deal_at_broker(settings("mqtt"), opened, "bench", quiet, lambda _: None, folder, quiet)
        players = [RemoteSeat(opened, "bench", seat, quiet).play(Bot("call", 1), lambda game: game) for seat in (1, 2)]
        await asyncio.gather(dealing, *players)

    for name, match in (("tcp", over_tcp), ("mqtt", over_mqtt)):
        asyncio.run(match())
        micros = [_microseconds(line) for line in (folder / f"{name}.tlog").read_text().splitlines()]
        p50, p99 = np.percentile(micros, [50, 99]) / 1000.0
        print(f"round trip over {name}: p50 {p50:.2f} ms, p99 {p99:.2f} ms ({len(micros)} answers)", flush=True)


def _microseconds(line: str) -> int:
    """Of a line of a transaction file: action, hand, time sent and received."""
    sent, received = (int(seconds) * 1_000_000 + int(micros) for seconds, micros in _stamps(line))
    return received - sent


def _stamps(line: str) -> list[list[str]]:
    return [part.split(".") for part in line.split()[-2:]]


def workers(broker: LocalBroker, folder: Path) -> None:
    """A million hands: one process with two threads, then two workers with one thread each."""
    hunl = find_definition("hunl")
    table = Table("hunl", hunl, SPLIT_HANDS, 1, "memory", 2)
    opened = read_broker(broker.url)
    job = Job(
        job="bench",
        definition=hunl.to_text(),
        seed=1,
        hands=SPLIT_HANDS,
        block_pairs=10_000,
        first=[player_name(parse_player(SPLIT_PLAYERS[0]))],
        second=[player_name(parse_player(SPLIT_PLAYERS[1]))],
    )
    Table("hunl", hunl, 1000, 1, "memory", 2).pairs(*SPLIT_PLAYERS)  # compiled
    with contextlib.ExitStack() as stack:
        for name in ("w1", "w2"):
            arguments = ["worker", "--broker", broker.url, "--threads", "1", "--name", name]
            process = subprocess.Popen(
                [sys.executable, "-m", "foldwise.cli.main", *arguments], stderr=subprocess.DEVNULL
            )
            stack.callback(process.wait)
            stack.callback(process.send_signal, signal.SIGINT)
        warm = job.model_copy(update={"job": "warm", "hands": 80_000})
        asyncio.run(Coordinator(opened, BlockStore(warm, None), quiet, patience_seconds=120).run())
        ratios = []
        for number in range(3):
            start = time.monotonic()
            alone = table.pairs(*SPLIT_PLAYERS)
            middle = time.monotonic()
            store = BlockStore(job.model_copy(update={"job": f"bench-{number}"}), None)
            asyncio.run(Coordinator(opened, store, quiet).run())
            end = time.monotonic()
            assert np.array_equal(store.values[0, 0], alone)
            ratios.append((middle - start) / (end - middle))
            print(
                f"  {2 * SPLIT_HANDS:,} hands: one process on two threads {middle - start:.2f} s, "
                f"two workers {end - middle:.2f} s, the same bit for bit",
                flush=True,
            )
        print(f"two workers at {100 * max(ratios):.0f}% of one process's speed (best of 3; {min(ratios):.2f} at worst)")


def main() -> None:
    chosen = sys.argv[1:] or ["feed", "seats", "workers"]
    with tempfile.TemporaryDirectory(prefix="foldwise-bench-") as name, LocalBroker(Path(name)) as broker:
        print(f"broker: {broker.name}")
        for part in chosen:
            {"feed": feed, "seats": seats, "workers": workers}[part](broker, Path(name))


if __name__ == "__main__":
    main()
