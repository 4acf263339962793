"""Ranges through a hand: against a slow reading of the same rules, hand by hand, on wild bets."""

import random

import numpy as np
import pytest

from foldwise.agent.following.tracker import Tracker, make_seat
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.betting import CALL, RAISE, Action, BettingState
from foldwise.game.hands.dealing import Shoe
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.postprocess.language import parse_pipeline
from foldwise.search.ranges import PublicState, TableRanges
from tests.agent.following.test_tracker import wild_action
from tests.oracles.naive_tracker import NaiveTracker
from tests.support.made_strategies import StandInBuckets, made_player, made_seat, short_hunl, tree_with_rows

USUAL = "f c 0.5p 1p a | f c 1p a | f c a | f c"
PIPELINES = ["none", "threshold(0.3)", "new(0.2) except flop"]


class NaiveRanges:
    """Both ranges, one hand at a time: the row of each action is asked from the slow tracker or the file's numbers."""

    def __init__(self, player: StrategyPlayer, pipeline: str):
        self.player = player
        self.naive = NaiveTracker(player.seat, parse_pipeline(pipeline))
        self.tracker = Tracker(player.seat, player.definition)
        self.lookup = StandInBuckets()

    def stored(self, node: int, bucket: int) -> np.ndarray:
        record = self.player.seat.tree.nodes[node]
        count = int(record["num_children"])
        start = int(record["base"]) + count * bucket
        return np.asarray(self.naive.stored[start : start + count], float)

    def ranges(self, betting: BettingState, board, position: int, number: int) -> np.ndarray:
        """Every own action is asked for from the tracker as it stood then."""
        definition, tree = self.player.definition, self.player.seat.tree
        out = np.ones((2, NUM_PAIRS))
        so_far = BettingState(definition)
        for part in betting.actions:
            for player, action in part:
                seen = board[: definition.board_sizes[so_far.round]]
                possible = [h for h in range(NUM_PAIRS) if not set(PAIR_CARDS[h].tolist()) & set(seen)]
                after = so_far.copy()
                after.apply(action)
                factors = {}
                for h in possible:
                    bucket = self.lookup.bucket(PAIR_CARDS[h].tolist(), seen)
                    factors[h] = (
                        self.own_factor(so_far, action, position, number, bucket)
                        if player == position
                        else self.others_factor(tree, so_far, action, position, number, bucket)
                    )
                known = [h for h in possible if factors[h] is not None]
                mass = sum(out[player, h] for h in known)
                kept = sum(out[player, h] * factors[h] for h in known)
                if kept > 0.0:
                    for h in possible:
                        out[player, h] *= kept / mass if factors[h] is None else factors[h]
                so_far = after
        out[:, np.isin(PAIR_CARDS, board).any(axis=1)] = 0.0
        return out

    def own_factor(self, before, action, position, number, bucket):
        answer = self.tracker.answer(before, position, number, [bucket] * (before.round + 1))
        row = self.tracker.scratch.row[: int(self.player.seat.tree.nodes[answer.node]["num_children"])]
        same = [a for a, real in enumerate(self.tracker.real_actions(answer.node)) if real == action]
        return float(sum(row[a] for a in same)) if same else None

    def others_factor(self, tree, before, action, position, number, bucket):
        """The stored row behind the nodes the tracker says the action may be read as."""
        node = self.node(before, position, number)
        if action.kind == CALL:
            readings = [(self.naive.call(node), 1.0)]
        else:
            x = (action.raise_to - before.max_spent) / (2 * before.max_spent)
            readings = self.naive.readings(node, before.player_to_act, x, bool(self.player.seat.randomised))
        parent = int(tree.parent[readings[0][0]])
        if tree.nodes[parent]["kind"] != DECISION or tree.nodes[parent]["player"] != before.player_to_act:
            return None
        row = self.stored(parent, bucket)
        if row.sum() <= 0.0:
            return None
        first = int(tree.nodes[parent]["first_child"])
        return float(sum(chance * row[child - first] for child, chance in readings) / row.sum())

    def node(self, before, position, number):
        """Where the seat's tracker stands before an opponent's action: after the last one it followed."""
        if not any(before.actions):
            return 0
        self.tracker.answer(before, position, number, [0] * 4)
        return self.tracker.steps(before)[-1].node


def wild_states(definition, player, num_hands: int, seed: int):
    """States in which the strategy is to act, after its own actions and wild ones."""
    rng = random.Random(seed)
    deals = Shoe(definition, seed).deals()
    tracker, lookup = Tracker(player.seat, definition), StandInBuckets()
    for number in range(num_hands):
        deal, position = next(deals), rng.randrange(2)
        betting = BettingState(definition)
        while not betting.finished and sum(map(len, betting.actions)) < 12:
            if betting.player_to_act != position:
                betting.apply(wild_action(betting, rng, 0.6))
                continue
            board = deal.board[: definition.board_sizes[betting.round]]
            sizes = definition.board_sizes[: betting.round + 1]
            buckets = [lookup.bucket(deal.hole_cards[position], board[:size]) for size in sizes]
            yield betting, tuple(board), position, number, buckets
            betting.apply(tracker.answer(betting, position, number, buckets).action)


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_ranges_agree_with_the_slow_ones(pipeline: str) -> None:
    definition = short_hunl(5000)
    seat = made_seat(definition, USUAL, seed=3, pipeline=pipeline)
    player = StrategyPlayer(seat, definition, StandInBuckets())
    ranges, naive = TableRanges(player), NaiveRanges(player, pipeline)
    checked = 0
    for betting, board, position, number, buckets in wild_states(definition, player, 20, 5):
        found = ranges.follow(betting, board, position, number, buckets).ranges
        expected = naive.ranges(betting, board, position, number)
        np.testing.assert_allclose(np.array(found), expected, rtol=1e-12, atol=1e-300)
        checked += betting.round >= 1
    assert checked >= 3


def test_a_bet_between_two_sizes_is_a_mixture_of_both_readings() -> None:
    """Preflop the small blind opens to 450: half a pot is 200, a pot 300, an all-in 2,000."""
    definition = short_hunl()
    player = made_player(definition, USUAL, seed=9)
    ranges = TableRanges(player)
    betting = BettingState(definition)
    first = int(player.seat.tree.nodes[0]["first_child"])
    codes = player.seat.tree.action[first : first + int(player.seat.tree.nodes[0]["num_children"])].tolist()
    sizes = [(code - 100) / 200 for code in codes]
    betting.apply(Action(RAISE, 450))
    x = (450 - 100) / 200
    smaller = max(a for a in range(len(codes)) if sizes[a] <= x)
    chance = (sizes[smaller + 1] - x) * (1 + sizes[smaller]) / ((sizes[smaller + 1] - sizes[smaller]) * (1 + x))
    assert 0.0 < chance < 1.0
    position = betting.player_to_act
    for hand_number in range(3):  # whichever is drawn
        found = ranges.follow(betting, (), position, hand_number).ranges[1 - position]
        stored = player.seat.words[: 7 * len(codes)].reshape(7, -1).astype(float)
        rows = stored / np.maximum(stored.sum(axis=1, keepdims=True), 1e-300)
        buckets = ranges.buckets(0, ())
        expected = chance * rows[buckets, smaller] + (1 - chance) * rows[buckets, smaller + 1]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert found.sum() != pytest.approx(1.0)  # never normalised


def test_rows_never_reached_keep_their_share_of_the_range() -> None:
    definition = short_hunl()
    tree = tree_with_rows(definition, "f c 1p | f c")
    stored = np.ones(7 * int(tree.nodes["num_children"][tree.nodes["kind"] == DECISION].sum()))
    count = int(tree.nodes[0]["num_children"])
    stored[: 7 * count] = np.tile([1.0, 2.0, 1.0], 7)  # a raise with a quarter,
    stored[3 * count : 4 * count] = 0.0  # but bucket 3 was never seen here
    stored[5 * count : 6 * count] = [1.0, 1.0, 2.0]
    player = StrategyPlayer(
        make_seat(tree, stored, definition, parse_pipeline("none"), 0), definition, StandInBuckets()
    )
    ranges = TableRanges(player)
    betting = BettingState(definition)
    betting.apply(Action(RAISE, 300))
    position = betting.player_to_act
    followed = ranges.follow(betting, (), position, 0)
    buckets, found = ranges.buckets(0, ()), followed.ranges[1 - position]
    assert set(found[(buckets != 3) & (buckets != 5)].tolist()) == {0.25}
    assert set(found[buckets == 5].tolist()) == {0.5}
    known = buckets != 3
    assert found[~known] == pytest.approx(found[known].mean())
    assert found[~known].sum() / found.sum() == pytest.approx((~known).mean())
    assert followed.num_unknown == 0


def test_an_action_that_contradicts_every_hand_says_nothing() -> None:
    definition = short_hunl()
    tree = tree_with_rows(definition, "f c 1p | f c")
    stored = np.ones(7 * int(tree.nodes["num_children"][tree.nodes["kind"] == DECISION].sum()))
    stored[: 7 * 3] = np.tile([1.0, 1.0, 0.0], 7)  # nobody ever raises first
    player = StrategyPlayer(
        make_seat(tree, stored, definition, parse_pipeline("none"), 0), definition, StandInBuckets()
    )
    betting = BettingState(definition)
    betting.apply(Action(RAISE, 300))
    followed = TableRanges(player).follow(betting, (), betting.player_to_act, 0)
    assert followed.num_unknown == 1
    assert set(followed.ranges[0].tolist()) == set(followed.ranges[1].tolist()) == {1.0}


def test_policy_is_what_the_player_draws_from() -> None:
    """For every hand, the rows the live tracker leaves behind, with equal chips together."""
    definition = short_hunl()
    player = made_player(definition, USUAL, seed=4, pipeline="new(0.2)")
    ranges, tracker, lookup = TableRanges(player), Tracker(player.seat, definition), StandInBuckets()
    checked = 0
    for betting, board, position, number, _ in wild_states(definition, player, 6, 11):
        policy = ranges.rows(PublicState(betting, board, position, number))
        assert len(set(policy.actions)) == len(policy.actions)
        assert all(betting.is_legal(action) for action in policy.actions)
        for h in range(0, NUM_PAIRS, 101):
            if set(PAIR_CARDS[h].tolist()) & set(board):
                assert not policy.rows[:, h].any()
                continue
            sizes = definition.board_sizes[: betting.round + 1]
            buckets = [lookup.bucket(PAIR_CARDS[h].tolist(), board[:size]) for size in sizes]
            node = tracker.answer(betting, position, number, [0] * betting.round + buckets[-1:]).node
            real = tracker.real_actions(node)
            for action, share in zip(policy.actions, policy.rows[:, h]):
                expected = sum(tracker.scratch.row[a] for a, other in enumerate(real) if other == action)
                assert share == pytest.approx(expected)
                checked += 1
    assert checked > 100
