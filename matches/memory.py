"""Matches without sockets: the same players, cards and rules in one process, and the same log as a dealer writes.

Built-in bots on both seats of a two-player game are played by a compiled engine; any other `Player` by a Python loop.
"""

import logging
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt

from agent.bots import Bot, make_scratch
from agent.player import Player, guarded_choice
from game.dealing import Shoe
from game.definition import GameDefinition
from game.evaluator import evaluator_tables
from matches import memory_kernels as kernels
from matches.hand import Hand, check_playable, score_line, seat_of_position
from matches.transcript import drop_unfinished_line, header_text, is_complete, seat_values, state_lines

_BLOCK_HANDS = 2000
_BLOCK_BYTES = 1 << 20
_FLUSH_HANDS = 100
_MAX_NAME = 200
_DEALER_LIMITS_MS = (600_000, 600_000, 7_000)
_log = logging.getLogger(__name__)


class TableRules(NamedTuple):
    """A two-player game as the kernels read it."""

    limit: bool
    num_hole: int
    stacks: npt.NDArray[np.int64]  # [2]
    blinds: npt.NDArray[np.int64]  # [2]
    raise_sizes: npt.NDArray[np.int64]  # [rounds]; zeros in no-limit
    first_players: npt.NDArray[np.int64]  # [rounds]
    max_raises: npt.NDArray[np.int64]  # [rounds]
    board_sizes: npt.NDArray[np.int64]  # [rounds]
    deck: npt.NDArray[np.int64]


def table_rules(definition: GameDefinition) -> TableRules:
    raise_sizes = definition.raise_sizes or (0,) * definition.num_rounds
    return TableRules(
        limit=definition.limit,
        num_hole=definition.num_hole_cards,
        stacks=np.array(definition.stacks, np.int64),
        blinds=np.array(definition.blinds, np.int64),
        raise_sizes=np.array(raise_sizes, np.int64),
        first_players=np.array(definition.first_players, np.int64),
        max_raises=np.array(definition.max_raises, np.int64),
        board_sizes=np.array(definition.board_sizes, np.int64),
        deck=np.array(definition.deck, np.int64),
    )


class MemoryMatch(NamedTuple):
    """What a match in memory is made of. `name` and `game` stand in the log's header as a dealer would write them."""

    name: str
    game: str
    definition: GameDefinition
    num_hands: int
    seed: int
    names: tuple[str, ...]  # by seat


def is_compiled(players: tuple[Player, ...], definition: GameDefinition) -> bool:
    """Whether the compiled engine can play this match."""
    return definition.num_players == 2 and all(isinstance(player, Bot) for player in players)


def play_in_memory(match: MemoryMatch, players: tuple[Player, ...], path: Path) -> int:
    """Play a match, or the rest of one whose log breaks off, into the log `path`; returns the players' faults."""
    definition = match.definition
    check_playable(definition)
    played: list[list[float]] = []
    if path.exists():
        if is_complete(path):
            return 0
        drop_unfinished_line(path)
        played = seat_values(list(state_lines(path)))
    totals = np.array([sum(column) for column in zip(*played)] or [0.0] * definition.num_players)
    shoe = Shoe(definition, match.seed)
    if played:
        shoe.cards(len(played))
    with path.open("ab") as file:
        if not file.tell():
            header = header_text(match.name, match.game, match.num_hands, match.seed, _DEALER_LIMITS_MS)
            file.write(header.encode("latin-1"))
        if is_compiled(players, definition):
            faults = 0
            _play_compiled(match, players, shoe, len(played), totals, file)
        else:
            faults = _play_python(match, players, shoe, len(played), totals, file)
        file.write(f"{score_line(totals.tolist(), match.names)}\n".encode("latin-1"))
    return faults


def _play_compiled(
    match: MemoryMatch,
    players: tuple[Player, ...],
    shoe: Shoe,
    start: int,
    totals: npt.NDArray[np.float64],
    file: IO[bytes],
) -> None:
    bots = [player for player in players if isinstance(player, Bot)]
    codes = np.array([bot.code for bot in bots], np.int64)
    seeds = np.array([bot.seed for bot in bots], np.uint64)
    names = tuple(np.frombuffer(name.encode("latin-1", "replace")[:_MAX_NAME], np.uint8) for name in match.names)
    rules = table_rules(match.definition)
    tables = evaluator_tables()
    scratch = make_scratch()
    text = np.empty(_BLOCK_BYTES, np.uint8)
    number = start
    while number < match.num_hands:
        cards = shoe.cards(min(_BLOCK_HANDS, match.num_hands - number))
        done = 0
        while done < len(cards):
            played, size = kernels.play_block(
                rules, tables, codes, seeds, cards[done:], number, names, scratch, totals, text
            )
            file.write(text[:size].data)
            done += played
            number += played
        file.flush()


def _play_python(
    match: MemoryMatch,
    players: tuple[Player, ...],
    shoe: Shoe,
    start: int,
    totals: npt.NDArray[np.float64],
    file: IO[bytes],
) -> int:
    definition = match.definition
    faults = 0
    deals = shoe.deals()
    for number in range(start, match.num_hands):
        hand = Hand(definition, next(deals), number)
        seats = [seat_of_position(p, number, definition.num_players, False) for p in range(definition.num_players)]
        while not hand.betting.finished:
            position = hand.betting.player_to_act
            action, error = guarded_choice(players[seats[position]], hand.state(position))
            if error is not None:
                faults += 1
                _log.error("player failed; checked or folded at %r", hand.line(position), exc_info=error)
            hand.apply(action)
        values = hand.values()
        totals[seats] += values
        file.write(f"{hand.log_line(values, [match.names[seat] for seat in seats])}\n".encode("latin-1"))
        if number % _FLUSH_HANDS == 0:
            file.flush()
    return faults
