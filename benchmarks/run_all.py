"""The timings that justify choices, one after the other: `make bench`. About ten minutes on two quiet cores.

Not here, because they need a solved strategy or much longer: strategy_engine.py, decision_time.py, wild_hands.py,
card_abstraction.py, rules_oracles.py and the reproductions in papers/.
"""

import subprocess
import sys
from pathlib import Path

SCRIPTS = (
    "evaluator.py",
    "hand_index.py",
    "hand_strength.py",
    "sampling.py",
    "leduc_race.py",
    "subgame.py",
    "hands_per_second.py",
    "papers/uniform_profiles.py",
)


def main() -> int:
    folder = Path(__file__).resolve().parent
    failed = []
    for script in SCRIPTS:
        print(f"\n== benchmarks/{script}", flush=True)
        if subprocess.run([sys.executable, str(folder / script)], check=False).returncode:
            failed.append(script)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
