"""The language of bet sizes, and what it makes of a tree."""

import pytest

from foldwise.abstraction.bet_sizes import make_menu, parse_sizes
from foldwise.game.errors import FormatError
from foldwise.game.library import find_definition
from foldwise.game.trees.tree import ALL_IN, EVERY_SIZE, MINIMUM_RAISE, build_tree, pot_size


def test_sets_by_raise_number():
    assert parse_sizes("f c m 0.5p 1p a | f c 1.5p | f c") == (
        (MINIMUM_RAISE, pot_size(0.5), pot_size(1.0), ALL_IN),
        (pot_size(1.5),),
        (),
    )
    assert parse_sizes("f c *") == ((EVERY_SIZE,),)


@pytest.mark.parametrize(
    "text, part",
    [
        ("f c 1q", "'1q' at character 5"),
        ("f c 1p | f c x", "'x' at character 14"),
        ("c 1p", "lacks 'f'"),
        ("f c | f", "lacks 'c'"),
        ("f c 0p", "'0p'"),
        ("f c -1p", "'-1p'"),
    ],
)
def test_errors_point_at_the_word(text, part):
    with pytest.raises(FormatError, match="bet sizes") as caught:
        parse_sizes(text)
    assert part in str(caught.value)


def _raises(texts, share=1.0, path=()):
    """Raise-to amounts offered in hunl after a path of action codes."""
    tree = build_tree(find_definition("hunl"), make_menu(texts, texts, share))
    at = 0
    for code in path:
        record = tree.nodes[at]
        children = range(record["first_child"], record["first_child"] + record["num_children"])
        at = next(child for child in children if tree.action[child] == code)
        if tree.nodes[at]["kind"] == 1:
            at = tree.nodes[at]["first_child"]
    record = tree.nodes[at]
    children = range(record["first_child"], record["first_child"] + record["num_children"])
    return [int(tree.action[child]) for child in children if tree.action[child] > 0]


def test_pot_fractions_are_of_the_pot_after_calling():
    one = ["f c 0.5p 1p a", "f c", "f c", "f c"]
    assert _raises(one) == [200, 300, 20000]  # 100 + x * 200
    assert _raises(one, path=(300,)) == [600, 900, 20000]  # 300 + x * 600


def test_small_sizes_become_the_minimum_and_equal_ones_merge():
    assert _raises(["f c m 0.1p 0.25p 1p | f c", "f c", "f c", "f c"]) == [200, 300]


def test_sizes_near_the_stack_become_all_in():
    texts = ["f c 1p a", "f c", "f c", "f c"]
    assert _raises(texts, share=0.5, path=(300, 900, 2700)) == [8100, 20000]
    assert _raises(texts, share=0.4, path=(300, 900, 2700)) == [20000]


def test_a_set_without_raises_caps_the_betting():
    texts = ["f c 1p | f c 1p | f c", "f c", "f c", "f c"]
    assert _raises(texts, path=(300,)) == [900]
    assert _raises(texts, path=(300, 900)) == []


def test_a_menu_can_cap_a_limit_game():
    """Three bets a round in limit: two raises over the blind, then three a street."""
    definition = find_definition("limit")
    texts = ["f c * | f c * | f c", *["f c * | f c * | f c * | f c"] * 3]
    tree = build_tree(definition, make_menu(texts, texts, 1.0))
    raises = dict.fromkeys(range(4), 0)
    for node in range(len(tree.nodes)):
        count, at = 0, node
        while at > 0 and tree.action[at] != -2:
            count += tree.action[at] > 0
            at = tree.parent[at]
        street = int(tree.nodes[node]["street"])
        raises[street] = max(raises[street], count)
    assert raises == {0: 2, 1: 3, 2: 3, 3: 3}
    assert build_tree(definition).num_nodes == 17221


def test_players_may_have_different_sizes():
    button = ["f c 1p", "f c", "f c", "f c"]
    blind = ["f c 2p", "f c", "f c", "f c"]
    tree = build_tree(find_definition("hunl"), make_menu(blind, button, 1.0))
    first = tree.nodes[0]["first_child"]
    offered = [int(code) for code in tree.action[first : first + tree.nodes[0]["num_children"]] if code > 0]
    assert offered == [300]  # the button acts first
    answer = next(child for child in range(first, first + 3) if tree.action[child] == 300)
    record = tree.nodes[answer]
    codes = tree.action[record["first_child"] : record["first_child"] + record["num_children"]]
    assert [int(code) for code in codes if code > 0] == [300 + 2 * 600]
