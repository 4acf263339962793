"""Malformed or hostile files: one line, exit code 2, no traceback, and no hanging."""

import os
import shutil

import pytest

from foldwise.cli.main import main
from tests.support.network import write_strategy
from tests.support.places import CONFIGS

DEEP = 100_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_strategy(tmp_path_factory.mktemp("strategy") / "one", 1)


def refused(arguments, capsys):
    assert main([str(word) for word in arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("foldwise: ") and error.count("\n") == 1 and len(error) < 2000
    return error


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * DEEP,
        "x = " + "[" * 30_000,
        "x = " + "[" * 900 + "]" * 900,
        "seed = " + "9" * 5000,
        "seed = 0x" + "f" * 5000,
        "a." * 1000 + "b = 1",
        "a." * DEEP + "b = 1",
        "[solver]\nthreads = " + "9" * 5000,
    ],
)
def test_configs(text, tmp_path, capsys):
    path = tmp_path / "hostile.toml"
    path.write_text("game = 'kuhn'\n" + text)
    assert "set_int_max_str_digits" not in refused(["solve", path, "-o", tmp_path / "out"], capsys)
    assert not (tmp_path / "out").exists()


def test_overrides(tmp_path, capsys):
    for value in ("9" * 5000, "[" * DEEP):
        refused(["solve", CONFIGS / "kuhn.toml", "-o", tmp_path / "out", "--set", f"solver.block={value}"], capsys)


@pytest.mark.parametrize(
    "text", ["[" * DEEP, '{"format_version": ' + "9" * 5000 + "}", '{"a":' * DEEP, "null", "[]", ""]
)
def test_manifests(folder, text, tmp_path, capsys):
    shutil.copytree(folder, tmp_path / "strategy")
    (tmp_path / "strategy" / "manifest.json").write_text(text)
    for command in (["exploitability"], ["inspect"], ["startme"]):
        assert "manifest.json" in refused([*command, tmp_path / "strategy"], capsys)


@pytest.mark.parametrize("name", ["manifest.json", "probabilities"])
def test_a_pipe_is_not_waited_for(folder, name, tmp_path, capsys):
    shutil.copytree(folder, tmp_path / "strategy")
    (path,) = (tmp_path / "strategy").glob(f"{name}*")
    path.unlink()
    os.mkfifo(path)
    assert "not a plain file" in refused(["exploitability", tmp_path / "strategy"], capsys)
