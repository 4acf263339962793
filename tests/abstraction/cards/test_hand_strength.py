"""Exact hand strength against brute force with eval7, board by board; the cache; published preflop figures.

The full tables take half a minute, so they are proved in benchmarks/hand_strength.py; here the same kernels fill only
the rows that a few hands need.
"""

import os
from itertools import combinations, permutations
from math import comb
from pathlib import Path

import eval7
import numpy as np
import pytest

from foldwise.abstraction.cards import hand_strength_kernels as kernels
from foldwise.abstraction.cards.boards import RELABELLINGS, boards
from foldwise.abstraction.cards.hand_strength import RUNOUTS, STRENGTH_UNIT, HandStrength, scale
from foldwise.abstraction.storage.array_folder import MANIFEST, load_arrays, save_arrays
from foldwise.game.cards import card_text, parse_cards
from foldwise.game.errors import FormatError
from foldwise.game.hands.evaluator import evaluator_tables, rank_hands
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS, pair_number
from tests.support.places import GOLDEN as GOLDEN_FOLDER

DECK = [eval7.Card(card_text(card)) for card in range(52)]
GOLDEN = GOLDEN_FOLDER / "preflop_strength.txt"


def brute_strength(hand, board) -> float:
    """HS on a full board by comparing with every opponent hand, as eval7 ranks them."""
    rest = [card for card in range(52) if card not in (*hand, *board)]
    ours = eval7.evaluate([DECK[card] for card in (*hand, *board)])
    board_cards = [DECK[card] for card in board]
    score = 0.0
    for opponent in combinations(rest, 2):
        theirs = eval7.evaluate([*board_cards, DECK[opponent[0]], DECK[opponent[1]]])
        score += 1.0 if ours > theirs else 0.5 if ours == theirs else 0.0
    return score / comb(len(rest), 2)


class Tables:
    """Rows of the board tables, filled when needed: zeros elsewhere take no memory."""

    def __init__(self):
        self.strengths = np.zeros((len(boards(5).cards), NUM_PAIRS), np.uint16)
        self.turns = np.zeros((2, len(boards(4).cards), NUM_PAIRS), np.uint32)
        self.flops = np.zeros((2, len(boards(3).cards), NUM_PAIRS), np.uint64)

    def fill_river(self, board) -> None:
        row = hand_index((5,)).index(board)
        if not self.strengths[row].any():
            kernels.river_block(evaluator_tables(), boards(5).cards, PAIR_CARDS, row, row + 1, self.strengths)

    def fill_turn(self, board) -> None:
        row = hand_index((4,)).index(board)
        for card in set(range(52)) - set(board):
            self.fill_river((*board, card))
        kernels.turn_block(boards(4), boards(5), self.strengths, row, row + 1, *self.turns)

    def fill_flop(self, board) -> None:
        row = hand_index((3,)).index(board)
        for card in set(range(52)) - set(board):
            self.fill_turn((*board, card))
        kernels.flop_block(boards(3), boards(4), *self.turns, row, row + 1, *self.flops)

    def of(self, table, hand, board):
        """The entry of (hand, board), found by relabelling suits as the kernels do."""
        rows = boards(len(board))
        place = rows.places[kernels.combination_number(rows.choose, np.array(board), -1)]
        return table[place >> 5, rows.pairs[place & 31, pair_number(*hand)]]


@pytest.fixture(scope="module")
def tables():
    return Tables()


@pytest.mark.parametrize("size, count", [(3, 1755), (4, 16432), (5, 134459)])
def test_boards_reach_their_representatives(size, count):
    rows = boards(size)
    assert len(rows.cards) == count and rows.orbits.sum() == comb(52, size) and (rows.places >= 0).all()
    rng = np.random.default_rng(size)
    for _ in range(200):
        board = rng.choice(52, size, replace=False)
        place = rows.places[kernels.combination_number(rows.choose, board, -1)]
        suits = RELABELLINGS[place & 31]
        assert sorted(4 * (board >> 2) + suits[board & 3]) == sorted(rows.cards[place >> 5])
        hand = rng.choice(np.setdiff1d(np.arange(52), board), 2, replace=False)
        moved = 4 * (hand >> 2) + suits[hand & 3]
        assert rows.pairs[place & 31, pair_number(*hand.tolist())] == pair_number(*moved.tolist())


@pytest.mark.parametrize("board", ["2c7dTh4sKc", "AsKsQsJsTs", "8c8d8h8s2d", "9h8h7h2c2d", "AcAd5h5s9c"])
def test_river_against_eval7(tables, board):
    cards = parse_cards(board)
    tables.fill_river(cards)
    rng = np.random.default_rng(1)
    for hand in (rng.choice(np.setdiff1d(np.arange(52), cards), 2, replace=False).tolist() for _ in range(6)):
        assert tables.of(tables.strengths, hand, cards) / STRENGTH_UNIT == pytest.approx(
            brute_strength(hand, cards), abs=1e-9
        )


def test_river_zero_where_cards_clash(tables):
    cards = parse_cards("2c7dTh4sKc")
    tables.fill_river(cards)
    row = tables.strengths[hand_index((5,)).index(cards)]
    board = boards(5).cards[hand_index((5,)).index(cards)]
    assert (row[np.isin(PAIR_CARDS, board).any(axis=1)] == 0).all()
    # Every showdown between two live hands hands out 2 half points, 990 opponents each.
    assert row.sum() == 1081 * 990


@pytest.mark.parametrize("hand, board", [("AhKh", "Qh7h2c9d"), ("5c5d", "5h6s7s8s"), ("7s2d", "AcKdQh3s")])
def test_turn_against_eval7(tables, hand, board):
    hand, board = parse_cards(hand), parse_cards(board)
    tables.fill_turn(board)
    finals = [brute_strength(hand, (*board, card)) for card in range(52) if card not in (*hand, *board)]
    assert tables.of(tables.turns[0], hand, board) / scale(2, "hs") == pytest.approx(np.mean(finals), abs=1e-9)
    assert tables.of(tables.turns[1], hand, board) / scale(2, "hs2") == pytest.approx(
        np.mean(np.square(finals)), abs=1e-9
    )


def test_flop_against_enumeration(tables):
    """All 1,081 run-outs and 990 opponents of one hand; ranks from our evaluator, which eval7 confirms elsewhere."""
    hand, board = parse_cards("JhTh"), parse_cards("9h8c2d")
    tables.fill_flop(board)
    finals = []
    rest = [card for card in range(52) if card not in (*hand, *board)]
    for runout in combinations(rest, 2):
        full = (*board, *runout)
        others = np.array(list(combinations([card for card in rest if card not in runout], 2)), np.uint8)
        theirs = rank_hands(np.column_stack((np.tile(np.array(full, np.uint8), (len(others), 1)), others)))
        ours = rank_hands(np.array([[*full, *hand]], np.uint8))[0]
        finals.append(((ours > theirs).sum() + 0.5 * (ours == theirs).sum()) / len(others))
    assert tables.of(tables.flops[0], hand, board) / scale(1, "hs") == pytest.approx(np.mean(finals), abs=1e-9)
    assert tables.of(tables.flops[1], hand, board) / scale(1, "hs2") == pytest.approx(
        np.mean(np.square(finals)), abs=1e-9
    )


@pytest.mark.parametrize("cards", ["AsAd2c3c4c", "AsKs2d3h4c", "AsAd2c2d2h", "7h6h5h4h3h", "AsKdQhJcTs9d"])
def test_combinations_in_class(cards):
    hand = np.array(parse_cards(cards))
    relabelled = {
        (tuple(sorted(moved[:2])), tuple(sorted(moved[2:])))
        for suits in permutations(range(4))
        for moved in [[4 * (card >> 2) + suits[card & 3] for card in hand.tolist()]]
    }
    assert kernels.combinations_in_class(hand) == len(relabelled)


def golden_preflop():
    lines = [line.split() for line in GOLDEN.read_text().splitlines() if not line.startswith("#")]
    return {name: tuple(map(int, numbers)) for name, *numbers in lines}


def test_preflop_figures():
    """Against a random hand AA wins 0.8520 and 72o 0.3458, ties half; all hands together win half."""
    rows = golden_preflop()
    assert len(rows) == 169 and sum(mass for mass, _, _ in rows.values()) == 1326
    assert rows["AA"][1] / scale(0, "hs") == pytest.approx(0.8520, abs=1e-4)
    assert rows["72o"][1] / scale(0, "hs") == pytest.approx(0.3458, abs=1e-4)
    assert sum(mass * total for mass, total, _ in rows.values()) * 2 == 1326 * RUNOUTS[0] * STRENGTH_UNIT


def save_small(folder: Path) -> None:
    save_arrays(
        folder, "test", 1, "abc", {"why": "test"}, {"numbers": np.arange(1000), "more": np.ones((3, 4), np.uint8)}
    )


def test_array_folder(tmp_path):
    save_small(tmp_path / "x")
    manifest, arrays = load_arrays(tmp_path / "x", "test", 1)
    assert manifest.fingerprint == "abc" and (arrays["numbers"] == np.arange(1000)).all()
    assert not arrays["numbers"].flags.writeable
    save_small(tmp_path / "x")  # replaces
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    for kind, version in (("other", 1), ("test", 2)):
        with pytest.raises(FormatError, match="build the folder again"):
            load_arrays(tmp_path / "x", kind, version)


def flip_byte(folder: Path) -> None:
    content = bytearray((folder / "strengths.npy").read_bytes())
    content[-5] ^= 1
    (folder / "strengths.npy").write_bytes(content)


def cut_short(folder: Path) -> None:
    content = (folder / "strengths.npy").read_bytes()
    (folder / "strengths.npy").write_bytes(content[: len(content) // 2])


def lose_manifest(folder: Path) -> None:
    (folder / MANIFEST).unlink()


def break_manifest(folder: Path) -> None:
    (folder / MANIFEST).write_text('{"kind": "hand')


@pytest.mark.parametrize("damage", [flip_byte, cut_short, lose_manifest, break_manifest])
def test_damaged_cache_is_rebuilt(tmp_path, monkeypatch, damage):
    made = []

    def make(self):
        made.append(1)
        return np.arange(50, dtype=np.uint16)

    monkeypatch.setattr(HandStrength, "_make_river_boards", make)
    assert HandStrength(tmp_path).river_boards[7] == 7
    assert HandStrength(tmp_path).river_boards[7] == 7
    assert len(made) == 1
    strength = HandStrength(tmp_path)
    damage(strength.folder / "river-boards")
    assert strength.river_boards[7] == 7
    assert len(made) == 2
    assert HandStrength(tmp_path).river_boards[7] == 7
    assert len(made) == 2


def test_interrupted_write_leaves_the_old_folder(tmp_path, monkeypatch):
    save_small(tmp_path / "x")
    before = {path.name: path.read_bytes() for path in (tmp_path / "x").iterdir()}

    def fail(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        save_small(tmp_path / "x")
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in (tmp_path / "x").iterdir()} == before
    load_arrays(tmp_path / "x", "test", 1)
