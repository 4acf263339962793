"""The first stage of `make mutants`: a function's code is replaced in a fork, and in that fork alone."""

import importlib.util
import os
import sys
import weakref
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.places import ROOT

SOURCE = """
def before(x):
    return x

class Holder:
    def halve(self, x):
        def inner(y):
            return y / 2
        return inner(x)

limit = 3
"""


@pytest.fixture(scope="module")
def quick() -> ModuleType:
    spec = importlib.util.spec_from_file_location("quick_mutants", ROOT / "benchmarks" / "quick_mutants.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["quick_mutants"] = module
    spec.loader.exec_module(module)
    return module


def test_a_mutant_lives_in_its_fork_alone(quick: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "changed.py"
    names: dict[str, object] = {}
    exec(compile(SOURCE, str(path), "exec"), names)
    holder = names["Holder"]()  # type: ignore[operator]
    code = quick.changed_function(path, SOURCE, SOURCE.replace("y / 2", "y * 2"))
    assert code.co_qualname == "Holder.halve"  # the outermost: what is inside is made anew by each call

    gone = weakref.proxy(
        type("Gone", (), {})()
    )  # among all objects there may be one that raises when it is asked its class
    with pytest.raises(ReferenceError):
        isinstance(gone, int)

    def work():  # type: ignore[no-untyped-def]
        yield quick.replace_code(code)
        yield holder.halve(3.0)

    assert quick.in_fork(work, 60) == [True, 6.0]
    assert holder.halve(3.0) == 1.5


def test_a_change_outside_functions_is_left_to_the_second_stage(quick: ModuleType, tmp_path: Path) -> None:
    assert quick.changed_function(tmp_path / "x.py", SOURCE, SOURCE.replace("limit = 3", "limit = 4")) is None


def test_what_was_said_before_a_fork_died_is_kept(quick: ModuleType) -> None:
    def work():  # type: ignore[no-untyped-def]
        yield 1
        yield [2, "two"]
        os._exit(1)

    assert quick.in_fork(work, 60) == [1, [2, "two"]]


def test_survivors_are_counted_by_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what the first stage left, those not tried count as the tried ones do, and in the bound as survivors."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "benchmarks" / "mutants.py")
    assert spec is not None and spec.loader is not None
    mutants = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "mutants", mutants)
    spec.loader.exec_module(mutants)
    files = ["solver/run.py"] * 6 + ["matches/scoring/aivat.py"] * 2
    chosen = [mutants.Mutant(file, 1, start, "+", "-") for start, file in enumerate(files)]
    quickly, left = chosen[:2], chosen[2:6]
    outcomes = [mutants.Outcome(mutant, [], False) for mutant in (*quickly, left[0])]
    outcomes += [mutants.Outcome(left[1], [], True), mutants.Outcome(chosen[6], [], False)]
    rows = [tally.row() for tally in mutants.tallies(chosen, quickly, {left[0]}, outcomes)]
    assert rows == [
        ["solver", 6, 2, 3, 1, 2, 1, round(100 * 2 / 6, 1), 50.0],
        ["matches/scoring", 2, 0, 2, 0, 1, 0, 0.0, 50.0],
        ["all", 8, 2, 5, 1, 3, 1, 25.0, 50.0],
    ]
