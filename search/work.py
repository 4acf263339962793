"""How much a searching player works at a dealer that keeps an account of time: so many seconds a hand, as `--t_per_hand`.

The machine is measured once, before the match: each searched street solved once, in a limped pot, whose tree is the
largest. What comes of it is a single number, the `work` that multiplies every budget, a power of two, so that small
differences of speed do not change it. From there on nothing is measured: the player plays as one that was given
`search(..., work=N)` on any machine.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from foldwise.game.betting import CALL_ACTION, BettingState
from foldwise.game.errors import DefinitionError
from foldwise.search.player import SearchPlayer, SearchReport
from foldwise.search.ranges import PublicState
from foldwise.search.settings import LEAST_WORK, MOST_WORK
from foldwise.search.street import AGAIN_SHARE

# Of the account, for a hand that goes through every searched street; most hands do not. The rest is for bets outside
# the tree, and for a machine that is busier in the match than before it.
_SHARE = 0.5


@dataclass(frozen=True)
class WorkPlan:
    """The work chosen, and what it comes to on this machine."""

    work: float
    hand_seconds: float  # of a hand through all searched streets
    decision_seconds: float  # the longest: with a bet outside the tree

    def __str__(self) -> str:
        return (
            f"work={self.work:g}: {self.hand_seconds:.2g} s for a hand through all searched streets, "
            f"{self.decision_seconds:.2g} s for the longest decision"
        )


def choose_plan(street_seconds: Sequence[float], seconds_a_hand: float, seconds_a_decision: float) -> WorkPlan:
    """The largest power of two that keeps within the account and a decision's time.

    `street_seconds` are those of each searched street with the modes' own budgets.
    """
    hand = sum(street_seconds)
    longest = (1.0 + AGAIN_SHARE) * max(street_seconds)
    fits = min(_SHARE * seconds_a_hand / hand, seconds_a_decision / longest)
    work = min(max(2.0 ** math.floor(math.log2(fits)), LEAST_WORK), MOST_WORK)
    return WorkPlan(work, work * hand, work * longest)


def time_streets(player: SearchPlayer) -> list[float]:
    """Seconds of each searched street, solved in a limped pot."""
    betting = BettingState(player.definition)
    deck, sizes = player.definition.deck, player.definition.board_sizes
    found = []
    while not betting.finished:
        betting.apply(CALL_ACTION)
        if betting.finished or betting.actions[betting.round] or player.settings.on(betting.round) is None:
            continue
        state = PublicState(betting, tuple(deck[: sizes[betting.round]]), betting.player_to_act, 0)
        start = time.monotonic()
        player.solution(state)
        found.append(time.monotonic() - start)
    player.forget()
    player.report = SearchReport()
    return found


def plan(player: SearchPlayer, seconds_a_hand: float, seconds_a_decision: float) -> WorkPlan:
    """Choose a player's work for a match, by this machine's speed."""
    if player.settings.work != 1.0:
        raise DefinitionError(
            f"{player.settings} with an account of {seconds_a_hand:g} s a hand: the work is named, give one of them"
        )
    player.warm_up()
    chosen = choose_plan(time_streets(player), seconds_a_hand, seconds_a_decision)
    player.settings = replace(player.settings, work=chosen.work)
    return chosen
