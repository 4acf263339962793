"""How much is solved: bet sizes by depth of the stacks, and visits by size of the tree.

An all-in into a small pot can be a hundred pots: it slows convergence and is rarely played, so menus shrink as stacks
get deep. A size the menu lacks is not lost: when somebody bets it, it is added with its exact amount.
Visits of the tree come from a budget of hand-nodes (public nodes times the hands of a board), never from a clock. Pots of
every size have the same budget: more for large ones was measured, and not shown to gain (docs/search.md).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from foldwise.abstraction.bet_sizes import parse_sizes
from foldwise.game.betting import BettingState
from foldwise.game.errors import DefinitionError
from foldwise.game.trees.tree import BetMenu

# A bet of at least this share of the stack becomes all-in.
_ALL_IN_SHARE = 0.67


@dataclass(frozen=True)
class Sizes:
    """Bet sizes of a turn and its rivers, for stacks of at least `least_depth_pots`."""

    least_depth_pots: float  # smaller remaining stack over the pot, at the street's root
    turn: str
    river: str


@dataclass(frozen=True)
class Budget:
    """How long one street is solved."""

    hand_nodes: float
    fewest: int  # visits, whatever the tree
    most: int

    def visits(self, hand_nodes_a_visit: float) -> int:
        """How often every node is visited, on every river."""
        return int(min(max(self.hand_nodes / hand_nodes_a_visit, self.fewest), self.most))

    def times(self, factor: float) -> "Budget":
        """The budget for so many times the work, its limits too."""
        fewest, most = (max(1, round(factor * limit)) for limit in (self.fewest, self.most))
        return Budget(factor * self.hand_nodes, fewest, most)


@dataclass(frozen=True)
class Mode:
    """A trade-off between time and strength."""

    name: str
    sizes: tuple[Sizes, ...]  # deepest first; the last one fits any depth
    flop: Budget
    turn: Budget
    river: Budget

    def budget(self, street: int, work: float = 1.0) -> Budget:
        """How long a street from the flop on is solved; `work` multiplies it."""
        return (self.flop, self.turn, self.river)[street - 1].times(work)

    def menu(self, root: BettingState) -> BetMenu:
        """Bet sizes of the solve from a street's root."""
        depth = depth_in_pots(root)
        found = next((sizes for sizes in self.sizes if depth >= sizes.least_depth_pots), self.sizes[-1])
        return bet_menu(found.turn, found.river, root.definition.num_rounds)


def depth_in_pots(root: BettingState) -> float:
    """What is left of the smaller stack, in pots."""
    left = min(stack - spent for stack, spent in zip(root.definition.stacks, root.spent))
    return left / max(1, sum(root.spent))


@lru_cache(maxsize=64)
def bet_menu(turn: str, river: str, num_rounds: int) -> BetMenu:
    """Sizes of a turn and its rivers, as a config writes them."""
    texts = [river] * (num_rounds - 2) + [turn, river]  # streets before the turn are never solved
    streets = tuple(map(parse_sizes, texts))
    return BetMenu(sizes=(streets, streets), all_in_share=_ALL_IN_SHARE)


_NO_ALL_IN: Final = Sizes(6.0, "f c 1p | f c 1p | f c a | f c", "f c 1p | f c 1p | f c")
_POT_AND_ALL_IN: Final = Sizes(2.5, "f c 1p a | f c 1p a | f c a | f c", "f c 1p a | f c a | f c")
_SHALLOW: Final = Sizes(0.0, "f c 0.5p 1p a | f c a | f c", "f c 0.5p 1p a | f c a | f c")

MODES: Final = {
    mode.name: mode
    for mode in (
        Mode(
            "fast",
            (_NO_ALL_IN, _POT_AND_ALL_IN, _SHALLOW),
            flop=Budget(600e6, 40, 400),
            turn=Budget(170e6, 8, 80),
            river=Budget(60e6, 50, 300),
        ),
        Mode(
            "normal",
            (
                Sizes(12.0, "f c 0.5p 1p | f c 1p | f c a | f c", "f c 0.5p 1p | f c 1p | f c"),
                Sizes(2.5, "f c 0.5p 1p a | f c 1p a | f c a | f c", "f c 0.5p 1p a | f c a | f c"),
                _SHALLOW,
            ),
            flop=Budget(2.4e9, 100, 1500),
            turn=Budget(1.8e9, 12, 150),
            river=Budget(150e6, 100, 600),
        ),
        Mode(
            "deep",
            (
                Sizes(12.0, "f c 0.5p 1p 2p a | f c 1p a | f c a | f c", "f c 0.5p 1p 2p a | f c 1p a | f c a | f c"),
                Sizes(
                    0.0,
                    "f c 0.33p 0.67p 1p a | f c 1p a | f c a | f c",
                    "f c 0.33p 0.67p 1p a | f c 1p a | f c a | f c",
                ),
            ),
            flop=Budget(40e9, 1000, 20_000),
            turn=Budget(40e9, 100, 1000),
            river=Budget(4e9, 500, 4000),
        ),
    )
}


def find_mode(name: str) -> Mode:
    if name not in MODES:
        raise DefinitionError(f"search mode {name!r}: expected {', '.join(MODES)}")
    return MODES[name]
