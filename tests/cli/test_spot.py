"""`foldwise spot`: from a file to a solution, and what it refuses."""

import io
import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foldwise.agent.reading.typed_state import read_betting
from foldwise.agent.strategy_player import OpenStrategy
from foldwise.cli.main import main
from foldwise.game.cards import parse_cards
from foldwise.game.hands.hole_cards import pair_number
from foldwise.game.text.range_text import pair_text, parse_range
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.ranges import TableRanges
from foldwise.solver.subgame.spot import SpotSolver, read_spot

RIVER: dict[str, Any] = {
    "board": "4s8hTc9h2s",
    "pot": 500,
    "stacks": [1000, 2000],
    "ranges": ["22+, AKs, 0.5(QQ)", {"AsKs": 0.74, "2d2h": 0.1, "JhTh": 1, "7h6h": 1}],
    "bets": {"river": "f c 0.5p 1p a | f c 1p a | f c"},
}
TURN = RIVER | {"board": "4s8hTc9h", "bets": {"turn": "f c a | f c", "river": "f c a | f c"}}


def write(folder: Path, spot: dict[str, Any]) -> str:
    path = folder / "spot.json"
    path.write_text(json.dumps(spot), encoding="utf-8")
    return str(path)


def test_river_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spot", write(tmp_path, RIVER), "--iterations", "120", "--threads", "1", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["iterations"] == 120
    assert result["actions"] == ["c", "r500", "r750", "r1250"]
    assert result["exploitability_pot_percent"] == pytest.approx(result["exploitability_mbb"] / 1000 * 100 / 500 * 100)
    assert result["exploitability_pot_percent"] < 1.0 < result["history"][0]["exploitability_pot_percent"]
    assert [one["iterations"] for one in result["history"]] == [0, 10, 20, 50, 100, 120]
    live = {pair_text(int(pair)) for pair in np.flatnonzero(parse_range(RIVER["ranges"][0]))}
    blocked = {hand for hand in live if set(parse_cards(hand)) & set(parse_cards(RIVER["board"]))}
    assert set(result["strategy"]) == live - blocked
    assert all(sum(row) == pytest.approx(1.0, abs=1e-5) for row in result["strategy"].values())
    assert set(result["values"]) == set(result["strategy"])
    assert result["values"]["AdAc"] > result["values"]["3d3c"] >= -2500.0 - 1.0  # at worst half of the pot is lost
    assert result["hand_nodes_per_second"] > 0.0 and result["seconds"] > 0.0
    assert sum(result["frequencies"]) == pytest.approx(1.0, abs=1e-5)


def test_turn_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Read from standard input; the grid has a row for each rank, and the picture is drawn."""
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(TURN)))
    picture = tmp_path / "spot.png"
    assert main(["spot", "-", "--iterations", "2", "--threads", "2", "--png", str(picture)]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith("the player to act: c ")
    assert lines[1].startswith("AA  ") and lines[13].split()[-2] == "22"
    assert " QJs -" in lines[3]  # not in the range
    assert "of the pot" in out and "worth in mbb: " in out
    assert "2 iterations, " in err
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_value_is_the_mean_of_the_values(tmp_path: Path) -> None:
    """Weighted by how often each hand of the range meets a hand of the other, for both players."""
    spot = read_spot(json.dumps(RIVER), "test")
    solver = SpotSolver(spot, threads=1, schedule="dcfr", rivers=48)
    list(solver.run(30, None))
    apart = np.array(
        [
            [not set(one) & set(other) for other in map(parse_cards, solver.values(1))]
            for one in map(parse_cards, solver.values(0))
        ]
    )
    weights = [
        np.array([spot.ranges[p][pair_number(*parse_cards(hand))] for hand in solver.values(p)]) for p in range(2)
    ]
    met = weights[0][:, None] * apart * weights[1][None, :]
    means = [
        float((met.sum(axis=1 - p) * np.array(list(solver.values(p).values()))).sum() / met.sum()) for p in range(2)
    ]
    assert means[0] == pytest.approx(solver.measure().exploitability.value_mbb, rel=1e-3)
    assert means[1] == pytest.approx(-means[0], rel=1e-3)


def test_interrupt_keeps_what_is_solved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal after ten iterations: their result is printed, and the exit code is 130."""
    real = SpotSolver.measure

    def interrupted(self: SpotSolver) -> Any:
        if self.iterations == 10:
            signal.raise_signal(signal.SIGINT)
        return real(self)

    monkeypatch.setattr(SpotSolver, "measure", interrupted)
    assert main(["spot", write(tmp_path, RIVER), "--iterations", "100000", "--json"]) == 130
    assert json.loads(capsys.readouterr().out)["iterations"] == 10


@pytest.mark.parametrize(
    "change, message",
    [
        ({"board": "4s8hTc9h9h"}, "a card appears twice"),
        ({"board": "4s8hTc"}, "expected the 4 cards of a turn or the 5 of a river"),
        ({"board": "4s8hTc9hXx"}, "card 'Xx'"),
        ({"pot": 0}, "pot: Input should be greater than or equal to 1 (got 0)"),
        ({"pot": 501}, "expected an even number of chips"),
        ({"pot": "500"}, "pot: Input should be a valid integer"),
        ({"stacks": [0, 100]}, "stacks.0"),
        ({"stacks": [100]}, "stacks: List should have at least 2 items"),
        ({"ranges": ["", "AA"]}, "the first range has no hand"),
        ({"ranges": ["AA", "4s4h"]}, "the second range has no hand that board '4s8hTc9h2s' allows"),
        ({"ranges": ["AA", {"AsKs": 0.0}]}, "the second range has no hand"),
        ({"ranges": ["AsAh", "AsKs"]}, "no two hands can be held at once"),
        ({"ranges": [{"AsKs": 1.0}, {"AsQd": 1.0, "KsQs": 0.5}]}, "no two hands can be held at once"),
        ({"ranges": ["AA", "AKx"]}, "range 'AKx': expected hands such as 22+"),
        ({"ranges": ["AA", {"AsKs": -1.0}]}, "weight -1.0 of 'AsKs'"),
        ({"ranges": ["AA", {"AsKsQs": 1.0}]}, "expected two cards"),
        ({"bets": {"river": "f c 1q"}}, "'1q' at character 5"),
        ({"bets": {"turn": "f c"}}, "bets.river: Field required"),
        ({"bets": {"river": "f c *"}, "stacks": [19750, 19750]}, "more than 100,000 nodes"),
        ({"board": "4s8hTc9h"}, "a turn needs bets.turn too"),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
    ],
)
def test_bad_files_are_refused_in_one_line(
    change: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spot", write(tmp_path, RIVER | change), "--iterations", "1", "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err and len(err.splitlines()) == 1


def test_other_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    river = write(tmp_path, RIVER)
    for arguments, message in (
        ([str(broken)], "Invalid JSON"),
        ([str(tmp_path / "none.json")], "No such file"),
        ([river, "--schedule", "fast"], "expected one of cfr"),
        ([river, "--rivers", "13"], "divisor of 48"),
        ([river, "--iterations", "0"], "--iterations"),
        ([river, "--png", str(tmp_path / "none" / "a.png")], "no folder"),
    ):
        assert main(["spot", *arguments]) == 2
        err = capsys.readouterr().err
        assert message in err and len(err.splitlines()) == 1


def test_ranges_as_text() -> None:
    weights = parse_range("22+, AKs, 0.5(QQ)")
    assert weights.sum() == 13 * 6 + 4 - 3  # queens count half, although all pairs came first
    assert weights[pair_number(*parse_cards("QsQh"))] == 0.5
    assert parse_range({"AsKs": 0.25})[pair_number(*parse_cards("KsAs"))] == 0.25


def test_hand_of_a_strategy(holdem_strategy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ranges are those the strategy comes with, bets its own or those given; the button may be the one to act."""
    words = [
        "spot",
        "--strategy",
        str(holdem_strategy),
        "--board",
        "AsKd2c9s4h",
        "--iterations",
        "20",
        "--threads",
        "1",
        "--json",
    ]
    turn_checked = "cc/cc/cc/"
    assert main([*words, "--betting", turn_checked, "--river", "f c 1p | f c"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["actions"] == ["c", "r300"]
    assert main([*words, "--betting", turn_checked + "c", "--river", "f c 1p | f c"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert second["exploitability_mbb"] < second["history"][0]["exploitability_mbb"]
    opened = OpenStrategy(holdem_strategy)
    for betting, result, player in ((turn_checked, first, 0), (turn_checked + "c", second, 1)):
        state = read_betting(opened.definition, betting)
        ranges = (
            TableRanges(opened.player(Pipeline(), seed=0)).follow(state, parse_cards("AsKd2c9s4h"), player, 0).ranges
        )
        assert set(result["strategy"]) == {pair_text(int(pair)) for pair in np.flatnonzero(ranges[player])}
    for arguments, message in (
        (["--betting", "cc/"], "on the turn or the river"),
        (["--betting", "cc/cc/"], "expected 4 cards"),
        (["--betting", "zz"], "no legal action"),
        ([], "give --betting and --board"),
    ):
        assert main([*words, *arguments]) == 2
        err = capsys.readouterr().err
        assert message in err and len(err.splitlines()) == 1
    assert main(["spot", "--board", "AsKd2c9s4h"]) == 2
    assert "--board without --strategy" in capsys.readouterr().err
