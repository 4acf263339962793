"""How well turns and rivers are solved, by size of the pot, for given bet menus: used to choose those of the modes.

python benchmarks/subgame_menus.py --turn "f c 1p | f c 1p | f c a" --river "f c 1p | f c 1p | f c" --iterations 10 20 40 80

All hands in both ranges, 20,000 chips, board Ah7d2c9s (with --street river: 4h as well). An iteration walks every river
once. Per cent of the pot, hand-nodes an iteration, and the CPU time of solving to each number of iterations.
"""

import argparse
import time

import numpy as np

from foldwise.abstraction.bet_sizes import make_menu
from foldwise.game.betting import BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.hands.hole_cards import NUM_PAIRS
from foldwise.game.library import find_definition
from foldwise.solver.subgame.subgame import Subgame
from foldwise.solver.subgame.workspace import Workspace


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turn", default="f c 1p | f c 1p | f c a")
    parser.add_argument("--river", default="f c 1p | f c 1p | f c")
    parser.add_argument("--street", choices=["turn", "river"], default="turn")
    parser.add_argument("--pots", type=int, nargs="*", default=[200, 600, 2400, 8000])
    parser.add_argument("--iterations", type=int, nargs="*", default=[10, 20, 40, 80])
    parser.add_argument("--rivers", type=int, nargs="*", default=[48, 8])
    parser.add_argument("--schedules", nargs="*", default=["dcfr", "dcfr+"])
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    texts = ("f c", "f c", arguments.turn, arguments.river)
    menu = make_menu(texts, texts, 1.0)
    on_river = arguments.street == "river"
    board = parse_cards("Ah7d2c9s4h" if on_river else "Ah7d2c9s")
    everything, workspace = np.ones(NUM_PAIRS), Workspace()
    for pot in arguments.pots:
        state = BettingState.at_street(find_definition("hunl"), 3 if on_river else 2, pot // 2)
        for rivers in [48] if on_river else arguments.rivers:
            for schedule in arguments.schedules:
                game = Subgame(
                    state,
                    board,
                    (everything, everything),
                    menu,
                    arguments.threads,
                    schedule=schedule,
                    workspace=workspace,
                    rivers=rivers,
                )
                solving, found = 0.0, []
                for iterations in arguments.iterations:
                    start = time.process_time()
                    game.run(iterations * game.samples_per_visit - game.iteration)
                    solving += time.process_time() - start
                    percent = game.exploitability().exploitability_mbb / 1000.0 * 100.0 / pot * 100.0
                    found.append(f"{percent:8.2f}% {solving:5.2f} s")
                print(
                    f"pot {pot:>6,}, {len(game.nodes):>4} nodes, {game.hand_nodes / max(arguments.iterations) / 1e6:5.1f}M "
                    f"hand-nodes, {rivers:>2} rivers, {schedule:<5}" + "".join(found),
                    flush=True,
                )


if __name__ == "__main__":
    main()
