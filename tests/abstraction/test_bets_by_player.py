"""Menus by player, from the config to the table: a tree for each seat, solved, stored, and played from both."""

import json
from pathlib import Path

import numpy as np
import pytest

from foldwise.abstraction.build import config_tree, load_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.abstraction.shipped_configs import find_config
from foldwise.abstraction.strategy import Strategy
from foldwise.agent.reading.typed_state import typed_state
from foldwise.agent.strategy_player import OpenStrategy
from foldwise.cli.main import main
from foldwise.game.errors import DefinitionError
from foldwise.game.trees.tree import Tree
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.postprocess.language import parse_pipeline
from foldwise.solver.config import RunConfig

# Leduc's cards, no limit: the second player has the small blind and acts first before the board, second after it.
TOY_GAME = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 2
stack = 60 60
blind = 2 1
firstPlayer = 2 1
numSuits = 2
numRanks = 3
numHoleCards = 1
numBoardCards = 0 1
END GAMEDEF
"""
BLIND = ("f c 1p | f c", "f c 1p | f c")
COUNTS = [[14, 134, 578, 1971], [13, 122, 487, 1971]]  # decisions of each player by street
BUTTON = ("f c 0.5p 2p | f c", "f c 0.5p 1p 2p | f c a | f c")


def write_config(folder: Path, **bets: tuple[str, ...]) -> Path:
    (folder / "toy.game").write_text(TOY_GAME)
    lines = [f"{key} = {json.dumps(list(texts))}" for key, texts in bets.items()]
    solver = '[solver]\nsampler = "cfr+"\niterations = 200\n'
    path = folder / "toy.toml"
    path.write_text("\n".join(['game = "toy.game"', "[bets]", *lines, solver]))
    return path


def first_bets(tree: Tree, player: int, street: int) -> set[tuple[int, ...]]:
    """Raises offered where nobody has raised on the street, in chips above what the others have in."""
    found = set()
    for node in np.flatnonzero(tree.nodes["kind"] == DECISION):
        record = tree.nodes[node]
        if (int(record["player"]), int(record["street"])) == (player, street) and len(set(tree.spent[node])) == 1:
            first = int(record["first_child"])
            codes = tree.action[first : first + int(record["num_children"])]
            found.add(tuple(int(code - tree.spent[node, 0]) for code in codes if code > 0))
    return found


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seats")
    config = write_config(folder, player_0=BLIND, player_1=BUTTON)
    assert main(["solve", str(config), "-o", str(folder / "strategy"), "--json"]) == 0
    return folder / "strategy"


def test_each_player_bets_by_his_own_menu(solved):
    tree = Strategy(solved).tree
    # After a limped or called pot of 2 x: the blind leads by the pot, the button by its half, the pot, and twice the pot.
    limped = {sizes for sizes in first_bets(tree, 1, 1) if sizes[0] == 2}
    assert (4,) in first_bets(tree, 0, 1) and limped == {(2, 4, 8)}
    assert all(len(sizes) <= 1 for sizes in first_bets(tree, 0, 1))


def test_the_tree_has_the_nodes_a_count_by_hand_gives(tmp_path):
    """One bet a player and round, after which only call and fold are left, but for the button's all-in over a lead."""
    one = write_config(tmp_path, player_0=("f c 1p | f c", "f c"), player_1=("f c 2p 3p | f c", "f c"))
    tree = config_tree(read_config(one, RunConfig, {}))
    decisions = tree.nodes[tree.nodes["kind"] == DECISION]
    before = decisions[decisions["street"] == 0]
    # The button; the blind after a limp or one of two raises; the button once more after limp and raise.
    assert sorted(before["player"].tolist()) == [0, 0, 0, 1, 1]
    # Four ways to see the board (limp-check, limp-raise-call, two called raises), two checks each.
    assert len(decisions[decisions["street"] == 1]) == 4 * 2


def test_the_same_menu_for_both_is_the_menu_of_streets(tmp_path):
    (tmp_path / "both").mkdir()
    (tmp_path / "each").mkdir()
    both = read_config(write_config(tmp_path / "both", streets=BUTTON), RunConfig, {})
    each = read_config(write_config(tmp_path / "each", player_0=BUTTON, player_1=BUTTON), RunConfig, {})
    one = read_config(write_config(tmp_path / "each", streets=BLIND, player_1=BUTTON), RunConfig, {})
    two = read_config(write_config(tmp_path / "each", player_0=BLIND, player_1=BUTTON), RunConfig, {})
    for first, second in ((both, each), (one, two)):
        assert np.array_equal(config_tree(first).nodes, config_tree(second).nodes)
    assert config_tree(both).num_nodes != config_tree(one).num_nodes


@pytest.mark.parametrize(
    "bets, message",
    [
        ({"player_0": BLIND}, "give `streets`, or both `player_0` and `player_1`"),
        ({"player_0": BLIND, "player_1": BUTTON[:1]}, "bets for 1 streets"),
    ],
)
def test_half_a_menu_is_refused(bets, message, tmp_path):
    with pytest.raises(DefinitionError, match=message):
        read_config(write_config(tmp_path, **bets), RunConfig, {})


def test_it_is_solved_and_its_folder_says_the_same_tree(solved, capsys):
    assert main(["exploitability", str(solved), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert 0.0 <= result["exploitability_mbb"] < 100.0
    strategy = Strategy(solved)
    assert strategy.manifest.config["bets"]["player_0"] == list(BLIND)
    assert load_abstract_game(strategy).fingerprint == strategy.manifest.abstraction


def test_the_agent_plays_both_seats(solved, capsys):
    """Against itself and against bets of every size: no fault, and each seat answers with its own sizes."""
    for opponent in (str(solved), "bot:random"):
        words = ["match", str(solved), opponent, "--game", str(solved.parent / "toy.game"), "--hands", "200", "--json"]
        assert main(words) == 0
        result = json.loads(capsys.readouterr().out)
        assert result["faults"] == 0 and [entry["hands"] for entry in result["positions"]] == [200, 200]
    opened = OpenStrategy(solved)
    player = opened.player(parse_pipeline("none"), seed=1)
    for betting, expected in (("", ["c", "r4", "r10"]), ("c", ["c", "r6"])):
        decision, _ = player.explain(typed_state(opened.definition, betting, "", "Ks"))
        assert [action for action in decision.actions if action != "f"] == expected


def test_the_shipped_config_gives_the_button_more_sizes():
    config = read_config(find_config("hunl-seats"), RunConfig, {})
    tree = config_tree(config)
    decisions = tree.nodes[tree.nodes["kind"] == DECISION]
    counts = [[int(((decisions["player"] == p) & (decisions["street"] == s)).sum()) for s in range(4)] for p in (0, 1)]
    assert counts == COUNTS
    for street in (1, 2, 3):
        assert max(map(len, first_bets(tree, 1, street))) == 4
        assert max(map(len, first_bets(tree, 0, street))) <= 2
    # After a limp a third of the pot is below the smallest bet; after a raise to 300 it is not.
    flops = {sizes for sizes in first_bets(tree, 1, 1) if sizes[-1] in (19_900, 19_700)}
    assert flops == {(100, 150, 300, 19_900), (198, 450, 900, 19_700)}
