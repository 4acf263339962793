"""The kernel cache: a new folder when a source changes that can shape a kernel, nothing next to the code, and no cache
needed."""

import errno
import gc
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import caching
from numba.extending import overload

from foldwise.game import compiled
from tests.support.places import ROOT

CALLER = """
from foldwise.game.compiled import kernel
from foldwise.game.helper_kernels import two


@kernel
def four():
    return 2 * two()
"""
HELPER = "from foldwise.game.compiled import kernel\n\n\n@kernel\ndef two():\n    return {}\n"


@pytest.fixture
def project(tmp_path):
    """A small copy: the real `game/compiled.py` and `sources.py`, and two kernels in two files and two rooms."""
    root = tmp_path / "project" / "foldwise"
    for room in ("game", "solver"):
        (root / room).mkdir(parents=True)
        (root / room / "__init__.py").write_text("")
    (root / "__init__.py").write_text("")
    for name in ("compiled.py", "sources.py"):
        shutil.copy(ROOT / "game" / name, root / "game" / name)
    (root / "game" / "helper_kernels.py").write_text(HELPER.format(2))
    (root / "solver" / "caller_kernels.py").write_text(CALLER)
    return root


def run(
    project: Path, cache: Path, script: str = "from foldwise.solver.caller_kernels import four; print(four())"
) -> int:
    """What a script prints in a fresh interpreter."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment |= {"FOLDWISE_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(project.parent)}
    return int(subprocess.check_output([sys.executable, "-c", script], cwd=project, env=environment, text=True))


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def folders(cache: Path) -> dict[str, str]:
    """Names of the cache's folders, and their rooms."""
    return {folder.name: folder.name.partition("-")[0] for folder in (cache / "numba").iterdir()}


def test_new_folder_when_a_source_upstream_changes(project, tmp_path):
    """numba alone would run the cached caller with an old helper: it looks at the caller's file only."""
    cache = tmp_path / "cache"
    sources = files(project)
    assert run(project, cache) == 4
    first = folders(cache)
    assert sorted(first.values()) == ["game", "solver"]
    (project / "game" / "helper_kernels.py").write_text(HELPER.format(5))
    assert run(project, cache) == 10
    second = folders(cache)
    assert sorted(second[name] for name in second.keys() - first) == ["game", "solver"]
    assert files(project) == sources  # nothing is written next to the code


def test_another_checkout_of_the_same_sources_compiles_nothing(project, tmp_path):
    cache = tmp_path / "cache"
    assert run(project, cache) == 4
    compiled_once = files(cache)
    copy = shutil.copytree(project.parent, tmp_path / "elsewhere" / "project") / project.name
    assert run(copy, cache) == 4
    assert files(cache) == compiled_once


def test_change_downstream_leaves_the_folder_upstream(project, tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled, "_SOURCE_ROOT", project)
    folder_of = compiled._numba_folder.__wrapped__  # without the memory of this process
    game, solver = folder_of("game"), folder_of("solver")
    assert (folder_of("game"), folder_of("solver")) == (game, solver)
    (project / "solver" / "caller_kernels.py").write_text(CALLER.replace("2 * two", "3 * two"))
    assert folder_of("game") == game
    assert folder_of("solver") != solver


CONSTANT = "from foldwise.game.compiled import kernel\n{}\n\n\n@kernel\ndef three():\n    return constants.THREE\n"


@pytest.mark.parametrize(
    "line",
    [
        "from foldwise.game import constants",
        "from foldwise.game.constants import THREE",
        "from foldwise.game.constants import (\n    THREE,\n)",
        "import foldwise.game.constants, os",
        "import os, foldwise.game.constants as constants",
        "def later():\n    import foldwise.game.constants",
    ],
)
def test_what_a_kernel_imports_counts_and_what_that_imports(line, project, tmp_path, monkeypatch):
    """Constants are compiled in; a module without kernels that none of them imports leaves the folder as it is."""
    monkeypatch.setenv("FOLDWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled, "_SOURCE_ROOT", project)
    folder_of = compiled._numba_folder.__wrapped__
    (project / "game" / "three_kernels.py").write_text(CONSTANT.format(line))
    constants, numbers, apart = (project / "game" / f"{name}.py" for name in ("constants", "numbers", "apart"))
    constants.write_text("from foldwise.game.numbers import ONE\n\nTHREE = 3 * ONE\n")
    numbers.write_text("ONE = 1\n")
    apart.write_text("from foldwise.game.three_kernels import three\n\nNINE = three() ** 2\n")
    before = folder_of("solver")
    apart.write_text("NINE = 9\n")
    assert folder_of("solver") == before
    for path in (constants, numbers):
        path.write_text(path.read_text().replace("1", "2").replace("3", "4"))
        assert folder_of("solver") != before
        before = folder_of("solver")


def test_the_fields_of_a_tuple_count(project, tmp_path, monkeypatch):
    """A kernel need not import the tuple it is called with, but is compiled for the places of its fields."""
    monkeypatch.setenv("FOLDWISE_CACHE", str(tmp_path / "cache"))
    work = project / "solver" / "work.py"
    text = "from typing import NamedTuple\n\n\nclass Work(NamedTuple):\n    {}: int\n    {}: int\n"
    caller = "from foldwise.game.compiled import kernel\n\n\n@kernel\ndef first(work):\n    return work.first\n"
    (project / "solver" / "caller_kernels.py").write_text(caller)
    imports = "from foldwise.solver.caller_kernels import first; from foldwise.solver.work import Work"
    script = f"{imports}; print(first(Work(first=1, last=2)))"
    for fields in (("first", "last"), ("last", "first")):
        work.write_text(text.format(*fields))
        assert run(project, tmp_path / "cache", script) == 1


def test_packages_beside_the_rooms_do_not_count(project, tmp_path, monkeypatch):
    """Where the project is installed these are all the packages there are."""
    monkeypatch.setattr(compiled, "_SOURCE_ROOT", project)
    (project / "other").mkdir()
    (project / "other" / "__init__.py").write_text("")
    (project / "game" / "other_kernels.py").write_text("import other\n")
    assert {path.relative_to(project).parts[0] for path in compiled._sources("solver")} == {"game", "solver"}


def test_kernels_of_a_user_follow_every_room(project, tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled, "_SOURCE_ROOT", project)
    folder_of = compiled._numba_folder.__wrapped__
    before = folder_of("my_sampler")
    (project / "solver" / "caller_kernels.py").write_text(CALLER.replace("2 * two", "3 * two"))
    assert folder_of("my_sampler") != before


def test_without_a_writable_cache_kernels_are_not_cached(tmp_path, monkeypatch):
    """It costs compile time, nothing else; left to itself numba would write next to the code."""
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    monkeypatch.setenv("FOLDWISE_CACHE", str(in_the_way / "cache"))
    monkeypatch.setattr(compiled, "_numba_folder", compiled._numba_folder.__wrapped__)
    kernel = compiled.kernel(boundscheck=True)(lambda x: x + 1)
    assert kernel(1) == 2
    assert kernel.stats.cache_path is None
    assert kernel.targetoptions["boundscheck"]


def test_a_disk_that_fills_up_while_compiling_costs_only_time(tmp_path, monkeypatch):
    tried = []

    def full(*arguments):
        tried.append(arguments)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setenv("FOLDWISE_CACHE", str(tmp_path))
    monkeypatch.setattr(compiled, "_numba_folder", compiled._numba_folder.__wrapped__)
    monkeypatch.setattr(numba.config, "CACHE_DIR", numba.config.CACHE_DIR)  # put back after the test
    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    kernel = compiled.kernel(lambda x: x + 1)
    assert kernel(1) == 2
    assert len(tried) == 1


def test_threads_that_make_kernels_at_once_store_each_in_its_own_folder(project, tmp_path, monkeypatch):
    """A kernel of `game` is made in another thread between the choice of the folder for one of `solver` and its making."""
    monkeypatch.setenv("FOLDWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled, "_SOURCE_ROOT", project)
    monkeypatch.setattr(compiled, "_numba_folder", compiled._numba_folder.__wrapped__)
    setting, njit, made = numba.config.CACHE_DIR, numba.njit, {}

    def one(x):
        return x + 1

    def other(x):
        return x + 2

    def make(function, room):
        function.__module__ = f"foldwise.{room}.{function.__name__}_kernels"
        made[room] = compiled.kernel(function)

    def interrupted(function, **options):
        if function is one:
            thread = threading.Thread(target=make, args=(other, "game"))
            thread.start()
            thread.join()
        return njit(function, **options)

    monkeypatch.setattr(numba, "njit", interrupted)
    make(one, "solver")
    for room, name in (("solver", "one"), ("game", "other")):
        expected = Path(compiled._numba_folder(room)) / f"foldwise.{room}.{name}_kernels"
        assert Path(made[room].stats.cache_path) == expected
    assert setting == numba.config.CACHE_DIR  # a user's own functions under `numba.njit` stay where they were


def test_an_unequal_slice_is_an_error_without_strings_in_the_compiled_code():
    """To tell the two shapes numba compiles its strings: 3 s of CPU in each process that compiles such a kernel."""

    def copied(target, source):
        target[:] = source

    kernel = compiled.kernel(copied, cache=False)
    target = np.zeros(3)
    kernel(target, np.arange(3.0))
    assert target.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="slice from an array of another size"):
        kernel(target, np.zeros(2))
    (code,) = kernel.inspect_llvm().values()
    assert "unicode" not in code


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_rests_while_a_kernel_is_compiled(on):
    seen = []

    def stub():
        pass

    @overload(stub)
    def compiled_stub():
        seen.append(gc.isenabled())
        return lambda: 1

    inner = compiled.kernel(lambda: stub(), cache=False)
    outer = compiled.kernel(lambda: inner() + stub(), cache=False)
    (gc.enable if on else gc.disable)()
    try:
        assert outer() == 2
        assert seen and not any(seen)
        assert gc.isenabled() == on
    finally:
        gc.enable()


def test_place_of_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("FOLDWISE_CACHE", str(tmp_path))
    assert compiled.cache_folder() == tmp_path
    monkeypatch.delenv("FOLDWISE_CACHE")
    assert compiled.cache_folder().name == "foldwise"
    assert ROOT not in compiled.cache_folder().parents


def test_unused_folders_are_removed(tmp_path):
    old, new = tmp_path / "game-old", tmp_path / "game-new"
    for folder in (old, new):
        folder.mkdir()
        (folder / "code").write_text("")
    long_ago = time.time() - 15 * 24 * 3600
    os.utime(old, (long_ago, long_ago))
    compiled._remove_unused(tmp_path)
    assert list(tmp_path.iterdir()) == [new]
