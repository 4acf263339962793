"""Pictures: convergence curves, preflop grids."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from foldwise.abstraction.cards.card_abstraction import CardAbstraction
from foldwise.abstraction.deals.sequence_matrices import NUM_BOARDS
from foldwise.abstraction.storage.whole_file import bytes_written_whole
from foldwise.abstraction.strategy import StrategyManifest
from foldwise.game.errors import DefinitionError


def new_axes(width: float = 7.0, height: float = 4.5, columns: int = 1) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot.subplots(1, columns, figsize=(width, height), layout="constrained")


def save_figure(figure: Any, output: Path) -> None:
    """Write a picture in the format its name ends with, completely or not at all, and free it: pyplot keeps what is open."""
    from matplotlib import pyplot

    try:
        with bytes_written_whole(output) as file:
            figure.savefig(file, format=output.suffix[1:].lower(), dpi=130)
    finally:
        pyplot.close(figure)


def _label(manifest: StrategyManifest) -> str:
    boards = manifest.config.get("joint_boards")
    sample = f" on {boards:,} boards" if boards is not None and boards < NUM_BOARDS else ""
    return f"{manifest.name} {manifest.config['solver']['sampler']}{sample}"


def _without_seed(manifest: StrategyManifest) -> str:
    solver = {key: value for key, value in manifest.config["solver"].items() if key != "seed"}
    return repr({**manifest.config, "solver": solver})


def draw_convergence(manifests: Sequence[StrategyManifest], x: str, output: Path) -> list[str]:
    """Overlay runs on log-log axes; runs alike but for the seed become one curve with a 95% interval."""
    groups: dict[str, list[StrategyManifest]] = defaultdict(list)
    for manifest in manifests:
        groups[_without_seed(manifest)].append(manifest)
    known = any(point.exploitability_mbb is not None for manifest in manifests for point in manifest.history)
    measure = "exploitability_mbb" if known else "mean_regret_mbb"
    if not any(len(_curve(manifest, x, measure)[0]) for manifest in manifests):
        raise DefinitionError("plot: no run has been measured yet, so there is no curve: solve on with --resume")
    figure, axes = new_axes()
    labels = []
    for runs in groups.values():
        label = _label(runs[0]) + (f" ({len(runs)} seeds)" if len(runs) > 1 else "")
        labels.append(label)
        curves = [_curve(run, x, measure) for run in runs]
        curves = [curve for curve in curves if len(curve[0])]
        if not curves:
            labels[-1] += " (not measured)"
            continue
        grid = curves[0][0]
        if len(curves) == 1:
            axes.plot(*curves[0], label=label)
            continue
        low, high = max(c[0][0] for c in curves), min(c[0][-1] for c in curves)
        grid = grid[(grid >= low) & (grid <= high)]
        values = np.array([np.exp(np.interp(np.log(grid), np.log(c[0]), np.log(c[1]))) for c in curves])
        mean = values.mean(axis=0)
        half = 1.96 * values.std(axis=0, ddof=1) / np.sqrt(len(curves))
        axes.plot(grid, mean, label=label)
        axes.fill_between(grid, np.maximum(mean - half, mean * 1e-3), mean + half, alpha=0.25)
    what = "exploitability" if known else "mean positive regret"
    axes.set(xscale="log", yscale="log", xlabel=x, ylabel=f"{what}, mbb per game")
    axes.grid(True, which="both", alpha=0.2)
    axes.legend()
    save_figure(figure, output)
    return labels


def _curve(manifest: StrategyManifest, x: str, measure: str) -> tuple[Any, Any]:
    found = [(getattr(point, x), getattr(point, measure)) for point in manifest.history]
    points = [(place, value) for place, value in found if value is not None and value > 0.0 and place > 0]
    array = np.array(points, dtype=np.float64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


def draw_preflop_grid(cards: CardAbstraction, output: Path) -> None:
    """The 169 hands in the usual square (suited above the diagonal) by E[HS^2] and by bucket."""
    from foldwise.abstraction.cards.hand_strength import HandStrength
    from foldwise.game.cards import RANKS, make_card
    from foldwise.game.hands.hand_index import hand_index

    values = HandStrength().values(0, "hs2")
    index = hand_index((2,))
    strength, bucket = np.zeros((13, 13)), np.zeros((13, 13))
    for row in range(13):
        for column in range(13):
            high, low = 12 - min(row, column), 12 - max(row, column)
            hand = (make_card(high, 0), make_card(low, 0 if column > row else 1))
            strength[row, column] = values[index.index(hand)]
            bucket[row, column] = cards.bucket(hand)
    figure, axes = new_axes(13.0, 6.2, columns=2)
    for axis, grid, title, form in (
        (axes[0], strength, "E[HS^2]", "{:.2f}"),
        (axes[1], bucket, f"bucket, of {cards.num_buckets[0]}", "{:.0f}"),
    ):
        axis.imshow(grid, cmap="viridis")
        for row in range(13):
            for column in range(13):
                high, low = 12 - min(row, column), 12 - max(row, column)
                suited = "" if row == column else ("s" if column > row else "o")
                text = f"{RANKS[high]}{RANKS[low]}{suited}\n" + form.format(grid[row, column])
                dark = grid[row, column] < grid.min() + 0.6 * (grid.max() - grid.min())
                axis.text(column, row, text, ha="center", va="center", fontsize=7, color="white" if dark else "black")
        axis.set(title=title, xticks=[], yticks=[])
    save_figure(figure, output)
