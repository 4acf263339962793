"""What presets, and changes of them, are worth on both sides: what each wins from another, and loses to local best response.

Usage: python benchmarks/presets.py CONFIG[@NODES][,KEY=VALUE...] ... [--against PRESET] [--averages solved half]

    python benchmarks/presets.py configs/hunl-tiny.toml 'configs/hunl-small.toml@4e9,solver.skip_iterations=0'

Each is solved over the same number of nodes unless it names its own; strategy folders are measured as they are. With
--averages, the strategy as solved and averages of later parts of its run are rows of their own. All in mbb/h with 95%
intervals, on the same boards and deals; a figure that is in OUTPUT/measured.json is not measured again.

Published for fcpa from the turn (Lisy and Bowling 2017): Slumbot 2016 4,020, Hyperborean 2014 3,852, Act1 2016 2,597, a bot
without card abstraction -536; folding every hand loses 750.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from papers.record import Cell, add_save, save
from printed import printed

_KEPT = "measured.json"
_SAMPLES = {"preflop": "300"}  # boards for an equity before the flop, where they are many
_SOLVED = "solved"
_PARTS = (_SOLVED, "third", "half", "two-thirds")
_WORDS = {0: "all", 1 / 3: "the later two thirds", 1 / 2: "the later half", 2 / 3: "the later third"}


@dataclass(frozen=True)
class Preset:
    """A strategy to measure."""

    name: str
    folder: Path
    infosets: int
    nodes: int
    average: str


def solved(text: str, nodes: str, seed: int, output: Path) -> tuple[str, Path]:
    """A preset's name and folder; it is solved there unless it has been."""
    if (Path(text) / "manifest.json").exists():
        return Path(text).name, Path(text)
    config, *changes = text.split(",")
    config, _, own_nodes = config.partition("@")
    name = ", ".join([Path(config).stem, *changes])
    plain = "".join(c if c.isalnum() or c in "-." else "_" for c in name)
    folder = output / f"{plain}-{own_nodes or nodes}"
    if not (folder / "manifest.json").exists():
        options = [word for change in changes for word in ("--set", change)]
        printed("solve", config, "-o", str(folder), "--nodes", own_nodes or nodes, "--seed", str(seed), *options)
    return name, folder


def averaged(name: str, folder: Path, part: str) -> Preset:
    """The average from a part of a run on, or the strategy as it was solved."""
    found = folder if part == _SOLVED else folder.with_name(f"{folder.name}-{part}")
    if not (found / "manifest.json").exists():
        printed("average", str(folder), "--from", part, "-o", str(found))
    manifest = json.loads((found / "manifest.json").read_text())
    skipped = manifest["averaged_from"] / manifest["iterations"]
    average = _WORDS[min(_WORDS, key=lambda share: abs(share - skipped))]
    return Preset(name, found, manifest["infosets"], manifest["nodes"], average)


def measured(kept: Path, *words: str) -> dict[str, Any]:
    """What a command prints, from the file of those that ran before or by running it."""
    key = " ".join(words)
    found: dict[str, Any] | None = _known(kept).get(key)
    if found is None:
        found = printed(*words)
        kept.write_text(json.dumps({**_known(kept), key: found}, indent=1))
    return found


def _known(kept: Path) -> dict[str, Any]:
    known: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    return known


def won(preset: Preset, other: Path, given: argparse.Namespace) -> Cell:
    """What it wins from another strategy, by expectation."""
    if preset.folder == other:
        return None
    words = ["--score", "expectation", "--boards", str(given.boards), "--seed", str(given.seed)]
    found = measured(given.output / _KEPT, "match", str(preset.folder), str(other), *words)
    return round(found["mean_mbb"]), round(found["ci95_mbb"])


def lost(preset: Preset, given: argparse.Namespace, street: str) -> Cell:
    """What local best response wins from it."""
    words = ["--bets", given.bets, "--from", street, "--samples", _SAMPLES.get(street, "1000")]
    words += ["--postprocess", given.postprocess, "--search", given.search, "--seed", str(given.seed)]
    words += ["--hands", str(given.hands)]
    found = measured(given.output / _KEPT, "lbr", str(preset.folder), *words)
    return round(found["lbr_mbb"]), round(found["ci95_mbb"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="+")
    parser.add_argument("--nodes", default="2e9", help="a minute or two on two threads")
    parser.add_argument("--averages", nargs="+", choices=_PARTS, default=[_SOLVED], help="by default as solved")
    parser.add_argument("--against", help="a preset too: what is won from it, by expectation")
    parser.add_argument("--boards", type=int, default=400, help="of a match by expectation")
    parser.add_argument("--hands", type=int, default=5000, help="of local best response, from each position")
    parser.add_argument("--bets", default="fcpa")
    parser.add_argument("--from", dest="streets", nargs="*", default=["turn"])
    parser.add_argument("--postprocess", default="none")
    parser.add_argument("--search", default="off")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/presets"), help="keeps the strategies")
    parser.add_argument("--record", default="presets", help="name of the record that --save writes")
    add_save(parser)
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    other = None if given.against is None else solved(given.against, given.nodes, given.seed, given.output)[1]
    rows: list[list[Cell]] = []
    for text in given.presets:
        name, folder = solved(text, given.nodes, given.seed, given.output)
        for part in given.averages:
            preset = averaged(name, folder, part)
            row: list[Cell] = [preset.name, preset.infosets, float(preset.nodes), preset.average]
            if other is not None:
                row.append(won(preset, other, given))
            rows.append(row + [lost(preset, given, street) for street in given.streets])
            print(*rows[-1], flush=True)
    if given.save:
        against = [] if other is None else [f"from {other.name}"]
        save(
            given.record,
            f"Won by expectation over {given.boards} boards, lost to LBR {given.bets} over {2 * given.hands:,} hands, mbb/h",
            [
                "what is solved",
                "infosets",
                "nodes",
                "average over",
                *against,
                *(f"to LBR from {street}" for street in given.streets),
            ],
            rows,
            seeds=1,
        )


if __name__ == "__main__":
    main()
