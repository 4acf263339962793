"""Whether a way of solving pays: a preset solved plainly and with changes, over the same nodes, each from several seeds.

Usage: python benchmarks/variants.py CONFIG --changes KEY=VALUE[,KEY=VALUE...] ... [--seeds 1 2] [--save]

    python benchmarks/variants.py hunl-minute --changes solver.precision=single --record precision

Everything is won by expectation on the same boards, from the plain strategies of every seed, and with --against from one
opponent: what the plain ones win from each other is what a change of seed is worth, and so the control. One thread, so that a
row can be solved again to the bit. mbb/h with 95% intervals over boards; what is in OUTPUT is not measured again.
"""

import argparse
from pathlib import Path

from papers.record import Cell, add_save, save
from presets import Preset, lost, measured, solved

_ONE_THREAD = "solver.threads=1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config")
    parser.add_argument("--changes", nargs="+", required=True, help="each is a variant")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--changed-seeds", type=int, nargs="+", help="of the variants, where fewer than of plain")
    parser.add_argument("--nodes", default="2e9")
    parser.add_argument("--against", help="one opponent of all too, as presets.py takes it")
    parser.add_argument("--boards", type=int, default=400, help="of a match by expectation")
    parser.add_argument("--hands", type=int, default=0, help="of local best response from preflop, from each position")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/variants"), help="keeps the strategies")
    parser.add_argument("--record", default="variants", help="name of the record that --save writes")
    add_save(parser)
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    # As `presets.lost` reads them.
    given.bets, given.postprocess, given.search, given.seed = "fcpa", "none", "off", 1

    def solve(changes: str, seed: int) -> Path:
        words = ",".join(part for part in (given.config, _ONE_THREAD, changes) if part)
        return solved(words, given.nodes, seed, given.output / str(seed))[1]

    def won(folder: Path, other: Path) -> tuple[float, float] | None:
        if folder == other:
            return None
        if folder in plain.values() and other in plain.values() and str(folder) > str(other):  # the other way round
            found = won(other, folder)
            return found and (-found[0], found[1])
        words = ["--score", "expectation", "--boards", str(given.boards), "--seed", "1"]
        match = measured(given.output / "measured.json", "match", str(folder), str(other), *words)
        return round(match["mean_mbb"], 1), round(match["ci95_mbb"], 1)

    other = None
    if given.against is not None:
        other = solved(f"{given.against},{_ONE_THREAD}", given.nodes, 1, given.output)[1]
    plain = {seed: solve("", seed) for seed in given.seeds}
    rows: list[list[Cell]] = []
    for changes in ("", *given.changes):
        for seed in (changes and given.changed_seeds) or given.seeds:
            folder = solve(changes, seed)
            row: list[Cell] = [changes or "plain", str(seed), *([won(folder, other)] if other else [])]
            row += [won(folder, plain[number]) for number in given.seeds]
            if given.hands:
                row.append(lost(Preset(changes, folder, 0, 0, ""), given, "preflop"))
            rows.append(row)
            print(*row, flush=True)
    if given.save:
        lbr = [f"to LBR from preflop, {2 * given.hands:,} hands"] if given.hands else []
        save(
            given.record,
            f"{given.config} with {float(given.nodes):.3g} nodes, won by expectation over {given.boards} boards, mbb/h",
            [
                "solved",
                "seed",
                *([f"from {given.against}"] if other else []),
                *(f"from plain, seed {seed}" for seed in given.seeds),
                *lbr,
            ],
            rows,
            seeds=len(given.seeds),
        )


if __name__ == "__main__":
    main()
