"""AIVAT by asking players for rows: the same as by tables where tables can say it, and unbiased where a player searches."""

from dataclasses import replace

import numpy as np
import pytest

from foldwise.game.betting import BettingState
from foldwise.game.errors import FormatError
from foldwise.game.hands.dealing import Shoe
from foldwise.game.hands.payoffs import payoffs
from foldwise.game.text.match_state import view
from foldwise.matches.scoring.aivat import RangeScorer
from foldwise.matches.scoring.aivat_rows import RowsScorer, rows_player, score_both
from foldwise.matches.scoring.aivat_values import fit_values
from foldwise.matches.table.log import LoggedHand
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.modes import MODES, Budget
from foldwise.search.player import SearchPlayer
from foldwise.search.settings import SearchSettings
from tests.support.made_strategies import made_player, short_hunl

MENU = "f c 1p | f c"


def played(players, num_hands, seed=4):
    """Hands between two players, who change places after every hand; and the first one's position in each."""
    definition = players[0].definition
    for number, deal in zip(range(num_hands), Shoe(definition, seed).deals()):
        position = number % 2
        seats = players if position == 0 else players[::-1]
        betting = BettingState(definition)
        while not betting.finished:
            state = view(betting, deal.hole_cards, deal.board, betting.player_to_act, number)
            betting.apply(seats[betting.player_to_act].choose(state))
        values = tuple(float(value) for value in payoffs(betting, deal.hole_cards, deal.board))
        board = deal.board if betting.is_showdown() else deal.board[: definition.board_sizes[betting.round]]
        yield LoggedHand(number, betting, deal.hole_cards, tuple(board), values, ("A", "B")), position


@pytest.mark.parametrize("knows_both", [False, True])
def test_as_by_tables(knows_both):
    """Where nothing is translated there is one way to read a hand, and both scorers must say the same of it."""
    definition = short_hunl(1000)
    known, other = (
        made_player(definition, MENU, seed=2),
        made_player(definition, MENU, seed=5, pipeline="threshold(0.2)"),
    )
    values = fit_values(definition, known.seat, known.lookup, num_boards=2)
    tables = RangeScorer(definition, known, values, other if knows_both else None)
    asked = RowsScorer(definition, rows_player(known), values, rows_player(other) if knows_both else None)
    found = [
        (tables.score(hand, position), asked.score(hand, position)) for hand, position in played((known, other), 12)
    ]
    assert np.array([one for _, one in found]) == pytest.approx(np.array([one for one, _ in found]), abs=1e-4)
    assert np.std([one for one, _ in found]) > 1.0


def test_searching_player(monkeypatch):
    """The mean is that of chips within four standard errors of the difference, and most of the luck is gone."""
    mode = replace(MODES["fast"], turn=Budget(0.0, 2, 2), river=Budget(0.0, 5, 5))
    monkeypatch.setitem(MODES, "fast", mode)
    definition = short_hunl(1000)
    table = made_player(definition, MENU, seed=2)
    searching = SearchPlayer(table, Pipeline(), SearchSettings(), threads=1)
    hands = list(played((searching, table), 40))
    values = fit_values(definition, table.seat, table.lookup, num_boards=2)
    score = score_both(definition, (rows_player(searching), rows_player(table)), (values, values))
    scores = np.array([score(hand, position) for hand, position in hands])
    chips = np.array([hand.values[position] for hand, position in hands])
    error = np.std(scores - chips) / np.sqrt(len(hands))
    assert abs((scores - chips).mean()) < 4.0 * error
    assert np.std(scores) < 0.8 * np.std(chips)
    assert searching.report.fallbacks == 0


def test_a_hand_the_player_never_plays_is_refused():
    definition = short_hunl(1000)
    known, other = made_player(definition, MENU, seed=2), made_player(definition, "f c 0.6p | f c", seed=5)
    values = fit_values(definition, known.seat, known.lookup, num_boards=2)
    scorer = RowsScorer(definition, rows_player(known), values)
    with pytest.raises(FormatError, match="never played"):
        for hand, position in played((other, other), 20):
            scorer.score(hand, position)
