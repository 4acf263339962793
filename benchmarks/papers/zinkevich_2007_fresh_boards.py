"""Limit strategies solved on a sample of boards, measured by a best response on other boards.

With `joint_boards` set to a part of the 134,459 suit-distinct boards, exploitability is measured on the same part. Here
it is measured again on boards that were not in it.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from foldwise.abstraction.build import load_abstract_game
from foldwise.abstraction.deals.holdem_deals import CardSource
from foldwise.abstraction.deals.sequence_counting import count_sequences, sampled_rows, sequence_tables
from foldwise.abstraction.deals.sequence_matrices import NUM_BOARDS, SequenceMatrices
from foldwise.abstraction.strategy import Strategy
from foldwise.solver.response.best_response import ExactResponse


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="strategy folders of such configs")
    parser.add_argument("--boards", type=int, help="fresh boards; default: as many as were solved on")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for folder in arguments.folders:
        strategy = Strategy(folder)
        game = load_abstract_game(strategy)
        policy = strategy.policy(game)
        seen = ExactResponse(game).exploitability(policy)
        source = game.deals
        assert isinstance(source, CardSource) and game.cards is not None
        solved_on = sampled_rows(source.joint_boards)
        unseen = np.setdiff1d(np.arange(NUM_BOARDS), solved_on)
        if len(unseen) == 0:
            raise SystemExit(f"{folder} was solved on all boards: there are no others to measure it on")
        count = min(arguments.boards or len(solved_on), len(unseen))
        rows = np.sort(np.random.default_rng(arguments.seed).choice(unseen, count, replace=False))
        packed = count_sequences(sequence_tables(game.cards), rows, game.cards.num_buckets[3])
        others = replace(source)
        vars(others)["matrices"] = SequenceMatrices(packed, game.cards.num_buckets, count)  # in place of those cached
        elsewhere = replace(game, deals=others)
        fresh = ExactResponse(elsewhere).exploitability(policy)
        print(
            f"{folder.name}: {seen.exploitability_mbb:.3g} mb/h on the {len(solved_on):,} boards it was solved on, "
            f"{fresh.exploitability_mbb:.3g} on {count:,} others",
            flush=True,
        )


if __name__ == "__main__":
    main()
