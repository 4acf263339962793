"""Gibson et al. (NIPS 2012), figure 2b: exploitability over k against the number of infosets, two-nl-k."""

from pathlib import Path

from curves import Point, budget_and_seeds, figure_parser, infosets, mean_and_half, run_curve, write_csv
from record import Cell, save, significant


def main() -> None:
    parser = figure_parser(__doc__, quick=1e8)
    parser.add_argument("--stacks", type=int, nargs="*", default=[20, 28, 36])
    arguments = parser.parse_args()
    budget, seeds = budget_and_seeds(arguments, quick=1e8)
    settings: dict[str, dict[str, object]] = {
        "AS": {"sampler": "average", "beta": budget / 3e6},
        "ES": {"sampler": "external"},
        "CS": {"sampler": "chance"},
    }
    points: list[Point] = []
    for stack in arguments.stacks:
        for curve, solver in settings.items():
            for seed in seeds:
                points += run_curve(f"two-nl-{stack}", f"{curve} k={stack}", seed, [budget], **solver)
    write_csv(arguments.output / "gibson_2012_figure_2b.csv", points)
    _draw(arguments.output / "gibson_2012_figure_2b.png", points, list(settings), arguments.stacks)
    if arguments.save:
        save(
            "gibson_2012_figure_2b",
            f"Figure 2b: exploitability / k of two-nl-k after {budget:.0e} nodes, mbb/g",
            ["sampler", *(f"k = {stack}" for stack in arguments.stacks)],
            [[curve, *(_mean(points, curve, stack) for stack in arguments.stacks)] for curve in settings],
            len(seeds),
        )


def _mean(points: list[Point], curve: str, stack: int) -> Cell:
    mean, half = mean_and_half([p.exploitability_mbb / stack for p in points if p.curve == f"{curve} k={stack}"])
    return significant(mean, 3) if half is None else (significant(mean, 3), significant(half, 2))


def _draw(path: Path, points: list[Point], curves: list[str], stacks: list[int]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    sizes = [infosets(f"two-nl-{stack}") for stack in stacks]
    for curve in curves:
        found = [
            mean_and_half([p.exploitability_mbb / stack for p in points if p.curve == f"{curve} k={stack}"])
            for stack in stacks
        ]
        means, bars = [mean for mean, _ in found], [half or 0.0 for _, half in found]
        axes.errorbar(sizes, means, yerr=bars, label=curve, marker=".", capsize=2)
        cells = ", ".join(f"k={stack} {mean:.3g}" for stack, mean in zip(stacks, means))
        print(f"Gibson 2012, figure 2b, {curve}: exploitability / k after {points[0].nodes:.2g} nodes: {cells}")
    axes.set(xscale="log", yscale="log", xlabel="infosets", ylabel="exploitability / k, mbb per game")
    axes.grid(True, which="both", alpha=0.2)
    axes.legend()
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main()
