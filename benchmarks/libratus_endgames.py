"""Exploitability over iterations on two endgames of Libratus, for each schedule.

python benchmarks/libratus_endgames.py FOLDER [--iterations 10 30 100 300] [--rivers 48 8] [--schedules dcfr dcfr+] [--save]

FOLDER holds `turn.txt` and `river.txt` as public data of Brown and Sandholm's solver papers gives them (repository
Sandholm-Lab/LibratusEndgames): a state of heads-up no-limit hold'em (50/100, 20,000 chips) with the probability of each
player reaching it with each hand. The data is not part of this project. Figures: docs/subgames.md.

An iteration walks every river once; with --rivers 8 that is six updates of the turn. Per cent of the pot.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from papers.record import ROOT, Cell, add_save, save, significant

from foldwise.abstraction.bet_sizes import make_menu
from foldwise.game.arrays import Float
from foldwise.game.betting import BettingState
from foldwise.game.cards import RANKS, cards_text, parse_card, parse_cards
from foldwise.game.hands.hole_cards import NUM_PAIRS, pair_number
from foldwise.game.library import find_definition
from foldwise.solver.full_width.schedules import Schedule, Steps
from foldwise.solver.samplers import FULL_WIDTH
from foldwise.solver.subgame.spot import Spot
from foldwise.solver.subgame.subgame import Subgame

TURN_BETS = "f c 0.5p 1p a | f c 1p a | f c a | f c"
RIVER_BETS = "f c 0.5p 1p a | f c 1p a | f c a | f c"


def discounted(alpha: float, gamma: float, floor: float) -> Schedule:
    """Discounted CFR with other exponents; a floor of 0 makes it DCFR+."""

    def steps(t: Float) -> Steps:
        last = t - 1.0
        positive = last**alpha / (last**alpha + 1.0)
        return Steps(positive, np.full_like(t, 0.5), (last / t) ** gamma, np.ones_like(t), np.full_like(t, floor))

    return steps


def falling(total: int, first_gamma: float, last_gamma: float) -> Schedule:
    """Exponents that move with the share of iterations done, after Zhang, McAleer and Sandholm's schedules (2024):
    alpha 1 to 4, beta -1 to -3, gamma as given."""

    def steps(t: Float) -> Steps:
        share, last = np.minimum(t / total, 1.0), t - 1.0
        alpha, beta, gamma = 1.0 + 3.0 * share, -1.0 - 2.0 * share, first_gamma + (last_gamma - first_gamma) * share
        positive = last**alpha / (last**alpha + 1.0)
        negative = np.where(last > 0.0, 1.0 / (1.0 + np.maximum(last, 1.0) ** -beta), 0.0)
        return Steps(positive, negative, (last / t) ** gamma, np.ones_like(t), np.full_like(t, -np.inf))

    return steps


def read_endgame(path: Path) -> Spot:
    """A state and both ranges, the first of the player who acts first."""
    lines = dict(line[1:].split(maxsplit=1) for line in path.read_text(encoding="ascii").splitlines() if line.strip())
    order = [parse_card(rank + suit) for rank in RANKS for suit in "shdc"]
    numbers = [pair_number(order[i], order[j]) for i in range(52) for j in range(i + 1, 52)]
    reach = np.array(lines["reach"].split(), dtype=np.float64).reshape(2, NUM_PAIRS)
    ranges = np.zeros_like(reach)
    ranges[:, numbers] = reach
    texts = ("f c", "f c", TURN_BETS, RIVER_BETS)
    state = BettingState.at_street(find_definition("hunl"), int(lines["round"]) - 1, int(lines["pot"]) // 2)
    return Spot(state, parse_cards(lines["board"]), (ranges[0], ranges[1]), make_menu(texts, texts, 1.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--iterations", type=int, nargs="*", default=[10, 30, 100, 300])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rivers", type=int, nargs="*", default=[48, 8])
    parser.add_argument("--endgames", nargs="*", default=["river", "turn"])
    parser.add_argument("--schedules", nargs="*", help="by default all")
    add_save(parser)
    arguments = parser.parse_args()
    for name in arguments.endgames:
        spot = read_endgame(arguments.folder / f"{name}.txt")
        rows: list[list[Cell]] = []
        for rivers in arguments.rivers if name == "turn" else [48]:
            updates = 48 // rivers
            total = max(arguments.iterations) * updates
            schedules: dict[str, str | Schedule] = {one: one for one in FULL_WIDTH} | {
                "dcfr, gamma 5": discounted(1.5, 5.0, -np.inf),
                "dcfr+ 2/10": discounted(2.0, 10.0, 0.0),
                "schedule, gamma 15 to 10": falling(total, 15.0, 10.0),
                "schedule, gamma 30 to 25": falling(total, 30.0, 25.0),
            }
            for label, schedule in schedules.items():
                if arguments.schedules is not None and label not in arguments.schedules:
                    continue
                game = Subgame(
                    spot.state, spot.board, spot.ranges, spot.menu, arguments.threads, schedule=schedule, rivers=rivers
                )
                start = time.process_time()
                found: list[float] = []
                for iterations in arguments.iterations:
                    game.run(iterations * updates - game.iteration)
                    chips = game.exploitability().exploitability_mbb * game.state.definition.big_blind / 1000.0
                    found.append(100.0 * chips / spot.pot)
                sampled = f", {rivers} rivers at a time" if rivers < 48 else ""
                took = time.process_time() - start
                shown = "".join(f"{percent:9.4f}" for percent in found)
                print(f"{name}, {len(game.nodes):,} nodes{sampled}, {label:<26}{shown}   {took:.1f} CPU-s", flush=True)
                rows.append([f"{label}{sampled}", *(significant(percent, 2) for percent in found), round(took, 1)])
        if arguments.save:
            board = cards_text(spot.board)
            title = f"Libratus's {name}, {board}, {len(game.nodes):,} nodes: exploitability in % of the pot after iterations"
            columns = ["schedule", *(f"after {count:,}" for count in arguments.iterations), "CPU-s"]
            save(f"libratus_{name}", title, columns, rows, None)
            draw(name, arguments.iterations, rows)


def draw(name: str, iterations: list[int], rows: list[list[Cell]]) -> None:
    """One falling line for each schedule."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    for label, *percents, _ in rows:
        axes.loglog(iterations, percents, marker="o", markersize=3, label=str(label))
    axes.set(xlabel="iterations", ylabel="exploitability, % of the pot", title=f"Libratus's {name}")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3, which="both")
    figure.savefig(ROOT / "docs" / "pictures" / f"libratus-{name}.png", dpi=90)


if __name__ == "__main__":
    main()
