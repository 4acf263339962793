"""Game definitions: the ACPC `.game` text, read as the reference dealer reads it, and written back."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from foldwise.game.errors import DefinitionError

MAX_PLAYERS = 10
MAX_ROUNDS = 4
MAX_BOARD_CARDS = 7
UNLIMITED_STACK = 2**31 - 1
UNLIMITED_RAISES = 255

# Eleven digits already exceed every range; int() refuses numbers of thousands of digits.
_NUMBER = re.compile(r"[\s=]*([+-]?)0*([0-9]{1,11})[0-9]*")
# Keys as the competition writes them; a line belongs to the first key it starts with, whatever the letter case.
_KEYS = (
    "numPlayers",
    "numRounds",
    "stack",
    "blind",
    "raiseSize",
    "firstPlayer",
    "maxRaises",
    "numSuits",
    "numRanks",
    "numHoleCards",
    "numBoardCards",
)


@dataclass(frozen=True)
class GameDefinition:
    """The rules of one poker game. Per-position and per-round items are tuples; positions count from 0."""

    limit: bool
    num_players: int
    num_rounds: int
    stacks: tuple[int, ...]
    blinds: tuple[int, ...]
    raise_sizes: tuple[int, ...]  # per round; empty in no-limit games
    first_players: tuple[int, ...]  # per round, counted from 0
    max_raises: tuple[int, ...]  # per round
    num_suits: int
    num_ranks: int
    num_hole_cards: int
    num_board_cards: tuple[int, ...]  # new cards in each round

    @cached_property
    def deck(self) -> tuple[int, ...]:
        """All cards in the order the reference dealer holds them: suit by suit, low rank to high."""
        suits = range(4 - self.num_suits, 4)
        ranks = range(13 - self.num_ranks, 13)
        return tuple(4 * rank + suit for suit in suits for rank in ranks)

    @cached_property
    def board_sizes(self) -> tuple[int, ...]:
        """Board cards on the table in each round."""
        return tuple(sum(self.num_board_cards[: i + 1]) for i in range(self.num_rounds))

    @property
    def cards_per_hand(self) -> int:
        return self.num_players * self.num_hole_cards + self.board_sizes[-1]

    @cached_property
    def big_blind(self) -> int:
        """The largest blind: the unit of the no-limit minimum raise, and of results in mbb."""
        return max(self.blinds)

    def to_text(self) -> str:
        """The `.game` text of this definition; `parse_definition` gives it back."""
        lines = ["GAMEDEF", "limit" if self.limit else "nolimit"]

        def add(key: str, *values: int) -> None:
            lines.append(f"{key} = {' '.join(map(str, values))}")

        add("numPlayers", self.num_players)
        add("numRounds", self.num_rounds)
        if any(stack != UNLIMITED_STACK for stack in self.stacks):
            add("stack", *self.stacks)
        add("blind", *self.blinds)
        if self.limit:
            add("raiseSize", *self.raise_sizes)
        add("firstPlayer", *(player + 1 for player in self.first_players))
        if any(raises != UNLIMITED_RAISES for raises in self.max_raises):
            add("maxRaises", *self.max_raises)
        add("numSuits", self.num_suits)
        add("numRanks", self.num_ranks)
        add("numHoleCards", self.num_hole_cards)
        add("numBoardCards", *self.num_board_cards)
        return "\n".join([*lines, "END GAMEDEF", ""])


@dataclass
class _Line:
    number: int
    text: str
    values: list[int]


def _read_values(text: str) -> list[int]:
    values = []
    position = 0
    while match := _NUMBER.match(text, position):
        values.append(int(match.group(1) + match.group(2)))
        position = match.end()
    return values


class _Reader:
    """Collects the lines of one file, and names the line in errors."""

    def __init__(self, text: str, source: str):
        self.source = source
        self.lines: dict[str, _Line] = {}
        self.limit = True
        self.skipped: list[_Line] = []
        for number, raw in enumerate(text.splitlines(), start=1):
            lowered = raw.lower()
            if not raw or raw.startswith("#") or lowered.startswith("gamedef"):
                continue
            if lowered.startswith("end gamedef"):
                break
            if lowered.startswith("limit"):
                self.limit = True
            elif lowered.startswith("nolimit"):
                self.limit = False
            else:
                key = next((key for key in _KEYS if lowered.startswith(key.lower())), None)
                if key is None:
                    self.skipped.append(_Line(number, raw, []))
                else:
                    self.lines[key] = _Line(number, raw, _read_values(raw[len(key) :]))

    def fail(self, key: str, expected: str) -> DefinitionError:
        line = self.lines.get(key)
        if line is not None:
            return DefinitionError(f"{self.source}, line {line.number}: {line.text.strip()!r}: expected {expected}")
        hint = "".join(f"; line {line.number}, {line.text.strip()!r}, is not a known key" for line in self.skipped[:1])
        return DefinitionError(f"{self.source}: no line for {key}: expected {expected}{hint}")

    def single(self, key: str, low: int, high: int) -> int:
        values = self.lines[key].values if key in self.lines else []
        if not values or not low <= values[0] <= high:
            raise self.fail(key, f"a number from {low} to {high}")
        return values[0]

    def several(self, key: str, count: int, low: int, high: int, default: int | None = None) -> tuple[int, ...]:
        values = self.lines[key].values[:count] if key in self.lines else []
        if default is not None:
            values = values + [default] * (count - len(values))
        if len(values) < count or any(not low <= value <= high for value in values):
            raise self.fail(key, f"{count} number{'s' if count > 1 else ''} from {low} to {high}")
        return tuple(values)


def parse_definition(text: str, source: str = "game definition") -> GameDefinition:
    """Read `.game` text as the reference dealer does.

    Keys match by prefix at the start of a line in any letter case; blanks and `=` before numbers are skipped; unknown
    lines are skipped; a later line for a key overwrites an earlier one. `source` names the text in errors.
    """
    reader = _Reader(text, source)
    num_players = reader.single("numPlayers", 2, MAX_PLAYERS)
    num_rounds = reader.single("numRounds", 1, MAX_ROUNDS)
    if "stack" in reader.lines:
        stacks = reader.several("stack", num_players, 1, UNLIMITED_STACK)
    elif num_players > 4:
        raise reader.fail("stack", f"{num_players} stacks (they may be left out with at most 4 players)")
    else:
        stacks = (UNLIMITED_STACK,) * num_players
    blinds = reader.several("blind", num_players, 0, UNLIMITED_STACK)
    if any(blind > stack for blind, stack in zip(blinds, stacks)):
        raise reader.fail("blind", "no blind above its stack")
    definition = GameDefinition(
        limit=reader.limit,
        num_players=num_players,
        num_rounds=num_rounds,
        stacks=stacks,
        blinds=blinds,
        raise_sizes=reader.several("raiseSize", num_rounds, 1, UNLIMITED_STACK) if reader.limit else (),
        first_players=tuple(p - 1 for p in reader.several("firstPlayer", num_rounds, 1, num_players, default=1)),
        max_raises=tuple(
            cap % 256  # the reference stores it in eight bits
            for cap in reader.several("maxRaises", num_rounds, 0, 2**31 - 1, default=UNLIMITED_RAISES)
        ),
        num_suits=reader.single("numSuits", 1, 4),
        num_ranks=reader.single("numRanks", 1, 13),
        num_hole_cards=reader.single("numHoleCards", 1, 3),
        num_board_cards=reader.several("numBoardCards", num_rounds, 0, MAX_BOARD_CARDS),
    )
    if sum(definition.num_board_cards) > MAX_BOARD_CARDS:
        raise reader.fail("numBoardCards", f"at most {MAX_BOARD_CARDS} board cards in all")
    if definition.cards_per_hand > len(definition.deck):
        raise DefinitionError(
            f"{source}: a hand needs {definition.cards_per_hand} cards, the deck of {definition.num_suits} suits and "
            f"{definition.num_ranks} ranks has {len(definition.deck)}: raise numSuits or numRanks"
        )
    if all(blind == stack for blind, stack in zip(blinds, stacks)):
        raise reader.fail("blind", "at least one player with chips left after the blinds")
    return definition


def load_definition(path: Path) -> GameDefinition:
    """Read a `.game` file."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # a byte order mark would hide the first line's key
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        raise DefinitionError(f"game file {str(path)!r}: {reason}: give the path of an ACPC .game file") from error
    return parse_definition(text, source=str(path))
