"""The games by name: those of the papers and of the competition, and any ACPC `.game` file by its path."""

import re
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from foldwise.game.definition import GameDefinition, load_definition, parse_definition
from foldwise.game.errors import DefinitionError
from foldwise.game.trees.bluff import Bluff
from foldwise.game.trees.tree import ALL_IN, EVERY_SIZE, BetMenu, Tree, build_tree, pot_size

# Shown by `foldwise games`; bluff-D1-D2 and two-nl-K exist for other numbers too.
BUILT_IN_NAMES = (
    "kuhn",
    "leduc",
    "bluff-1-1",
    "bluff-2-1",
    "bluff-2-2",
    "two-nl-36",
    "two-limit-1",
    "two-limit-4",
    "preflop-nl",
    "limit",
    "hunl",
)
_SHIPPED = ("kuhn", "leduc", "two-limit-1", "two-limit-4", "limit", "hunl")
_BLUFF = re.compile(r"bluff-(\d+)-(\d+)")
_TWO_NL = re.compile(r"two-nl-(\d+)")

_TWO_NL_TEXT = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 2
stack = {stack} {stack}
blind = 2 1
firstPlayer = 2 1
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3
END GAMEDEF
"""

# One betting round; the five board cards come after it, so they do not belong to that round.
_PREFLOP_NL_TEXT = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 1
stack = 20000 20000
blind = 100 50
firstPlayer = 2
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0
END GAMEDEF
"""


@dataclass(frozen=True)
class PokerGame:
    """A poker game: its rules, and which no-limit raises its public tree has."""

    name: str
    definition: GameDefinition
    menu: BetMenu
    run_out_cards: int = 0  # board cards dealt after the last betting round

    @property
    def num_streets(self) -> int:
        return self.definition.num_rounds

    @property
    def unit_chips(self) -> int:
        """What results are measured in: the big blind, which is also limit's small bet and a toy game's ante."""
        return self.definition.big_blind

    def build_tree(self) -> Tree:
        return build_tree(self.definition, self.menu)


@dataclass(frozen=True)
class BluffGame:
    """One round of Bluff."""

    name: str
    bluff: Bluff
    num_streets: int = 1
    unit_chips: int = 1

    def build_tree(self) -> Tree:
        return self.bluff.build_tree()

    @cached_property
    def num_rolls(self) -> tuple[int, int]:
        return len(self.bluff.rolls(0)), len(self.bluff.rolls(1))


Game = PokerGame | BluffGame


def _poker(name: str, definition: GameDefinition) -> PokerGame:
    return PokerGame(name, definition, BetMenu.same_everywhere([EVERY_SIZE], definition.num_rounds))


def is_built_in(name: str) -> bool:
    """Whether a game is built in and needs no file."""
    return name in _SHIPPED or name == "preflop-nl" or bool(_BLUFF.fullmatch(name) or _TWO_NL.fullmatch(name))


def file_game(path: Path, definition: GameDefinition) -> PokerGame:
    """The game of a `.game` file."""
    return _poker(path.stem, definition)


def find_game(name: str, folder: Path | None = None) -> Game:
    """The game of a built-in name, or of a `.game` file's path, relative to `folder` or to the working directory."""
    if name in _SHIPPED:
        text = files("foldwise.game").joinpath("definitions", f"{name}.game").read_text(encoding="utf-8")
        return _poker(name, parse_definition(text, source=name))
    if name == "preflop-nl":
        definition = parse_definition(_PREFLOP_NL_TEXT, source=name)
        menu = BetMenu.same_everywhere([pot_size(1.0), ALL_IN], definition.num_rounds)
        return PokerGame(name, definition, menu, run_out_cards=5)
    if match := _BLUFF.fullmatch(name):
        return BluffGame(name, Bluff((int(match[1]), int(match[2]))))
    if match := _TWO_NL.fullmatch(name):
        stack = int(match[1])
        if not 4 <= stack <= 1000:
            raise DefinitionError(f"game {name!r}: expected a stack of 4 to 1000 chips, as in two-nl-36")
        return _poker(name, parse_definition(_TWO_NL_TEXT.format(stack=stack), source=name))
    path = (folder or Path()) / name
    if path.suffix == ".game" or path.exists():
        return file_game(path, load_definition(path))
    raise DefinitionError(
        f"game {name!r}: expected one of {', '.join(BUILT_IN_NAMES)}, two-nl-K, bluff-D1-D2, or a .game file's path"
    )


def find_definition(name: str) -> GameDefinition:
    """The definition of a game that can be dealt at a table: a built-in poker game or a `.game` file."""
    game = find_game(name)
    if isinstance(game, BluffGame) or game.run_out_cards:
        raise DefinitionError(f"game {name!r} has no ACPC definition: choose kuhn, leduc, limit, hunl or a .game file")
    return game.definition
