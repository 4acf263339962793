"""The first stage of `mutants.py`: many mutants in one process, with numba's compiler switched off.

Without the compiler a kernel is a plain function whose code can be replaced, so nothing is compiled, copied or imported
again: the tests are collected once, and every mutant is a fork of that process in which one function has other code. On the
unchanged code each test is timed and the functions it calls are noted; a mutant is shown to those that call its function, the
fastest first, until one fails. Tests that need the compiler, or long without it, are left to the second stage.

    python benchmarks/quick_mutants.py REQUEST RESULT

REQUEST holds {"seconds": S, "mutants": [...]}: the CPU time a test may take, and mutants with their tests. RESULT gains a
line of JSON a mutant: the test that noticed it (null: none did) and how many were run. Mutants whose lines it has are done.
"""

import gc
import json
import os
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).resolve().parent.parent
_SPARE_SECONDS = 2.0  # of CPU, plus five times what a test takes on the unchanged code
_MOST_SECONDS = 60.0  # of CPU for a mutant
_LATEST_SECONDS = 1200.0  # for a fork that hangs without using CPU
_OPTIMISED = 1  # CO_OPTIMIZED: set in functions, not in bodies of classes


Place = tuple[str, str, int]  # of a function: file, name, line


class TooSlow(BaseException):
    """Raised in a test that has used its CPU time."""


def _stop(*_: Any) -> None:
    """Fail the test; a test that goes on, as one that waits for a thread, ends the fork when this comes once more."""
    signal.signal(signal.SIGPROF, lambda *_: os._exit(1))
    raise TooSlow


def changed_function(file: Path, old: str, new: str) -> CodeType | None:
    """The changed code of the outermost function that a mutant lies in; none at module level."""

    def walk(before: CodeType, after: CodeType) -> CodeType | None:
        for one, other in zip(before.co_consts, after.co_consts):
            if isinstance(one, CodeType) and one != other:
                return other if one.co_flags & _OPTIMISED else walk(one, other)
        return None

    return walk(compile(old, str(file), "exec"), compile(new, str(file), "exec"))


def _key(code: CodeType) -> Place:
    """Where a function stands."""
    return os.path.realpath(code.co_filename), code.co_qualname, code.co_firstlineno


def replace_code(code: CodeType) -> bool:
    """Give every function made from the same place this code; whether there was one."""
    found = [
        function
        for function in gc.get_objects()
        if type(function)
        is FunctionType  # `isinstance` asks some objects, such as proxies of what is gone, which raise
        and function.__code__.co_firstlineno == code.co_firstlineno
        and _key(function.__code__) == _key(code)
    ]
    for function in found:
        function.__code__ = code
    return bool(found)


def in_fork(work: Callable[[], Iterable[Any]], cpu_seconds: float) -> list[Any]:
    """What `work` yields in a fork of this process, until it ends, dies, hangs or has used so much CPU."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_seconds) + 1, int(cpu_seconds) + 1))
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            for each in work():
                os.write(writing, json.dumps(each).encode() + b"\n")
        finally:
            os._exit(0)
    os.close(writing)
    text = b""
    while select.select([reading], [], [], _LATEST_SECONDS)[0]:
        piece = os.read(reading, 1 << 16)
        if not piece:
            break
        text += piece
    else:
        os.kill(process, signal.SIGKILL)
    os.close(reading)
    os.waitpid(process, 0)
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith(b"\n")]


def passes(item: pytest.Item, following: pytest.Item | None, seconds: float) -> bool:
    """Run one test within so much CPU time."""
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    try:
        reports = runtestprotocol(item, log=False, nextitem=following)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    return all(report.outcome == "passed" for report in reports)


@dataclass(frozen=True)
class Timed:
    """A test that passes quickly on the unchanged code."""

    item: pytest.Item
    cpu_seconds: float
    calls: set[Place]


def measure(items: list[pytest.Item], first: int, limit: float) -> Iterator[list[Any]]:
    """For every test from the first on: its number, whether it passes quickly, its CPU seconds and the functions it calls."""
    for number in range(first, len(items)):
        called: set[CodeType] = set()

        def note(frame: Any, event: str, _: Any, called: set[CodeType] = called) -> None:
            if event == "call":
                called.add(frame.f_code)

        start = time.process_time()
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            passed = passes(items[number], items[number + 1] if number + 1 < len(items) else None, limit)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]  # its stub knows no None
        places = [_key(code) for code in called]
        ours = [place for place in places if passed and place[0].startswith(str(ROOT))]
        yield [number, passed, time.process_time() - start, ours]


def first_failure(code: CodeType, timed: list[Timed]) -> Iterator[int]:
    """The number of the first test to fail once a function has this code; -1 if none does."""
    if replace_code(code):
        for number, (test, following) in enumerate(zip(timed, [*timed[1:], None])):
            seconds = 5 * test.cpu_seconds + _SPARE_SECONDS
            if not passes(test.item, following.item if following else None, seconds):
                yield number
                return
    yield -1


class Forks:
    """Takes the place of pytest's loop over the collected tests."""

    def __init__(self, request: dict[str, Any], result: Path):
        self._request, self._result = request, result
        self._seconds = float(request["seconds"])
        self._items: dict[str, list[pytest.Item]] = {}  # by file
        self._measured: dict[str, list[Timed]] = {}  # by file
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

    def _timed(self, file: str) -> list[Timed]:
        """The tests of a file that pass quickly; a file that cannot be measured has none."""
        if file not in self._measured:
            items = self._items.get(file, [])
            self._measured[file], first = [], 0
            while first < len(items):
                limit = 2 * self._seconds * len(items) + 60
                rows = in_fork(partial(measure, items, first, self._seconds), limit)
                for number, passed, cpu, calls in rows:
                    if passed:
                        self._measured[file].append(Timed(items[number], cpu, set(map(tuple, calls))))
                first += len(rows) + 1  # the test after the last row ended the fork
        return self._measured[file]

    def _try(self, mutant: dict[str, Any]) -> dict[str, Any]:
        file = ROOT / mutant["file"]
        text, start = file.read_text(), mutant["start"]
        code = changed_function(file, text, text[:start] + mutant["new"] + text[start + len(mutant["old"]) :])
        if code is None:
            return {"run": 0, "noticed_by": None}
        timed = [test for name in mutant["tests"] for test in self._timed(name) if _key(code) in test.calls]
        timed.sort(key=lambda test: test.cpu_seconds)
        while timed:
            answer = in_fork(partial(first_failure, code, timed), _MOST_SECONDS)
            if not answer:
                return {"run": len(timed), "noticed_by": "the process died or used too much CPU"}
            if answer[0] == -1:
                break
            failed = timed[answer[0]]
            name = failed.item.nodeid
            if name not in self._sound:
                rows = in_fork(partial(measure, [failed.item], 0, _MOST_SECONDS), _MOST_SECONDS)
                self._sound[name] = bool(rows and rows[0][1])
            if self._sound[name]:
                return {"run": answer[0] + 1, "noticed_by": name}
            timed.remove(failed)
        return {"run": len(timed), "noticed_by": None}


def main() -> int:
    request, result = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    # Arithmetic on numpy's scalars warns of the overflow that a generator means; compiled it does not.
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning", "-m", "not jit"]
    tests = sorted({test for mutant in request["mutants"] for test in mutant["tests"]})
    return int(pytest.main([*options, *tests], plugins=[Forks(request, result)]))


if __name__ == "__main__":
    raise SystemExit(main())
