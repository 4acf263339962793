"""Public chance sampling and its two relatives: `pcs`, `opcs`, `spcs` (Johanson et al., AAMAS 2012).

All public cards are drawn at once, and then hands of both players (pcs), of the traverser (opcs) or of the opponent
(spcs) as a vector. Games with a card abstraction draw boards from the deck; games of few deals are cut into the parts
that public chance makes of them. Pruning settings are for walks over single deals and have no effect here.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.cards.card_abstraction import CardAbstraction
from foldwise.abstraction.deals.holdem_deals import BOARD_SIZES
from foldwise.abstraction.deals.joint_deals import JointDeals
from foldwise.game.arrays import Float
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.hands.showdown import empty_board, empty_sums
from foldwise.game.hands.showdown_kernels import NUM_RANKS
from foldwise.solver.config import SolverConfig
from foldwise.solver.sampling.mccfr import Mccfr, ThreadWorker
from foldwise.solver.sampling.public_deal_kernels import (
    SLOT_BITS,
    BoardDeals,
    BoardScratch,
    PartSet,
    run_boards,
    run_parts,
)
from foldwise.solver.sampling.public_kernels import Hands, PublicEnds, PublicFrames
from foldwise.solver.sampling.sampling_kernels import WalkOptions

State = npt.NDArray[np.uint64]

FORMS = {"pcs": 0, "opcs": 1, "spcs": 2}
RUN_OUT_CARDS = 5  # of a game with one betting round


def split_by_public_chance(joint: JointDeals) -> PartSet:
    """A small game's deals, split by public information: hands of different parts never meet.

    In Leduc a part is a card on the board; in Kuhn and Bluff nothing is public and there is one part. A hand is a
    player's sequence of buckets. The matrices hold chance's probabilities within the part.
    """
    num_streets = joint.num_streets
    sequences = []  # of each player: [categories] number of his bucket sequence, and the sequences
    for player in range(2):
        distinct, number = np.unique(joint.buckets[:, player, :], axis=0, return_inverse=True)
        sequences.append((number.ravel(), distinct))
    part_of = _connected(sequences[0][0], sequences[1][0])
    num_parts = int(part_of.max()) + 1
    num_details = joint.outcomes.shape[1]
    members = [[np.unique(sequences[p][0][part_of == part]) for p in range(2)] for part in range(num_parts)]
    most = max(len(hands) for both in members for hands in both)
    parts = PartSet(
        probability=np.bincount(part_of, weights=joint.probability, minlength=num_parts),
        num_hands=np.array([[len(hands) for hands in both] for both in members], dtype=np.int32),
        weight=np.zeros((num_parts, 2, most)),
        num_local=np.zeros((num_parts, 2, num_streets), dtype=np.int32),
        local=np.zeros((num_parts, 2, num_streets, most), dtype=np.int32),
        buckets=np.zeros((num_parts, 2, num_streets, most), dtype=np.int32),
        fold=np.zeros((num_parts, 2, most, most)),
        settle=np.zeros((num_parts, 2, num_details, most, most)),
    )
    for part, both in enumerate(members):
        inside = part_of == part
        probability = joint.probability[inside] / parts.probability[part]
        outcomes = joint.outcomes[joint.outcome_row[inside]] * probability[:, np.newaxis]  # [categories, details]
        place = [np.searchsorted(both[p], sequences[p][0][inside]) for p in range(2)]
        for player in range(2):
            other = 1 - player
            np.add.at(parts.fold[part, player], (place[other], place[player]), probability)
            for detail in range(num_details):
                np.add.at(parts.settle[part, player, detail], (place[other], place[player]), outcomes[:, detail])
            np.add.at(parts.weight[part, player], place[player], probability)
            for street in range(num_streets):
                distinct, local = np.unique(sequences[player][1][both[player], street], return_inverse=True)
                parts.num_local[part, player, street] = len(distinct)
                parts.buckets[part, player, street, : len(distinct)] = distinct
                parts.local[part, player, street, : len(local)] = local.ravel()
    return parts


def _connected(first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """[categories] number of the connected part each belongs to, where a category joins a hand of either player."""
    part = np.arange(len(first))
    while True:
        before = part
        for hands in (first, second):
            lowest = np.full(int(hands.max()) + 1, len(part))
            np.minimum.at(lowest, hands, part)
            part = lowest[hands]
        if np.array_equal(part, before):
            return np.unique(part, return_inverse=True)[1].ravel()


def make_public_frames(game: AbstractGame, most_hands: int) -> PublicFrames:
    """A stack for one walk."""
    depth, entries = game.depth, most_hands * game.max_actions
    return PublicFrames(
        node=np.zeros(depth, dtype=np.int32),
        action=np.zeros(depth, dtype=np.int32),
        alive=np.zeros((depth, 2), dtype=np.bool_),
        reach_at=np.zeros((depth, 2), dtype=np.int32),
        reach=np.zeros((depth, 2, most_hands)),
        value=np.zeros((depth, 2, most_hands)),
        sigma=np.zeros((depth, entries)),
        action_value=np.zeros((depth, entries)),
        bucket_reach=np.zeros(most_hands),
    )


def make_hands(num_hands: int, num_streets: int) -> Hands:
    """Memory for one player's hands, all equally likely."""
    return Hands(
        num_hands=num_hands,
        place=-1,
        chance=1.0,
        weight=np.full(num_hands, 1.0 / num_hands),
        num_local=np.zeros(num_streets, dtype=np.int32),
        local=np.zeros((num_streets, num_hands), dtype=np.int32),
        buckets=np.zeros((num_streets, num_hands), dtype=np.int32),
    )


def make_scratch() -> BoardScratch:
    """Scratch for dealing boards."""
    return BoardScratch(
        deck=np.arange(52),
        cards=np.zeros(7, dtype=np.int64),
        ranks=np.zeros(NUM_PAIRS, dtype=np.uint16),
        counts=np.zeros(NUM_RANKS, dtype=np.int64),
        keys=np.zeros(1 << SLOT_BITS, dtype=np.int32),
        slots=np.zeros(1 << SLOT_BITS, dtype=np.int32),
    )


def make_ends(num_board: int) -> PublicEnds:
    """Ends that a board of that many cards decides."""
    left = 52 - num_board
    hands, others = left * (left - 1) // 2, (left - 2) * (left - 3) // 2
    return PublicEnds(
        board=empty_board(num_board),
        sums=empty_sums(num_board),
        pair_weight=1.0 / (hands * others),
        fold=np.zeros((2, 0, 0)),
        settle=np.zeros((2, 0, 0, 0)),
    )


def make_board_deals(game: AbstractGame, cards: CardAbstraction) -> BoardDeals:
    """What one thread deals the boards of a game with."""
    num_streets = game.num_streets
    num_board = BOARD_SIZES[num_streets - 1] if num_streets > 1 else RUN_OUT_CARDS
    return BoardDeals(
        cards=cards.tables,
        evaluator=evaluator_tables(),
        preflop=cards.bucket_hands(0, PAIR_CARDS).astype(np.int32),
        pair_cards=PAIR_CARDS,
        num_board=num_board,
        scratch=make_scratch(),
        hands=make_hands(math.comb(52 - num_board, 2), num_streets),
    )


class _Worker:
    """Walks on boards drawn from the deck, hands bucketed by the card abstraction; or on the parts of a small game."""

    def __init__(self, game: AbstractGame, parts: PartSet | None, form: int, deal_rng: State, walk_rng: State):
        self._nodes, self._form = game.tree.nodes, form
        self._rngs = deal_rng, walk_rng
        self._single = make_hands(1, game.num_streets)
        self._run: Any
        self._deals: BoardDeals | PartSet
        if parts is not None:
            self._run, self._deals, most_hands = run_parts, parts, parts.weight.shape[2]
            self._ends = make_ends(RUN_OUT_CARDS)  # unused memory: matrices decide
        else:
            assert game.cards is not None
            deals = make_board_deals(game, game.cards)
            self._run, self._deals, most_hands = run_boards, deals, deals.hands.num_hands
            self._ends = make_ends(deals.num_board)
        self._frames = make_public_frames(game, most_hands)

    def work(self, table: Float, iterations: int, options: WalkOptions) -> int:
        """Run iterations; returns public nodes visited."""
        chance = self._deals, self._ends, self._single, self._form
        numbers = iterations, options.sum_weight, options.regret_floor
        return int(self._run(self._nodes, table, *chance, *numbers, self._frames, *self._rngs))


class PublicChance(Mccfr):
    """`pcs`, `opcs` or `spcs` on one game, by one or more threads. It counts public nodes, each with all its hands."""

    def __init__(self, game: AbstractGame, config: SolverConfig):
        joint = game.deals.joint
        if game.cards is None and joint is None:
            raise DefinitionError(
                f"game {game.name!r}: {config.sampler!r} needs a card abstraction or known joint deals"
            )
        self._parts = split_by_public_chance(joint) if game.cards is None and joint is not None else None
        super().__init__(game, config)

    def _make_worker(self, index: int) -> ThreadWorker:
        form, rngs = FORMS[self.config.sampler], (self.rng[2 * index], self.rng[2 * index + 1])
        return _Worker(self.game, self._parts, form, *rngs)
