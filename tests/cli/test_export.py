"""Strategies for other programs: rows as CSV and JSON, and OpenSpiel's best response to the exported policy."""

import csv
import json

import numpy as np
import pyspiel
import pytest

from foldwise.abstraction.build import load_abstract_game
from foldwise.abstraction.strategy import Strategy
from foldwise.agent.reading.openspiel import openspiel_policy
from foldwise.agent.reading.strategy_rows import StrategyTable
from foldwise.agent.reading.typed_state import typed_state
from foldwise.agent.strategy_player import OpenStrategy
from foldwise.cli.main import main
from foldwise.cli.support.policies import postprocessed_policy
from foldwise.game.errors import DefinitionError
from foldwise.postprocess.language import parse_pipeline
from foldwise.solver.response.best_response import ExactResponse
from tests.support.places import CONFIGS


@pytest.fixture(scope="module")
def strategies(tmp_path_factory):
    """Three small games, solved roughly: a strategy in equilibrium would hide mistakes in the export."""
    folder = tmp_path_factory.mktemp("strategies")
    for name, iterations in (("kuhn", 20), ("leduc", 30), ("bluff-1-1", 20)):
        words = ["solve", str(CONFIGS / f"{name}.toml"), "-o", str(folder / name), "--iterations", str(iterations)]
        assert main([*words, "--sampler", "cfr"]) == 0
    return folder


@pytest.mark.parametrize(
    "game, infosets, pipeline",
    [
        ("kuhn", 12, "none"),
        ("kuhn", 12, "threshold(0.2)"),
        ("leduc", 936, "none"),
        ("leduc", 936, "purify except first"),
        ("bluff-1-1", 24576, "none"),
    ],
)
def test_openspiel_finds_the_same_exploitability(strategies, game, infosets, pipeline):
    strategy = Strategy(strategies / game)
    abstract = load_abstract_game(strategy)
    spec = parse_pipeline(pipeline)
    ours = ExactResponse(abstract).exploitability(postprocessed_policy(strategy, abstract, spec))
    name, policy = openspiel_policy(strategy, spec)
    assert len(policy) == infosets
    theirs = pyspiel.load_game(name)
    found = 1000 * pyspiel.nash_conv(theirs, pyspiel.TabularPolicy(policy)) / 2
    assert found == pytest.approx(ours.exploitability_mbb, rel=1e-5)
    assert found > 1.0


def test_openspiel_export_names_every_infoset_of_openspiel(strategies, tmp_path):
    output = tmp_path / "leduc.json"
    assert main(["export", str(strategies / "leduc"), "-o", str(output), "--format", "openspiel"]) == 0
    record = json.loads(output.read_text())
    game = pyspiel.load_game(record["game"])
    seen = set()

    def walk(state):
        if state.is_terminal():
            return
        if not state.is_chance_node():
            name = state.information_state_string()
            seen.add(name)
            row = record["policy"][name]
            assert [action for action, _ in row] == state.legal_actions()
            assert sum(probability for _, probability in row) == pytest.approx(1.0)
        for action in state.legal_actions():
            walk(state.child(action))

    walk(game.new_initial_state())
    assert seen == set(record["policy"])


def test_other_games_have_no_openspiel_form():
    class Other:
        manifest = type("Manifest", (), {"game": "hunl"})

    with pytest.raises(DefinitionError, match=r"hunl.*kuhn, leduc, bluff-1-1"):
        openspiel_policy(Other())


def test_rows_are_what_the_player_plays(strategies):
    """Every row of Leduc beside the agent's own answer in a typed state."""
    opened = OpenStrategy(strategies / "leduc")
    pipeline = parse_pipeline("threshold(0.2) except first")
    player = opened.player(pipeline, seed=0)
    compared = 0
    for row in StrategyTable(opened.strategy, pipeline).rows(street=1):
        private, public = row.hand.split("/")
        board, hand = f"{public}h", f"{private}s"
        decision, _ = player.explain(typed_state(opened.definition, row.betting, board, hand))
        assert (decision.node, decision.bucket) == (row.node, row.bucket)
        assert decision.postprocessed == pytest.approx(row.postprocessed)
        assert decision.probabilities == pytest.approx(row.probabilities)
        assert decision.actions == row.actions
        compared += 1
    # Nine first rounds go on to a second one with 9 views of 3 ranks each, and six decisions behind each of them.
    assert compared == 5 * 9 * 6


def test_csv_and_json_say_the_same(strategies, tmp_path, capsys):
    source = str(strategies / "leduc")
    conditions = ["--betting", "cr", "--hand", "K", "--postprocess", "purify"]
    assert main(["export", source, "-o", str(tmp_path / "a.csv"), *conditions]) == 0
    assert main(["export", source, "-o", str(tmp_path / "a.json"), *conditions, "--json"]) == 0
    assert '"infosets": 1' in capsys.readouterr().out
    with (tmp_path / "a.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    (row,) = json.loads((tmp_path / "a.json").read_text())
    assert [line["action"] for line in lines] == row["actions"] == ["f", "c", "r"]
    assert [float(line["probability"]) for line in lines] == row["probabilities"]
    assert sorted(row["postprocessed"]) == [0.0, 0.0, 1.0]
    assert (row["player"], row["street"], row["hand"], row["betting"]) == (0, 0, "K", "cr")


def test_whole_strategy_is_exported_once(strategies, tmp_path):
    table = StrategyTable(Strategy(strategies / "bluff-1-1"))
    rows = list(table.rows(betting="1x3 2x2"))
    assert [row.hand for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert rows[0].actions[0] in ("bluff", "2x3")
    assert "bluff" in rows[0].actions
    kuhn = list(StrategyTable(Strategy(strategies / "kuhn")).rows())
    assert len(kuhn) == 12
    assert len({(row.node, row.bucket) for row in kuhn}) == 12
    assert np.allclose([sum(row.probabilities) for row in kuhn], 1.0)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["-o", "x.txt"], "expected csv, json or openspiel"),
        (["-o", "x.csv", "--street", "7"], "street 7: expected 0 to 1"),
        (["-o", "x.csv", "--betting", "q"], "no legal action at character 1"),
        (["-o", "x.json", "--format", "openspiel", "--street", "0"], "leave the conditions out"),
    ],
)
def test_export_says_what_is_wrong(strategies, arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(strategies / "leduc"), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
