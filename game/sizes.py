"""Sizes of games: public nodes, infosets and histories by street."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.game.betting import CALL_ACTION, FOLD_ACTION, MAX_ACTIONS_PER_ROUND, RAISE, Action, BettingState
from foldwise.game.cards import cards_text
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError, TreeSizeError
from foldwise.game.library import BluffGame, Game, PokerGame
from foldwise.game.trees import counting
from foldwise.game.trees.tree import EVERY_SIZE, build_tree
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED

_MOST_CHIPS_IN_EVERY_RAISE_TREE = 100  # two-nl-36 has 8 million nodes, and each further chip adds a third
_MOST_NODES_TO_COUNT = 2**24  # a gigabyte, a few seconds
_MOST_STATES_TO_COUNT = 200_000  # some ten seconds
_UNCOUNTED = "every whole number of chips is a legal raise: too many nodes to count; choose bet sizes"
_PAPER = "states have a fold at every decision node, as in Zinkevich et al. 2007"


@dataclass(frozen=True)
class StreetSize:
    """One street; a node that closes a street belongs to the street it closes."""

    street: int
    decision_nodes: int
    nodes: int
    infosets: int
    infosets_iso: int
    infoset_actions: int
    states: int


@dataclass(frozen=True)
class GameSize:
    """The figures of `foldwise games`; None where a game is too large to count.

    `nodes` are public nodes: decisions and ends of the game. Limit hold'em is counted as Zinkevich et al. (NIPS 2007)
    do: nodes that close a street count too, and `states` adds a fold at every decision node, even where checking is
    free; `paper_nodes` is their 18,496. `histories` (public nodes with every deal) has no such extras.
    """

    name: str
    players: int
    streets: int
    decision_nodes: int | None = None
    nodes: int | None = None
    by_street: tuple[StreetSize, ...] = ()
    infosets: int | None = None
    infosets_iso: int | None = None
    infoset_actions: int | None = None
    states: int | None = None
    histories: int | None = None
    paper_nodes: int | None = None
    buckets: int | None = None
    deck: str | None = None  # its cards; None where there are none
    note: str = ""


@dataclass(frozen=True)
class _PublicNodes:
    """Public nodes of each street."""

    decisions: Sequence[int]
    actions: Sequence[int]
    folds: Sequence[int]
    ends: Sequence[int]  # folds and showdowns
    closings: Sequence[int]  # street over, play goes on


def measure(game: Game, buckets: int | None = None) -> GameSize:
    """Measure a game; with `buckets` by nested buckets (b, b^2, b^3, ... views of a player) instead of cards."""
    if buckets is not None and buckets < 1:
        raise DefinitionError(f"{buckets} buckets: expected 1 or more")
    if isinstance(game, BluffGame):
        return _measure_bluff(game)
    definition = game.definition
    players, streets = definition.num_players, definition.num_rounds
    public = _public_nodes(game)
    if public is None:
        return GameSize(game.name, players, streets, buckets=buckets, deck=cards_text(definition.deck), note=_UNCOUNTED)
    if buckets is None:
        views = [counting.private_views(definition, s) for s in range(streets)]
        distinct = [counting.distinct_views(definition, s, game.run_out_cards) for s in range(streets)]
        deals = [counting.joint_deals(definition, s) for s in range(streets)]
    else:
        views = distinct = [buckets ** (s + 1) for s in range(streets)]
        deals = [count**players for count in views]
    as_paper = definition.limit and players == 2 and streets == 4
    own = [public.decisions[s] + public.ends[s] for s in range(streets)]
    nodes = [own[s] + (public.closings[s] if as_paper else 0) for s in range(streets)]
    folds_added = [public.decisions[s] - public.folds[s] if as_paper else 0 for s in range(streets)]
    by_street = tuple(
        StreetSize(
            street=s,
            decision_nodes=public.decisions[s],
            nodes=nodes[s],
            infosets=public.decisions[s] * views[s],
            infosets_iso=public.decisions[s] * distinct[s],
            infoset_actions=public.actions[s] * views[s],
            states=(nodes[s] + folds_added[s]) * deals[s],
        )
        for s in range(streets)
    )
    return GameSize(
        name=game.name,
        players=players,
        streets=streets,
        decision_nodes=sum(public.decisions),
        nodes=sum(nodes),
        by_street=by_street,
        infosets=sum(street.infosets for street in by_street),
        infosets_iso=sum(street.infosets_iso for street in by_street),
        infoset_actions=sum(street.infoset_actions for street in by_street),
        states=sum(street.states for street in by_street),
        histories=sum(own[s] * deals[s] for s in range(streets)),
        paper_nodes=sum(nodes) + sum(folds_added) if as_paper else None,
        buckets=buckets,
        note=_PAPER if as_paper else "",
        deck=cards_text(definition.deck),
    )


def _measure_bluff(game: BluffGame) -> GameSize:
    """A round has a decision node for every set of bids and a challenge after every set but the empty one."""
    num_bids = game.bluff.num_bids
    decisions, nodes = 2**num_bids, 2 ** (num_bids + 1) - 1
    rolls = game.num_rolls
    # Half of the sets of bids are even, so the players share the decision nodes evenly; every node but the root has
    # been led to by one action of a player, and by parity half of the bids made at random are made by each.
    infosets = decisions // 2 * (rolls[0] + rolls[1])
    opener_actions = sum(2 ** max(bid - 1, 0) * (num_bids - bid) for bid in range(1, num_bids)) + num_bids
    infoset_actions = opener_actions * (rolls[0] + rolls[1])
    histories = nodes * rolls[0] * rolls[1]
    street = StreetSize(0, decisions, nodes, infosets, infosets, infoset_actions, histories)
    return GameSize(
        name=game.name,
        players=2,
        streets=1,
        decision_nodes=decisions,
        nodes=nodes,
        by_street=(street,),
        infosets=infosets,
        infosets_iso=infosets,
        infoset_actions=infoset_actions,
        states=histories,
        histories=histories,
        note="the first round; a lost round continues as the game with a die less",
    )


def _public_nodes(game: PokerGame) -> _PublicNodes | None:
    definition = game.definition
    if not definition.limit and max(definition.stacks) > _MOST_CHIPS_IN_EVERY_RAISE_TREE:
        offers_every_size = any(EVERY_SIZE in sizes for player in game.menu.sizes for sets in player for sizes in sets)
        if offers_every_size or definition.num_players > 2:
            return None
    try:
        if definition.num_players > 2:
            return _count_by_rules(definition)
        tree = build_tree(definition, game.menu, _MOST_NODES_TO_COUNT)
    except TreeSizeError:
        return None
    nodes = tree.nodes
    is_decision = nodes["kind"] == DECISION

    def by_street(chosen: Any) -> list[int]:
        return [int(n) for n in np.bincount(nodes["street"][chosen], minlength=definition.num_rounds)]

    actions = np.bincount(
        nodes["street"][is_decision], weights=nodes["num_children"][is_decision], minlength=definition.num_rounds
    )
    return _PublicNodes(
        decisions=by_street(is_decision),
        actions=[int(n) for n in actions],
        folds=by_street(nodes["kind"] == FOLDED),
        ends=by_street((nodes["kind"] != DECISION) & (nodes["kind"] != CHANCE)),
        closings=by_street(nodes["kind"] == CHANCE),
    )


def _count_by_rules(definition: GameDefinition) -> _PublicNodes:
    """Count the public tree of any number of players without building it.

    States with the same future (chips, folds, who acts, raises left) are counted once. A row of the counts holds
    decisions, actions, folds (single players giving up), ends and closings for each street.
    """
    known: dict[tuple[Any, ...], Any] = {}
    # The dealer's limit on the actions of a round can be met where raises are many.
    limit_can_be_met = (max(definition.max_raises) + 2) * definition.num_players > MAX_ACTIONS_PER_ROUND

    def count(state: BettingState) -> Any:
        actions = state.actions[state.round]
        raises = [i for i, (_, action) in enumerate(actions) if action.kind == RAISE]
        since = tuple(player for player, _ in actions[raises[-1] if raises else 0 :])
        key = (
            state.round,
            tuple(state.spent),
            tuple(state.folded),
            state.min_raise_to,
            len(raises),
            len(actions) if limit_can_be_met else 0,
            since,
        )
        if key in known:
            return known[key]
        total = np.zeros((5, definition.num_rounds), dtype=object)
        total[0, state.round] += 1
        choices = [CALL_ACTION]
        if state.can_fold():
            choices.append(FOLD_ACTION)
        bounds = state.raise_range()
        if bounds is not None:
            choices.extend(Action(RAISE, amount) for amount in range(bounds[0], bounds[1] + 1))
        for action in choices:
            after = state.copy()
            after.apply(action)
            total[1, state.round] += 1
            total[2, state.round] += action.kind == FOLD_ACTION.kind
            if after.finished:
                total[3, state.round] += 1
            else:
                total[4, state.round] += after.round != state.round
                total = total + count(after)
        known[key] = total
        if len(known) > _MOST_STATES_TO_COUNT:
            raise TreeSizeError(f"more than {_MOST_STATES_TO_COUNT:,} different betting states: choose smaller stacks")
        return total

    rows = count(BettingState(definition)).tolist()
    return _PublicNodes(decisions=rows[0], actions=rows[1], folds=rows[2], ends=rows[3], closings=rows[4])
