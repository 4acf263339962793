"""Subgames by recursion over matrices of all pairs of hands, in double precision: what the fast solver must agree with."""

import numpy as np

from foldwise.game.arrays import Float
from foldwise.game.betting import CALL, RAISE, Action, BettingState
from foldwise.game.hands.evaluator import rank_hand
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.library import find_definition
from foldwise.game.trees.tree import ALL_IN, BetMenu, pot_size
from foldwise.game.trees.tree_kernels import CHANCE, FOLDED, SHOWDOWN
from foldwise.solver.full_width.schedules import discounted
from foldwise.solver.subgame.gadget import Gadget
from foldwise.solver.subgame.subgame import Subgame

MENU = BetMenu.same_everywhere([pot_size(1.0), ALL_IN], 4)


def reached(betting: str) -> BettingState:
    """The state after calls (`c`) and raises to the chips given."""
    state = BettingState(find_definition("hunl"))
    for word in betting.split():
        state.apply(Action(CALL) if word == "c" else Action(RAISE, int(word)))
    return state


def some_ranges(seed: int, board: list[int]) -> tuple[Float, Float]:
    """Two ranges over the same 150 hands that the board allows; all other hands have weight zero."""
    rng = np.random.default_rng(seed)
    live = [number for number, pair in enumerate(PAIR_CARDS.tolist()) if not set(pair) & set(board)]
    chosen = rng.choice(live, 150, replace=False)
    ranges = np.zeros((2, NUM_PAIRS))
    ranges[:, chosen] = rng.random((2, 150)) + 0.01
    return ranges[0], ranges[1]


class SlowSolver:
    """Discounted CFR and best responses by recursion over matrices of all pairs of hands, in double precision.

    Hands outside of both ranges are left out: they change nothing for the others.
    """

    def __init__(self, game: Subgame, board: list[int], ranges: tuple[Float, Float]):
        self.nodes, self.board = game.nodes, board
        self.pairs = np.flatnonzero(ranges[0])
        self.hands = PAIR_CARDS[self.pairs].tolist()
        self.ranges = [one[self.pairs] / one.sum() for one in ranges]
        cards = PAIR_CARDS[self.pairs]
        self.apart = (cards[:, None, :, None] != cards[None, :, None, :]).all(axis=(2, 3)).astype(np.float64)
        self.mass = float(self.ranges[0] @ self.apart @ self.ranges[1])
        self.regrets: dict[tuple[int, int], Float] = {}
        self.sums: dict[tuple[int, int], Float] = {}
        self.frozen: dict[int, Float] = {}  # by node: rows that are played as they stand
        self.settle = {river: self._settle(river) for river in ([-1] if len(board) == 5 else self.rivers())}

    def _settle(self, river: int) -> Float:
        board = [*self.board, river] if river >= 0 else self.board
        ranks = np.array([0 if set(hand) & set(board) else rank_hand([*hand, *board]) for hand in self.hands])
        live = ranks > 0
        return self.apart * np.sign(ranks[:, None] - ranks[None, :]) * live[:, None] * live[None, :]

    def rivers(self) -> list[int]:
        return [card for card in range(52) if card not in self.board]

    def value(self, at: int, river: int, player: int, own: Float, other: Float, t: int) -> Float:
        """Values by hand; t = 0 responds to the averages, else iteration t learns."""
        node = self.nodes[at]
        first = int(node["first_child"])
        scale = float(node["value"])
        if node["kind"] == FOLDED:
            return (-scale if node["player"] == player else scale) * self._live(river) * (self.apart @ other)
        if node["kind"] == SHOWDOWN:
            rivers = self.rivers() if len(self.board) == 4 and river < 0 else [river]
            return scale * sum(self.settle[card] @ other for card in rivers) / (1.0 if len(rivers) == 1 else 44.0)
        if node["kind"] == CHANCE:
            parts = [self.value(first, card, player, own, other * self._live(card), t) for card in self.rivers()]
            return np.sum([part * self._live(card) for part, card in zip(parts, self.rivers())], axis=0) / 44.0
        key = (at, river)
        shape = (int(node["num_children"]), len(self.hands))
        regrets, sums = (table.setdefault(key, np.zeros(shape)) for table in (self.regrets, self.sums))
        sigma = self.frozen[at] if at in self.frozen else self.shares(sums if t == 0 else regrets)
        mine = node["player"] == player
        values = [
            self.value(
                first + a, river, player, own * sigma[a] if mine else own, other if mine else other * sigma[a], t
            )
            for a in range(shape[0])
        ]
        if not mine:
            return np.sum(values, axis=0)
        value: Float = (sigma * values).sum(axis=0)
        if at in self.frozen:
            return value
        if t == 0:
            return np.max(values, axis=0)
        self.learn(regrets, np.array(values), value, t)
        sums[:] = sums * discounted(np.array([float(t)])).sum_factor[0] + own * sigma
        return value

    @staticmethod
    def learn(regrets: Float, values: Float, value: Float, t: int) -> None:
        steps = discounted(np.array([float(t)]))
        regrets[:] = regrets * np.where(regrets > 0, steps.positive, steps.negative) + (values - value)

    @staticmethod
    def shares(weights: Float) -> Float:
        weights = np.maximum(weights, 0.0)
        total = weights.sum(axis=0)
        return np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / len(weights))

    def _live(self, river: int) -> Float:
        return np.array([float(river not in hand) for hand in self.hands])

    def run(self, iterations: int, gadget: Gadget | None = None) -> Float:
        """Returns how much of each hand of the gadget's player chooses to come in."""
        ones = np.ones(len(self.hands))
        choice = np.zeros((2, len(self.hands)))
        for t in range(1, iterations + 1):
            for player in range(2):
                other = self.ranges[1 - player]
                if gadget is not None and player != gadget.player:
                    spread = ones / len(self.hands)
                    other = gadget.own * other + (gadget.offered * self.shares(choice)[0] + gadget.uniform) * spread
                values = self.value(0, -1, player, ones, other, t)
                if gadget is not None and player == gadget.player:
                    offers = np.array([values, gadget.values[self.pairs]])
                    self.learn(choice, offers, (self.shares(choice) * offers).sum(axis=0), t)
        return self.shares(choice)[0]

    def best_response(self, player: int) -> float:
        values = self.value(0, -1, player, np.ones(len(self.hands)), self.ranges[1 - player], 0)
        return 1000.0 / 100.0 * float(self.ranges[player] @ values) / self.mass
