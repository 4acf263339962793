"""Counts the joint distribution of both players' bucket sequences, once for each card abstraction.

Sequences depend on the order of the board's cards: every order of all 134,459 suit-distinct boards is counted, among
them the 2,554,656 suit-distinct deals of flop, turn and river. Large abstractions may count a random sample of
the boards, which results then mention.
"""

import hashlib
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.card_abstraction import CardAbstraction
from foldwise.abstraction.cards.hand_strength_kernels import NUM_RANKS
from foldwise.abstraction.cards.percentile import flop_class_rows
from foldwise.abstraction.deals.sequence_kernels import (
    HANDS_WITH_CARD,
    NUM_LIVE,
    Local,
    SequenceTables,
    Sorted,
    count_boards,
    turn_cells_block,
)
from foldwise.abstraction.deals.sequence_matrices import NUM_BOARDS, SequenceMatrices
from foldwise.abstraction.storage.array_folder import kept_arrays
from foldwise.abstraction.threads import Report, run_blocks
from foldwise.game.arrays import Float
from foldwise.game.compiled import cache_folder
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.primitives.rng import make_states
from foldwise.game.primitives.rng_kernels import shuffle_first
from foldwise.game.sources import source_hash

KIND = "joint bucket sequences"
FORMAT_VERSION = 1
# Up to this many sequences all boards are counted by default: five core-minutes with 625, more with more.
MOST_EXACT_SEQUENCES = 1296
_SAMPLE_SEED = 2007


def is_nested(cards: CardAbstraction) -> bool:
    """Whether four streets of percentile buckets lie within each other, so that the last tells all before it."""
    methods = [street.get("method") for street in cards.made_from.get("streets", [])]
    return methods == ["percentile", *["percentile-nested"] * 3] and not cards.made_from.get("public")


def sequence_tables(cards: CardAbstraction, report: Report | None = None) -> SequenceTables:
    """The buckets of nested cards, hand by hand on representative boards."""
    classes = flop_class_rows()
    hands = hand_index((2, 3)).unindex_hands(np.arange(hand_index((2, 3)).size))
    flop = np.where(classes >= 0, cards.bucket_hands(1, hands)[classes], 0).astype(np.int32)
    turns = boards(4)
    cells = np.empty((len(turns.cards), NUM_PAIRS), np.uint16)
    index, table = hand_index((2, 4)).tables, cards.streets[2].table

    def work(first: int, last: int) -> None:
        turn_cells_block(index, turns, PAIR_CARDS, table, first, last, cells)

    run_blocks(work, len(turns.cards), "turn cells", report)
    return SequenceTables(
        flop, cells, np.ascontiguousarray(cards.streets[2].cells), np.ascontiguousarray(cards.streets[3].cells)
    )


def _scratch(num_sequences: int) -> tuple[Sorted, Local]:
    return (
        Sorted(
            ranks=np.zeros(NUM_PAIRS, np.uint16),
            order=np.zeros(NUM_PAIRS, np.int64),
            rank_counts=np.zeros(NUM_RANKS + 1, np.int64),
            strength=np.zeros(NUM_PAIRS, np.uint16),
            tied_from=np.zeros(NUM_LIVE, np.int32),
            with_card=np.zeros((52, HANDS_WITH_CARD), np.int32),
            num_with=np.zeros(52, np.int32),
            flop_bucket=np.zeros((10, NUM_LIVE), np.int32),
            turn_cell=np.zeros((5, NUM_LIVE), np.int32),
        ),
        Local(
            number=np.zeros(num_sequences, np.int32),
            sequence=np.zeros(NUM_LIVE, np.int32),
            of_hand=np.zeros(NUM_LIVE, np.int32),
            tied=np.zeros(NUM_LIVE, np.int32),
            below=np.zeros(NUM_LIVE, np.int32),
            wins=np.zeros(NUM_LIVE * NUM_LIVE, np.int32),
            ties=np.zeros(NUM_LIVE * NUM_LIVE, np.int32),
        ),
    )


def count_sequences(
    tables: SequenceTables, rows: npt.NDArray[np.int64], num_sequences: int, report: Report | None = None
) -> Float:
    """[S, S] packed counts over the suit-distinct boards `rows`, each at the number of boards it stands for."""
    flops, turns, rivers = boards(3), boards(4), boards(5)
    free: SimpleQueue[tuple[Sorted, Local, Float]] = SimpleQueue()
    made: list[Float] = []

    def work(first: int, last: int) -> None:
        try:  # one accumulator per thread, reused from block to block
            own = free.get_nowait()
        except Empty:
            own = (*_scratch(num_sequences), np.zeros((num_sequences, num_sequences)))
            made.append(own[2])
        scratch, local, out = own
        count_boards(
            evaluator_tables(), tables, flops, turns, rivers, PAIR_CARDS, rows, first, last, scratch, local, out
        )
        free.put(own)

    run_blocks(work, len(rows), "joint bucket sequences", report, block=max(1, min(64, len(rows) // 4)))
    for part in made[1:]:
        made[0] += part
    return made[0]


def sampled_rows(num_boards: int) -> npt.NDArray[np.int64]:
    """Rows of `boards(5)`: all of them, or a random part that is the same every time."""
    rows = np.arange(NUM_BOARDS)
    if num_boards < NUM_BOARDS:
        shuffle_first(make_states(_SAMPLE_SEED, 1)[0], rows, num_boards)
    return np.sort(rows[:num_boards])


def load_sequence_matrices(cards: CardAbstraction, num_boards: int, report: Report | None = None) -> SequenceMatrices:
    """The matrices of nested cards: from the cache, or counted into it. A damaged cache is counted again."""
    num_boards = min(num_boards, NUM_BOARDS)
    made_from = {"cards": cards.fingerprint, "boards": num_boards, "sources": source_hash(__name__)}
    digest = hashlib.sha256(str(sorted(made_from.items())).encode()).hexdigest()[:16]
    folder = cache_folder() / "joint" / digest

    def count() -> dict[str, npt.NDArray[Any]]:
        rows, num_buckets = sampled_rows(num_boards), cards.num_buckets[3]
        return {"packed": count_sequences(sequence_tables(cards, report), rows, num_buckets, report)}

    arrays = kept_arrays(folder, KIND, FORMAT_VERSION, digest, made_from, count)
    return SequenceMatrices(arrays["packed"], cards.num_buckets, num_boards)
