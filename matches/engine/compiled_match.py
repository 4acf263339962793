"""Matches without sockets: the same players, cards and rules in one process, and the same log as a dealer writes.

Strategies and built-in bots at a two-player table are played by a compiled engine; any other `Player` by a Python loop.
"""

import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.card_lookup import CardLookup
from foldwise.agent.bots import Bot, BotScratch
from foldwise.agent.bots import make_scratch as make_bot_scratch
from foldwise.agent.following.tracker import Scratch, Seat, empty_seat, make_scratch
from foldwise.agent.player import Faults, Player, guarded_choice, limit_time, warm_up
from foldwise.agent.strategy_player import StrategyPlayer, check_same_game
from foldwise.game.betting_kernels import NUM_FIELDS
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import Naming
from foldwise.game.hands.dealing import Shoe
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.trees.table_rules import table_rules
from foldwise.matches.engine import compiled_match_kernels as kernels
from foldwise.matches.plan import MAX_NAME_BYTES, MatchStoppedError
from foldwise.matches.table.hand import Hand, check_playable, score_line, seat_of_position
from foldwise.matches.table.log import (
    HandListener,
    drop_unfinished_line,
    header_text,
    is_complete,
    log_bytes,
    seat_values,
    state_lines,
)

_BLOCK_HANDS = 500  # a match that is stopped finishes its current block
_VALUES_BLOCK_HANDS = 5000
_BLOCK_BYTES = 1 << 20
_FLUSH_HANDS = 100
_DEALER_LIMITS_MS = (600_000, 600_000, 7_000)
_NO_NAMES = (np.frombuffer(b"A", np.uint8), np.frombuffer(b"B", np.uint8))  # for matches without a log


class Seats(NamedTuple):
    """Both players as the kernels read them, by seat. A bot's strategy is empty, so that one type serves all."""

    codes: npt.NDArray[np.int64]  # [2]: a bot's code, or STRATEGY
    seeds: npt.NDArray[np.uint64]  # [2]: of the bots
    first: Seat
    second: Seat


class EngineScratch(NamedTuple):
    """Scratch memory of one engine thread."""

    hand: npt.NDArray[np.int64]  # a row of game.betting_kernels
    profit: npt.NDArray[np.int64]  # [2]: of each position
    cards: npt.NDArray[np.int64]  # [10]
    bot: BotScratch
    decision: Scratch


def engine_scratch() -> EngineScratch:
    return EngineScratch(
        hand=np.zeros(NUM_FIELDS, np.int64),
        profit=np.zeros(2, np.int64),
        cards=np.zeros(10, np.int64),
        bot=make_bot_scratch(),
        decision=make_scratch(),
    )


class CompiledTable:
    """Two players the engine can play, and their buckets of dealt cards."""

    def __init__(self, players: tuple[Player, ...], definition: GameDefinition):
        self.definition = definition
        self.rules = table_rules(definition)
        self._tables = evaluator_tables()
        self._lookups: list[CardLookup | None] = []
        codes, seeds, strategies = [], [], []
        for player in players:
            if isinstance(player, StrategyPlayer):
                check_same_game(definition, player.definition, player.name)
                codes.append(kernels.STRATEGY)
                seeds.append(0)
                strategies.append(player.seat)
                self._lookups.append(player.lookup)
            else:
                assert isinstance(player, Bot)
                codes.append(player.code)
                seeds.append(player.seed)
                strategies.append(empty_seat(definition))
                self._lookups.append(None)
        self._seats = Seats(np.array(codes, np.int64), np.array(seeds, np.uint64), *strategies)

    def buckets(self, cards: npt.NDArray[np.uint8], first_number: int) -> npt.NDArray[np.int64]:
        """[2, H, streets]: each seat's bucket on every street of hands dealt from number `first_number` on."""
        definition = self.definition
        num_hole, num_streets = definition.num_hole_cards, definition.num_rounds
        buckets = np.zeros((2, len(cards), num_streets), np.int64)
        for seat, lookup in enumerate(self._lookups):
            if lookup is None:
                continue
            # In every second hand a seat has the other position's hole cards.
            position = (seat - first_number - np.arange(len(cards))) % 2
            holes = np.where(position[:, None] == 0, cards[:, :num_hole], cards[:, num_hole : 2 * num_hole])
            seen = np.concatenate([holes, cards[:, 2 * num_hole :]], axis=1)
            for street, size in enumerate(definition.board_sizes):
                buckets[seat, :, street] = lookup.bucket_hands(street, seen[:, : num_hole + size])
        return buckets

    def play(
        self,
        cards: npt.NDArray[np.uint8],
        first_number: int,
        names: tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]] = _NO_NAMES,
        file: "IO[bytes] | _Copy | None" = None,
    ) -> npt.NDArray[np.int64]:
        """Play a block of hands and write their lines to `file`; [H, 2]: what each seat wins."""
        buckets = self.buckets(cards, first_number)
        values = np.empty((len(cards), 2), np.int64)
        text = np.empty(_BLOCK_BYTES if file is not None else kernels.MAX_LINE_BYTES, np.uint8)
        scratch = engine_scratch()
        done = 0
        while done < len(cards):
            played, size = kernels.play_block(
                self.rules,
                self._tables,
                self._seats,
                buckets[:, done:],
                cards[done:],
                first_number + done,
                names,
                scratch,
                values[done:],
                file is not None,
                text,
            )
            if file is not None:
                file.write(text[:size].data)
            done += played
        return values


class MemoryMatch(NamedTuple):
    """The settings of a match in memory. `name` and `game` appear in the log's header as a dealer would write them."""

    name: str
    game: str
    definition: GameDefinition
    num_hands: int
    seed: int
    names: tuple[str, ...]  # by seat


def is_compiled(players: tuple[Player, ...], definition: GameDefinition) -> bool:
    """Whether the compiled engine can play this match."""
    return definition.num_players == 2 and all(isinstance(player, Bot | StrategyPlayer) for player in players)


def play_values(
    definition: GameDefinition,
    players: tuple[Player, ...],
    seed: int,
    num_hands: int,
    threads: int,
    listen: Callable[[int], None] = lambda done: None,
) -> npt.NDArray[np.int64]:
    """[hands, 2]: what each seat wins in each hand of a match in memory, without a log; `listen` hears how many are done."""
    check_playable(definition)
    table = CompiledTable(players, definition)
    cards = Shoe(definition, seed).cards(num_hands)
    starts = range(0, num_hands, _VALUES_BLOCK_HANDS)
    with ThreadPoolExecutor(threads) as pool:
        blocks = []
        try:
            for block in pool.map(lambda start: table.play(cards[start : start + _VALUES_BLOCK_HANDS], start), starts):
                blocks.append(block)
                listen(sum(map(len, blocks)))
        finally:  # do not wait for the remaining blocks on an interrupt
            pool.shutdown(wait=True, cancel_futures=True)
        return np.concatenate(blocks)


def play_in_memory(
    match: MemoryMatch,
    players: tuple[Player, ...],
    path: Path,
    stop: threading.Event | None = None,
    listen: HandListener | None = None,
) -> Faults:
    """Play a match, or the rest of one whose log breaks off, into the log `path`; returns the players' faults.

    Raises `MatchStoppedError` soon after `stop` is set; the hands played by then are in the log.
    """
    definition = match.definition
    check_playable(definition)
    played: list[list[float]] = []
    if path.exists():
        complete = is_complete(path)
        if complete and listen is None:
            return Faults()
        if not complete:
            drop_unfinished_line(path)
        played = seat_values(list(state_lines(path)))
        if listen is not None and played:
            listen(0, np.array(played), b"")
        if complete:
            return Faults()
    totals = np.array([sum(column) for column in zip(*played)] or [0.0] * definition.num_players)
    shoe = Shoe(definition, match.seed)
    if played:
        shoe.cards(len(played))
    with Naming(path), path.open("ab") as file:
        if not file.tell():
            header = header_text(match.name, match.game, match.num_hands, match.seed, _DEALER_LIMITS_MS)
            file.write(log_bytes(header))
        rest = _RestOfMatch(match, players, shoe, len(played), totals, file, stop)
        if is_compiled(players, definition):
            faults = Faults()
            _play_compiled(rest, listen)
        else:
            faults = _play_python(rest)
        file.write(log_bytes(f"{score_line(totals.tolist(), match.names)}\n"))
    return faults


@dataclass(frozen=True)
class _RestOfMatch:
    """What is left to play of a match, and where it goes."""

    match: MemoryMatch
    players: tuple[Player, ...]
    shoe: Shoe
    start: int  # number of the first hand
    totals: npt.NDArray[np.float64]  # by seat, added to
    file: IO[bytes]
    stop: threading.Event | None

    def numbers(self, step: int = 1) -> Iterator[int]:
        """Numbers of its hands, every `step`-th; raises `MatchStoppedError` once it is stopped."""
        for number in range(self.start, self.match.num_hands, step):
            if self.stop is not None and self.stop.is_set():
                raise MatchStoppedError(f"run {self.match.name} was stopped")
            yield number


class _Copy:
    """Writes to a file and keeps what was written."""

    def __init__(self, file: IO[bytes]):
        self._file = file
        self.written: list[bytes] = []

    def write(self, data: memoryview) -> None:
        self.written.append(bytes(data))
        self._file.write(data)


def _play_compiled(rest: _RestOfMatch, listen: HandListener | None) -> None:
    match, file = rest.match, rest.file
    table = CompiledTable(rest.players, match.definition)
    first, second = (np.frombuffer(log_bytes(name)[:MAX_NAME_BYTES], np.uint8) for name in match.names)
    for number in rest.numbers(_BLOCK_HANDS):
        cards = rest.shoe.cards(min(_BLOCK_HANDS, match.num_hands - number))
        lines = _Copy(file) if listen is not None else file
        values = table.play(cards, number, (first, second), lines)
        rest.totals[:] += values.sum(axis=0)
        file.flush()
        if isinstance(lines, _Copy) and listen is not None:
            listen(number, values.astype(np.float64), b"".join(lines.written))


def _play_python(rest: _RestOfMatch) -> Faults:
    match, players, file = rest.match, rest.players, rest.file
    definition = match.definition
    faults = Faults()
    for player in players:
        warm_up(player)
        limit_time(player, None)
    deals = rest.shoe.deals()
    for number in rest.numbers():
        hand = Hand(definition, next(deals), number)
        seats = [seat_of_position(p, number, definition.num_players, False) for p in range(definition.num_players)]
        while not hand.betting.finished:
            position = hand.betting.player_to_act
            seat = seats[position]
            action, error = guarded_choice(players[seat], hand.state(position))
            if error is not None:
                told = "" if faults.count else "".join(traceback.format_exception(error))
                name = match.names[seat]
                faults += Faults(1, f"player {name} failed; checked or folded at {hand.line(position)!r}\n{told}")
            hand.apply(action)
        values = hand.values()
        rest.totals[seats] += values
        file.write(log_bytes(f"{hand.log_line(values, [match.names[seat] for seat in seats])}\n"))
        if number % _FLUSH_HANDS == 0:
            file.flush()
    return faults
