"""The second stage of `make mutants`: what calls a changed kernel is compiled anew, in a fork alone."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numba
import pytest

from tests.support.places import ROOT

SOURCE = """
import numba

@numba.njit
def inner(x):
    return x + 1.0

@numba.njit
def middle(x):
    return 10.0 * inner(x)

@numba.njit
def outer(x):
    return middle(x) + 0.5

@numba.njit
def other(x):
    return -x
"""
pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("compiled_mutants")


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    path = tmp_path / "changed_kernels.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("changed_kernels", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "changed_kernels", module)
    spec.loader.exec_module(module)
    return module


def test_callers_of_a_changed_kernel_run_its_new_code(compiled: ModuleType, kernels: ModuleType) -> None:
    assert (kernels.outer(1.0), kernels.other(1.0)) == (20.5, -1.0)  # compiled before the change
    file = Path(str(kernels.__file__))
    code = compiled.changed_function(file, SOURCE, SOURCE.replace("x + 1.0", "x - 1.0"))

    def work():  # type: ignore[no-untyped-def]
        compiled.replace_code(code)
        found = compiled.callers(code, file.name)
        yield sorted(each.py_func.__name__ for each in found)
        compiled.forget(found)
        yield [kernels.outer(1.0), kernels.other(1.0)]

    assert compiled.in_fork(work, 600) == [["inner", "middle", "outer"], [0.5, -1.0]]
    assert kernels.outer(1.0) == 20.5
