"""Bluff(D1, D2), also called liar's dice: one round as a public tree, its rolls and its outcomes.

Bids are ordered by quantity, then face; six is wild for the other faces, and a bid on sixes counts sixes only. The player who
calls bluff wins the round if the bid is false. The loser gives up a die and opens the next round; no dice left loses
the game, -1 / +1. A round ends in the equilibrium value of the smaller game it leads to, so every round is a game of
its own (Gibson et al., NIPS 2012, section 5; Johanson et al., AAMAS 2012).
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial

import numpy as np
import numpy.typing as npt

from foldwise.game.errors import DefinitionError
from foldwise.game.trees.bluff_kernels import build_round
from foldwise.game.trees.tree import NODE_DTYPE, Tree

FACES = 6
WILD_FACE = 6
# What a round is worth to its opener in equilibrium, by (his dice, the other's): best responses to the solution of
# `foldwise solve` bound the first within 2e-6 of -7/258, and the second within the digits given.
OPENER_VALUES = {(1, 1): -7 / 258, (1, 2): -0.5702}


@dataclass(frozen=True)
class Bluff:
    """One round of Bluff; `dice` of the opener (player 0) and of the other."""

    dice: tuple[int, int]

    def __post_init__(self) -> None:
        if not all(1 <= count <= 3 for count in self.dice) or sum(self.dice) > 4:
            raise DefinitionError(
                f"bluff-{self.dice[0]}-{self.dice[1]}: expected one to three dice a player and at most four in all"
            )

    @property
    def num_bids(self) -> int:
        return FACES * sum(self.dice)

    @property
    def round_values(self) -> tuple[float, float]:
        """What player 0 gets when he loses the round, and when the other does: the loser opens the next round."""
        mine, theirs = self.dice
        lost = -1.0 if mine == 1 else self._opener_value(mine - 1, theirs)
        won = 1.0 if theirs == 1 else -self._opener_value(theirs - 1, mine)
        return lost, won

    def _opener_value(self, mine: int, theirs: int) -> float:
        if (mine, theirs) not in OPENER_VALUES:
            raise DefinitionError(
                f"bluff-{self.dice[0]}-{self.dice[1]}: the value of bluff-{mine}-{theirs}, which a lost round leads to, "
                f"is not known; known are {', '.join(f'{a}-{b}' for a, b in OPENER_VALUES)}"
            )
        return OPENER_VALUES[mine, theirs]

    def bid_text(self, bid: int) -> str:
        """`"2x5"` for two fives."""
        return f"{bid // FACES + 1}x{bid % FACES + 1}"

    def rolls(self, player: int) -> list[tuple[int, ...]]:
        """The distinct rolls of a player: 6 for one die, 21 for two."""
        return list(combinations_with_replacement(range(1, FACES + 1), self.dice[player]))

    def roll_weights(self, player: int) -> npt.NDArray[np.float64]:
        """Probability of each roll."""
        weights = []
        for roll in self.rolls(player):
            ways = factorial(len(roll))
            for face in set(roll):
                ways //= factorial(roll.count(face))
            weights.append(ways / FACES ** len(roll))
        return np.array(weights)

    def is_true(self, bid: int, dice: tuple[int, ...]) -> bool:
        """Whether the bid holds for all dice on the table."""
        quantity, face = bid // FACES + 1, bid % FACES + 1
        count = dice.count(face) + (dice.count(WILD_FACE) if face != WILD_FACE else 0)
        return count >= quantity

    def outcomes(self, round_values: tuple[float, float] = (-1.0, 1.0)) -> npt.NDArray[np.float32]:
        """Payoff to player 0, [his roll, other's roll, 2 * bid + challenger].

        `round_values` is what player 0 gets when he and when the other loses the round: the values of the games that
        follow, -1 and 1 where the loser has no die left.
        """
        rolls = self.rolls(0), self.rolls(1)
        table = np.empty((len(rolls[0]), len(rolls[1]), 2 * self.num_bids), dtype=np.float32)
        for i, mine in enumerate(rolls[0]):
            for j, theirs in enumerate(rolls[1]):
                for bid in range(self.num_bids):
                    holds = self.is_true(bid, mine + theirs)
                    for challenger in (0, 1):
                        loser = challenger if holds else 1 - challenger
                        table[i, j, 2 * bid + challenger] = round_values[loser]
        return table

    def build_tree(self) -> Tree:
        """The public tree of the round; four dice make 33.5 million nodes and 1.3 GB."""
        num_nodes = 2 ** (self.num_bids + 1) - 1
        nodes = np.empty(num_nodes, dtype=NODE_DTYPE)
        parent = np.empty(num_nodes, dtype=np.int32)
        action = np.empty(num_nodes, dtype=np.int32)
        built = build_round(self.num_bids, nodes, parent, action)
        assert built == num_nodes
        return Tree(nodes, parent, action, np.zeros((num_nodes, 2), dtype=np.int32))
