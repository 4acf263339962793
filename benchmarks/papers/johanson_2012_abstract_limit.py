"""Johanson et al. (AAMAS 2012), abstract limit hold'em: PCS against CS by time as the abstraction grows.

python benchmarks/papers/johanson_2012_abstract_limit.py [--configs limit-5 limit-6 limit-8] [--seconds S] [-o DIR]

Each curve is one thread's CPU time; exploitability is that of a best response in the abstract game. The paper: PCS
overtakes CS as buckets grow. A game without an exact best response is left out, with the reason. Quick: limit-5, 60
CPU-seconds a curve; full: all three, 1,200.
"""

from curves import CONFIGS
from timed import Measure, race, timed_budgets, timed_parser

from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.solver.config import RunConfig
from foldwise.solver.response.responses import Response, has_response, make_response


def _exploitability(response: Response) -> Measure:
    return lambda policy: response.exploitability(policy).exploitability_mbb


def main() -> None:
    parser = timed_parser(__doc__, points=4)
    parser.add_argument("--configs", nargs="*", default=None)
    arguments = parser.parse_args()
    budgets = timed_budgets(arguments, quick=60.0, full=1200.0)
    for name in arguments.configs or (["limit-5", "limit-6", "limit-8"] if arguments.full else ["limit-5"]):
        game = build_abstract_game(read_config(CONFIGS / f"{name}.toml", RunConfig, {}))
        if not has_response(game):
            print(f"{name}: left out, its deals are sampled and no exact best response is known for them")
            continue
        race(game, name, ("pcs", "chance"), budgets, _exploitability(make_response(game)), "mb/h", arguments)


if __name__ == "__main__":
    main()
