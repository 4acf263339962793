"""The second stage of `mutants.py`: what the quick tests let pass, shown to the same tests with compiled kernels.

The tests are collected once, and every mutant is a fork of that process in which one function has other code. Where that is a
kernel, the kernels that call it, at whatever distance, forget what is cached of them and are compiled anew when a test calls
them; all others are loaded. A mutant is shown to the tests that name its module until one fails or its time is up.

    python benchmarks/compiled_mutants.py REQUEST RESULT

REQUEST holds {"seconds": S, "mutants": [...]}: the CPU time after which no further test is begun on a mutant, and mutants
with their tests. RESULT gains a line of JSON a mutant: the test that noticed it (null: none did), how many were run, of how
many. Mutants whose lines it has are done.
"""

import gc
import json
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from numba.core.caching import NullCache
from numba.core.registry import CPUDispatcher
from quick_mutants import ROOT, changed_function, in_fork, passes, replace_code

_TEST_SECONDS = 120.0  # of CPU: a test that takes longer hangs, even where it compiles
DIED = "the process died or used too much CPU"


def called_names(code: CodeType) -> set[str]:
    """Every global name that a function, or one inside it, may read."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= called_names(constant)
    return names


def callers(changed: CodeType, module_file: str) -> list[Any]:
    """The compiled functions that hold this code or call one that does, at whatever distance.

    What is compiled in place of a plain function (numba's `overload`) is called by the other's name: then it is whatever
    calls something of its module.
    """
    kernels = [each for each in gc.get_objects() if type(each) is CPUDispatcher]
    calls = {
        id(each): [each.py_func.__globals__.get(name) for name in called_names(each.py_func.__code__)]
        for each in kernels
    }
    found = [each for each in kernels if each.py_func.__code__ is changed]
    if not found:

        def is_of_module(what: object) -> bool:
            code = getattr(getattr(what, "py_func", what), "__code__", None)
            return code is not None and code.co_filename.endswith(module_file)

        found = [each for each in kernels if is_of_module(each) or any(map(is_of_module, calls[id(each)]))]
    known = {id(each) for each in found}
    for callee in found:  # grows while it is read
        for each in kernels:
            if id(each) not in known and any(called is callee for called in calls[id(each)]):
                known.add(id(each))
                found.append(each)
    return found


def forget(kernels: list[Any]) -> None:
    """Have them compiled anew, and nothing of that kept on disk."""
    for each in kernels:
        each._cache = NullCache()
        if each.overloads:
            each._make_finalizer()()
            each._reset_overloads()


def outcomes(code: CodeType | None, file: str, items: list[pytest.Item], seconds: float) -> Iterator[bool | None]:
    """For one test after the other whether it passes once a function has this code, up to the first that does not.

    None at the end: the time was up before the next.
    """
    if code is not None and replace_code(code) and file.endswith("_kernels.py"):
        forget(callers(code, file))
    begun = time.process_time()
    for number, item in enumerate(items):
        if time.process_time() - begun > seconds:
            yield None
            return
        passed = passes(item, items[number + 1] if number + 1 < len(items) else None, _TEST_SECONDS)
        yield passed
        if not passed:
            return


class CompiledForks:
    """Takes the place of pytest's loop over the collected tests."""

    def __init__(self, request: dict[str, Any], result: Path):
        self._request, self._result = request, result
        self._items: dict[str, list[pytest.Item]] = {}  # by file
        self._sound: dict[str, bool] = {}  # by test: whether it passes by itself on the unchanged code

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for item in session.items:
            self._items.setdefault(item.nodeid.partition("::")[0], []).append(item)
        done = len(self._result.read_text().splitlines()) if self._result.exists() else 0
        with self._result.open("a") as lines:
            for mutant in self._request["mutants"][done:]:
                lines.write(json.dumps({"mutant": mutant, **self._try(mutant)}) + "\n")
                lines.flush()
        return True

    def _try(self, mutant: dict[str, Any]) -> dict[str, Any]:
        file, start = ROOT / mutant["file"], mutant["start"]
        text = file.read_text()
        code = changed_function(file, text, text[:start] + mutant["new"] + text[start + len(mutant["old"]) :])
        items = [item for name in mutant["tests"] for item in self._items.get(name, [])]
        if code is None:
            return {"run": 0, "of": len(items), "noticed_by": None}
        run = 0
        while run < len(items):
            seconds = float(self._request["seconds"])
            passed = in_fork(partial(outcomes, code, mutant["file"], items[run:], seconds), seconds + 2 * _TEST_SECONDS)
            run += passed.count(True)
            if run == len(items) or (passed and passed[-1] is None):
                break
            if self._is_sound(items[run]):
                name = items[run].nodeid
                return {
                    "run": run + 1,
                    "of": len(items),
                    "noticed_by": name if passed and passed[-1] is False else f"{DIED}: {name}",
                }
            run += 1
        return {"run": run, "of": len(items), "noticed_by": None}

    def _is_sound(self, item: pytest.Item) -> bool:
        if item.nodeid not in self._sound:
            self._sound[item.nodeid] = in_fork(partial(outcomes, None, "", [item], 1.0), 2 * _TEST_SECONDS) == [True]
        return self._sound[item.nodeid]


def main() -> int:
    request, result = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    tests = sorted({test for mutant in request["mutants"] for test in mutant["tests"]})
    return int(
        pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", *tests], plugins=[CompiledForks(request, result)])
    )


if __name__ == "__main__":
    raise SystemExit(main())
