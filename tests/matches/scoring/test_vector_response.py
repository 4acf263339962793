"""Local best response with all hands at once: known losses, and the mean of single hands on a board."""

import numpy as np
import pytest

from foldwise.game.errors import DefinitionError
from foldwise.game.hands.hole_cards import NUM_PAIRS, pair_number
from foldwise.game.library import find_definition
from foldwise.matches.scoring.local_best_response import LbrSettings, LocalBestResponse
from foldwise.matches.scoring.range_ends import showdown_values
from foldwise.matches.scoring.vector_response import VectorResponse, _Walk
from foldwise.search.ranges import TableRanges
from tests.matches.scoring.test_local_best_response import folding_player
from tests.support.made_strategies import made_player, short_hunl

BOARD = (0, 14, 23, 37, 45)


def test_a_player_who_folds_to_every_bet_loses_750_from_the_turn_on():
    """Lisy and Bowling (2017). Whatever is drawn: the mean over both positions has no deviation."""
    definition = find_definition("hunl")
    response = VectorResponse(TableRanges(folding_player(definition)), definition, LbrSettings("fcpa", 2))
    for number, board in enumerate([BOARD, (1, 2, 3, 50, 51)]):
        values = [response.deal_value(board, position, 2 * number + position) for position in range(2)]
        assert values[0] == pytest.approx(50.0)
        assert values[1] == pytest.approx(100.0)
    assert response.num_roots == 2  # as the small blind it folds at once


@pytest.mark.parametrize("position", [0, 1])
def test_one_board_is_worth_the_mean_of_its_hands(position, monkeypatch):
    """All hands of both players on one full board, against single hands drawn on it.

    Four standard errors of 500 hands; the responder that never bets is 10 of them away.
    """
    definition = short_hunl(500)
    player = made_player(definition, "f c a | f c", seed=3)
    settings = LbrSettings("fcpa", 2)
    response = VectorResponse(TableRanges(player), definition, settings, expand_from=0, rivers=1, run_outs=0, least=0.0)
    monkeypatch.setattr("foldwise.matches.scoring.vector_response.unseen", lambda board: unseen_but(board))
    found = response.deal_value(BOARD, position, 0)
    single = LocalBestResponse(player, settings)
    rng = np.random.default_rng(4)
    left = [card for card in range(52) if card not in BOARD]
    values = [
        single.hand_value((*rng.choice(left, 4, replace=False).tolist(), *BOARD), position, number)
        for number in range(500)
    ]
    error = np.std(values) / np.sqrt(len(values))
    assert found == pytest.approx(np.mean(values), abs=4 * error)


def test_all_ins_before_the_turn_are_averaged_over_the_cards_to_come():
    """Aces against kings: 82% before the flop, and on a flop the mean over its turns."""
    definition = short_hunl(500)
    table = TableRanges(made_player(definition, "f c a | f c", seed=3))
    walk = _Walk(VectorResponse(table, definition, LbrSettings("fcpa", 2), run_outs=1000), BOARD, 0, 0)
    aces, kings = (np.zeros(NUM_PAIRS) for _ in range(2))
    aces[pair_number(48, 49)] = kings[pair_number(44, 46)] = 1.0
    assert walk._run_out(aces, kings, ()) == pytest.approx(2 * 0.82 - 1, abs=0.08)
    flop = BOARD[:3]
    turns = [card for card in range(52) if card not in (*flop, 48, 49, 44, 46)]
    by_turn = [float(aces @ showdown_values((*flop, card), kings)) for card in turns]
    assert walk._run_out(aces, kings, flop) == pytest.approx(np.mean(by_turn))


def unseen_but(board):
    """Only the dealt river is drawn."""
    return [BOARD[4]] if len(board) == 4 else [card for card in range(52) if card not in board]


def test_deals_are_the_same_again_and_in_parts():
    definition = short_hunl(500)
    player = made_player(definition, "f c a | f c", seed=3)
    response = VectorResponse(TableRanges(player), definition, LbrSettings("fcpa", 2))
    deals = np.array([[4, 5, 6, 7, *BOARD], [8, 9, 10, 11, *BOARD]], np.uint8)
    heard = []
    values = response.values(deals, listen=lambda done, _: heard.append(done))
    again = VectorResponse(TableRanges(player), definition, LbrSettings("fcpa", 2))
    assert np.array_equal(values[1:], again.values(deals[1:], first_number=1))
    assert heard == [1, 2]


def test_what_it_cannot_play_is_refused():
    limit = find_definition("limit")
    with pytest.raises(DefinitionError, match="no-limit hold'em"):
        VectorResponse(TableRanges(made_player(limit, "f c *")), limit, LbrSettings("fcpa", 2))
    hunl = short_hunl(500)
    with pytest.raises(DefinitionError, match="expected fc, fcpa, 8 or 56"):
        VectorResponse(TableRanges(made_player(hunl, "f c a | f c")), hunl, LbrSettings("tree", 2))
