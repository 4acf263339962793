"""Sizes of the games against published figures, and `foldwise games`."""

import json
from itertools import combinations, permutations

import pytest

from foldwise.cli.main import main
from foldwise.game.definition import parse_definition
from foldwise.game.errors import DefinitionError
from foldwise.game.library import BUILT_IN_NAMES, find_definition, find_game
from foldwise.game.sizes import measure
from foldwise.game.trees import counting
from tests.support.generators import GAMES, golden_game


@pytest.fixture(scope="module")
def built_in():
    """The figures of every built-in game; two-nl-36, whose tree takes two seconds, with five buckets only."""
    return {name: measure(find_game(name), 5 if name == "two-nl-36" else None) for name in BUILT_IN_NAMES}


def by_street(size, figure):
    return [getattr(street, figure) for street in size.by_street]


def test_kuhn_and_leduc(built_in):
    """12 infosets; 936 with distinct suits, 288 without."""
    assert built_in["kuhn"].infosets == 12
    assert (built_in["leduc"].infosets, built_in["leduc"].infosets_iso) == (936, 288)
    assert (built_in["kuhn"].decision_nodes, built_in["kuhn"].nodes) == (4, 9)


def test_limit_public_tree(built_in):
    """Zinkevich et al. (NIPS 2007): 18,496 nodes with a fold everywhere, a street's closing nodes counted."""
    size = built_in["limit"]
    assert (size.decision_nodes, by_street(size, "decision_nodes")) == (6378, [8, 70, 630, 5670])
    assert (size.nodes, by_street(size, "nodes")) == (17221, [22, 189, 1701, 15309])
    assert size.paper_nodes == 18496
    one_bucket = measure(find_game("limit"), 1)
    assert by_street(one_bucket, "states") == [23, 203, 1827, 16443]


@pytest.mark.parametrize("buckets, states", [(5, 6.45e9), (6, 27.7e9), (8, 276e9), (10, 1646e9)])
def test_limit_states_by_buckets(buckets, states):
    assert measure(find_game("limit"), buckets).states == pytest.approx(states, rel=2e-3)


def test_limit_infosets(built_in):
    assert measure(find_game("limit"), 10).infosets == 57_337_080
    assert built_in["limit"].infosets == pytest.approx(3.19e14, rel=2e-3)
    assert built_in["limit"].states == pytest.approx(9.17e17, rel=1e-3)


def test_two_round_no_limit(built_in):
    """Five nested buckets. The paper: about 68 million infosets, 5 billion histories."""
    size = built_in["two-nl-36"]
    assert by_street(size, "decision_nodes") == [40_572, 2_681_228]
    assert size.nodes == 8_084_258
    assert size.infosets == 40_572 * 5 + 2_681_228 * 25 == 67_233_560
    assert size.histories == pytest.approx(4.99e9, rel=1e-3)


def test_two_round_limit(built_in):
    assert (built_in["two-limit-1"].infosets_iso, built_in["two-limit-4"].infosets_iso) == (15_442_180, 90_076_792)
    assert by_street(built_in["two-limit-1"], "decision_nodes") == [4, 12]
    assert by_street(built_in["two-limit-4"], "decision_nodes") == [8, 70]


def test_bluff(built_in):
    """The first round of each."""
    assert (built_in["bluff-1-1"].infosets, built_in["bluff-1-1"].histories) == (24_576, 294_876)
    assert (built_in["bluff-2-1"].infosets, built_in["bluff-2-1"].histories) == (3_538_944, 66_060_162)
    assert built_in["bluff-2-2"].infosets == 352_321_536


def test_bluff_counts_agree_with_the_stored_tree(built_in):
    for name in ("bluff-1-1", "bluff-2-1"):
        game = find_game(name)
        nodes = game.build_tree().nodes
        size = built_in[name]
        decisions = nodes[nodes["num_children"] > 0]
        rolls = game.num_rolls
        assert (size.decision_nodes, size.nodes) == (len(decisions), len(nodes))
        assert size.infosets == sum(rolls[p] * int((decisions["player"] == p).sum()) for p in (0, 1))
        actions = decisions["num_children"].astype(int)
        assert size.infoset_actions == sum(rolls[p] * int(actions[decisions["player"] == p].sum()) for p in (0, 1))


def test_preflop_no_limit(built_in):
    """20 decision nodes of 1,326 hands, 169 of them suit-distinct: five board cards are still to come."""
    size = built_in["preflop-nl"]
    assert (size.decision_nodes, size.nodes) == (20, 58)
    assert size.infosets == 20 * 1326 == 26_520
    assert size.infosets_iso == 20 * 169


def test_hunl_is_too_large_to_count(built_in):
    size = built_in["hunl"]
    assert size.decision_nodes is None
    assert "too many nodes to count" in size.note


def test_counting_by_rules_agrees_with_the_tree():
    """The count for three and more players, used on two."""
    from foldwise.game.sizes import _count_by_rules, _public_nodes

    for name in ("kuhn", "leduc", "limit", "two-limit-4", "two-nl-12"):
        game = find_game(name)
        counted = _count_by_rules(game.definition)
        built = _public_nodes(game)
        assert counted == built


def test_counting_by_rules_heeds_the_cap_on_actions():
    """Without a cap on raises a round ends by the dealer's limit of 64 actions."""
    from foldwise.game.sizes import _count_by_rules, _public_nodes

    text = find_definition("kuhn").to_text().replace("maxRaises = 1", "maxRaises = 200")
    path_game = find_game("kuhn")
    game = type(path_game)("long", parse_definition(text), path_game.menu)
    assert _count_by_rules(game.definition) == _public_nodes(game)


def test_three_player_kuhn():
    """Three-player Kuhn: 12 decision nodes for each of four cards."""
    size = measure(find_game(str(GAMES / "kuhn.limit.3p.game")))
    assert (size.players, size.decision_nodes, size.infosets) == (3, 12, 48)


# Card counts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "groups, classes",
    [
        ((2,), 169),
        ((2, 3), 1_286_792),
        ((2, 3, 1), 55_190_538),
        ((2, 3, 1, 1), 2_428_287_420),
        ((2, 4), 13_960_050),
        ((2, 5), 123_156_254),
        ((3,), 1_755),
        ((4,), 16_432),
        ((5,), 134_459),
        ((3, 1, 1), 2_554_656),
    ],
)
def test_suit_classes_of_hold_em(groups, classes):
    assert counting.suit_classes(groups) == classes


@pytest.mark.parametrize("groups, suits, ranks", [((2,), 3, 4), ((1, 2), 3, 3), ((2, 1), 2, 4), ((1, 1, 1), 4, 2)])
def test_classes_agree_with_enumeration(groups, suits, ranks):
    deck = [(rank, suit) for rank in range(ranks) for suit in range(suits)]

    def deals(groups, left):
        if not groups:
            yield ()
            return
        for group in combinations(left, groups[0]):
            for rest in deals(groups[1:], [card for card in left if card not in group]):
                yield (group, *rest)

    by_suit, by_rank = set(), set()
    for deal in deals(groups, deck):
        by_suit.add(
            min(
                tuple(tuple(sorted((rank, relabel[suit]) for rank, suit in group)) for group in deal)
                for relabel in permutations(range(suits))
            )
        )
        by_rank.add(tuple(tuple(sorted(rank for rank, _ in group)) for group in deal))
    assert counting.suit_classes(groups, suits, ranks) == len(by_suit)
    assert counting.rank_classes(groups, suits, ranks) == len(by_rank)


def test_views_and_deals():
    limit = golden_game("holdem.limit.2p.reverse_blinds.game")
    assert [counting.private_views(limit, s) for s in range(4)] == [
        1326,
        1326 * 19600,
        1326 * 19600 * 47,
        1326 * 19600 * 47 * 46,
    ]
    assert counting.joint_deals(limit, 1) == 1326 * 1225 * 17296
    assert counting.joint_deals(golden_game("leduc.limit.2p.game"), 1) == 6 * 5 * 4


# Names ----------------------------------------------------------------------------------------------------------------


def test_two_nl_follows_its_name():
    game = find_game("two-nl-20").definition
    assert (game.stacks, game.blinds, game.first_players, game.num_board_cards) == ((20, 20), (2, 1), (1, 0), (0, 3))
    for name in ("two-nl-3", "two-nl-1001"):
        with pytest.raises(DefinitionError, match="expected a stack of 4 to 1000 chips"):
            find_game(name)


def test_shipped_definitions_are_the_competition_ones():
    assert find_definition("hunl") == golden_game("holdem.nolimit.2p.reverse_blinds.game")
    assert find_definition("limit") == golden_game("holdem.limit.2p.reverse_blinds.game")
    assert find_definition("leduc") == golden_game("leduc.limit.2p.game")


@pytest.mark.parametrize("name", ["bluff-1-1", "preflop-nl"])
def test_games_without_a_table(name):
    with pytest.raises(DefinitionError, match=f"'{name}' has no ACPC definition"):
        find_definition(name)


# The command ----------------------------------------------------------------------------------------------------------


def run(capsys, *arguments):
    code = main(["games", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


KEYS = {
    "name",
    "players",
    "streets",
    "decision_nodes",
    "nodes",
    "by_street",
    "infosets",
    "infosets_iso",
    "infoset_actions",
    "states",
}


def test_json_is_exactly_one_object(capsys):
    code, out, err = run(capsys, "limit", "--buckets", "10", "--json")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    result = json.loads(out)
    (game,) = result["games"]
    assert set(game) >= KEYS
    assert (game["name"], game["infosets"], game["buckets"]) == ("limit", 57_337_080, 10)
    assert [street["decision_nodes"] for street in game["by_street"]] == [8, 70, 630, 5670]


def test_json_of_all_games(capsys, monkeypatch, built_in):
    monkeypatch.setattr("foldwise.game.sizes.measure", lambda game, buckets: built_in[game.name])
    code, out, _ = run(capsys, "--json")
    assert code == 0
    games = json.loads(out)["games"]
    assert [game["name"] for game in games] == list(BUILT_IN_NAMES)
    assert all(set(game) >= KEYS for game in games)


def test_table_for_people(capsys):
    code, out, err = run(capsys, "leduc")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "leduc: 2 players, 2 streets"
    assert lines[-2].split() == ["all", "36", "85", "936", "288", "2,184", "9,300"]
    assert lines[-1].startswith("deck of")


def test_path_of_a_game_file(capsys):
    code, out, _ = run(capsys, str(GAMES / "leduc.limit.2p.game"), "--json")
    assert code == 0
    assert json.loads(out)["games"][0]["infosets"] == 936


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["nonsense"], "foldwise: game 'nonsense': expected one of kuhn, leduc, "),
        (["no/such.game"], "foldwise: game file 'no/such.game': No such file or directory: give the path"),
        (["bluff-9-9"], "foldwise: bluff-9-9: expected one to three dice"),
        (["two-nl-2"], "foldwise: game 'two-nl-2': expected a stack of 4 to 1000"),
        (["kuhn", "--buckets", "0"], "foldwise: 0 buckets: expected 1 or more"),
        (["kuhn", "--buckets", "x"], "foldwise: Invalid value for '--buckets'"),
        (["kuhn", "--colour"], "foldwise: No such option: --colour"),
        (["kuhn", "leduc"], "foldwise: Got unexpected extra argument"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(capsys, arguments, message):
    for extra in ([], ["--json"]):
        code, out, err = run(capsys, *arguments, *extra)
        assert (code, out) == (2, "")
        assert err.startswith(message)
        assert err.count("\n") == 1


def test_bad_game_file_is_named_with_its_line(capsys, tmp_path):
    path = tmp_path / "bad.game"
    path.write_text("limit\nnumPlayers = 1\n")
    code, out, err = run(capsys, str(path))
    assert (code, out) == (2, "")
    assert err == f"foldwise: {path}, line 2: 'numPlayers = 1': expected a number from 2 to 10\n"


def test_unknown_command_and_version(capsys):
    assert main(["nonsense"]) == 2
    assert capsys.readouterr().err.startswith("foldwise: No such command 'nonsense'")
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("foldwise ")
    assert main(["games", "--help"]) == 0
    assert "Example: foldwise games limit --buckets 5" in capsys.readouterr().out
