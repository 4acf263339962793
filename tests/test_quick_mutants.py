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


@pytest.fixture
def mutants(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "benchmarks" / "mutants.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "mutants", module)
    spec.loader.exec_module(module)
    return module


def test_survivors_are_counted_by_room(mutants: ModuleType) -> None:
    came_out = [("quick", "a"), ("quick", "b"), ("passed", None), ("passed", "c"), ("unseen", "d"), ("unseen", None)]
    outcomes = [
        mutants.Outcome(mutants.Mutant("solver/run.py", 1, start, "+", "-"), stage, noticed_by, "", "")
        for start, (stage, noticed_by) in enumerate(came_out)
    ]
    outcomes.append(mutants.Outcome(mutants.Mutant("matches/scoring/aivat.py", 1, 0, "+", "-"), "unseen", "e", "", ""))
    rows = [tally.row() for tally in mutants.tallies(outcomes)]
    assert [row[:-1] for row in rows] == [
        ["solver", 6, 2, 2, 2, 2, 2, 33.3],
        ["matches/scoring", 1, 0, 0, 1, 1, 0, 0.0],
        ["all", 7, 2, 2, 3, 3, 2, 28.6],
    ]


def test_interval_of_a_share(mutants: ModuleType) -> None:
    """Agresti and Coull (1998): none of 20 gives 0 to 16.1%; and the interval is symmetric in what is counted."""
    assert mutants.wilson(0, 20) == pytest.approx((0.0, 0.161), abs=5e-4)
    low, high = mutants.wilson(5, 20)
    assert mutants.wilson(15, 20) == pytest.approx((1 - high, 1 - low))
    # The ends are where the share lies 1.96 standard errors from what was seen.
    for end in (low, high):
        assert abs(end - 0.25) == pytest.approx(1.959964 * (end * (1 - end) / 20) ** 0.5)
