"""Time of one decision of a strategy, from a state to an action: p50, p99 and the longest, after warm-up.

python benchmarks/decision_time.py STRATEGY-FOLDER [DECISIONS]
"""

import sys
import time
from pathlib import Path

import numpy as np

from foldwise.agent.bots import Bot
from foldwise.agent.strategy_player import OpenStrategy
from foldwise.game.hands.dealing import Shoe
from foldwise.matches.table.hand import Hand
from foldwise.postprocess.language import parse_pipeline


def main() -> None:
    folder = Path(sys.argv[1])
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 50_000
    start = time.perf_counter()
    player = OpenStrategy(folder).player(parse_pipeline("new(0.2)"), 1)
    player.warm_up()
    print(
        f"opened and warmed up in {time.perf_counter() - start:.2f} s; "
        f"{time.process_time():.2f} s of CPU since the interpreter began, imports included"
    )
    opponent = Bot("random", 2)
    took: list[float] = []
    for number, deal in enumerate(Shoe(player.definition, 5).deals()):
        hand = Hand(player.definition, deal, number)
        while not hand.betting.finished:
            position = hand.betting.player_to_act
            state = hand.state(position)
            if position == number % 2:
                start = time.perf_counter()
                action = player.choose(state)
                took.append(time.perf_counter() - start)
            else:
                action = opponent.choose(state)
            hand.apply(action)
        if len(took) >= wanted:
            break
    times = 1e6 * np.array(took)
    p50, p99, longest = np.percentile(times, 50), np.percentile(times, 99), times.max()
    print(
        f"{len(times)} decisions: p50 {p50:.0f} us, p99 {p99:.0f} us, longest {longest:.0f} us, first {times[0]:.0f} us"
    )


if __name__ == "__main__":
    main()
