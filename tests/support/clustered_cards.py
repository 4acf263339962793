"""A hierarchical card abstraction made by hand in a second: flops by their highest card, hands by five-card rank.

Clusters by high card are what hands block most: aces in hand leave few flops with an ace. Buckets on the flop know the
bucket before it, so that a two-round game has exact best responses.
"""

from collections.abc import Mapping

import numpy as np

from foldwise.abstraction.abstract_game import AbstractGame, JointSource, make_abstract_game
from foldwise.abstraction.build import config_tree
from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.card_abstraction import CardAbstraction, StreetAbstraction
from foldwise.abstraction.config import check_config
from foldwise.abstraction.deals.holdem_deals import two_round_joint
from foldwise.game.hands.evaluator import rank_hands
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.library import PokerGame
from foldwise.solver.config import RunConfig

CLUSTER_OF_RANK = (3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 1, 1, 0)  # of the flop's highest card: ace, king or queen, ...
NUM_CLUSTERS = 4


def clustered_cards(num_before: int = 3, num_parts: int = 4) -> CardAbstraction:
    """`num_before` buckets preflop; on the flop each of them in `num_parts`, cluster by cluster."""
    before = hand_index((2,)).unindex_hands(np.arange(169))
    high, low = before.max(axis=1) >> 2, before.min(axis=1) >> 2
    order = np.argsort(np.argsort(2 * high + low + 20 * (high == low), kind="stable"))
    preflop = StreetAbstraction("table", num_before, (2,), table=(order * num_before // 169).astype(np.uint16))

    hands = hand_index((2, 3)).unindex_hands(np.arange(hand_index((2, 3)).size))
    clusters = np.array(CLUSTER_OF_RANK)[boards(3).cards.max(axis=1) >> 2].astype(np.uint16)
    parent = np.array(CLUSTER_OF_RANK)[hands[:, 2:].max(axis=1) >> 2] * num_before
    parent += CardAbstraction([preflop], {}).bucket_hands(0, np.ascontiguousarray(hands[:, :2]))
    ranks = rank_hands(hands).astype(np.int64)
    sorted_hands = np.lexsort((ranks, parent))
    starts = np.searchsorted(parent[sorted_hands], np.arange(NUM_CLUSTERS * num_before))
    sizes = np.bincount(parent, minlength=NUM_CLUSTERS * num_before)
    place = np.empty(len(hands), dtype=np.int64)
    place[sorted_hands] = np.arange(len(hands)) - starts[parent[sorted_hands]]
    table = (parent * num_parts + place * num_parts // sizes[parent]).astype(np.uint16)
    flop = StreetAbstraction("table", NUM_CLUSTERS * num_before * num_parts, (2, 3), table=table)
    return CardAbstraction([preflop, flop], {"made": "by hand"}, clusters)


def clustered_game(config: RunConfig, cards: CardAbstraction) -> AbstractGame:
    """The two-round game of a config, exactly dealt through these cards."""
    game = config.find_game()
    assert isinstance(game, PokerGame)
    joint = two_round_joint(cards)
    assert joint is not None and joint.parents is not None
    return make_abstract_game(config.name, config_tree(config), JointSource(joint), game.unit_chips, cards)


def clustered_config(
    game: str = "two-nl-6", children: int = 2, distributed: Mapping[str, object] | None = None, **solver: object
) -> RunConfig:
    """External sampling with children; further keywords are the solver's."""
    data = {
        "name": game,
        "game": game,
        "solver": {"sampler": "external", **solver},
        "distributed": {"children": children, **(distributed or {})},
    }
    return check_config(data, RunConfig, "test")
