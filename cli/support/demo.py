"""`make demo`: the main job end to end, with the commands a user would type."""

import shlex
import shutil
import sys
import time
from pathlib import Path

from foldwise.cli.main import main

_RUNS = Path("runs/demo")
_STEPS = (
    ("The games", ["games"]),
    (
        "Cards: exact hand strength, then 60 buckets a street by expected hand strength squared",
        ["abstract", "hunl-small", "-o", "{runs}/cards", "--png", "{runs}/preflop-buckets.png"],
    ),
    (
        "Solve heads-up no-limit hold'em by external sampling, on two threads",
        ["solve", "hunl-small", "-o", "{runs}/strategy", "--seconds", "60"],
    ),
    (
        "A second, coarser strategy as an opponent",
        ["solve", "hunl-tiny", "-o", "{runs}/opponent", "--seconds", "10"],
    ),
    (
        "What it does with a pair of queens before the flop",
        ["inspect", "{runs}/strategy", "--betting", "r300", "--hand", "QhQs", "--png", "{runs}/preflop.png"],
    ),
    (
        "A duplicate match over a real TCP dealer",
        ["match", "strategy:{runs}/strategy", "bot:strength", "--over", "tcp", "--hands", "500", "-o", "{runs}/match"],
    ),
    ("The match as one HTML page, with a hand replayer", ["report", "{runs}/match", "--explain"]),
    (
        "Four ways of post-processing against two opponents, on the same deals",
        [
            "compare",
            "{runs}/strategy",
            "--variants",
            "none,threshold(0.15),purify,new(0.2)",
            "--opponents",
            "bot:strength",
            "strategy:{runs}/opponent",
            "--hands",
            "50000",
            "-o",
            "{runs}/compare",
        ],
    ),
)


def run() -> int:
    """Every step, each with its command line; the first failure ends the demo."""
    start = time.monotonic()
    shutil.rmtree(_RUNS, ignore_errors=True)  # left by an earlier demo
    for number, (title, words) in enumerate(_STEPS, start=1):
        arguments = [word.format(runs=_RUNS) for word in words]
        print(f"\n[{number}/{len(_STEPS)}] {title}\n$ foldwise {shlex.join(arguments)}", flush=True)
        code = main(arguments)
        if code:
            return code
    print(f"\nDone in {time.monotonic() - start:.0f} s. Pictures and logs are in {_RUNS}.")
    print(f"Play against it in the browser: foldwise serve {_RUNS}/strategy")
    return 0


if __name__ == "__main__":
    sys.exit(run())
