"""What a hand makes of a board, in words: cases a player would name at sight, and counts over all hands."""

from collections import Counter

import pytest

from foldwise.game.cards import parse_cards
from foldwise.game.hands.hole_cards import pair_number
from foldwise.game.hands.made_hands import DRAWS, MADE, made_hands


@pytest.mark.parametrize(
    "hand, board, made, draws",
    [
        ("AsAh", "Kd7c2h", "overpair", ()),
        ("AsKh", "Kd7c2h", "top pair", ()),
        ("Ks7h", "Kd7c2h", "two pair", ()),
        ("8s7h", "Kd7c2h", "second pair", ()),
        ("3s2d", "Kd7c2h", "lower pair", ()),
        ("QsQh", "Kd7c2h", "underpair", ()),
        ("7s7h", "Kd7c2h", "set", ()),
        ("9s7h", "7d7c2h", "trips", ()),
        ("AsQh", "Kd7c2h", "ace high", ()),
        ("QsJh", "Kd7c2h", "no pair", ()),
        ("AsKh", "9d9c2h", "ace high", ()),  # the pair is everybody's
        ("2s3h", "9d9c2h", "two pair", ()),
        ("AsKh", "9d9c9h", "ace high", ()),
        ("AsAh", "9d9c9h", "full house", ()),
        ("AhQh", "Kh7h2c", "ace high", ("flush draw",)),
        ("9s8h", "Td7c2h", "no pair", ("open-ended straight draw",)),
        ("9s6h", "Td7c2h", "no pair", ("gutshot",)),
        ("9s5h", "Td7c2h", "no pair", ()),
        ("Js9h", "Td7c2h", "no pair", ("gutshot",)),
        ("JsTd", "9d8c2d", "no pair", ("open-ended straight draw",)),
        ("JdTd", "9d8c2d", "no pair", ("flush draw", "open-ended straight draw")),
        ("Ah4h", "5c3d2s", "straight", ()),
        ("AhKd", "5c4d3s", "ace high", ("gutshot",)),
        ("AhKd", "9c8d7s6h", "ace high", ()),  # an open end of the board's own
        ("AhKd", "9c8d7s6hTc", "ace high", ()),  # the straight is everybody's
        ("JhKd", "9c8d7s6hTc", "straight", ()),
        ("AhKd", "9h8h7h6h2h", "flush", ()),
    ],
)
def test_words_for_a_hand(hand, board, made, draws):
    assert made_hands(parse_cards(board))[pair_number(*parse_cards(hand))] == (made, draws)


def test_every_hand_has_one():
    """On K72 of three suits: 1,176 hands; nine sets, nine of each two pair; eight of top pair for each side card."""
    found = made_hands(parse_cards("Kd7c2h"))
    counts = Counter(one.made for one in found if one is not None)
    assert found.count(None) == 1326 - 1176
    assert sum(counts.values()) == 1176
    assert (counts["set"], counts["two pair"], counts["overpair"]) == (9, 27, 6)
    assert counts["top pair"] == counts["second pair"] == counts["lower pair"] == 3 * 40
    assert set(counts) <= set(MADE)
    assert {draw for one in found if one is not None for draw in one.draws} <= set(DRAWS)
    assert not any(one.draws for one in made_hands(parse_cards("Kd7c2h3s9s")) if one is not None)
