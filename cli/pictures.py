"""Pictures: convergence curves."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from abstraction.strategy import StrategyManifest


def _new_axes(width: float = 7.0, height: float = 4.5) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")


def _label(manifest: StrategyManifest) -> str:
    return f"{manifest.name} {manifest.config['solver']['sampler']}"


def _without_seed(manifest: StrategyManifest) -> str:
    solver = {key: value for key, value in manifest.config["solver"].items() if key != "seed"}
    return repr({**manifest.config, "solver": solver})


def draw_convergence(manifests: Sequence[StrategyManifest], x: str, output: Path) -> list[str]:
    """Overlay runs on log-log axes; runs alike but for the seed become one curve with a 95% interval."""
    groups: dict[str, list[StrategyManifest]] = defaultdict(list)
    for manifest in manifests:
        groups[_without_seed(manifest)].append(manifest)
    figure, axes = _new_axes()
    labels = []
    for runs in groups.values():
        label = _label(runs[0]) + (f" ({len(runs)} seeds)" if len(runs) > 1 else "")
        labels.append(label)
        curves = [_curve(run, x) for run in runs]
        curves = [curve for curve in curves if len(curve[0])]
        if not curves:
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
    axes.set(xscale="log", yscale="log", xlabel=x, ylabel="exploitability, mbb per game")
    axes.grid(True, which="both", alpha=0.2)
    axes.legend()
    figure.savefig(output, dpi=130)
    return labels


def _curve(manifest: StrategyManifest, x: str) -> tuple[Any, Any]:
    points = [
        (getattr(point, x), point.exploitability_mbb)
        for point in manifest.history
        if point.exploitability_mbb is not None and point.exploitability_mbb > 0.0 and getattr(point, x) > 0
    ]
    array = np.array(points, dtype=np.float64).reshape(-1, 2)
    return array[:, 0], array[:, 1]
