"""Brown, Ganzfried and Sandholm (AAMAS 2015), figure 1, smaller: a hierarchical abstraction solved by children against an
imperfect-recall one of the same size solved locally, on the same bet tree, at several solving times.

Win rates in mbb per hand of duplicate matches against two fixed opponents, both strategies purified except for the first
action, as in the paper. The paper's opponents are the two strongest agents of 2013, its times are months; ours are two
presets, solved here once, and minutes on two cores.

python benchmarks/papers/brown_2015_figure_1.py            5, 20, 60 seconds, 200,000 hands a side: about six minutes
python benchmarks/papers/brown_2015_figure_1.py --full     1, 5, 20 minutes, a million hands a side: about an hour
"""

import argparse
import csv
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from curves import CONFIGS
from record import Cell as RecordCell
from record import add_save, save

OPPONENTS = {"hunl-tiny": 10, "hunl-small": 60}  # presets, and seconds of solving
POSTPROCESS = "purify except first"
CLUSTERS, PER_CLUSTER = 8, 10


@dataclass(frozen=True)
class Cell:
    """One point of the figure."""

    approach: str
    seconds: float
    opponent: str
    mean_mbb: float
    ci95_mbb: float
    hands: int


def config_text(hierarchical: bool) -> str:
    """The same bet tree and as many buckets a street, in public clusters or without regard to the board."""
    buckets = PER_CLUSTER if hierarchical else CLUSTERS * PER_CLUSTER
    street = f'{{ method = "percentile", buckets = {buckets} }}'
    public = f"[cards.public]\nclusters = {CLUSTERS}\nbase_buckets = 1000\n" if hierarchical else ""
    return (
        'game = "hunl"\n[cards]\n'
        f'streets = [{{ method = "lossless" }}, {street}, {street}, {street}]\n{public}'
        '[bets]\nstreets = ["f c 1p a | f c 1p a | f c a | f c", "f c 1p a | f c a | f c", '
        '"f c 1p a | f c a | f c", "f c 1p a | f c a | f c"]\n'
        '[solver]\nsampler = "external"\nthreads = 1\n'
    )


def foldwise(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "foldwise.cli.main", *arguments, "--json"]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/papers"))
    add_save(parser)
    arguments = parser.parse_args()
    times, hands = ((60, 300, 1200), 1_000_000) if arguments.full else ((5, 20, 60), 200_000)
    work = arguments.output / "brown_2015_figure_1"
    work.mkdir(parents=True, exist_ok=True)
    for name, seconds in OPPONENTS.items():
        if not (work / name / "manifest.json").exists():
            foldwise("solve", str(CONFIGS / f"{name}.toml"), "-o", str(work / name), "--seconds", str(seconds))
    cells: list[Cell] = []
    for approach, options in (
        ("hierarchical, 2 children", ["--children", "2"]),
        ("imperfect recall", ["--threads", "2"]),
    ):
        config = work / f"{approach.split(',')[0].replace(' ', '-')}.toml"
        config.write_text(config_text(hierarchical="children" in approach))
        for seconds in times:
            folder = work / f"{config.stem}-{seconds}"
            solved = foldwise("solve", str(config), "-o", str(folder), "--seconds", str(seconds), *options)
            print(f"{approach}: {solved['seconds']:.0f} s, {solved['nodes']:,} nodes", file=sys.stderr)
            for opponent in OPPONENTS:
                player = f"strategy:{folder}|{POSTPROCESS}"
                against = f"strategy:{work / opponent}|{POSTPROCESS}"
                match = foldwise("match", player, against, "--hands", str(hands), "--seed", "1")
                cell = Cell(approach, seconds, opponent, match["mean_mbb"], match["ci95_mbb"], match["hands"])
                cells.append(cell)
                print(
                    f"{approach}, {seconds} s, against {opponent}: {cell.mean_mbb:+.0f} +- {cell.ci95_mbb:.0f} mbb/h",
                    flush=True,
                )
    with (arguments.output / "brown_2015_figure_1.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(asdict(cells[0])))
        writer.writeheader()
        writer.writerows(asdict(cell) for cell in cells)
    _draw(arguments.output / "brown_2015_figure_1.png", cells)
    if arguments.save:
        _save(cells)


def _save(cells: list[Cell]) -> None:
    """A row for each approach and time, a column for each opponent."""
    rows: dict[tuple[str, float], list[RecordCell]] = {}
    for cell in cells:
        row = rows.setdefault((cell.approach, cell.seconds), [cell.approach, cell.seconds])
        row.append((round(cell.mean_mbb), round(cell.ci95_mbb)))
    clustered, plain = (
        f"{CLUSTERS} x {PER_CLUSTER} clustered buckets",
        f"{CLUSTERS * PER_CLUSTER} plain percentile buckets",
    )
    save(
        "brown_2015_figure_1",
        f"Figure 1, smaller, at equal sizes: {clustered} solved by two children, and {plain} by two threads; win rate in "
        f"mbb/h, all purified except first, {cells[0].hands:,} hands a cell",
        ["approach", "solving, s", *(f"against {opponent}" for opponent in OPPONENTS)],
        list(rows.values()),
        seeds=1,
    )


def _draw(path: Path, cells: list[Cell]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(OPPONENTS), figsize=(9, 4), layout="constrained")
    for panel, opponent in zip(axes, OPPONENTS):
        for approach in dict.fromkeys(cell.approach for cell in cells):
            own = [cell for cell in cells if (cell.approach, cell.opponent) == (approach, opponent)]
            panel.errorbar(
                [cell.seconds for cell in own],
                [cell.mean_mbb for cell in own],
                yerr=[cell.ci95_mbb for cell in own],
                marker="o",
                capsize=3,
                label=approach,
            )
        panel.set(xscale="log", xlabel="solving time, s", ylabel="mbb per hand", title=f"against {opponent}")
        times = sorted({cell.seconds for cell in cells})
        panel.set_xticks(times, [f"{seconds:g}" for seconds in times])
        panel.minorticks_off()
        panel.legend()
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main()
