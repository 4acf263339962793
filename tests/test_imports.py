"""The arrows between the rooms, read from the sources and from a running interpreter."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("game", "abstraction", "solver", "postprocess", "agent", "search", "matches", "web", "cli")
# What each room may import of the others.
ARROWS = {
    "game": set(),
    "abstraction": {"game"},
    "solver": {"game", "abstraction"},
    "postprocess": set(),
    "agent": {"game", "abstraction", "postprocess"},
    "search": {"game", "abstraction", "solver", "postprocess", "agent"},
    "matches": {"game", "abstraction", "postprocess", "agent", "search"},
    "web": {"game", "abstraction", "solver", "postprocess", "agent", "search", "matches"},
    "cli": {"game", "abstraction", "solver", "postprocess", "agent", "search", "matches", "web"},
}
# What each shelf may import of the other shelves of its room.
SHELVES = {
    "game.primitives": set(),
    "game.hands": {"primitives"},
    "game.trees": set(),
    "game.text": {"hands"},
    "abstraction.storage": set(),
    "abstraction.cards": {"storage"},
    "abstraction.deals": {"cards", "storage"},
    "solver.full_width": set(),
    "solver.sampling": set(),
    "solver.response": {"full_width"},
    "solver.subgame": {"full_width", "response"},
    "solver.distributed": {"sampling"},
    "agent.mappings": set(),
    "agent.postprocessing": set(),
    "agent.following": {"mappings", "postprocessing"},
    "agent.reading": {"following"},
    "agent.clients": set(),
    "search.flop": set(),
    "matches.table": set(),
    "matches.engine": {"table"},
    "matches.scoring": {"table", "engine"},
    "matches.duplicate": {"table", "engine", "scoring"},
    "matches.network": {"table", "engine", "duplicate"},
    "matches.report": {"table", "scoring"},
    "web.connection": set(),
    "web.table": set(),
    "web.routes": {"connection", "table"},
    "cli.support": set(),
}
SOURCES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


def imported_modules(source: str) -> set[str]:
    """Dotted names of all imports, also those inside functions and of `import_module("...")`.

    What `from a import b` takes may be a module, so `a.b` counts beside `a`.
    """
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            found |= {arg.value for arg in node.args if isinstance(arg, ast.Constant)}
    return found


def imported_packages(source: str) -> set[str]:
    """Top-level packages of all imports."""
    return {name.partition(".")[0] for name in imported_modules(source)}


def imported_rooms(source: str) -> set[str]:
    names = [name.split(".") for name in imported_modules(source)]
    return {parts[1] for parts in names if parts[0] == "foldwise" and len(parts) > 1}


def test_reader_of_imports_sees_all_forms():
    source = "import a.b, c\nfrom d.e import f\ndef g():\n    from h import i\n    importlib.import_module('j.k')\n"
    assert imported_modules(source) == {"a.b", "c", "d.e", "d.e.f", "h", "h.i", "j.k"}
    assert imported_packages(source) == {"a", "c", "d", "h", "j"}
    assert imported_rooms("import foldwise.game.cards\nfrom foldwise import cli\nimport game\n") == {"game", "cli"}


def test_every_room_is_read():
    assert {path.relative_to(ROOT).parts[0] for path in SOURCES} == set(ROOMS)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_arrows(path):
    room = path.relative_to(ROOT).parts[0]
    source = path.read_text(encoding="utf-8")
    assert imported_rooms(source) <= ARROWS[room] | {room}
    assert not imported_packages(source) & {"tests", "benchmarks", *ROOMS}


def parts_of(room: str) -> set[str]:
    """The shelves and the single modules of a room."""
    return {path.stem for path in (ROOT / room).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}


def imported_parts(room: str, shelf: str) -> set[str]:
    """What the modules of a shelf import of the rest of their room."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / room / shelf).rglob("*.py")]
    names = [name.split(".") for source in sources for name in imported_modules(source)]
    own = {name[2] for name in names if name[:2] == ["foldwise", room] and len(name) > 2}
    return own & parts_of(room) - {shelf}


def test_every_shelf_has_its_arrows_and_none_turns_back():
    """In the order written, a shelf imports those before it only."""
    folders = [path.parent for room in ROOMS for path in (ROOT / room).glob("*/__init__.py")]
    assert {f"{folder.parent.name}.{folder.name}" for folder in folders} == set(SHELVES)
    seen: set[str] = set()
    for name, arrows in SHELVES.items():
        room = name.partition(".")[0]
        assert {f"{room}.{shelf}" for shelf in arrows} <= seen
        seen.add(name)


@pytest.mark.parametrize("name", SHELVES)
def test_a_shelf_imports_what_its_docstring_says(name):
    """The sentence after "Imports" names, in backquotes, every part of the room it needs, and no other."""
    room, shelf = name.split(".")
    docstring = ast.get_docstring(ast.parse((ROOT / room / shelf / "__init__.py").read_text(encoding="utf-8")))
    assert docstring is not None
    said = set(re.findall(r"`(\w+)`", docstring.rpartition("Imports")[2]))
    assert imported_parts(room, shelf) == said
    assert said & {other.partition(".")[2] for other in SHELVES if other.startswith(f"{room}.")} == SHELVES[name]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_command_line_prints(path):
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    prints = [node.lineno for node in calls if isinstance(node.func, ast.Name) and node.func.id == "print"]
    assert path.relative_to(ROOT).parts[0] == "cli" or not prints


def test_no_class_name_stands_twice():
    """A name says what the class is, so two rooms have no two things of one name."""
    places: dict[str, list[str]] = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


# Files of one name about one thing, in two rooms or on two shelves: a config's part for each room, players at a broker, ...
ONE_THING = {
    *("average", "broker", "checkpoint", "config", "language", "player", "players", "program"),
    *("range_kernels", "ranges", "run", "scores"),
}


def test_files_of_one_name_are_about_one_thing():
    """A command has the name of what it shows; any other file's name is its own, or in the list above."""
    places: dict[str, list[Path]] = {}
    for path in SOURCES:
        if path.stem not in ("__init__", "__main__"):
            places.setdefault(path.stem, []).append(path.relative_to(ROOT))
    commands = {path.stem for path in (ROOT / "cli").glob("*.py")}
    twice = {name: list(map(str, paths)) for name, paths in places.items() if len(paths) > 1}
    assert twice.keys() <= ONE_THING | commands, twice
    assert twice.keys() >= ONE_THING


def test_postprocess_imports_numpy_alone():
    allowed = set(sys.stdlib_module_names) | {"numpy", "foldwise"}
    for path in (ROOT / "postprocess").rglob("*.py"):
        assert imported_packages(path.read_text(encoding="utf-8")) <= allowed


def test_kernel_cache_knows_the_arrows():
    """The folder of compiled code is named by the sources of exactly the rooms whose kernels a room may call."""
    from foldwise.game.compiled import _UPSTREAM

    assert {room: set(upstream) for room, upstream in _UPSTREAM.items()} == {
        room: ARROWS[room] | {room} for room in ROOMS if room not in ("web", "cli")
    }


def imported_files(path: Path) -> set[Path]:
    """Files of the project that a file imports."""
    names = [name.split(".")[1:] for name in imported_modules(path.read_text(encoding="utf-8"))]
    return {file for parts in names if parts and (file := ROOT.joinpath(*parts).with_suffix(".py")).is_file()}


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in ("web", "cli")])
def test_kernel_cache_knows_what_kernels_import(room):
    """Kernels stand in `*_kernels.py`; these, and all they import at any remove, name the folder of compiled code."""
    from foldwise.game.compiled import _sources

    counted = _sources(room).keys()
    for path in (ROOT / room).rglob("*.py"):
        is_kernel_file = path.stem.endswith("_kernels")
        assert is_kernel_file or path.stem == "compiled" or "@kernel" not in path.read_text(encoding="utf-8")
        assert path in counted or not is_kernel_file
    for path in counted:
        if path.stem.endswith("_kernels"):
            waiting, seen = [path], set()
            while waiting:
                seen.add(file := waiting.pop())
                waiting += imported_files(file) - seen
            assert seen <= counted


@pytest.mark.parametrize(
    "room, absent",
    [
        ("agent", ("solver", "search", "cli", "matches")),
        ("search", ("matches", "cli")),
        ("matches", ("cli",)),
        ("solver", ("agent", "search", "matches", "cli")),
    ],
)
def test_loading_a_room_loads_no_other(room, absent):
    """Every module of the room imported in a fresh interpreter: play loads no training code."""
    modules = [
        ".".join(("foldwise", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        for path in sorted((ROOT / room).rglob("*.py"))
        if path.name != "__main__.py"
    ]
    rooms = "{m.split('.')[1] for m in sys.modules if m.startswith('foldwise.')}"
    script = f"import sys, {', '.join(modules)}\nprint(*{rooms})"
    loaded = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert room in loaded.split()
    assert not set(absent) & set(loaded.split())


def test_matches_load_no_solver_before_somebody_searches():
    modules = "foldwise.matches.duplicate.match, foldwise.matches.duplicate.comparison, foldwise.search.players"
    script = f"import sys, {modules}\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not [name for name in loaded.split() if name.startswith("foldwise.solver")]


@pytest.mark.parametrize("path", sorted((ROOT / "search").rglob("*.py")), ids=lambda path: path.name)
def test_search_knows_subgames_of_the_solver_alone(path):
    names = imported_modules(path.read_text(encoding="utf-8"))
    assert all(name.startswith("foldwise.solver.subgame.") for name in names if name.startswith("foldwise.solver"))
