"""Installed into an empty environment, from a wheel and editable: one import package, and commands that work anywhere."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import CONFIGS, ROOT

# PEP 517 and PEP 660: what `pip install .` and `pip install --editable .` ask the build backend for.
HOOKS = {"wheel": "build_wheel", "editable": "build_editable"}


def run(*words: object, cwd: Path = ROOT, compiled: bool = False) -> str:
    """What a program prints. Kernels run uncompiled where they can: this is about files, not about speed."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["NUMBA_DISABLE_JIT"] = "0" if compiled else "1"
    done = subprocess.run(list(map(str, words)), cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def build(kind: str, folder: Path) -> Path:
    run(sys.executable, "-c", f"import sys; from hatchling.build import {HOOKS[kind]} as b; b(sys.argv[1])", folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


class Environment:
    """A fresh environment with a wheel in it; all other packages are those of this one. Nothing needs the network."""

    def __init__(self, folder: Path, wheel: Path):
        venv.create(folder, with_pip=False)
        self.python = folder / "bin" / "python"
        self.work = folder / "work"  # has nothing to do with the checkout
        self.work.mkdir()
        (self.packages,) = folder.glob("lib/python*/site-packages")
        before = self.entries()
        pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python", self.python)
        run(*pip, "install", "--no-deps", "--no-index", wheel)
        self.added = self.entries() - before
        # The .pth files among those packages, ours too, do not count there.
        (self.packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def entries(self) -> set[str]:
        return {path.name for path in self.packages.iterdir()}

    def foldwise(self, *words: object, compiled: bool = False) -> dict[str, Any]:
        """A command's JSON."""
        printed = run(self.python.with_name("foldwise"), *words, "--json", cwd=self.work, compiled=compiled)
        found: dict[str, Any] = json.loads(printed)
        return found


@pytest.fixture(scope="module", params=HOOKS)
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp(request.param)
    return Environment(folder / "environment", build(request.param, folder))


def test_one_import_package_is_added(installed):
    """Whatever else is added is metadata, and for an editable install the line that leads to the sources."""
    names = {name for name in installed.added if not name.endswith((".dist-info", ".pth"))}
    for path in installed.packages.glob("_foldwise*.pth"):
        (source,) = path.read_text().split()
        names |= {entry.name for entry in Path(source).iterdir() if entry.name != "__pycache__"}
    assert names == {"foldwise"}


def test_the_wheel_carries_what_it_needs(tmp_path):
    """Every file of the rooms: sources, game definitions, configs, and what the page of a report is made of."""
    packed = set(zipfile.ZipFile(build("wheel", tmp_path)).namelist())
    rooms = [path for path in (ROOT / "src" / "foldwise").iterdir() if path.is_dir()]
    files = [path for room in rooms for path in room.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.relative_to(ROOT / "src").as_posix() for path in files} <= packed
    assert {f"foldwise/configs/{path.name}" for path in CONFIGS.iterdir()} <= packed
    assert all(name.startswith(("foldwise/", "foldwise-")) for name in packed)


def test_the_strategy_in_the_box_plays_at_once(installed):
    """`default` after nothing but the install: unpacked, its cards built or found, asked, and played."""
    asked = installed.foldwise(
        "inspect", "default", "--betting", "r300c/", "--board", "AsKd2c", "--hand", "QhQs", compiled=True
    )
    assert asked["reached"] and sum(asked["probabilities"]) == pytest.approx(1.0)
    match = installed.foldwise(
        "match", "box=default|purify", "bot:strength", "--hands", 100, "--seed", 1, compiled=True
    )
    assert (match["hands"], match["faults"]) == (200, 0)
    assert match["players"][0].startswith("box=strategy:") and match["players"][0].endswith("default|purify")


def test_kernels_are_found_where_they_are_installed(installed):
    """The folder of compiled code is named by the same sources as in the checkout, read from the installed files."""
    words = "from foldwise.game.compiled import _UPSTREAM, _sources; print(*(len(_sources(r)) for r in _UPSTREAM))"
    installed_counts = run(installed.python, "-c", words, cwd=installed.work)
    assert installed_counts == run(sys.executable, "-c", words)
    assert min(map(int, installed_counts.split())) > 1


def test_a_config_is_solved_by_name_and_a_match_is_played(installed):
    solved = installed.foldwise("solve", "kuhn", "-o", "kuhn", "--iterations", 100, compiled=True)
    assert (solved["game"], solved["infosets"]) == ("kuhn", 12)
    assert solved["exploitability_mbb"] < 20.0
    listed = installed.foldwise("configs")["configs"]
    assert {entry["name"] for entry in listed} == {path.stem for path in CONFIGS.glob("*.toml")}
    match = installed.foldwise("match", "wild=bot:random", "bot:call", "--game", "leduc", "--hands", 50, "--seed", 3)
    assert (match["hands"], match["faults"], match["players"]) == (100, 0, ["wild=bot:random", "bot:call"])
