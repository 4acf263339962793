"""Random hands beside two independent engines; `benchmarks/rules_oracles.py --hands 10000` is the long run."""

import warnings
from random import Random

import pytest

from benchmarks.rules_oracles import load_universal_poker, play_beside_pokerkit, play_beside_universal_poker
from tests.support.generators import golden_game


def test_no_limit_agrees_with_pokerkit():
    """Legality with the exact raise interval, pots and results of heads-up hands, stacks equal and unequal."""
    rng = Random(20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        states = sum(play_beside_pokerkit(rng) for _ in range(200))
    assert states > 1000


@pytest.mark.parametrize(
    "name, hands",
    [
        ("holdem.limit.2p.reverse_blinds.game", 400),
        ("leduc.limit.2p.game", 200),
        ("holdem.limit.3p.game", 200),
        ("kuhn.limit.3p.game", 100),
        ("ties.limit.4p.game", 200),
    ],
)
def test_limit_agrees_with_universal_poker(name, hands):
    definition = golden_game(name)
    game = load_universal_poker(definition)
    rng = Random(21)
    states = sum(play_beside_universal_poker(game, definition, rng) for _ in range(hands))
    assert states > 3 * hands
