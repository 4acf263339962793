"""How large the abstract game of a config is, found before any long work starts."""

from dataclasses import dataclass

import numpy as np

from foldwise.abstraction.build import config_cards, config_tree
from foldwise.abstraction.card_lookup import enumerated_views
from foldwise.abstraction.cards.card_config import CardConfig
from foldwise.abstraction.config import AbstractionConfig
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.library import BluffGame
from foldwise.game.trees.tree_kernels import DECISION

_STREETS = ("preflop", "flop", "turn", "river")
_ORDERED = ((2,), (2, 3), (2, 3, 1), (2, 3, 1, 1))
_RAW_VIEWS = (1326, 1326 * 22100)
_BOARDS: tuple[tuple[int, ...], ...] = ((), (3,), (4,), (5,))
_TURN, _RIVER = 2, 3
_BUCKET_BYTES, _FEATURE_BYTES = 2, 8  # of a class of hands in a table of cards
# Solver tables: a regret and a strategy sum, in double precision, for each infoset-action.
BYTES_PER_ENTRY = 16


@dataclass(frozen=True)
class StreetEstimate:
    street: str
    decision_nodes: int
    nodes: int
    buckets: int
    infosets: int
    infoset_actions: int


@dataclass(frozen=True)
class SizeEstimate:
    name: str
    streets: tuple[StreetEstimate, ...]
    infosets: int
    infoset_actions: int
    table_bytes: int
    tree_bytes: int


def card_buckets(config: CardConfig) -> list[int]:
    """Buckets of each street, from the config alone."""
    counts: list[int] = []
    for street, cards in enumerate(config.streets):
        if cards.method == "lossless":
            counts.append(hand_index(_ORDERED[street]).size)
        elif cards.method == "none":
            counts.append(_RAW_VIEWS[street])
        else:
            assert cards.buckets is not None
            within = 1
            if config.public is not None and street > 0:
                within = config.public.clusters
            elif cards.method == "percentile-nested":
                within = counts[-1]
            counts.append(within * cards.buckets)
    return counts


def card_bytes(config: AbstractionConfig) -> int:
    """Of the card tables, about: the folder of a strategy gets a copy of them."""
    cards = config_cards(config)
    if cards is None:
        return 0
    within_clusters = cards.public is not None
    found = 0
    for street, one in enumerate(cards.streets):
        if one.method in ("lossless", "none"):
            continue
        # Inside public clusters turns are told apart by flop, and rivers keep their features instead of a bucket.
        shape = (2, 3, 1) if within_clusters and street == _TURN else (2, *_BOARDS[street])
        found += hand_index(shape).size * (_FEATURE_BYTES if within_clusters and street == _RIVER else _BUCKET_BYTES)
    return found


def _num_buckets(config: AbstractionConfig) -> list[tuple[int, int]]:
    game = config.find_game()
    if isinstance(game, BluffGame):
        return [game.num_rolls]
    cards = config_cards(config)
    if cards is not None:
        return [(count, count) for count in card_buckets(cards)]
    return [(count, count) for count in enumerated_views(config).num_buckets]


def estimate_size(config: AbstractionConfig, entry_bytes: int = BYTES_PER_ENTRY) -> SizeEstimate:
    """Nodes, infosets and infoset-actions by street, and the bytes a solver's tables take."""
    tree = config_tree(config)
    nodes = tree.nodes
    buckets = _num_buckets(config)
    streets = []
    for street, counts in enumerate(buckets):
        here = nodes["street"] == street
        decisions = here & (nodes["kind"] == DECISION)
        views = np.array(counts, dtype=np.int64)[nodes["player"][decisions]]
        streets.append(
            StreetEstimate(
                street=_STREETS[street],
                decision_nodes=int(decisions.sum()),
                nodes=int(here.sum()),
                buckets=max(counts),
                infosets=int(views.sum()),
                infoset_actions=int((views * nodes["num_children"][decisions]).sum()),
            )
        )
    entries = sum(street.infoset_actions for street in streets)
    return SizeEstimate(
        name=config.name,
        streets=tuple(streets),
        infosets=sum(street.infosets for street in streets),
        infoset_actions=entries,
        table_bytes=entry_bytes * entries,
        tree_bytes=sum(array.nbytes for array in tree),
    )
