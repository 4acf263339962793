"""Exact best responses: published values of uniform profiles, a textbook oracle, and OpenSpiel, for random policies."""

import numpy as np
import pytest

from foldwise.abstraction.abstract_game import AbstractGame, JointSource, make_abstract_game
from foldwise.abstraction.deals.joint_deals import JointDeals
from foldwise.game.errors import DefinitionError
from foldwise.game.trees.tree_kernels import CHANCE
from foldwise.solver.full_width.vector_game import has_exact_response
from foldwise.solver.response.best_response import ExactResponse
from tests.oracles.naive_solver import (
    best_response,
    expected_value,
    naive_game,
    policy_of_array,
    random_policy,
    row_of,
    small_game,
    uniform_policy,
)


@pytest.mark.parametrize(
    "name, nash_conv, tolerance",
    [
        ("kuhn", 11.0 / 12.0, 1e-12),  # Kuhn (1950); OpenSpiel's uniform policy
        ("leduc", 4.7472, 5e-5),  # Southey et al. (UAI 2005); OpenSpiel's uniform policy
        ("bluff-1-1", 2.0 * 0.7807, 1e-4),  # Gibson et al. (NIPS 2012) print 0.780
    ],
)
def test_uniform_profiles_lose_what_is_published(name: str, nash_conv: float, tolerance: float) -> None:
    game = small_game(name)
    result = ExactResponse(game).exploitability(uniform_policy(game))
    unit = 1000.0 / game.unit_chips
    assert 2.0 * result.exploitability_mbb / unit == pytest.approx(nash_conv, abs=tolerance)
    assert sum(result.best_response_mbb) == pytest.approx(2.0 * result.exploitability_mbb)


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
@pytest.mark.parametrize("share_of_zeros", [0.0, 0.6])
def test_best_responses_and_values_agree_with_the_oracle(name: str, share_of_zeros: float) -> None:
    game = small_game(name)
    naive = naive_game(game)
    exact = ExactResponse(game)
    unit = 1000.0 / game.unit_chips
    for seed in range(4):
        array = random_policy(game, seed, share_of_zeros)
        policy = policy_of_array(game, naive, array)
        result = exact.exploitability(array)
        for player in range(2):
            value, _ = best_response(naive, policy, player)
            assert result.best_response_mbb[player] / unit == pytest.approx(value, abs=1e-12)
        assert result.value_mbb / unit == pytest.approx(expected_value(naive, policy, 0), abs=1e-12)


def card_ranks(game: AbstractGame, street: int, bucket: int) -> tuple[int, ...]:
    """The ranks a bucket of Kuhn or Leduc has seen: the private card, then the board.

    Buckets are numbered by private rank on the first street. The board shows in what the opponent can still hold: of
    each rank there are two cards, less those seen.
    """
    joint = game.deals.joint
    assert joint is not None
    if street == 0:
        return (bucket,)
    here = joint.buckets[:, 0, street] == bucket
    private = int(joint.buckets[here, 0, 0][0])
    left = np.bincount(joint.buckets[here, 1, 0], joint.probability[here], minlength=3)
    left = np.rint(4.0 * left / left.sum())
    board = [rank for rank in range(3) if left[rank] == 2 - (rank == private) - 1]
    assert len(board) == 1
    return private, board[0]


@pytest.mark.parametrize("name, spiel_name", [("kuhn", "kuhn_poker"), ("leduc", "leduc_poker")])
def test_exploitability_agrees_with_openspiel(name: str, spiel_name: str) -> None:
    """Both trees are walked together, so rules, deals and payoffs are compared as well."""
    pyspiel = pytest.importorskip("pyspiel")
    game = small_game(name)
    nodes = game.tree.nodes
    spiel = pyspiel.load_game(spiel_name)
    bucket_of = [
        {card_ranks(game, street, b): b for b in range(game.deals.num_buckets[street, 0])}
        for street in range(game.num_streets)
    ]
    cards_of_rank = 1 if name == "kuhn" else 2
    places: dict[str, tuple[int, list[int]]] = {}  # infostate -> our entry, its actions

    def pair(state: object, at: int, cards: list[int]) -> None:
        if state.is_terminal():
            return
        if state.is_chance_node():
            if nodes[at]["kind"] == CHANCE:
                at = int(nodes[at]["first_child"])
            for card, _ in state.chance_outcomes():
                pair(state.child(card), at, [*cards, card // cards_of_rank])
            return
        player, street = state.current_player(), int(nodes[at]["street"])
        assert player == nodes[at]["player"]
        seen = (cards[player], *cards[2:])
        entry, n = row_of(game, (at, bucket_of[street][seen]))
        actions = state.legal_actions()
        assert len(actions) == n
        places[state.information_state_string()] = (entry, actions)
        for a, action in enumerate(actions):
            pair(state.child(action), int(nodes[at]["first_child"]) + a, cards)

    pair(spiel.new_initial_state(), 0, [])
    exact = ExactResponse(game)
    for seed in range(3):
        array = random_policy(game, seed)
        table = {key: list(zip(actions, array[entry:])) for key, (entry, actions) in places.items()}
        theirs = pyspiel.nash_conv(spiel, table)
        ours = exact.exploitability(array)
        assert 2.0 * ours.exploitability_mbb * game.unit_chips / 1000.0 == pytest.approx(theirs, abs=1e-9)


def test_a_game_whose_buckets_forget_has_no_exact_response() -> None:
    leduc = small_game("leduc")
    joint = leduc.deals.joint
    assert joint is not None and has_exact_response(leduc)
    forgetful = JointDeals(joint.buckets.copy(), joint.outcome_row, joint.probability, joint.outcomes)
    forgetful.buckets[:, :, 1] = 0
    game = make_abstract_game("forgetful", leduc.tree, JointSource(forgetful), 1)
    assert not has_exact_response(game)
    with pytest.raises(DefinitionError, match="no exact best response"):
        ExactResponse(game)
