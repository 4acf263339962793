"""The searching player: what it plays is a function of state and seed, and nothing stops a hand."""

import logging
from dataclasses import replace

import numpy as np
import pytest

from foldwise.game.betting import CALL, RAISE, Action, BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.hands.showdown import RangeShowdown
from foldwise.game.library import find_definition
from foldwise.game.text.match_state import view
from foldwise.postprocess.language import parse_pipeline
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.gadgets import GADGETS, zero_sum
from foldwise.search.modes import MODES, Budget
from foldwise.search.player import PublicState, SearchPlayer
from foldwise.search.settings import SearchSettings
from tests.support.made_strategies import made_player, short_hunl

MENU = "f c 1p a | f c a | f c"
STACK = 1500
BOARD = tuple(parse_cards("Ah7d2c9s4h"))
HOLES = (tuple(parse_cards("KdQd")), tuple(parse_cards("8c8s")))


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch):
    """All that is tested here holds for any number of iterations."""
    mode = replace(MODES["fast"], flop=Budget(0.0, 2, 2), turn=Budget(0.0, 2, 2), river=Budget(0.0, 8, 8))
    monkeypatch.setitem(MODES, "fast", mode)


def player(gadget="combined", seed=1, pipeline="none", **options):
    table = made_player(short_hunl(STACK), MENU, seed=seed, pipeline=pipeline)
    settings = SearchSettings(gadget=gadget, **{k: options.pop(k) for k in ("flop", "turn", "river") if k in options})
    return SearchPlayer(table, parse_pipeline(pipeline), settings, **{"threads": 1, **options})


def betting(*words):
    """`c` calls, a number raises to it."""
    state = BettingState(short_hunl(STACK))
    for word in words:
        state.apply(Action(CALL) if word == "c" else Action(RAISE, int(word)))
    return state


def at(state, position=None, number=0):
    position = state.player_to_act if position is None else position
    return view(state, HOLES, BOARD, position, number)


def public(state, number=0):
    board = BOARD[: state.definition.board_sizes[state.round]]
    return PublicState(state, board, state.player_to_act, number)


LINES = {
    "turn's root": ("c", "c", "c", "c"),
    "a bet of the tree": ("c", "c", "c", "c", "c", "300"),
    "a bet of its own": ("c", "c", "c", "c", "c", "277"),
    "river's root": ("c", "c", "c", "c", "c", "c"),
    "a river behind odd bets": ("c", "c", "c", "c", "230", "c", "c", "500"),
}


@pytest.mark.parametrize("line", list(LINES))
def test_a_hand_taken_up_in_the_middle_is_played_as_one_followed_from_the_start(line):
    """Fresh, after watching every state, and with other numbers of threads: the same bits."""
    words = LINES[line]
    state = betting(*words)
    fresh = player().policy(public(state))
    follower = player(threads=3)
    position = state.player_to_act
    for k in range(4, len(words) + 1):
        seen = at(betting(*words[:k]), position)
        (follower.choose if seen.is_turn() else follower.observe)(seen)
    followed = follower.policy(public(state))
    assert followed.actions == fresh.actions
    assert np.array_equal(followed.rows, fresh.rows)
    live = ~np.isin(PAIR_CARDS, public(state).board).any(axis=1)
    np.testing.assert_allclose(fresh.rows[:, live].sum(axis=0), 1.0, atol=1e-6)
    assert not fresh.rows[:, ~live].any()
    taken_up = player()
    taken_up.choose(at(state))  # as at a table: with the buckets of the hand held on all streets so far
    assert taken_up.report.fallbacks == 0


FLOP_LINES = {
    "flop's root": ("c", "c"),
    "a flop bet of its own": ("c", "c", "c", "277"),
    "a raise before the flop of its own": ("270", "c", "c"),
    "a turn behind a searched flop": ("c", "c", "c", "230", "c"),
    "a river behind a searched flop": ("c", "c", "c", "c", "230", "c", "c"),
}


@pytest.mark.parametrize("line", list(FLOP_LINES))
def test_a_searched_flop_is_played_alike_taken_up_or_followed(line):
    """The same bits with another number of threads, and no decision left to the table."""
    words = FLOP_LINES[line]
    state = betting(*words)
    fresh = player(flop="fast").policy(public(state))
    follower = player(flop="fast", threads=2)
    position = state.player_to_act
    for k in range(2, len(words) + 1):
        seen = at(betting(*words[:k]), position)
        (follower.choose if seen.is_turn() else follower.observe)(seen)
    followed = follower.policy(public(state))
    assert followed.actions == fresh.actions
    assert np.array_equal(followed.rows, fresh.rows)
    assert follower.report.fallbacks == 0
    live = ~np.isin(PAIR_CARDS, public(state).board).any(axis=1)
    np.testing.assert_allclose(fresh.rows[:, live].sum(axis=0), 1.0, atol=1e-6)
    assert not fresh.rows[:, ~live].any()


def test_the_turn_begins_with_the_ranges_of_the_searched_flop():
    """A flop row of ours that never checks a hand leaves it out of the turn's range."""
    searching = player(flop="fast")
    state = betting("c", "c", "c", "c")
    searching.policy(public(state))
    flop, turn = (next(iter(searching._kept[street][1].values())) for street in (1, 2))
    expected = flop.ranges()
    for player_, one in enumerate(turn.problem.ranges):
        live = ~np.isin(PAIR_CARDS, public(state).board).any(axis=1)
        np.testing.assert_array_equal(one[live], expected[player_][live])
        assert not one[~live].any()
    assert turn.problem.gadget is not None


def test_a_flop_bet_outside_the_tree_is_added_and_what_we_played_is_frozen():
    searching = player(flop="fast")
    before = searching.policy(public(betting("c", "c")))
    state = betting("c", "c", "c", "277")
    answer = searching.policy(public(state))
    assert answer.actions[1] == Action(CALL)
    (_, kept) = searching._kept[1]
    search = next(iter(kept.values()))
    assert search.added == {(Action(CALL),): (277,)}
    np.testing.assert_array_equal(search.frozen[()], before.rows)


def test_solves_while_the_opponent_is_to_act_are_counted():
    """And the answer is the same as without them."""
    watching, late = player(), player()
    state = betting("c", "c", "c", "c")
    position = 1 - state.player_to_act
    watching.observe(at(state, position))
    assert (watching.report.pondered, watching.report.solves) == (1, 1)
    state.apply(Action(CALL))
    assert watching.choose(at(state)) == late.choose(at(state))
    assert (watching.report.pondered, watching.report.solves) == (1, 1)
    assert (late.report.pondered, late.report.solves) == (0, 1)


def test_a_searched_flop_is_explained():
    searching = player(flop="fast")
    seen = []
    searching.listener = seen.append
    searching.choose(at(betting("c", "c")))
    assert "flop solved from its root" in str(seen[0])


def test_choices_are_drawn_from_the_row_by_the_hands_number():
    searching = player()
    state = betting(*LINES["turn's root"])
    hand = int(np.flatnonzero((sorted(HOLES[state.player_to_act], reverse=True) == PAIR_CARDS).all(axis=1))[0])
    chosen = []
    for number in range(30):
        row = searching.policy(public(state, number)).rows[:, hand]
        action = searching.choose(at(state, number=number))
        assert row[searching.policy(public(state, number)).actions.index(action)] > 0.0
        chosen.append(action)
    assert chosen == [searching.choose(at(state, number=number)) for number in range(30)]
    assert len(set(chosen)) > 1


def test_before_the_turn_the_blueprint_plays():
    searching = player()
    for words in ((), ("c",), ("300", "c"), ("c", "c", "c")):
        state = betting(*words)
        for number in range(5):
            assert searching.choose(at(state, number=number)) == searching.table.choose(at(state, number=number))
    assert searching.report.solves == 0
    assert searching.report.seconds == []


def test_a_bet_outside_the_tree_is_added_and_what_we_played_is_frozen():
    """We check, they bet 277: the row we checked with stays, and the answer is to 277, not to a size near it."""
    searching = player()
    before = searching.policy(public(betting("c", "c", "c", "c")))
    state = betting("c", "c", "c", "c", "c", "277")
    policy = searching.policy(public(state))
    search = searching._kept[2][1][(Action(CALL), Action(RAISE, 277))]
    assert search.added == {(Action(CALL),): (277,)}
    assert search.num_solves == 2
    at_root = search.subgame.strategy(search.subgame.node_at(()))
    np.testing.assert_allclose(at_root, before.rows, atol=1e-6)
    assert Action(CALL) in policy.actions
    spent = search.subgame.states[search.subgame.node_at(search.path)].spent
    assert max(spent) == 277


def test_river_ranges_are_the_turns_ranges_times_what_was_played():
    searching = player(pipeline="threshold(0.2)")
    words = ("c", "c", "c", "c", "300", "c")
    state = betting(*words)
    own, other = state.player_to_act, 1 - state.player_to_act
    searching.policy(public(state))
    turn = next(iter(searching._kept[2][1].values()))
    river = next(iter(searching._kept[3][1].values()))
    bettor = betting(*words[:4]).player_to_act
    rows = {
        bettor: turn.subgame.strategy(turn.subgame.node_at(()))[
            turn.subgame.actions_at(turn.subgame.node_at(())).index(Action(RAISE, 300))
        ],
        1 - bettor: turn.subgame.strategy(turn.subgame.node_at((Action(RAISE, 300),)))[1],
    }
    live = ~np.isin(PAIR_CARDS, BOARD).any(axis=1)
    expected = turn.problem.ranges[other] * rows[other] * live
    np.testing.assert_allclose(river.problem.ranges[other], expected)
    played = river.problem.ranges[own][live] / np.maximum(turn.problem.ranges[own][live], 1e-300)
    below = (played > 0.0) & (played < 0.2 - 1e-6)
    assert not below.any()  # ours is what post-processing left of it
    assert river.problem.menu == turn.problem.menu


@pytest.mark.parametrize("gadget", GADGETS)
def test_every_gadget_plays(gadget):
    searching = player(gadget)
    for line in LINES.values():
        policy = searching.policy(public(betting(*line)))
        assert policy is not None
    assert searching.report.fallbacks == 0


def test_values_of_the_alternative_add_up_to_zero():
    rng = np.random.default_rng(2)
    live = ~np.isin(PAIR_CARDS, BOARD).any(axis=1)
    ranges = (rng.random(NUM_PAIRS) * live, rng.random(NUM_PAIRS) * live)
    values = (rng.random(NUM_PAIRS) * 100 * live, rng.random(NUM_PAIRS) * 300 * live)
    shared = [zero_sum(BOARD, ranges, values, player) for player in (0, 1)]
    assert ranges[0] @ shared[0] == pytest.approx(-float(ranges[1] @ shared[1]))
    meets = RangeShowdown(BOARD).fold(ranges[1])
    taken = (values[0] - shared[0])[live] / meets[live]
    assert np.ptp(taken) < 1e-9  # every hand the same, in chips for each pair of hands


def test_a_decision_takes_as_long_as_its_solve():
    """Not solved while watching, where the reported time would miss it."""
    state = betting(*LINES["turn's root"])
    searching = player()
    searching.observe(at(state))
    assert searching.report.solves == 0
    searching.observe(at(state, 1 - state.player_to_act))
    assert searching.report.solves == 1


def test_out_of_time_the_blueprint_answers_and_says_so_once(caplog):
    searching = player()
    searching.limit_time(1e-9)
    with caplog.at_level(logging.WARNING, "foldwise.search.player"):
        for line in LINES.values():
            state = betting(*line)
            assert searching.choose(at(state)) == searching.table.choose(at(state))
    assert searching.report.fallbacks == len(LINES)
    assert len(caplog.records) == 1
    assert "blueprint" in caplog.text


def test_a_fault_in_a_solve_does_not_stop_the_hand(monkeypatch, caplog):
    def fail(*_, **__):
        raise MemoryError("no memory for a solve")

    monkeypatch.setattr("foldwise.search.street.Subgame", fail)
    searching = player()
    state = betting(*LINES["turn's root"])
    assert searching.choose(at(state)) == searching.table.choose(at(state))
    assert searching.report.fallbacks == 1
    assert "MemoryError" in caplog.text
    monkeypatch.undo()


def test_streets_can_be_left_to_the_blueprint():
    turn, river = betting(*LINES["turn's root"]), betting(*LINES["river's root"])
    only_river = player(turn="off")
    assert only_river.choose(at(turn)) == only_river.table.choose(at(turn))
    assert only_river.report.solves == 0
    only_river.choose(at(river))
    assert only_river.report.solves == 1
    only_turn = player(river="off")
    assert only_turn.choose(at(river)) == only_turn.table.choose(at(river))
    assert only_turn.report.solves == 0


def test_games_without_a_turn_are_refused():
    with pytest.raises(DefinitionError, match=r"search with .*: expected heads-up hold'em"):
        SearchPlayer(made_player(find_definition("leduc"), "f c *"), Pipeline(), SearchSettings())


def test_warming_up_leaves_no_trace():
    searching = player()
    searching.warm_up()
    assert searching.report.solves == 0
    warm = searching.policy(public(betting(*LINES["turn's root"])))
    assert np.array_equal(warm.rows, player().policy(public(betting(*LINES["turn's root"]))).rows)


def test_an_explanation_tells_both_ranges_the_tree_and_the_row():
    searching = player()
    told = []
    searching.listener = told.append
    state = betting(*LINES["a bet of its own"])
    action = searching.choose(at(state))
    text = str(told[0])
    assert told[0].action == action.text(False)
    assert told[0].added == [277]
    assert sum(told[0].postprocessed) == pytest.approx(1.0, abs=1e-6)
    for words in ("turn solved from its root", "added 277", "ours ", "his ", "is worth", "plays "):
        assert words in text
