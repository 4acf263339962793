"""The tables of the documentation are those that `make pages` makes from benchmarks/results/, and quote every record."""

import importlib.util
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.places import ROOT

BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture(scope="module")
def pages():
    """benchmarks/pages.py as a module; the scripts there import each other from their own folder."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location("benchmark_pages", BENCHMARKS / "pages.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCHMARKS))
    return module


@pytest.fixture(scope="module")
def record(pages):
    return sys.modules[pages.Record.__module__]


def example(record, **changes):
    fields = {
        "title": "Two samplers, mbb/g",
        "columns": ["sampler", "exploitability"],
        "rows": [["AS", [259.1, 18]], ["ES", 6792.6], ["CS", None]],
        "command": "python benchmarks/x.py",
        "commit": "abc1234",
        "machine": "2 cores",
        "load": "quiet",
        "seeds": 3,
    }
    return record.Record(**{**fields, **changes})


def test_pages_are_what_the_records_make(pages):
    records, claims = pages.load()
    for page in pages.pages():
        text = page.read_text(encoding="utf-8")
        assert pages.fill(text, page, records, claims) == text, f"{page.relative_to(ROOT)} is behind: make pages"


def test_a_figure_changed_by_hand_is_noticed(pages):
    records, claims = pages.load()
    page = ROOT / "docs" / "papers" / "gibson-2012.md"
    text = page.read_text(encoding="utf-8")
    figure = records["gibson_2012_figure_2a"]["AS"]["exploitability"]
    assert text.count(figure) == 1
    assert pages.fill(text.replace(figure, "1 ± 1"), page, records, claims) == text


def test_every_record_and_section_is_shown(pages):
    text = "".join(page.read_text(encoding="utf-8") for page in pages.pages())
    places = re.findall(r"<!-- (result|lights|text) ([^>]+?) -->", text)
    records, claims = pages.load()
    assert {name for kind, words in places if kind == "result" for name in words.split()} == set(records)
    assert {words for kind, words in places if kind != "result"} == set(claims)


def test_every_claim_leads_to_a_file():
    claims = tomllib.loads((BENCHMARKS / "claims.toml").read_text(encoding="utf-8"))
    for name, section in claims.items():
        for claim, _, _, _, link in section.get("rows", []):
            assert (ROOT / link.partition("#")[0]).is_file(), f"{name}: '{claim}' leads to {link}"


def test_anchors_exist(pages):
    claims = tomllib.loads((BENCHMARKS / "claims.toml").read_text(encoding="utf-8"))
    links = {row[4] for section in claims.values() for row in section.get("rows", []) if "#" in row[4]}
    for link in links:
        path, _, anchor = link.partition("#")
        headings = re.findall(r"^#+ (.+)$", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}, link


def test_verification_can_be_skimmed():
    """One line a claim; a cell is read at a glance."""
    text = (ROOT / "docs" / "verification.md").read_text(encoding="utf-8")
    cells = [cell for line in text.splitlines() if line.startswith("|") for cell in line.split("|")]
    assert max(len(cell) for cell in cells) < 260


def test_front_page_is_short():
    """A first screen and little more: 700 words, the generated ones included."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 700


def test_a_record_is_read_back_as_it_was_written(record, tmp_path):
    written = example(record)
    path = record.write("x", written, tmp_path)
    assert record.read("x", tmp_path) == written
    assert json.loads(path.read_text(encoding="utf-8"))["rows"] == [["AS", [259.1, 18]], ["ES", 6792.6], ["CS", None]]


def test_cells_as_they_are_printed(record):
    found = example(record)
    assert [found[name]["exploitability"] for name in ("AS", "ES", "CS")] == ["259.1 ± 18", "6,792.6", "-"]
    assert record.cell_text(2.1e-6) == "2.1 x 10^-6"
    assert record.cell_text(1.2e10) == "1.2 x 10^10"
    assert record.cell_text(0.0) == "0.0"
    assert record.significant(0.00123456) == 0.001235


def test_a_curve_of_several_points_is_quoted_at_its_last(record):
    found = example(record, rows=[["AS", 3.0], ["AS", 2.0]])
    assert found["AS"]["exploitability"] == "2.0"


def test_a_row_that_is_not_there_is_named(record):
    with pytest.raises(KeyError, match="no row 'OS' in 'Two samplers, mbb/g': it has AS, ES, CS"):
        example(record)["OS"]


def test_a_row_of_too_few_cells_is_refused(record):
    with pytest.raises(ValueError, match="has 1 cells, expected 2"):
        example(record, rows=[["AS"]])


def test_save_writes_the_conditions(record, tmp_path, monkeypatch):
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", [str(BENCHMARKS / "papers" / "li_2020.py"), "--figure", "a b", "--save"])
    path = record.save("x", "title", ["row", "value"], [["a", 1]], seeds=2)
    saved = record.read("x", tmp_path)
    assert path == tmp_path / "x.json"
    assert saved.command == "python benchmarks/papers/li_2020.py --figure 'a b'"
    assert saved.machine.split()[1] == "cores" and "Python" in saved.machine
    assert saved.load.startswith("load ") and saved.seeds == 2


def test_tables_of_other_columns_are_not_joined(pages, record):
    with pytest.raises(ValueError, match="expected those above it"):
        pages.result_table([example(record), example(record, columns=["sampler", "other"])])


def test_conditions_stand_below_the_table(pages, record):
    text = pages.result_table([example(record)])
    assert text.startswith("Two samplers, mbb/g:\n\n| sampler | exploitability |\n| --- | --- |\n| AS | 259.1 ± 18 |\n")
    assert text.endswith("\n`python benchmarks/x.py`; 3 seeds; 2 cores; quiet; commit abc1234.\n")


def test_the_pages_that_are_filled_are_all_pages(pages):
    found = set(pages.pages())
    assert found == {ROOT / "README.md", *Path(ROOT / "docs").rglob("*.md")}
