"""Gibson et al. (NIPS 2012), figure 2a: the four samplers on two-nl-36.

Average strategy sampling runs with beta scaled to the budget (1,000 for 3e9 nodes) and with the paper's 10^6, which
at these budgets samples every action and so equals external sampling.
"""

from curves import (
    Point,
    budget_and_seeds,
    figure_parser,
    final_cells,
    log_budgets,
    report,
    run_curve,
    write_csv,
    write_figure,
)
from record import save


def main() -> None:
    parser = figure_parser(__doc__, quick=3e8)
    parser.add_argument("--curves", nargs="*", help="only these: AS, AS-paper, ES, OS, CS")
    arguments = parser.parse_args()
    budget, seeds = budget_and_seeds(arguments, quick=3e8)
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
    write_figure(arguments.output / "gibson_2012_figure_2a", points, "two-nl-36", uniform=6793.0)
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
