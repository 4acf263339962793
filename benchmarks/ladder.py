"""The cross table of a ladder of strategies, with and without search, and what local best response wins from each.

Usage: python benchmarks/ladder.py DIR DIR ... [--hands 150] [--deals 150] [--save]

    python benchmarks/ladder.py runs/minute runs/hour evening=runs/evening-30 -o runs/ladder --save

Each DIR is a strategy as commands name it (a folder, a packed file, `default`); NAME= before it names it. All in mbb/h with
95% intervals:

- tables against tables: by expectation over --boards boards;
- a searching player (--search MODE) against tables or another one: what their tables win, and on top what search changes
  from turn roots on: --hands deals, from both sides, two rivers where a turn ends;
- local best response, fcpa, all hands at once, from the turn and from preflop: --deals deals from both positions, and
  --table-deals against tables, which are cheap.

Figures are measured in the order of their worth: tables, local best response, each rung's search against its own tables,
neighbours, the rest. Each is printed with its CPU time and kept in OUTPUT/ladder.json, so a stopped run goes on where it
was; the picture is drawn again after each. Folders are told apart by their names, iterations and nodes.
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from papers.record import ROOT, Cell, add_save, cell_text, save

from foldwise.abstraction.named_strategy import find_strategy
from foldwise.abstraction.storage.whole_file import written_whole
from foldwise.agent.mappings.translation import DEFAULT_TRANSLATION
from foldwise.agent.strategy_player import OpenStrategy, StrategyPlayer
from foldwise.cli.support.pictures import new_axes, save_figure
from foldwise.matches.scoring.expectation import Expectation, match_boards
from foldwise.matches.scoring.lbr_run import run_lbr
from foldwise.matches.scoring.local_best_response import LbrSettings
from foldwise.matches.scoring.turn_roots import RootMatch, street_roots
from foldwise.matches.scoring.vector_response import VectorResponse
from foldwise.matches.statistics import Estimate, estimate
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.agents import make_agent
from foldwise.search.language import parse_steps
from foldwise.search.player import SearchPlayer
from foldwise.search.ranges import TableRanges

_STREETS = {"turn": 2, "preflop": 0}
_SAMPLES = {"turn": 1000, "preflop": 300}  # boards for an equity: before the flop they are most of the cost
_THREADS = 2
_KEPT = "ladder.json"
PICTURES = ROOT / "docs" / "pictures"
_KINDS = ("tables", "lbr", "roots")


@dataclass(frozen=True)
class Rung:
    """A strategy of the ladder."""

    name: str
    opened: OpenStrategy

    @property
    def key(self) -> str:
        manifest = self.opened.strategy.manifest
        return f"{self.opened.strategy.folder.name}@{manifest.iterations}@{manifest.nodes}"


@dataclass(frozen=True)
class Player:
    """A rung, with its tables alone or searching."""

    rung: Rung
    searches: bool

    @property
    def name(self) -> str:
        return f"{self.rung.name} + search" if self.searches else self.rung.name


Figure = tuple[float, float]  # mean and half of the 95% interval


@dataclass
class Ladder:
    """Everything that is measured, and what has been."""

    rungs: list[Rung]
    given: argparse.Namespace
    kept: dict[str, Any] = field(default_factory=dict)
    agents: dict[Player, SearchPlayer | TableRanges] = field(default_factory=dict)

    @property
    def players(self) -> list[Player]:
        return [Player(rung, searches) for rung in self.rungs for searches in (False, True)]

    def run(self) -> None:
        """Measure whatever is not kept yet; each figure is kept as soon as it is known."""
        for kind, key, measure in self.jobs():
            if key in self.kept or kind not in self.given.only:
                continue
            start = time.process_time()
            found = measure()
            seconds = round(time.process_time() - start)
            self.kept[key] = {"mean_mbb": found.mean_mbb, "ci95_mbb": found.ci95_mbb, "cpu_seconds": seconds}
            with written_whole(self.given.output / _KEPT) as file:
                json.dump(self.kept, file, indent=1)
            self.draw(self.given.output / "ladder.png")
            print(f"{key}: {found.mean_mbb:+.0f} ± {found.ci95_mbb:.0f} mbb/h, {seconds} CPU-s", flush=True)

    def known(self, key: str) -> Figure | None:
        found = self.kept.get(key)
        return None if found is None else (found["mean_mbb"], found["ci95_mbb"])

    def agent(self, player: Player) -> SearchPlayer | TableRanges:
        if player not in self.agents:
            text = f"search({self.given.search})" if player.searches else "none"
            self.agents[player] = make_agent(
                player.rung.opened, parse_steps(text), self.given.seed, DEFAULT_TRANSLATION
            )
        return self.agents[player]

    def table(self, rung: Rung) -> StrategyPlayer:
        return rung.opened.player(Pipeline(), self.given.seed)

    def tables_key(self, a: Rung, b: Rung) -> str:
        return f"{a.key} from {b.key}, {self.given.boards} boards, seed {self.given.seed}"

    def measure_tables(self, a: Rung, b: Rung) -> Estimate:
        definition = a.opened.definition
        boards = match_boards(definition, self.given.seed, self.given.boards)
        found = Expectation(definition, (self.table(a), self.table(b)), seed=self.given.seed)
        return estimate(found.values(boards, _THREADS).mean(axis=1), definition.big_blind)

    def roots_key(self, a: Player, b: Player) -> str:
        words = [f"{one.rung.key}{f' + search({self.given.search})' if one.searches else ''}" for one in (a, b)]
        return f"{words[0]} from {words[1]}, roots of {self.given.hands} deals, seed {self.given.seed}"

    def measure_roots(self, a: Player, b: Player) -> Estimate:
        """What search changes; a deal that comes to no turn changes nothing."""
        tables, agents = (self.table(a.rung), self.table(b.rung)), (self.agent(a), self.agent(b))
        rows = (TableRanges(tables[0]), TableRanges(tables[1]))
        gains, num_roots = np.zeros(self.given.hands), 0
        for side, sign in ((0, 1.0), (1, -1.0)):
            first, second = side, 1 - side
            match = RootMatch((agents[first], agents[second]), (rows[first], rows[second]), seed=self.given.seed)
            for root in street_roots((tables[first], tables[second]), self.given.seed, self.given.hands, side, 2):
                gains[root.number // 2] += sign * match.gain(root) / 2.0
                num_roots += 1
        print(f"{num_roots} roots of {2 * self.given.hands} hands", flush=True)
        return estimate(gains, a.rung.opened.definition.big_blind)

    def lbr_key(self, player: Player, street: str) -> str:
        deals = self.given.deals if player.searches else self.given.table_deals
        search = f" + search({self.given.search})" if player.searches else ""
        return f"lbr from {street} of {player.rung.key}{search}, {deals} deals, seed {self.given.seed}"

    def measure_lbr(self, player: Player, street: str) -> Estimate:
        settings = LbrSettings("fcpa", _STREETS[street], _SAMPLES[street], self.given.seed)
        response = VectorResponse(self.agent(player), player.rung.opened.definition, settings)
        deals = self.given.deals if player.searches else self.given.table_deals
        return run_lbr(response, deals, self.given.seed, _THREADS).total

    def jobs(self) -> Iterator[tuple[str, str, Callable[[], Estimate]]]:
        """Kind, key and measurement of all figures, the most important first."""
        for a, b in combinations(self.rungs, 2):
            yield "tables", self.tables_key(b, a), partial(self.measure_tables, b, a)
        for searches in (False, True):
            for rung in reversed(self.rungs):
                for street in _STREETS:
                    player = Player(rung, searches)
                    yield "lbr", self.lbr_key(player, street), partial(self.measure_lbr, player, street)
        for upper, lower in self.root_pairs():
            yield "roots", self.roots_key(upper, lower), partial(self.measure_roots, upper, lower)

    def root_pairs(self) -> list[tuple[Player, Player]]:
        """The stronger first: each rung's search against its own tables, neighbours, the rest."""
        pairs = [(b, a) for a, b in combinations(self.players, 2) if a.searches or b.searches]
        return sorted(pairs, key=lambda pair: abs(self.rungs.index(pair[0].rung) - self.rungs.index(pair[1].rung)))

    def won(self, a: Player, b: Player) -> Figure | None:
        """What a wins from b, if it has been measured; the two parts are independent."""
        players = self.players
        if players.index(a) < players.index(b):
            found = self.won(b, a)
            return None if found is None else (-found[0], found[1])
        tables = (0.0, 0.0) if a.rung == b.rung else self.known(self.tables_key(a.rung, b.rung))
        roots = self.known(self.roots_key(a, b)) if a.searches or b.searches else (0.0, 0.0)
        if a == b or tables is None or roots is None:
            return None
        return tables[0] + roots[0], math.hypot(tables[1], roots[1])

    def lost(self, player: Player, street: str) -> Figure | None:
        return self.known(self.lbr_key(player, street))

    def draw(self, output: Path) -> None:
        """The cross table, and beside it what local best response wins: blue is good for the row, red bad."""
        players = self.players
        cells = [[self.won(a, b) for b in players] for a in players]
        lbr = [[self.lost(a, street) for street in _STREETS] for a in players]
        names = [player.name for player in players]
        figure, (left, right) = new_axes(5.0 + 1.15 * (len(players) + 3.0), 1.6 + 0.62 * len(players), 2)
        left.get_gridspec().set_width_ratios([len(players), len(_STREETS)])
        _heat(left, cells, names, names, 1.0)
        left.set_title("row wins from column, mbb/h", fontsize="medium")
        _heat(right, lbr, names, [f"from {street}" for street in _STREETS], -1.0)
        right.set_title("LBR wins from row", fontsize="medium")
        right.set_yticks([])
        save_figure(figure, output)


def _heat(axes: Any, cells: list[list[Figure | None]], rows: list[str], columns: list[str], sign: float) -> None:
    shades = np.array([[0.0 if cell is None else sign * cell[0] for cell in row] for row in cells])
    most = max(float(np.abs(shades).max()), 1.0)
    bound = 2.0 * most**0.5  # pale enough to read the figures
    axes.imshow(np.sign(shades) * np.sqrt(np.abs(shades)), cmap="RdBu", vmin=-bound, vmax=bound, aspect="auto")
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            text = "" if cell is None else f"{cell[0]:+,.0f}\n± {cell[1]:,.0f}"
            axes.text(j, i, text, ha="center", va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.set_xticks(range(len(columns)), columns, fontsize=8, rotation=30, ha="right")


def _rounded(found: Figure | None) -> Cell:
    return None if found is None else (round(found[0]), round(found[1]))


def rungs_of(texts: list[str]) -> list[Rung]:
    """Each with the name given to it, or its config's; rungs of one config are told apart by their folders."""
    rungs = []
    for text in texts:
        name, equals, rest = text.partition("=")
        opened = OpenStrategy(find_strategy(rest if equals else text))
        rungs.append(Rung(name if equals else opened.strategy.manifest.name, opened))
    names = [rung.name for rung in rungs]
    return [
        Rung(rung.opened.strategy.folder.name, rung.opened) if names.count(rung.name) > 1 else rung for rung in rungs
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rungs", nargs="+", metavar="[NAME=]DIR", help="weakest first")
    parser.add_argument("--search", default="fast", help="fast, normal or deep")
    parser.add_argument("--boards", type=int, default=400, help="of tables against tables")
    parser.add_argument("--hands", type=int, default=150, help="deals of searching players, from both sides")
    parser.add_argument("--deals", type=int, default=150, help="of local best response to searching players")
    parser.add_argument("--table-deals", type=int, default=400, help="of local best response to tables")
    parser.add_argument("--only", nargs="+", choices=_KINDS, default=_KINDS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", default="ladder", help="name of the records and the picture that --save writes")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/ladder"), help="keeps figures and picture")
    add_save(parser)
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    kept = given.output / _KEPT
    ladder = Ladder(rungs_of(given.rungs), given, json.loads(kept.read_text()) if kept.exists() else {})
    ladder.run()
    players = ladder.players
    names = [player.name for player in players]
    cross: list[list[Cell]] = [[a.name, *(_rounded(ladder.won(a, b)) for b in players)] for a in players]
    lbr: list[list[Cell]] = [[a.name, *(_rounded(ladder.lost(a, street)) for street in _STREETS)] for a in players]
    for row in (*cross, *lbr):
        print(*map(cell_text, row), sep=" | ")
    spent = sum(ladder.kept[key]["cpu_seconds"] for _, key, _ in ladder.jobs() if key in ladder.kept)
    print(f"{spent:,} CPU-s in all; {given.output / 'ladder.png'}")
    if given.save:
        ladder.draw(PICTURES / f"{given.record.replace('_', '-')}.png")
        made = ", ".join(f"{rung.name} after {rung.opened.strategy.manifest.nodes:.3g} nodes" for rung in ladder.rungs)
        save(
            f"{given.record}_cross",
            f"What the row wins from the column, mbb/h: tables by expectation over {given.boards} boards, `{given.search}` "
            f"search by turn roots of {given.hands} deals from both sides; {made}; {spent:,} CPU-s with LBR",
            ["player", *names],
            cross,
            seeds=1,
        )
        save(
            f"{given.record}_lbr",
            f"What local best response wins, fcpa, mbb/h, all hands at once: {given.table_deals} deals against tables, "
            f"{given.deals} against `{given.search}` search, from both positions",
            ["player", *(f"from {street}" for street in _STREETS)],
            lbr,
            seeds=1,
        )


if __name__ == "__main__":
    main()
