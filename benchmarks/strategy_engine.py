"""Hands a second of the compiled engine, strategy against strategy.

python benchmarks/strategy_engine.py FOLDER-A FOLDER-B [HANDS] [THREADS]
"""

import sys
import time
from pathlib import Path

from foldwise.agent.strategy_player import OpenStrategy
from foldwise.matches.engine.compiled_match import play_values
from foldwise.postprocess.language import parse_pipeline


def main() -> None:
    first, second = (OpenStrategy(Path(folder)) for folder in sys.argv[1:3])
    hands = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
    threads = int(sys.argv[4]) if len(sys.argv) > 4 else 2
    players = first.player(parse_pipeline("new(0.2)"), 1), second.player(parse_pipeline("none"), 2)
    play_values(first.definition, players, 1, 1000, threads)  # compiles and maps
    start, cpu = time.perf_counter(), time.process_time()
    values = play_values(first.definition, players, 1, hands, threads)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(
        f"{hands} hands on {threads} threads: {seconds:.1f} s, {hands / seconds:,.0f} hands/s, "
        f"{cpu:.1f} CPU-s, {hands / cpu:,.0f} hands per CPU-s; the first won {values[:, 0].mean():+.1f} chips a hand"
    )


if __name__ == "__main__":
    main()
