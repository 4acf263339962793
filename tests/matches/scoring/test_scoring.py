"""`--score` of match, compare and tournament, and `foldwise score`, on a solved Leduc."""

import json
import re

import numpy as np
import pytest

from foldwise.abstraction.build import load_abstract_game
from foldwise.abstraction.storage.checked_json import write_checked
from foldwise.abstraction.strategy import Strategy
from foldwise.agent.player_spec import parse_player
from foldwise.cli.main import main
from foldwise.game.cards import card_text
from foldwise.game.library import find_definition
from foldwise.matches.plan import MatchPlan
from foldwise.matches.scores import SCORES, load_score
from foldwise.matches.scoring.scorers import check_score
from foldwise.matches.statistics import sequence_half_width
from foldwise.solver.response.best_response import ExactResponse


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("scoring")
    for name, iterations in (("good", 200), ("poor", 3)):
        config = root / f"{name}.toml"
        config.write_text(f'game = "leduc"\n[solver]\nsampler = "cfr+"\niterations = {iterations}\n')
        assert main(["solve", str(config), "-o", str(root / name)]) == 0
    return root / "good", root / "poor"


def run_json(capsys, *arguments):
    capsys.readouterr()
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments):
    capsys.readouterr()
    assert main(list(map(str, arguments))) == 2
    return capsys.readouterr().err


def test_match_by_expectation_is_exact_in_leduc(capsys, folders):
    """In self-play each position has the profile's value, as the solver's best response computes it."""
    good, poor = folders
    strategy = Strategy(good)
    game = load_abstract_game(strategy)
    value = ExactResponse(game).exploitability(strategy.policy(game)).value_mbb
    found = run_json(capsys, "match", good, good, "--game", "leduc", "--score", "expectation", "--hands", 50)
    assert [position["mean_mbb"] for position in found["positions"]] == pytest.approx([value, -value], abs=1e-3)
    assert found["ci95_mbb"] == pytest.approx(0.0, abs=1e-9)
    found = run_json(capsys, "match", good, poor, "--game", "leduc", "--score", "expectation", "--hands", 20_000)
    assert found["score"] == "expectation"
    assert found["mean_mbb"] > 0
    assert abs(found["chips"]["mean_mbb"] - found["mean_mbb"]) < 2 * found["chips"]["ci95_mbb"]


def test_match_by_aivat_agrees_and_is_narrower(capsys, folders, tmp_path):
    """Both known, one known against a bot, and the same numbers from the logs after the fact."""
    good, poor = folders
    options = ("--game", "leduc", "--hands", 1000, "--seed", 3)
    exact = run_json(capsys, "match", good, poor, "--score", "expectation", *options)["mean_mbb"]
    both = run_json(capsys, "match", good, poor, "--score", "aivat", *options, "-o", tmp_path / "both")
    assert abs(both["mean_mbb"] - exact) < 2 * both["ci95_mbb"]
    assert both["variance_ratio"] > 4
    assert both["chips"]["sd_mbb"] == pytest.approx(both["sd_mbb"] * both["variance_ratio"] ** 0.5)
    one = run_json(capsys, "match", "bot:strength", good, "--score", "aivat", *options)
    assert abs(one["mean_mbb"] - one["chips"]["mean_mbb"]) < 2 * (one["ci95_mbb"] + one["chips"]["ci95_mbb"])
    assert one["variance_ratio"] > 1.5
    log = tmp_path / "both" / "0000.AB.log"
    name = re.search(r"STATE:0:.*:([^|:]*)\|[^|:]*$", log.read_text(), re.M).group(1)
    scored = run_json(
        capsys, "score", log, "--strategy", good, "--opponent-strategy", poor, "--player", name, "--game", "leduc"
    )
    by_method = {method["method"]: method for method in scored["methods"]}
    assert list(by_method) == ["raw", "all-in", "aivat"]
    assert by_method["raw"]["mean_mbb"] == by_method["all-in"]["mean_mbb"]
    assert by_method["aivat"]["sd_mbb"] < by_method["raw"]["sd_mbb"] / 2


def test_aivat_stops_by_a_confidence_sequence(capsys, folders):
    """Looks after each match: the interval is the one that covers at all of them."""
    good, _ = folders
    arguments = ("--game", "leduc", "--hands", 200, "--until-ci", 40, "--threads", 2)
    found = run_json(capsys, "match", good, good, "--score", "aivat", *arguments)
    assert found["interval"] == "confidence sequence"
    assert found["ci95_mbb"] <= 40
    assert found["ci95_mbb"] == pytest.approx(sequence_half_width(found["sd_mbb"], found["pairs"]))


def test_compare_and_tournament_by_expectation(capsys, folders):
    good, poor = folders
    found = run_json(
        capsys, "compare", good, "--variants", "none,purify", "--opponents", poor, "--score", "expectation",
        "--hands", 10, "--no-exploitability",
    )  # fmt: skip
    means = {row["variant"]: row["avg_mbb"] for row in found["rows"]}
    assert found["differences"][0]["mean_mbb"] == pytest.approx(means["none"] - means["purify"])
    assert found["differences"][0]["ci95_mbb"] == pytest.approx(0.0, abs=1e-9)
    arguments = ("--game", "leduc", "--score", "expectation", "--hands", 10)
    table = run_json(capsys, "tournament", good, poor, f"strategy:{good}|purify", *arguments)
    cells = np.array([[cell["mean_mbb"] if cell else 0.0 for cell in row] for row in table["cells"]])
    assert np.allclose(cells, -cells.T)
    assert cells[0, 1] == pytest.approx(means["none"])
    assert cells[2, 1] == pytest.approx(means["purify"])


def test_values_follow_the_strategy(capsys, folders, tmp_path):
    """Values of another solution are refused, and `--fit` makes them anew."""
    _, poor = folders
    made = run_json(capsys, "score", "--fit", "--strategy", poor)
    assert made["values"] == [str(poor / "values")]
    manifest = poor / "values" / "manifest.json"
    entry = json.loads(manifest.read_text())
    del entry["checksum"]
    write_checked(manifest, {**entry, "fingerprint": "another"})
    options = ("--game", "leduc", "--hands", 10, "--score", "aivat")
    assert "--fit" in refused(capsys, "match", poor, "bot:call", *options)
    run_json(capsys, "score", "--fit", "--strategy", poor)
    assert json.loads(manifest.read_text())["fingerprint"] == entry["fingerprint"]
    assert run_json(capsys, "match", poor, "bot:call", *options)["score"] == "aivat"


def test_bad_input_is_one_line(capsys, folders, tmp_path):
    good, _ = folders
    assert "is not a strategy" in refused(
        capsys, "match", good, "bot:call", "--game", "leduc", "--score", "expectation"
    )
    assert "is not a strategy: it takes 1" in refused(capsys, "tournament", "bot:call", "bot:fold", "--score", "aivat")
    assert "expected chips" in refused(capsys, "match", good, good, "--game", "leduc", "--score", "luck")
    assert "give one" in refused(capsys, "match", good, good, "--game", "leduc", "--score", "aivat", "--all-in-ev")
    assert "give a log" in refused(capsys, "score")
    assert "no such file" in refused(capsys, "score", tmp_path / "nothing.log")
    log = tmp_path / "short.log"
    log.write_text("STATE:0:cc/cc:2c|3c/4d:-1|1:A|B\n")
    assert "not in the game's deck" in refused(capsys, "score", log, "--strategy", good)
    low, middle, high = (card_text(card) for card in sorted(find_definition("leduc").deck)[::2])
    log.write_text(f"STATE:0:cc/cc:{low}|{middle}/{high}:-1|1:A|B\n")
    assert "no player 'C'" in refused(capsys, "score", log, "--strategy", good, "--player", "C")
    assert run_json(capsys, "score", log, "--strategy", good, "--player", "B")["hands"] == 1


def test_check_score_names_the_player():
    players = parse_player("strategy:x"), parse_player("bot:call")
    check_score("aivat", players)
    with pytest.raises(ValueError, match="bot:call"):
        check_score("expectation", players)


def test_a_log_is_scored_by_the_game_it_names(capsys, tmp_path):
    """By the plan beside it, else by its header; a header without a name we know stands for hunl, as a missing one does."""
    assert main(["match", "bot:call", "bot:raise", "--game", "leduc", "--hands", "20", "-o", str(tmp_path / "m")]) == 0
    capsys.readouterr()
    log = tmp_path / "m" / "0000.AB.log"
    beside = run_json(capsys, "score", log)
    assert beside["hands"] == 20
    alone = tmp_path / "alone.log"
    alone.write_bytes(log.read_bytes())
    assert run_json(capsys, "score", alone)["methods"] == beside["methods"]
    for header in ("", "# name/game/hands/seed x holdem.nolimit.2p.reverse_blinds.game 1 0\n"):
        alone.write_text(f"{header}STATE:7:f:AsKs|AdKd:50|-50:A|B\n")
        assert run_json(capsys, "score", alone)["hands"] == 1
    said = refused(capsys, "score", tmp_path / "m")
    assert "is a folder: give one of its logs" in said and str(log) in said
    alone.unlink()
    assert "it holds no logs" in refused(capsys, "score", tmp_path)


@pytest.mark.parametrize(
    "line, said",
    [
        ("STATE:7:r300c/cc/cc/cc:AsKs|AdKd/QcJhTc/2d/3h:300|-300:A|B", "hand 7: the log pays 300|-300, the hand gives 0|0"),
        ("STATE:7:f:AsKs|AdKd:100|-100:A|B", "the hand gives 50|-50"),
        ("STATE:7:r300c/cc/cc/cc:AsKs|/QcJhTc/2d/3h:300|-200:A|B", "expected nothing in all"),
    ],
)  # fmt: skip
def test_score_names_a_payoff_the_hand_does_not_give(line, said, capsys, tmp_path):
    log = tmp_path / "wrong.log"
    log.write_text(f"{line}\n")
    assert said in refused(capsys, "score", log)


def test_score_of_hands_with_hidden_cards(capsys, tmp_path):
    """Chips always count; where an all-in was not shown its expectation is left out, and AIVAT says what it lacks."""
    log = tmp_path / "room.log"
    folded = "STATE:0:r300f:|AdKd:-100|100:A|B\n"
    log.write_text(folded + "STATE:1:r300c/cc/cc/cc:AsKs|/QcJhTc/2d/3h:300|-300:B|A\n")
    found = run_json(capsys, "score", log, "--player", "A")
    assert [method["method"] for method in found["methods"]] == ["raw", "all-in"]
    assert {method["mean_mbb"] for method in found["methods"]} == {-2000.0}
    log.write_text(folded + "STATE:1:r20000c///:AsKs|/QcJhTc/2d/3h:20000|-20000:B|A\n")
    found = run_json(capsys, "score", log, "--player", "A")
    assert [method["method"] for method in found["methods"]] == ["raw"]


def test_aivat_of_hidden_cards_is_refused(capsys, folders, tmp_path):
    good, _ = folders
    log = tmp_path / "hidden.log"
    log.write_text("STATE:0:rf:Ks|:-1|1:A|B\n".replace("rf", "crf"))
    assert "AIVAT needs them" in refused(capsys, "score", log, "--strategy", good, "--game", "leduc")


def test_every_line_of_the_table_of_scores_has_its_function():
    """One of the two kinds; a plan knows the same names."""
    for name, score in SCORES.items():
        assert bool(score.log_scorer) != bool(score.board_values)
        assert callable(load_score(score.log_scorer or score.board_values))
        assert MatchPlan.model_fields["score"].metadata[0].func(name) == name
