"""The joint distribution of both players' buckets: everything chance does, in a game small enough to enumerate.

A *category* is one way both players can be dealt: their bucket on every street, and a row of the outcome table. Kuhn
has 6, Leduc without suits 24, two-round no-limit hold'em with five nested buckets at most 1,875. From the categories
follow the matrices that full-width walks and best responses read, and the alias table that samplers draw from.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.deals.alias_kernels import build_alias
from foldwise.game.arrays import Float, Ints
from foldwise.game.cards import rank_of
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.evaluator import rank_hand
from foldwise.game.trees.bluff import Bluff

# What a showdown is worth to player 0 per chip at stake: he loses, ties, wins.
SHOWDOWN_OUTCOMES = np.array([[-1.0], [0.0], [1.0]])
_MOST_ENUMERATED_DEALS = 5_000_000


@dataclass(frozen=True)
class JointDeals:
    """Both players' buckets and the outcome, by category."""

    buckets: Ints  # [C, 2, S]
    outcome_row: Ints  # [C]
    probability: Float  # [C], sums to 1
    outcomes: Float  # [rows, details]: to player 0, per unit of a node's value

    @property
    def num_streets(self) -> int:
        return int(self.buckets.shape[2])

    @property
    def boards_counted(self) -> None:
        """Every deal is counted."""

    @cached_property
    def num_buckets(self) -> Ints:
        """[S, 2]: buckets of each player on each street."""
        most: Ints = self.buckets.max(axis=0)  # [2, S]
        return (most.T + 1).astype(np.int32, order="C")  # C order like all others, so that kernels compile once

    @cached_property
    def fold_matrices(self) -> list[Float]:
        """Per street, the probability of each pair of buckets: [n0, n1]."""
        return [self._accumulate(street, self.probability) for street in range(self.num_streets)]

    @cached_property
    def settle_matrices(self) -> list[list[Float]]:
        """Per street and detail, probability times outcome to player 0: [n0, n1]."""
        return [
            [
                self._accumulate(street, self.probability * self.outcomes[self.outcome_row, detail])
                for detail in range(self.outcomes.shape[1])
            ]
            for street in range(self.num_streets)
        ]

    def _accumulate(self, street: int, weights: Float) -> Float:
        n0, n1 = (int(n) for n in self.num_buckets[street])
        pair = self.buckets[:, 0, street] * n1 + self.buckets[:, 1, street]
        sums: Float = np.bincount(pair, weights=weights, minlength=n0 * n1).astype(np.float64)
        return sums.reshape(n0, n1)

    @cached_property
    def parents(self) -> list[list[Ints]] | None:
        """Per street after the first and per player, each bucket's bucket on the street before.

        None where a bucket forgets what came before: then a best response in the buckets is not defined.
        """
        result = []
        for street in range(1, self.num_streets):
            of_players = []
            for player in range(2):
                now, before = self.buckets[:, player, street], self.buckets[:, player, street - 1]
                parent = np.zeros(self.num_buckets[street, player], dtype=np.int32)
                parent[now] = before
                if not np.array_equal(parent[now], before):
                    return None
                of_players.append(parent)
            result.append(of_players)
        return result

    @cached_property
    def alias(self) -> tuple[Float, Ints]:
        """Walker's alias table over the categories."""
        keep, other = build_alias(self.probability)
        return keep, other


def _from_counts(counts: Counter[tuple[tuple[int, ...], tuple[int, ...], int]], outcomes: Float) -> JointDeals:
    total = sum(counts.values())
    entries = sorted(counts.items())
    return JointDeals(
        buckets=np.array([[first, second] for (first, second, _), _ in entries], dtype=np.int32),
        outcome_row=np.array([row for (_, _, row), _ in entries], dtype=np.int32),
        probability=np.array([count / total for _, count in entries]),
        outcomes=outcomes,
    )


class EnumeratedViews:
    """Numbers everything a player can have seen in a game with a tiny deck: a bucket for each view.

    Without `suits_matter`, hands that differ in suits alone are one bucket: lossless where no flush can be made.
    """

    def __init__(self, definition: GameDefinition, suits_matter: bool):
        _check_enumerable(definition)
        self.definition = definition
        self._suits_matter = suits_matter
        self._numbers: list[dict[tuple[tuple[int, ...], ...], int]] = [{} for _ in range(definition.num_rounds)]
        for hole in combinations(definition.deck, definition.num_hole_cards):
            self._number(hole, [], tuple(card for card in definition.deck if card not in hole))

    def _number(self, hole: tuple[int, ...], boards: list[tuple[int, ...]], left: tuple[int, ...]) -> None:
        street = len(boards)
        if street == self.definition.num_rounds:
            return
        for new in combinations(left, self.definition.num_board_cards[street]):
            numbers = self._numbers[street]
            numbers.setdefault(self._view(hole, [*boards, new]), len(numbers))
            self._number(hole, [*boards, new], tuple(card for card in left if card not in new))

    def _view(self, hole: Sequence[int], boards: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(sorted(cards if self._suits_matter else map(rank_of, cards))) for cards in (hole, *boards))

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Views on each street."""
        return tuple(len(numbers) for numbers in self._numbers)

    def bucket(self, hand: Sequence[int], board: Sequence[int] = ()) -> int:
        """Bucket of hole cards and the board so far, dealt in that order."""
        sizes = self.definition.board_sizes
        street = len(sizes) - 1 - sizes[::-1].index(len(board))
        starts = (0, *sizes[:street])
        boards = [board[start:end] for start, end in zip(starts, sizes)]
        return self._numbers[street][self._view(hand, boards)]

    def bucket_hands(self, street: int, hands: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """Bucket of each row of [n, cards of the street], hole cards first."""
        num_hole = self.definition.num_hole_cards
        distinct, place = np.unique(hands, axis=0, return_inverse=True)
        buckets = [self.bucket(row[:num_hole], row[num_hole:]) for row in distinct.tolist()]
        return np.array(buckets, np.int64)[place.ravel()]


def enumerate_poker(views: EnumeratedViews) -> JointDeals:
    """Every deal of a heads-up game with a tiny deck."""
    definition = views.definition
    counts: Counter[tuple[tuple[int, ...], tuple[int, ...], int]] = Counter()
    holes = list(combinations(definition.deck, definition.num_hole_cards))
    for first, second in product(holes, holes):
        if set(first) & set(second):
            continue
        left = tuple(card for card in definition.deck if card not in first + second)
        for board in _boards(left, definition.num_board_cards):
            ranks = rank_hand(first + board), rank_hand(second + board)
            row = 1 + (ranks[0] > ranks[1]) - (ranks[0] < ranks[1])
            seen = [
                tuple(views.bucket(hole, board[:size]) for size in definition.board_sizes) for hole in (first, second)
            ]
            counts[seen[0], seen[1], row] += 1
    return _from_counts(counts, SHOWDOWN_OUTCOMES)


def _boards(left: tuple[int, ...], new_cards: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every board, street by street."""
    if not new_cards:
        yield ()
        return
    for new in combinations(left, new_cards[0]):
        rest = tuple(card for card in left if card not in new)
        for later in _boards(rest, new_cards[1:]):
            yield new + later


def _check_enumerable(definition: GameDefinition) -> None:
    from foldwise.game.trees.counting import joint_deals

    deals = joint_deals(definition, definition.num_rounds - 1)
    if definition.num_players != 2 or deals > _MOST_ENUMERATED_DEALS:
        raise DefinitionError(
            f"{definition.num_players} players and {deals:,} deals: expected two players and a deck small enough to "
            f"enumerate ({_MOST_ENUMERATED_DEALS:,} deals); give the game a card abstraction"
        )


def enumerate_bluff(bluff: Bluff, round_values: tuple[float, float]) -> JointDeals:
    """Every pair of rolls; `round_values` as in `Bluff.outcomes`."""
    weights = np.outer(bluff.roll_weights(0), bluff.roll_weights(1))
    n0, n1 = weights.shape
    first, second = np.divmod(np.arange(n0 * n1, dtype=np.int32), n1)
    return JointDeals(
        buckets=np.stack([first, second], axis=1)[:, :, np.newaxis].astype(np.int32),
        outcome_row=np.arange(n0 * n1, dtype=np.int32),
        probability=weights.ravel(),
        outcomes=bluff.outcomes(round_values).reshape(n0 * n1, -1).astype(np.float64),
    )
