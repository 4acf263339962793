"""A user's own post-processing rules: `python:FILE.py:NAME` as a step of a pipeline."""

import json
from pathlib import Path

import numpy as np
import pytest

from foldwise.abstraction.build import load_abstract_game
from foldwise.abstraction.strategy import Strategy
from foldwise.agent.bots import Bot
from foldwise.agent.player_spec import parse_player
from foldwise.agent.postprocessing.python_rules import load_rules, resolve_rules
from foldwise.agent.reading.strategy_rows import StrategyTable
from foldwise.agent.strategy_player import OpenStrategy
from foldwise.cli.main import main
from foldwise.cli.support.policies import postprocessed_policy
from foldwise.game.errors import DefinitionError
from foldwise.game.text.match_state import parse_match_state
from foldwise.matches.engine.compiled_match import MemoryMatch, play_in_memory
from foldwise.matches.network.block_player import network_pipeline, player_name
from foldwise.matches.table.log import state_lines
from foldwise.postprocess import language
from foldwise.postprocess.language import PipelineError, parse_pipeline, parse_variants
from foldwise.postprocess.pipeline import PythonStep
from foldwise.postprocess.transforms import BET, CALL, FOLD, Actions, purify

MINE = """
import numpy as np

from foldwise.postprocess.transforms import FOLD, purify

def largest(rows, actions):
    return purify(rows)

def never_folds(rows, actions):
    rows[:, actions.kinds == FOLD] = 0.0
    totals = rows.sum(axis=1, keepdims=True)
    return np.where(totals > 0, rows / np.where(totals > 0, totals, 1), 1 / rows.shape[1])

def raises(rows, actions):
    return rows / None

def flat(rows, actions):
    return rows[0, :1]

def doubled(rows, actions):
    return 2 * rows

def negative(rows, actions):
    return np.where(np.arange(rows.shape[1]) == 0, -1.0, 2.0 / (rows.shape[1] - 1)) + 0 * rows
"""
ROW = np.array([0.3, 0.3, 0.4])
ACTIONS = Actions(np.array([FOLD, CALL, BET], np.int8), np.array([0.0, 0.0, 1.0]))


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """Leduc after few iterations, so that its rows are mixed; and the file of rules."""
    root = tmp_path_factory.mktemp("rules")
    (root / "leduc.toml").write_text('game = "leduc"\n[solver]\nsampler = "cfr+"\niterations = 8\n')
    (root / "mine.py").write_text(MINE)
    assert main(["solve", str(root / "leduc.toml"), "-o", str(root / "leduc")]) == 0
    return root


@pytest.fixture
def here(solved, monkeypatch):
    monkeypatch.chdir(solved)
    return solved


def test_a_rule_among_others(here):
    """Steps run in the order written, the name is kept verbatim, and exemptions apply."""
    pipeline = parse_pipeline(" Threshold(0.35) | python:mine.py:never_folds|purify except Turn")
    assert str(pipeline) == "threshold(0.35) | python:mine.py:never_folds | purify except turn"
    assert parse_pipeline(str(pipeline)) == pipeline
    alone = load_rules(parse_pipeline("python:mine.py:never_folds except first"))
    assert alone.apply(ROW, ACTIONS) == pytest.approx([0, 3 / 7, 4 / 7])
    assert alone.apply(np.stack([ROW, ROW]), ACTIONS, first=np.array([True, False])) == pytest.approx(
        np.array([ROW, [0, 3 / 7, 4 / 7]])
    )
    both = load_rules(parse_pipeline("threshold(0.35)|python:mine.py:never_folds"))
    assert both.apply(ROW, ACTIONS) == pytest.approx([0, 0, 1])
    assert [str(variant) for variant in parse_variants("none, python:mine.py:largest,new(0:0.1:0.1)")] == [
        "none",
        "python:mine.py:largest",
        "new(0)",
        "new(0.1)",
    ]


def test_paths_are_made_absolute(here):
    resolved = resolve_rules("python:mine.py:largest | purify except first,python:./mine.py:never_folds")
    name = f"python:{here / 'mine.py'}"
    assert resolved == f"{name}:largest | purify except first,{name}:never_folds"


@pytest.mark.parametrize("exempt", ["", " except first", " except preflop", " except first+flop"])
def test_a_rule_plays_what_its_built_in_twin_plays(here, exempt):
    """Tables for people, whole policies and the player's own rows: `largest` is purify, written by a user."""
    opened, strategy = OpenStrategy(Path("leduc")), Strategy(Path("leduc"))
    game = load_abstract_game(strategy)
    own, twin = parse_pipeline(f"python:mine.py:largest{exempt}"), parse_pipeline(f"purify{exempt}")
    raw = postprocessed_policy(strategy, game, parse_pipeline("none"))
    expected = postprocessed_policy(strategy, game, twin)
    assert not np.allclose(raw, expected)
    assert postprocessed_policy(strategy, game, own) == pytest.approx(expected, abs=1e-6)
    rows = zip(StrategyTable(strategy, own).rows(), StrategyTable(strategy, twin).rows())
    assert all(one.postprocessed == pytest.approx(two.postprocessed) for one, two in rows)
    players = [opened.player(pipeline, 5) for pipeline in (own, twin)]
    logs = [played_log(player) for player in players]
    assert logs[0] == logs[1]
    changed = set()
    for state in ("MATCHSTATE:0:7::{}|", "MATCHSTATE:0:7:cr:{}|", "MATCHSTATE:0:7:cc/:{}|/Ah"):
        for card in ("Qs", "Ks", "As"):
            line = parse_match_state(state.format(card), opened.definition)
            (decision, action), (expected, expected_action) = (player.explain(line) for player in players)
            assert decision.probabilities == expected.probabilities
            assert decision.postprocessed == pytest.approx(expected.postprocessed, abs=1e-6)
            assert action == expected_action
            if decision.postprocessed != pytest.approx(decision.probabilities):
                changed.add(state)
    exempt_states = {"first": "MATCHSTATE:0:7::{}|", "flop": "MATCHSTATE:0:7:cc/:{}|/Ah"}
    assert changed
    words = exempt.replace("+", " ").split()
    assert not changed & {state for word, state in exempt_states.items() if word in words}


def played_log(player):
    match = MemoryMatch("test", "leduc", player.definition, num_hands=60, seed=9, names=("own", "random"))
    path = Path("played.log")
    assert play_in_memory(match, (player, Bot("random", 3)), path).count == 0
    return list(state_lines(path))


def test_matches_and_comparisons(here, capsys):
    """In memory, by expectation, by LBR and over tcp, where players run in folders of their own."""
    words = ["--game", "leduc", "--hands", "200", "--seed", "4", "--json"]

    def won(*arguments):
        capsys.readouterr()
        assert main([*arguments, *words]) == 0
        return json.loads(capsys.readouterr().out)["mean_mbb"]

    for post in ("largest", "largest | threshold(0.2) except first"):
        twin = post.replace("largest", "purify")
        assert won("match", f"strategy:leduc|python:mine.py:{post}", "bot:random") == won(
            "match", f"strategy:leduc|{twin}", "bot:random"
        )
    for extra in (["--over", "tcp"], ["--score", "expectation"], ["--score", "aivat"]):
        opponent = "strategy:leduc"
        assert won("match", "strategy:leduc|python:mine.py:largest", opponent, *extra) == pytest.approx(
            won("match", "strategy:leduc|purify", opponent, *extra), abs=1e-3
        )
    capsys.readouterr()
    variants = "purify,python:mine.py:largest,python:mine.py:largest | new(0.2)"
    compare = ["compare", "leduc", "--variants", variants, "--opponents", "bot:strength", "--hands", "200", "--json"]
    assert main(compare) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows[0]["avg_mbb"] == rows[1]["avg_mbb"]
    assert rows[0]["exploitability_mbb"] == pytest.approx(rows[1]["exploitability_mbb"], rel=1e-5)
    assert str(here / "mine.py") in rows[1]["variant"]


def test_the_network_runs_no_rule_of_a_file(here):
    """We neither request such rules from workers nor play them for others."""
    for refused in (network_pipeline, lambda text: player_name(parse_player(f"strategy:leduc|{text}"))):
        with pytest.raises(DefinitionError, match="cannot be played by workers"):
            refused("python:mine.py:largest")
        refused("purify")


@pytest.mark.parametrize(
    "text, expected",
    [
        ("python:none.py:largest", "a file that exists"),
        ("python:mine.py:nothing", "no attribute 'nothing'"),
        ("python:broken.py:largest", "SyntaxError"),
        ("python:mine.py:raises", "TypeError"),
        ("python:mine.py:flat", "returned shape (1,)"),
        ("python:mine.py:doubled", "no probabilities"),
        ("python:mine.py:negative", "no probabilities"),
    ],
)
def test_what_is_no_rule_is_refused_in_one_line(here, capsys, text, expected):
    Path("broken.py").write_text("def")
    commands = [
        ["exploitability", "leduc", "--postprocess", text],
        ["match", f"strategy:leduc|{text}", "bot:call", "--game", "leduc", "--hands", "5", "-o", "refused"],
        ["compare", "leduc", "--variants", f"none,{text}", "--opponents", "bot:call", "--hands", "10"],
    ]
    for command in commands:
        capsys.readouterr()
        assert main(command) == 2
        error = capsys.readouterr().err.strip().splitlines()[-1]
        assert expected in error
        assert not Path("refused").exists()


@pytest.mark.parametrize("text", ["python:", "python:mine.py", "python:mine:rule", "python:mine.py:", "python"])
def test_text_that_names_no_rule_is_refused_by_the_language(text):
    with pytest.raises(PipelineError, match=r"python:FILE\.py:NAME"):
        parse_pipeline(text)


def test_a_rule_of_the_project_is_a_function_and_a_line(here, monkeypatch):
    """`PythonStep` in the table of words: read, played and allowed on the network without a file."""
    monkeypatch.setitem(language.WORDS, "largest", PythonStep("largest", lambda rows, actions: purify(rows)))
    pipeline = parse_pipeline("Largest | threshold(0.1) except first")
    assert str(pipeline) == "largest | threshold(0.1) except first"
    opened = OpenStrategy(Path("leduc"))
    twin = parse_pipeline("purify | threshold(0.1) except first")
    assert played_log(opened.player(pipeline, 5)) == played_log(opened.player(twin, 5))
    assert network_pipeline("largest") == parse_pipeline("largest")
