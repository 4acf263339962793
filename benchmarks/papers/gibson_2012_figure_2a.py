"""Gibson et al. (NIPS 2012), figure 2a: the four samplers on two-nl-36.

Average strategy sampling runs with beta scaled to the budget (1,000 for 3e9 nodes) and with the paper's 10^6, which
at these budgets samples every action and so equals external sampling.
"""

import argparse
from pathlib import Path

from curves import Point, final_cells, log_budgets, report, run_curve, write_csv, write_figure
from record import add_save, save


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="3e9 nodes and five seeds instead of 3e8 and one")
    parser.add_argument("--nodes", type=float, help="another budget")
    parser.add_argument("--seeds", type=int, help="another number of seeds")
    parser.add_argument("--curves", nargs="*", help="only these: AS, AS-paper, ES, OS, CS")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/papers"))
    add_save(parser)
    arguments = parser.parse_args()
    budget = arguments.nodes or (3e9 if arguments.full else 3e8)
    seeds = range(1, 1 + (arguments.seeds or (5 if arguments.full else 1)))
    settings: dict[str, dict[str, object]] = {
        "AS": {"sampler": "average", "beta": budget / 3e6},
        "AS-paper": {"sampler": "average", "beta": 1e6},
        "ES": {"sampler": "external"},
        "OS": {"sampler": "outcome"},
        "CS": {"sampler": "chance"},
    }
    points: list[Point] = []
    for curve, solver in settings.items():
        if arguments.curves and curve not in arguments.curves:
            continue
        for seed in seeds:
            points += run_curve("two-nl-36", curve, seed, log_budgets(1e8, budget), **solver)
            write_csv(arguments.output / "gibson_2012_figure_2a.csv", points)
    write_figure(arguments.output / "gibson_2012_figure_2a", points, "two-nl-36")
    report("Gibson 2012, figure 2a", points)
    if arguments.save:
        save(
            "gibson_2012_figure_2a",
            f"Figure 2a: two-nl-36 after {budget:.0e} nodes, mbb/g",
            ["sampler", "exploitability"],
            [[curve, cell] for curve, cell in final_cells(points).items()],
            len(seeds),
        )


if __name__ == "__main__":
    main()
