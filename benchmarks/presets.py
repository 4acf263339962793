"""What changes of a preset are worth: each is solved over the same number of nodes, then measured by local best response.

Usage: python benchmarks/presets.py [--nodes 2e9] [--hands 5000] [--from turn preflop] CONFIG[,KEY=VALUE...] ...

    python benchmarks/presets.py configs/hunl-tiny.toml configs/hunl-small.toml,solver.skip_iterations=0

or, without solving, strategy folders that exist. Printed in mbb/h with 95% intervals, all on the same deals. Published
for fcpa from the turn (Lisy and Bowling 2017): Slumbot 2016 4,020, Hyperborean 2014 3,852, Act1 2016 2,597, a bot
without card abstraction -536; folding every hand loses 750.
"""

import argparse
from pathlib import Path

from foldwise.cli.lbr import LbrRequest, measure
from foldwise.cli.main import main as foldwise

_SAMPLES = {"preflop": 300}  # boards for an equity before the flop, where they are many


def solve(text: str, nodes: str, folder: Path) -> None:
    config, *changes = text.split(",")
    arguments = ["solve", config, "-o", str(folder), "--nodes", nodes]
    for change in changes:
        arguments += ["--set", change]
    if foldwise(arguments) != 0:
        raise SystemExit(f"{text}: not solved")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="+")
    parser.add_argument("--nodes", default="2e9", help="a minute or so on two threads")
    parser.add_argument("--hands", type=int, default=5000, help="from each position")
    parser.add_argument("--bets", default="fcpa")
    parser.add_argument("--from", dest="streets", nargs="+", default=["turn"])
    parser.add_argument("--postprocess", default="none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/presets"), help="keeps the strategies")
    given = parser.parse_args()
    for preset in given.presets:
        folder = Path(preset)
        if not folder.is_dir():
            name = "".join(c if c.isalnum() or c in "-." else "_" for c in Path(preset).name)
            folder = given.output / f"{name}-{given.nodes}"
            if not (folder / "manifest.json").exists():
                solve(preset, given.nodes, folder)
        for street in given.streets:
            asked = LbrRequest(
                directory=folder,
                postprocess=given.postprocess,
                bets=given.bets,
                from_street=street,
                samples=_SAMPLES.get(street, 1000),
                hands=given.hands,
                seed=given.seed,
            )
            result, _ = measure(asked)
            total = result.total
            print(
                f"{folder.name}: lbr {given.bets} from {street} wins {total.mean_mbb:+.0f} ± {total.ci95_mbb:.0f} mbb/h, "
                f"{2 * total.count:,} hands, {result.seconds:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
