"""Deals of hold'em through a card abstraction: sampled from the real deck, or for one and two rounds exactly."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.card_abstraction import CardAbstraction
from foldwise.abstraction.cards.percentile import flop_class_rows
from foldwise.abstraction.deals.called_hands import NUM_BOARDS, called_hands, disjoint_pairs
from foldwise.abstraction.deals.deal_kernels import count_two_round_pairs, draw_holdem
from foldwise.abstraction.deals.joint_deals import SHOWDOWN_OUTCOMES, JointDeals
from foldwise.abstraction.deals.sequence_counting import load_sequence_matrices
from foldwise.abstraction.deals.sequence_matrices import SequenceMatrices
from foldwise.abstraction.threads import Report, run_blocks
from foldwise.game.arrays import Float, Ints
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import PAIR_CARDS

BOARD_SIZES = (0, 3, 4, 5)
# Bucket sequences a two-round game may have for its joint distribution to be counted: 1.4 million hand pairs a flop are
# cheap, a matrix of more than these rows is not.
MOST_JOINT_SEQUENCES = 2000


@dataclass(frozen=True)
class CardSource:
    """Deals drawn from the real deck, bucketed as they are drawn."""

    cards: CardAbstraction
    num_streets: int
    board_cards: int  # on the table at showdown
    joint_boards: int = 0  # suit-distinct boards counted into the joint distribution; 0 for none
    report: Report | None = None  # called with the progress of counting

    @property
    def num_buckets(self) -> Ints:
        return np.array([(count, count) for count in self.cards.num_buckets], dtype=np.int32)

    @property
    def outcomes(self) -> Float:
        return SHOWDOWN_OUTCOMES

    @property
    def joint(self) -> JointDeals | None:
        return None

    @cached_property
    def matrices(self) -> SequenceMatrices | None:
        """Counted, or read from the cache, at first use."""
        if self.joint_boards == 0:
            return None
        return load_sequence_matrices(self.cards, self.joint_boards, self.report)

    @property
    def fingerprint(self) -> str:
        return self.cards.fingerprint

    def draw(self, rng: npt.NDArray[np.uint64], buckets: Ints, outcome_rows: Ints) -> None:
        draw_holdem(
            rng, self.cards.tables, evaluator_tables(), self.num_streets, self.board_cards, buckets, outcome_rows
        )


def one_round_joint(cards: CardAbstraction, report: Report | None = None) -> JointDeals:
    """Joint distribution of both players' buckets before the flop; a showdown is worth its mean over all boards.

    Exact: a category for every pair of buckets that can be dealt together, weighted by its pairs of hands. An end of the
    game is linear in the outcome, so its expectation may stand in for it; sampled walks lose the boards' variance too.
    """
    bucket, size = cards.bucket_hands(0, PAIR_CARDS), cards.num_buckets[0]
    pair = (bucket[:, np.newaxis] * size + bucket).ravel()
    count = np.bincount(pair, weights=disjoint_pairs().ravel(), minlength=size * size)
    won = np.bincount(pair, weights=called_hands(report=report).ravel(), minlength=size * size)
    category = np.flatnonzero(count)
    worth, row = np.unique(won[category] / (count[category] * NUM_BOARDS), return_inverse=True)
    return JointDeals(
        buckets=np.stack(np.divmod(category, size), axis=1)[:, :, np.newaxis].astype(np.int32),
        outcome_row=row.astype(np.int32),
        probability=count[category] / count.sum(),
        outcomes=worth[:, np.newaxis],
    )


def two_round_joint(cards: CardAbstraction, report: Report | None = None) -> JointDeals | None:
    """Joint distribution of both players' buckets before and on the flop, with five-card showdowns.

    Exact: all pairs of hands on each of the 1,755 suit-distinct flops, weighted by the flops each stands for. None
    where there are too many bucket sequences for a matrix.
    """
    flops = boards(3)
    classes = flop_class_rows()  # [1755, 1326]; -1 where hand and flop clash
    hands = hand_index((2, 3)).unindex_hands(np.arange(hand_index((2, 3)).size))
    on_flop = np.where(classes >= 0, cards.bucket_hands(1, hands)[classes], -1)
    before = cards.bucket_hands(0, PAIR_CARDS)  # [1326]
    sequence = np.where(on_flop >= 0, before * cards.num_buckets[1] + on_flop, -1)
    numbers = np.unique(sequence[sequence >= 0])
    if len(numbers) > MOST_JOINT_SEQUENCES:
        return None
    compact = np.where(sequence >= 0, np.searchsorted(numbers, np.maximum(sequence, 0)), -1).astype(np.int32)
    size = len(numbers)
    parts: list[npt.NDArray[np.int64]] = []

    def work(first: int, last: int) -> None:
        counts = np.zeros((size, size, 3), dtype=np.int64)
        pairs = PAIR_CARDS.astype(np.int64)
        count_two_round_pairs(evaluator_tables(), flops.cards, flops.orbits, pairs, compact, first, last, counts)
        parts.append(counts)

    run_blocks(work, len(flops.cards), "joint distribution", report)
    counts = sum(parts[1:], parts[0])
    first, second, row = np.nonzero(counts)
    street_buckets = np.stack([numbers // cards.num_buckets[1], numbers % cards.num_buckets[1]], axis=1)
    weights = counts[first, second, row].astype(np.float64)
    return JointDeals(
        buckets=np.stack([street_buckets[first], street_buckets[second]], axis=1).astype(np.int32),
        outcome_row=row.astype(np.int32),
        probability=weights / weights.sum(),
        outcomes=SHOWDOWN_OUTCOMES,
    )
