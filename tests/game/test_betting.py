"""Betting rules: the fact sheet's examples, properties of random hands, and the slow oracles."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldwise.game.betting import CALL, CALL_ACTION, FOLD, FOLD_ACTION, RAISE, Action, BettingState
from foldwise.game.definition import GameDefinition, parse_definition
from foldwise.game.errors import IllegalActionError
from foldwise.game.text.match_state import read_action
from tests.oracles.naive_rules import NaiveHand, settle_chip_by_chip
from tests.support.generators import definitions, golden_game, random_action, random_hand
from tests.support.replay import states_of

NOLIMIT = golden_game("holdem.nolimit.2p.reverse_blinds.game")
LIMIT = golden_game("holdem.limit.2p.reverse_blinds.game")
THREE = golden_game("holdem.nolimit.3p.game")
UNEQUAL = golden_game("nolimit.3p.unequal.game")
SHORT = golden_game("nolimit.2p.short.game")
STACKS = golden_game("limit.2p.stacks.game")
LETTERS = {FOLD: "f", CALL: "c", RAISE: "r"}
seeds = st.integers(0, 2**32)


def play(game: GameDefinition, betting: str) -> BettingState:
    """The state after a betting text."""
    return states_of(game, betting)[-1]


# Raise intervals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "betting, player, bounds",
    [
        ("", 1, (200, 20000)),
        ("c", 0, (200, 20000)),
        ("r250", 0, (400, 20000)),
        ("r250r400", 1, (550, 20000)),
        ("cc/", 0, (200, 20000)),
        ("r300c/", 0, (400, 20000)),
        ("r300c/r500", 1, (700, 20000)),
        ("r300c/r500r11000", 0, (20000, 20000)),
        ("r20000", 0, None),
    ],
)
def test_raise_interval_heads_up(betting, player, bounds):
    """ACPC dealer, heads-up no-limit 50/100."""
    state = play(NOLIMIT, betting)
    assert state.player_to_act == player
    assert state.raise_range() == bounds
    for amount in () if bounds is None else bounds:
        assert state.is_legal(Action(RAISE, amount))
    low, high = bounds or (20001, 20000)
    assert not state.is_legal(Action(RAISE, low - 1))
    assert not state.is_legal(Action(RAISE, high + 1))


def test_short_all_in_leaves_the_old_minimum():
    """After `r200 r370` the minimum is 540; a player all-in to 450 leaves it there, so 547 is legal."""
    game = parse_definition(UNEQUAL.to_text().replace("450 1000 3000", "3000 1000 450"))
    state = BettingState(game)
    for text in ("c", "r200", "r370"):  # position 2 limps, 0 and 1 raise
        state.apply(read_action(text, 0, game)[0])
    assert state.min_raise_to == 540
    assert state.player_to_act == 2
    assert state.raise_range() == (450, 450)
    state.apply(Action(RAISE, 450))
    assert state.raise_range() == (540, 3000)
    state.apply(Action(RAISE, 547))
    assert state.min_raise_to == 644


def test_all_in_for_less_than_a_full_raise():
    state = play(SHORT, "r700")
    assert state.raise_range() == (1000, 1000)
    state.apply(Action(RAISE, 1000))
    assert state.raise_range() is None
    assert state.can_fold()


def test_raise_may_exceed_every_other_stack():
    state = play(UNEQUAL, "r3000")
    assert state.player_to_act == 0
    assert state.raise_range() is None  # his 450 cannot raise 3000
    state.apply(CALL_ACTION)
    assert state.spent == [450, 100, 3000]


def test_no_raise_when_nobody_could_call():
    state = play(UNEQUAL, "r1000c")
    assert state.player_to_act == 1
    state.apply(CALL_ACTION)
    assert state.finished  # only position 2 has chips left
    assert state.betting_text() == "r1000cc///"


@pytest.mark.parametrize("game, most", [(NOLIMIT, 63), (THREE, 62)])
def test_cap_on_actions_of_a_round(game, most):
    """Heads-up at most 63 raises in a round; with three players no raise from the 63rd action on."""
    unlimited = parse_definition(game.to_text().replace("20000", "2000000000"))
    state = BettingState(unlimited)
    raises = 0
    while (bounds := state.raise_range()) is not None:
        state.apply(Action(RAISE, bounds[0]))
        raises += 1
    assert raises == most
    assert state.at_action_limit()
    assert not state.is_legal(Action(RAISE, state.min_raise_to))
    with pytest.raises(IllegalActionError, match="where no raise is possible: expected 'c' or f"):
        state.apply(Action(RAISE, state.min_raise_to))
    while state.round == 0:
        state.apply(CALL_ACTION)
    assert state.raise_range() is not None


def test_limit_caps_raises_by_round():
    state = play(LIMIT, "rrr")
    assert state.raise_range() is None
    assert state.spent == [30, 40]
    state = play(LIMIT, "rrrc/rrrr")
    assert state.raise_range() is None
    assert state.spent == [70, 80]
    assert play(LIMIT, "rrrc/rrrrc/").raise_range() == (100, 100)


def test_limit_raise_may_be_short_of_chips():
    state = play(STACKS, "rrrc/rr")
    assert state.raise_range() == (70, 70)
    state.apply(Action(RAISE))
    assert state.raise_range() == (75, 75)
    state.apply(Action(RAISE))
    assert state.spent == [70, 75]
    assert state.raise_range() is None
    state.apply(CALL_ACTION)
    assert state.finished
    assert state.betting_text() == "rrrc/rrrrc//"


# Closing of rounds ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "game, betting, round_index, player, finished",
    [
        (NOLIMIT, "c", 0, 0, False),  # the big blind has his option
        (NOLIMIT, "cc/", 1, 0, False),
        (NOLIMIT, "cc/c", 1, 1, False),
        (NOLIMIT, "cc/cc/cc/cc", 3, -1, True),
        (NOLIMIT, "r20000c///", 3, -1, True),
        (NOLIMIT, "cc/r300f", 1, -1, True),
        (NOLIMIT, "f", 0, -1, True),
        (NOLIMIT, "r300r20000c///", 3, -1, True),
        (THREE, "ff", 0, -1, True),
        (THREE, "fc", 0, 1, False),
        (THREE, "fcc/", 1, 0, False),
        (THREE, "ccc/r300f", 1, 2, False),
        (THREE, "ccc/r300fc/", 2, 0, False),
        (THREE, "r20000cc///", 3, -1, True),
        (UNEQUAL, "r450cc/", 1, 1, False),  # position 0 is all-in and skipped
        (UNEQUAL, "r450cc/cc/", 2, 1, False),
        (UNEQUAL, "r450cc/cr1000c//", 3, -1, True),
        (UNEQUAL, "r450cf///", 3, -1, True),
        (UNEQUAL, "r450cc/r550f//", 3, -1, True),  # the side pot is won, the main pot is dealt out
    ],
)
def test_round_closing(game, betting, round_index, player, finished):
    state = play(game, betting)
    assert (state.round, state.player_to_act, state.finished) == (round_index, player, finished)


def test_blinds_that_put_a_player_all_in():
    game = parse_definition(SHORT.to_text().replace("1000 1000", "100 1000").replace("100 50", "100 200"))
    state = BettingState(game)
    assert state.player_to_act == 1
    assert not state.can_fold()
    assert state.raise_range() is None
    state.apply(CALL_ACTION)
    assert state.finished
    assert state.settle([2, 1]) == [100.0, -100.0]
    assert state.settle([1, 2]) == [-100.0, 100.0]


def test_without_blinds_the_smallest_bet_is_one_chip():
    game = parse_definition(SHORT.to_text().replace("100 50", "0 0"))
    state = BettingState(game)
    assert state.raise_range() == (1, 1000)
    assert not state.can_fold()
    state.apply(CALL_ACTION)
    state.apply(CALL_ACTION)
    assert state.raise_range() == (1, 1000)


# Errors ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "betting, action, message",
    [
        ("c", FOLD_ACTION, "'f' where checking is free: expected 'c' or a raise"),
        ("r250", Action(RAISE, 399), "'r399': expected a raise to between 400 and 20000"),
        ("r250", Action(RAISE, 20001), "'r20001': expected a raise to between 400 and 20000"),
        ("r20000", Action(RAISE, 20000), "'r20000' where no raise is possible: expected 'c' or f"),
        ("f", CALL_ACTION, "'c' after the end of the hand: no action is expected"),
    ],
)
def test_illegal_action_is_explained_and_changes_nothing(betting, action, message):
    state = play(NOLIMIT, betting)
    before = state.copy()
    with pytest.raises(IllegalActionError) as error:
        state.apply(action)
    assert str(error.value) == message
    assert all(getattr(state, name) == getattr(before, name) for name in BettingState.__slots__)


def test_settle_needs_the_end_and_the_ranks():
    with pytest.raises(ValueError, match="before the end"):
        play(NOLIMIT, "c").settle()
    with pytest.raises(ValueError, match="needs the ranks"):
        play(NOLIMIT, "r20000c///").settle()


# Values ---------------------------------------------------------------------------------------------------------------


def test_fold_gives_the_pot_to_the_last_player():
    assert play(NOLIMIT, "r300f").settle() == [-100.0, 100.0]
    assert play(THREE, "r300fr900f").settle() == [-50.0, 350.0, -300.0]
    values = play(THREE, "fr900f").settle()
    assert values == [100.0, -100.0, 0.0]
    assert str(values[2]) == "0.0"  # no negative zero for who put in nothing


def test_heads_up_showdown():
    state = play(NOLIMIT, "r300c/cc/cc/cc")
    assert state.is_showdown()
    assert state.settle([5, 4]) == [300.0, -300.0]
    assert state.settle([4, 4]) == [0.0, 0.0]


def test_side_pots():
    """450 / 1000 / 1000 of 3000: main pot 1350, side pot 1100."""
    state = play(UNEQUAL, "r1000cc///")
    assert state.spent == [450, 1000, 1000]
    assert state.settle([3, 2, 1]) == [900.0, 100.0, -1000.0]
    assert state.settle([1, 3, 2]) == [-450.0, 1450.0, -1000.0]
    assert state.settle([3, 3, 1]) == [225.0, 775.0, -1000.0]
    assert state.settle([3, 1, 1]) == [900.0, -450.0, -450.0]
    assert state.settle([1, 1, 1]) == [0.0, 0.0, 0.0]


def test_uncalled_chips_return():
    state = play(UNEQUAL, "r3000cf///")
    assert state.spent == [450, 100, 3000]
    assert state.settle([1, 9, 2]) == [-450.0, -100.0, 550.0]
    assert state.settle([2, 9, 1]) == [550.0, -100.0, -450.0]


# Properties -----------------------------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(definitions(), seeds)
def test_state_agrees_with_the_oracle(game, seed):
    """Turn, chips, folds, rounds and raise intervals of every state of a random hand, 2 to 10 players."""
    rng = Random(seed)
    state = BettingState(game)
    oracle = NaiveHand(game)
    while True:
        known = oracle.replay()
        assert state.spent == known["spent"]
        assert state.folded == known["folded"]
        assert state.round == known["round"]
        assert state.finished == known["over"]
        assert state.raise_range() == known["raise"]
        assert state.can_fold() == known["fold"]
        if state.finished:
            assert state.player_to_act == -1
            break
        assert state.player_to_act == known["turn"]
        action = random_action(state, rng)
        state.apply(action)
        oracle.play(LETTERS[action.kind], action.raise_to)


@settings(max_examples=150)
@given(definitions(), seeds)
def test_legality_agrees_with_apply(game, seed):
    rng = Random(seed)
    state = BettingState(game)
    while not state.finished:
        tried = [FOLD_ACTION, CALL_ACTION, *(Action(RAISE, rng.randint(-5, 320)) for _ in range(5))]
        for action in tried:
            trial = state.copy()
            legal = state.is_legal(action)
            try:
                trial.apply(action)
            except IllegalActionError:
                assert not legal
                assert trial == state
            else:
                assert legal
                assert trial != state
        state.apply(random_action(state, rng))
    assert not any(state.is_legal(action) for action in (FOLD_ACTION, CALL_ACTION, Action(RAISE, 10)))


@settings(max_examples=200)
@given(definitions(stacks=st.integers(1, 60)), seeds)
def test_values_agree_with_the_oracle(game, seed):
    """Side pots and shares against chips counted one by one; chips conserved; values sum to zero."""
    rng = Random(seed)
    state = random_hand(game, rng)
    ranks = [rng.randint(1, 3) for _ in range(game.num_players)]
    for p in range(game.num_players):
        assert game.blinds[p] <= state.spent[p] <= game.stacks[p]
    if max(state.spent) == 0:
        return
    values = state.settle(ranks if state.is_showdown() else None)
    exact = settle_chip_by_chip(state.spent, state.folded, ranks)
    assert values == pytest.approx([float(value) for value in exact], abs=1e-9)
    assert sum(exact) == 0
    assert sum(values) == pytest.approx(0.0, abs=1e-9)
    for p, value in enumerate(values):
        assert value >= -state.spent[p] - 1e-9
        if state.folded[p]:
            assert value == -state.spent[p]


@settings(max_examples=100)
@given(definitions(), seeds)
def test_text_and_copy_tell_the_whole_hand(game, seed):
    state = random_hand(game, Random(seed))
    again = BettingState(game)
    for actions in state.actions:
        for player, action in actions:
            assert again.player_to_act == player
            before = again.copy()
            again.apply(action)
            assert before != again
    assert again == state
    assert again.betting_text() == state.betting_text()
    assert state.betting_text().count("/") == state.round


def test_settle_oracle_knows_thirds():
    """Four players, one chip each: three share the best hand."""
    assert settle_chip_by_chip([1, 1, 1, 1], [False] * 4, [2, 2, 2, 1]) == [Fraction(1, 3)] * 3 + [Fraction(-1)]


@pytest.mark.parametrize("street", [1, 2, 3])
def test_street_without_a_past(street):
    """The same as after a raise, a call and checks, but for the actions."""
    definition = NOLIMIT
    played = BettingState(definition)
    for action in [Action(RAISE, 700), Action(CALL), *[Action(CALL)] * (2 * street - 2)]:
        played.apply(action)
    state = BettingState.at_street(definition, street, 700)
    for name in BettingState.__slots__:
        if name != "actions":
            assert getattr(state, name) == getattr(played, name), name
    assert state.actions == [[] for _ in range(street + 1)]
