"""`make mutants`: do the tests notice a wrong sign, weight or comparison?

One place at a time is changed, and the tests that name the changed module are run on it: first those that are quick without
numba's compiler (`quick_mutants.py`, about a second a mutant); for the mutants these pass outside of kernels, those that are
quick with it; then, for what is left, all of them in a copy of the checkout, where every kernel of the room is compiled again
(minutes). A mutant that passes everything survives: either a test
is missing, or the change makes no difference. Places are drawn with a seed from the solver, post-processing, translation and
scoring. The second stage may be given a number of mutants, or of CPU-seconds: those it tries are then a random sample of what
the first stage let pass. Ends with the survivors and their share; `-o` keeps all as JSON, and beside it what the first stage
found, with which an interrupted run goes on.
"""

import argparse
import ast
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from papers.record import Cell, add_save, cell_text, save

from foldwise.game.compiled import cache_folder

ROOT = Path(__file__).resolve().parent.parent
MUTATED = ("solver/**/*.py", "postprocess/*.py", "agent/mappings/*.py", "matches/scoring/*.py")
ROOMS = ("solver", "postprocess", "agent/mappings", "matches/scoring")
COLUMNS = [
    "room",
    "mutants",
    "noticed by quick tests",
    "passed by quick tests",
    "called by no quick test",
    "of both tried with all tests",
    "survived",
    "survive, estimated %",
    "at most, %",
]
NOT_QUICK = ("test_distributed_ray.py", "test_hosts.py")  # start processes, whose time is not theirs
LATEST_SECONDS = 3600.0  # for a test that hangs without using CPU
_SPARE_CPU_SECONDS = 120  # plus five times what the tests take on the unchanged code
_BINARY = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
_COMPARED = {ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "=="}
_CALLED = {"min": "max", "max": "min"}


@dataclass(frozen=True)
class Mutant:
    """One change: at `start` of a file's text, `old` becomes `new`."""

    file: str
    line: int
    start: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.old} -> {self.new}"


@dataclass
class Outcome:
    """A mutant with the tests that were run on it, and the first of them to fail."""

    mutant: Mutant
    tests: list[str]
    survived: bool
    noticed_by: str = ""
    source: str = field(default="")  # the line as it was


def find_mutants(path: Path) -> Iterator[Mutant]:
    """Every change that can be made to a file, in the order of its text."""
    text = path.read_text()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    raw = text.encode()

    def place(line: int, column: int) -> int:
        return len(raw[: starts[line - 1] + column].decode())

    def between(left: ast.expr, right: ast.expr, new: str) -> Iterator[Mutant]:
        """The operator that stands between two operands."""
        assert left.end_lineno is not None and left.end_col_offset is not None
        first, last = place(left.end_lineno, left.end_col_offset), place(right.lineno, right.col_offset)
        middle = text[first:last]
        old = middle.strip("() \t\n")
        if old and "#" not in middle:
            yield mutant(left.end_lineno, first + middle.index(old), old, new)

    def mutant(line: int, start: int, old: str, new: str) -> Mutant:
        return Mutant(path.relative_to(ROOT).as_posix(), line, start, old, new)

    for node in _in_functions(ast.parse(text)):
        match node:
            case ast.BinOp(left, operator, right) if type(operator) in _BINARY and not _holds_text(node):
                yield from between(left, right, _BINARY[type(operator)])
            case ast.AugAssign(target, operator, value) if type(operator) in _BINARY and not _holds_text(value):
                yield from between(target, value, f"{_BINARY[type(operator)]}=")
            case ast.Compare(left, [operator], [right]) if type(operator) in _COMPARED:
                yield from between(left, right, _COMPARED[type(operator)])
            case ast.UnaryOp(ast.USub(), ast.Name() | ast.Call() | ast.Attribute() | ast.Subscript()):
                yield mutant(node.lineno, place(node.lineno, node.col_offset), "-", "+")
            case ast.Call(ast.Name(name)) if name in _CALLED and len(node.args) == 2:
                yield mutant(node.lineno, place(node.lineno, node.col_offset), name, _CALLED[name])
            case ast.Constant(float(number)) if number not in (0.0, float("inf")):
                start = place(node.lineno, node.col_offset)
                assert node.end_lineno is not None and node.end_col_offset is not None
                old = text[start : place(node.end_lineno, node.end_col_offset)]
                yield mutant(node.lineno, start, old, repr(2.0 * number))


def _in_functions(tree: ast.AST) -> Iterator[ast.AST]:
    """The code inside functions: no annotations, defaults or decorators, and no error messages."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            waiting: list[ast.AST] = list(function.body)
            while waiting:
                node = waiting.pop(0)
                if isinstance(node, (ast.Raise, ast.Assert, ast.FunctionDef, ast.JoinedStr)):
                    continue
                yield node
                left_out = [node.annotation] if isinstance(node, ast.AnnAssign) else []
                waiting += [child for child in ast.iter_child_nodes(node) if child not in left_out]


def _holds_text(node: ast.AST) -> bool:
    """Whether an operator joins text or paths, as far as the source shows."""
    for part in ast.walk(node):
        if isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str)):
            return True
        name = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
        if any(word in name.lower() for word in ("folder", "path", "parent", "text")):
            return True
    return False


@cache
def tests_of(file: str) -> tuple[str, ...]:
    """The test files that import a module, or one beside it that drives it; where there are none, those of its shelf."""
    package, _, name = file.removesuffix(".py").replace("/", ".").rpartition(".")
    beside = [path.stem for path in (ROOT / file).parent.glob("*.py") if f".{name} import" in path.read_text()]
    own_tests = sorted((ROOT / "tests" / Path(file).parent).glob("test_*.py"))
    for names in ([name], beside):
        found = [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if _imports(path, package, names)]
        in_shelf = [path for path in found if path in own_tests]
        if found:
            return tuple(path.relative_to(ROOT).as_posix() for path in in_shelf or [*own_tests, *found])
    return tuple(path.relative_to(ROOT).as_posix() for path in own_tests)


def _imports(path: Path, package: str, names: list[str]) -> bool:
    text = path.read_text()
    by_name = f"from foldwise.{package} import" in text
    return any(f"foldwise.{package}.{name} import" in text or (by_name and name in text) for name in names)


def noticed_quickly(
    chosen: Sequence[Mutant], seconds: float, compiled: bool, request: Path, result: Path
) -> tuple[dict[Mutant, str], set[Mutant]]:
    """A first stage: the mutants it notices, each with the test that does, and those that it has no test for.

    It goes on after those in `result`.
    """
    tests = {mutant: [test for test in tests_of(mutant.file) if not test.endswith(NOT_QUICK)] for mutant in chosen}
    rows = [{**asdict(mutant), "tests": tests[mutant]} for mutant in chosen]
    request.write_text(json.dumps({"seconds": seconds, "compiled": compiled, "mutants": rows}))
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0" if compiled else "1", "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(ROOT / "benchmarks" / "quick_mutants.py"), str(request), str(result)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    found = [json.loads(line) for line in result.read_text().splitlines()] if result.exists() else []
    if len(found) != len(chosen):
        raise SystemExit(
            f"the first stage ended after {len(found)} of {len(chosen)} mutants\n{done.stdout}{done.stderr}"
        )
    noticed = {mutant: each["noticed_by"] for mutant, each in zip(chosen, found) if each["noticed_by"] is not None}
    return noticed, {mutant for mutant, each in zip(chosen, found) if each["run"] == 0}


class Copy:
    """A copy of the checkout in which one file at a time is changed."""

    def __init__(self, folder: Path):
        self.folder = folder / "checkout"
        self._cache = folder / "cache"
        (self._cache / "numba").mkdir(parents=True)
        for kept in [
            *cache_folder().iterdir(),
            *cache_folder().glob("numba/*"),
        ]:  # unchanged results are not made again
            if kept.name != "numba":
                (self._cache / kept.relative_to(cache_folder())).symlink_to(kept)
        names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in names.splitlines():
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target, follow_symlinks=False)
        self._usual: dict[tuple[str, ...], float] = {}  # CPU seconds of tests on the unchanged code

    def try_mutant(self, mutant: Mutant) -> Outcome:
        tests = tests_of(mutant.file)
        path = self.folder / mutant.file
        whole = path.read_text()
        if tests not in self._usual:
            code, output, seconds = self._test(tests, None)
            if code != 0:
                raise SystemExit(f"tests fail on the unchanged code: {' '.join(tests)}\n{output}")
            self._usual[tests] = seconds
        before = set(self._compiled())
        path.write_text(whole[: mutant.start] + mutant.new + whole[mutant.start + len(mutant.old) :])
        try:
            code, output, _ = self._test(tests, int(5 * self._usual[tests]) + _SPARE_CPU_SECONDS)
        finally:
            path.write_text(whole)
        for folder in set(self._compiled()) - before:
            shutil.rmtree(folder)
        failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        noticed = failed[0].split(" - ")[0] if failed else f"ended with {code}"
        return Outcome(mutant, list(tests), code == 0, "" if code == 0 else noticed, _source(mutant))

    def _compiled(self) -> list[Path]:
        return list((self._cache / "numba").glob("*"))

    def _test(self, tests: tuple[str, ...], cpu_seconds: int | None) -> tuple[int, str, float]:
        """Exit code, output and CPU seconds; the kernel ends a run beyond the CPU limit, however busy the machine is."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder / "src"),
            "FOLDWISE_CACHE": str(self._cache),
            "NUMBA_OPT": "1",  # most of the time is spent compiling code that runs briefly
        }
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime

        def limit() -> None:
            if cpu_seconds is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))

        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=environment,
                preexec_fn=limit,
                capture_output=True,
                text=True,
                timeout=LATEST_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return -1, "", LATEST_SECONDS
        return done.returncode, done.stdout, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def room_of(mutant: Mutant) -> str:
    """The part of the project a mutant belongs to, by the folders of `MUTATED`."""
    return next(room for room in ROOMS if mutant.file.startswith(room))


@dataclass(frozen=True)
class Tally:
    """How the mutants of one room, or of all, came out."""

    room: str
    mutants: int
    quickly: int  # noticed in the first stages
    unseen: int  # no test of these stages calls the changed function
    tried: int  # of the others, in the second stage
    survived: int  # of those

    def row(self) -> list[Cell]:
        """Of those that were not tried, as many are taken to survive as of those that were."""
        left = self.mutants - self.quickly
        share = round(100 * left * self.survived / self.tried / self.mutants, 1) if self.tried else None
        at_most = round(100 * (left - self.tried + self.survived) / self.mutants, 1)
        passed = left - self.unseen
        return [self.room, self.mutants, self.quickly, passed, self.unseen, self.tried, self.survived, share, at_most]


def tallies(
    chosen: Sequence[Mutant], quickly: Collection[Mutant], unseen: Collection[Mutant], outcomes: Sequence[Outcome]
) -> list[Tally]:
    found = []
    for room in (*ROOMS, "all"):
        own = [mutant for mutant in chosen if room in ("all", room_of(mutant))]
        tried = [outcome for outcome in outcomes if outcome.mutant in own and outcome.mutant not in quickly]
        survived = sum(outcome.survived for outcome in tried)
        quick, without_tests = (sum(mutant in some for mutant in own) for some in (quickly, unseen))
        found.append(Tally(room, len(own), quick, without_tests, len(tried), survived))
    return [tally for tally in found if tally.mutants]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="mutants to try")
    parser.add_argument("--seed", type=int, default=1, help="of the choice of places")
    parser.add_argument("--only", nargs="*", default=[""], help="files whose name holds one of these")
    parser.add_argument(
        "--quick-seconds", type=float, default=1.0, help="of CPU: what a test of the first stage may take"
    )
    parser.add_argument(
        "--compiled-seconds", type=float, default=4.0, help="the same for tests with compiled kernels; 0: none"
    )
    parser.add_argument("--second", type=int, help="mutants the second stage tries at most; 0: none")
    parser.add_argument("--cpu-seconds", type=float, default=float("inf"), help="begin no further mutant after so many")
    parser.add_argument("-o", type=Path, help="where all outcomes go, as JSON")
    add_save(parser)
    options = parser.parse_args()
    files = sorted(path for pattern in MUTATED for path in ROOT.glob(pattern) if _is_asked(path, options.only))
    places = [mutant for path in files for mutant in find_mutants(path)]
    random.Random(options.seed).shuffle(places)
    chosen = places[: options.count]  # a run of fewer tries the first of them
    for mutant in chosen:
        tests_of(mutant.file)  # looked up now, since the checkout may change while its copy is tested
    with tempfile.TemporaryDirectory(prefix="foldwise-mutants-") as folder:
        noticed: dict[Mutant, str] = {}
        unseen = set(chosen)
        for compiled, seconds in ((False, options.quick_seconds), (True, options.compiled_seconds)):
            name = "compiled.jsonl" if compiled else "plain.jsonl"
            result = Path(folder) / name if options.o is None else options.o.with_suffix(f".{name}")
            # A kernel whose code is replaced is not compiled again: only without the compiler does it change.
            asked = [m for m in chosen if m not in noticed and not (compiled and m.file.endswith("_kernels.py"))]
            if seconds == 0.0:
                continue
            request = Path(folder) / f"request.{name}"
            newly, without_tests = noticed_quickly(asked, seconds, compiled, request, result)
            noticed |= newly
            unseen -= set(asked) - without_tests
        outcomes = [
            Outcome(mutant, list(tests_of(mutant.file)), False, noticed_by, _source(mutant))
            for mutant, noticed_by in noticed.items()
        ]
        left = [mutant for mutant in chosen if mutant not in noticed]
        print(f"{len(noticed)} of {len(chosen)} noticed by the first stage", flush=True)
        _keep(outcomes, left, options.o)
        copy = Copy(Path(folder)) if options.second != 0 else None
        # In the order they were drawn in, so that the first few are a random sample.
        for number, mutant in enumerate(left[: options.second]):
            if copy is None or resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime > options.cpu_seconds:
                break
            outcome = copy.try_mutant(mutant)
            outcomes.append(outcome)
            verdict = "SURVIVED" if outcome.survived else outcome.noticed_by
            print(f"{number + 1}/{len(left)} {mutant}: {verdict}", flush=True)
            _keep(outcomes, left, options.o)
    for outcome in outcomes:
        if outcome.survived:
            print(f"{outcome.mutant}\n    {outcome.source}")
    found = tallies(chosen, noticed, unseen, outcomes)
    for tally in found:
        print(", ".join(f"{name} {cell_text(cell)}" for name, cell in zip(COLUMNS, tally.row())))
    if options.save:
        title = f"{len(chosen)} of {len(places):,} places changed, one at a time, in {len(files)} files"
        save("mutants", title, COLUMNS, [tally.row() for tally in found], seeds=1)
    return 0


def _is_asked(path: Path, only: Sequence[str]) -> bool:
    return any(part in path.relative_to(ROOT).as_posix() for part in only)


def _source(mutant: Mutant) -> str:
    return (ROOT / mutant.file).read_text().splitlines()[mutant.line - 1].strip()


def _keep(outcomes: Sequence[Outcome], left: Sequence[Mutant], path: Path | None) -> None:
    """All outcomes so far, and what the first stage left."""
    if path is not None:
        kept = {"outcomes": [asdict(each) for each in outcomes], "left": [str(mutant) for mutant in left]}
        path.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    raise SystemExit(main())
