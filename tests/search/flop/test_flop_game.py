"""The flop's search against plain Python, and what must hold of any of its solutions."""

import numpy as np
import pytest

from foldwise.game.betting import CALL, RAISE, Action, BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.hole_cards import NUM_PAIRS, pair_number
from foldwise.game.trees.tree_kernels import CHANCE, DECISION
from foldwise.search.flop.continuations import BIAS
from foldwise.search.flop.flop_game import FlopGame, FlopSource
from foldwise.search.flop.runouts import NUM_TURNS, RUNOUT_WEIGHT, runout_cards
from foldwise.search.ranges import TableRanges
from foldwise.solver.subgame.gadget import Gadget
from foldwise.solver.subgame.workspace import Workspace
from tests.oracles.naive_flop import NaiveFlop
from tests.support.made_strategies import made_player, short_hunl

MENU = "f c 1p a | f c a | f c"
STACK = 1500
BOARD = tuple(parse_cards("Ah7d2c"))
HANDS = [pair_number(*parse_cards(text)) for text in ("KdQd", "8c8s", "AcAs", "Td9d", "7h7s", "KsQs", "5c4c", "Ad3d")]


def betting(*words):
    """`c` calls, a number raises to it."""
    state = BettingState(short_hunl(STACK))
    for word in words:
        state.apply(Action(CALL) if word == "c" else Action(RAISE, int(word)))
    return state


def source(threads=1, seed=1):
    return FlopSource(TableRanges(made_player(short_hunl(STACK), MENU, seed=seed)), Workspace(), threads)


def game(words=("c", "c"), threads=1, ranges=None, **options):
    made, state = source(threads), betting(*words)
    followed = made.ranges.follow(state, BOARD, state.player_to_act, 0)
    return FlopGame(made, state, BOARD, followed.node, followed.ranges if ranges is None else ranges, **options)


def few_hands(seed):
    rng = np.random.default_rng(seed)
    out = np.zeros((2, NUM_PAIRS))
    out[:, HANDS] = rng.uniform(0.2, 1.0, (2, len(HANDS)))
    return out[0], out[1]


@pytest.mark.parametrize("words", [("c", "c"), ("250", "c"), ("300", "c", "c", "777")])
def test_equals_plain_python(words):
    """Regrets, ways, all-ins and averages, also where the real pot is not the blueprint's and a bet was added."""
    ranges = few_hands(3)
    extra = {(Action(CALL),): (777,)} if len(words) > 2 else None
    solved = game(words[:2], ranges=ranges, extra_sizes=extra)
    solved.run(4)
    runouts = [tuple(cards) for cards in runout_cards(BOARD, 0).tolist()]
    naive = NaiveFlop(
        solved.trunk, solved.source.ranges.player, BOARD, HANDS, [one[HANDS] for one in ranges], runouts, BIAS
    )
    naive.run(4)
    for at in naive.decisions():
        if extra and at == 0:
            assert Action(RAISE, 777) in solved.actions_at(solved.node_at((Action(CALL),)))
        np.testing.assert_allclose(solved.strategy(at)[:, HANDS], naive.match(naive.sums[at]), atol=2e-4)


def test_the_same_bits_with_any_number_of_threads():
    one, three = game(threads=1), game(threads=3)
    for solved in (one, three):
        solved.run(3)
    for at in np.flatnonzero(one.nodes["kind"] == DECISION):
        assert np.array_equal(one.strategy(at), three.strategy(at))


def test_another_flop_in_between_changes_nothing():
    """Solves of one blueprint share what depends on the board."""
    alone, beside = game(), game()
    state = betting("c", "c")
    followed = beside.source.ranges.follow(state, BOARD, state.player_to_act, 0)
    alone.run(3)
    beside.run(1)
    FlopGame(beside.source, state, tuple(parse_cards("Kh8d3c")), followed.node, few_hands(1)).run(1)
    beside.run(2)
    assert np.array_equal(alone.strategy(0), beside.strategy(0))
    assert np.array_equal(alone.values(0), beside.values(0))


def test_what_one_wins_the_other_loses():
    solved = game(("300", "c"))
    solved.run(3)
    values = [solved.values(player) for player in range(2)]
    won = [float(solved.ranges[player] @ values[player]) for player in range(2)]
    assert won[0] == pytest.approx(-won[1], rel=1e-3, abs=1e-2 * float(np.abs(won).max()))
    best = [solved.values(player, "best") for player in range(2)]
    assert all((best[p] >= values[p] - 1e-2 * np.abs(values[p]).max()).all() for p in range(2))


def test_solving_lowers_what_a_best_response_wins():
    """A uniform strategy and the blueprint fail the bound that 60 iterations meet."""
    solved = game(("300", "c"))
    uniform = solved.exploitability_mbb(2)
    solved.play_blueprint()
    blueprint = solved.exploitability_mbb(2)
    learned = game(("300", "c"))
    learned.run(60)
    assert learned.exploitability_mbb(2) < 0.25 * min(uniform, blueprint)


def test_the_blueprints_own_rows_are_played():
    solved = game(("250", "c"))  # a pot between two of the tree's
    solved.play_blueprint()
    made = solved.source.ranges
    buckets = made.buckets(1, BOARD)
    record = made.player.seat.tree.nodes[int(solved.trunk.abstract[0])]
    count = int(record["num_children"])
    for hand in HANDS:
        row = made.stored[int(record["base"]) + count * buckets[hand] :][:count].astype(float)
        assert solved.strategy(0)[:, hand].sum() == pytest.approx(1.0, abs=1e-6)
        assert sorted(solved.strategy(0)[:, hand]) == pytest.approx(sorted(row / row.sum()), abs=1e-6)


def test_frozen_rows_stay_and_an_added_bet_starts_from_what_was_learned():
    solved = game()
    solved.run(5)
    rows = np.full((len(solved.actions_at(0)), NUM_PAIRS), 0.0)
    rows[0] = 1.0
    path = (Action(CALL),)
    again = game(frozen={(): rows}, extra_sizes={path: (333,)})
    again.start_from(solved, 2)
    again.run(3)
    assert np.allclose(again.strategy(0)[0, HANDS], 1.0)
    assert Action(RAISE, 333) in again.actions_at(again.node_at(path))
    assert again.iteration == 5
    kept = game()
    kept.start_from(solved)
    assert kept.iteration == 5
    assert all(
        np.array_equal(kept.strategy(at), solved.strategy(at)) for at in np.flatnonzero(kept.nodes["kind"] == DECISION)
    )


def test_a_gadget_that_pays_more_than_the_flop_keeps_everybody_out():
    """With a fortune outside no hand of his comes in by choice; with a debt all do."""
    shares = []
    for worth in (1e6, -1e6):
        values = np.full(NUM_PAIRS, worth)
        solved = game(gadget=Gadget.resolve(1, values))
        solved.run(4)
        shares.append(float(solved._choice.sigma[0].mean()))
    assert shares[0] < 0.01
    assert shares[1] > 0.99


def test_runouts_are_fair_to_every_pair_of_hands():
    """Each block has each turn once, and a pair of hands sees 45 * 44 of 49 * 48 turns and rivers."""
    turns = np.array([runout_cards(BOARD, number)[:, 0] for number in range(3)])
    assert all(len(set(row)) == NUM_TURNS and not set(row) & set(BOARD) for row in turns.tolist())
    cards = np.concatenate([runout_cards(BOARD, number) for number in range(400)])
    assert (cards[:, 0] != cards[:, 1]).all()
    used = [*parse_cards("KdQd"), *parse_cards("8c8s")]
    seen = 1.0 - np.isin(cards, used).any(axis=1).mean()
    assert seen * RUNOUT_WEIGHT == pytest.approx(1.0, abs=0.02)  # three standard errors of 19,600 draws are 0.01
    rivers = np.bincount(cards[:, 1], minlength=52)
    assert rivers[[card for card in range(52) if card not in BOARD]].min() > 300  # of 400 expected


def test_paths_and_leaves():
    solved = game()
    assert {int(kind) for kind in solved.nodes["kind"][solved.trunk.leaves]} == {CHANCE}
    with pytest.raises(DefinitionError, match="no such sequence"):
        solved.node_at((Action(RAISE, 1234),))
    with pytest.raises(DefinitionError, match="expected a flop"):
        FlopGame(solved.source, betting("c", "c", "c", "c"), BOARD, 0, solved.ranges)
    with pytest.raises(DefinitionError, match="added after"):
        game(extra_sizes={(): (5,)})
    node, scale = game(("250", "c")).abstract_at((Action(CALL), Action(CALL)))
    assert int(solved.source.ranges.player.seat.tree.nodes[node]["street"]) == 2
    assert scale != 1.0
