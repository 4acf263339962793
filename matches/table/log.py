"""ACPC logs: written line by line while a match runs, read back for results, replays and resuming."""

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol, TypeVar

from foldwise.game.arrays import Float
from foldwise.game.betting import BettingState
from foldwise.game.cards import cards_text
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import FormatError, Naming
from foldwise.game.text.match_state import read_match_state
from foldwise.matches.table.hand import format_value

# A log holds names byte for byte as on the command line, even if they are not UTF-8.
LOG_ENCODING = "utf-8"
LOG_ERRORS = "surrogateescape"
_MOST_DIGITS = 18  # of a hand's number
Entry = TypeVar("Entry")


def header_text(name: str, game: str, num_hands: int, seed: int, limits_ms: tuple[int, int, int]) -> str:
    """The four lines a log begins with; `limits_ms` are those of an answer, a hand, and a hand on average."""
    response, hand, per_hand = limits_ms
    return (
        f"# name/game/hands/seed {name} {game} {num_hands} {seed % 2**32}\n"
        f"#--t_response {response}\n#--t_hand {hand}\n#--t_per_hand {per_hand}\n"
    )


def log_bytes(text: str) -> bytes:
    """Text as the bytes of a log."""
    return text.encode(LOG_ENCODING, LOG_ERRORS)


def log_text(data: bytes) -> str:
    """The bytes of a log as text; `log_bytes` reverses it."""
    return data.decode(LOG_ENCODING, LOG_ERRORS)


class HandListener(Protocol):
    """Receives finished hands in blocks; it must not block the match."""

    def __call__(self, first_number: int, by_seat: Float, lines: bytes) -> None:
        """What each seat won from hand `first_number` on, [hand, seat], and the hands' log lines."""


class LogFile:
    """A log being written: every line is flushed at once, so that no finished hand is lost."""

    def __init__(self, path: Path, append: bool):
        self.logged: set[int] = set()
        if append and path.exists():
            drop_unfinished_line(path)
            self.logged = {hand_number(line) for line in state_lines(path)}
        self._naming = Naming(path)
        self._file: IO[str] = path.open("a" if append else "w", encoding=LOG_ENCODING, errors=LOG_ERRORS)

    def write(self, text: str) -> None:
        with self._naming:
            self._file.write(text)
            self._file.flush()

    def close(self) -> None:
        with self._naming:
            self._file.close()


def drop_unfinished_line(path: Path) -> None:
    """Remove an incomplete last line, left by a killed writer."""
    with path.open("rb+") as file:
        start = size = file.seek(0, os.SEEK_END)
        found = -1
        while start > 0 and found < 0:  # a line may be longer than one block
            end, start = start, max(0, start - (1 << 16))
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
        whole = start + found + 1
        if whole < size:
            file.truncate(whole)
            file.flush()
            os.fsync(file.fileno())


def state_lines(path: Path) -> Iterator[str]:
    """The `STATE` lines of a log, without line ends; an incomplete last line is skipped."""
    with path.open(encoding=LOG_ENCODING, errors=LOG_ERRORS, newline="\n") as file:
        for line in file:
            if line.startswith("STATE:") and line.endswith("\n"):
                yield line.rstrip("\r\n")


def is_complete(path: Path) -> bool:
    """Whether the log ends a match: its last line is a `SCORE`."""
    last = ""
    with path.open(encoding=LOG_ENCODING, errors=LOG_ERRORS, newline="\n") as file:
        for line in file:
            last = line
    return last.startswith("SCORE:") and last.endswith("\n")


def hand_number(line: str) -> int:
    """The number of the hand of a `STATE` line."""
    number = line.split(":", 2)[1]
    if not (number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS):
        raise FormatError(f"log line {line!r}: expected STATE:hand:betting:cards:values:names")
    return int(number)


def line_values(line: str) -> list[float]:
    """The values of a `STATE` line, by position, without parsing the rest."""
    try:
        values = [float(value) for value in line.rsplit(":", 2)[1].split("|")]
        if len(values) < 2 or not all(map(math.isfinite, values)):
            raise ValueError
        return values
    except (IndexError, ValueError):
        raise FormatError(f"log line {line!r}: expected STATE:hand:betting:cards:values:names") from None


@dataclass(frozen=True)
class LoggedHand:
    """A finished hand from a log. Values and names are by position; unknown hole cards are empty."""

    number: int
    betting: BettingState
    hole_cards: tuple[tuple[int, ...], ...]
    board: tuple[int, ...]
    values: tuple[float, ...]
    names: tuple[str, ...]

    @property
    def hidden(self) -> bool:
        """Whether somebody's hole cards are not known, as in the hand histories of poker rooms."""
        return not all(self.hole_cards)


def state_line(hand: LoggedHand) -> str:
    """The `STATE` line of a hand; `parse_state_line` reads it back."""
    definition = hand.betting.definition
    ends = definition.board_sizes[: hand.betting.round + 1]
    board = "/".join(cards_text(hand.board[start:end]) for start, end in zip((0, *ends), ends))
    holes = "|".join(map(cards_text, hand.hole_cards))
    values = "|".join(map(format_value, hand.values))
    return f"STATE:{hand.number}:{hand.betting.betting_text()}:{holes}{board}:{values}:{'|'.join(hand.names)}"


def parse_state_line(line: str, definition: GameDefinition, hidden: bool = False) -> LoggedHand:
    """Read one `STATE` line; raises `FormatError` if it is not one, or of another game.

    A dealer's log has all hole cards; `hidden` allows missing ones, as in a log converted from another format.
    """
    parts = line.split(":")
    if len(parts) < 6 or parts[0] != "STATE":
        raise FormatError(f"log line {line!r}: expected STATE:hand:betting:cards:values:names")
    number, betting, cards, values = parts[1:5]
    names = ":".join(parts[5:])  # a name may hold anything but the bar
    result = read_match_state(f"MATCHSTATE:0:{number}:{betting}:{cards}", definition)
    if result is None or not result[0].betting.finished:
        raise FormatError(f"log line {line!r}: expected a finished hand of the game, all cards shown")
    state, end = result
    if end != len(f"MATCHSTATE:0:{number}:{betting}:{cards}") or not (hidden or all(state.hole_cards)):
        raise FormatError(f"log line {line!r}: expected all hole cards and the board, and nothing else")
    return LoggedHand(
        number=state.hand_number,
        betting=state.betting,
        hole_cards=tuple(state.hole_cards),
        board=state.board,
        values=_by_player(line_values(f":{values}:"), definition, line),
        names=_by_player(names.split("|"), definition, line),
    )


def _by_player(entries: list[Entry], definition: GameDefinition, line: str) -> tuple[Entry, ...]:
    if len(entries) != definition.num_players:
        raise FormatError(
            f"log line {line!r}: expected a value and a name for each of {definition.num_players} players"
        )
    return tuple(entries)


def read_log(path: Path, definition: GameDefinition, hidden: bool = False) -> Iterator[LoggedHand]:
    """All hands of a log, in order."""
    for line in state_lines(path):
        yield parse_state_line(line, definition, hidden)


def seat_values(lines: Sequence[str], fixed_seats: bool = False) -> list[list[float]]:
    """Values of each line by seat, from positions and the hand's number."""
    by_seat = []
    for line in lines:
        values = line_values(line)
        shift = 0 if fixed_seats else hand_number(line) % len(values)
        by_seat.append([values[(seat - shift) % len(values)] for seat in range(len(values))])
    return by_seat
