"""Bluff: the tree against the rules, rolls, outcomes."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from foldwise.game.errors import DefinitionError
from foldwise.game.trees import bluff_kernels as kernels
from foldwise.game.trees.bluff import Bluff
from foldwise.game.trees.tree import CHALLENGE_CODE, NO_ACTION
from foldwise.game.trees.tree_kernels import CHALLENGE, DECISION
from tests.oracles.naive_rules import bluff_claim_holds

ONE_ONE = Bluff((1, 1))
TWO_ONE = Bluff((2, 1))


def bids_made(tree) -> list[tuple[int, ...]]:
    """The bids on the path to each node."""
    paths: list[tuple[int, ...]] = []
    for at in range(tree.num_nodes):
        before = paths[tree.parent[at]] if at else ()
        paths.append((*before, int(tree.action[at])) if tree.action[at] >= 0 else before)
    return paths


def test_tree_agrees_with_the_rules():
    """Breadth first: call bluff once there is a bid, then every higher bid in order; players take turns."""
    tree = ONE_ONE.build_tree()
    expected = [((), DECISION, -1, NO_ACTION)]
    for at, (bids, kind, _, _) in enumerate(expected):  # grows while it is read
        if kind == CHALLENGE:
            continue
        if bids:
            expected.append((bids, CHALLENGE, at, CHALLENGE_CODE))
        for bid in range(bids[-1] + 1 if bids else 0, 12):
            expected.append(((*bids, bid), DECISION, at, bid))
    assert tree.num_nodes == len(expected) == 8191
    assert bids_made(tree) == [bids for bids, *_ in expected]
    assert tree.nodes["kind"].tolist() == [kind for _, kind, _, _ in expected]
    assert tree.parent.tolist() == [parent for _, _, parent, _ in expected]
    assert tree.action.tolist() == [action for *_, action in expected]
    for node, (bids, kind, _, _) in zip(tree.nodes, expected):
        assert node["player"] == len(bids) % 2  # who acts; at a challenge, who called the bluff
        assert node["detail"] == (2 * bids[-1] + len(bids) % 2 if kind == CHALLENGE else 0)
        assert node["value"] == (1.0 if kind == CHALLENGE else 0.0)
    assert not tree.spent.any()


@pytest.mark.jit
@pytest.mark.parametrize("dice", [(1, 1), (2, 1), (1, 2)])
def test_number_of_nodes(dice):
    game = Bluff(dice)
    tree = game.build_tree()
    assert tree.num_nodes == 2 ** (game.num_bids + 1) - 1
    assert int((tree.nodes["kind"] == DECISION).sum()) == 2**game.num_bids
    assert int((tree.nodes["kind"] == CHALLENGE).sum()) == 2**game.num_bids - 1


def test_bids_as_a_bit_mask():
    """The set of bids made tells the standing bid and, by its parity, whose turn it is."""
    tree = ONE_ONE.build_tree()
    for node, bids in zip(tree.nodes, bids_made(tree)):
        if node["kind"] != DECISION:
            continue
        mask = sum(1 << bid for bid in bids)
        assert kernels.standing_bid(mask) == (bids[-1] if bids else -1)
        assert kernels.player_to_act(mask) == node["player"] == len(bids) % 2


@pytest.mark.parametrize("dice", [(0, 1), (1, 0), (4, 1), (3, 2), (2, 3)])
def test_numbers_of_dice_out_of_range(dice):
    with pytest.raises(DefinitionError, match=f"bluff-{dice[0]}-{dice[1]}: expected one to three dice a player"):
        Bluff(dice)


@pytest.mark.parametrize(
    "dice, num_rolls", [((1, 1), (6, 6)), ((2, 1), (21, 6)), ((2, 2), (21, 21)), ((3, 1), (56, 6))]
)
def test_rolls_and_weights(dice, num_rolls):
    game = Bluff(dice)
    for player in (0, 1):
        rolls = game.rolls(player)
        assert len(rolls) == num_rolls[player]
        thrown = Counter(tuple(sorted(throw)) for throw in product(range(1, 7), repeat=dice[player]))
        weights = dict(zip(rolls, game.roll_weights(player)))
        assert weights == pytest.approx({roll: count / 6 ** dice[player] for roll, count in thrown.items()})
        assert sum(weights.values()) == pytest.approx(1.0)


def test_bids_are_ordered_by_quantity_then_face():
    assert [ONE_ONE.bid_text(bid) for bid in (0, 4, 5, 6, 11)] == ["1x1", "1x5", "1x6", "2x1", "2x6"]
    assert (ONE_ONE.num_bids, TWO_ONE.num_bids) == (12, 18)


@pytest.mark.parametrize(
    "bid, dice, holds",
    [
        ("1x3", (3, 1), True),
        ("1x3", (2, 1), False),
        ("1x3", (2, 6), True),  # six is wild
        ("2x3", (3, 6), True),
        ("2x3", (6, 6), True),
        ("2x3", (3, 2), False),
        ("1x6", (3, 3), False),
        ("2x6", (6, 5), False),  # a bid on sixes counts sixes only
        ("2x6", (6, 6), True),
        ("3x1", (1, 1, 6), True),
        ("3x1", (1, 2, 6), False),
    ],
)
def test_bids_hold_by_example(bid, dice, holds):
    game = Bluff((len(dice) - 1, 1))
    number = next(b for b in range(game.num_bids) if game.bid_text(b) == bid)
    assert game.is_true(number, dice) is holds


def test_outcomes_by_example():
    """The opener holds a six, the other a three."""
    table = ONE_ONE.outcomes()
    bid = {ONE_ONE.bid_text(number): number for number in range(12)}
    cell = table[5, 2]
    assert cell[2 * bid["2x3"] + 1] == 1.0  # two threes are there: the other called bluff and loses
    assert cell[2 * bid["2x3"] + 0] == -1.0  # had the opener called it, he would lose
    assert cell[2 * bid["2x4"] + 1] == -1.0  # only one four: the challenger wins
    assert cell[2 * bid["2x4"] + 0] == 1.0
    assert cell[2 * bid["1x6"] + 1] == 1.0


@pytest.mark.parametrize("game", [ONE_ONE, TWO_ONE])
def test_outcomes_agree_with_the_rules(game):
    """`round_values` is what the opener gets when he, and when the other, loses the round."""
    table = game.outcomes((-0.25, 0.75))
    assert table.dtype == np.float32
    rolls = game.rolls(0), game.rolls(1)
    assert table.shape == (len(rolls[0]), len(rolls[1]), 2 * game.num_bids)
    for (i, mine), (j, theirs) in product(enumerate(rolls[0]), enumerate(rolls[1])):
        for bid in range(game.num_bids):
            holds = bluff_claim_holds(bid // 6 + 1, bid % 6 + 1, mine + theirs)
            for challenger in (0, 1):
                opener_loses = (challenger == 0) == holds
                assert table[i, j, 2 * bid + challenger] == (-0.25 if opener_loses else 0.75)
