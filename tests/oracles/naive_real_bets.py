"""The best response with real bets again: deal by deal in plain Python, following the agent by `NaiveTracker`."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.betting import CALL_ACTION, FOLD_ACTION, RAISE, Action, BettingState
from foldwise.game.hands.dealing import Deal
from foldwise.game.hands.evaluator import rank_hand
from foldwise.postprocess.language import parse_pipeline
from tests.oracles.naive_scoring import all_deals
from tests.oracles.naive_tracker import NaiveTracker


class Hidden(NamedTuple):
    """What the responder does not see, and how likely it is together with the betting so far."""

    deal: Deal
    node: int
    probability: float


class NaiveRealBets:
    """A responder in `position` against one player."""

    def __init__(self, player: StrategyPlayer, pipeline: str, position: int):
        self.player, self.definition, self.position = player, player.definition, position
        self.tracker = NaiveTracker(player.seat, parse_pipeline(pipeline))

    def value(self) -> float:
        """What the best response wins: at each decision the best action for what the responder sees."""
        return self._value(BettingState(self.definition), self._start())

    def _start(self) -> list[Hidden]:
        deals = all_deals(self.definition)
        return [Hidden(deal, 0, 1.0 / len(deals)) for deal in deals]

    def _value(self, betting: BettingState, hidden: list[Hidden]) -> float:
        if betting.finished:
            return sum(h.probability * self.won(betting, h.deal) for h in hidden)
        if betting.player_to_act != self.position:
            return sum(self._value(after(betting, action), moved) for action, moved in self.answers(betting, hidden))
        groups = defaultdict(list)
        for h in hidden:
            groups[self.seen(betting, h.deal)].append(h)
        return sum(
            max(self._value(after(betting, action), self.read(betting, action, group)) for action in legal(betting))
            for group in groups.values()
        )

    def plans(self) -> Iterator[dict]:
        """Every pure strategy of the responder: an action for each (what is seen, the betting's text) that may come."""
        choices: dict = {}
        self._collect(BettingState(self.definition), self._start(), choices)
        for actions in product(*choices.values()):
            yield dict(zip(choices, actions))

    def _collect(self, betting: BettingState, hidden: list[Hidden], choices: dict) -> None:
        if betting.finished:
            return
        moves = self.answers(betting, hidden) if betting.player_to_act != self.position else []
        if betting.player_to_act == self.position:
            choices |= {(self.seen(betting, h.deal), betting.betting_text()): legal(betting) for h in hidden}
            moves = [(action, self.read(betting, action, hidden)) for action in legal(betting)]
        for action, moved in moves:
            self._collect(after(betting, action), moved, choices)

    def value_of(self, plan: dict) -> float:
        """What a pure strategy wins."""
        return self._value_of(plan, BettingState(self.definition), self._start())

    def _value_of(self, plan: dict, betting: BettingState, hidden: list[Hidden]) -> float:
        if betting.finished:
            return sum(h.probability * self.won(betting, h.deal) for h in hidden)
        if betting.player_to_act != self.position:
            moves = self.answers(betting, hidden)
        else:
            parts = defaultdict(list)
            for h in hidden:
                parts[plan[self.seen(betting, h.deal), betting.betting_text()]].append(h)
            moves = [(action, self.read(betting, action, part)) for action, part in parts.items()]
        return sum(self._value_of(plan, after(betting, action), moved) for action, moved in moves)

    def seen(self, betting: BettingState, deal: Deal) -> tuple:
        return deal.hole_cards[self.position], deal.board[: self.definition.board_sizes[betting.round]]

    def won(self, betting: BettingState, deal: Deal) -> float:
        ranks = [rank_hand((*hole, *deal.board)) for hole in deal.hole_cards]
        return betting.settle(ranks)[self.position]

    def answers(self, betting: BettingState, hidden: list[Hidden]) -> list[tuple[Action, list[Hidden]]]:
        """The agent's real actions, and what is hidden after each."""
        agent, tracker = 1 - self.position, self.tracker
        first = not any(player == agent for part in betting.actions for player, _ in part)
        found = defaultdict(list)
        for h in hidden:
            board = h.deal.board[: self.definition.board_sizes[betting.round]]
            bucket = self.player.lookup.bucket(h.deal.hole_cards[agent], board)
            _, row = tracker.drawn(betting, h.node, bucket, first, 0, 0)
            for child, chance in zip(tracker.children(h.node).values(), row):
                action = tracker.real(betting, h.node, child)
                to = child if action.kind == RAISE else tracker.call(h.node)
                if chance > 0.0:
                    found[action].append(self._moved(betting, action, h, to, chance))
        return list(found.items())

    def read(self, betting: BettingState, action: Action, hidden: list[Hidden]) -> list[Hidden]:
        """What is hidden after an action of the responder: the agent reads it."""
        most, moved = betting.max_spent, []
        for h in hidden:
            readings = [(self.tracker.call(h.node), 1.0)]
            if action.kind == RAISE:
                x = (action.raise_to - most) / (2 * max(1, most))
                readings = self.tracker.readings(h.node, self.position, x, self.tracker.seat.randomised)
            moved += [self._moved(betting, action, h, to, chance) for to, chance in readings if chance > 0.0]
        return moved

    def _moved(self, betting: BettingState, action: Action, hidden: Hidden, to: int, chance: float) -> Hidden:
        then = after(betting, action)
        node = hidden.node if then.finished else self.tracker.settle(to, then.round)
        return Hidden(hidden.deal, node, hidden.probability * chance)


def legal(betting: BettingState) -> list[Action]:
    """Every action there is, each chip a raise of its own."""
    actions = [FOLD_ACTION, CALL_ACTION] if betting.can_fold() else [CALL_ACTION]
    bounds = betting.raise_range()
    return actions + ([] if bounds is None else [Action(RAISE, to) for to in range(bounds[0], bounds[1] + 1)])


def after(betting: BettingState, action: Action) -> BettingState:
    then = betting.copy()
    then.apply(action)
    return then
