"""Public trees: the compiled builder against the betting rules walked in Python, menus, counts, layout."""

from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from foldwise.game.betting import CALL, CALL_ACTION, FOLD, FOLD_ACTION, RAISE, Action, BettingState
from foldwise.game.definition import UNLIMITED_STACK, parse_definition
from foldwise.game.errors import DefinitionError, TreeSizeError
from foldwise.game.library import find_game
from foldwise.game.trees.tree import (
    ALL_IN,
    CALL_CODE,
    EVERY_SIZE,
    FOLD_CODE,
    MINIMUM_RAISE,
    NO_ACTION,
    NODE_DTYPE,
    BetMenu,
    action_of_code,
    build_tree,
    pot_size,
)
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED, SHOWDOWN
from tests.oracles.naive_rules import naive_raises
from tests.support.generators import definitions, golden_game

NAMES = {EVERY_SIZE: ("every", 0.0), ALL_IN: ("all-in", 0.0), MINIMUM_RAISE: ("min", 0.0)}
EVERYTHING = BetMenu.same_everywhere([EVERY_SIZE], 4)
SHORT = golden_game("nolimit.2p.short.game")
ONE_ROUND = parse_definition(
    SHORT.to_text().replace("numRounds = 4", "numRounds = 1").replace("2 1 1 1", "2").replace("0 3 1 1", "0")
)
# Eighths are exact in binary: rounding is the same in the oracle's fractions.
sizes = st.one_of(
    st.sampled_from([EVERY_SIZE, ALL_IN, MINIMUM_RAISE]),
    st.integers(0, 24).map(lambda eighths: pot_size(eighths / 8)),
)
menus = st.builds(
    BetMenu,
    sizes=st.tuples(
        *[st.tuples(*[st.lists(st.lists(sizes, max_size=3).map(tuple), min_size=1, max_size=3).map(tuple)] * 4)] * 2
    ),
    all_in_share=st.sampled_from([0.5, 0.75, 1.0]),
)


def cut(menu: BetMenu, num_streets: int) -> BetMenu:
    return BetMenu(tuple(streets[:num_streets] for streets in menu.sizes), menu.all_in_share)


def walk(game, menu: BetMenu):
    """The tree by the rules: rows (kind, player, street, value, parent, action, spent), breadth first."""
    rows = [(BettingState(game), None, -1, NO_ACTION, 0)]
    result = []
    num_children = []
    for at, (state, ended_by, parent, code, street) in enumerate(rows):  # grows while it is read
        before = len(rows)
        spent = tuple(state.spent)
        if ended_by is not None and ended_by[0] == "chance":
            result.append((CHANCE, 0, street, 0.0, parent, code, spent))
            rows.append((state, None, at, NO_ACTION, state.round))
        elif state.finished:
            if state.is_showdown():
                result.append((SHOWDOWN, 0, street, float(np.float32(min(spent))), parent, code, spent))
            else:
                loser = state.folded.index(True)
                result.append((FOLDED, loser, street, float(np.float32(spent[loser])), parent, code, spent))
        else:
            player = state.player_to_act
            result.append((DECISION, player, street, 0.0, parent, code, spent))
            choices = ([FOLD_ACTION] if state.can_fold() else []) + [CALL_ACTION]
            bounds = state.raise_range()
            if game.limit:
                amounts = [] if bounds is None else [bounds[0]]
            else:
                sets = menu.sizes[player][street]
                num_raises = sum(action.kind == RAISE for _, action in state.actions[state.round])
                offered = [NAMES.get(size, ("pot", size.pot_fraction)) for size in sets[min(num_raises, len(sets) - 1)]]
                amounts = naive_raises(offered, menu.all_in_share, state.max_spent, game.stacks[player], bounds)
            for action in [*choices, *(Action(RAISE, amount) for amount in amounts)]:
                after = state.copy()
                after.apply(action)
                code = {FOLD: FOLD_CODE, CALL: CALL_CODE, RAISE: action.raise_to}[action.kind]
                moved_on = not after.finished and after.round != state.round
                rows.append((after, ("chance",) if moved_on else None, at, code, street))
        num_children.append(len(rows) - before)
    return result, num_children


def assert_same(tree, game, menu):
    expected, num_children = walk(game, menu)
    nodes = tree.nodes
    assert tree.num_nodes == len(expected)
    assert nodes["num_children"].tolist() == num_children
    got = zip(
        nodes["kind"].tolist(),
        nodes["player"].tolist(),
        nodes["street"].tolist(),
        nodes["value"].tolist(),
        tree.parent.tolist(),
        tree.action.tolist(),
        map(tuple, tree.spent.tolist()),
    )
    for at, (row, wanted) in enumerate(zip(got, expected)):
        assert row == wanted, at


@settings(max_examples=100)
@given(definitions(players=st.just(2), stacks=st.integers(1, 8), rounds=st.integers(1, 3)))
def test_builder_agrees_with_the_rules(game):
    """Every raise of random heads-up games: blinds all-in, short stacks, caps, either player first."""
    menu = cut(EVERYTHING, game.num_rounds)
    try:
        tree = build_tree(game, max_nodes=3000)
    except TreeSizeError:
        assume(False)
    assert_same(tree, game, menu)


@settings(max_examples=100)
@given(
    definitions(players=st.just(2), limit=False, stacks=st.integers(1, 60), rounds=st.integers(1, 4)),
    menus,
)
def test_builder_agrees_with_the_rules_on_menus(game, menu):
    menu = cut(menu, game.num_rounds)
    try:
        tree = build_tree(game, menu, max_nodes=3000)
    except TreeSizeError:
        assume(False)
    assert_same(tree, game, menu)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "two-limit-1", "two-limit-4", "preflop-nl", "two-nl-8"])
def test_built_in_games_agree_with_the_rules(name):
    game = find_game(name)
    assert_same(game.build_tree(), game.definition, game.menu)


def test_limit_with_stacks_agrees_with_the_rules():
    game = golden_game("limit.2p.stacks.game")
    assert_same(build_tree(game), game, EVERYTHING)


def test_record_is_24_bytes_without_gaps():
    assert NODE_DTYPE.itemsize == 24
    assert sum(NODE_DTYPE[name].itemsize for name in NODE_DTYPE.names) == 24


@pytest.mark.parametrize("name", ["limit", "two-nl-12", "bluff-1-1"])
def test_children_stand_together_in_breadth_first_order(name):
    tree = find_game(name).build_tree()
    nodes = tree.nodes
    inner = nodes["num_children"] > 0
    first, count = nodes["first_child"][inner], nodes["num_children"][inner].astype(np.int64)
    # One after the other, the groups of children fill everything but the root.
    assert first[0] == 1
    assert np.array_equal(first[1:], first[:-1] + count[:-1])
    assert first[-1] + count[-1] == tree.num_nodes
    assert tree.parent[0] == -1
    assert np.array_equal(tree.parent[1:], np.repeat(np.flatnonzero(inner), count))
    assert (tree.parent < np.arange(tree.num_nodes)).all()
    assert np.array_equal(inner, np.isin(nodes["kind"], (DECISION, CHANCE)))
    assert not nodes["base"].any() and not nodes["padding"].any()


def test_limit_counts_by_street():
    """Heads-up limit: 6,378 decision nodes; every sequence of a street starts anew after each way to close the last."""
    nodes = find_game("limit").build_tree().nodes
    per_street = [np.bincount(nodes["street"][nodes["kind"] == kind], minlength=4).tolist() for kind in range(4)]
    assert per_street[DECISION] == [8, 70, 630, 5670]
    assert per_street[CHANCE] == [7, 63, 567, 0]
    assert per_street[FOLDED] == [7, 56, 504, 4536]
    assert per_street[SHOWDOWN] == [0, 0, 0, 5103]


def test_path_of_actions_leads_through_the_rules():
    """From random ends back to the root, the actions are legal and give the chips of the node."""
    game = find_game("two-nl-12")
    tree = game.build_tree()
    rng = Random(1)
    for at in rng.sample(range(tree.num_nodes), 300):
        codes = []
        node = at
        while node:
            codes.append(int(tree.action[node]))
            node = int(tree.parent[node])
        state = BettingState(game.definition)
        for code in reversed(codes):
            if code != NO_ACTION:
                state.apply(action_of_code(code))
        assert state.spent == tree.spent[at].tolist()
        assert state.finished == (tree.nodes["kind"][at] in (FOLDED, SHOWDOWN))


# Menus ----------------------------------------------------------------------------------------------------------------


def root_raises(menu_sizes, all_in_share=1.0, game=ONE_ROUND):
    menu = BetMenu.same_everywhere(menu_sizes, game.num_rounds)
    tree = build_tree(game, BetMenu(menu.sizes, all_in_share))
    root = tree.nodes[0]
    codes = tree.action[root["first_child"] : root["first_child"] + root["num_children"]].tolist()
    assert codes[:2] == [FOLD_CODE, CALL_CODE]
    return codes[2:]


def test_pot_fractions():
    """Blinds 50 / 100, stack 1000: after calling the pot is 200."""
    assert root_raises([pot_size(0.5), pot_size(1.0), pot_size(2.0)]) == [200, 300, 500]
    assert root_raises([pot_size(0.75), pot_size(1.5)]) == [250, 400]


def test_fraction_below_the_smallest_raise_becomes_it():
    assert root_raises([pot_size(0.1)]) == [200]
    assert root_raises([pot_size(0.1), MINIMUM_RAISE, pot_size(0.5)]) == [200]


def test_fraction_beyond_the_stack_is_all_in_and_sizes_merge():
    assert root_raises([pot_size(10.0), ALL_IN]) == [1000]
    assert root_raises([ALL_IN, pot_size(1.0), pot_size(1.0)]) == [300, 1000]


def test_share_of_the_stack_that_is_all_in():
    assert root_raises([pot_size(2.0), pot_size(1.0)], all_in_share=0.5) == [300, 1000]
    assert root_raises([pot_size(2.0), pot_size(1.0)], all_in_share=0.51) == [300, 500]


def test_every_size_and_none():
    assert root_raises([EVERY_SIZE], game=find_game("two-nl-8").definition) == [4, 5, 6, 7, 8]
    assert root_raises([ALL_IN, EVERY_SIZE], game=find_game("two-nl-8").definition) == [4, 5, 6, 7, 8]
    assert root_raises([]) == []


def test_more_sizes_than_chips():
    """A menu longer than the stack: sizes merge, and none is written beyond the room for them."""
    game = find_game("two-nl-4").definition
    assert root_raises([pot_size(f / 8) for f in range(30)], game=game) == [4]


def test_later_sets_serve_later_raises():
    game = find_game("two-nl-36").definition
    sets = ((EVERY_SIZE,), (pot_size(1.0),), ())
    tree = build_tree(game, BetMenu((((sets[1:]), ((),)), ((sets), ((),)))))
    nodes = tree.nodes

    def children(at):
        return range(nodes[at]["first_child"], nodes[at]["first_child"] + nodes[at]["num_children"])

    first = [at for at in children(0) if tree.action[at] > 0]
    assert tree.action[first].tolist() == list(range(4, 37))  # player 1, no raise yet: every size
    second = [at for at in children(first[0]) if tree.action[at] > 0]
    assert second == []  # player 0 after one raise: the empty set
    limp = next(at for at in children(0) if tree.action[at] == CALL_CODE)
    assert [tree.action[at] for at in children(limp) if tree.action[at] > 0] == [6]  # no raise yet: pot
    raised = next(at for at in children(limp) if tree.action[at] == 6)
    assert [tree.action[at] for at in children(raised) if tree.action[at] > 0] == [18]  # player 1, one raise: pot


@pytest.mark.parametrize(
    "menu, message",
    [
        (BetMenu.same_everywhere([ALL_IN], 2), r"bet menu has streets \[2, 2\]: expected two players with 4 streets"),
        (BetMenu(((((ALL_IN,),),) * 4,)), r"bet menu has streets \[4\]"),
        (BetMenu((((),) * 4,) * 2), "a street without sets"),
    ],
)
def test_wrong_menus_are_refused(menu, message):
    with pytest.raises(DefinitionError, match=message):
        build_tree(SHORT, menu)


# Limits ---------------------------------------------------------------------------------------------------------------


def test_only_heads_up_games_have_trees():
    with pytest.raises(DefinitionError, match="a tree of 3 players"):
        build_tree(golden_game("kuhn.limit.3p.game"))


def test_limit_with_unequal_stacks_is_refused():
    game = parse_definition(golden_game("limit.2p.stacks.game").to_text().replace("75 75", "75 80"))
    with pytest.raises(DefinitionError, match=r"stacks \(75, 80\): expected equal stacks"):
        build_tree(game)


def test_too_large_a_tree_is_refused():
    limit = find_game("limit").definition
    size = build_tree(limit).num_nodes
    assert build_tree(limit, max_nodes=size).num_nodes == size
    with pytest.raises(TreeSizeError, match="more than 17,220 nodes: choose fewer bet sizes"):
        build_tree(limit, max_nodes=size - 1)
    with pytest.raises(TreeSizeError, match="expected at most 65535 chips; choose bet sizes"):
        build_tree(parse_definition(SHORT.to_text().replace("1000 1000", "1000 70000")))


def test_largest_stacks_do_not_overflow():
    """Pot bets up to 2^31 - 1 chips: bounds above every stack are cut, not wrapped."""
    game = parse_definition(ONE_ROUND.to_text().replace("1000 1000", f"{UNLIMITED_STACK} {UNLIMITED_STACK}"))
    menu = BetMenu.same_everywhere([pot_size(64.0), ALL_IN], 1)
    tree = build_tree(game, menu)
    assert_same(tree, game, menu)
    assert tree.spent.max() == UNLIMITED_STACK
