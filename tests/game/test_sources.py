"""What a cached table was made from: the sources its module imports, directly or indirectly, and no others."""

import shutil
from pathlib import Path

import pytest

from foldwise.game import sources
from foldwise.game.sources import imported_sources, source_hash
from tests.support.places import ROOT

# Modules whose results are kept in the cache under a hash of their sources.
KEPT = [
    "foldwise.abstraction.cards.hand_strength",
    "foldwise.abstraction.cards.card_building",
    "foldwise.abstraction.deals.called_hands",
    "foldwise.abstraction.deals.sequence_counting",
]


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of two rooms that may be changed, with nothing remembered of the originals."""
    for room in ("game", "abstraction"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "_SOURCE_ROOT", tmp_path)
    source_hash.cache_clear()
    yield tmp_path
    source_hash.cache_clear()


def change(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8") + "\nCHANGED = True\n", encoding="utf-8")
    source_hash.cache_clear()


@pytest.mark.parametrize("module", KEPT)
def test_every_module_imported_at_any_remove_counts(module, copy):
    start = copy.joinpath(*module.split(".")[1:]).with_suffix(".py")
    for path in imported_sources([start], copy):
        before = source_hash(module)
        change(path)
        assert source_hash(module) != before


def test_buckets_depend_on_clustering_and_its_kernels(copy):
    """Two files that a list kept by hand had forgotten."""
    counted = {path.name for path in imported_sources([copy / "abstraction" / "cards" / "card_building.py"], copy)}
    assert {"kmeans.py", "card_abstraction_kernels.py", "hand_strength_kernels.py", "evaluator_kernels.py"} <= counted


@pytest.mark.parametrize("module", KEPT)
def test_a_module_that_is_not_imported_does_not_count(module, copy):
    before = source_hash(module)
    change(copy / "abstraction" / "strategy.py")
    change(copy / "game" / "text" / "match_state.py")
    assert source_hash(module) == before


@pytest.mark.parametrize(
    "line",
    [
        "from foldwise.game import constants",
        "from foldwise.game import errors, constants",
        "from foldwise.game.constants import THREE",
        "from foldwise.game.constants import (\n    THREE,\n)",
        "from foldwise.game import (\n    constants,\n)",
        "import foldwise.game.constants, os",
        "import os, foldwise.game.constants as constants",
        "def later():\n    import foldwise.game.constants",
        "MAKERS = {'three': 'foldwise.game.constants:THREE'}",
    ],
)
def test_all_forms_of_import_are_followed(line, tmp_path):
    (tmp_path / "game").mkdir()
    start, constants, apart = (tmp_path / "game" / f"{name}.py" for name in ("start", "constants", "apart"))
    start.write_text(f"import os\n{line}\n")
    constants.write_text("THREE = 3\n")
    apart.write_text("import foldwise.game.start\n")
    assert imported_sources([start], tmp_path).keys() == {start, constants}


def test_packages_count_with_the_modules_in_them(tmp_path):
    (tmp_path / "game" / "shelf").mkdir(parents=True)
    start, package, inside = (tmp_path / "game" / name for name in ("start.py", "shelf/__init__.py", "shelf/inside.py"))
    start.write_text("from foldwise.game.shelf.inside import name\n")
    package.write_text("")
    inside.write_text("name = 1\n")
    assert imported_sources([start], tmp_path).keys() == {start, package, inside}
