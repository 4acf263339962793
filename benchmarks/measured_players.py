"""A strategy as it is measured, tables or searching, and the observations it is measured by.

Used with `kept_figures`: each function here makes the step of a job. All players of one step meet the same boards or deals.
"""

from dataclasses import dataclass
from functools import cached_property

from kept_figures import Step

from foldwise.agent.mappings.translation import DEFAULT_TRANSLATION
from foldwise.agent.strategy_player import OpenStrategy, StrategyPlayer
from foldwise.cli.support.players import typed_player
from foldwise.game.hands.dealing import Deal, Shoe
from foldwise.matches.scoring.expectation import Expectation, match_boards
from foldwise.matches.scoring.local_best_response import LbrSettings
from foldwise.matches.scoring.searched_deals import RootPlayer, SearchedDeals
from foldwise.matches.scoring.vector_response import VectorResponse
from foldwise.search.agents import make_agent
from foldwise.search.language import PlayerSteps, parse_steps
from foldwise.search.player import SearchPlayer
from foldwise.search.ranges import TableRanges

STREETS = {"preflop": 0, "flop": 1, "turn": 2}
# Every size outside the tree is a solve, most of them on rivers: rivers drawn where a turn ends, and the share of a root's
# stake below which branches are drawn too.
WALKS = {"8": (1, 0.04)}
_WALK = (2, 0.01)
SAMPLES = {"preflop": 300, "flop": 1, "turn": 1}  # boards for an equity: before the flop they are most of the cost


@dataclass(frozen=True)
class MeasuredPlayer:
    """A player by the name it has in tables."""

    name: str
    opened: OpenStrategy
    steps: PlayerSteps
    seed: int

    @property
    def searches(self) -> bool:
        return self.steps.search is not None

    @property
    def key(self) -> str:
        manifest = self.opened.strategy.manifest
        return f"{manifest.name}@{manifest.iterations}|{self.steps}"

    @cached_property
    def table(self) -> StrategyPlayer:
        return self.opened.player(self.steps.pipeline, self.seed)

    @cached_property
    def agent(self) -> SearchPlayer | TableRanges:
        return make_agent(self.opened, self.steps, self.seed, DEFAULT_TRANSLATION)

    @cached_property
    def seat(self) -> RootPlayer:
        return RootPlayer(self.agent, self.table, TableRanges(self.table))


class Opening:
    """Players of names as commands read them, `NAME=` before each; strategies are opened once."""

    def __init__(self, seed: int):
        self._seed = seed
        self._opened: dict[str, OpenStrategy] = {}

    def player(self, text: str) -> MeasuredPlayer:
        spec = typed_player(text)
        if spec.subject not in self._opened:
            self._opened[spec.subject] = OpenStrategy(spec.folder)
        steps = parse_steps(spec.postprocess or "none")
        return MeasuredPlayer(spec.alias or spec.short(), self._opened[spec.subject], steps, self._seed)


def expectation_key(a: MeasuredPlayer, b: MeasuredPlayer) -> str:
    tables = [f"{one.key.partition('|')[0]}|{one.steps.pipeline}" for one in (a, b)]
    return f"tables of {tables[0]} from {tables[1]}, boards of seed {a.seed}"


def expectation_step(a: MeasuredPlayer, b: MeasuredPlayer, boards: int) -> Step:
    """What the tables of a win from those of b on a board, the mean of both positions."""
    dealt = match_boards(a.opened.definition, a.seed, boards)
    match = Expectation(a.opened.definition, (a.table, b.table), seed=a.seed)
    return lambda i: sum(match.board_values(dealt[i], i)) / 2.0


def gain_key(a: MeasuredPlayer, b: MeasuredPlayer) -> str:
    return f"more than tables: {a.key} from {b.key}, deals of seed {a.seed}"


def gain_step(a: MeasuredPlayer, b: MeasuredPlayer, deals: int) -> Step:
    """What a's and b's searches change on a deal, for a, the mean of both positions."""
    dealt = dealt_hands(a, deals)
    here = SearchedDeals((a.seat, b.seat), seed=a.seed), SearchedDeals((b.seat, a.seat), seed=a.seed)
    return lambda i: (here[0].gain(dealt[i], 2 * i) - here[1].gain(dealt[i], 2 * i + 1)) / 2.0


def lbr_key(a: MeasuredPlayer, bets: str, street: str) -> str:
    walk = f", walk {WALKS[bets]}" if bets in WALKS else ""
    return f"lbr {bets} from {street}: {a.key}, deals of seed {a.seed}{walk}"


def response(a: MeasuredPlayer, bets: str, street: str) -> VectorResponse:
    settings, (rivers, least) = LbrSettings(bets, STREETS[street], SAMPLES[street], a.seed), WALKS.get(bets, _WALK)
    return VectorResponse(a.agent, a.opened.definition, settings, rivers=rivers, least=least)


def lbr_step(a: MeasuredPlayer, bets: str, street: str, deals: int) -> Step:
    """What local best response wins from a on a deal, all hands at once, the mean of both positions."""
    won, boards = response(a, bets, street), match_boards(a.opened.definition, a.seed, deals)

    def step(i: int) -> float:
        board = [int(card) for card in boards[i]]
        return (won.deal_value(board, 0, 2 * i) + won.deal_value(board, 1, 2 * i + 1)) / 2.0

    return step


def turn_lbr_step(a: MeasuredPlayer, deals: int) -> Step:
    """With eight sizes and with fcpa, both from the turn: they share what is solved up to its root."""
    boards = match_boards(a.opened.definition, a.seed, deals)
    both = [response(a, bets, "turn") for bets in ("8", "fcpa")]

    def step(i: int) -> tuple[float, float]:
        board = [int(card) for card in boards[i]]
        values = [[one.deal_value(board, position, 2 * i + position) for one in both] for position in (0, 1)]
        eight, fcpa = ((first + second) / 2.0 for first, second in zip(*values))
        return eight, fcpa

    return step


def dealt_hands(a: MeasuredPlayer, deals: int) -> list[Deal]:
    return [deal for _, deal in zip(range(deals), Shoe(a.opened.definition, a.seed).deals())]
