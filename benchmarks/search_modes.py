"""How well each search mode solves a turn, by size of the pot: `python benchmarks/search_modes.py [--save]`.

All hands in both ranges, no gadget, board Ah7d2c9s. The time is CPU time of all threads.
"""

import argparse
import time

import numpy as np
from papers.record import Cell, add_save, save, significant

from foldwise.game.betting import CALL, RAISE, Action, BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.hands.hole_cards import NUM_PAIRS
from foldwise.game.library import find_definition
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.modes import depth_in_pots, find_mode
from foldwise.search.street import StreetProblem, StreetSearch
from foldwise.solver.subgame.workspace import Workspace

POTS = {"limped": "c c c c", "raised": "300 c c c", "three-bet": "300 900 c c c", "four-bet": "300 900 2700 c c c"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modes", nargs="+", default=["fast", "normal"])
    parser.add_argument("--threads", type=int, default=2)
    add_save(parser)
    arguments = parser.parse_args()
    workspace = Workspace()
    rows: list[list[Cell]] = []
    for name in arguments.modes:
        for pot, line in POTS.items():
            root = BettingState(find_definition("hunl"))
            for word in line.split():
                root.apply(Action(CALL) if word == "c" else Action(RAISE, int(word)))
            mode, everything = find_mode(name), np.ones(NUM_PAIRS)
            problem = StreetProblem(
                root=root,
                board=tuple(parse_cards("Ah7d2c9s")),
                ranges=(everything, everything),
                position=root.player_to_act,
                menu=mode.menu(root),
                budget=mode.turn,
                pipeline=Pipeline(),
                gadget=None,
                threads=arguments.threads,
                workspace=workspace,
            )
            start, wall = time.process_time(), time.monotonic()
            subgame = StreetSearch(problem, lambda: None).subgame
            seconds, waited = time.process_time() - start, time.monotonic() - wall
            lost = subgame.exploitability().exploitability_mbb * root.definition.big_blind / 1000
            pot_chips, visits = sum(root.spent), subgame.iteration // subgame.samples_per_visit
            print(
                f"{name}, {pot} pot of {pot_chips} ({depth_in_pots(root):.1f} pots behind): {len(subgame.nodes)} nodes, "
                f"{visits} visits, {100 * lost / pot_chips:.2f}% of the pot, {seconds:.2f} CPU-s, {waited:.2f} s",
                flush=True,
            )
            percent = significant(100 * lost / pot_chips, 2)
            rows.append(
                [name, f"{pot}, {pot_chips:,}", round(depth_in_pots(root), 1), percent, visits, round(seconds, 1)]
            )
    if arguments.save:
        title = "How exploitable a turn is left, all hands in both ranges, board Ah7d2c9s"
        columns = ["mode", "pot, chips", "behind, pots", "% of the pot", "visits", "CPU-s"]
        save("search_modes", title, columns, rows, None)


if __name__ == "__main__":
    main()
