"""Strategies made up for tests: random rows over real betting trees, and buckets that need no card abstraction."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from foldwise.abstraction.bet_sizes import make_menu
from foldwise.agent.following.tracker import Seat, make_seat
from foldwise.agent.mappings.translation import DEFAULT_TRANSLATION, Translation
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.definition import GameDefinition
from foldwise.game.library import find_definition
from foldwise.game.trees.tree import Tree, build_tree
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.postprocess.language import parse_pipeline

NUM_BUCKETS = 7


class StandInBuckets:
    """A bucket from the cards by arithmetic: the order of cards dealt together does not matter."""

    def __init__(self, num_hole: int = 2):
        self.num_hole = num_hole

    def bucket(self, hand: Sequence[int], board: Sequence[int] = ()) -> int:
        return (sum(card * card for card in hand) + 5 * sum(board)) % NUM_BUCKETS

    def bucket_hands(self, street: int, hands: np.ndarray) -> np.ndarray:
        return np.array([self.bucket(row[: self.num_hole], row[self.num_hole :]) for row in hands.tolist()], np.int64)


def short_hunl(stack: int = 2000) -> GameDefinition:
    """The competition's no-limit game with other stacks."""
    return replace(find_definition("hunl"), stacks=(stack, stack))


def tree_with_rows(definition: GameDefinition, *texts: str) -> Tree:
    """The tree of a bet menu, one text for all streets or one a street, with rows for NUM_BUCKETS buckets."""
    streets = texts * definition.num_rounds if len(texts) == 1 else texts
    tree = build_tree(definition, make_menu(streets, streets, 1.0))
    nodes = tree.nodes.copy()
    decisions = nodes["kind"] == DECISION
    entries = NUM_BUCKETS * nodes["num_children"][decisions].astype(np.int64)
    nodes["base"][decisions] = np.cumsum(entries) - entries
    return tree._replace(nodes=nodes)


def random_rows(tree: Tree, seed: int, dtype: type = np.uint16) -> np.ndarray:
    """Random probabilities; one row in ten, about, is as if never reached."""
    generator = np.random.default_rng(seed)
    decisions = tree.nodes[tree.nodes["kind"] == DECISION]
    num_entries = NUM_BUCKETS * int(decisions["num_children"].sum())
    rows = generator.integers(0, 200, num_entries).astype(dtype)
    for node in np.flatnonzero(tree.nodes["kind"] == DECISION)[:2000]:
        if generator.random() < 0.1:
            start, count = int(tree.nodes[node]["base"]), int(tree.nodes[node]["num_children"])
            rows[start : start + count] = 0
    return rows


def made_seat(
    definition: GameDefinition,
    *texts: str,
    seed: int = 1,
    pipeline: str = "none",
    dtype: type = np.uint16,
    translation: Translation = DEFAULT_TRANSLATION,
) -> Seat:
    tree = tree_with_rows(definition, *texts)
    rows = random_rows(tree, seed, dtype)
    return make_seat(tree, rows, definition, parse_pipeline(pipeline), seed, translation)


def made_player(definition: GameDefinition, *texts: str, seed: int = 1, pipeline: str = "none") -> StrategyPlayer:
    seat = made_seat(definition, *texts, seed=seed, pipeline=pipeline)
    return StrategyPlayer(seat, definition, StandInBuckets(definition.num_hole_cards))
