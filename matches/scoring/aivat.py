"""AIVAT: what a known strategy won in a hand, with the luck taken out of cards and of known players' choices.

Burch, Schmid, Moravcik, Morrill and Bowling, AIVAT: a new variance reduction technique for agent evaluation in imperfect
information games (AAAI 2018). To what a hand paid it adds, for every random event whose probabilities are known, the
expected value over what might have come less the value of what came; and it averages over all hands the known player
could have held and played so, since the opponent could not tell them apart. Both leave the mean as it is, whatever
the value function, which must only be fixed before. Known are the cards, and the actions of every player whose strategy
we hold; the other player's actions count as they are, so he may be anyone.

Our value of a state is that of `aivat_values`: the other player's by his bucket, from self-play, in proportion to the pot
where bets were translated. How a strategy read those bets is part of what nobody saw, and averaged over. Where both
strategies are known a hand is scored from either side, once averaging each player's range, and the mean of both is taken.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.agent.following.tracker import Scratch, Seat, make_scratch
from foldwise.agent.strategy_player import StrategyPlayer, check_same_game
from foldwise.game.arrays import Float
from foldwise.game.betting import BettingState
from foldwise.game.betting_kernels import NUM_FIELDS
from foldwise.game.cards import NUM_CARDS
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.trees.table_rules import table_rules
from foldwise.matches.scoring import aivat_kernels as kernels
from foldwise.matches.scoring.aivat_values import Values
from foldwise.matches.scoring.all_in import last_betting_round
from foldwise.matches.scoring.ranges import View
from foldwise.matches.table.log import LoggedHand

_MAX_PARTICLES = 128
_CACHED_HANDS = 1326  # of the other player: each needs 22,100 buckets for the flop
Cards = npt.NDArray[np.uint8]


class Particles(NamedTuple):
    """Hidden states of one player: where his tracker may stand, and the weight of each of his hands there."""

    nodes: npt.NDArray[np.int64]  # [P]
    weights: Float  # [P, n]


class StreetDeals(NamedTuple):
    """All sets of cards each street may deal, and the other player's bucket with each; -1 where cards clash."""

    sets: Cards  # [T, 3]
    buckets: npt.NDArray[np.int32]  # [T]
    starts: npt.NDArray[np.int64]  # [streets + 1]: of each street's sets
    num_cards: npt.NDArray[np.int64]  # [streets]
    num_possible: Float  # [streets]: sets that no hole card nor the board so far has a part of
    dealt: npt.NDArray[np.int64]  # [streets]: the set that came


class KnownSide(NamedTuple):
    """The player whose range is averaged; n hands."""

    position: int
    seat: Seat
    values: Values
    hands: Cards  # [n, hole], hole 1 or 2
    hand_view: View  # buckets of his hands; numba keeps `.view` for arrays
    ranks: npt.NDArray[np.int64]  # [n]; 0 where the hand did not come to a showdown
    particles: Particles


class OtherSide(NamedTuple):
    """His opponent, whose hand is seen."""

    is_known: bool  # his strategy, too
    seat: Seat  # of his strategy, where it is known
    buckets: npt.NDArray[np.int64]  # [streets] of his hand in the known player's strategy
    own_buckets: npt.NDArray[np.int64]  # [streets] of his hand in his own
    rank: int
    particles: Particles  # one weight each


class ScorerMemory(NamedTuple):
    """Scratch memory of one scorer."""

    hand: npt.NDArray[np.int64]
    after: npt.NDArray[np.int64]
    start: Float  # [n]
    rows: Float  # [n, A]
    row: Float  # [A]
    single: Float  # [52]: weight of the hands with a card
    double: Float  # [52, 52]: and with two
    decision: Scratch
    spare: Particles  # to fill


class RangeScorer:
    """Scores hands of one known strategy, averaged over its range, against anyone or another known strategy."""

    def __init__(
        self, definition: GameDefinition, known: StrategyPlayer, values: Values, opponent: StrategyPlayer | None = None
    ):
        if definition.num_hole_cards > 2 or definition.num_players != 2:
            raise DefinitionError(
                f"AIVAT of {definition.num_players} players with {definition.num_hole_cards} hole cards: expected two "
                "players with one or two"
            )
        for player in (known, opponent or known):
            check_same_game(definition, player.definition, player.name)
        self.definition = definition
        self._known, self._opponent, self._values = known, opponent, values
        self.rules = table_rules(definition)
        deck = sorted(definition.deck)
        self._all_hands: Cards = np.array(list(combinations(deck, definition.num_hole_cards)), np.uint8)
        self._new_cards = np.diff(definition.board_sizes, prepend=0).tolist()
        self._sets = [np.array(list(combinations(deck, new)), np.uint8) for new in self._new_cards]
        self._set_numbers = [{tuple(cards): n for n, cards in enumerate(sets.tolist())} for sets in self._sets]
        most = max(int(p.seat.tree.nodes["num_children"].max()) for p in (known, opponent or known))
        self._most_actions = most
        self.root_mean = self._mean_at_root()  # value of a hand before any action, by position
        self._first_deal_buckets = lru_cache(maxsize=_CACHED_HANDS)(self._set_buckets)
        self._scratch: dict[int, tuple[Particles, Particles, ScorerMemory]] = {}

    def _mean_at_root(self) -> tuple[float, float]:
        """Mean value of a hand before any action, to each position."""
        sizes = self.definition.board_sizes
        if sizes[0]:
            raise DefinitionError(f"{sizes[0]} board cards before the first action: AIVAT expects none")
        buckets = self._known.lookup.bucket_hands(0, self._all_hands)
        row = self._values.starts[0] + buckets
        first, second = self._values.values[:, row].astype(np.float64).mean(axis=1)
        return float(first), float(second)

    def _set_buckets(self, street: int, cards: tuple[int, ...]) -> npt.NDArray[np.int32]:
        """The bucket of (hole cards, board so far) `cards` with each set the street may deal."""
        sets = self._sets[street]
        free = ~np.isin(sets, cards).any(axis=1)
        out = np.full(len(sets), -1, np.int32)
        dealt = np.tile(np.array(cards, np.uint8), (int(free.sum()), 1))
        out[free] = self._known.lookup.bucket_hands(street, np.concatenate([dealt, sets[free]], axis=1))
        return out

    def _deals(self, own: tuple[int, ...], board: tuple[int, ...]) -> StreetDeals:
        definition = self.definition
        num_streets = definition.num_rounds
        sets, buckets = [], []
        starts, dealt = np.zeros(num_streets + 1, np.int64), np.zeros(num_streets, np.int64)
        possible = np.ones(num_streets)
        for street, size in enumerate(definition.board_sizes):
            new = self._new_cards[street]
            starts[street + 1] = starts[street]
            if street == 0 or size > len(board):
                continue
            before = board[: size - new]
            # The flop's sets recur with the same hole cards.
            found = (self._first_deal_buckets if not before else self._set_buckets)(street, own + before)
            padded = np.zeros((len(found), 3), np.uint8)
            padded[:, :new] = self._sets[street]
            sets.append(padded)
            buckets.append(found)
            dealt[street] = starts[street] + self._set_numbers[street][tuple(sorted(board[size - new : size]))]
            starts[street + 1] += len(found)
            possible[street] = comb(len(definition.deck) - 2 * definition.num_hole_cards - len(before), new)
        if not sets:
            return StreetDeals(np.zeros((0, 3), np.uint8), np.zeros(0, np.int32), starts, dealt, possible, dealt)
        new_cards = np.array(self._new_cards, np.int64)
        return StreetDeals(np.concatenate(sets), np.concatenate(buckets), starts, new_cards, possible, dealt)

    def _view(self, hands: Cards, board: tuple[int, ...], num_streets: int) -> View:
        """Buckets of the known player's hands; hands that clash with the board are in any class, with no weight."""
        shape = (self.definition.num_rounds, len(hands))
        buckets, classes = np.zeros(shape, np.int64), np.zeros(shape, np.int32)
        counts = np.ones(self.definition.num_rounds, np.int64)
        for street in range(num_streets):
            seen = board[: self.definition.board_sizes[street]]
            free = np.flatnonzero(~np.isin(hands, seen).any(axis=1))
            dealt = np.tile(np.array(seen, np.uint8), (len(free), 1))
            found = self._known.lookup.bucket_hands(street, np.concatenate([hands[free], dealt], axis=1))
            distinct, inverse = np.unique(found, return_inverse=True)
            counts[street] = len(distinct)
            buckets[street, : len(distinct)] = distinct
            classes[street, free] = inverse
        return View(buckets, classes, counts)

    def _memory(self, num_hands: int) -> tuple[Particles, Particles, ScorerMemory]:
        if num_hands not in self._scratch:
            work = ScorerMemory(
                hand=np.zeros(NUM_FIELDS, np.int64),
                after=np.zeros(NUM_FIELDS, np.int64),
                start=np.ones(num_hands),
                rows=np.zeros((num_hands, self._most_actions)),
                row=np.zeros(self._most_actions),
                single=np.zeros(NUM_CARDS),
                double=np.zeros((NUM_CARDS, NUM_CARDS)),
                decision=make_scratch(),
                spare=_make_particles(num_hands),
            )
            self._scratch[num_hands] = _make_particles(num_hands), _make_particles(num_hands), work
        return self._scratch[num_hands]

    def sides(self, hand: LoggedHand, position: int) -> tuple[KnownSide, OtherSide, StreetDeals, ScorerMemory]:
        """What kernels need of a finished hand in which the known player is in `position`."""
        definition, betting = self.definition, hand.betting
        other = 1 - position
        own, board = hand.hole_cards[other], hand.board
        hands = self._all_hands[~np.isin(self._all_hands, own).any(axis=1)]
        num_streets = last_betting_round(betting) + 1
        sizes = definition.board_sizes
        buckets = np.zeros(definition.num_rounds, np.int64)
        own_buckets = np.zeros(definition.num_rounds, np.int64)
        for street in range(num_streets):
            buckets[street] = self._known.lookup.bucket(own, board[: sizes[street]])
            if self._opponent is not None:
                own_buckets[street] = self._opponent.lookup.bucket(own, board[: sizes[street]])
        ranks, rank = np.zeros(len(hands), np.int64), 0
        if betting.is_showdown():
            ranks, rank = _ranks(hands, board), int(_ranks(np.array([own], np.uint8), board)[0])
        particles, theirs, work = self._memory(len(hands))
        known = KnownSide(
            position=position,
            seat=self._known.seat,
            values=self._values,
            hands=hands,
            hand_view=self._view(hands, board, num_streets),
            ranks=ranks,
            particles=particles,
        )
        opponent = OtherSide(
            is_known=self._opponent is not None,
            seat=(self._opponent or self._known).seat,
            buckets=buckets,
            own_buckets=own_buckets,
            rank=rank,
            particles=theirs,
        )
        return known, opponent, self._deals(own, board), work

    def score(self, hand: LoggedHand, position: int) -> float:
        """What the known player, in `position`, wins in a finished hand, in chips."""
        betting = hand.betting
        known, opponent, deals, work = self.sides(hand, position)
        root_mean = self.root_mean[1 - position]
        error, lost = kernels.score_hand(self.rules, known, opponent, deals, root_mean, betting_actions(betting), work)
        if error == kernels.NEVER_PLAYED:
            names = [self._known.name] if self._opponent is None else [self._known.name, self._opponent.name]
            raise never_played(hand, names)
        if error == kernels.TOO_MANY_PARTICLES:
            raise FormatError(
                f"hand {hand.number}: more than {_MAX_PARTICLES} ways to read {betting.betting_text()!r}: leave it out"
            )
        return -float(lost)


def betting_actions(betting: BettingState) -> npt.NDArray[np.int64]:
    """[a, 2]: kind and raise_to of all actions so far."""
    return np.array([action for part in betting.actions for _, action in part], np.int64).reshape(-1, 2)


def never_played(hand: LoggedHand, names: Sequence[str]) -> FormatError:
    """The error for a hand that the named strategies cannot have played."""
    return FormatError(
        f"hand {hand.number}: {hand.betting.betting_text()!r} is never played by {' and '.join(names)}: give the "
        "strategy that played, with its post-processing and translation as in DIR|new(0.2)"
    )


def _make_particles(num_hands: int) -> Particles:
    return Particles(np.zeros(_MAX_PARTICLES, np.int64), np.zeros((_MAX_PARTICLES, num_hands)))


def _ranks(hands: Cards, board: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Rank of each hand on a full board; 0 where cards clash."""
    ranks = np.zeros(len(hands), np.int64)
    kernels.rank_hands(evaluator_tables(), hands, np.array(board, np.int64), ranks)
    return ranks


class Aivat:
    """Scores of both positions of a hand; one or both players are known strategies, by name."""

    def __init__(
        self,
        definition: GameDefinition,
        known: StrategyPlayer,
        values: Values,
        opponent: StrategyPlayer | None = None,
        opponent_values: Values | None = None,
    ):
        self._scorer = RangeScorer(definition, known, values, opponent)
        self._other_side = None
        if opponent is not None and opponent_values is not None:
            self._other_side = RangeScorer(definition, opponent, opponent_values, known)

    def score(self, hand: LoggedHand, position: int) -> float:
        """What the known player in `position` wins, in chips; from both sides where both are known."""
        won = self._scorer.score(hand, position)
        if self._other_side is not None:
            won = (won - self._other_side.score(hand, 1 - position)) / 2.0
        return won
