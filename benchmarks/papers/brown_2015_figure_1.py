"""Brown, Ganzfried and Sandholm (AAMAS 2015), figure 1, as the paper compared it: whole systems, not equal sizes.

The paper: 60 x 500 hierarchical buckets a street, distributed over 961 cores, against 5,000 plain buckets on 64, at the same
times. Here buckets and times are divided by one factor, and two cores stand against one:

A  5,000 plain buckets, one thread: the prior approach
C  60 x 500 buckets, local, two threads
D  60 x 500 buckets, a head and two children: the paper's approach
E  30,000 plain buckets, two threads: a control that the paper lacks

after 1, 5 and 20 minutes divided by the factor too. D - A is the paper's claim, D - C isolates algorithm 4, C - E the
clusters. A run ends by CPU time, cores times the clock of a quiet machine, so that other work on the machine does not
shorten it; waiting of the head and the children is not charged. k-means under EMD on flop and turn, OCHS on the river,
1,000 training hands a bucket; the base abstraction of the clusters is of A's size, as in the paper. All are purified except
for the first action. Opponents: the strategy in the box, and hunl-small; both have other bets and other cards. Scored by
expectation, all on the same boards. Finished runs are kept in OUTPUT and not repeated.

python benchmarks/papers/brown_2015_figure_1.py --factor 50      about 20 CPU-minutes
"""

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from curves import CONFIGS
from numpy.typing import NDArray
from record import Cell, add_save, save
from scipy.special import stdtrit

from foldwise.abstraction.build import build_abstract_game, load_cards
from foldwise.abstraction.config import check_config, read_config
from foldwise.agent.player_spec import parse_player
from foldwise.game.library import PokerGame
from foldwise.matches.scoring.scorers import expectation_pairs
from foldwise.solver.config import RunConfig
from foldwise.solver.distributed.run import DistributedRun
from foldwise.solver.run import SolverRun

PAPER_PLAIN, PAPER_CLUSTERS, PAPER_PER_CLUSTER = 5000, 60, 500
MINUTES = (1, 5, 20)
OPPONENTS = ("default", "hunl-small")
OPPONENT_NODES = 500_000_000
POSTPROCESS = "purify except first"
TRAINING_PER_BUCKET = 1000
BETS = [
    "f c 1p a | f c 1p a | f c a | f c",
    "f c 1p a | f c a | f c",
    "f c 1p a | f c a | f c",
    "f c 1p a | f c a | f c",
]
DIFFERENCES = (("D", "A"), ("D", "C"), ("C", "E"), ("E", "A"))
_STEP_CPU_SECONDS = 0.2


@dataclass(frozen=True)
class System:
    """One of the compared: buckets of the paper's size, and the cores it runs on."""

    letter: str
    in_clusters: bool
    buckets: int  # a street in all, before the factor
    cores: int
    children: int = 0

    def words(self, factor: float) -> str:
        buckets = round(self.buckets / factor)
        size = f"{PAPER_CLUSTERS} x {buckets // PAPER_CLUSTERS}" if self.in_clusters else f"{buckets:,} plain"
        cores = f"{self.children} children" if self.children else ("one thread", "two threads")[self.cores - 1]
        return f"{self.letter}: {size}, {cores}"

    def config(self, factor: float, seed: int) -> RunConfig:
        buckets = round((PAPER_PER_CLUSTER if self.in_clusters else self.buckets) / factor)
        street = {"buckets": buckets, "sample": TRAINING_PER_BUCKET * buckets, "restarts": 1, "max_passes": 10}
        cards: dict[str, object] = {
            "streets": [
                {"method": "lossless"},
                *({"method": method, **street} for method in ("kmeans-emd", "kmeans-emd", "kmeans-ochs")),
            ]
        }
        if self.in_clusters:
            cards["public"] = {"clusters": PAPER_CLUSTERS, "base_buckets": round(PAPER_PLAIN / factor)}
        data: dict[str, object] = {
            "name": f"figure-1-{self.letter}",
            "game": "hunl",
            "cards": cards,
            "bets": {"streets": BETS},
            # A child has one thread of its own.
            "solver": {"sampler": "external", "seed": seed, "threads": 1 if self.children else self.cores},
        }
        if self.children:
            data["distributed"] = {"children": self.children}
        return check_config(data, RunConfig, self.letter)


SYSTEMS = (
    System("A", False, PAPER_PLAIN, 1),
    System("C", True, PAPER_CLUSTERS * PAPER_PER_CLUSTER, 2),
    System("D", True, PAPER_CLUSTERS * PAPER_PER_CLUSTER, 2, children=2),
    System("E", False, PAPER_CLUSTERS * PAPER_PER_CLUSTER, 2),
)


@dataclass(frozen=True)
class Stage:
    """A system after one of the times, with one seed."""

    letter: str
    seed: int
    minutes: int  # of the paper's size: the factor divides them
    cpu_seconds: float
    nodes: int
    infoset_actions: int
    values_mbb: dict[str, list[float]]  # by opponent, what it wins on each board


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--factor", type=float, default=50.0, help="divides buckets, base and times")
    parser.add_argument("--systems", default="ACDE", help="letters")
    parser.add_argument("--seeds", type=int, default=3, help="solver's seeds, from 1 on")
    parser.add_argument("--boards", type=int, default=60, help="of expectation, from both positions")
    parser.add_argument("--cards-only", action="store_true", help="only build the card abstractions, and time that")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/papers"))
    add_save(parser)
    arguments = parser.parse_args()
    work = arguments.output / f"brown_2015_figure_1-{arguments.factor:g}"
    work.mkdir(parents=True, exist_ok=True)
    systems = [system for system in SYSTEMS if system.letter in arguments.systems]
    cards = _Kept(work / "cards.json")
    for system in systems:
        _build(system, arguments.factor, cards)
    if arguments.cards_only:
        return
    opponents = _opponents(work)
    kept = _Kept(work / f"stages-{arguments.boards}.json")
    for seed in range(1, 1 + arguments.seeds):
        for system in systems:
            _run(system, seed, arguments, opponents, work, kept)
    stages = [Stage(**fields) for fields in kept.read().values() if fields["seed"] <= arguments.seeds]
    _draw(arguments.output / "brown_2015_figure_1.png", systems, arguments.factor, stages)
    rows = _rows(systems, arguments.factor, stages)
    differences = _differences(stages)
    for row in [*rows, *differences]:
        print(row)
    if arguments.save:
        _save(arguments, rows, differences, cards.read())


class _Kept:
    """What earlier runs measured, as one JSON file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._path.read_text()) if self._path.exists() else {}
        return found

    def add(self, found: Mapping[str, Any]) -> None:
        self._path.write_text(json.dumps({**self.read(), **found}))


def _build(system: System, factor: float, kept: _Kept) -> None:
    """Build the system's cards, unless they were, and note the CPU time."""
    config = system.config(factor, 1)
    assert config.cards is not None
    name = system.words(factor).split(", ")[0].partition(": ")[2]
    if name in kept.read():
        return
    start = time.process_time()
    load_cards(config.cards)
    kept.add({name: time.process_time() - start})
    _say(f"cards of {name}: {kept.read()[name]:.0f} CPU-s")


def _opponents(work: Path) -> dict[str, str]:
    """Players by name; what is not in the box is solved here once."""
    folder = work / OPPONENTS[1]
    if not (folder / "manifest.json").exists():
        settings = {"solver.nodes": OPPONENT_NODES, "solver.seconds": None}
        config = read_config(CONFIGS / f"{OPPONENTS[1]}.toml", RunConfig, settings)
        run = SolverRun(build_abstract_game(config), config, folder, False)
        for _ in run:
            pass
        run.save()
    return {name: f"strategy:{place}|{POSTPROCESS}" for name, place in zip(OPPONENTS, (OPPONENTS[0], folder))}


def _run(
    system: System, seed: int, arguments: argparse.Namespace, opponents: dict[str, str], work: Path, kept: _Kept
) -> None:
    """Solve with one seed, and score at each time."""
    names = {minutes: f"{system.letter} {seed} {minutes}" for minutes in MINUTES}
    if set(names.values()) <= set(kept.read()):
        return
    config = system.config(arguments.factor, seed)
    game = build_abstract_game(config)
    folder = work / system.letter
    run = (
        DistributedRun(game, config, folder, False, None) if system.children else SolverRun(game, config, folder, False)
    )
    stages: dict[str, Any] = {}
    spent = 0.0
    try:
        for minutes in MINUTES:
            spent += _solve(run, 60.0 * minutes / arguments.factor * system.cores - spent)
            run.save()
            stage = Stage(
                system.letter,
                seed,
                minutes,
                spent,
                run.solver.nodes,
                game.num_entries,
                _score(config, folder, opponents, arguments.boards),
            )
            stages[names[minutes]] = vars(stage)
            means = ", ".join(f"{name} {np.mean(values):+.0f}" for name, values in stage.values_mbb.items())
            _say(f"{names[minutes]}: {spent:.1f} CPU-s, {stage.nodes:,} nodes; {means} mbb/h")
    finally:
        run.close()
    kept.add(stages)


def _solve(run: SolverRun, budget: float) -> float:
    """Solve for this much CPU time of the process; what it took."""
    start = time.process_time()
    step, took = 16, 0.0
    while took < budget:
        before = took
        run.solver.advance(min(step, run.solver.largest_step))
        took = time.process_time() - start
        room = min(_STEP_CPU_SECONDS, 0.5 * (budget - took) + 0.01)
        step = max(16, min(4 * step, int(step * room / max(took - before, 1e-6))))
    if isinstance(run, DistributedRun):
        run.head.drain()  # what is in flight is the run's work too
    return time.process_time() - start


def _score(config: RunConfig, folder: Path, opponents: dict[str, str], boards: int) -> dict[str, list[float]]:
    """By opponent, mbb per hand on each board, the mean of both positions."""
    game = config.find_game()
    assert isinstance(game, PokerGame)
    player = parse_player(f"strategy:{folder}|{POSTPROCESS}")
    found = {}
    for name, opponent in opponents.items():
        chips = expectation_pairs(game.definition, [player, parse_player(opponent)], 1, boards, 2, lambda _: None)
        found[name] = (chips.mean(axis=1) * 1000.0 / game.definition.big_blind).tolist()
    return found


def _values(stages: Sequence[Stage], letter: str, minutes: int, opponent: str) -> NDArray[np.float64]:
    """[seeds, boards]"""
    found = sorted((s for s in stages if (s.letter, s.minutes) == (letter, minutes)), key=lambda s: s.seed)
    return np.array([stage.values_mbb[opponent] for stage in found])


def _interval(values: NDArray[np.float64]) -> tuple[int, int]:
    """Mean over seeds and boards, and half of its 95% interval: variance of boards, shared by all seeds, and of seeds."""
    parts = [values.mean(axis=0), values.mean(axis=1)]
    variances = [part.var(ddof=1) / part.size for part in parts if part.size > 1]
    # Student's t with the degrees of freedom of a sum of two variances (Satterthwaite 1946).
    freedom = sum(variances) ** 2 / sum(v**2 / (part.size - 1) for v, part in zip(variances, parts))
    half = stdtrit(freedom, 0.975) * np.sqrt(sum(variances))
    return round(float(values.mean())), round(float(half))


def _rows(systems: Sequence[System], factor: float, stages: Sequence[Stage]) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for system in systems:
        for minutes in MINUTES:
            own = [s for s in stages if (s.letter, s.minutes) == (system.letter, minutes)]
            cells = [_interval(_values(stages, system.letter, minutes, name)) for name in OPPONENTS]
            seconds = 60.0 * minutes / factor
            nodes = round(sum(stage.nodes for stage in own) / len(own) / 1e6)
            each = round(1e6 * nodes / own[0].infoset_actions)
            rows.append([system.words(factor), seconds, seconds * system.cores, nodes, each, *cells])
    return rows


def _differences(stages: Sequence[Stage]) -> list[list[Cell]]:
    """What the first of two systems wins more than the second: on the same boards, and on average over both opponents."""
    rows: list[list[Cell]] = []
    letters = {stage.letter for stage in stages}
    for first, second in DIFFERENCES:
        if not {first, second} <= letters:
            continue
        for minutes in MINUTES:
            by_opponent = [
                _values(stages, first, minutes, name) - _values(stages, second, minutes, name) for name in OPPONENTS
            ]
            cells = [_interval(values) for values in (*by_opponent, np.mean(by_opponent, axis=0))]
            rows.append([f"{first} - {second}, {minutes} min", *cells])
    return rows


def _save(
    arguments: argparse.Namespace, rows: list[list[Cell]], differences: list[list[Cell]], cards: dict[str, float]
) -> None:
    factor, against = arguments.factor, [f"against {name}" for name in OPPONENTS]
    save(
        "brown_2015_figure_1",
        f"Figure 1 with buckets and times divided by {factor:g}: win rate in mbb/h, all purified except first, by "
        f"expectation on {arguments.boards} boards",
        ["system", "time, s", "core-seconds", "million nodes", "nodes an infoset-action", *against],
        rows,
        seeds=arguments.seeds,
    )
    save(
        "brown_2015_figure_1_differences",
        f"What the first system wins more than the second after so many minutes / {factor:g}, on the same boards, mbb/h",
        ["difference", *against, "on average"],
        differences,
        seeds=arguments.seeds,
    )
    save(
        "brown_2015_figure_1_cards",
        "Building the cards of these systems (k-means of flop, turn and river), once",
        ["cards", "CPU-seconds"],
        [[name, round(seconds)] for name, seconds in cards.items()],
        seeds=None,
    )


def _draw(path: Path, systems: Sequence[System], factor: float, stages: Sequence[Stage]) -> None:
    """By the clock and by core-seconds, against each opponent."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    cores = sorted({system.cores for system in systems})
    figure, panels = pyplot.subplots(len(OPPONENTS), 2, figsize=(10, 7.5), sharey="row", layout="constrained")
    for row, opponent in zip(panels, OPPONENTS):
        for axes, is_cores in zip(row, (False, True)):
            for system in systems:
                points = [_interval(_values(stages, system.letter, minutes, opponent)) for minutes in MINUTES]
                seconds = [60.0 * minutes / factor * (system.cores if is_cores else 1) for minutes in MINUTES]
                means, halves = zip(*points)
                axes.errorbar(seconds, means, yerr=halves, marker="o", capsize=3, label=system.words(factor))
            axes.set(
                xscale="log", xlabel="core-seconds" if is_cores else "solving time, s", title=f"against {opponent}"
            )
            ticks = sorted({60.0 * m / factor * c for m in MINUTES for c in (cores if is_cores else (1,))})
            axes.set_xticks(ticks, [f"{seconds:g}" for seconds in ticks])
            axes.minorticks_off()
            axes.grid(True, alpha=0.2)
        row[0].set_ylabel("mbb per hand")
    panels[0][0].legend()
    figure.savefig(path, dpi=130)


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
