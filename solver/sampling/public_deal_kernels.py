# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="arg-type"
"""Public chance drawn and made ready for a walk, iteration after iteration: boards of hold'em, or parts of a small game."""

from typing import Any, NamedTuple

import numpy as np

from foldwise.abstraction.cards.card_abstraction_kernels import bucket_of
from foldwise.game.compiled import kernel
from foldwise.game.hands.evaluator_kernels import rank_pairs_into
from foldwise.game.hands.showdown_kernels import prepare_board
from foldwise.game.primitives.rng_kernels import next_uniform, shuffle_first
from foldwise.solver.regret_kernels import draw_action
from foldwise.solver.sampling.public_kernels import Hands, PublicEnds, walk_iteration

SLOT_BITS = 12  # of a hash table for at most 1,326 buckets
_MULTIPLIER = 0x9E3779B1


class BoardScratch(NamedTuple):
    """What dealing a board needs besides the abstraction."""

    deck: np.ndarray  # int64[52]
    cards: np.ndarray  # int64[7]: two hole cards, then the board
    ranks: np.ndarray  # uint16[1326]
    counts: np.ndarray  # int64[NUM_RANKS]: zero
    keys: np.ndarray  # int32[2^SLOT_BITS]: bucket in the slot, or -1
    slots: np.ndarray  # int32[2^SLOT_BITS]: its local number


class BoardDeals(NamedTuple):
    """What boards are dealt with, and the hands they leave: the same for both players."""

    cards: Any  # CardAbstractionTables
    evaluator: Any  # EvaluatorTables
    preflop: np.ndarray  # int32[1326]: bucket of every pair
    pair_cards: np.ndarray  # uint8[1326, 2]
    num_board: int
    scratch: BoardScratch
    hands: Hands


class PartSet(NamedTuple):
    """A small game cut into the parts that players can tell apart; one is drawn for every iteration. P: parts."""

    probability: np.ndarray  # float64[P]
    num_hands: np.ndarray  # int32[P, 2]
    weight: np.ndarray  # float64[P, 2, N]
    num_local: np.ndarray  # int32[P, 2, S]
    local: np.ndarray  # int32[P, 2, S, N]
    buckets: np.ndarray  # int32[P, 2, S, N]
    fold: np.ndarray  # float64[P, 2, N, N]
    settle: np.ndarray  # float64[P, 2, details, N, N]


@kernel
def number_buckets(scratch, street, hands):
    """Turn the buckets in `local` into numbers of the distinct ones, which go to `buckets`."""
    local, buckets = hands.local[street], hands.buckets[street]
    scratch.keys[:] = -1
    count = 0
    for i in range(hands.num_hands):
        bucket = np.int64(local[i])
        slot = ((bucket * _MULTIPLIER) & 0xFFFFFFFF) >> (32 - SLOT_BITS)
        while scratch.keys[slot] != bucket:
            if scratch.keys[slot] < 0:
                scratch.keys[slot] = bucket
                scratch.slots[slot] = count
                buckets[count] = bucket
                count += 1
            else:
                slot = (slot + 1) & ((1 << SLOT_BITS) - 1)
        local[i] = scratch.slots[slot]
    hands.num_local[street] = count


@kernel
def deal_board(rng, deals, board):  # -, BoardDeals, ShowdownBoard
    """Draw a board; its hands by rank go to `board`, their buckets on every street to `deals.hands`."""
    scratch, hands, num_board = deals.scratch, deals.hands, deals.num_board
    for card in range(52):  # so that a board depends on the generator alone
        scratch.deck[card] = card
    shuffle_first(rng, scratch.deck, num_board)
    rank_pairs_into(deals.evaluator, scratch.deck, num_board, scratch.ranks)
    prepare_board(scratch.ranks, deals.pair_cards, scratch.counts, board)
    for i in range(num_board):
        scratch.cards[2 + i] = scratch.deck[i]
    for street in range(hands.num_local.size):
        local = hands.local[street]
        for i in range(hands.num_hands):
            if street == 0:
                local[i] = deals.preflop[board.pairs[i]]
            else:
                scratch.cards[0] = board.cards[i, 0]
                scratch.cards[1] = board.cards[i, 1]
                local[i] = bucket_of(deals.cards, street, scratch.cards)
        number_buckets(scratch, street, hands)


@kernel
def run_boards(nodes, table, deals, ends, single, form, num_iterations, sum_weight, floor, frames, deal_rng, walk_rng):
    """Iterations on boards from the deck; both players have the same hands. Returns public nodes visited."""
    num_visited = 0
    for _ in range(num_iterations):
        deal_board(deal_rng, deals, ends.board)
        both = (deals.hands, deals.hands)
        num_visited += walk_iteration(nodes, table, both, ends, single, form, sum_weight, floor, frames, walk_rng)
    return num_visited


@kernel
def hands_of_part(parts, part, player):
    return Hands(
        np.int64(parts.num_hands[part, player]),
        np.int64(-1),
        1.0,
        parts.weight[part, player],
        parts.num_local[part, player],
        parts.local[part, player],
        parts.buckets[part, player],
    )


@kernel
def draw_part(rng, parts, ends):
    """A part of a small game by its probability: the hands of both players, and the ends that its matrices decide."""
    part = 0
    if parts.probability.size > 1:
        part = draw_action(parts.probability, parts.probability.size, next_uniform(rng))
    both = (hands_of_part(parts, part, 0), hands_of_part(parts, part, 1))
    return both, PublicEnds(ends.board, ends.sums, 1.0, parts.fold[part], parts.settle[part])


@kernel
def run_parts(nodes, table, parts, ends, single, form, num_iterations, sum_weight, floor, frames, deal_rng, walk_rng):
    """Iterations on parts of a small game, each drawn by its probability. Returns public nodes visited."""
    num_visited = 0
    for _ in range(num_iterations):
        both, own_ends = draw_part(deal_rng, parts, ends)
        num_visited += walk_iteration(nodes, table, both, own_ends, single, form, sum_weight, floor, frames, walk_rng)
    return num_visited
