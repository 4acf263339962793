"""The shipped configs: found by name from anywhere, listed with what they are for and what they take."""

import json
import shutil

import pytest

from foldwise.abstraction.shipped_configs import about_config, find_config, shipped_configs
from foldwise.cli.main import main
from foldwise.game.errors import DefinitionError
from foldwise.solver import config_costs
from tests.support.places import CONFIGS

SHIPPED = shipped_configs()
MEMORY = json.loads((CONFIGS / "memory.json").read_text(encoding="utf-8"))
_QUICK_BYTES = 10**9  # the tree of a larger game takes seconds to build


def test_every_config_of_the_checkout_is_shipped():
    assert {path.resolve() for path in SHIPPED.values()} == {path.resolve() for path in CONFIGS.glob("*.toml")}
    assert all(about_config(path) for path in SHIPPED.values())


def test_a_name_works_from_any_folder_and_a_path_still_does(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["solve", "kuhn", "-o", "by-name", "--iterations", "100", "--json"]) == 0
    by_name = json.loads(capsys.readouterr().out)
    shutil.copy(CONFIGS / "kuhn.toml", tmp_path / "kuhn.toml")
    assert main(["solve", "kuhn.toml", "-o", "by-path", "--iterations", "100", "--json"]) == 0
    by_path = json.loads(capsys.readouterr().out)
    assert by_name["name"] == by_path["name"] == "kuhn"
    assert by_name["exploitability_mbb"] == by_path["exploitability_mbb"]


def test_a_game_file_is_found_beside_its_config(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["abstract", "hunl-20bb", "--estimate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["infoset_actions"] == 16_401


def test_a_file_here_goes_before_a_shipped_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leduc").write_text('game = "kuhn"\n')
    assert find_config("leduc").resolve() == tmp_path / "leduc"


@pytest.mark.parametrize("text, meant", [("ledcu", "leduc"), ("configs/hunl-smal.toml", "hunl-small"), ("zzz", None)])
def test_an_unknown_name_is_answered_with_what_was_meant(text, meant, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DefinitionError, match="'foldwise configs' lists them") as caught:
        find_config(text)
    assert ("did you mean" in str(caught.value)) == (meant is not None)
    assert meant is None or f"{meant!r}?" in str(caught.value)


def test_configs_are_listed(capsys):
    assert main(["configs", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["configs"]
    assert [entry["name"] for entry in found] == list(SHIPPED)
    for entry in found:
        assert {"name", "about", "game", "sampler", "stop", "seconds", "bytes"} == entry.keys()
        assert entry["stop"] and entry["bytes"] > 0
    small = next(entry for entry in found if entry["name"] == "hunl-small")
    assert (small["game"], small["sampler"], small["seconds"], small["stop"]) == ("hunl", "external", 75.0, "75.0 s")
    assert main(["configs"]) == 0
    assert "hunl-small" in capsys.readouterr().out


def test_memory_is_kept_for_the_configs_as_they_are():
    """Else `foldwise configs` sizes games for seconds: run benchmarks/config_memory.py after changing a config."""
    assert {name: entry["config"] for name, entry in MEMORY.items()} == {
        name: config_costs.config_hash(path) for name, path in SHIPPED.items()
    }


@pytest.mark.parametrize("name", [name for name, entry in MEMORY.items() if entry["bytes"] < _QUICK_BYTES])
def test_kept_memory_is_what_the_estimate_says(name):
    assert MEMORY[name]["bytes"] == config_costs.config_bytes(SHIPPED[name])


def test_a_changed_config_is_sized_anew(tmp_path, monkeypatch):
    """A figure kept for another config of the name does not count."""
    for file in ("kuhn.toml", "leduc.toml", "memory.json"):
        shutil.copy(CONFIGS / file, tmp_path)
    changed = (tmp_path / "kuhn.toml").read_text().replace('"kuhn"', '"leduc"', 1)
    (tmp_path / "kuhn.toml").write_text(changed)
    monkeypatch.setattr("foldwise.abstraction.shipped_configs.configs_folder", lambda: tmp_path)
    monkeypatch.setattr("foldwise.solver.config_costs.configs_folder", lambda: tmp_path)
    kuhn, leduc = config_costs.config_costs()
    assert kuhn.bytes == leduc.bytes == MEMORY["leduc"]["bytes"] > MEMORY["kuhn"]["bytes"]
