"""Put the measured figures into the documentation: `make pages`; with `--check` only report outdated pages.

A page holds prose, and marked places that are filled here:

    <!-- result NAME... -->  ... <!-- end -->   the tables of benchmarks/results/NAME.json, one below the other under one
                                                heading, and the conditions of each
    <!-- lights SECTION -->  ... <!-- end -->   a section of benchmarks/claims.toml: claim, published, ours, light, link
    <!-- text SECTION -->    ... <!-- end -->   a sentence of claims.toml

In claims.toml texts quote figures as {NAME[row][heading]}.
"""

import argparse
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from papers.record import RESULTS, ROOT, Record, cell_text, read

CLAIMS = ROOT / "benchmarks" / "claims.toml"
LIGHTS = {
    "reproduced": "🟢 reproduced",
    "tested": "🟢 tested",
    "measured": "🔵 measured",
    "deviates": "🟡 deviates",
    "not run": "⚪ not run",
}
_PLACE = re.compile(r"(<!-- (result|lights|text) ([^>]+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def pages(root: Path = ROOT) -> Iterator[Path]:
    yield root / "README.md"
    yield from sorted((root / "docs").rglob("*.md"))


def fill(text: str, page: Path, records: dict[str, Record], claims: dict[str, Any]) -> str:
    """The page with every marked place filled again."""

    def replace(place: re.Match[str]) -> str:
        opening, kind, words, closing = place.groups()
        if kind == "result":
            body = result_table([records[name] for name in words.split()])
        elif kind == "lights":
            body = lights_table(claims[words], page, records)
        else:
            body = claims[words]["text"].format_map(records) + "\n"
        return f"{opening}{body}{closing}"

    return _PLACE.sub(replace, text)


def table(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def result_table(found: list[Record]) -> str:
    """Records of the same columns as one table, and the conditions of each as a line below it."""
    first = found[0]
    for record in found:
        if record.columns != first.columns:
            raise ValueError(f"'{record.title}' has columns {record.columns}, expected those above it: {first.columns}")
    rows = [[cell_text(cell) for cell in row] for record in found for row in record.rows]
    # Two spaces end a line without ending the paragraph.
    conditions = "  \n".join(dict.fromkeys(record.conditions() for record in found))
    return f"{first.title}:\n\n{table(first.columns, rows)}\n{conditions}\n"


def lights_table(section: dict[str, Any], page: Path, records: dict[str, Record]) -> str:
    rows = []
    for claim, published, ours, light, link in section["rows"]:
        path, _, anchor = link.partition("#")
        target = os.path.relpath(ROOT / path, page.parent) + (f"#{anchor}" if anchor else "")
        name = Path(path).stem if path.endswith(".md") else Path(path).name
        figures = [cell.format_map(records) for cell in (published, ours)]
        rows.append([claim, *figures, LIGHTS[light], f"[{name}]({target})"])
    return table(["claim", "published", "ours", "light", "behind it"], rows)


def load() -> tuple[dict[str, Record], dict[str, Any]]:
    records = {path.stem: read(path.stem, RESULTS) for path in sorted(RESULTS.glob("*.json"))}
    return records, tomllib.loads(CLAIMS.read_text(encoding="utf-8"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page is behind")
    arguments = parser.parse_args()
    records, claims = load()
    behind = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        filled = fill(text, page, records, claims)
        if filled != text:
            behind.append(page)
            if not arguments.check:
                page.write_text(filled, encoding="utf-8")
    for page in behind:
        print(f"{page.relative_to(ROOT)}: {'behind, run make pages' if arguments.check else 'written'}")
    return 1 if arguments.check and behind else 0


if __name__ == "__main__":
    sys.exit(main())
