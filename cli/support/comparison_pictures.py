"""Pictures of comparisons and of a strategy's preflop play."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from foldwise.agent.player_spec import parse_player
from foldwise.cli.support.pictures import new_axes, save_figure
from foldwise.matches.duplicate.comparison import ComparisonResult, RowResult

_SWEPT = re.compile(r"[\d.eE+-]+\s*:\s*[\d.eE+-]+\s*:\s*[\d.eE+-]+")
_RANKS = "AKQJT98765432"
# Fold blue, call green, bets from yellow to red by size.
_FOLD_COLOUR, _CALL_COLOUR = (0.36, 0.55, 0.80), (0.45, 0.72, 0.42)


def draw_comparison(result: ComparisonResult, output: Path) -> None:
    """Means with their 95% intervals, variants along the axis, a panel for each opponent; with LBR, both sides in one."""
    rows, opponents = result["rows"], result["opponents"]
    with_lbr = all("lbr_mbb" in row for row in rows)
    columns = len(opponents) + with_lbr
    figure, made = new_axes(2.0 + 3.2 * columns, 4.2, columns)
    panels = np.atleast_1d(made)
    for j, (axes, opponent) in enumerate(zip(panels, opponents)):
        cells = [row["results"][j] for row in rows]
        means, halves = [cell["mean_mbb"] for cell in cells], [cell["ci95_mbb"] for cell in cells]
        axes.errorbar(range(len(rows)), means, yerr=halves, fmt="o", capsize=4)
        axes.axhline(0.0, color="0.7", linewidth=0.8)
        axes.set_xticks(range(len(rows)), [row["variant"] for row in rows], rotation=30, ha="right")
        axes.set_title(parse_player(opponent).short(), fontsize="medium")
    panels[0].set_ylabel("mbb per hand, 95% intervals")
    if with_lbr:
        _draw_both_sides(panels[-1], rows)
    save_figure(figure, output)


def _draw_both_sides(axes: Any, rows: Sequence[RowResult]) -> None:
    """What a variant wins on average over what it loses to local best response: best is up and to the left."""
    for row in rows:
        x, y = row["lbr_mbb"], row["avg_mbb"]
        axes.errorbar(
            x, y, xerr=row["lbr_ci95_mbb"], yerr=row["avg_ci95_mbb"], fmt="o", capsize=3, label=row["variant"]
        )
    axes.set(xlabel="loses to lbr", ylabel="wins on average")
    axes.set_title("both sides", fontsize="medium")
    axes.legend(fontsize="small")


def draw_sweep(result: ComparisonResult, sweep: str, output: Path) -> None:
    """Mean against the swept number with its 95% band, a curve for each opponent; exploitability where it is known."""
    figure, axes = new_axes()
    rows = result["rows"]
    x = _swept_values(sweep, len(rows))
    for j, opponent in enumerate(result["opponents"]):
        mean = np.array([row["results"][j]["mean_mbb"] for row in rows])
        half = np.array([row["results"][j]["ci95_mbb"] for row in rows])
        axes.plot(x, mean, marker="o", label=parse_player(opponent).short())
        axes.fill_between(x, mean - half, mean + half, alpha=0.2)
    axes.set(xlabel=sweep, ylabel="mbb per hand, 95% intervals")
    axes.axhline(0.0, color="0.7", linewidth=0.8)
    if all("exploitability_mbb" in row for row in rows):
        other = axes.twinx()
        other.plot(x, [row["exploitability_mbb"] for row in rows], color="0.4", linestyle="--")
        other.set_ylabel("exploitability, mbb per game (dashed)")
    axes.legend(fontsize="small")
    save_figure(figure, output)


def _swept_values(sweep: str, count: int) -> npt.NDArray[np.float64]:
    """The swept numbers, where one number is swept; else the variants' places."""
    found = _SWEPT.findall(sweep)
    if len(found) != 1:
        return np.arange(count, dtype=np.float64)
    start, _, step = (float(part) for part in found[0].split(":"))
    return np.asarray(start + step * np.arange(count), np.float64)


def draw_strategy_grid(
    actions: Sequence[str], kinds: Sequence[str], rows: Mapping[str, Sequence[float]], title: str, output: Path
) -> None:
    """The 13 x 13 grid of hole cards, each cell cut by the probabilities of its actions: suited above the diagonal.

    `kinds` are f, c or r by action; `rows` maps AA, AKs, AKo and so on to probabilities; a class without any stays empty.
    """
    figure, axes = new_axes(8.0, 8.6)
    colours = _action_colours(kinds)
    for i, high in enumerate(_RANKS):
        for j, low in enumerate(_RANKS):
            name = high + low if i == j else (high + low + "s" if i < j else low + high + "o")
            left = float(j)
            for probability, colour in zip(rows.get(name, ()), colours):
                axes.add_patch(_rectangle(left, float(i), probability, colour))
                left += probability
            axes.text(j + 0.5, i + 0.5, name, ha="center", va="center", fontsize=8)
    for colour, action in zip(colours, actions):
        axes.add_patch(_rectangle(0.0, 0.0, 0.0, colour, label=action))
    axes.set(xlim=(0, 13), ylim=(13, 0), xticks=[], yticks=[], title=title)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=max(1, len(actions)), frameon=False)
    save_figure(figure, output)


def _rectangle(left: float, top: float, width: float, colour: tuple[float, ...], label: str | None = None) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((left, top), width, 1.0, facecolor=colour, edgecolor="white", linewidth=0.3, label=label)


def _action_colours(kinds: Sequence[str]) -> list[tuple[float, ...]]:
    num_bets = sum(kind == "r" for kind in kinds)
    colours: list[tuple[float, ...]] = []
    bet = 0
    for kind in kinds:
        if kind == "r":
            share = bet / max(1, num_bets - 1)
            colours.append((0.95 - 0.1 * share, 0.75 - 0.5 * share, 0.30 - 0.1 * share))
            bet += 1
        else:
            colours.append(_FOLD_COLOUR if kind == "f" else _CALL_COLOUR)
    return colours
