"""Local best response: against a player whose loss is known, against a slow oracle, and below exact best responses."""

from itertools import combinations

import numpy as np
import pytest

from foldwise.abstraction.deals.joint_deals import EnumeratedViews
from foldwise.agent.following.tracker import make_seat
from foldwise.agent.mappings.translation import Translation
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.betting import BettingState
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.dealing import Shoe
from foldwise.game.library import find_definition
from foldwise.game.trees.tree import FOLD_CODE
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.matches.scoring.local_best_response import BET_SETS, LbrSettings, LocalBestResponse, bet_set, parse_street
from foldwise.matches.statistics import estimate
from foldwise.postprocess.language import parse_pipeline
from foldwise.solver.response.best_response import ExactResponse
from tests.oracles.naive_lbr import NaiveResponder
from tests.oracles.naive_solver import random_policy, small_game
from tests.support.made_strategies import (
    NUM_BUCKETS,
    StandInBuckets,
    made_player,
    made_seat,
    short_hunl,
    tree_with_rows,
)


class OneBucket:
    """A strategy that does not look at its cards."""

    def bucket(self, hand: object, board: object = ()) -> int:
        return 0

    def bucket_hands(self, street: int, hands: np.ndarray) -> np.ndarray:
        return np.zeros(len(hands), np.int64)


def folding_player(definition: GameDefinition) -> StrategyPlayer:
    """Folds to every bet, checks where there is none."""
    tree = tree_with_rows(definition, "f c 1p a | f c")
    rows = np.zeros(NUM_BUCKETS * int(tree.nodes["num_children"][tree.nodes["kind"] == DECISION].sum()))
    for node in np.flatnonzero(tree.nodes["kind"] == DECISION):
        count = int(tree.nodes[node]["num_children"])
        rows[int(tree.nodes[node]["base"]) + count * np.arange(NUM_BUCKETS)] = 1.0  # the first: fold, or else check
    assert tree.action[tree.nodes[0]["first_child"]] == FOLD_CODE
    return StrategyPlayer(make_seat(tree, rows, definition, parse_pipeline("none"), 0), definition, OneBucket())


def test_a_player_who_folds_to_every_bet_loses_750_from_the_turn_on() -> None:
    """Lisy and Bowling (2017): the small blind folds at once, the big blind checks to the turn and folds there."""
    definition = find_definition("hunl")
    response = LocalBestResponse(folding_player(definition), LbrSettings("fcpa", parse_street(definition, "turn")))
    values = response.values(Shoe(definition, 3).cards(40), threads=2)
    found = estimate(values.mean(axis=1), definition.big_blind)
    assert (found.mean_mbb, found.ci95_mbb) == (750.0, 0.0)


def test_a_player_who_folds_to_every_bet_loses_250_without_bets() -> None:
    """The big blind, who is never bet into, checks down: over all hands on a board nobody wins that."""
    definition = find_definition("hunl")
    response = LocalBestResponse(folding_player(definition), LbrSettings("fc", 0, samples=150))
    board = (0, 14, 23, 37, 45)
    left = [card for card in range(52) if card not in board]
    values = []
    for number, own in enumerate(combinations(left, 2)):
        other = [card for card in left if card not in own][:2]
        values.append(response.hand_value((*other, *own, *board), 1, number))
    assert len(values) == 1081
    assert max(abs(value) for value in values) > 50.0
    assert np.mean(values) == pytest.approx(0.0, abs=1e-9)
    assert response.hand_value((*left[:4], *board), 0, 0) == 50.0
    assert (50.0 + np.mean(values)) / 2 * 1000 / definition.big_blind == pytest.approx(250.0)


def leduc_player(seed: int) -> tuple[StrategyPlayer, object, np.ndarray]:
    game = small_game("leduc")
    policy = random_policy(game, seed, 0.3)
    definition = find_definition("leduc")
    seat = make_seat(game.tree, policy, definition, parse_pipeline("none"), seed)
    return StrategyPlayer(seat, definition, EnumeratedViews(definition, suits_matter=False)), game, policy


def one_raise(betting: BettingState) -> list[int]:
    bounds = betting.raise_range()
    return [bounds[1]] if bounds is not None else []


@pytest.mark.parametrize("seed", range(2))
def test_leduc_hands_agree_with_the_oracle(seed: int) -> None:
    player, _, _ = leduc_player(seed)
    definition = player.definition
    response = LocalBestResponse(player, LbrSettings("fcpa", 0))
    for number, cards in enumerate(Shoe(definition, seed).cards(40).tolist()):
        for position in range(2):
            naive = NaiveResponder(player, one_raise, number=2 * number + position)
            expected = naive.replay(cards, position)
            assert response.hand_value(cards, position, 2 * number + position) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_leduc_responses_stay_below_the_exact_one(seed: int) -> None:
    """Both without chance: the responder over all deals and all that the opponent may do."""
    player, game, policy = leduc_player(seed)
    exact = ExactResponse(game).exploitability(policy).best_response_mbb
    for position in range(2):
        naive = NaiveResponder(player, one_raise)
        value = 1000.0 * np.mean([naive.expected(position, (card,)) for card in player.definition.deck])
        gap = exact[position] - value
        assert gap > -1e-9
        assert value > 0.5 * exact[position]  # a bound worth having: random play loses about two units


def test_leduc_mean_of_many_hands_is_the_expectation() -> None:
    player, _, _ = leduc_player(0)
    response = LocalBestResponse(player, LbrSettings("fcpa", 0))
    values = response.values(Shoe(player.definition, 5).cards(4000), threads=2)
    for position in range(2):
        naive = NaiveResponder(player, one_raise)
        expected = np.mean([naive.expected(position, (card,)) for card in player.definition.deck])
        found = estimate(values[:, position], 1000.0)
        assert abs(found.mean_mbb - expected) < 2.0 * found.ci95_mbb  # four standard errors


def pot_and_all_in(betting: BettingState) -> list[int]:
    bounds = betting.raise_range()
    if bounds is None:
        return []
    return sorted({min(max(3 * betting.max_spent, bounds[0]), bounds[1]), bounds[1]})


@pytest.mark.parametrize("pipeline", ["none", "purify"])
def test_river_play_agrees_with_the_oracle(pipeline: str) -> None:
    """Real betting against a translated, post-processed strategy; deterministic, as the oracle asks."""
    definition = short_hunl(1500)
    translation = Translation(randomised=False)
    seat = made_seat(definition, "f c 0.7p a | f c 1p | f c", seed=4, pipeline=pipeline, translation=translation)
    player = StrategyPlayer(seat, definition, StandInBuckets())
    response = LocalBestResponse(player, LbrSettings("fcpa", 3))
    compared = 0
    for number, cards in enumerate(Shoe(definition, 8).cards(14).tolist()):
        position = number % 2
        naive = NaiveResponder(player, pot_and_all_in, from_street=3, number=number)
        value = response.hand_value(cards, position, number)
        assert value == pytest.approx(naive.replay(cards, position), abs=1e-6)
        compared += value not in (-100.0, -50.0, 50.0, 100.0)
    assert compared > 3


def test_values_do_not_depend_on_threads_or_order() -> None:
    definition = short_hunl(2000)
    player = made_player(definition, "f c 0.5p 1p a | f c a", seed=2, pipeline="new(0.2)")
    deals = Shoe(definition, 1).cards(12)
    response = LocalBestResponse(player, LbrSettings("56", 2))
    whole = response.values(deals, threads=2)
    parts = [response.values(deals[:5], 1), response.values(deals[5:], 1, first_number=5)]
    assert np.array_equal(whole, np.concatenate(parts))
    assert np.unique(whole).size > 6


def test_more_bets_are_considered_in_the_larger_set() -> None:
    """All sets play; without raises less is won from a player who folds too much."""
    definition = short_hunl(2000)
    player = folding_player(definition)
    deals = Shoe(definition, 2).cards(6)
    means = {bets: LocalBestResponse(player, LbrSettings(bets, 2)).values(deals, 1).mean() for bets in BET_SETS}
    assert means["fcpa"] == means["8"] == means["56"] == means["tree"] == 75.0
    assert means["fc"] < 75.0


def test_eight_of_the_56_sizes() -> None:
    few, many = bet_set("8"), bet_set("56")
    assert len(few.fractions) + few.all_in == 8 and len(many.fractions) + many.all_in == 56
    assert set(few.fractions) < set(many.fractions) and np.all(np.diff(few.fractions) > 0)


def test_settings_are_checked() -> None:
    with pytest.raises(DefinitionError, match="fcpa"):
        LbrSettings("fcp", 2)
    with pytest.raises(DefinitionError, match="preflop, flop"):
        parse_street(find_definition("leduc"), "turn")
