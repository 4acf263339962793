"""The clustered two-round game that tests of head and children share."""

import pytest

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.cards.card_abstraction import CardAbstraction
from tests.support.clustered_cards import clustered_cards, clustered_config, clustered_game


@pytest.fixture(scope="module")
def cards() -> CardAbstraction:
    return clustered_cards()


@pytest.fixture(scope="module")
def exact_game(cards: CardAbstraction) -> AbstractGame:
    return clustered_game(clustered_config(), cards)
