"""A flop solved to its end in plain Python, for a few hands: linear CFR with ways of going on behind every leaf.

Straight from the definitions: one recursion over the flop's betting in real chips, one over the blueprint's tree behind it,
hands as rows of small matrices. The trunk's states and the blueprint's nodes beside them are the product's.
"""

from itertools import combinations

import numpy as np

from foldwise.game.hands.evaluator import rank_hand
from foldwise.game.hands.hole_cards import PAIR_CARDS
from foldwise.game.trees.tree import CALL_CODE, FOLD_CODE
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED

WAYS = 4


class NaiveFlop:
    """`hands` are pair numbers, ranges [2][hands]."""

    def __init__(self, trunk, player, board, hands, ranges, runouts, bias):
        self.trunk, self.player, self.board, self.runouts, self.bias = trunk, player, tuple(board), runouts, bias
        self.cards = PAIR_CARDS[hands].tolist()
        self.ranges = [np.asarray(one, float) / np.sum(one) for one in ranges]
        self.apart = np.array([[float(not set(one) & set(other)) for other in self.cards] for one in self.cards])
        self.gains = self.all_in_gains()
        count = len(hands)
        self.regrets = {at: np.zeros((self.num_actions(at), count)) for at in self.decisions()}
        self.sums = {at: np.zeros((self.num_actions(at), count)) for at in self.decisions()}
        self.way_regrets = {(p, at): np.zeros((WAYS, count)) for p in range(2) for at in trunk.leaves.tolist()}

    def decisions(self):
        return np.flatnonzero(self.trunk.nodes["kind"] == DECISION).tolist()

    def num_actions(self, at):
        return int(self.trunk.nodes[at]["num_children"])

    def all_in_gains(self):
        """[winner, loser] mean over the turns and rivers that both hands leave."""
        left = [card for card in range(52) if card not in self.board]
        gains = np.zeros_like(self.apart)
        for i, j in np.argwhere(self.apart > 0):
            if i < j:
                used = {*self.cards[i], *self.cards[j]}
                results = [
                    np.sign(
                        rank_hand([*self.cards[i], *self.board, *more])
                        - rank_hand([*self.cards[j], *self.board, *more])
                    )
                    for more in combinations([card for card in left if card not in used], 2)
                ]
                gains[i, j], gains[j, i] = np.mean(results), -np.mean(results)
        return gains

    @staticmethod
    def match(regrets):
        positive = np.maximum(regrets, 0.0)
        total = positive.sum(axis=0)
        return np.where(total > 1e-30, positive / np.where(total > 0, total, 1.0), 1.0 / len(regrets))

    def run(self, iterations):
        for t in range(1, iterations + 1):
            for traverser in range(2):
                self.t, self.traverser, self.turn_river = t, traverser, self.runouts[t - 1]
                self.value(0, np.ones(len(self.cards)), self.ranges[1 - traverser])

    def value(self, at, own, other):
        """What the traverser's hands win at a node, times the other's reach."""
        record, state = self.trunk.nodes[at], self.trunk.states[at]
        kind = int(record["kind"])
        if kind == FOLDED:
            lost = min(state.spent) * (-1 if state.folded[self.traverser] else 1)
            return lost * (self.apart @ other)
        if kind == CHANCE:
            return self.leaf(at, other)
        if kind != DECISION:
            return min(state.spent) * (self.gains @ other)
        sigma = self.match(self.regrets[at])
        children = range(int(record["first_child"]), int(record["first_child"]) + self.num_actions(at))
        if state.player_to_act != self.traverser:
            return sum(self.value(child, own, other * sigma[a]) for a, child in enumerate(children))
        below = np.array([self.value(child, own * sigma[a], other) for a, child in enumerate(children)])
        total = (sigma * below).sum(axis=0)
        kept = (self.t - 1) / self.t
        self.regrets[at] = self.regrets[at] * kept + below - total
        self.sums[at] = self.sums[at] * kept + own * sigma
        return total

    def leaf(self, at, other):
        mine, his = (self.match(self.way_regrets[p, at]) for p in (self.traverser, 1 - self.traverser))
        live = np.array([float(not set(hand) & set(self.turn_river)) for hand in self.cards])
        root, scale = int(self.trunk.abstract[at]), float(self.trunk.scale[at])
        worth = 49 * 48 / (45 * 44) * scale * live
        below = np.array(
            [
                sum(self.behind(root, way, theirs, other * his[theirs] * live) for theirs in range(WAYS)) * worth
                for way in range(WAYS)
            ]
        )
        total = (mine * below).sum(axis=0)
        regrets = self.way_regrets[self.traverser, at]
        self.way_regrets[self.traverser, at] = regrets * (self.t - 1) / self.t + below - total
        return total

    def row(self, node, way):
        """[actions, hands] what a way plays at a node of the blueprint."""
        tree, record = self.player.seat.tree, self.player.seat.tree.nodes[node]
        count, first = int(record["num_children"]), int(record["first_child"])
        board = (*self.board, *self.turn_river)[: int(record["street"]) + 2]
        favoured = np.ones(count)
        for a in range(count):
            code = int(tree.action[first + a])
            kind = {FOLD_CODE: 1, CALL_CODE: 2}.get(code, 3)
            favoured[a] = self.bias if kind == way else 1.0
        out = []
        for hand in self.cards:
            if set(hand) & set(board):
                out.append(np.zeros(count))
                continue
            start = int(record["base"]) + count * self.player.lookup.bucket(hand, board)
            row = np.asarray(self.player.seat.words[start : start + count], float)
            row = row / row.sum() if row.sum() > 0 else np.full(count, 1 / count)
            out.append(row * favoured / (row * favoured).sum())
        return np.array(out).T

    def behind(self, node, way, theirs, other):
        record = self.player.seat.tree.nodes[node]
        kind, first = int(record["kind"]), int(record["first_child"])
        if kind == CHANCE:
            return self.behind(first, way, theirs, other)
        if kind == FOLDED:
            return (-1 if record["player"] == self.traverser else 1) * float(record["value"]) * (self.apart @ other)
        if kind != DECISION:
            board = (*self.board, *self.turn_river)
            ranks = np.array([0 if set(h) & set(board) else rank_hand([*h, *board]) for h in self.cards])
            return float(record["value"]) * ((np.sign(ranks[:, None] - ranks[None, :]) * self.apart) @ other)
        children = range(first, first + int(record["num_children"]))
        if int(record["player"]) == self.traverser:
            row = self.row(node, way)
            return sum(row[a] * self.behind(child, way, theirs, other) for a, child in enumerate(children))
        row = self.row(node, theirs)
        return sum(self.behind(child, way, theirs, other * row[a]) for a, child in enumerate(children))
