"""Strategies at the table: the compiled engine, sockets and plain Python play the same hands; the commands around them."""

import json
import shutil
import subprocess
from functools import partial
from pathlib import Path

import numba
import numpy as np
import pytest

from foldwise.abstraction.build import load_abstract_game
from foldwise.abstraction.storage.array_store import commit_manifest, write_array
from foldwise.abstraction.strategy import Strategy
from foldwise.agent.bots import Bot
from foldwise.agent.following.decision_kernels import describe_actions
from foldwise.agent.following.policy_kernels import postprocess_policy
from foldwise.agent.following.tracker import empty_seat, strategy_seat
from foldwise.agent.mappings.translation import DEFAULT_TRANSLATION
from foldwise.agent.strategy_player import OpenStrategy, StrategyPlayer
from foldwise.cli.main import main
from foldwise.cli.support.policies import postprocessed_policy
from foldwise.game.betting import Action
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.hands.dealing import Shoe
from foldwise.game.library import find_definition
from foldwise.game.text.match_state import parse_match_state
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.matches.engine.compiled_match import MemoryMatch, play_in_memory, play_values
from foldwise.matches.table.hand import Hand
from foldwise.matches.table.log import seat_values, state_lines
from foldwise.postprocess.language import parse_pipeline
from foldwise.postprocess.transforms import Actions
from tests.support.made_strategies import (
    NUM_BUCKETS,
    StandInBuckets,
    made_player,
    made_seat,
    short_hunl,
    tree_with_rows,
)
from tests.support.table import Table, make_settings

USUAL = "f c 0.5p 1p a | f c 1p a | f c a | f c"
OTHER = "f c 0.7p 2p a | f c 1.5p a | f c 1p | f c"
SMALL = "f c 0.1p 0.2p 0.3p | f c 0.1p 0.2p | f c"


class InPython:
    """A player the compiled engine does not know."""

    def __init__(self, player):
        self.choose = player.choose


def pairings():
    short = short_hunl()
    return {
        "two abstractions": (short, made_player(short, USUAL, seed=1), made_player(short, OTHER, seed=2)),
        "sizes below the least raise": (
            short,
            made_player(short, SMALL, seed=1, pipeline="threshold(0.2)"),
            made_player(short, USUAL, seed=2, pipeline="new(0.2) except first"),
        ),
        "a wild bot": (short, made_player(short, OTHER, seed=4, pipeline="purify"), Bot("random", 5)),
        "min-raises": (short, Bot("raise", 6), made_player(short, USUAL, seed=7)),
        "limit hold'em, a bet more than the other knows": (
            limit := find_definition("limit"),
            made_player(limit, "f c *", seed=1),
            made_player(
                limit, "f c * | f c * | f c", *3 * ["f c * | f c * | f c * | f c"], seed=2, pipeline="new(0.2)"
            ),
        ),
        "leduc": (
            find_definition("leduc"),
            made_player(find_definition("leduc"), "f c *", seed=1),
            made_player(find_definition("leduc"), "f c * | f c", seed=2, pipeline="purify except flop"),
        ),
    }


@pytest.mark.parametrize("name", list(pairings()))
def test_engine_plays_the_hands_of_the_python_player(name, tmp_path):
    definition, *players = pairings()[name]
    match = MemoryMatch("m", "game", definition, 400, 3, ("A", "B"))
    play_in_memory(match, tuple(players), tmp_path / "compiled.log")
    play_in_memory(match, tuple(map(InPython, players)), tmp_path / "python.log")
    compiled = (tmp_path / "compiled.log").read_bytes()
    assert compiled == (tmp_path / "python.log").read_bytes()
    by_seat = seat_values(list(state_lines(tmp_path / "compiled.log")))
    for threads in (1, 2):
        values = play_values(definition, tuple(players), 3, 400, threads)
        assert values.tolist() == by_seat
    assert len({tuple(row) for row in values.tolist()}) > 5


@pytest.mark.parametrize(
    "name, num_hands", [("two abstractions", 2000), ("limit hold'em, a bet more than the other knows", 500)]
)
async def test_engine_plays_the_hands_of_sockets(name, num_hands, tmp_path):
    """Different abstractions on the two sides, through a real dealer and two real clients."""
    definition, *players = pairings()[name]
    table = Table(make_settings(definition.to_text(), num_hands, 9), tmp_path)
    reports = await table.seat(definition, *players)
    outcome = await table.finish()
    assert outcome.completed
    assert not outcome.complaints()
    assert [report.faults for report in reports] == [0, 0]
    match = MemoryMatch("m", "game", definition, num_hands, 9, ("Alice", "Bob"))
    play_in_memory(match, tuple(players), tmp_path / "memory.log")
    assert outcome.log_lines("STATE") == list(state_lines(tmp_path / "memory.log"))


def test_an_answer_depends_on_state_and_seed_alone():
    """Asked again in another order, by a player that never saw the hand before."""
    definition = short_hunl()
    opponent = Bot("random", 3)
    asked = []
    player = made_player(definition, SMALL, USUAL, USUAL, USUAL, seed=5)
    for number, deal in zip(range(60), Shoe(definition, 4).deals()):
        hand = Hand(definition, deal, number)
        while not hand.betting.finished:
            position = hand.betting.player_to_act
            state = hand.state(position)
            if position == number % 2:
                action = player.choose(state)
                asked.append((state.text(), action))
            else:
                action = opponent.choose(state)
            hand.apply(action)
    again = made_player(definition, SMALL, USUAL, USUAL, USUAL, seed=5)
    for text, action in reversed(asked):
        assert again.choose(parse_match_state(text, definition)) == action
    other = made_player(definition, SMALL, USUAL, USUAL, USUAL, seed=6)
    assert any(other.choose(parse_match_state(text, definition)) != action for text, action in asked)


def test_action_frequencies_are_those_of_the_row():
    """Draws of 20,000 hands at one infoset: 5 standard errors."""
    definition = short_hunl()
    player = made_player(definition, USUAL, seed=8)
    line = "MATCHSTATE:1:{}::|AhKd"
    decision, _ = player.explain(parse_match_state(line.format(0), definition))
    counts = dict.fromkeys(decision.actions, 0)
    for number in range(20_000):
        action = player.choose(parse_match_state(line.format(number), definition))
        counts[action.text(False)] += 1
    for action, probability in zip(decision.actions, decision.probabilities):
        error = 5 * np.sqrt(probability * (1 - probability) / 20_000)
        assert counts[action] / 20_000 == pytest.approx(probability, abs=error)


def test_other_games_are_refused_by_their_difference():
    player = made_player(short_hunl(2000), USUAL)
    state = parse_match_state("MATCHSTATE:1:0::|AhKd", short_hunl(3000))
    with pytest.raises(DefinitionError, match=r"stacks = \(2000, 2000\).*stacks = \(3000, 3000\)"):
        player.choose(state)
    with pytest.raises(DefinitionError, match="stacks"):
        play_values(short_hunl(3000), (player, Bot("call")), 1, 2, 1)


@pytest.mark.parametrize(
    "text", ["threshold(0.3)", "purify except first", "new(0.2) except flop+turn", "classes(bets=split(1))"]
)
def test_policy_kernel_equals_the_pipeline_row_by_row(text):
    definition = short_hunl(1500)
    tree = tree_with_rows(definition, USUAL)
    pipeline = parse_pipeline(text)
    generator = np.random.default_rng(3)
    decisions = np.flatnonzero(tree.nodes["kind"] == DECISION)
    num_entries = NUM_BUCKETS * int(tree.nodes["num_children"][decisions].sum())
    policy = generator.random(num_entries)
    before = policy.copy()
    stacks = np.array(definition.stacks, np.int64)
    num_buckets = np.full((4, 2), NUM_BUCKETS, np.int32)
    postprocess_policy(tree, num_buckets, stacks, pipeline.program(), policy)
    kinds, sizes = np.zeros(20, np.int8), np.zeros(20)
    for node in decisions[:: max(1, len(decisions) // 200)]:
        count = describe_actions(tree, int(node), 1500, kinds, sizes)
        above, acted = int(tree.parent[node]), False
        while above >= 0:
            record = tree.nodes[above]
            acted = acted or (record["kind"] == DECISION and record["player"] == tree.nodes[node]["player"])
            above = int(tree.parent[above])
        start = int(tree.nodes[node]["base"])
        table = before[start : start + NUM_BUCKETS * count].reshape(NUM_BUCKETS, count)
        expected = pipeline.apply(
            table,
            Actions(kinds[:count].copy(), sizes[:count].copy()),
            street=int(tree.nodes[node]["street"]),
            first=not acted,
        )
        np.testing.assert_allclose(policy[start : start + NUM_BUCKETS * count], expected.ravel(), atol=1e-12)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two strategies of Leduc: with and without suits, well and badly solved."""
    root = tmp_path_factory.mktemp("strategies")
    config = root / "leduc.toml"
    config.write_text('game = "leduc"\n[solver]\nsampler = "cfr+"\niterations = 300\n')
    suits = root / "suits.toml"
    suits.write_text(
        'game = "leduc"\n[cards]\nstreets = [{ method = "none" }, { method = "none" }]\n'
        '[solver]\nsampler = "cfr"\niterations = 20\n'
    )
    for path in (config, suits):
        assert main(["solve", str(path), "-o", str(root / path.stem)]) == 0
    return root / "leduc", root / "suits"


def run(capsys, *arguments):
    capsys.readouterr()
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_purification_costs_leduc_much_and_none_nothing(folders):
    strategy = Strategy(folders[0])
    game = load_abstract_game(strategy)
    raw = strategy.policy(game)
    assert np.array_equal(postprocessed_policy(strategy, game, parse_pipeline("none")), raw)
    pure = postprocessed_policy(strategy, game, parse_pipeline("purify"))
    assert not np.array_equal(pure, raw)
    assert set(np.unique(pure).tolist()) <= {0.0, 0.5, 1.0, *np.unique(pure[(pure > 0.3) & (pure < 0.4)]).tolist()}


def test_compare_counts_the_same_hands_as_match(folders, capsys, tmp_path):
    good, bad = folders
    result = run(
        capsys, "compare", good, "--variants", "none,purify", "--opponents", f"strategy:{bad}", "bot:random",
        "--hands", 600, "--seed", 4, "-o", tmp_path / "out",
    )  # fmt: skip
    assert [row["variant"] for row in result["rows"]] == ["none", "purify"]
    for row in result["rows"]:
        for cell in row["results"]:
            spec = f"strategy:{good}|{row['variant']}"
            played = run(capsys, "match", spec, cell["opponent"], "--hands", 600, "--seed", 4, "--game", "leduc")
            assert cell["mean_mbb"] == pytest.approx(played["mean_mbb"])
            assert cell["ci95_mbb"] == pytest.approx(played["ci95_mbb"])
            assert cell["hands"] == played["hands"] == 1200
        assert row["avg_mbb"] == pytest.approx(np.mean([cell["mean_mbb"] for cell in row["results"]]))
        assert row["min_mbb"] == min(cell["mean_mbb"] for cell in row["results"])
    none, purify = result["rows"]
    assert none["exploitability_mbb"] < 5 < 500 < purify["exploitability_mbb"]
    (difference,) = result["differences"]
    assert difference["mean_mbb"] == pytest.approx(none["avg_mbb"] - purify["avg_mbb"])
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"asked.json", "cells", "comparison.json", "comparison.csv", "differences.csv", "comparison.png"}


def test_variants_that_play_alike_differ_by_nothing(folders, capsys):
    """With shared deals and draws, a threshold below every probability changes no hand, and the interval is a point."""
    result = run(
        capsys, "compare", folders[1], "--variants", "none,threshold(0.0000001)", "--opponents", "bot:call",
        "--hands", 300, "--no-exploitability",
    )  # fmt: skip
    (difference,) = result["differences"]
    assert (difference["mean_mbb"], difference["ci95_mbb"]) == (0.0, 0.0)
    assert result["rows"][0]["results"][0]["ci95_mbb"] > 100


def test_sweep_writes_its_curve(folders, capsys, tmp_path):
    result = run(
        capsys, "compare", folders[0], "--sweep", "new(0:0.5:0.25)", "--opponents", "bot:raise", "--hands", 100,
        "-o", tmp_path,
    )  # fmt: skip
    assert [row["variant"] for row in result["rows"]] == ["new(0)", "new(0.25)", "new(0.5)"]
    assert (tmp_path / "comparison.png").stat().st_size > 5000


def test_tournament_is_antisymmetric(folders, capsys):
    good, bad = folders
    result = run(capsys, "tournament", good, f"strategy:{bad}|purify", "bot:random", "--hands", 300)
    cells = result["cells"]
    for i in range(3):
        assert cells[i][i] is None
        for j in range(3):
            if i != j:
                assert cells[i][j]["mean_mbb"] == -cells[j][i]["mean_mbb"]
    assert cells[0][2]["mean_mbb"] > 0


def test_inspect_prints_the_row(folders, capsys):
    opened = OpenStrategy(folders[0])
    result = run(
        capsys, "inspect", folders[0], "--betting", "rc/", "--board", "Qh", "--hand", "Qs", "--postprocess", "purify"
    )
    bucket = opened.lookup.bucket(
        *(tuple(parse_match_state("MATCHSTATE:0:0:rc/:Qs|/Qh", opened.definition).hole_cards[:1])), (42,)
    )
    row, reached = opened.strategy.row(result["node"], bucket)
    assert result["bucket"] == bucket
    assert result["probabilities"] == pytest.approx(row.tolist())
    assert result["reached"] == reached
    assert sorted(result["postprocessed"]) == [0.0, 1.0]
    assert result["actions"] == ["c", "r"]
    several = run(capsys, "inspect", folders[0], "--state", "MATCHSTATE:0:0::Qs|", "MATCHSTATE:1:0:c:|Kh")
    assert [state["hand"] for state in several["states"]] == ["Qs", "Kh"]


def test_inspect_counts_the_solvers_visits(capsys, tmp_path):
    """External sampling adds one to the opponent's root infoset in each walk of the second player."""
    config = tmp_path / "leduc.toml"
    config.write_text('game = "leduc"\n[solver]\nsampler = "external"\niterations = 1000\n')
    run(capsys, "solve", config, "-o", tmp_path / "run")
    shown = run(capsys, "inspect", tmp_path / "run", *(f"MATCHSTATE:0:0::{card}|" for card in ("Qs", "Ks", "As")))
    assert sum(state["visits"] for state in shown["states"]) == pytest.approx(1000)
    (tmp_path / "run" / "checkpoint.json").unlink()
    assert run(capsys, "inspect", tmp_path / "run", "--hand", "Qs")["visits"] is None


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["--betting", "rx", "--hand", "Qs"], "character 2"),
        (["--betting", "rf", "--hand", "Qs"], "ends the hand"),
        (["--betting", "rc/", "--hand", "Qs"], "expected 1 board"),
        (["--state", "MATCHSTATE:1:0::|Qs"], "viewer is to act"),
        (["--hand", "2s"], "card '2s' is not in this game's deck"),
        ([], "give --state"),
        (["--hand", "Qs", "--postprocess", "prify"], "did you mean purify"),
    ],
)
def test_inspect_says_what_is_wrong(folders, capsys, arguments, complaint):
    assert main(["inspect", str(folders[0]), *arguments]) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1


def test_a_damaged_strategy_is_not_played(folders, tmp_path, capsys, monkeypatch):
    """However large: a strategy's probabilities are read through before the first hand."""
    monkeypatch.setattr("foldwise.abstraction.strategy.CHECKED_BYTES", 0)
    folder = Path(shutil.copytree(folders[0], tmp_path / "damaged"))
    (path,) = folder.glob("probabilities-*.npy")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert main(["match", f"strategy:{folder}", "bot:call", "--hands", "10", "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "is damaged" in error and error.count("\n") == 1


@pytest.mark.parametrize(
    "field, value, reason",
    [
        ("first_child", 0, "children are elsewhere"),
        ("num_children", 60_000, "children are elsewhere"),
        ("player", 2, "without actions or player"),
        ("kind", 9, "of no kind"),
        ("street", 7, "more streets than its cards"),
        ("base", -1, "need more"),
        ("base", 10**9, "need more"),
    ],
)
def test_a_stranger_s_tree_that_cannot_be_walked_is_refused(folders, tmp_path, field, value, reason):
    """Well-formed files with correct checksums and wrong content."""
    folder = Path(shutil.copytree(folders[0], tmp_path / "strange"))
    strategy = Strategy(folder)
    nodes = strategy.tree.nodes.copy()
    nodes[field][0] = value
    entry = write_array(folder, "nodes-strange", nodes)
    manifest = strategy.manifest.model_copy(update={"arrays": {**strategy.manifest.arrays, "nodes": entry}})
    commit_manifest(folder, "manifest.json", manifest)
    with pytest.raises(FormatError, match=reason):
        OpenStrategy(folder)


async def test_startme_plays_at_a_dealer(folders, capsys, tmp_path):
    """The script plays, as a program of its own, the hands the strategy plays in memory."""
    script = run(capsys, "startme", folders[0], "--postprocess", "purify", "--seed", 3)["script"]
    definition = find_definition("leduc")
    table = Table(make_settings(definition.to_text(), 20, 6), tmp_path)
    (tmp_path / "foldwise.py").write_text("raise SystemExit('a stranger')")  # where it is started: not to be imported
    words = [script, "127.0.0.1", str(table.ports[0])]
    program = partial(subprocess.run, words, cwd=tmp_path, stderr=subprocess.DEVNULL, check=True)
    await table.play(program, table.client(1, Bot("random", 1), definition))
    outcome = await table.finish()
    assert not outcome.complaints()
    player = OpenStrategy(folders[0]).player(parse_pipeline("purify"), 3)
    match = MemoryMatch("m", "leduc", definition, 20, 6, ("Alice", "Bob"))
    play_in_memory(match, (player, Bot("random", 1)), tmp_path / "memory.log")
    assert outcome.log_lines("STATE") == list(state_lines(tmp_path / "memory.log"))


def test_a_program_is_compared_like_the_strategy_it_plays(folders, capsys):
    """An opponent over tcp that draws nothing wins the same as its folder in memory, on the same deals."""
    script = run(capsys, "startme", folders[1], "--postprocess", "purify")["script"]
    common = ("compare", folders[0], "--variants", "purify", "--hands", 20, "--no-exploitability", "--opponents")
    program = run(capsys, *common, f"cmd:{script}")["rows"][0]["results"][0]
    folder = run(capsys, *common, f"strategy:{folders[1]}|purify")["rows"][0]["results"][0]
    assert program["hands"] == folder["hands"] == 40
    assert program["mean_mbb"] == folder["mean_mbb"]


def test_a_comparison_says_what_is_wrong_with_a_program(folders, tmp_path, capsys):
    """It plays, but ends with exit code 3."""
    script = run(capsys, "startme", folders[1])["script"]
    program = tmp_path / "failing.sh"
    program.write_text(f'#!/bin/sh\n"{script}" "$1" "$2"\nexit 3\n')
    program.chmod(0o755)
    words = ["compare", str(folders[0]), "--variants", "none", "--hands", "2", "--opponents", f"cmd:{program}"]
    assert main(words) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert "2 faults, the first: player cmd." in error
    assert error.endswith("failing.sh ended with exit code 3; play it with 'match' to see more")


def test_explanations_name_everything(folders):
    lines = []
    player = OpenStrategy(folders[0]).player(parse_pipeline("new(0.2)"), 1)
    player.listener = lines.append
    state = parse_match_state("MATCHSTATE:1:7:r:|Qs", player.definition)
    action = player.choose(state)
    (decision,) = lines
    assert decision.state == state.text()
    assert decision.action == action.text(True)
    for part in ("node", "bucket", "f 0.", "plays", "us"):
        assert part in str(decision)
    player.listener = None
    assert player.choose(state) == action


def test_wild_seat_types_share_one_compilation():
    """Strategies in 8 and 16 bits and in floats are one type to the engine."""
    definition = short_hunl()
    for dtype in (np.uint8, np.uint16, np.float64):
        seat = made_seat(definition, USUAL, dtype=dtype, seed=3)
        player = StrategyPlayer(seat, definition, StandInBuckets())
        choices = [player.choose(parse_match_state(f"MATCHSTATE:1:{n}::|AhKd", definition)) for n in range(30)]
        if dtype is np.uint8:
            expected = choices
        assert choices == expected
    assert all(isinstance(action, Action) for action in expected)


def test_a_strategy_from_a_folder_shares_it(folders):
    """Mapped from files, or empty as beside a bot: a match of the two would else be compiled for each pair of kinds."""
    definition = find_definition("leduc")
    seat = strategy_seat(Strategy(folders[0]), definition, parse_pipeline("none"), 0, DEFAULT_TRANSLATION)
    assert numba.typeof(seat) == numba.typeof(empty_seat(definition))
