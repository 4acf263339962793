"""AIVAT for players that must be asked for their rows, such as searching ones, whose rows no table holds.

As in `aivat` the luck of cards and of known players' choices is taken out, and the known player's range averaged over
(Burch et al., AAAI 2018). What differs: the rows of a decision come from the player, for all hands at once, so a searched
street is solved again as it was in the match. Bets outside the tree are read as the player's seed drew it, instead of
being averaged over: a player is asked with the seed and the hand's number of his match.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from foldwise.agent.following.tracker_kernels import enter_street
from foldwise.agent.player import Player
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.betting import FOLD, Action, BettingState
from foldwise.game.betting_kernels import SPENT, STREET
from foldwise.game.definition import GameDefinition
from foldwise.game.hands.hole_cards import pair_number
from foldwise.game.trees.tree_kernels import SHOWDOWN
from foldwise.matches.scoring import aivat_kernels as kernels
from foldwise.matches.scoring.aivat import KnownSide, RangeScorer, ScorerMemory, betting_actions, never_played
from foldwise.matches.scoring.aivat_rows_kernels import follow_public
from foldwise.matches.scoring.aivat_values import Values
from foldwise.matches.table.log import LoggedHand
from foldwise.search.player import SearchPlayer
from foldwise.search.ranges import Policy, PublicState, TableRanges


class RowsPlayer(NamedTuple):
    """A player that gives the rows of all hands at a decision, and the strategy whose values price the states."""

    table: StrategyPlayer
    rows: Callable[[PublicState], Policy]


def rows_player(player: Player) -> RowsPlayer:
    """A strategy with the seed of its match, searching or not."""
    if isinstance(player, SearchPlayer):
        player.measure()
        return RowsPlayer(player.table, player.rows)
    assert isinstance(player, StrategyPlayer)
    return RowsPlayer(player, TableRanges(player).rows)


class RowsScorer:
    """Scores hands of one known player, averaged over his range, against anyone or another known player."""

    def __init__(
        self, definition: GameDefinition, known: RowsPlayer, values: Values, opponent: RowsPlayer | None = None
    ):
        self._sides = RangeScorer(definition, known.table, values)
        self._known, self._opponent = known, opponent
        self._sizes = definition.board_sizes

    def score(self, hand: LoggedHand, position: int) -> float:
        """What the known player, in `position`, wins in a finished hand, in chips."""
        known, other, deals, work = self._sides.sides(hand, position)
        weights = known.particles.weights[0]
        weights[:] = 1.0
        pairs = np.array([pair_number(*cards) for cards in known.hands.tolist()])
        betting = BettingState(hand.betting.definition)
        self._follow(known, work.hand, betting, hand.number, work)
        score = self._sides.root_mean[1 - position]
        score -= kernels.state_value(known, np.int64(0), 0, other.buckets[0], work.hand[SPENT], work.hand[SPENT + 1])
        node = 0
        for player, action in [step for part in hand.betting.actions for step in part]:
            street, bucket = betting.round, int(other.buckets[betting.round])
            asked = self._known if player == position else self._opponent
            if asked is not None:
                policy = self._policy(asked, betting, hand, player)
                rows = (
                    policy.rows[:, pairs]
                    if player == position
                    else policy.rows[:, [pair_number(*hand.hole_cards[player])]]
                )
                shares = rows @ (weights if player == position else np.ones(1))
                taken = policy.actions.index(action) if action in policy.actions else -1
                if taken < 0 or shares[taken] <= 0.0:
                    raise never_played(hand, [asked.table.name])
                after = [self._value_after(known, betting, one, hand.number, bucket, work) for one in policy.actions]
                score += float(shares @ after) / float(shares.sum()) - after[taken]
                if player == position:
                    weights *= rows[taken]
            betting.apply(action)
            node = self._follow(known, work.hand, betting, hand.number, work)
            if not betting.finished and betting.round > street:
                known.particles.nodes[0] = enter_street(known.seat.tree, node, betting.round)
                score += kernels.chance_correction(known, 1, betting.round, deals, False, work)
                kernels.remove_dealt(known, 1, betting.round, deals)
        if hand.betting.is_showdown():
            known.particles.nodes[0] = node
            # Where the abstract hand is not all-in its node has no values for the cards to come.
            all_in = known.seat.tree.nodes[node]["kind"] == SHOWDOWN
            for street in range(int(work.hand[STREET]) + 1, len(self._sizes)):
                if all_in:
                    score += kernels.chance_correction(known, 1, street, deals, True, work)
                kernels.remove_dealt(known, 1, street, deals)
            return -float(score + kernels.showdown_value(known, 1, other, work.hand))
        return -float(score + kernels.after_value(known, np.int64(0), 0, 0, FOLD, work.hand))

    def _policy(self, asked: RowsPlayer, betting: BettingState, hand: LoggedHand, player: int) -> Policy:
        sizes = self._sizes[: betting.round + 1]
        buckets = [asked.table.lookup.bucket(hand.hole_cards[player], hand.board[:size]) for size in sizes]
        return asked.rows(PublicState(betting, hand.board[: sizes[-1]], player, hand.number, tuple(buckets)))

    def _value_after(
        self, known: KnownSide, betting: BettingState, action: Action, number: int, bucket: int, work: ScorerMemory
    ) -> float:
        """The other player's value right after an action, before any card."""
        following = betting.copy()
        following.apply(action)
        node = self._follow(known, work.after, following, number, work)
        return float(kernels.after_value(known, node, betting.round, bucket, action.kind, work.after))

    def _follow(
        self,
        known: KnownSide,
        hand: "np.ndarray[tuple[int], np.dtype[np.int64]]",
        betting: BettingState,
        number: int,
        work: ScorerMemory,
    ) -> int:
        actions = betting_actions(betting)
        return int(follow_public(known.seat, self._sides.rules, hand, known.position, number, actions, work.decision))


def score_both(
    definition: GameDefinition, players: Sequence[RowsPlayer], values: Sequence[Values]
) -> Callable[[LoggedHand, int], float]:
    """Scores of the first player by his position: the mean of what both sides' ranges say."""
    first = RowsScorer(definition, players[0], values[0], players[1])
    second = RowsScorer(definition, players[1], values[1], players[0])
    return lambda hand, position: (first.score(hand, position) - second.score(hand, 1 - position)) / 2.0
