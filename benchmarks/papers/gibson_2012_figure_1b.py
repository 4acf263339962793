"""Gibson et al. (NIPS 2012), figure 1b: average strategy sampling by tau, two-nl-30, epsilon = 0.05."""

from curves import Point, figure_arguments, final_cells, log_budgets, report, run_curve, write_figure
from record import save


def main() -> None:
    arguments, budget, seeds = figure_arguments(__doc__, quick=2e8)
    points: list[Point] = []
    for tau in (1.0, 10.0, 100.0, 1000.0):
        for seed in seeds:
            points += run_curve(
                "two-nl-30",
                f"tau {tau:g}",
                seed,
                log_budgets(1e7, budget),
                sampler="average",
                tau=tau,
                beta=budget / 3e6,
            )
    title = "two-nl-30, average strategy sampling by tau"
    write_figure(arguments.output / "gibson_2012_figure_1b", points, title)
    report("Gibson 2012, figure 1b", points)
    if arguments.save:
        save(
            "gibson_2012_figure_1b",
            f"Figure 1b: average strategy sampling on two-nl-30 by tau, beta {budget / 3e6:.0f}, {budget:.0e} nodes, mbb/g",
            ["tau", "exploitability"],
            [[curve.removeprefix("tau "), cell] for curve, cell in final_cells(points).items()],
            len(seeds),
        )


if __name__ == "__main__":
    main()
