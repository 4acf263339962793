"""The rules of `agent/following/tracker.py` again, in plain Python over one hand: slow, and independent of the kernels."""

import math

import numpy as np

from foldwise.agent.following.tracker import Seat
from foldwise.agent.mappings.translation import MAPPINGS
from foldwise.game.betting import CALL, FOLD, RAISE, Action, BettingState
from foldwise.game.primitives.rng import counter_uniform
from foldwise.game.trees.tree import CALL_CODE, FOLD_CODE
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, SHOWDOWN
from foldwise.postprocess.pipeline import Pipeline
from foldwise.postprocess.transforms import ALL_IN, BET, Actions
from foldwise.postprocess.transforms import CALL as CALL_KIND
from foldwise.postprocess.transforms import FOLD as FOLD_KIND
from tests.oracles.naive_translation import CALL_INDEX, read_bet


class NaiveTracker:
    def __init__(self, seat: Seat, pipeline: Pipeline):
        self.seat = seat
        self.pipeline = pipeline
        self.nodes, self.parent, self.action, self.spent = seat.tree
        self.stored = max(seat.floats, seat.words, seat.bytes, key=len)

    def children(self, node):
        first = int(self.nodes[node]["first_child"])
        return {int(self.action[c]): c for c in range(first, first + int(self.nodes[node]["num_children"]))}

    def kind(self, node):
        return int(self.nodes[node]["kind"])

    def call(self, node):
        return self.children(node)[CALL_CODE]

    def raises(self, node):
        return [child for code, child in sorted(self.children(node).items()) if code > CALL_CODE]

    def share(self, node, child):
        most = max(1, *map(int, self.spent[node]))
        return (int(self.action[child]) - most) / (2 * most)

    def read(self, node, player, x, randomised, draw):
        """The node a raise of x pots is read as by a draw."""
        (smaller, chance), *larger = self.readings(node, player, x, randomised)
        return larger[0][0] if larger and draw >= chance else smaller

    def readings(self, node, player, x, randomised):
        """All nodes a raise of x pots may be read as, each with its probability; the smaller first."""
        call, raises = self.call(node), self.raises(node)
        continues = self.kind(call) == DECISION
        if not raises and continues:
            return [(call, 1.0)]
        if not raises:
            street, path = self.nodes[node]["street"], []
            above = int(self.parent[node])
            while above >= 0 and self.kind(above) == DECISION and self.nodes[above]["street"] == street:
                path.append(above)
                above = int(self.parent[above])
            own = [n for n in path if self.nodes[n]["player"] == player and self.raises(n)]
            others = [n for n in path if self.nodes[n]["player"] != player]
            if own:
                node = own[0]
            else:
                behind = self.call(others[-1])
                if self.kind(behind) != DECISION or not self.raises(behind):
                    return [(others[-1], 1.0)]
                node = behind
            call, raises, continues = self.call(node), self.raises(node), False
        sizes = [self.share(node, child) for child in raises]
        reading = read_bet(list(MAPPINGS)[self.seat.mapping], x, sizes, call_continues=continues, randomised=randomised)
        nodes = [call if index == CALL_INDEX else raises[index] for index in (reading.smaller, reading.larger)]
        if nodes[0] == nodes[1]:
            return [(nodes[0], 1.0)]
        return [(nodes[0], reading.probability_smaller), (nodes[1], 1.0 - reading.probability_smaller)]

    def settle(self, node, street):
        while self.kind(node) != DECISION or self.nodes[node]["street"] < street:
            if self.kind(node) == CHANCE:
                node = int(self.nodes[node]["first_child"])
            elif self.kind(node) == SHOWDOWN:
                bettor = int(self.parent[self.parent[node]])
                open_bets = [child for child in self.raises(bettor) if self.kind(self.call(child)) == CHANCE]
                node = self.call(open_bets[-1]) if open_bets else self.call(bettor)
            else:
                node = self.call(node)
        return node

    def chips(self, betting, node, child):
        low, high = betting.raise_range()
        stack = betting.definition.stacks[betting.player_to_act]
        amount, most = int(self.action[child]), max(1, *map(int, self.spent[node]))
        if amount >= stack:
            return high
        if most != betting.max_spent:
            amount = betting.max_spent + math.floor((amount - most) * (betting.max_spent / most) + 0.5)
            if amount >= 0.9 * stack:
                return high
        return min(max(amount, low), high)

    def drawn(self, betting, node, bucket, first, hand_number, number):
        count = int(self.nodes[node]["num_children"])
        start = int(self.nodes[node]["base"]) + bucket * count
        row = self.stored[start : start + count].astype(float)
        row = row / row.sum() if row.sum() > 0 else np.full(count, 1 / count)
        stack = betting.definition.stacks[betting.player_to_act]
        codes = list(self.children(node))
        kinds = [{FOLD_CODE: FOLD_KIND, CALL_CODE: CALL_KIND}.get(c, ALL_IN if c >= stack else BET) for c in codes]
        sizes = [self.share(node, child) if code > 0 else 0.0 for code, child in self.children(node).items()]
        row = self.pipeline.apply(
            row, Actions(np.array(kinds, np.int8), np.array(sizes)), street=betting.round, first=first
        )
        draw = counter_uniform(int(self.seat.seed), hand_number, 2 * number)
        chosen = int(np.searchsorted(np.cumsum(row), draw, side="right"))
        return self.children(node)[codes[min(chosen, count - 1)]], row

    def answer(self, betting: BettingState, position, hand_number, buckets):
        """(node, action) of `position` after replaying the betting."""
        past = BettingState(betting.definition)
        node, acted = 0, False
        for number, (player, action) in enumerate(entry for part in betting.actions for entry in part):
            assert self.nodes[node]["player"] == player
            assert self.nodes[node]["street"] == past.round
            x = (action.raise_to - past.max_spent) / (2 * max(1, past.max_spent))
            if action.kind == CALL:
                node = self.call(node)
            elif player == position:
                made = [child for child in self.raises(node) if self.chips(past, node, child) == action.raise_to]
                drawn, row = self.drawn(past, node, buckets[past.round], not acted, hand_number, number)
                if not made:
                    node = self.read(node, player, x, False, 0.0)
                elif drawn in made:
                    node = drawn
                else:
                    first = int(self.nodes[node]["first_child"])
                    node = max(made, key=lambda child: row[child - first])
            else:
                draw = counter_uniform(int(self.seat.seed), hand_number, 2 * number + 1)
                node = self.read(node, player, x, self.seat.randomised, draw)
            acted = acted or player == position
            past.apply(action)
            node = self.settle(node, past.round)
        number = sum(map(len, betting.actions))
        child, _ = self.drawn(past, node, buckets[past.round], not acted, hand_number, number)
        return node, self.real(past, node, child)

    def real(self, betting, node, child):
        """The real action that an abstract one becomes."""
        code = int(self.action[child])
        if code == FOLD_CODE and betting.can_fold():
            return Action(FOLD)
        if code > CALL_CODE and betting.raise_range() is not None:
            return Action(RAISE, self.chips(betting, node, child))
        return Action(CALL)
