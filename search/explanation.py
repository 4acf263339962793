"""A searched decision in words: both ranges, the tree, the values and the row."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from foldwise.agent.following.tracker import Step
from foldwise.agent.strategy_player import Decision
from foldwise.game.arrays import Float
from foldwise.game.betting import Action
from foldwise.game.cards import cards_text
from foldwise.game.hands.hole_cards import PAIR_CARDS, pair_number
from foldwise.game.hands.showdown import RangeShowdown
from foldwise.game.text.match_state import MatchState
from foldwise.search.ranges import Policy
from foldwise.search.street import StreetSearch

_NUM_SHOWN = 8


@dataclass(frozen=True)
class SearchDecision(Decision):
    """One decision of a searching player, and how it came about. `node` is a node of the solved tree."""

    street: str
    nodes: int  # of the tree
    iterations: int
    solves: int  # on this street so far
    ranges: tuple[str, str]  # at the street's root, ours first: how wide, and the likeliest hands
    value_chips: float  # of our hand at the root, over the whole hand
    added: list[int]  # raises that the menu did not have

    def __str__(self) -> str:
        rows = ", ".join(
            f"{action} {raw:.4f} > {played:.4f}"
            for action, raw, played in zip(self.actions, self.probabilities, self.postprocessed)
        )
        added = f", added {' '.join(map(str, self.added))}" if self.added else ""
        return (
            f"{self.state} | {self.street} solved from its root: {self.nodes} nodes, {self.iterations} iterations, "
            f"{self.solves} {'solve' if self.solves == 1 else 'solves'}{added} | ours {self.ranges[0]} | "
            f"his {self.ranges[1]} | {self.hand} is worth {self.value_chips:+.0f} chips | {rows} | "
            f"plays {self.action} | {self.seconds:.2f} s"
        )


def explain(
    state: MatchState, search: StreetSearch, policy: Policy, bucket: int, action: Action, seconds: float
) -> SearchDecision:
    """What a searching player saw when it chose."""
    problem, subgame = search.problem, search.subgame
    own = problem.position
    limit = state.betting.definition.limit
    hand = pair_number(*state.hole_cards[own])
    at = subgame.node_at(search.path)
    showdown, other = RangeShowdown(problem.board), problem.ranges[1 - own]
    met = float(showdown.fold(other)[hand]) if showdown.meets(other)[hand] else 0.0
    actions = [one.text(limit) for one in policy.actions]
    played = [entry for part in state.betting.actions for entry in part]
    return SearchDecision(
        state=state.text(),
        node=at,
        abstract_betting=state.betting.betting_text(),
        steps=[Step(player, one.text(limit), at, at, 1.0, at) for player, one in played],
        hand=cards_text(state.hole_cards[own]),
        bucket=bucket,
        reached=True,
        actions=actions,
        abstract_actions=actions,
        probabilities=subgame.strategy(at)[:, hand].tolist(),
        postprocessed=policy.rows[:, hand].tolist(),
        action=action.text(limit),
        seconds=seconds,
        street=("flop", "turn", "river")[len(problem.board) - 3],
        nodes=len(subgame.nodes),
        iterations=subgame.iteration,
        solves=search.num_solves,
        ranges=(range_text(problem.ranges[own]), range_text(problem.ranges[1 - own])),
        value_chips=float(subgame.values(own)[hand]) / met if met > 0.0 else 0.0,
        added=sorted({amount for amounts in search.added.values() for amount in amounts}),
    )


def range_text(weights: Float, shown: int = _NUM_SHOWN) -> str:
    """`212 hands: AsAh 0.012 ...`: the effective number of hands (e to the entropy), and the likeliest with their shares."""
    shares = weights / max(float(weights.sum()), 1e-300)
    live = shares[shares > 0.0]
    width = float(np.exp(-(live * np.log(live)).sum())) if live.size else 0.0
    return f"{width:.0f} hands: {' '.join(_likeliest(shares, shown))}"


def _likeliest(shares: Float, shown: int) -> Sequence[str]:
    order = np.argsort(-shares, kind="stable")[:shown]
    return [f"{cards_text(PAIR_CARDS[h].tolist())} {shares[h]:.3f}" for h in order if shares[h] > 0.0]
