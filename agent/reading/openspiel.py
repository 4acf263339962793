"""Small games' strategies as OpenSpiel's tabular policies: with its infoset names and action numbers.

The names are generated here, so OpenSpiel is not needed; the tests give the table to OpenSpiel and compare its best
response with ours. Kuhn (`kuhn_poker`), Leduc (`leduc_poker`) and one round of Bluff with a die each
(`liars_dice`) are the same games in both.
"""

from collections.abc import Callable, Iterator
from typing import Any

from foldwise.abstraction.card_lookup import open_card_lookup
from foldwise.abstraction.strategy import Strategy
from foldwise.agent.reading.strategy_rows import StrategyTable
from foldwise.game.betting import CALL, RAISE
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.game.trees.tree import NO_ACTION, action_of_code
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.postprocess.pipeline import Pipeline

Policy = dict[str, list[tuple[int, float]]]  # infoset: (action, probability) of each legal action
_STACK = 100  # OpenSpiel's Leduc gives each player a hundred chips
_FOLD, _CALL, _RAISE = 0, 1, 2
_OPENSPIEL_NAMES = {"kuhn": "kuhn_poker", "leduc": "leduc_poker", "bluff-1-1": "liars_dice"}


def openspiel_policy(strategy: Strategy, pipeline: Pipeline | None = None) -> tuple[str, Policy]:
    """OpenSpiel's name of the game, and its tabular policy of the strategy.

    `pyspiel.TabularPolicy(policy)` accepts it unchanged.
    """
    game = strategy.manifest.game
    if game not in _OPENSPIEL_NAMES:
        raise DefinitionError(
            f"game {game!r} has no OpenSpiel form here: expected a strategy of {', '.join(_OPENSPIEL_NAMES)}"
        )
    table = StrategyTable(strategy, pipeline)
    make: Callable[[StrategyTable], Iterator[tuple[str, list[tuple[int, float]]]]]
    make = {"kuhn": _kuhn, "leduc": _leduc, "bluff-1-1": _liars_dice}[game]
    return _OPENSPIEL_NAMES[game], dict(make(table))


def policy_record(game: str, policy: Policy) -> dict[str, Any]:
    """The content of the exported JSON file."""
    return {"game": game, "policy": {name: [list(pair) for pair in row] for name, row in policy.items()}}


def _codes(table: StrategyTable, node: int) -> list[int]:
    """The actions that lead to a node, `NO_ACTION` between rounds."""
    tree = table.strategy.tree
    codes = []
    while node > 0:
        codes.append(int(tree.action[node]))
        node = int(tree.parent[node])
    return codes[::-1]


def _decisions(table: StrategyTable) -> list[int]:
    nodes = table.strategy.tree.nodes
    return [node for node in range(len(nodes)) if nodes[node]["kind"] == DECISION]


def _kuhn(table: StrategyTable) -> Iterator[tuple[str, list[tuple[int, float]]]]:
    """Card 0 to 2, then p and b: pass is check or fold, bet is raise or call."""
    definition, lookup = _poker(table)
    for node in _decisions(table):
        history, bet = "", False
        for code in _codes(table, node):
            kind = action_of_code(code).kind
            history += "b" if kind == RAISE or (kind == CALL and bet) else "p"
            bet = bet or kind == RAISE
        played = table.table(node).played
        for card_number, card in enumerate(sorted(definition.deck)):
            row = played[lookup.bucket((card,))].tolist()
            # Children are (check, raise) or (fold, call): pass and bet in either case.
            yield f"{card_number}{history}", [(0, row[0]), (1, row[1])]


def _leduc(table: StrategyTable) -> Iterator[tuple[str, list[tuple[int, float]]]]:
    """The observer's card, round, pot, money, the public card and the actions of both rounds, worded as in OpenSpiel."""
    definition, lookup = _poker(table)
    tree = table.strategy.tree
    deck = sorted(definition.deck)
    for node in _decisions(table):
        record = tree.nodes[node]
        player, street = int(record["player"]), int(record["street"])
        rounds: list[list[int]] = [[], []]
        at = 0
        for code in _codes(table, node):
            if code == NO_ACTION:
                at += 1
            else:
                rounds[at].append(_action_number(code))
        spent = [int(chips) for chips in tree.spent[node]]
        texts = [" ".join(map(str, actions)) for actions in rounds]
        first, count = int(record["first_child"]), int(record["num_children"])
        numbers = [_action_number(int(code)) for code in tree.action[first : first + count]]
        played = table.table(node).played
        for private_number, private in enumerate(deck):
            for public_number, public in enumerate(deck) if street else [(-1, -1)]:
                if public == private:
                    continue
                row = played[lookup.bucket((private,), (public,) if street else ())].tolist()
                shown = f"[Public: {public_number}]" if street else ""
                name = (
                    f"[Observer: {player}][Private: {private_number}][Round {street + 1}][Player: {player}]"
                    f"[Pot: {sum(spent)}][Money: {_STACK - spent[0]} {_STACK - spent[1]}]{shown}"
                    f"[Round1: {texts[0]}][Round2: {texts[1]}]"
                )
                yield name, list(zip(numbers, row))


def _action_number(code: int) -> int:
    kind = action_of_code(code).kind
    return _RAISE if kind == RAISE else _CALL if kind == CALL else _FOLD


def _liars_dice(table: StrategyTable) -> Iterator[tuple[str, list[tuple[int, float]]]]:
    """The die, then the bids as quantity-face; calling the last bid a lie is the action after all bids."""
    tree = table.strategy.tree
    num_bids = 12
    for node in _decisions(table):
        bids = [f"{code // 6 + 1}-{code % 6 + 1}" for code in _codes(table, node)]
        record = tree.nodes[node]
        first, count = int(record["first_child"]), int(record["num_children"])
        codes = [int(code) for code in tree.action[first : first + count]]
        numbers = [num_bids if code < 0 else code for code in codes]
        played = table.table(node).played.tolist()
        for bucket, die in table.labels(int(record["player"]), 0).items():
            # OpenSpiel lists legal actions in ascending order.
            yield " ".join([die, *bids]), sorted(zip(numbers, played[bucket]))


def _poker(table: StrategyTable) -> tuple[GameDefinition, Any]:
    assert table.definition is not None
    return table.definition, open_card_lookup(table.strategy)
