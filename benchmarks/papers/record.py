"""A table of measured figures with the conditions it was measured under: one file of benchmarks/results/.

Scripts write it when asked (`--save`); benchmarks/pages.py puts it into the documentation, so that no figure there is
typed by hand.
"""

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
NOTHING = "-"

Number = int | float
Cell = str | Number | tuple[Number, Number] | None


class Record(BaseModel):
    """What one command measured. A cell is text, a number, a number with half of its 95% interval, or nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(description="what the table shows, with the unit of its figures")
    columns: list[str] = Field(description="headings; the first column names the row")
    rows: list[list[Cell]]
    command: str = Field(description="what prints these figures")
    commit: str = Field(description="the commit that was measured, or the one that wrote the figures down")
    machine: str
    load: str = Field(description="what else the machine was doing")
    seeds: int | None = Field(
        description="seeds a figure is the mean of; none where nothing is drawn or none was noted"
    )

    @model_validator(mode="after")
    def _rows_are_full(self) -> "Record":
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"row {row} has {len(row)} cells, expected {len(self.columns)}: {self.columns}")
        return self

    def __getitem__(self, key: str) -> dict[str, str]:
        """The cells of a row as text, by heading; the last row of that name, where a curve has several points."""
        for row in reversed(self.rows):
            if cell_text(row[0]) == key:
                return {heading: cell_text(cell) for heading, cell in zip(self.columns, row)}
        raise KeyError(f"no row {key!r} in '{self.title}': it has {', '.join(cell_text(row[0]) for row in self.rows)}")

    def conditions(self) -> str:
        """One line for below the table."""
        parts = [f"`{self.command}`", self.machine, self.load, f"commit {self.commit}"]
        if self.seeds is not None:
            parts.insert(1, "one seed" if self.seeds == 1 else f"{self.seeds} seeds")
        return "; ".join(parts) + "."


def cell_text(cell: Cell) -> str:
    """A cell as it is printed."""
    if cell is None:
        return NOTHING
    if isinstance(cell, tuple):
        return f"{cell_text(cell[0])} ± {cell_text(cell[1])}"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float) and cell != 0.0 and not 1e-4 <= abs(cell) < 1e9:
        digits, exponent = f"{cell:.3g}".split("e")
        return f"{digits} x 10^{int(exponent)}"
    return f"{cell:,}"


def significant(value: float, digits: int = 4) -> float:
    """The value rounded to four significant digits."""
    return float(f"{value:.{digits}g}")


def add_save(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--save", action="store_true", help="write the figures to benchmarks/results/ for the pages")


def save(
    name: str,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    seeds: int | None,
    load: str | None = None,
) -> Path:
    """Write a record of what the running script measured, with the conditions as they are now."""
    record = Record(
        title=title,
        columns=list(columns),
        rows=[list(row) for row in rows],
        command=_command(),
        commit=_commit(),
        machine=_machine(),
        load=load or "load {:.1f}, {:.1f}, {:.1f} in the last 1, 5, 15 minutes".format(*os.getloadavg()),
        seeds=seeds,
    )
    return write(name, record, RESULTS)


def write(name: str, record: Record, folder: Path) -> Path:
    """One row per line, so that a new measurement gives a readable diff."""
    fields = record.model_dump(mode="json")
    lines = [f'  "{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in fields.items() if key != "rows"]
    rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in fields["rows"])
    lines.insert(2, f'  "rows": [\n{rows}\n  ]')
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return path


def read(name: str, folder: Path) -> Record:
    return Record.model_validate_json((folder / f"{name}.json").read_text(encoding="utf-8"))


def _command() -> str:
    script = Path(sys.argv[0]).resolve()
    words = [
        f"runs/{Path(word).name}" if Path(word).is_absolute() else word
        for word in sys.argv[1:]
        if word not in ("--save", "--print")  # which measure nothing
    ]
    return shlex.join(["python", str(script.relative_to(ROOT)), *words])


def _commit() -> str:
    """The current commit, marked if sources have uncommitted changes; records and pages may have."""
    commit = _git("rev-parse", "--short", "HEAD").strip()
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ":!benchmarks/results", ":!*.md").strip()
    return (commit or "unknown") + ("-dirty" if changed else "")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def _machine() -> str:
    """Cores, processor, memory and Python version, as reported by Linux."""
    model = next((line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores ({model or platform.machine()}), {memory:.0f} GiB, Python {platform.python_version()}"
    )


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
