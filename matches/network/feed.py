"""The live feed of a match: start, finished hands, running totals, end.

The feed has its own thread and connection. The match only leaves its newest hands there; twice a second they are sent
in one batch. Whatever the broker does, the match never waits for it.
"""

import asyncio
import contextlib
import math
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from foldwise.agent.player_spec import PlayerKind, PlayerSpec
from foldwise.game.arrays import Float
from foldwise.matches.duplicate.comparison import Table
from foldwise.matches.network.block_store import BlockStore
from foldwise.matches.network.connection import PATIENCE_SECONDS, Broker, BrokerError, Link, Outgoing, Say
from foldwise.matches.network.messages import (
    MAX_ROWS,
    HandBatch,
    MatchInfo,
    MatchState,
    MatchStatus,
    MatchTotals,
    Total,
    plain_text,
)
from foldwise.matches.plan import MatchPlan, Run
from foldwise.matches.statistics import Estimate, estimate_of_sums
from foldwise.matches.table.log import HandListener, log_text

BATCH_SECONDS = 0.5
BATCH_LINES = 1000  # at most; a match in memory plays a hundred times as many
_LINE_CHARACTERS = 800  # a longer line, from a table of many players, is left out to limit the batch
_CLOSING_SECONDS = 5.0


def new_match_id(label: str) -> str:
    """A word for topics: what is played, and a random part that makes it unique."""
    kept = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in label).strip("-")
    return f"{kept[:40] or 'match'}-{secrets.token_hex(4)}"


def short_game(game: str) -> str:
    """A game's name; for a file without its folder."""
    return plain_text(game.rpartition("/")[2])


class Feed:
    """Publishes one match. All methods return at once, and may be called from any thread."""

    def __init__(self, broker: Broker, info: MatchInfo, say: Say, patience_seconds: float = PATIENCE_SECONDS):
        self._broker = broker
        self._info = info
        self._say = say
        self._patience_seconds = patience_seconds
        self._lock = threading.Lock()
        self._totals: Callable[[], list[Total]] | None = None
        self._num_hands = 0
        self._num_resumed = 0
        self._chunks: deque[tuple[int, bytes]] = deque()
        self._num_kept = 0
        self._new_hands = 0
        self._state: MatchState = "running"
        self._closing = threading.Event()
        self._wake: Callable[[], object] = lambda: None
        self._start = time.monotonic()
        self._thread = threading.Thread(target=self._work, name="feed", daemon=True)
        self._thread.start()

    def totals(self, num_hands: int, rows: Callable[[], list[Total]], resumed: bool = False) -> None:
        """Report how many hands are finished; `rows` is called in the feed's thread when totals are due."""
        with self._lock:
            self._num_hands = num_hands
            self._totals = rows
            if resumed:
                self._num_resumed = num_hands

    def hands(self, count: int, lines: bytes) -> None:
        """`count` further hands are finished; of their log lines the newest are published."""
        with self._lock:
            self._new_hands += count
            self._chunks.append((count, lines))
            self._num_kept += count
            while self._num_kept - self._chunks[0][0] >= BATCH_LINES:  # what remains still fills a batch
                self._num_kept -= self._chunks.popleft()[0]

    def close(self, state: MatchState) -> None:
        """Publish the rest and the end; waits a few seconds at most, even without a broker."""
        with self._lock:
            self._state = state
        self._closing.set()
        with contextlib.suppress(RuntimeError):  # the feed was given up and its loop is closed
            self._wake()
        self._thread.join(_CLOSING_SECONDS + 1.0)

    def _work(self) -> None:
        try:
            asyncio.run(self._main())
        except BrokerError as error:
            self._say(f"{error}; the match goes on without its feed")

    async def _main(self) -> None:
        closing = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._wake = lambda: loop.call_soon_threadsafe(closing.set)
        if self._closing.is_set():
            closing.set()
        link = Link(
            self._broker,
            will=self._status("lost"),
            greet=lambda: [
                Outgoing(self._broker.topics.match(self._info.match, "info"), self._info.encode(), True),
                self._status("running"),
            ],
            say=self._say,
            patience_seconds=self._patience_seconds,
        )
        async with link:
            await link.during(self._publish_until(closing, link))

    async def _publish_until(self, closing: asyncio.Event, link: Link) -> None:
        while not closing.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(closing.wait(), BATCH_SECONDS)
            if link.connected.is_set():
                self._publish(link)
        if not link.connected.is_set():  # wait briefly to deliver the end of the match
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(link.connected.wait(), _CLOSING_SECONDS / 2)
            self._publish(link)
        link.send(*self._status(self._state))
        await link.flush(_CLOSING_SECONDS / 2)

    def _status(self, state: MatchState) -> Outgoing:
        message = MatchStatus(match=self._info.match, state=state)
        return Outgoing(self._broker.topics.match(self._info.match, "status"), message.encode(), True)

    def _publish(self, link: Link) -> None:
        with self._lock:
            rows, self._totals = self._totals, None
            num_hands, num_played = self._num_hands, self._num_hands - self._num_resumed
            chunks, self._chunks, self._num_kept = self._chunks, deque(), 0
            count, self._new_hands = self._new_hands, 0
        match, topics = self._info.match, self._broker.topics
        if count:
            newest = log_text(b"\n".join(lines for _, lines in chunks)).split("\n")
            lines = [line for line in newest if line.startswith("STATE:") and line.isprintable()]
            lines = [line for line in lines[-BATCH_LINES:] if len(line) <= _LINE_CHARACTERS]
            batch = HandBatch(match=match, left_out=max(count - len(lines), 0), lines=lines)
            link.send(topics.match(match, "hands"), batch.encode())
        if rows is not None:
            rate = max(num_played, 0) / max(time.monotonic() - self._start, 1e-3)
            totals = MatchTotals(match=match, hands=num_hands, hands_per_second=rate, rows=rows()[:MAX_ROWS])
            link.send(topics.match(match, "totals"), totals.encode(), True)


class _Half:
    """A's winnings in one run, as far as it is played."""

    def __init__(self, num_hands: int):
        self.values = np.zeros(num_hands)
        self.filled = 0


class MatchProgress:
    """Running totals of a duplicate match: a pair counts once both its hands are played."""

    def __init__(self, plan: MatchPlan, unit_chips: float, feed: Feed):
        self._plan = plan
        self._unit = unit_chips
        self._feed = feed
        self._lock = threading.Lock()
        self._halves: dict[int, dict[str, _Half]] = {}
        self._counted: dict[int, int] = {}
        self._sums = (0, 0.0, 0.0)
        self._num_hands = 0

    def listener(self, run: Run) -> HandListener:
        """For the hands of one run."""

        def listen(first_number: int, by_seat: npt.NDArray[np.float64], lines: bytes) -> None:
            self._add(run, first_number, by_seat[:, 0 if run.order == "AB" else 1])
            if lines:
                self._feed.hands(len(by_seat), lines)
            self._feed.totals(self._num_hands, self.rows, resumed=not lines)

        return listen

    def _add(self, run: Run, first: int, values: npt.NDArray[np.float64]) -> None:
        with self._lock:
            halves = self._halves.get(run.index)
            if halves is None:
                halves = self._halves[run.index] = {order: _Half(self._plan.hands) for order in ("AB", "BA")}
            half = halves[run.order]
            end = min(first + len(values), self._plan.hands)
            new = end - half.filled
            if first > half.filled or new <= 0:
                return
            half.values[first:end] = values[: end - first]
            half.filled = end
            self._num_hands += new
            self._count_pairs(run.index, halves)

    def _count_pairs(self, index: int, halves: dict[str, _Half]) -> None:
        start = self._counted.get(index, 0)
        end = min(half.filled for half in halves.values())
        if end > start:
            pairs = (halves["AB"].values[start:end] + halves["BA"].values[start:end]) / 2.0
            count, total, squares = self._sums
            self._sums = (count + pairs.size, total + float(pairs.sum()), squares + float(pairs @ pairs))
            self._counted[index] = end
        if end == self._plan.hands:
            del self._halves[index]

    def estimate(self) -> Estimate:
        """A's estimate over the pairs played so far."""
        with self._lock:
            return estimate_of_sums(*self._sums, self._unit)

    def rows(self) -> list[Total]:
        return [total_row(_shown(self._plan.players[0]), self.estimate())]


def total_row(name: str, found: Estimate) -> Total:
    """An estimate over pairs as a line of totals."""
    half_width = found.ci95_mbb if math.isfinite(found.ci95_mbb) else None
    return Total(name=name, hands=2 * found.count, mean_mbb=found.mean_mbb, ci95_mbb=half_width)


@contextlib.contextmanager
def published(broker: Broker, info: MatchInfo, say: Say, patience_seconds: float = PATIENCE_SECONDS) -> Iterator[Feed]:
    """A feed for the duration of the block; its final status is how the block ended."""
    feed = Feed(broker, info, say, patience_seconds)
    try:
        yield feed
    except KeyboardInterrupt:
        feed.close("stopped")
        raise
    except BaseException:
        feed.close("failed")
        raise
    feed.close("finished")


def _shown(player: PlayerSpec) -> str:
    """A player's name as published at the broker."""
    return plain_text(player.short())


def match_info(match: str, plan: MatchPlan) -> MatchInfo:
    """The start message of a duplicate match."""
    return MatchInfo(
        match=match,
        kind="match",
        players=[_shown(player) for player in plan.players],
        game=short_game(plan.game),
        hands=2 * plan.hands * plan.repeat,
        seed=plan.seed,
        started=time.time(),
    )


def comparison_info(match: str, game: str, players: Sequence[PlayerSpec], num_hands: int, seed: int) -> MatchInfo:
    """The start message of a comparison of `num_hands` in all."""
    names = [_shown(player) for player in players][:100]
    return MatchInfo(
        match=match,
        kind="compare",
        players=names,
        game=short_game(game),
        hands=num_hands,
        seed=seed,
        started=time.time(),
    )


class CellProgress:
    """Running totals of a comparison: a row for each variant against each opponent."""

    def __init__(self, table: Table, folder: Path, variants: Sequence[str], opponents: Sequence[PlayerSpec]):
        self._table = table
        self._names = [plain_text(f"{variant} - {opponent.short()}") for variant in variants for opponent in opponents]
        self._num_opponents = len(opponents)
        self._found: dict[int, Estimate] = {}
        self._lock = threading.Lock()
        self.feed: Feed | None = None
        num_hands = 2 * table.hands * len(self._names)
        players = [PlayerSpec(PlayerKind.STRATEGY, str(folder)), *opponents]
        self.info = comparison_info(new_match_id(f"compare-{folder.name}"), table.game, players, num_hands, table.seed)

    def add(self, variant: int, opponent: int, pairs: Float) -> None:
        """The values of a finished cell."""
        with self._lock:
            self._found[variant * self._num_opponents + opponent] = self._table.estimate(pairs)
            num_hands = sum(2 * found.count for found in self._found.values())
        if self.feed is not None:
            self.feed.totals(num_hands, self.rows)

    def add_store(self, store: BlockStore, resumed: bool = False) -> None:
        """All values of a split comparison so far."""
        if self.feed is not None:
            self.feed.totals(2 * store.num_pairs, lambda: self._rows_of(store), resumed)

    def _rows_of(self, store: BlockStore) -> list[Total]:
        """Runs in the feed's thread when totals are due; a block added meanwhile may be counted in part."""
        cells = store.values.reshape(-1, store.job.hands)
        found = [self._table.estimate(pairs[~np.isnan(pairs)]) for pairs in cells]
        return [total_row(name, cell) for name, cell in zip(self._names, found) if cell.count]

    def rows(self) -> list[Total]:
        with self._lock:
            return [total_row(self._names[cell], found) for cell, found in sorted(self._found.items())]
