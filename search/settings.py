"""The settings of a searching player."""

from dataclasses import dataclass

from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.search.gadgets import check_gadget
from foldwise.search.modes import Mode, find_mode

OFF = "off"
LEAST_WORK, MOST_WORK = 1 / 16, 64.0
AUTO = "auto"
_FLOP, _TURN, _RIVER = 1, 2, 3


def is_searchable(definition: GameDefinition) -> bool:
    """Whether a game has a turn and a river that can be solved."""
    return definition.num_players == 2 and definition.board_sizes == (0, 3, 4, 5) and len(definition.deck) == 52


def seat_search(mode: str, definition: GameDefinition) -> str:
    """The mode of a seat at a table: `auto` is fast where search was measured to win (docs/search.md), else off."""
    if mode != AUTO:
        return mode
    return "fast" if is_searchable(definition) and not definition.limit else OFF


def check_work(work: float) -> None:
    if not LEAST_WORK <= work <= MOST_WORK:
        raise DefinitionError(f"work {work:g}: expected {LEAST_WORK:g} to {MOST_WORK:g} times a mode's budget")


@dataclass(frozen=True)
class SearchSettings:
    """`search(MODE, gadget=..., flop=..., turn=..., river=..., work=...)`; `str()` parses back to the same."""

    mode: str = "fast"
    gadget: str = "combined"
    flop: str | None = None  # the flop's own mode; None: off
    turn: str | None = None  # the turn's own mode, or "off"; None: the mode of the search
    river: str | None = None
    work: float = 1.0  # times the budgets of the modes

    def __post_init__(self) -> None:
        find_mode(self.mode)
        check_gadget(self.gadget)
        check_work(self.work)
        for street in (self.flop, self.turn, self.river):
            if street is not None and street != OFF:
                find_mode(street)
        if self.on(_FLOP) is not None and self.on(_TURN) is None:
            raise DefinitionError(
                "flop searched and turn=off: a flop's search ends where the turn's begins, leave turn on"
            )

    def on(self, street: int) -> Mode | None:
        """The mode in which a street is searched; None where the blueprint plays."""
        names = {_FLOP: self.flop or OFF, _TURN: self.turn or self.mode, _RIVER: self.river or self.mode}
        name = names.get(street, OFF)
        return None if name == OFF else find_mode(name)

    def __str__(self) -> str:
        streets = (("flop", self.flop), ("turn", self.turn), ("river", self.river))
        options = [self.mode] if self.gadget == "combined" else [self.mode, f"gadget={self.gadget}"]
        options += [f"{name}={mode}" for name, mode in streets if mode is not None]
        options += [f"work={self.work!r}".removesuffix(".0")] if self.work != 1.0 else []
        return f"search({', '.join(options)})"
