"""Everything on the champion's page, in the order of its worth; resumable, and each observation is kept.

    python benchmarks/champion.py [PLAYER ...] [--others PLAYER ...] [--estimate] [--cpu-seconds S] [--save]

PLAYER is written as in commands, NAME= before it names it. The first is the champion, the others are of the same strategy:
with fewer searches, tables with post-processing, and tables. --others are further strategies, in the cross table only.
Figures, all in mbb/h with 95% intervals:

- local best response with all hands at once: fcpa from preflop and from the turn, eight of the 56 sizes from the turn (one
  river where a turn ends, and branches of less than 0.04 of a root's stake drawn, since each size is a solve);
- what a player wins from another: their tables by expectation, and on top what searches change, street by street
  (`matches.scoring.searched_deals`), both positions of each deal;
- CPU time of a hand of the champion against its own tables.

--estimate takes two observations of each and says what the rest costs.
"""

import argparse
import math
import time
from collections.abc import Iterator
from functools import partial
from itertools import combinations

from kept_figures import Job, KeptFigures, Step, add_running, cell, work
from measured_players import (
    MeasuredPlayer,
    Opening,
    dealt_hands,
    expectation_key,
    expectation_step,
    gain_key,
    gain_step,
    lbr_key,
    lbr_step,
    turn_lbr_step,
)
from papers.record import Cell, add_save, cell_text, save, significant
from search_roots import made_by

from foldwise.matches.table.hand import Hand

PLAYERS = ["champion=champion", "turn+river=default|search(fast)", "new0.2=default|new(0.2)", "tables=default"]
RESPONSES = (("fcpa", "preflop"), ("fcpa", "turn"), ("8", "turn"))


class Champion:
    """The players, what is measured of them, and what is known."""

    def __init__(self, own: list[MeasuredPlayer], others: list[MeasuredPlayer], given: argparse.Namespace):
        self.own, self.others, self.given = own, others, given
        self.players = [*own, *others]
        self.kept = KeptFigures(given.output, own[0].opened.definition.big_blind)

    def jobs(self) -> list[Job]:
        first = self.own[0]
        tables = [one for one in self.own if not one.searches]
        found = [self.response(first, *RESPONSES[0])]
        found += self.winnings(first, tables[-1])
        found.append(self.from_the_turn())
        for one in tables:
            found += self.winnings(first, one)
        found.append(Job(self.time_key, self.given.hands, self.timed))
        for one in self.own[1:]:
            found += [self.response(one, bets, street) for bets, street in RESPONSES[:2]]
        for one in tables:
            found += [self.response(one, *RESPONSES[2])]
        for a, b in combinations(self.players, 2):
            found += self.winnings(a, b)
        return list({job.key: job for job in found}.values())

    def from_the_turn(self) -> Job:
        """Both responses to the champion from the turn."""
        deals, (eight, fcpa) = self.given.roots // 2, (lbr_key(self.own[0], bets, "turn") for bets in ("8", "fcpa"))
        return Job(eight, deals, partial(turn_lbr_step, self.own[0], deals), fcpa)

    def response(self, one: MeasuredPlayer, bets: str, street: str) -> Job:
        deals = self.given.deals if one.searches else self.given.table_deals
        if bets == "8":
            deals = self.given.roots // 2
        return Job(lbr_key(one, bets, street), deals, partial(lbr_step, one, bets, street, deals))

    def winnings(self, a: MeasuredPlayer, b: MeasuredPlayer) -> Iterator[Job]:
        """The parts of what a wins from b."""
        if self.differ(a, b):
            boards = self.given.boards
            yield Job(expectation_key(a, b), boards, partial(expectation_step, a, b, boards))
        if a.searches or b.searches:
            deals = self.given.games if a.opened is b.opened else self.given.other_games
            yield Job(gain_key(a, b), deals, partial(gain_step, a, b, deals))

    def differ(self, a: MeasuredPlayer, b: MeasuredPlayer) -> bool:
        return a.opened is not b.opened or a.steps.pipeline != b.steps.pipeline

    def won(self, a: MeasuredPlayer, b: MeasuredPlayer) -> Cell:
        """What a wins from b, if all of it is known; the two parts are independent."""
        if self.players.index(a) > self.players.index(b):
            found = self.won(b, a)
            return (-found[0], found[1]) if isinstance(found, tuple) else None
        parts = [self.kept.estimate(job.key) for job in self.winnings(a, b)]
        known = [part for part in parts if part is not None]
        if a is b or len(known) < len(parts):
            return None
        return round(sum(one.mean_mbb for one in known)), round(math.hypot(*(one.ci95_mbb for one in known)))

    @property
    def time_key(self) -> str:
        return f"CPU-s of hands: {self.own[0].key} from its tables, deals of seed {self.given.seed}"

    def timed(self) -> Step:
        """CPU-seconds of a hand, in both positions by turns."""
        first, deals = self.own[0], dealt_hands(self.own[0], self.given.hands)

        def step(i: int) -> float:
            start, hand = time.process_time(), Hand(first.opened.definition, deals[i], i)
            while not hand.betting.finished:
                position = hand.betting.player_to_act
                player = first.agent if position == i % 2 else first.table
                hand.apply(player.choose(hand.state(position)))  # type: ignore[union-attr]  # the first one searches
            return time.process_time() - start

        return step

    def responses(self) -> list[list[Cell]]:
        rows: list[list[Cell]] = []
        for one in self.own:
            jobs = [self.response(one, bets, street) for bets, street in RESPONSES]
            found = [self.kept.estimate(job.key) for job in jobs]
            if any(found):
                rows.append([one.name, str(one.steps), *map(cell, found), round(sum(map(self.seconds, jobs)))])
        return rows

    def seconds(self, job: Job) -> float:
        return self.kept.cpu_seconds(job.key)

    def cross(self) -> list[list[Cell]]:
        return [[a.name, *(self.won(a, b) for b in self.players)] for a in self.players]

    def times(self) -> list[list[Cell]]:
        values = self.kept.values(self.time_key)
        if not len(values):
            return []
        mean, most = significant(float(values.mean()), 2), significant(float(values.max()), 2)
        return [[self.own[0].name, len(values), mean, most]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("players", nargs="*", metavar="[NAME=]PLAYER", default=PLAYERS)
    parser.add_argument("--others", nargs="+", default=[], metavar="[NAME=]PLAYER")
    parser.add_argument("--deals", type=int, default=60, help="of local best response to who searches")
    parser.add_argument("--table-deals", type=int, default=200, help="of local best response to tables")
    parser.add_argument("--roots", type=int, default=200, help="turns of the eight sizes: two of each deal")
    parser.add_argument("--boards", type=int, default=200, help="of tables against tables")
    parser.add_argument("--games", type=int, default=60, help="deals of searches against the same strategy")
    parser.add_argument("--other-games", type=int, default=20, help="and against --others")
    parser.add_argument("--hands", type=int, default=20, help="timed")
    add_running(parser, "runs/champion")
    add_save(parser)
    given = parser.parse_args()
    opening = Opening(given.seed)
    own = [opening.player(text) for text in given.players]
    measured = Champion(own, [opening.player(text) for text in given.others], given)
    jobs = measured.jobs()
    work(measured.kept, jobs, given)
    for row in (*measured.responses(), *measured.cross(), *measured.times()):
        print(*map(cell_text, row), sep=" | ")
    spent = sum(map(measured.seconds, jobs))
    print(f"{spent:,.0f} CPU-s in all")
    if given.save:
        _save(measured, spent)


def is_gain(job: Job) -> bool:
    """What searches change, rather than what tables win."""
    return job.key.startswith("more")


def _save(measured: Champion, spent: float) -> None:
    own, made = measured.own, made_by(measured.own[0].opened)
    kept, tables = measured.kept, [one for one in own if not one.searches]
    counts = [kept.counted([measured.response(own[0], bets, street)]) for bets, street in RESPONSES]
    of_tables = kept.counted(measured.response(one, *bets) for one in tables for bets in RESPONSES[:2])
    pairs = list(combinations(measured.players, 2))
    jobs = [(a.opened is b.opened, job) for a, b in pairs for job in measured.winnings(a, b)]
    boards = kept.counted(job for _, job in jobs if not is_gain(job))
    of_same, of_others = (
        kept.counted(job for found, job in jobs if found == same and is_gain(job)) for same in (True, False)
    )
    save(
        "champion_lbr",
        f"What local best response wins, mbb/h, all hands at once, both positions of {counts[0]}, {counts[1]} and "
        f"{counts[2]} deals against the champion, {of_tables} by fcpa against tables; {made}",
        ["player", "rows", "fcpa from preflop", "fcpa from the turn", "eight sizes from the turn", "CPU-s"],
        measured.responses(),
        seeds=1,
    )
    save(
        "champion_cross",
        f"What the row wins from the column, mbb/h: tables by expectation over {boards} boards, and what searches change "
        f"street by street, both positions of {of_same} deals (between two strategies {of_others}); {made}; {spent:,.0f} "
        "CPU-s with local best response",
        ["player", *(one.name for one in measured.players)],
        measured.cross(),
        seeds=1,
    )
    if measured.times():
        columns = ["player", "hands", "CPU-s a hand", "longest, CPU-s"]
        save(
            "champion_times",
            f"CPU time of a hand against its own tables, in memory; {made}",
            columns,
            measured.times(),
            seeds=1,
        )


if __name__ == "__main__":
    main()
