"""The settings of a searching player."""

from dataclasses import dataclass

from foldwise.game.definition import GameDefinition
from foldwise.search.gadgets import check_gadget
from foldwise.search.modes import Mode, find_mode

OFF = "off"
AUTO = "auto"
_TURN, _RIVER = 2, 3


def is_searchable(definition: GameDefinition) -> bool:
    """Whether a game has a turn and a river that can be solved."""
    return definition.num_players == 2 and definition.board_sizes == (0, 3, 4, 5) and len(definition.deck) == 52


def seat_search(mode: str, definition: GameDefinition) -> str:
    """The mode of a seat at a table: `auto` is fast where search was measured to win (docs/search.md), else off."""
    if mode != AUTO:
        return mode
    return "fast" if is_searchable(definition) and not definition.limit else OFF


@dataclass(frozen=True)
class SearchSettings:
    """`search(MODE, gadget=..., turn=..., river=...)`; `str()` gives the text, which parses back to the same."""

    mode: str = "fast"
    gadget: str = "combined"
    turn: str | None = None  # the turn's own mode, or "off"; None: the mode of the search
    river: str | None = None

    def __post_init__(self) -> None:
        find_mode(self.mode)
        check_gadget(self.gadget)
        for street in (self.turn, self.river):
            if street is not None and street != OFF:
                find_mode(street)

    def on(self, street: int) -> Mode | None:
        """The mode in which a street is searched; None where the blueprint plays."""
        name = {_TURN: self.turn or self.mode, _RIVER: self.river or self.mode}.get(street, OFF)
        return None if name == OFF else find_mode(name)

    def __str__(self) -> str:
        options = [self.mode] if self.gadget == "combined" else [self.mode, f"gadget={self.gadget}"]
        options += [f"{name}={mode}" for name, mode in (("turn", self.turn), ("river", self.river)) if mode is not None]
        return f"search({', '.join(options)})"
