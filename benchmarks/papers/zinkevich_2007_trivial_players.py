"""Trivial players of limit hold'em in the full game, from the tables of hand strength: no abstraction.

Always-fold loses its blinds, 750 mb/h (Zinkevich et al., NIPS 2007, section 5). Against always-call every street is a
decision of its own: one bet more, of 1, 1, 2 and 2 small bets, pays exactly where the hand so far is ahead of a random
one. That holds in both seats: no hand is so far behind that the small blind would fold it.
"""

import argparse

import numpy as np
from record import add_save, save

from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.hand_strength import STRENGTH_UNIT, HandStrength

BETS = (1.0, 1.0, 2.0, 2.0)
BLINDS = (0.5, 1.0)
LIVE_HANDS = 1081
BLOCK = 4096


def ahead(strength: HandStrength, street: int) -> float:
    """Mean over all hands of wins less losses, counted where it is positive."""
    if street < 3:
        balance, masses = 2.0 * strength.values(street, "hs") - 1.0, strength.masses(street)
        if street == 0:
            assert balance.min() > -BLINDS[0], "a hand is worse than folding"
        return float(np.average(np.maximum(balance, 0.0), weights=masses))
    orbits = boards(5).orbits
    total = 0.0
    for first in range(0, len(orbits), BLOCK):
        strengths = strength.river_boards[first : first + BLOCK].astype(np.float64)
        balance = np.maximum(2.0 * strengths / STRENGTH_UNIT - 1.0, 0.0)
        total += float(orbits[first : first + BLOCK] @ balance.sum(axis=1))
    return total / float(orbits.sum() * LIVE_HANDS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_save(parser)
    arguments = parser.parse_args()
    strength = HandStrength()
    won = 1000.0 * sum(bet * ahead(strength, street) for street, bet in enumerate(BETS))
    lost = 1000.0 * sum(BLINDS) / 2.0
    print(f"trivial players of limit, full game: always-fold loses {lost:.0f} mb/h (paper 750)")
    print(
        f"trivial players of limit, full game: best response to always-call wins {won:.2f} mb/h (Johanson 2011: 1,163.48)"
    )
    if arguments.save:
        save(
            "zinkevich_2007_trivial_players",
            "Trivial players of limit hold'em in the full game, mb/h",
            ["player", "ours", "published"],
            [
                ["always-fold loses", round(lost), 750],
                ["best response to always-call wins", round(won, 2), 1163.48],
            ],
            seeds=None,
        )


if __name__ == "__main__":
    main()
