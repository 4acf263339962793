"""Johanson et al. (AAMAS 2012), two-round limit hold'em: PCS, OPCS, SPCS and CS by time, exact exploitability.

python benchmarks/papers/johanson_2012_two_round.py [--games two-limit-1 two-limit-4] [--seconds S] [--full] [-o DIR]

Each curve is one thread's CPU time. The paper: PCS's first point is already below CS's last, and its slope is steeper.
two-limit-1 takes 0.7 GB, two-limit-4 5 GB. Quick: two-limit-1, 40 CPU-seconds a curve; full: both, 600.
"""

from curves import CONFIGS
from timed import Measure, race, timed_budgets, timed_parser

from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.solver.config import RunConfig
from foldwise.solver.response.two_round_response import TwoRoundResponse

SAMPLERS = ("pcs", "opcs", "spcs", "chance")


def _exploitability(response: TwoRoundResponse) -> Measure:
    return lambda policy: response.exploitability(policy).exploitability_mbb


def main() -> None:
    parser = timed_parser(__doc__, points=4)
    parser.add_argument("--games", nargs="*", default=None)
    parser.add_argument("--samplers", nargs="*", default=list(SAMPLERS))
    arguments = parser.parse_args()
    budgets = timed_budgets(arguments, quick=40.0, full=600.0)
    for name in arguments.games or (["two-limit-1", "two-limit-4"] if arguments.full else ["two-limit-1"]):
        game = build_abstract_game(read_config(CONFIGS / f"{name}.toml", RunConfig, {}))
        race(game, name, arguments.samplers, budgets, _exploitability(TwoRoundResponse(game)), "mb/g", arguments)


if __name__ == "__main__":
    main()
