"""The joint distribution of both players' bucket sequences in four-street hold'em with nested buckets, as matrices.

A player's bucket on the river then tells all his buckets before it, so one matrix over pairs of river buckets, with the
balance of the showdown, says all that chance does (Zinkevich et al., NIPS 2007, section 4).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int32]
NUM_BOARDS = 134_459  # suit-distinct boards of five cards


@dataclass(frozen=True)
class SequenceMatrices:
    """Probabilities of pairs of river buckets and their showdown balance; earlier streets are sums of them."""

    packed: Float  # [S, S] counts: pairs from the diagonal on, below it the row's wins less its losses
    street_buckets: tuple[int, ...]  # on each street; a bucket's parent is bucket // (ratio of neighbours)
    num_boards: int  # suit-distinct boards counted

    @property
    def is_exact(self) -> bool:
        """Whether all boards were counted."""
        return self.num_boards == NUM_BOARDS

    @property
    def num_streets(self) -> int:
        return len(self.street_buckets)

    @cached_property
    def num_buckets(self) -> Int:
        """[S, 2]: buckets of each player on each street."""
        return np.array([(count, count) for count in self.street_buckets], dtype=np.int32)

    @cached_property
    def total(self) -> float:
        """Deals counted, ordered by player."""
        upper = np.triu(self.packed)
        return float(2.0 * upper.sum() - np.trace(upper))

    def fold_matrix(self, street: int, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[np.floating]:
        """Probability of each pair of buckets on a street."""
        return self._collapsed(self._symmetric(dtype, 1.0), street)

    def settle_matrix(self, street: int, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[np.floating]:
        """Probability that the first wins less that he loses, for each pair of buckets."""
        return self._collapsed(self._symmetric(dtype, -1.0), street)

    def _symmetric(self, dtype: npt.DTypeLike, sign: float) -> npt.NDArray[np.floating]:
        """The pairs (sign 1) or the balance (sign -1), both halves."""
        out = np.zeros(self.packed.shape, dtype=dtype)
        scale = 1.0 / self.total
        for row in range(len(out)):  # row by row: a copy in double precision of the largest would be 800 MB
            if sign > 0:
                out[row, row:] = scale * self.packed[row, row:]
                out[row:, row] = out[row, row:]
            else:
                out[row, :row] = scale * self.packed[row, :row]
                out[:row, row] = -out[row, :row]
        return out

    def _collapsed(self, matrix: npt.NDArray[np.floating], street: int) -> npt.NDArray[np.floating]:
        size = self.street_buckets[street]
        width = len(matrix) // size
        if width == 1:
            return matrix
        sums: npt.NDArray[np.floating] = matrix.reshape(size, width, size, width).sum(axis=(1, 3))
        return sums

    @property
    def fold_matrices(self) -> list[npt.NDArray[np.floating]]:
        """Per street, the probability of each pair of buckets."""
        return [self.fold_matrix(street) for street in range(self.num_streets)]

    @property
    def settle_matrices(self) -> list[list[npt.NDArray[np.floating]]]:
        """Per street, the showdown's balance: the one detail of poker."""
        return [[self.settle_matrix(street)] for street in range(self.num_streets)]

    @cached_property
    def parents(self) -> list[list[Int]]:
        """Per street after the first and per player, each bucket's bucket on the street before."""
        result = []
        for before, now in zip(self.street_buckets, self.street_buckets[1:]):
            parent = (np.arange(now) // (now // before)).astype(np.int32)
            result.append([parent, parent])
        return result
