"""What searches change street by street: nothing where they play their tables' rows, and each street on its own roots."""

from dataclasses import replace

import numpy as np
import pytest

from foldwise.game.betting import CALL_ACTION, RAISE, Action, BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.hands.dealing import Shoe
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.matches.scoring import searched_deals
from foldwise.matches.scoring.range_ends import end_value, showdown_on
from foldwise.matches.scoring.searched_deals import RootPlayer, SearchedDeals
from foldwise.matches.scoring.turn_roots import RootMatch, StreetRoot
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.modes import MODES, Budget
from foldwise.search.player import SearchPlayer
from foldwise.search.ranges import TableRanges
from foldwise.search.settings import SearchSettings
from tests.support.made_strategies import made_player, short_hunl

MENU = "f c 1p | f c"


@pytest.fixture
def quick(monkeypatch):
    mode = replace(MODES["fast"], flop=Budget(0.0, 20, 20), turn=Budget(0.0, 4, 4), river=Budget(0.0, 20, 20))
    monkeypatch.setitem(MODES, "fast", mode)


def seat_of(table, settings=None):
    if settings is None:
        return RootPlayer(TableRanges(table), table, TableRanges(table))
    search = SearchPlayer(table, Pipeline(), settings, threads=1)
    search.measure()
    return RootPlayer(search, table, TableRanges(table))


def gains(seats, num_deals=12):
    deals = SearchedDeals(seats, rivers=2, seed=1)
    shoe = Shoe(seats[0].table.definition, 5).deals()
    return [deals.gain(deal, number) for number, deal in zip(range(num_deals), shoe)]


def test_tables_change_nothing():
    table = made_player(short_hunl(1000), MENU, seed=2)
    idle = SearchSettings(turn="off", river="off")
    assert gains((seat_of(table, idle), seat_of(table))) == [0.0] * 12


def test_searches_win_from_random_rows_in_either_seat(quick):
    """With the flop too, and both signs: position 0's gain is what position 1 loses."""
    table = made_player(short_hunl(1000), MENU, seed=2)
    settings = SearchSettings(flop="fast", gadget="unsafe")
    first, second = gains((seat_of(table, settings), seat_of(table))), gains((seat_of(table), seat_of(table, settings)))
    assert np.mean(first) > 30.0 and np.mean(second) < -30.0


def test_each_searched_street_is_a_step_at_its_own_root(quick, monkeypatch):
    """The flop's step lets tables go on behind it; the turn's has the range that the flop's solution left."""
    table = made_player(short_hunl(1000), MENU, seed=2)
    seats = (seat_of(table, SearchSettings(flop="fast", gadget="unsafe")), seat_of(table))
    seen = []

    class Noted(RootMatch):
        def gain(self, root):
            seen.append((root, self.players[0]))
            return 1.0

    monkeypatch.setattr(searched_deals, "RootMatch", Noted)
    found = gains(seats)
    boards = [len(root.board) for root, _ in seen]
    assert found == [sum(1.0 for root, _ in seen if root.number == number) for number in range(12)] and {3, 4} == set(
        boards
    )
    for root, player in seen:
        assert (player is seats[0].agent) == (len(root.board) == 4)
    turn = next(root for root, _ in seen if len(root.board) == 4)
    flop = next(root for root, _ in seen if root.number == turn.number)
    rows = TableRanges(table).follow(turn.betting, turn.board, 0, turn.number).ranges[0]
    left = turn.ranges[0]
    assert not np.allclose(left, rows)  # as solved, not as the table plays
    assert not left[np.isin(PAIR_CARDS, turn.board).any(axis=1)].any()
    assert np.all(left <= flop.ranges[0] + 1e-9)


def test_an_all_in_on_the_flop_is_played_out_on_a_drawn_turn():
    """Over all turns the mean is the exact value; two hands of known equity."""
    betting = BettingState(short_hunl(1000))
    for action in (CALL_ACTION, CALL_ACTION, Action(RAISE, 1000), CALL_ACTION):
        betting.apply(action)
    assert betting.finished and betting.is_showdown()
    flop, ranges = tuple(parse_cards("Ah7d2c")), np.zeros((2, NUM_PAIRS))
    for player, hand in enumerate(("AsAd", "KsKd")):
        cards = sorted(parse_cards(hand))
        ranges[player, [sorted(pair) == cards for pair in PAIR_CARDS.tolist()]] = 1.0
    root = StreetRoot(0, betting, flop, (ranges[0], ranges[1]))
    match = RootMatch((None, None), (None, None), rivers=1)
    assert float(ranges[0] @ showdown_on(flop).fold(ranges[1])) == 1.0
    values = []
    for seed in range(300):
        match.seed = seed
        values.append(match.value(root, (None, None)))
    by_turn = [
        end_value(betting, (*flop, card), (ranges[0], ranges[1]))
        for card in range(52)
        if card not in (*flop, *parse_cards("AsAdKsKd"))
    ]
    exact = np.mean(by_turn)
    deviation = np.std([0.0] * 4 + [49 / 45 * value for value in by_turn])  # four turns clash with the hands
    assert np.mean(values) == pytest.approx(exact, abs=4.0 * deviation / np.sqrt(300))
    assert 900.0 < exact < 1000.0
