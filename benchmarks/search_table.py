"""Decision times of a searching player at a dealer.

    python benchmarks/search_table.py STRATEGY [--variant "search(fast, flop=fast)"] [--save]

A dealer, the player (`foldwise play STRATEGY --postprocess VARIANT`) and its opponent are processes of their own. The time
of a decision is what the opponent sees, from the state that asks for it to the state that follows; beside it stands what
the player had of the processors in between. The opponent plays the same tables without search, or with `--wild` min-raises,
all-ins and odd sizes. Late and failed answers are counted, and the player's memory is looked at on the way.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from papers.record import Cell, add_save, save
from search_roots import made_by
from wild_hands import EdgeRaiser

from foldwise.abstraction.named_strategy import find_strategy
from foldwise.agent.bots import Bot
from foldwise.agent.clients.client import play_match
from foldwise.agent.player import Player
from foldwise.agent.strategy_player import OpenStrategy
from foldwise.game.betting import Action
from foldwise.game.text.match_state import MatchState
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.language import parse_steps
from foldwise.search.player import root_of_street

STREETS = ("preflop", "flop", "turn", "river")
POTS = (400, 1600, 6000)  # chips; a street's pots are put in classes up to each, and beyond


class Timed(NamedTuple):
    """How long a decision took."""

    street: int
    pot: int  # when the street began
    seconds: float
    cpu_seconds: float


class Timer:
    """Plays as other players do, one a hand in turn, and times the answers from across the table."""

    def __init__(self, players: list[Player], pid: int, num_hands: int):
        self._players = players
        self._pid = pid
        self._num_hands = num_hands
        self._asked: tuple[float, float, int, int] | None = None
        self._first_spent = self._last_spent = 0.0
        self.times: list[Timed] = []
        self.megabytes: dict[int, float] = {}  # by hand number

    def spent(self) -> float:
        """CPU-seconds of the player since the match began; 0 before its second state."""
        return self._last_spent - self._first_spent

    def choose(self, state: MatchState) -> Action:
        return self._players[state.hand_number % len(self._players)].choose(state)

    def observe(self, state: MatchState) -> None:
        now = time.monotonic()
        self._last_spent = processor_seconds(self._pid)
        if self._first_spent == 0.0:
            self._first_spent = self._last_spent
        if self._asked is not None:
            asked, spent, street, pot = self._asked
            self.times.append(Timed(street, pot, now - asked, processor_seconds(self._pid) - spent))
            self._asked = None
        betting = state.betting
        if betting.finished:
            if (
                state.hand_number % 50 == 49 and state.hand_number + 1 < self._num_hands
            ):  # after the last it may be gone
                self.megabytes[state.hand_number + 1] = resident_megabytes(self._pid)
                print(f"{state.hand_number + 1} of {self._num_hands} hands", file=sys.stderr, flush=True)
        elif not state.is_turn():
            pot = sum(root_of_street(betting, betting.round).spent)
            self._asked = (now, processor_seconds(self._pid), betting.round, pot)


def start(folder: str, *words: str) -> "subprocess.Popen[str]":
    """A command of foldwise's in a process of its own."""
    command = [sys.executable, "-P", "-m", "foldwise.cli.main", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)


def processor_seconds(pid: int) -> float:
    """What a process and its threads have had of the processors."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


def row_of(name: str, pots: str, answers: list[Timed]) -> list[Cell]:
    seconds = [answer.seconds for answer in answers]
    p50, p99 = np.percentile(seconds, [50, 99])
    cpu = float(np.mean([answer.cpu_seconds for answer in answers]))
    return [name, pots, len(seconds), *(round(float(one), 2) for one in (p50, p99, max(seconds), cpu))]


def table_of(times: list[Timed], first: int) -> list[list[Cell]]:
    """Of the searched streets, by street and pot."""
    rows: list[list[Cell]] = []
    for street in range(first, 4):
        for low, high in zip((0, *POTS), (*POTS, 1_000_000)):
            found = [answer for answer in times if answer.street == street and low < answer.pot <= high]
            if found:
                pots = f"{low + 1:,} to {high:,}" if high < 1e6 else f"over {low:,}"
                rows.append(row_of(STREETS[street], pots, found))
    searched = [answer for answer in times if answer.street >= first]
    return [*rows, row_of("all", "all", searched)] if searched else rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strategy")
    parser.add_argument("--variant", default="search(fast)", help="the player, as in search(fast, flop=fast, work=2)")
    parser.add_argument("--wild", action="store_true", help="against min-raises, all-ins and odd sizes")
    parser.add_argument("--hands", type=int, default=1000)
    parser.add_argument(
        "--deadline", type=float, default=7.0, help="seconds after which the player answers without search"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, help="where to keep the match's log, for foldwise score")
    parser.add_argument("--record", default="search_times_fast", help="name of the record that --save writes")
    add_save(parser)
    arguments = parser.parse_args()
    folder_of = find_strategy(arguments.strategy)
    opened, settings = OpenStrategy(folder_of), parse_steps(arguments.variant).search
    assert settings is not None, "expected a variant that searches"
    opponents: list[Player] = [opened.player(Pipeline(), arguments.seed)]
    if arguments.wild:
        opponents = [EdgeRaiser(arguments.seed), Bot("random", arguments.seed), Bot("raise", arguments.seed)]
    with TemporaryDirectory() as folder:
        match = ["timed", opened.strategy.manifest.game, str(arguments.hands), str(arguments.seed)]
        dealer = start(folder, "dealer", *match, "searching", "opponent", "-q")
        assert dealer.stdout is not None
        ports = dealer.stdout.readline().split()
        seat = [str(folder_of.resolve()), "127.0.0.1", ports[0], "--search", "off", "--postprocess", arguments.variant]
        limits = ["--deadline", str(arguments.deadline)]
        playing = start(folder, "play", *seat, *limits, "--json")
        timer = Timer(opponents, playing.pid, arguments.hands)
        play_match(timer, opened.definition, "127.0.0.1", int(ports[1]), 600.0)
        print(dealer.communicate()[0].strip())
        answered = json.loads(playing.communicate()[0])
        log = (Path(folder) / "timed.log").read_text(encoding="ascii")
        if arguments.output is not None:
            arguments.output.write_text(log, encoding="ascii")
    rows = table_of(timer.times, first=2 if settings.on(1) is None else 1)
    for row in rows:
        print(*row, sep="\t")
    hands = [line for line in log.splitlines() if line.startswith("STATE")]
    by_hand = sum(answer.seconds for answer in timer.times) / len(hands)
    cpu_by_hand = timer.spent() / len(hands)
    print(f"{len(hands)} hands, {by_hand:.2f} s a hand, {cpu_by_hand:.2f} CPU-s; {answered}")
    print(f"memory, MB by hands: {', '.join(f'{hand}: {size:.0f}' for hand, size in timer.megabytes.items())}")
    if arguments.save:
        opponent = "wild raisers" if arguments.wild else "its own tables"
        search, last = answered["search"], list(timer.megabytes.values())[-1:]
        memory = f"; {last[0]:.0f} MB at the end" if last else ""
        save(
            arguments.record,
            f"Decision times of `{arguments.variant}` at a dealer, {len(hands):,} hands against {opponent}: "
            f"{by_hand:.2f} s and {cpu_by_hand:.2f} CPU-s a hand; late {answered['late']}, failed {answered['errors']}, "
            f"left to the table {search['fallbacks']} of {rows[-1][2]:,} searched decisions, "
            f"{search['pondered']} of {search['solves']} solves while the opponent was to act{memory}; {made_by(opened)}",
            ["street", "pot, chips", "decisions", "p50, s", "p99, s", "longest, s", "CPU-s"],
            rows,
            seeds=1,
        )


if __name__ == "__main__":
    main()
