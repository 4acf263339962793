"""Leduc (936 infosets) and Bluff(1,1) after one CPU-second: our full-width schedules, external and public chance sampling
beside OpenSpiel's CFR+ and ES on the same games.

python benchmarks/leduc_race.py [--seconds S] [--openspiel-seconds S] [--save]

Exploitability is NashConv / 2 in antes, or rounds of Bluff (OpenSpiel's liar's dice); its computation, compilation and
the making of solvers are not timed. Ten seconds for OpenSpiel beside one of ours tell whether ours is as good in a
tenth of the time.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from math import inf

import numpy as np
import pyspiel
from papers.record import add_save, save, significant
from sampling import Bench, poker_game

from foldwise.abstraction.abstract_game import AbstractGame, JointSource, make_abstract_game
from foldwise.abstraction.deals.joint_deals import enumerate_bluff
from foldwise.game.trees.bluff import Bluff
from foldwise.solver.config import SolverConfig
from foldwise.solver.full_width.vector_game import make_vector_frames, make_vector_game
from foldwise.solver.full_width.vector_kernels import walk_full_width
from foldwise.solver.regret_kernels import normalise_sums
from foldwise.solver.response.best_response import ExactResponse
from foldwise.solver.sampling.public_chance import PublicChance

Row = tuple[str, int, float, float]  # solver, iterations, CPU-seconds, exploitability


def cfr_plus(t: int) -> tuple[float, float, float, float, float]:
    """Tammelin et al. (IJCAI 2015): regrets floored at 0, iteration t weighs t."""
    return 1.0, 1.0, 1.0, float(t), 0.0


def dcfr(t: int) -> tuple[float, float, float, float, float]:
    """Brown and Sandholm (AAAI 2019), exponents 3/2, 0, 2."""
    last = float(t - 1)
    return last**1.5 / (last**1.5 + 1.0), 0.5, (last / t) ** 2, 1.0, -inf


def run_for(seconds: float, step: Callable[[], object]) -> int:
    """Call `step` until the CPU time is used up."""
    end = time.process_time() + seconds
    count = 0
    while time.process_time() < end:
        step()
        count += 1
    return count


def exploitability(game: AbstractGame, table: np.ndarray) -> float:
    policy = np.empty(game.num_entries)
    normalise_sums(game.tree.nodes, game.deals.num_buckets, table, policy)
    return ExactResponse(game).exploitability(policy).exploitability_mbb * game.unit_chips / 1000.0


def report(name: str, count: int, seconds: float, result: float) -> Row:
    print(f"  {name:<20}{count:>10,} iterations in {seconds:g} s   exploitability {result:.7f}", flush=True)
    return name, count, seconds, significant(result, 2)


def race_ours(game: AbstractGame, seconds: float) -> Iterator[Row]:
    vector_game, frames = make_vector_game(game), make_vector_frames(game)
    for name, schedule in (("foldwise cfr+", cfr_plus), ("foldwise dcfr", dcfr)):
        table, t = np.zeros(2 * game.num_entries), 0

        def iterate(table: np.ndarray = table, schedule: Callable[..., tuple[float, ...]] = schedule) -> None:
            nonlocal t
            t += 1
            for player in range(2):
                walk_full_width(vector_game, table, player, *schedule(t), frames)

        iterate()  # compiles; the iteration counts
        yield report(name, run_for(seconds, iterate), seconds, exploitability(game, table))
    bench = Bench(game, 1)
    bench.run("external", 2, 1)
    count = 500 * run_for(seconds, lambda: bench.run("external", 1000, 1))
    yield report("foldwise external", count, seconds, exploitability(game, bench.table))
    public = PublicChance(game, SolverConfig(sampler="pcs"))
    public.advance(1)
    count = 2 * run_for(seconds, lambda: public.advance(2))
    yield report("foldwise pcs", count, seconds, exploitability(game, public.table))


def _sampled_result(spiel: "pyspiel.Game", sampler: "pyspiel.ExternalSamplingMCCFRSolver") -> float:
    """By state: infosets that were never visited have no entry by name, and count as uniform."""
    return float(pyspiel.nash_conv(spiel, sampler.average_policy(), True)) / 2.0


def race_theirs(name: str, seconds: float) -> Iterator[Row]:
    spiel = pyspiel.load_game(name)
    plus = pyspiel.CFRPlusSolver(spiel)
    count = run_for(seconds, plus.evaluate_and_update_policy)
    yield report("OpenSpiel cfr+", count, seconds, pyspiel.nash_conv(spiel, plus.average_policy()) / 2.0)
    sampler = pyspiel.ExternalSamplingMCCFRSolver(spiel, seed=1, avg_type=pyspiel.MCCFRAverageType.SIMPLE)
    count = run_for(seconds, sampler.run_iteration)
    yield report("OpenSpiel external", count, seconds, _sampled_result(spiel, sampler))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--openspiel-seconds", type=float, default=None, help="by default as ours")
    add_save(parser)
    arguments = parser.parse_args()
    bluff = Bluff((1, 1))
    dice = make_abstract_game(
        "bluff-1-1", bluff.build_tree(), JointSource(enumerate_bluff(bluff, bluff.round_values)), 1
    )
    for game, theirs in ((poker_game("leduc"), "leduc_poker"), (dice, "liars_dice")):
        print(f"{game.name}")
        rows = [*race_ours(game, arguments.seconds)]
        rows += race_theirs(theirs, arguments.openspiel_seconds or arguments.seconds)
        if arguments.save:
            save(
                f"speed_race_{game.name}",
                f"{game.name}, {game.num_infosets:,} infosets on both sides, exploitability (NashConv / 2) in "
                f"{'antes' if game.name == 'leduc' else 'rounds'}, one core",
                ["solver", "iterations", "CPU-seconds", "exploitability"],
                rows,
                seeds=1,
            )


if __name__ == "__main__":
    main()
