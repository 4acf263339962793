"""What others win from a searching player: local best response, or a best response from the turn on.

python benchmarks/search_responses.py lbr STRATEGY [--from turn|preflop] [--hands N] [--variants none "search(fast)"] [--save]
python benchmarks/search_responses.py exact STRATEGY [--boards N] [--variants none "search(fast, gadget=unsafe)"] [--save]

The second needs a strategy with few paths to the turn, as hunl-20bb, and searches with the bet sizes of its tree. All
variants meet the same deals; local best response is compared deal by deal with the first variant.
"""

import argparse
import time
from pathlib import Path

from papers.record import Cell, add_save, save
from search_roots import made_by

from foldwise.agent.mappings.translation import DEFAULT_TRANSLATION
from foldwise.agent.strategy_player import OpenStrategy
from foldwise.game.arrays import Float
from foldwise.matches.scoring.lbr_run import run_lbr
from foldwise.matches.scoring.local_best_response import LbrSettings
from foldwise.matches.scoring.turn_exploitability import TurnResponse
from foldwise.matches.scoring.vector_response import VectorResponse
from foldwise.matches.statistics import estimate
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.agents import make_agent
from foldwise.search.language import parse_steps

STREETS = {"preflop": 0, "turn": 2}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measure", choices=["lbr", "exact"])
    parser.add_argument("strategy", type=Path)
    parser.add_argument("--variants", nargs="+", default=["none", "search(fast)"])
    parser.add_argument("--from", dest="street", choices=list(STREETS), default="turn")
    parser.add_argument("--hands", type=int, default=100, help="deals, each from both positions")
    parser.add_argument("--boards", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", help="name of the record that --save writes")
    add_save(parser)
    arguments = parser.parse_args()
    opened = OpenStrategy(arguments.strategy)
    rows: list[list[Cell]] = []
    by_deal: list[Float] = []
    for text in arguments.variants:
        start = time.process_time()
        steps = parse_steps(text)
        if arguments.measure == "lbr":
            agent = make_agent(opened, steps, arguments.seed, DEFAULT_TRANSLATION)
            settings = LbrSettings("fcpa", STREETS[arguments.street], 1000, arguments.seed)
            response = VectorResponse(agent, opened.definition, settings)
            run = run_lbr(response, arguments.hands, arguments.seed, 2)
            found = run.total
            by_deal.append(run.deals)
            less = estimate(by_deal[0] - run.deals, opened.definition.big_blind)
        else:
            table = opened.player(Pipeline(), arguments.seed)
            bets = opened.strategy.abstraction_config().bets
            agent = make_agent(
                opened, steps, arguments.seed, DEFAULT_TRANSLATION, None if bets is None else bets.menu()
            )
            found = TurnResponse(table, agent).run(arguments.boards, arguments.seed, lambda *_: None).total
        rows.append([text, (round(found.mean_mbb), round(found.ci95_mbb)), round(time.process_time() - start)])
        if arguments.measure == "lbr":
            rows[-1].insert(2, (round(less.mean_mbb), round(less.ci95_mbb)))
        print(*rows[-1], flush=True)
    if arguments.save and arguments.measure == "lbr":
        title = f"Local best response, fcpa from the {arguments.street}, {arguments.hands} deals from both positions"
        title = title.replace("the preflop", "preflop")
        columns = ["player", "mbb/h", "less than the first", "CPU-s"]
        save(arguments.record or f"search_lbr_{arguments.street}", f"{title}; {made_by(opened)}", columns, rows, 1)
    elif arguments.save:
        title = f"A best response from the turn on with real cards: {arguments.boards} boards, all paths and rivers"
        save(arguments.record or "search_exact", f"{title}; {made_by(opened)}", ["player", "mbb/h", "CPU-s"], rows, 1)


if __name__ == "__main__":
    main()
