"""Gibson et al. (NIPS 2012), figure 1a: average strategy sampling by epsilon and beta, two-nl-30, tau = 1000.

The paper runs 10^12 nodes; here beta keeps the paper's ratio to the budget (beta / nodes), and both are printed.
"""

from pathlib import Path

from curves import Point, figure_arguments, final_cells, report, run_curve, write_csv
from record import save

EPSILONS = (0.01, 0.05, 0.1, 0.5)
PAPER_BETAS = (1e4, 1e5, 1e6, 1e7)
PAPER_NODES = 1e12


def main() -> None:
    arguments, budget, seeds = figure_arguments(__doc__, quick=1e8)
    points: list[Point] = []
    for epsilon in EPSILONS:
        for paper_beta in PAPER_BETAS:
            beta = paper_beta * budget / PAPER_NODES
            curve = _curve(epsilon, beta, paper_beta)
            for seed in seeds:
                points += run_curve(
                    "two-nl-30", curve, seed, [budget], sampler="average", epsilon=epsilon, beta=beta, tau=1000.0
                )
    write_csv(arguments.output / "gibson_2012_figure_1a.csv", points)
    _draw(arguments.output / "gibson_2012_figure_1a.png", points, budget)
    report("Gibson 2012, figure 1a", points)
    if arguments.save:
        betas = [(paper_beta * budget / PAPER_NODES, paper_beta) for paper_beta in PAPER_BETAS]
        cells = final_cells(points)
        save(
            "gibson_2012_figure_1a",
            "Figure 1a: average strategy sampling on two-nl-30 by epsilon and beta, tau 1,000, "
            f"{budget:.0e} nodes, mbb/g",
            ["epsilon", *(f"beta {beta:,g}" for beta, _ in betas)],
            [[f"{epsilon:g}", *(cells[_curve(epsilon, *pair)] for pair in betas)] for epsilon in EPSILONS],
            len(seeds),
        )


def _curve(epsilon: float, beta: float, paper_beta: float) -> str:
    return f"epsilon {epsilon:g}, beta {beta:g} (paper {paper_beta:g})"


def _draw(path: Path, points: list[Point], budget: float) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import numpy as np
    from matplotlib import pyplot

    per_cell = len(points) // (len(EPSILONS) * len(PAPER_BETAS))
    grid = np.array([p.exploitability_mbb for p in points]).reshape(len(EPSILONS), len(PAPER_BETAS), per_cell).mean(2)
    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    image = axes.imshow(grid, cmap="viridis_r")
    axes.set_xticks(range(len(PAPER_BETAS)), [f"{b * budget / PAPER_NODES:g}" for b in PAPER_BETAS])
    axes.set_yticks(range(len(EPSILONS)), [f"{e:g}" for e in EPSILONS])
    for i in range(len(EPSILONS)):
        for j in range(len(PAPER_BETAS)):
            axes.text(j, i, f"{grid[i, j]:.0f}", ha="center", va="center", color="white")
    axes.set(xlabel="beta", ylabel="epsilon", title=f"two-nl-30, {budget:.0e} nodes: exploitability, mbb per game")
    figure.colorbar(image)
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main()
