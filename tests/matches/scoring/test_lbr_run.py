"""Runs of local best response: kept in a folder, taken up again, and on the command line beside a comparison."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foldwise.cli.main import main
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.matches.scoring.lbr_run import lbr_summary, run_lbr
from foldwise.matches.scoring.local_best_response import LbrSettings, LocalBestResponse
from foldwise.matches.statistics import Estimate
from tests.support.made_strategies import made_player, short_hunl
from tests.support.places import CONFIGS


def response() -> LocalBestResponse:
    player = made_player(short_hunl(2000), "f c 0.5p 1p a | f c a", seed=2, pipeline="new(0.2)")
    return LocalBestResponse(player, LbrSettings("fcpa", 3))


def test_a_run_that_is_interrupted_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = run_lbr(response(), 40, seed=9, threads=2)
    settings = {"bets": "fcpa"}

    def interrupt(done: int, found: Estimate) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_lbr(response(), 40, 9, 1, interrupt, settings, tmp_path)
    heard: list[int] = []
    resumed = run_lbr(response(), 40, 9, 2, lambda done, found: heard.append(done), settings, tmp_path, resume=True)
    assert (resumed.total, resumed.positions) == (whole.total, whole.positions)
    assert heard == [24, 40]  # eight were kept
    again = run_lbr(response(), 20, 9, 2, None, settings, tmp_path, resume=True)
    assert again.total == run_lbr(response(), 20, 9, 2).total
    assert lbr_summary(again)["hands"] == 40
    assert np.isclose(lbr_summary(again)["lbr_mbb"], again.total.mean_mbb)


def test_a_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    run_lbr(response(), 4, 9, 1, None, {"bets": "fcpa"}, tmp_path)
    with pytest.raises(DefinitionError, match="--resume"):
        run_lbr(response(), 4, 9, 1, None, {"bets": "fcpa"}, tmp_path)
    with pytest.raises(FormatError, match="bets = 'fcpa', now it is '56'"):
        run_lbr(response(), 4, 9, 1, None, {"bets": "56"}, tmp_path, resume=True)


@pytest.fixture(scope="module")
def leduc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lbr") / "leduc"
    config = CONFIGS / "leduc.toml"
    assert main(["solve", str(config), "-o", str(folder), "--sampler", "cfr+", "--iterations", "20", "--json"]) == 0
    return folder


def last_json(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main(arguments) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_command_reports_the_gap_to_the_exact_response(leduc: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = last_json(capsys, ["lbr", str(leduc), "--postprocess", "purify", "--hands", "400", "--json"])
    assert found["hands"] == 800
    assert (found["from"], found["postprocess"], found["bets"]) == ("preflop", "purify", "fcpa")
    assert found["gap_mbb"] == pytest.approx(found["exploitability_mbb"] - found["lbr_mbb"])
    assert found["lbr_mbb"] < found["exploitability_mbb"] + 2.0 * found["ci95_mbb"]
    assert len(found["positions"]) == 2


def test_a_comparison_shows_it_beside_what_is_won(leduc: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", str(leduc), "bot:call", "--variants", "none,purify", "--hands", "200", "--lbr"]
    found = last_json(capsys, [*arguments, "--lbr-hands", "100", "--json"])
    for row in found["rows"]:
        assert row["lbr_ci95_mbb"] > 0.0
        assert row["lbr_hands"] == 200
    assert found["rows"][0]["lbr_mbb"] != found["rows"][1]["lbr_mbb"]
    assert main([*arguments, "--lbr-hands", "10"]) == 0
    assert "loses to lbr" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--bets", "fcp"], "expected one of fc, fcpa, 8, 56, tree"),
        (["--from", "turn"], "expected one of preflop, flop"),
        (["--resume"], "-o DIR --resume"),
    ],
)
def test_bad_input_is_one_line(
    leduc: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["lbr", str(leduc), *arguments]) == 2
    error = capsys.readouterr().err.strip()
    assert message in error
    assert "\n" not in error


def test_real_cards_are_for_holdem(leduc: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exploitability", str(leduc), "--real-cards"]) == 2
    assert "hold'em" in capsys.readouterr().err
    assert main(["exploitability", str(leduc), "--estimate"]) == 2
    assert "--real-cards" in capsys.readouterr().err
