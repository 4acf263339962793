"""`foldwise verify`: every kind of folder, whole and damaged."""

import json
import shutil

import numpy as np
import pytest

from foldwise.abstraction.storage.checked_json import CHECKSUM, write_checked
from foldwise.cli.main import main
from foldwise.game.library import find_definition
from foldwise.matches.network.block_store import BlockStore, Job, open_job
from foldwise.matches.network.messages import PlayerName, pack_values
from foldwise.matches.report.duel import DuelGame, next_session
from foldwise.matches.scoring.lbr_run import run_lbr
from foldwise.matches.scoring.local_best_response import LbrSettings, LocalBestResponse
from tests.support.made_strategies import made_player, short_hunl
from tests.support.network import write_strategy
from tests.support.places import CONFIGS


def verify(folder, capsys):
    capsys.readouterr()  # what made the folder may have been run within the test
    code = main(["verify", str(folder), "--json"])
    result = json.loads(capsys.readouterr().out)
    assert code == (0 if result["ok"] else 1) and result["ok"] == (not result["problems"])
    return result


def flip_last_byte(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "kuhn"
    assert main(["solve", str(CONFIGS / "kuhn.toml"), "-o", str(folder), "--iterations", "50"]) == 0
    return folder


@pytest.fixture(scope="module")
def match(tmp_path_factory):
    folder = tmp_path_factory.mktemp("matches") / "match"
    assert main(["match", "bot:call", "bot:random", "--game", "leduc", "--hands", "30", "-o", str(folder)]) == 0
    return folder


def test_a_run_is_whole_until_any_file_of_it_is_not(run, tmp_path, capsys):
    whole = verify(run, capsys)
    assert whole["ok"] and "strategy" in whole["kind"] and "checkpoint" in whole["kind"]
    arrays = sorted(path.name for path in run.glob("*.npy"))
    assert whole["files"] >= len(arrays) + 2 and whole["bytes"] > 0
    for name in arrays:
        folder = tmp_path / name
        shutil.copytree(run, folder)
        flip_last_byte(folder / name)
        (problem,) = verify(folder, capsys)["problems"]
        assert name in problem and "damaged" in problem
        (folder / name).unlink()
        (problem,) = verify(folder, capsys)["problems"]
        assert name in problem and "missing" in problem


def test_a_match(match, tmp_path, capsys):
    assert verify(match, capsys)["kind"] == "match"
    log = next(path.name for path in match.glob("*.log"))
    lines = (match / log).read_text().splitlines(keepends=True)
    states = [index for index, line in enumerate(lines) if line.startswith("STATE")]
    lost = next(index for index in states if "|-" in lines[index])

    def replaced(place, old, new):
        return [line.replace(old, new, 1) if index == place else line for index, line in enumerate(lines)]

    for name, changed, expected in (
        ("cut", lines[:-1], "not finished"),
        ("gap", lines[: states[4]] + lines[states[5] :], "hand 5 where hand 4"),
        ("values", replaced(lost, "|-", "|-9"), "the hand gives"),
        ("name", replaced(states[7], "bot.call", "bot.cell"), "its players are"),
        ("score", replaced(-1 % len(lines), "SCORE:", "SCORE:1"), "its hands make"),
        ("betting", replaced(states[3], ":3:", ":3:rrrrrrrr"), "hand 3"),
    ):
        folder = tmp_path / name
        shutil.copytree(match, folder)
        (folder / log).write_text("".join(changed))
        assert any(expected in problem for problem in verify(folder, capsys)["problems"]), name
    shutil.copytree(match, tmp_path / "lost")
    (tmp_path / "lost" / log).unlink()
    assert "is missing" in verify(tmp_path / "lost", capsys)["problems"][0]


def test_a_match_by_expectation(run, tmp_path, capsys):
    """No hand is played: the values of the boards are what is checked."""
    folder = tmp_path / "m"
    player = f"strategy:{run}"
    assert main(["match", player, player, "--score", "expectation", "--boards", "5", "-o", str(folder)]) == 0
    capsys.readouterr()
    whole = verify(folder, capsys)
    assert whole["ok"] and (whole["kind"], whole["files"]) == ("match", 3)
    (values,) = folder.glob("*.npy")
    content = bytearray(values.read_bytes())
    content[-30] ^= 1  # in the middle of a value
    values.write_bytes(content)
    (problem,) = verify(folder, capsys)["problems"]
    assert values.name in problem and "checksum" in problem
    assert main(["match", "-o", str(folder), "--resume"]) == 2
    assert "its checksum is another" in capsys.readouterr().err
    values.unlink()
    (problem,) = verify(folder, capsys)["problems"]
    assert "not finished" in problem


def test_a_comparison(tmp_path, capsys):
    players = [PlayerName(bot="call")], [PlayerName(bot="fold")]
    job = Job(
        job="j", definition=find_definition("leduc").to_text(), seed=1, hands=20, block_pairs=10,
        first=players[0], second=players[1],
    )  # fmt: skip
    open_job(job, tmp_path, False)
    store = BlockStore(job, tmp_path)
    store.add(0, pack_values(np.zeros(10)), "w")
    assert verify(tmp_path, capsys)["problems"] == ["1 of 2 blocks are missing: continue with --resume"]
    store.add(1, pack_values(np.ones(10)), "w")
    store.close()
    assert verify(tmp_path, capsys)["ok"]
    with (tmp_path / "blocks.jsonl").open("a") as file:
        file.write('{"block": 1, "values": "x"}\n')
    before = (tmp_path / "blocks.jsonl").read_bytes()
    assert "line 3 is not a block" in verify(tmp_path, capsys)["problems"][0]
    assert (tmp_path / "blocks.jsonl").read_bytes() == before  # nothing is repaired


def test_cells_and_results(tmp_path, capsys):
    words = ["bot:call", "bot:random", "--game", "leduc", "--hands", "30", "-o", str(tmp_path / "tournament")]
    assert main(["tournament", *words]) == 0
    capsys.readouterr()
    whole = verify(tmp_path / "tournament", capsys)
    assert whole["ok"] and (whole["kind"], whole["files"]) == ("tournament", 4)
    table = tmp_path / "tournament" / "tournament.csv"
    written = table.read_bytes()
    table.write_bytes(written.replace(b"60", b"61"))
    (problem,) = verify(tmp_path / "tournament", capsys)["problems"]
    assert "tournament.csv' is damaged" in problem and "--resume" in problem
    table.unlink()
    (problem,) = verify(tmp_path / "tournament", capsys)["problems"]
    assert "tournament.csv' is missing" in problem
    assert main(["tournament", *words, "--resume"]) == 0
    capsys.readouterr()
    assert table.read_bytes() == written and verify(tmp_path / "tournament", capsys)["ok"]
    (cell,) = (tmp_path / "tournament" / "cells").glob("*.npy")
    content = bytearray(cell.read_bytes())
    content[-30] ^= 1  # in the middle of a value
    cell.write_bytes(content)
    (problem,) = verify(tmp_path / "tournament", capsys)["problems"]
    assert cell.name in problem and "checksum" in problem
    assert main(["tournament", *words, "--resume"]) == 2  # nor is it believed by whoever goes on with it
    assert "its checksum is another" in capsys.readouterr().err
    (tmp_path / "tournament" / "tournament.json").write_text("{")
    found = verify(tmp_path / "tournament", capsys)
    assert found["kind"] == "tournament" and "is not JSON" in found["problems"][0]


def test_what_a_comparison_keeps(run, tmp_path, capsys):
    """Its tables, its cells, every hand of the matches in it; and an interrupted one is known for what it is."""
    folder = tmp_path / "c"
    words = [str(run), "--opponents", "bot:call", "--variants", "none", "--hands", "30", "--logs", "-o", str(folder)]
    assert main(["compare", *words]) == 0
    capsys.readouterr()
    whole = verify(folder, capsys)
    assert whole["ok"] and whole["kind"] == "comparison"
    assert whole["files"] == 8  # result, asked, two tables, a cell, a plan and its two logs
    for name in ("comparison.csv", "differences.csv", "asked.json"):
        damaged = tmp_path / f"damaged-{name}"
        shutil.copytree(folder, damaged)
        (damaged / name).write_bytes((damaged / name).read_bytes().replace(b"a", b"b", 1))
        assert any(name in problem for problem in verify(damaged, capsys)["problems"]), name
    (log,) = (folder / "matches" / "000").glob("*.AB.log")
    log.write_text(log.read_text().replace("bot.call", "bot.cell", 1))
    assert any(log.name in problem for problem in verify(folder, capsys)["problems"])
    (folder / "comparison.json").unlink()
    found = verify(folder, capsys)
    assert found["kind"] == "comparison or tournament"
    assert any("it is not finished, continue with --resume" in problem for problem in found["problems"])


def test_tables_named_by_a_stranger(tmp_path, capsys):
    (tmp_path / "c").mkdir()
    for tables, expected in (
        ({"../x.csv": "0"}, "leads out"),
        ([1], "expected checksums"),
        ({"a\0b": "0"}, "is missing"),
    ):
        write_checked(tmp_path / "c" / "comparison.json", {"tables": tables})
        (problem,) = verify(tmp_path / "c", capsys)["problems"]
        assert expected in problem


@pytest.mark.parametrize("command", ["match", "tournament", "compare"])
def test_a_changed_digit_in_a_result(command, run, tmp_path, capsys):
    words = ["bot:call", "bot:random", "--game", "leduc"]
    if command == "compare":
        words = [str(run), "--opponents", "bot:call"]
    assert main([command, *words, "--hands", "30", "-o", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert verify(tmp_path / "run", capsys)["ok"]
    name = {"match": "result", "tournament": "tournament", "compare": "comparison"}[command]
    path = tmp_path / "run" / f"{name}.json"
    result = json.loads(path.read_text())
    path.write_text(json.dumps({**result, "seed": 1 + result["seed"]}))
    (problem,) = verify(tmp_path / "run", capsys)["problems"]
    assert path.name in problem and "checksum is another" in problem
    result.pop("checksum")
    path.write_text(json.dumps(result))
    (problem,) = verify(tmp_path / "run", capsys)["problems"]
    assert "from before results had one" in problem


def test_a_run_of_local_best_response(tmp_path, capsys):
    response = LocalBestResponse(made_player(short_hunl(2000), "f c 1p a | f c a", seed=2), LbrSettings("fcpa", 3))
    run_lbr(response, 4, 9, 1, None, {"bets": "fcpa"}, tmp_path)
    whole = verify(tmp_path, capsys)
    assert whole["ok"] and (whole["kind"], whole["files"]) == ("lbr", 2)
    flip_last_byte(next(tmp_path.glob("*.npy")))
    (problem,) = verify(tmp_path, capsys)["problems"]
    assert "damaged" in problem


def test_duels(tmp_path, capsys):
    """Every session, each of any number of hands."""
    leduc = find_definition("leduc")
    next_session(tmp_path, DuelGame(game="leduc", definition=leduc.to_text()))
    (tmp_path / "duel.log").write_text("STATE:0:rf:Ks|Qs:-1|1:bot|you\n")
    assert "hand 0" in verify(tmp_path, capsys)["problems"][0]
    for name in ("duel.log", "duel-2.log"):
        (tmp_path / name).write_text("STATE:0:rf:Ks|Qs:1|-1:you|bot\n")
    found = verify(tmp_path, capsys)
    assert (found["kind"], found["files"], found["ok"]) == ("duel", 3, True)


@pytest.mark.parametrize(
    "kind, name, key",
    [("run", "manifest.json", "nodes"), ("run", "checkpoint.json", "nodes"), ("match", "match.json", "seed")],
)
def test_a_changed_number_among_the_words_is_noticed(kind, name, key, request, tmp_path, capsys):
    """Every value would be a legal one. Without the checksum, as before there was one, the folder is as whole as it looks."""
    folder = tmp_path / "copy"
    shutil.copytree(request.getfixturevalue(kind), folder)
    fields = json.loads((folder / name).read_text())
    fields[key] += 1
    (folder / name).write_text(json.dumps(fields))
    (problem,) = verify(folder, capsys)["problems"]
    assert name in problem and "damaged: its checksum is another" in problem
    del fields[CHECKSUM]
    (folder / name).write_text(json.dumps(fields))
    assert verify(folder, capsys)["ok"]


def test_what_is_not_ours_is_refused(tmp_path, capsys):
    (tmp_path / "photo.jpg").write_bytes(b"x")
    assert main(["verify", str(tmp_path)]) == 2
    assert "is not a folder of ours" in capsys.readouterr().err
    write_strategy(tmp_path / "one", 1)
    path = tmp_path / "one" / "manifest.json"
    fields = json.loads(path.read_text())
    del fields[CHECKSUM]
    fields["arrays"]["probabilities"]["file"] = "../photo.jpg"
    write_checked(path, fields)
    assert "leads out of the folder" in verify(tmp_path / "one", capsys)["problems"][0]
