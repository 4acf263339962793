"""Ranges on a full board: all hands both players may hold, how they end, and which bucket each has for a strategy."""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.card_lookup import CardLookup
from foldwise.game.arrays import Float
from foldwise.game.cards import NUM_CARDS
from foldwise.game.definition import GameDefinition
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.hands.evaluator_kernels import rank_of_hand
from foldwise.game.hands.hole_cards import PAIR_CARDS
from foldwise.game.hands.showdown import empty_board, empty_sums, make_board
from foldwise.game.hands.showdown_kernels import ShowdownBoard, ShowdownSums

_NO_MATRIX = np.zeros((0, 0))
# A game is scored on every one of its boards if it has no more than this.
_MAX_ENUMERATED_BOARDS = 500


class RangeEnds(NamedTuple):
    """How hands end on one board, as kernels read it: in O(n) for two of 52 cards, else by matrices."""

    dense: bool
    board: ShowdownBoard
    sums: ShowdownSums
    meets: Float  # [n, n]: 1 where two hands share no card
    beats: Float  # [n, n]: 1 where the first wins, -1 where it loses


class View(NamedTuple):
    """A strategy's buckets of all hands on one board. Hands of one class have the same bucket."""

    buckets: npt.NDArray[np.int64]  # [streets, n]: of each class
    classes: npt.NDArray[np.int32]  # [streets, n]: of each hand
    counts: npt.NDArray[np.int64]  # [streets]: classes


class RangeBoard(NamedTuple):
    """All hands on one full board."""

    cards: tuple[int, ...]
    hands: npt.NDArray[np.uint8]  # [n, hole cards]
    ends: RangeEnds
    num_pairs: int  # pairs of hands, one for each player


def all_boards(definition: GameDefinition) -> list[tuple[int, ...]] | None:
    """Every full board, all equally likely; None where there are too many to score each.

    Only games that deal at most one card a street are listed: there the order of the cards is the order of the streets.
    """
    sizes = definition.board_sizes
    count = comb(len(definition.deck), sizes[-1])
    if count > _MAX_ENUMERATED_BOARDS or sizes[-1] > 1:
        return None
    return list(combinations(definition.deck, sizes[-1]))


def range_board(definition: GameDefinition, board: Sequence[int] | npt.NDArray[np.uint8]) -> RangeBoard:
    """All hands of a game on a full board."""
    cards = tuple(int(card) for card in board)
    num_hole = definition.num_hole_cards
    if num_hole == 2 and len(definition.deck) == NUM_CARDS and 3 <= len(cards) <= 5:
        prepared = make_board(cards)
        hands = PAIR_CARDS[prepared.pairs]
        left = NUM_CARDS - len(cards)
        ends = RangeEnds(False, prepared, empty_sums(len(cards)), _NO_MATRIX, _NO_MATRIX)
        return RangeBoard(cards, hands, ends, comb(left, 2) * comb(left - 2, 2))
    hands = np.array(list(combinations([card for card in definition.deck if card not in cards], num_hole)), np.uint8)
    seen = np.concatenate([hands, np.tile(np.array(cards, np.uint8), (len(hands), 1))], axis=1).astype(np.int64)
    ranks = np.array([int(rank_of_hand(evaluator_tables(), row, row.size)) for row in seen])
    shares = (hands[:, None, :, None] == hands[None, :, None, :]).any(axis=(2, 3))
    meets = (~shares).astype(np.float64)
    beats = np.sign(ranks[:, None] - ranks[None, :]) * meets
    # The O(n) part is not read: the smallest there is gives the type.
    return RangeBoard(cards, hands, RangeEnds(True, empty_board(5), empty_sums(5), meets, beats), int(meets.sum()))


def board_view(definition: GameDefinition, lookup: CardLookup, board: RangeBoard) -> View:
    """The buckets of all hands of a board on every street."""
    count = len(board.hands)
    shape = (definition.num_rounds, count)
    buckets, classes = np.zeros(shape, np.int64), np.zeros(shape, np.int32)
    counts = np.zeros(definition.num_rounds, np.int64)
    dealt = np.tile(np.array(board.cards, np.uint8), (count, 1))
    for street, size in enumerate(definition.board_sizes):
        found = lookup.bucket_hands(street, np.concatenate([board.hands, dealt[:, :size]], axis=1))
        distinct, inverse = np.unique(found, return_inverse=True)
        counts[street] = len(distinct)
        buckets[street, : len(distinct)] = distinct
        classes[street] = inverse
    return View(buckets, classes, counts)
