"""Gibson et al. (NIPS 2012), figure 3: the four samplers on Bluff(1,1) and Bluff(2,1)."""

from curves import Point, figure_arguments, final_cells, log_budgets, report, run_curve, write_figure
from record import Cell, save


def main() -> None:
    arguments, budget, seeds = figure_arguments(__doc__, quick=1e8)
    last: dict[str, dict[str, Cell]] = {}
    for game, uniform in (("bluff-1-1", 780.0), ("bluff-2-1", 784.0)):  # the paper's, in thousandths
        settings: dict[str, dict[str, object]] = {
            "AS": {"sampler": "average", "beta": budget / 3e6},
            "ES": {"sampler": "external"},
            "OS": {"sampler": "outcome"},
            "CS": {"sampler": "chance"},
        }
        points: list[Point] = []
        for curve, solver in settings.items():
            for seed in seeds:
                points += run_curve(game, curve, seed, log_budgets(1e6, budget), **solver)
        path = arguments.output / f"gibson_2012_figure_3_{game}"
        write_figure(path, points, game, "exploitability, thousandths", uniform)
        report(f"Gibson 2012, figure 3, {game}", points)
        last[game] = final_cells(points)
    if arguments.save:
        save(
            "gibson_2012_figure_3",
            f"Figure 3: Bluff after {budget:.0e} nodes, thousandths of a game",
            ["sampler", *last],
            [[curve, *(cells[curve] for cells in last.values())] for curve in last["bluff-1-1"]],
            len(seeds),
        )


if __name__ == "__main__":
    main()
