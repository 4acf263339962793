"""What changes of a preset are worth: each is solved for the same time, then played against by local best response.

Usage: python benchmarks/presets.py [--seconds 60] [--hands 5000] [--postprocess none] CONFIG[,KEY=VALUE...] ...

    python benchmarks/presets.py configs/hunl-tiny.toml configs/hunl-small.toml,solver.skip_iterations=0

or, without solving, strategy folders that exist. Printed in mbb/h with 95% intervals, all on the same deals, beside the
published figures for fcpa from the turn (Lisy and Bowling 2017).
"""

import argparse
import tempfile
from pathlib import Path

from cli.lbr import measure
from cli.main import main as foldwise

PUBLISHED = {
    "Slumbot 2016": 4020,
    "Hyperborean 2014": 3852,
    "Act1 2016": 2597,
    "always fold": 750,
    "no card abstraction": -536,
}


def solve(text: str, seconds: float, folder: Path) -> None:
    config, *changes = text.split(",")
    arguments = ["solve", config, "-o", str(folder), "--seconds", str(seconds), "--json"]
    for change in changes:
        arguments += ["--set", change]
    if foldwise(arguments) != 0:
        raise SystemExit(f"{text}: not solved")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="+")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--hands", type=int, default=5000, help="from each position")
    parser.add_argument("--bets", default="fcpa")
    parser.add_argument("--from", dest="from_street", default="turn")
    parser.add_argument("--postprocess", default="none")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    settings = {
        "bets": given.bets,
        "from": given.from_street,
        "samples": 1000,
        "translation": "pseudo-harmonic",
        "seed": given.seed,
    }
    rows: list[tuple[float, str]] = [(float(value), name) for name, value in PUBLISHED.items()]
    with tempfile.TemporaryDirectory(prefix="foldwise-presets-") as name:
        for number, preset in enumerate(given.presets):
            folder = Path(preset)
            if not folder.is_dir():
                folder = Path(name) / str(number)
                solve(preset, given.seconds, folder)
            result, _ = measure(folder, given.postprocess, settings, given.hands)
            total = result.total
            rows.append((total.mean_mbb, f"{preset} ± {total.ci95_mbb:.0f}"))
            print(f"{preset}: lbr wins {total.mean_mbb:+.0f} ± {total.ci95_mbb:.0f} mbb/h, {result.seconds:.0f} s")
    print(f"\nlbr {given.bets} from {given.from_street} on, mbb/h")
    for value, label in sorted(rows):
        print(f"{value:8.0f}  {label}")


if __name__ == "__main__":
    main()
