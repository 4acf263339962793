"""`make soak`: matches and comparisons whose parts are killed and cut off by a seeded plan, for an hour.

Round after round: a match over TCP whose process is killed and resumed until it is through, and a comparison split over
two workers while workers, coordinator and broker are killed and started again. Every result must be, to the last bit,
that of an undisturbed run; every folder must pass `foldwise verify`; no process and no listening port may be left
behind; broker and workers must not grow. Ends with one JSON object; exit code 1 if anything was lost.
"""

import argparse
import contextlib
import json
import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from foldwise.cli.support.local_broker import LocalBroker

TOKEN = f"FOLDWISE_SOAK={secrets.token_hex(8)}"
GONE_SECONDS = 120.0  # for the children of a killed process to notice and exit
LATEST_SECONDS = 900.0  # for one round's match or comparison: beyond it something hangs
HANDS = 3000


def foldwise(*words: object) -> list[str]:
    return [sys.executable, "-m", "foldwise.cli.main", *map(str, words)]


def environment() -> dict[str, str]:
    name, value = TOKEN.split("=")
    return {**os.environ, name: value}


class Part:
    """A process of ours that can be killed and started again."""

    def __init__(self, folder: Path, name: str, command: list[str]):
        self._log = folder / f"{name}.log"
        self._command = command
        self.name = name
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment()
            )

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    @property
    def life(self) -> tuple[str, int]:
        """Identifies the current process of the part; it changes with each start."""
        return self.name, self.process.pid


def our_processes() -> dict[int, str]:
    """All processes that were started here, whatever their parent is now."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if TOKEN.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")[:120]
            except OSError:
                continue
    return found


class Soak:
    """The plan: the seed decides what is killed and when, but not how far the victim had got."""

    def __init__(self, folder: Path, seed: int):
        self._folder = folder
        self._draw = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []

    def check(self, right: bool, problem: str) -> None:
        if not right:
            self.problems.append(problem)
            print(f"soak: {problem}", file=sys.stderr, flush=True)

    def disturb_until_done(self, name: str, first: list[str], again: list[str], others: list[Part], mean: float) -> str:
        """Run a command to its end, killing it and the others now and then; what it printed."""
        deadline = time.monotonic() + LATEST_SECONDS
        command = first
        while time.monotonic() < deadline:
            with subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
            ) as process:
                try:
                    out, err = process.communicate(timeout=self._draw.expovariate(1.0 / mean))
                except subprocess.TimeoutExpired:
                    victim = self._draw.choice([None, *others])
                    if victim is None:
                        process.kill()
                        process.communicate()
                        self.counts[f"{name} killed"] += 1
                        command = again
                        continue
                    victim.kill()
                    victim.start()
                    self.counts[f"{victim.name} killed"] += 1
                    out, err = process.communicate(timeout=LATEST_SECONDS)
            if process.returncode == 0:
                return out.decode()
            if b"no comparison to resume" in err or b"holds no match" in err:
                command = first  # killed before it had begun
            elif b"--resume" not in err:
                self.check(False, f"{name} ended with {process.returncode}: {err.decode(errors='replace')[-300:]}")
                return ""
            else:
                command = again
        self.check(False, f"{name} was not done after {LATEST_SECONDS:g} s")
        return ""

    def verify(self, folder: Path) -> None:
        done = subprocess.run(
            foldwise("verify", folder), capture_output=True, text=True, check=False, env=environment()
        )
        self.check(done.returncode == 0, f"verify {folder.name}: {done.stdout[-300:]}{done.stderr[-300:]}")


class BrokerPart(Part):
    """The broker as a part: it restarts on the same port."""

    def __init__(self, broker: LocalBroker):
        self._broker = broker
        self.name = "broker"

    def start(self) -> None:
        self._broker.start()

    def kill(self) -> None:
        self._broker.kill()

    @property
    def life(self) -> tuple[str, int]:
        return self.name, self._broker.process


class Memory:
    """Memory of each process, round by round; a killed one starts a new series."""

    def __init__(self) -> None:
        self._lives: dict[tuple[str, int], list[int]] = {}

    def look(self, parts: list[Part]) -> None:
        for part in parts:
            with contextlib.suppress(OSError):  # killed a moment ago
                status = Path(f"/proc/{part.life[1]}/status").read_text().split()
                self._lives.setdefault(part.life, []).append(int(status[status.index("VmRSS:") + 1]))

    def longest(self) -> dict[str, list[int]]:
        """For every part its longest life: KB after each round."""
        ordered = sorted(self._lives.items(), key=lambda life: len(life[1]))
        return {name: seen for (name, _), seen in ordered}

    def growing(self) -> dict[str, list[int]]:
        """Lives that grew by a tenth and five megabytes after their first rounds, in which caches fill."""
        return {name: kb for (name, _), kb in self._lives.items() if len(kb) > 3 and kb[-1] > 1.1 * kb[2] + 5_000}


def run(seconds: float, seed: int, folder: Path) -> dict[str, object]:
    os.environ.update(environment())
    soak = Soak(folder, seed)
    strategy = folder / "strategies" / "leduc"
    solve = foldwise("solve", "configs/leduc.toml", "-o", strategy, "--iterations", 20000)
    subprocess.run(solve, check=True, capture_output=True)
    match = ("match", f"strategy:{strategy}", "bot:strength", "--game", "leduc", "--hands", HANDS, "--seed", seed)
    compare = ("compare", strategy, "--variants", "none,purify", "--opponents", "bot:strength", "bot:random")
    compare = (*compare, "--hands", 20 * HANDS, "--seed", seed, "--no-exploitability", "--json")
    whole = folder / "whole"
    began = time.monotonic()
    subprocess.run(foldwise(*match, "--over", "tcp", "-o", whole), check=True, capture_output=True)
    match_seconds = time.monotonic() - began  # kill about once in this time, so that any machine makes progress
    expected_logs = {path.name: _states(path) for path in whole.glob("*.log")}
    began = time.monotonic()
    expected = json.loads(subprocess.run(foldwise(*compare), check=True, capture_output=True).stdout)
    compare_seconds = time.monotonic() - began
    broker = LocalBroker(folder)
    broker.start()
    parts: list[Part] = [BrokerPart(broker)]
    offer = ("worker", "--broker", broker.url, "--strategies", strategy.parent, "--threads", 1, "--patience", 3600)
    workers = [Part(folder, name, foldwise(*offer, "--name", name)) for name in ("north", "south")]
    parts += workers
    start, rounds, memory = time.monotonic(), 0, Memory()
    try:
        while time.monotonic() - start < seconds:
            played, split = folder / f"match-{rounds}", folder / f"compare-{rounds}"
            soak.disturb_until_done(
                "match",
                foldwise(*match, "--over", "tcp", "-o", played),
                foldwise(*match, "--over", "tcp", "-o", played, "--resume"),
                [],
                match_seconds,
            )
            soak.verify(played)
            logs = {path.name: _states(path) for path in played.glob("*.log")}
            soak.check(logs == expected_logs, f"the logs of {played.name} are not those of an undisturbed match")
            at_broker = (*compare, "--broker", broker.url, "-o", split, "--patience", 600)
            printed = soak.disturb_until_done(
                "coordinator", foldwise(*at_broker), foldwise(*at_broker, "--resume"), parts, compare_seconds
            )
            soak.verify(split)
            if printed:
                found = json.loads(printed)
                soak.check(_cells(found) == _cells(expected), f"{split.name} is not the undisturbed comparison")
            memory.look(parts)
            for done in (played, split):
                shutil.rmtree(done, ignore_errors=True)
            rounds += 1
            print(
                f"soak: round {rounds}, {time.monotonic() - start:.0f} s, {dict(soak.counts)}",
                file=sys.stderr,
                flush=True,
            )
    finally:
        for part in parts[1:]:
            part.kill()
        broker.stop()
    deadline = time.monotonic() + GONE_SECONDS
    while (left := our_processes()) and time.monotonic() < deadline:
        time.sleep(0.2)  # orphans cannot be waited for
    soak.check(not left, f"left running: {left}")
    soak.check(not memory.growing(), f"memory is not flat: {memory.growing()} KB")
    hands = rounds * (2 * HANDS + 4 * 2 * 20 * HANDS)
    return {
        "seconds": round(time.monotonic() - start, 1), "rounds": rounds, "hands": hands, "seed": seed,
        "broker": broker.name, **soak.counts, "kb_by_round": memory.longest(), "left_behind": len(left),
        "problems": soak.problems,
    }  # fmt: skip


def _states(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="latin-1").splitlines() if line.startswith(("STATE", "SCORE"))]


def _cells(result: dict[str, list[dict[str, list[dict[str, float]]]]]) -> list[tuple[float, float, float]]:
    return [(c["mean_mbb"], c["ci95_mbb"], c["hands"]) for row in result["rows"] for c in row["results"]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foldwise-soak-") as folder:
        result = run(given.seconds, given.seed, Path(folder))
    print(json.dumps(result))
    return 1 if result["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
