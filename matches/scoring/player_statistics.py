"""The usual statistics of playing style: how often a player puts chips in, raises, bets, and sees a showdown.

VPIP, PFR, aggression and "went to showdown" as trackers of hand histories define them: VPIP is the share of hands in which a
player put chips in voluntarily on the first street (a blind is not voluntary, a check not chips), PFR that in which he
raised there; aggression is bets and raises over calls on the later streets; WTSD the share of showdowns among the
hands in which he saw the second street.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict

from foldwise.game.betting import CALL, RAISE, BettingState
from foldwise.matches.table.log import LoggedHand


class PlayerRecord(TypedDict):
    """Shares and means; None where the denominator is zero."""

    name: str
    hands: int
    vpip: float | None
    pfr: float | None
    aggression: float | None
    wtsd: float | None
    won_at_showdown: float | None
    chips: float
    mean_mbb: float | None


@dataclass
class PlayerStatistics:
    """Counts of one player."""

    name: str
    hands: int = 0
    voluntary: int = 0
    raised_first: int = 0
    later_bets: int = 0  # and raises
    later_calls: int = 0
    saw_second: int = 0
    showdowns: int = 0
    won_showdowns: int = 0
    chips: float = 0.0

    def record(self, big_blind: int) -> PlayerRecord:
        """As trackers show it."""
        return PlayerRecord(
            name=self.name,
            hands=self.hands,
            vpip=_share(self.voluntary, self.hands),
            pfr=_share(self.raised_first, self.hands),
            aggression=_share(self.later_bets, self.later_calls),
            wtsd=_share(self.showdowns, self.saw_second),
            won_at_showdown=_share(self.won_showdowns, self.showdowns),
            chips=self.chips,
            mean_mbb=_share(1000.0 * self.chips / big_blind, self.hands),
        )


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def player_statistics(hands: Iterable[LoggedHand]) -> list[PlayerStatistics]:
    """The statistics of every name, in the order of their first hands."""
    found: dict[str, PlayerStatistics] = {}
    for hand in hands:
        players = [found.setdefault(name, PlayerStatistics(name)) for name in hand.names]
        _count(hand, players)
    return list(found.values())


def _count(hand: LoggedHand, players: list[PlayerStatistics]) -> None:
    betting = BettingState(hand.betting.definition)
    voluntary, raised = [False] * len(players), [False] * len(players)
    for street, actions in enumerate(hand.betting.actions):
        for position, action in actions:
            pays = action.kind == RAISE or (action.kind == CALL and betting.can_fold())
            if street == 0:
                voluntary[position] |= pays
                raised[position] |= action.kind == RAISE
            elif pays:
                players[position].later_bets += action.kind == RAISE
                players[position].later_calls += action.kind == CALL
            betting.apply(action)
    saw_second = hand.betting.round > 0
    for position, player in enumerate(players):
        player.hands += 1
        player.voluntary += voluntary[position]
        player.raised_first += raised[position]
        player.saw_second += saw_second
        player.chips += hand.values[position]
        if betting.is_showdown() and not betting.folded[position]:
            player.showdowns += saw_second
            player.won_showdowns += saw_second and hand.values[position] > 0
