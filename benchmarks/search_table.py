"""Decision times of a searching player at a dealer: `python benchmarks/search_table.py STRATEGY [--mode fast] [--save]`.

A dealer, the player (`foldwise play STRATEGY --search MODE`) and its opponent are processes of their own; the time of a
decision is what the opponent sees, from the state that asks for it to the state that follows. The opponent plays the same
tables without search, or with `--wild` min-raises, all-ins and odd sizes. Late and failed answers are counted, and the
player's memory is looked at on the way.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from papers.record import Cell, add_save, save
from search_roots import made_by
from wild_hands import EdgeRaiser

from foldwise.agent.bots import Bot
from foldwise.agent.clients.client import play_match
from foldwise.agent.player import Player
from foldwise.agent.strategy_player import OpenStrategy
from foldwise.game.betting import Action
from foldwise.game.text.match_state import MatchState
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.player import root_of_street

STREETS = ("preflop", "flop", "turn", "river")
POTS = (400, 1600, 6000)  # chips; a street's pots are put in classes up to each, and beyond


class Timer:
    """Plays as other players do, one a hand in turn, and times the answers from across the table."""

    def __init__(self, players: list[Player], pid: int, num_hands: int):
        self._players = players
        self._pid = pid
        self._num_hands = num_hands
        self._asked: tuple[float, int, int] | None = None
        self.times: list[tuple[int, int, float]] = []  # street, pot when it began, seconds
        self.megabytes: dict[int, float] = {}  # by hand number

    def choose(self, state: MatchState) -> Action:
        return self._players[state.hand_number % len(self._players)].choose(state)

    def observe(self, state: MatchState) -> None:
        now = time.monotonic()
        if self._asked is not None:
            asked, street, pot = self._asked
            self.times.append((street, pot, now - asked))
            self._asked = None
        betting = state.betting
        if betting.finished:
            if state.hand_number % 100 == 99:
                self.megabytes[state.hand_number + 1] = resident_megabytes(self._pid)
                print(f"{state.hand_number + 1} of {self._num_hands} hands", file=sys.stderr, flush=True)
        elif not state.is_turn():
            self._asked = (now, betting.round, sum(root_of_street(betting, betting.round).spent))


def start(folder: str, *words: str) -> "subprocess.Popen[str]":
    """A command of foldwise's in a process of its own."""
    command = [sys.executable, "-P", "-m", "foldwise.cli.main", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)


def resident_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


def row_of(name: str, pots: str, seconds: list[float]) -> list[Cell]:
    p50, p99 = np.percentile(seconds, [50, 99])
    return [name, pots, len(seconds), round(float(p50), 2), round(float(p99), 2), round(max(seconds), 2)]


def table_of(times: list[tuple[int, int, float]]) -> list[list[Cell]]:
    """Of the searched streets, by street and pot."""
    rows: list[list[Cell]] = []
    for street in (2, 3):
        for low, high in zip((0, *POTS), (*POTS, 1_000_000)):
            found = [seconds for at, pot, seconds in times if at == street and low < pot <= high]
            if found:
                rows.append(
                    row_of(STREETS[street], f"{low + 1:,} to {high:,}" if high < 1e6 else f"over {low:,}", found)
                )
    both = [seconds for at, _, seconds in times if at >= 2]
    return [*rows, row_of("both", "all", both)] if both else rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strategy", type=Path)
    parser.add_argument("--mode", default="fast", help="fast, normal or deep")
    parser.add_argument("--wild", action="store_true", help="against min-raises, all-ins and odd sizes")
    parser.add_argument("--hands", type=int, default=1000)
    parser.add_argument(
        "--deadline", type=float, default=7.0, help="seconds after which the player answers without search"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, help="where to keep the match's log, for foldwise score")
    add_save(parser)
    arguments = parser.parse_args()
    opened = OpenStrategy(arguments.strategy)
    opponents: list[Player] = [opened.player(Pipeline(), arguments.seed)]
    if arguments.wild:
        opponents = [EdgeRaiser(arguments.seed), Bot("random", arguments.seed), Bot("raise", arguments.seed)]
    with TemporaryDirectory() as folder:
        match = ["timed", opened.strategy.manifest.game, str(arguments.hands), str(arguments.seed)]
        dealer = start(folder, "dealer", *match, "searching", "opponent", "-q")
        assert dealer.stdout is not None
        ports = dealer.stdout.readline().split()
        seat = [str(arguments.strategy.resolve()), "127.0.0.1", ports[0]]
        limits = ["--search", arguments.mode, "--deadline", str(arguments.deadline)]
        playing = start(folder, "play", *seat, *limits, "--json")
        timer = Timer(opponents, playing.pid, arguments.hands)
        play_match(timer, opened.definition, "127.0.0.1", int(ports[1]), 600.0)
        print(dealer.communicate()[0].strip())
        answered = json.loads(playing.communicate()[0])
        log = (Path(folder) / "timed.log").read_text(encoding="ascii")
        if arguments.output is not None:
            arguments.output.write_text(log, encoding="ascii")
    rows = table_of(timer.times)
    for row in rows:
        print(*row, sep="\t")
    hands = [line for line in log.splitlines() if line.startswith("STATE")]
    by_hand = sum(seconds for _, _, seconds in timer.times) / len(hands)
    print(f"{len(hands)} hands, {by_hand:.2f} s a hand; {answered}")
    print(f"memory, MB by hands: {', '.join(f'{hand}: {size:.0f}' for hand, size in timer.megabytes.items())}")
    if arguments.save:
        opponent = "wild raisers" if arguments.wild else "its own tables"
        save(
            f"search_times_{arguments.mode}{'_wild' if arguments.wild else ''}",
            f"Decision times in `{arguments.mode}` at a dealer, {len(hands):,} hands against {opponent}, "
            f"{by_hand:.2f} s a hand; late {answered['late']}, failed {answered['errors']}, "
            f"left to the table {answered['search']['fallbacks']}; {made_by(opened)}",
            ["street", "pot, chips", "decisions", "p50, s", "p99, s", "longest, s"],
            rows,
            seeds=1,
        )


if __name__ == "__main__":
    main()
