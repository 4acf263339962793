"""What one hand looks like in a card abstraction: its strength, its buckets, and who else is in them."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from foldwise.abstraction.cards.card_abstraction import STREETS, CardAbstraction
from foldwise.abstraction.cards.hand_strength import HandStrength, scale
from foldwise.game.cards import RANKS, cards_text, parse_cards
from foldwise.game.errors import FormatError
from foldwise.game.hands.evaluator import rank_pairs
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import PAIR_CARDS, pair_number

_BOARD_SIZES = (0, 3, 4, 5)
_MOST_NEIGHBOURS = 8


@dataclass(frozen=True)
class StreetReport:
    """One street of a hand."""

    street: str
    hs: float  # E[HS]; on the river HS itself
    hs2: float
    bucket: int
    num_buckets: int
    neighbours: tuple[str, ...]  # other hands of the bucket on this board, those of nearest strength first


@dataclass(frozen=True)
class HandReport:
    """A hand on a board, street by street."""

    hand: str
    board: str
    streets: tuple[StreetReport, ...]


def preflop_name(high: int, low: int) -> str:
    """`AKs`, `72o`, `TT` for two hole cards."""
    if low > high:
        high, low = low, high
    pair = RANKS[high >> 2] + RANKS[low >> 2]
    return pair if high >> 2 == low >> 2 else pair + ("s" if high & 3 == low & 3 else "o")


def river_strength(hand: tuple[int, ...], board: tuple[int, ...]) -> float:
    """HS on a full board: the share of opponent hands beaten, ties half."""
    ranks = rank_pairs(board)
    mine = ranks[pair_number(hand[0], hand[1])]
    theirs = ranks[~np.isin(PAIR_CARDS, hand + board).any(axis=1)]
    return float(((theirs < mine).sum() + 0.5 * (theirs == mine).sum()) / len(theirs))


def explain_hand(cards: CardAbstraction, hand_text: str, board_text: str) -> HandReport:
    """Read a hand and a board, and report on every street up to the board's."""
    hand, board = parse_cards(hand_text), parse_cards(board_text)
    known = _BOARD_SIZES[: len(cards.streets)]
    if len(hand) != 2 or len(board) not in known or set(hand) & set(board):
        sizes = ", ".join(map(str, known))
        raise FormatError(
            f"hand {hand_text!r} on {board_text!r}: expected two hole cards and {sizes} other board cards"
        )
    strength = HandStrength()
    streets = []
    for street, size in enumerate(known[: known.index(len(board)) + 1]):
        seen = board[:size]
        hs, hs2 = _strengths(strength, street, hand, seen)
        bucket = cards.bucket(hand, seen)
        streets.append(
            StreetReport(
                street=STREETS[street],
                hs=hs,
                hs2=hs2,
                bucket=bucket,
                num_buckets=cards.num_buckets[street],
                neighbours=_neighbours(cards, strength, street, hand, seen, bucket, hs2),
            )
        )
    return HandReport(cards_text(hand), cards_text(board), tuple(streets))


def _strengths(
    strength: HandStrength, street: int, hand: tuple[int, ...], board: tuple[int, ...]
) -> tuple[float, float]:
    if street == 3:
        hs = river_strength(hand, board)
        return hs, hs * hs
    place = hand_index((2,) if street == 0 else (2, len(board))).index(hand + board)
    hs, hs2 = (float(strength.sums(street, metric)[place] / scale(street, metric)) for metric in ("hs", "hs2"))
    return hs, hs2


def _neighbours(
    cards: CardAbstraction,
    strength: HandStrength,
    street: int,
    hand: tuple[int, ...],
    board: tuple[int, ...],
    bucket: int,
    hs2: float,
) -> tuple[str, ...]:
    free = [card for card in range(52) if card not in board]
    others = np.array([(high, low, *board) for low, high in combinations(free, 2)], dtype=np.uint8)
    same = others[cards.bucket_hands(street, others) == bucket].tolist()
    if street == 0:
        names = dict.fromkeys(preflop_name(row[0], row[1]) for row in reversed(same))
        names.pop(preflop_name(hand[0], hand[1]), None)
        return tuple(names)[:_MOST_NEIGHBOURS]
    same = [row for row in same if set(row[:2]) != set(hand)]
    stride = max(1, len(same) // 64)  # strengths of a few dozen are enough to find near ones
    scored = [(abs(_strengths(strength, street, tuple(row[:2]), board)[1] - hs2), row) for row in same[::stride]]
    return tuple(cards_text(row[:2]) for _, row in sorted(scored)[:_MOST_NEIGHBOURS])
