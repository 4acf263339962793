"""`make mutants`: do the tests notice a wrong sign, weight or comparison?

One place at a time is changed, and the tests that name the changed module are run on it: first those that are quick without
numba's compiler (`quick_mutants.py`, about a second a mutant); then, for what is left, with it (`compiled_mutants.py`, half a
minute), where only what calls a changed kernel is compiled anew. A mutant that passes both survives: either a test
is missing, or the change makes no difference, or its time was up before the last test. Places are drawn with a seed from the
solver, post-processing, translation and scoring. Ends with the survivors and their share; `-o` keeps all as JSON, and beside
it what each stage found, with which an interrupted run goes on.
"""

import argparse
import ast
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from papers.record import Cell, add_save, cell_text, save

ROOT = Path(__file__).resolve().parent.parent
MUTATED = ("solver/**/*.py", "postprocess/*.py", "agent/mappings/*.py", "matches/scoring/*.py")
ROOMS = ("solver", "postprocess", "agent/mappings", "matches/scoring")
COLUMNS = [
    "room",
    "mutants",
    "noticed by quick tests",
    "passed by quick tests",
    "called by no quick test",
    "of both noticed by compiled tests",
    "survived",
    "survived, %",
    "95% interval, %",
]
NOT_QUICK = ("test_distributed_ray.py", "test_hosts.py")  # start processes, whose time is not theirs
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


@dataclass(frozen=True)
class Outcome:
    """A mutant, what the first stage did with it, and the first test to fail."""

    mutant: Mutant
    stage: str  # quick: noticed there; passed: noticed by none of its tests; unseen: called by none
    noticed_by: str | None
    tests: str  # run in the second stage
    source: str  # the line as it was

    @property
    def survived(self) -> bool:
        """Whether no test failed."""
        return self.noticed_by is None


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
    """The test files that import a module, or one beside it that drives it; else those of its shelf.

    The one of the module's name first, then the shortest: what notices a mutant should run early.
    """
    package, _, name = file.removesuffix(".py").replace("/", ".").rpartition(".")
    beside = sorted((ROOT / file).parent.glob("*.py"))
    own_name = f"test_{name.removesuffix('_kernels')}.py"

    def in_order(paths: Iterable[Path]) -> list[Path]:
        return sorted(paths, key=lambda path: (path.name != own_name, path.stat().st_size, path))

    own_tests = in_order((ROOT / "tests" / Path(file).parent).glob("test_*.py"))
    names, seen = {name}, {name}
    while names:
        found = in_order(path for path in (ROOT / "tests").rglob("test_*.py") if _imports(path, package, names))
        in_shelf = [path for path in found if path in own_tests]
        if found:
            return tuple(path.relative_to(ROOT).as_posix() for path in in_shelf or dict.fromkeys([*found, *own_tests]))
        names = {path.stem for path in beside if _imports(path, package, names)} - seen
        seen |= names
    return tuple(path.relative_to(ROOT).as_posix() for path in own_tests)


@cache
def _imported(path: Path) -> frozenset[str]:
    """Every module that a file imports, and every name, with its module, that it imports from one."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


def _imports(path: Path, package: str, names: Collection[str]) -> bool:
    return any(f"foldwise.{package}.{name}" in _imported(path) for name in names)


def run_stage(script: str, chosen: Sequence[Mutant], seconds: float, compiled: bool, folder: Path) -> list[Any]:
    """What one stage found out about each mutant; it goes on after those whose lines are in `folder`."""
    tests = {mutant: [test for test in tests_of(mutant.file) if not test.endswith(NOT_QUICK)] for mutant in chosen}
    rows = [{**asdict(mutant), "tests": tests[mutant]} for mutant in chosen]
    request, result = folder / f"{script}.request.json", folder / f"{script}.jsonl"
    request.write_text(json.dumps({"seconds": seconds, "mutants": rows}))
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0" if compiled else "1", "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(ROOT / "benchmarks" / f"{script}.py"), str(request), str(result)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    found = [json.loads(line) for line in result.read_text().splitlines()] if result.exists() else []
    if len(found) != len(chosen):
        raise SystemExit(f"{script}.py ended after {len(found)} of {len(chosen)} mutants\n{done.stdout}{done.stderr}")
    if [Mutant(**{name: each["mutant"][name] for name in Mutant.__annotations__}) for each in found] != list(chosen):
        raise SystemExit(f"{result} is of other mutants than these: give -o another folder")
    return found


def room_of(mutant: Mutant) -> str:
    """The part of the project a mutant belongs to, by the folders of `MUTATED`."""
    return next(room for room in ROOMS if mutant.file.startswith(room))


@dataclass(frozen=True)
class Tally:
    """How the mutants of one room, or of all, came out."""

    room: str
    mutants: int
    quickly: int  # noticed in the first stage
    unseen: int  # no test of that stage calls the changed function
    survived: int

    def row(self) -> list[Cell]:
        """The last cell is Wilson's interval for a share of mutants drawn at random."""
        left = self.mutants - self.quickly
        low, high = wilson(self.survived, self.mutants)
        return [
            self.room,
            self.mutants,
            self.quickly,
            left - self.unseen,
            self.unseen,
            left - self.survived,
            self.survived,
            round(100 * self.survived / self.mutants, 1),
            f"{100 * low:.1f} to {100 * high:.1f}",
        ]


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95% interval of a binomial share (Wilson 1927)."""
    z = 1.959964
    share, spread = successes / trials, z * z / trials
    middle = share + spread / 2
    half = z * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def tallies(outcomes: Sequence[Outcome]) -> list[Tally]:
    """By room, and of all."""
    found = []
    for room in (*ROOMS, "all"):
        own = [each for each in outcomes if room in ("all", room_of(each.mutant))]
        quick, unseen = (sum(each.stage == stage for each in own) for stage in ("quick", "unseen"))
        found.append(Tally(room, len(own), quick, unseen, sum(each.survived for each in own)))
    return [tally for tally in found if tally.mutants]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="mutants to try")
    parser.add_argument("--seed", type=int, default=1, help="of the choice of places")
    parser.add_argument("--only", nargs="*", default=[""], help="files whose name holds one of these")
    parser.add_argument(
        "--quick-seconds",
        type=float,
        default=1.0,
        help="of CPU: what a test of the first stage may take; 0: leave it out",
    )
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="of CPU: no further test is begun on a mutant in the second stage"
    )
    parser.add_argument("-o", type=Path, help="a folder for all outcomes, as JSON; an interrupted run goes on there")
    add_save(parser)
    options = parser.parse_args()
    files = sorted(path for pattern in MUTATED for path in ROOT.glob(pattern) if _is_asked(path, options.only))
    places = [mutant for path in files for mutant in find_mutants(path)]
    random.Random(options.seed).shuffle(places)
    chosen = places[: options.count]  # a run of fewer tries the first of them
    with tempfile.TemporaryDirectory(prefix="foldwise-mutants-") as temporary:
        folder: Path = options.o or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        quickly: list[Any] = [{"run": 0, "noticed_by": None}] * len(chosen)
        if options.quick_seconds > 0.0:
            quickly = run_stage("quick_mutants", chosen, options.quick_seconds, False, folder)
        left = [mutant for mutant, found in zip(chosen, quickly) if found["noticed_by"] is None]
        print(f"{len(chosen) - len(left)} of {len(chosen)} noticed by the first stage", flush=True)
        later = dict(zip(left, run_stage("compiled_mutants", left, options.seconds, True, folder)))
        outcomes = []
        for mutant, found in zip(chosen, quickly):
            stage = "quick" if mutant not in later else "passed" if found["run"] else "unseen"
            last = later.get(mutant, found)
            tests = f"{last['run']} of {last['of']} tests" if mutant in later else ""
            outcomes.append(Outcome(mutant, stage, last["noticed_by"], tests, _source(mutant)))
        (folder / "outcomes.json").write_text(json.dumps([asdict(each) for each in outcomes], indent=1))
    for outcome in outcomes:
        if outcome.survived:
            print(f"{outcome.mutant} survived {outcome.tests}\n    {outcome.source}")
    found_by_room = tallies(outcomes)
    for tally in found_by_room:
        print(", ".join(f"{name} {cell_text(cell)}" for name, cell in zip(COLUMNS, tally.row())))
    if options.save:
        title = f"{len(chosen)} of {len(places):,} places changed, one at a time, in {len(files)} files"
        save("mutants", title, COLUMNS, [tally.row() for tally in found_by_room], seeds=1)
    return 0


def _is_asked(path: Path, only: Sequence[str]) -> bool:
    return any(part in path.relative_to(ROOT).as_posix() for part in only)


def _source(mutant: Mutant) -> str:
    return (ROOT / mutant.file).read_text().splitlines()[mutant.line - 1].strip()


if __name__ == "__main__":
    raise SystemExit(main())
