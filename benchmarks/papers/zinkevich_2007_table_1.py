"""Zinkevich et al. (NIPS 2007), table 1: bots of larger abstractions beat those of smaller ones, in the full game.

Plays every pair of the strategy folders that `zinkevich_2007_figure_1a.py` left, in duplicate on shared deals.
"""

import argparse
import csv
from pathlib import Path

from record import Cell, add_save, save

from foldwise.game.library import PokerGame, find_game
from foldwise.matches.duplicate.comparison import Table, cross_table

# What the paper's row wins from its column, mb/h, within 2: CFR5 to CFR10, and a five-bucket HS bot of three bets a round.
PAPER = {
    ("limit-6", "limit-5"): 5,
    ("limit-8", "limit-5"): 13,
    ("limit-10", "limit-5"): 20,
    ("limit-8", "limit-6"): 9,
    ("limit-10", "limit-6"): 14,
    ("limit-10", "limit-8"): 6,
    ("limit-5", "limit-5-hs"): 17,
    ("limit-6", "limit-5-hs"): 24,
    ("limit-8", "limit-5-hs"): 30,
    ("limit-10", "limit-5-hs"): 36,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hands", type=int, default=2_500_000, help="pairs of hands in each match")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", type=Path, default=Path("runs/papers"), help="where limit-5, limit-6, ... are")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/papers"))
    add_save(parser)
    arguments = parser.parse_args()
    every = ("limit-5-hs", "limit-5", "limit-6", "limit-8", "limit-10")
    names = [name for name in every if (arguments.folders / name / "manifest.json").exists()]
    game = find_game("limit")
    assert isinstance(game, PokerGame)
    table = Table("limit", game.definition, arguments.hands, arguments.seed, "memory", 2)
    cells = cross_table(table, [f"strategy:{arguments.folders / name}" for name in names], lambda *_: None)
    arguments.output.mkdir(parents=True, exist_ok=True)
    rows: list[list[Cell]] = []
    with (arguments.output / "zinkevich_2007_table_1.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["row", "column", "mean_mbb", "ci95_mbb", "pairs", "paper_mbb"])
        for row, of_row in zip(names, cells):
            for column, cell in zip(names, of_row):
                if cell is None:
                    continue
                paper = PAPER.get((row, column))
                writer.writerow([row, column, cell.mean_mbb, cell.ci95_mbb, cell.count, paper])
                if paper is not None:
                    ours = round(cell.mean_mbb, 1), round(cell.ci95_mbb, 1)
                    rows.append([f"{row} from {column}", ours, paper])
                    print(
                        f"Zinkevich 2007, table 1: {row} wins {cell.mean_mbb:+.1f} ± {cell.ci95_mbb:.1f} mb/h from "
                        f"{column} in {cell.count:,} pairs (paper {paper:+d} ± 2)"
                    )
    if arguments.save:
        save(
            "zinkevich_2007_table_1",
            "Table 1: what the first wins from the second in the full game, mb/h, "
            f"{arguments.hands:,} pairs of hands each",
            ["match", "ours", "paper, ± 2"],
            rows,
            seeds=1,
        )


if __name__ == "__main__":
    main()
