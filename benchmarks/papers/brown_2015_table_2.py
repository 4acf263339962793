"""Brown, Ganzfried and Sandholm (AAMAS 2015), table 2: post-processing techniques against several opponents.

The paper's four variants and the family around `new` (its threshold, and the first action left alone) on hunl-medium. The
paper's opponents were the two strongest agents of 2013; ours are of different making each: other bet sizes and buckets
(hunl-small), other cards (k-means on hunl-small's bets), another solver (average strategy sampling on hunl-tiny), a rule
(bot:strength), and any program given with --cmd. Strategies are scored by expectation, all others in chips on shared deals;
local best response (fcpa from the turn) says beside it what a variant costs in safety.

Budgets are in nodes, boards and hands, so a busy machine takes longer and finds the same. Each comparison keeps its cells:
the same command again continues what was interrupted.

python benchmarks/papers/brown_2015_table_2.py                      solves everything first: about half an hour of CPU time
python benchmarks/papers/brown_2015_table_2.py --strategy runs/medium --cmd ./theirs/startme.sh
"""

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from record import Cell, add_save, save

ROOT = Path(__file__).resolve().parents[2]
VARIANTS = ("none", "purify except first", "threshold(0.15)", "new(0.2)")
FAMILY = ("purify", "new(0.1)", "new(0.3)", "new(0.2) except first")
# Table 2: against O1 and O2 with 95% intervals, average, minimum. Its purification leaves the first action alone.
PAPER = {
    "none": ((30, 32), (10, 27), 20, 10),
    "purify except first": ((55, 27), (19, 22), 37, 19),
    "threshold(0.15)": ((35, 30), (19, 25), 27, 19),
    "new(0.2)": ((39, 26), (103, 21), 71, 39),
}
# Of the differences on the same deals, those that the paper is about.
DIFFERENCES = (
    *((variant, "none") for variant in (*VARIANTS[1:], *FAMILY)),
    ("new(0.2)", "purify except first"),
    ("new(0.2)", "purify"),
)
# Opponents solved here: config and further options.
SOLVED: dict[str, tuple[Path, list[str]]] = {
    "other bets": (ROOT / "configs" / "hunl-small.toml", []),
    "other cards": (ROOT / "benchmarks" / "presets" / "small-kmeans.toml", []),
    "other solver": (ROOT / "configs" / "hunl-tiny.toml", ["--sampler", "average"]),
}


@dataclass(frozen=True)
class Row:
    """One variant: by opponent (mean, half-width), and what it loses to local best response."""

    variant: str
    cells: list[tuple[float, float]]
    lbr: tuple[float, float] | None
    over: dict[str, list[tuple[float, float]]] = field(default_factory=dict)  # what it wins more than another variant

    @property
    def average(self) -> float:
        return sum(mean for mean, _ in self.cells) / len(self.cells)

    @property
    def minimum(self) -> float:
        return min(mean for mean, _ in self.cells)


def foldwise(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "foldwise.cli.main", *arguments, "--json"]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return result


def solve(config: Path, folder: Path, nodes: str, options: Sequence[str]) -> None:
    if not (folder / "manifest.json").exists():
        foldwise("solve", str(config), "-o", str(folder), "--nodes", nodes, *options)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strategy", type=Path, help="solved already; by default hunl-medium is solved here")
    parser.add_argument(
        "--opponent", action="append", help="a strategy folder or bot:NAME; in place of the four of ours"
    )
    parser.add_argument("--cmd", action="append", default=[], metavar="PROGRAM", help="an ACPC program; repeatable")
    parser.add_argument("--nodes", default="3e9", help="of solving hunl-medium")
    parser.add_argument("--opponent-nodes", default="1e9", help="of solving each opponent")
    parser.add_argument("--boards", type=int, default=100, help="of expectation, from both positions")
    parser.add_argument(
        "--hands", type=int, default=100_000, help="from each side, against players that are no strategy"
    )
    parser.add_argument("--cmd-hands", type=int, default=3000, help="the same for programs, which play over TCP")
    parser.add_argument("--lbr-hands", type=int, default=4000, help="from each position; 0: no local best response")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/papers"))
    add_save(parser)
    return parser.parse_args()


def opponents_of(arguments: argparse.Namespace, work: Path) -> dict[str, str]:
    """Players by the name of their column."""
    if arguments.opponent:
        return {Path(name).name: name if name.startswith("bot:") else f"strategy:{name}" for name in arguments.opponent}
    for name, (config, options) in SOLVED.items():
        solve(config, work / name.replace(" ", "-"), arguments.opponent_nodes, options)
    found = {name: f"strategy:{work / name.replace(' ', '-')}" for name in SOLVED}
    return {**found, "bot:strength": "bot:strength"}


def compare(strategy: Path, players: Sequence[str], folder: Path, *options: str) -> dict[str, Any] | None:
    """A comparison kept in its folder: cells that are there already are not played again."""
    if not players:
        return None
    named = [word for player in players for word in ("--opponents", player)]
    variants = ",".join((*VARIANTS, *FAMILY))
    kept = ["-o", str(folder), *(["--resume"] if (folder / "cells").exists() else [])]
    return foldwise("compare", str(strategy), *named, "--variants", variants, "--no-exploitability", *kept, *options)


def measure(arguments: argparse.Namespace, strategy: Path, opponents: dict[str, str]) -> tuple[list[str], list[Row]]:
    """(names of the opponents, rows): three comparisons, by what each kind of opponent can be scored by."""
    strategies = {name: player for name, player in opponents.items() if player.startswith("strategy:")}
    others = {name: player for name, player in opponents.items() if name not in strategies}
    programs = {f"cmd:{program}": f"cmd:{program}" for program in arguments.cmd}
    lbr = ["--lbr", "--lbr-hands", str(arguments.lbr_hands)] if arguments.lbr_hands else []
    work = arguments.output / "brown_2015_table_2"
    boards = ["--score", "expectation", "--boards", str(arguments.boards)]
    played = [
        compare(strategy, list(strategies.values()), work / "by-expectation", *boards, *lbr),
        compare(strategy, list(others.values()), work / "by-chips", "--hands", str(arguments.hands)),
        compare(
            strategy, list(programs.values()), work / "programs", "--hands", str(arguments.cmd_hands), "--over", "tcp"
        ),
    ]
    parts = [part for part in played if part is not None]
    rows = []
    for index, variant in enumerate((*VARIANTS, *FAMILY)):
        entries = [part["rows"][index] for part in parts]
        cells = [(cell["mean_mbb"], cell["ci95_mbb"]) for entry in entries for cell in entry["results"]]
        known = entries[0].get("lbr_mbb")
        lost = None if known is None else (known, entries[0]["lbr_ci95_mbb"])
        over = {b: difference(parts, a, b) for a, b in DIFFERENCES if a == variant}
        rows.append(Row(variant, cells, lost, over))
    return [*strategies, *others, *programs], rows


def difference(parts: Sequence[dict[str, Any]], a: str, b: str) -> list[tuple[float, float]]:
    """What a wins more than b on the same deals, by opponent."""
    cells = []
    for part in parts:
        entry = next(found for found in part["differences"] if {found["a"], found["b"]} == {a, b})
        sign = 1.0 if entry["a"] == a else -1.0
        cells += [(sign * cell["mean_mbb"], cell["ci95_mbb"]) for cell in entry["results"]]
    return cells


def table_lines(names: Sequence[str], rows: Sequence[Row]) -> list[list[str]]:
    """The table as text: ours, then the paper's."""
    headings = ["variant", *names, "average", "minimum", "loses to lbr", "paper O1", "paper O2", "average", "minimum"]
    lines = [headings]
    for row in rows:
        paper = PAPER.get(row.variant)
        theirs = ["", "", "", ""]
        if paper is not None:
            theirs = [*(f"{mean:+d} ± {half}" for mean, half in paper[:2]), f"{paper[2]:+d}", f"{paper[3]:+d}"]
        ours = [f"{mean:+.0f} ± {half:.0f}" for mean, half in row.cells]
        lost = "" if row.lbr is None else f"{row.lbr[0]:.0f} ± {row.lbr[1]:.0f}"
        lines.append([row.variant, *ours, f"{row.average:+.0f}", f"{row.minimum:+.0f}", lost, *theirs])
    return lines


def print_table(lines: Sequence[Sequence[str]]) -> None:
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        print(
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths))
            )
        )


def draw(path: Path, names: Sequence[str], rows: Sequence[Row]) -> None:
    """A panel an opponent, ours and then the paper's; a dot and its interval a variant."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels: list[tuple[str, dict[str, tuple[float, float]]]] = [
        (f"against {name}", {row.variant: row.cells[column] for row in rows}) for column, name in enumerate(names)
    ]
    for column, name in enumerate(("O1", "O2")):
        cells: dict[str, tuple[float, float]] = {}
        for variant, values in PAPER.items():
            mean, half = values[column]
            cells[variant] = (float(mean), float(half))
        panels.append((f"the paper's {name}", cells))
    variants = [row.variant for row in rows][::-1]
    figure, axes = pyplot.subplots(
        1, len(panels), figsize=(2.6 * len(panels) + 1.5, 3.6), layout="constrained", sharey=True
    )
    for panel, (title, cells) in zip(axes, panels):
        for place, variant in enumerate(variants):
            if variant in cells:
                mean, half = cells[variant]
                panel.errorbar(mean, place, xerr=half, fmt="o", capsize=3, color="C0" if variant in PAPER else "C7")
        panel.axvline(0.0, color="black", linewidth=0.6)
        panel.set(title=title, xlabel="mbb per hand")
        panel.set_yticks(range(len(variants)), variants)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def save_records(arguments: argparse.Namespace, names: Sequence[str], rows: Sequence[Row]) -> None:
    """The table beside the paper's, and the differences on the same deals."""
    strategy = "hunl-medium" if arguments.strategy is None else arguments.strategy.name
    how = (
        f"{strategy}, mbb/h; strategies by expectation on {arguments.boards:,} boards, others in chips over "
        f"{2 * arguments.hands:,} duplicate hands"
    )
    lbr = f"; what local best response (fcpa from the turn, {2 * arguments.lbr_hands:,} hands) wins of each"
    of_paper = ["paper's O1", "paper's O2", "paper's average"]
    columns = ["variant", *names, "average", "minimum", "loses to lbr", *of_paper]
    lines: list[list[Cell]] = []
    for row in rows:
        paper = PAPER.get(row.variant)
        theirs: list[Cell] = [None, None, None] if paper is None else [paper[0], paper[1], paper[2]]
        ours = [round(row.average), round(row.minimum), None if row.lbr is None else rounded(row.lbr)]
        lines.append([row.variant, *map(rounded, row.cells), *ours, *theirs])
    save("brown_2015_table_2_opponents", f"Table 2 in one command: post-processing of {how}{lbr}", columns, lines, 1)
    gains: list[list[Cell]] = [
        [f"{row.variant} over {other}", *map(rounded, cells)] for row in rows for other, cells in row.over.items()
    ]
    title = f"What one rule wins more than another on the same deals: {how}"
    save("brown_2015_table_2_differences", title, ["rules", *names], gains, 1)


def rounded(cell: tuple[float, float]) -> tuple[int, int]:
    return round(cell[0]), round(cell[1])


def main() -> None:
    arguments = read_arguments()
    work = arguments.output / "brown_2015_table_2"
    work.mkdir(parents=True, exist_ok=True)
    opponents = opponents_of(arguments, work)
    strategy = arguments.strategy or work / "hunl-medium"
    if arguments.strategy is None:
        solve(ROOT / "configs" / "hunl-medium.toml", strategy, arguments.nodes, [])
    names, rows = measure(arguments, strategy, opponents)
    lines = table_lines(names, rows)
    print_table(lines)
    with (arguments.output / "brown_2015_table_2.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)
    draw(arguments.output / "brown_2015_table_2.png", names, rows)
    if arguments.save:
        save_records(arguments, names, rows)
        draw(ROOT / "docs" / "pictures" / "brown-table-2.png", names, rows)


if __name__ == "__main__":
    main()
