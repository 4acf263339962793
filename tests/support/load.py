"""Runs a command with a busy loop on every core and two besides: `python load.py [--loops N] -- COMMAND ...`."""

import argparse
import os
import subprocess
import sys


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", type=int, default=(os.cpu_count() or 1) + 2)
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(given.loops)]
    try:
        return subprocess.run(given.command, check=False).returncode
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


if __name__ == "__main__":
    sys.exit(main())
