"""The tracker against a slow reading of its rules on wild hands, and each rule by a hand made for it."""

import random

import numpy as np
import pytest

from foldwise.agent.following.tracker import Tracker, abstract_history
from foldwise.game.betting import CALL, FOLD, RAISE, Action, BettingState
from foldwise.game.betting_kernels import (
    FINISHED,
    FOLDED,
    LARGEST,
    MAX_SPENT,
    NUM_FIELDS,
    PLAYER,
    SMALLEST,
    SPENT,
    STREET,
    apply,
    start_hand,
    to_call,
)
from foldwise.game.definition import GameDefinition
from foldwise.game.hands.dealing import Shoe
from foldwise.game.library import find_definition
from foldwise.game.text.match_state import view
from foldwise.game.trees.table_rules import table_rules
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.postprocess.language import parse_pipeline
from tests.oracles.naive_tracker import NaiveTracker
from tests.support.made_strategies import StandInBuckets, made_seat, short_hunl

MENUS = {
    "usual": ("f c 0.5p 1p a | f c 1p a | f c a | f c",),
    "one raise": ("f c 1p | f c",),
    "no raises": ("f c",),
    "all-in only": ("f c a",),
    "small sizes": ("f c 0.1p 0.2p 0.3p | f c 0.1p 0.2p | f c 0.1p 0.2p",),
    "raises preflop only": ("f c 1p 3p a", "f c", "f c", "f c"),
    "capped limit": ("f c * | f c * | f c",),
    "two a street": ("f c 0.4p a | f c 2p", "f c 0.7p | f c 0.7p", "f c 2p a | f c", "f c 1p | f c 3p | f c"),
}


def wild_action(betting: BettingState, rng: random.Random, style: float) -> Action:
    """Raises of every kind: smallest, largest, just below all-in, a few chips more than the least, anything."""
    bounds = betting.raise_range()
    if bounds is not None and rng.random() < style:
        low, high = bounds
        sizes = [low, low, high, max(low, high - 1), min(high, low + rng.randrange(5)), rng.randint(low, high)]
        return Action(RAISE, rng.choice(sizes))
    return Action(FOLD) if betting.can_fold() and rng.random() < 0.1 else Action(CALL)


def play_wild_hands(definition, seat, pipeline, num_hands, seed, check):
    """Hands of a strategy against a wild opponent; `check(state, node, action, buckets)` at each decision."""
    rng = random.Random(seed)
    tracker = Tracker(seat, definition)
    lookup = StandInBuckets()
    deals = Shoe(definition, seed).deals()
    decisions = 0
    for number in range(num_hands):
        deal = next(deals)
        betting = BettingState(definition)
        position = rng.randrange(2)
        style = rng.choice([0.3, 0.7, 0.95])
        while not betting.finished:
            if betting.player_to_act != position:
                betting.apply(wild_action(betting, rng, style))
                continue
            state = view(betting, deal.hole_cards, deal.board, position, number)
            sizes = definition.board_sizes[: betting.round + 1]
            buckets = [lookup.bucket(state.hole_cards[position], state.board[:size]) for size in sizes]
            node, _, action = tracker.answer(betting, position, number, buckets)
            check(state, node, action, buckets)
            betting.apply(action)  # refuses what is illegal
            decisions += 1
    return decisions


@pytest.mark.parametrize("name", MENUS)
def test_wild_hands_agree_with_the_slow_rules(name):
    definition = find_definition("limit") if name == "capped limit" else short_hunl()
    text = "threshold(0.1) except first+turn"
    seat = made_seat(definition, *MENUS[name], pipeline=text, seed=5)
    naive = NaiveTracker(seat, parse_pipeline(text))

    def check(state, node, action, buckets):
        record = seat.tree.nodes[node]
        assert (record["kind"], record["player"], record["street"]) == (DECISION, state.position, state.betting.round)
        expected = naive.answer(state.betting, state.position, state.hand_number, buckets)
        assert (node, action) == expected

    assert play_wild_hands(definition, seat, text, 400, 11, check) > 400


@pytest.mark.parametrize("game", ["kuhn", "leduc", "limit", "two-limit-4"])
def test_limit_games_are_followed_exactly(game):
    """No translation: the abstract betting is the real one."""
    definition = find_definition(game)
    seat = made_seat(definition, "f c *", dtype=np.float64)

    def check(state, node, action, buckets):
        betting = state.betting
        text = "/".join("".join(a._replace().text(False) for _, a in part) for part in betting.actions)
        assert abstract_history(seat.tree, node) == text

    assert play_wild_hands(definition, seat, "none", 200, 3, check) > 150


def test_without_drift_the_abstract_amounts_are_played():
    """Two copies of one abstraction never drift: every node's betting is the real betting."""
    definition = short_hunl()
    seats = [made_seat(definition, *MENUS["usual"], seed=seed) for seed in (1, 2)]
    trackers = [Tracker(seat, definition) for seat in seats]
    for number in range(300):
        betting = BettingState(definition)
        while not betting.finished:
            player = betting.player_to_act
            node, _, action = trackers[player].answer(betting, player, number, [player + betting.round] * 4)
            assert abstract_history(seats[player].tree, node) == betting.betting_text()
            betting.apply(action)


def play(definition: GameDefinition, text: str) -> BettingState:
    """A betting state from ACPC text without the slashes."""
    betting = BettingState(definition)
    at = 0
    while at < len(text):
        end = at + 1
        while end < len(text) and text[end].isdigit():
            end += 1
        letter, digits = text[at], text[at + 1 : end]
        betting.apply(Action("fcr".index(letter), int(digits or 0)))
        at = end
    return betting


def locate(texts, betting_text, seed=1, stack=20000):
    definition = short_hunl(stack)
    seat = made_seat(definition, *texts, seed=seed)
    betting = play(definition, betting_text)
    tracker = Tracker(seat, definition)
    answer = tracker.answer(betting, betting.player_to_act, 0, [0] * 4)
    return abstract_history(seat.tree, answer.node), tracker.steps(betting), answer, tracker


@pytest.mark.parametrize(
    "texts, real, abstract",
    [
        # Beyond the largest: the largest.
        (("f c 1p | f c",), "r5000", "r300"),
        # Below the smallest: a check where the street stays open; with these sizes its chance is 0.98.
        (("f c 200p", "f c 90p", "f c 90p", "f c 90p"), "ccr200", "cc/c"),
        # Below the smallest where a check would close the street: the smallest.
        (("f c 3p | f c",), "cccr200", "cc/cr700"),
        # Past the cap: the small blind's second raise takes the place of his first one.
        (("f c 1p | f c 1p | f c",), "r300r900r2700", "r300"),
    ],
)
def test_readings(texts, real, abstract):
    history, *_ = locate(texts, real)
    assert history == abstract


def test_min_raise_war_past_the_cap_keeps_a_node():
    betting_text = "".join(f"r{200 + 100 * i}" for i in range(40))
    history, steps, *_ = locate(("f c 1p | f c 1p | f c",), betting_text)
    assert history == "r300r900"  # the opponent's last raise, read at his first node; what came between is forgotten
    assert len(steps) == 40


def test_raise_past_the_cap_against_our_first_bet_is_a_bet_into_our_check():
    """One raise a street: we bet the flop first and are raised."""
    history, *_ = locate(("f c 1p | f c",), "ccr300r900")
    assert history == "cc/cr300"


def test_street_without_raises_is_answered_from_our_first_node():
    history, *_ = locate(("f c 1p", "f c", "f c", "f c"), "cccr500")
    assert history == "cc/"


def test_called_abstract_all_in_goes_on_behind_the_largest_open_bet():
    """A raise to 9000 of 20000 is read as all-in for some draws; after the call chips are left, and so is the tree."""
    seen = set()
    for seed in range(40):
        history, steps, *_ = locate(("f c 1p a | f c a | f c",), "r9000c", seed=seed)
        seen.add(steps[0].larger == steps[0].smaller)
        assert history == "r300c/"
    assert seen == {False}


def test_called_abstract_all_in_without_open_bets_is_a_call():
    history, *_ = locate(("f c a",), "r9000c")
    assert history == "cc/"


def test_all_in_below_a_minimum_raise_is_read_by_its_size():
    """Stacks of 1000: after r900 an all-in to 1000 is legal though the least raise would be to 1700."""
    history, steps, *_ = locate(("f c 1p 4p a",), "r900r1000", stack=1000)
    assert history.startswith("r")
    assert steps[1].smaller != steps[1].larger or steps[1].chance == 1.0


@pytest.mark.parametrize(
    "amount_pots, real, expected",
    [
        ("1p", "cr400", 1200),  # real pot 800 after the call, abstract pot smaller or larger: one real pot
        ("0.1p", "cr400", 700),  # below the least raise: the least raise
        ("3p", "cr4000", 20000),  # 28000 is beyond the stack
        ("1.8p", "cr4000", 20000),  # 18400 is nine tenths of the stack
        ("1.7p", "cr4000", 17600),
    ],
)
def test_own_bets_are_shares_of_the_real_pot(amount_pots, real, expected):
    """The small blind limps, the big blind raises, and our re-raise is turned into chips at a drifted node."""
    _, _, answer, tracker = locate((f"f c {amount_pots} | f c {amount_pots} | f c",), real, stack=20000)
    tree = tracker.seat.tree
    spent = int(tree.spent[answer.node].max())
    assert spent != int(real[2:])  # drifted
    assert tracker.real_actions(answer.node)[2] == Action(RAISE, expected)


def test_betting_kernel_follows_the_rules():
    """Random hands of every kind of game: the compiled betting state equals the Python one after each action."""
    rng = random.Random(2)
    hand = np.zeros(NUM_FIELDS, np.int64)
    for definition in (short_hunl(900), short_hunl(20000), *map(find_definition, ("kuhn", "leduc", "limit"))):
        rules = table_rules(definition)
        for _ in range(300):
            betting = BettingState(definition)
            start_hand(rules, hand)
            while True:
                assert bool(hand[FINISHED]) == betting.finished
                assert hand[SPENT : SPENT + 2].tolist() == betting.spent
                if betting.finished:
                    assert (hand[FOLDED] >= 0) == any(betting.folded)
                    break
                bounds = betting.raise_range() or (0, 0)
                assert (hand[PLAYER], hand[STREET]) == (betting.player_to_act, betting.round)
                assert (hand[SMALLEST], hand[LARGEST], hand[MAX_SPENT]) == (*bounds, betting.max_spent)
                assert (to_call(rules, hand) > 0) == betting.can_fold()
                action = wild_action(betting, rng, 0.6)
                betting.apply(action)
                apply(rules, hand, action.kind, action.raise_to)
