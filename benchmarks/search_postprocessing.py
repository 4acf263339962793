"""Post-processing of a player that searches: on the rows before the turn, on all rows, on none.

    python benchmarks/search_postprocessing.py STRATEGY --other STRATEGY [--estimate] [--cpu-seconds S] [--save]

The question of Brown, Ganzfried and Sandholm (AAMAS 2015), asked of a player that searches turn and river: each rule shapes
its table's rows before the turn, or these and the rows of its solutions. For each variant what it wins from three opponents
and what local best response, fcpa from preflop, wins from it, in mbb/h with 95% intervals:

- from --other, a strategy of other cards or bets, and from the strategy's own tables: tables by expectation, and on top what
  the search changes at turn roots, both positions of each deal;
- from bot:strength: matches of the tables in blocks (`foldwise match`), and on top what the search changes at turn roots,
  where the bot has its one hand (`search_strength.py`).

All variants meet the same boards, deals and blocks, so differences to no post-processing are taken in pairs. Every
observation is kept, and a stopped run goes on.
"""

import argparse
import math
from collections.abc import Sequence
from functools import partial

from kept_figures import Job, KeptFigures, Step, add_running, work
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
)
from papers.record import ROOT, Cell, add_save, cell_text, save
from printed import printed
from search_roots import made_by
from search_strength import StrengthMatch, turn_root

from foldwise.agent.bots import Bot
from foldwise.cli.support.pictures import new_axes, save_figure
from foldwise.matches.statistics import Estimate
from foldwise.search.ranges import TableRanges

RULES = ("threshold(0.15)", "purify", "new(0.2)")
BEFORE = "except turn+river"
BOT = "bot:strength"
PICTURE = ROOT / "docs" / "pictures" / "search-postprocessing.png"
_LEAST = 0.3  # stake in big blinds below which branches against the bot are drawn
Figure = tuple[float, float]


def strength_step(one: MeasuredPlayer, deals: int) -> Step:
    """What the search changes against bot:strength on a deal, positions by turns."""
    bot, dealt = Bot("strength", one.seed), dealt_hands(one, deals)
    matches = [StrengthMatch(agent, 1, _LEAST, one.seed) for agent in (one.agent, TableRanges(one.table))]

    def step(i: int) -> float:
        root = turn_root(one.table, bot, dealt[i], i)
        if root is None:
            return 0.0
        won = [sum(match.won(*root).values()) for match in matches]
        return won[0] - won[1]

    return step


def block_step(one: MeasuredPlayer, hands: int) -> Step:
    """Chips a hand that the tables win from bot:strength, a duplicate match each."""
    big_blind = one.opened.definition.big_blind

    def step(i: int) -> float:
        player = f"strategy:{one.opened.strategy.folder}|{one.steps.pipeline}"
        found = printed("match", player, BOT, "--hands", str(hands), "--seed", str(1000 * one.seed + i))
        return float(found["mean_mbb"]) * big_blind / 1000.0

    return step


class Variants:
    """What is measured, and what is known."""

    def __init__(self, strategy: str, other: str, given: argparse.Namespace):
        opening = Opening(given.seed)
        self.given = given
        self.opponents = [opening.player(f"other={other}"), opening.player(f"tables={strategy}")]
        texts = ["", *(f" | {rule} {BEFORE}" for rule in RULES), *(f" | {rule}" for rule in RULES)]
        names = ["none", *(f"{rule}, before the turn" for rule in RULES), *(f"{rule}, everywhere" for rule in RULES)]
        self.players = [opening.player(f"{strategy}|search({given.search}){text}") for text in texts]
        self.names = names
        self.kept = KeptFigures(given.output, self.players[0].opened.definition.big_blind)

    @property
    def headings(self) -> list[str]:
        return [self.opponents[0].opened.strategy.manifest.name, "its own tables", BOT]

    def parts(self, one: MeasuredPlayer) -> list[list[Job]]:
        """The jobs of each opponent, which add up, and that of local best response."""
        given = self.given
        found = []
        for other in self.opponents:
            jobs = [Job(gain_key(one, other), given.games, partial(gain_step, one, other, given.games))]
            if other.opened is not one.opened or one.steps.pipeline.steps:
                key = expectation_key(one, other)
                jobs.append(Job(key, given.boards, partial(expectation_step, one, other, given.boards)))
            found.append(jobs)
        blocks = (
            f"matches of {given.hands} hands, tables of {one.key.partition('|')[0]}|{one.steps.pipeline} from {BOT}"
        )
        found.append(
            [
                Job(
                    f"more than tables: {one.key} from {BOT}",
                    given.bot_games,
                    partial(strength_step, one, given.bot_games),
                ),
                Job(f"{blocks}, seed {given.seed}", given.blocks, partial(block_step, one, given.hands)),
            ]
        )
        lbr = Job(lbr_key(one, "fcpa", "preflop"), given.deals, partial(lbr_step, one, "fcpa", "preflop", given.deals))
        return [*found, [lbr]]

    def jobs(self) -> list[Job]:
        """Opponent by opponent, so that a stopped run has whole columns."""
        columns = list(zip(*(self.parts(one) for one in self.players)))
        order = [columns[1], columns[3], columns[2], columns[0]]
        return list({job.key: job for column in order for jobs in column for job in jobs}.values())

    def figure(self, jobs: Sequence[Job]) -> Figure | None:
        return _sum([self.kept.estimate(job.key) for job in jobs])

    def over_none(self, number: int, column: int) -> Figure | None:
        """The difference to no post-processing, in pairs, part by part; a part that one lacks is zero there."""
        here, there = (self.parts(self.players[k])[column] for k in (number, 0))
        if not number:
            return None
        found = [self.kept.difference(a.key, b.key) for a, b in zip(here, there)]
        return _sum(found + [self.kept.estimate(job.key) for job in here[len(there) :]])

    def rows(self) -> list[list[Cell]]:
        rows: list[list[Cell]] = []
        for number, name in enumerate(self.names):
            found = [self.figure(jobs) for jobs in self.parts(self.players[number])]
            more = [self.over_none(number, column) for column in range(4)]
            rows.append([name, *map(_rounded, found[:3]), _rounded(found[3]), *map(_rounded, more)])
        return rows

    def draw(self) -> None:
        """Differences to no post-processing, a panel for each opponent and one for local best response."""
        titles = [f"wins more from\n{name}" for name in self.headings] + ["loses more to\nlocal best response"]
        figure, panels = new_axes(11.0, 3.4, 4)
        for column, (axes, title) in enumerate(zip(panels, titles)):
            for number in range(1, len(self.names)):
                found = self.over_none(number, column)
                if found is not None:
                    colour = "tab:blue" if number <= len(RULES) else "tab:orange"
                    axes.errorbar(found[0], -number, xerr=found[1], fmt="o", color=colour, capsize=3)
            axes.axvline(0.0, color="grey", linewidth=0.8)
            axes.set_title(title, fontsize="medium")
            axes.set_xlabel("mbb/h")
            axes.set_ylim(-len(self.names), 0)
            axes.set_yticks([-k for k in range(1, len(self.names))], self.names[1:] if column == 0 else [], fontsize=8)
        save_figure(figure, PICTURE)


def _sum(found: Sequence[Estimate | None]) -> Figure | None:
    """Of independent parts; None if one is missing."""
    known = [one for one in found if one is not None]
    if len(known) < len(found):
        return None
    return sum(one.mean_mbb for one in known), math.hypot(*(one.ci95_mbb for one in known))


def _rounded(found: Figure | None) -> Cell:
    return None if found is None else (round(found[0]), round(found[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strategy", help="as commands name it")
    parser.add_argument("--other", required=True, help="a strategy with other cards or bets")
    parser.add_argument("--search", default="fast", help="what is inside search(...)")
    parser.add_argument("--deals", type=int, default=30, help="of local best response")
    parser.add_argument("--games", type=int, default=30, help="deals against strategies")
    parser.add_argument("--bot-games", type=int, default=80, help="deals against bot:strength")
    parser.add_argument("--boards", type=int, default=80, help="of tables against tables")
    parser.add_argument("--blocks", type=int, default=6, help="matches against bot:strength")
    parser.add_argument("--hands", type=int, default=20_000, help="of such a match, from each side")
    add_running(parser, "runs/search-postprocessing")
    add_save(parser)
    given = parser.parse_args()
    variants = Variants(given.strategy, given.other, given)
    jobs = variants.jobs()
    work(variants.kept, jobs, given)
    rows = variants.rows()
    for row in rows:
        print(*map(cell_text, row), sep=" | ")
    spent = sum(variants.kept.cpu_seconds(job.key) for job in jobs)
    print(f"{spent:,.0f} CPU-s in all")
    if given.save:
        won, lbr = [f"from {name}" for name in variants.headings], "to LBR from preflop"
        made = f"{made_by(variants.players[0].opened)}; {spent:,.0f} CPU-s"
        parts = [variants.parts(one) for one in variants.players]
        games, boards, bot_games, blocks, deals = (
            variants.kept.counted(part)
            for part in (
                [found[column][0] for found in parts for column in (0, 1)],
                [job for found in parts for column in (0, 1) for job in found[column][1:]],
                [found[2][0] for found in parts],
                [found[2][1] for found in parts],
                [found[3][0] for found in parts],
            )
        )
        counted = (
            f"{games} deals and {boards} boards against strategies, {bot_games} deals and {blocks} times "
            f"{2 * given.hands:,} hands against {BOT}, {deals} deals of LBR fcpa; {made}"
        )
        save(
            "search_postprocessing",
            f"Post-processing of search({given.search}), mbb/h: {counted}",
            ["post-processing", *won, lbr],
            [row[:5] for row in rows],
            seeds=1,
        )
        save(
            "search_postprocessing_differences",
            "More than without post-processing, in pairs on the same boards, deals and matches, mbb/h",
            ["post-processing", *won, lbr],
            [[row[0], *row[5:]] for row in rows[1:]],
            seeds=1,
        )
        variants.draw()


if __name__ == "__main__":
    main()
