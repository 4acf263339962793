"""The joint distribution of both players' bucket sequences in four-street hold'em with nested buckets, as matrices.

A player's bucket on the river then tells all his buckets before it, so one matrix over pairs of river buckets, with the
balance of the showdown, says all that chance does (Zinkevich et al., NIPS 2007, section 4).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from foldwise.game.arrays import Float, Ints

Floats = npt.NDArray[np.floating[Any]]
NUM_BOARDS = 134_459  # suit-distinct boards of five cards
_MOST_DOUBLE_SEQUENCES = 1296


@dataclass(frozen=True)
class SequenceMatrices:
    """Probabilities of pairs of river buckets and their showdown balance; earlier streets are sums of them."""

    packed: Float  # [S, S] counts: pairs from the diagonal on, below it the row's wins less its losses
    street_buckets: tuple[int, ...]  # on each street; a bucket's parent is bucket // (ratio of neighbours)
    num_boards: int  # suit-distinct boards counted

    @property
    def boards_counted(self) -> int | None:
        """Suit-distinct boards counted where they are a sample; None where all are."""
        return self.num_boards if self.num_boards < NUM_BOARDS else None

    @cached_property
    def num_buckets(self) -> Ints:
        """[S, 2]: buckets of each player on each street."""
        return np.array([(count, count) for count in self.street_buckets], dtype=np.int32)

    @cached_property
    def total(self) -> float:
        """Deals counted, ordered by player."""
        upper = sum(float(row[number:].sum()) for number, row in enumerate(self.packed))
        return 2.0 * upper - float(np.trace(self.packed))

    @cached_property
    def fold_matrices(self) -> list[Floats]:
        """Per street, the probability of each pair of buckets."""
        pairs = self._whole(is_balance=False)
        return [self._collapsed(pairs, size) for size in self.street_buckets]

    @cached_property
    def settle_matrices(self) -> list[list[Floats]]:
        """Per street, the probability that the first wins less that he loses: the one detail of poker."""
        balance = self._whole(is_balance=True)
        return [[self._collapsed(balance, size)] for size in self.street_buckets]

    def _whole(self, is_balance: bool) -> Floats:
        """The pairs or the balance, both halves; in single precision where a matrix is large."""
        dtype = np.float64 if len(self.packed) <= _MOST_DOUBLE_SEQUENCES else np.float32
        out: Floats = np.zeros(self.packed.shape, dtype=dtype)
        scale = 1.0 / self.total
        for row in range(len(out)):  # row by row: the largest takes 800 MB in double precision
            if is_balance:
                out[row, :row] = scale * self.packed[row, :row]
                out[:row, row] = -out[row, :row]
            else:
                out[row, row:] = scale * self.packed[row, row:]
                out[row:, row] = out[row, row:]
        return out

    def _collapsed(self, matrix: Floats, size: int) -> Floats:
        width = len(matrix) // size
        if width == 1:
            return matrix
        by_row = np.add.reduceat(matrix, np.arange(0, len(matrix), width), axis=0, dtype=np.float64)
        sums: Floats = np.add.reduceat(by_row, np.arange(0, len(matrix), width), axis=1)
        return sums

    @cached_property
    def parents(self) -> list[list[Ints]]:
        """Per street after the first and per player, each bucket's bucket on the street before."""
        result = []
        for before, now in zip(self.street_buckets, self.street_buckets[1:]):
            parent = (np.arange(now) // (now // before)).astype(np.int32)
            result.append([parent, parent])
        return result
