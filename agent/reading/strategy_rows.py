"""A strategy row by row, for people and other programs: which cards, which betting, which probabilities."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, combinations

from foldwise.abstraction.card_lookup import CardLookup, open_card_lookup
from foldwise.abstraction.cards.explain import preflop_name
from foldwise.abstraction.deals.joint_deals import EnumeratedViews
from foldwise.abstraction.strategy import Strategy
from foldwise.agent.following.node_rows import NO_STACKS, NodeRows, NodeTable
from foldwise.agent.reading.typed_state import read_betting
from foldwise.game.cards import RANKS, cards_text, rank_of
from foldwise.game.definition import GameDefinition, parse_definition
from foldwise.game.errors import DefinitionError
from foldwise.game.library import BluffGame, find_game
from foldwise.game.trees.tree import NO_ACTION, action_of_code
from foldwise.postprocess.pipeline import Pipeline


@dataclass(frozen=True)
class StrategyRow:
    """One infoset: where it is, and what is done there."""

    node: int
    player: int
    street: int
    betting: str  # abstract, as a dealer would write it; in Bluff the bids
    bucket: int
    hand: str  # what the bucket holds, if it has a short name: "AKs", "K/Q", "1 5"; else ""
    reached: bool  # by the solver; else uniform
    actions: list[str]
    probabilities: list[float]
    postprocessed: list[float]


class StrategyTable:
    """Every infoset of a strategy folder."""

    def __init__(self, strategy: Strategy, pipeline: Pipeline | None = None):
        self.strategy = strategy
        manifest = strategy.manifest
        self.definition: GameDefinition | None = (
            None if manifest.definition is None else parse_definition(manifest.definition, str(strategy.folder))
        )
        stacks = NO_STACKS if self.definition is None else self.definition.stacks
        self._nodes = NodeRows(strategy.tree, strategy.stored, stacks, pipeline or Pipeline())
        self._labels: dict[tuple[int, int], dict[int, str]] = {}

    def betting(self, node: int) -> str:
        """The abstract betting that leads to a node."""
        tree = self.strategy.tree
        words: list[str] = []
        while node > 0:
            words.append(self.action_text(int(tree.action[node])))
            node = int(tree.parent[node])
        return (" " if self.definition is None else "").join(reversed(words))

    def action_text(self, code: int) -> str:
        """An entry of `Tree.action` in words."""
        if self.definition is None:
            game = find_game(self.strategy.manifest.game)
            assert isinstance(game, BluffGame)
            return "bluff" if code < 0 else game.bluff.bid_text(code)
        return "/" if code == NO_ACTION else action_of_code(code).text(self.definition.limit)

    def rows(
        self,
        *,
        street: int | None = None,
        player: int | None = None,
        betting: str | None = None,
        hand: str | None = None,
        bucket: int | None = None,
    ) -> Iterator[StrategyRow]:
        """The rows that meet every given condition, in the order of the tree."""
        # Checked here, because the generator below would only check at its first row.
        wanted = self._wanted_betting(betting) if betting is not None else None
        label = None if hand is None else self._wanted_hand(hand, street)
        found = self._rows(street, player, wanted, label, bucket)
        first = next(found, None)
        if first is None:
            given = {"street": street, "player": player, "betting": betting, "hand": hand, "bucket": bucket}
            asked = ", ".join(f"--{name} {value}" for name, value in given.items() if value is not None)
            raise DefinitionError(f"no infoset of the strategy fits {asked}: leave one out, or look at them all first")
        return chain([first], found)

    def _rows(
        self, street: int | None, player: int | None, wanted: str | None, hand: str | None, bucket: int | None
    ) -> Iterator[StrategyRow]:
        nodes = self.strategy.tree.nodes
        for node, num_buckets in zip(self._nodes.decisions.tolist(), self._nodes.num_buckets.tolist()):
            record = nodes[node]
            if street is not None and int(record["street"]) != street:
                continue
            if player is not None and int(record["player"]) != player:
                continue
            path = self.betting(node)
            if wanted is not None and path != wanted:
                continue
            labels = self.labels(int(record["player"]), int(record["street"]))
            table = self.table(node)
            first, count = int(record["first_child"]), int(record["num_children"])
            actions = [self.action_text(int(code)) for code in self.strategy.tree.action[first : first + count]]
            for index in range(num_buckets):
                label = labels.get(index, "")
                if (bucket is None or index == bucket) and (hand is None or label == hand):
                    yield StrategyRow(
                        node=node,
                        player=int(record["player"]),
                        street=int(record["street"]),
                        betting=path,
                        bucket=index,
                        hand=label,
                        reached=bool(table.reached[index]),
                        actions=actions,
                        probabilities=table.raw[index].tolist(),
                        postprocessed=table.played[index].tolist(),
                    )

    def _wanted_betting(self, betting: str) -> str:
        """The text as `betting()` writes it, with every separator between rounds."""
        if self.definition is None:
            return betting
        return read_betting(self.definition, betting).betting_text()

    def _wanted_hand(self, hand: str, street: int | None) -> str:
        """The label of the bucket that holds a hand: `AKs` however it is typed, or a toy game's cards."""
        streets = range(1 if self.definition is None else self.definition.num_rounds) if street is None else (street,)
        labels = [label for s in streets for player in (0, 1) for label in self.labels(player, s).values()]
        if not labels:
            raise DefinitionError(f"--hand {hand}: the buckets of street {street} are no single hands: give --bucket")
        if hand in labels:
            return hand
        typed = _in_order(hand)
        for label in labels:
            if typed in label.split():
                return label
        close = get_close_matches(typed, {word for label in labels for word in label.split()}, 1)
        meant = f"did you mean {close[0]}?" if close else f"expected such as {labels[0]}"
        raise DefinitionError(f"--hand {hand}: no such hand: {meant}")

    def table(self, node: int) -> NodeTable:
        """All rows of one decision."""
        return self._nodes.table(node, self._nodes.is_first(node))

    def labels(self, player: int, street: int) -> dict[int, str]:
        """What the buckets of a player on a street hold; empty if some bucket has no short name."""
        key = (player, street)
        if key not in self._labels:
            self._labels[key] = self._make_labels(player, street)
        return self._labels[key]

    def _make_labels(self, player: int, street: int) -> dict[int, str]:
        if self.definition is None:
            game = find_game(self.strategy.manifest.game)
            assert isinstance(game, BluffGame)
            return {index: " ".join(map(str, roll)) for index, roll in enumerate(game.bluff.rolls(player))}
        lookup = open_card_lookup(self.strategy)
        if isinstance(lookup, EnumeratedViews):
            return _view_labels(lookup, self.definition, street)
        return _preflop_labels(lookup) if street == 0 and self.definition.board_sizes[0] == 0 else {}


def _in_order(hand: str) -> str:
    """`KAs` as `AKs`: the higher rank first."""
    ranks = hand[:2].upper()
    if len(hand) in (2, 3) and all(rank in RANKS for rank in ranks):
        return "".join(sorted(ranks, key=RANKS.index, reverse=True)) + hand[2:].lower()
    return hand


def _preflop_labels(lookup: CardLookup) -> dict[int, str]:
    """`AA`, or `KQs KJs` where hands share a bucket."""
    names: dict[int, dict[str, None]] = defaultdict(dict)
    for low, high in combinations(range(52), 2):
        names[lookup.bucket((high, low))][preflop_name(high, low)] = None
    return {bucket: " ".join(reversed(found)) for bucket, found in names.items()}


def _view_labels(lookup: EnumeratedViews, definition: GameDefinition, street: int) -> dict[int, str]:
    """`K` and `K/Q` where suits do not matter, `Ks/Qh` where they do."""
    found: dict[int, list[tuple[tuple[int, ...], tuple[int, ...]]]] = defaultdict(list)
    size = definition.board_sizes[street]
    for hole in combinations(definition.deck, definition.num_hole_cards):
        left = [card for card in definition.deck if card not in hole]
        for board in combinations(left, size):
            found[lookup.bucket(hole, board)].append((hole, board))
    labels = {}
    for bucket, views in found.items():
        hole, board = views[0]
        suits_matter = len(views) == 1 and definition.num_suits > 1
        parts = [
            cards_text(cards) if suits_matter else "".join(RANKS[rank_of(card)] for card in cards)
            for cards in (hole, board)
            if cards
        ]
        labels[bucket] = "/".join(parts)
    return labels


def check_street(table: StrategyTable, street: int | None) -> None:
    """Raise `DefinitionError` for a street the game does not have."""
    num_streets = 1 if table.definition is None else table.definition.num_rounds
    if street is not None and not 0 <= street < num_streets:
        raise DefinitionError(f"street {street}: expected 0 to {num_streets - 1}")
