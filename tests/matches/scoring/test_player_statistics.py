"""Style statistics, counted by hand."""

import pytest

from foldwise.game.library import find_definition
from foldwise.matches.scoring.player_statistics import player_statistics
from foldwise.matches.table.log import parse_state_line

HUNL = find_definition("hunl")
HANDS = [
    # Bob, on the button, limps; Ann checks; checked down: Bob's chips were voluntary, Ann's blind was not.
    "STATE:0:cc/cc/cc/cc:2c3d|AhAd/4s9h8c/Jd/Qs:-100|100:Ann|Bob",
    # Ann raises, Bob folds.
    "STATE:1:r300f:5c5d|KhKd:-100|100:Bob|Ann",
    # Bob raises, Ann calls; Ann bets the flop, Bob raises it, Ann calls; turn and river are checked.
    "STATE:2:r300c/r600r1500c/cc/cc:TcTd|7h2d/Ts9h8c/Jd/Qs:1500|-1500:Ann|Bob",
    # Ann limps, Bob raises, Ann folds.
    "STATE:3:cr400f:QcQd|4h4d:100|-100:Bob|Ann",
]


def test_counts():
    ann, bob = player_statistics(parse_state_line(line, HUNL) for line in HANDS)
    assert (ann.name, ann.hands, bob.hands) == ("Ann", 4, 4)
    assert (ann.voluntary, bob.voluntary) == (3, 3)
    assert (ann.raised_first, bob.raised_first) == (1, 2)
    assert (ann.later_bets, ann.later_calls) == (1, 1)
    assert (bob.later_bets, bob.later_calls) == (1, 0)
    assert (ann.saw_second, ann.showdowns, ann.won_showdowns) == (2, 2, 1)
    assert (ann.chips, bob.chips) == (1400.0, -1400.0)
    shown = ann.record(100)
    assert shown["vpip"] == pytest.approx(0.75)
    assert shown["pfr"] == pytest.approx(0.25)
    assert shown["aggression"] == pytest.approx(1.0)
    assert shown["wtsd"] == pytest.approx(1.0)
    assert shown["mean_mbb"] == pytest.approx(3500.0)
    assert bob.record(100)["aggression"] is None


def test_blinds_alone_are_not_voluntary():
    (one, other) = player_statistics([parse_state_line("STATE:0:f:2c3d|AhAd:50|-50:Ann|Bob", HUNL)])
    assert (one.voluntary, other.voluntary, one.saw_second) == (0, 0, 0)
    assert one.record(100)["wtsd"] is None
