"""A turn or river somebody asks about: board, pot, stacks, two ranges and bet sizes, from JSON to a solution."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from foldwise.abstraction.bet_sizes import make_menu
from foldwise.game.arrays import Float
from foldwise.game.betting import BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.errors import FormatError
from foldwise.game.hands.hole_cards import PAIR_CARDS
from foldwise.game.hands.showdown import RangeShowdown
from foldwise.game.library import find_definition
from foldwise.game.text.range_text import pair_text, parse_range
from foldwise.game.trees.tree import BetMenu
from foldwise.solver.response.best_response import Exploitability
from foldwise.solver.subgame.subgame import Subgame

_TURN_CARDS, _RIVER_CARDS = 4, 5
_TURN, _RIVER = 2, 3  # streets
_NO_BETS = "f c"
_LARGEST_CHIPS = 10**8  # sums of chips stay exact in single precision to a few parts in 10^8
Chips = Annotated[int, Field(ge=1, le=_LARGEST_CHIPS)]


class SpotBets(BaseModel):
    """Bet sizes by street, in the language of `abstraction.bet_sizes`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    turn: str | None = None
    river: str


class SpotFile(BaseModel):
    """The content of a file. The first of two entries belongs to the player who acts first."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    board: str
    pot: Annotated[Chips, Field(description="chips, half of them from each player")]
    stacks: Annotated[
        list[Chips], Field(min_length=2, max_length=2, description="chips behind; the smaller one counts")
    ]
    ranges: Annotated[list[str | dict[str, float]], Field(min_length=2, max_length=2)]
    bets: SpotBets
    big_blind: Annotated[Chips, Field(description="smallest bet, and the unit of results")] = 100
    all_in_share: Annotated[
        float, Field(gt=0.0, le=1.0, description="sizes from this share of the stack on: all-in")
    ] = 1.0


@dataclass(frozen=True)
class Spot:
    """A state to solve; ranges by player as the betting numbers them: 0 acts first after the flop."""

    state: BettingState
    board: tuple[int, ...]
    ranges: tuple[Float, Float]
    menu: BetMenu

    @property
    def pot(self) -> int:
        return sum(self.state.spent)


def read_spot(text: str, source: str) -> Spot:
    """The spot of a JSON text; an error names what is wrong with it and the `source`."""
    try:
        file = SpotFile.model_validate_json(text)
    except ValidationError as error:
        raise FormatError(f"spot {source!r}: {_first_problem(error)}") from None
    board = parse_cards(file.board)
    if len(board) not in (_TURN_CARDS, _RIVER_CARDS):
        raise FormatError(f"board {file.board!r}: expected the 4 cards of a turn or the 5 of a river")
    if file.pot % 2:
        raise FormatError(f"pot of {file.pot}: expected an even number of chips, half of them from each player")
    half, behind = file.pot // 2, min(file.stacks)
    definition = replace(
        find_definition("hunl"), stacks=(half + behind,) * 2, blinds=(file.big_blind, max(1, file.big_blind // 2))
    )
    state = BettingState.at_street(definition, _TURN if len(board) == _TURN_CARDS else _RIVER, half)
    if file.bets.turn is None and state.round == _TURN:
        raise FormatError(f"spot {source!r}: bets for the river alone: a turn needs bets.turn too, such as 'f c 1p a'")
    texts = (_NO_BETS, _NO_BETS, file.bets.turn or _NO_BETS, file.bets.river)
    return Spot(state, board, _read_ranges(file, board), make_menu(texts, texts, file.all_in_share))


def _first_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return f"{first['msg']}: expected one JSON object with board, pot, stacks, ranges and bets"
    place = ".".join(str(part) for part in first["loc"]) or "file"
    given = "" if first["type"] == "missing" else f" (got {json.dumps(first['input'])[:60]})"
    return f"{place}: {first['msg']}{given}"


def _read_ranges(file: SpotFile, board: tuple[int, ...]) -> tuple[Float, Float]:
    live = ~np.isin(PAIR_CARDS, board).any(axis=1)
    first, second = (parse_range(given) * live for given in file.ranges)
    for name, weights in (("first", first), ("second", second)):
        if not weights.any():
            raise FormatError(f"the {name} range has no hand that board {file.board!r} allows: give it at least one")
    return first, second


@dataclass(frozen=True)
class SpotProgress:
    """A solve's progress."""

    iterations: int
    seconds: float  # spent solving, measuring left out
    exploitability: Exploitability
    pot_percent: float  # the same as a share of the pot
    value_mbb: float  # to the player to act


class SpotSolver:
    """Solves a spot and measures it from time to time. An iteration walks every river once."""

    def __init__(self, spot: Spot, threads: int, schedule: str, rivers: int):
        self.spot = spot
        self.actor = spot.state.player_to_act
        self.game = Subgame(spot.state, spot.board, spot.ranges, spot.menu, threads, schedule=schedule, rivers=rivers)
        self.iterations = 0
        self.seconds = 0.0
        self.stop = False  # set from outside, e.g. on Ctrl-C: the current iteration is the last

    def run(self, iterations: int | None, seconds: float | None) -> Iterator[SpotProgress | None]:
        """Solve to the first limit that is reached; None after most iterations, a measurement now and then.

        The first measurement, before anything is solved, also compiles what solving needs: outside of the clock.
        """
        yield self.measure()
        measured = 0
        while not self.stop and (iterations is None or self.iterations < iterations):
            if seconds is not None and self.seconds >= seconds:
                break
            start = time.perf_counter()
            self.game.run(self.game.samples_per_visit)
            self.seconds += time.perf_counter() - start
            self.iterations += 1
            if self.iterations in (10, 20, 50) or self.iterations % 100 == 0:
                measured = self.iterations
                yield self.measure()
            else:
                yield None
        if measured != self.iterations:
            yield self.measure()

    def measure(self) -> SpotProgress:
        result = self.game.exploitability()
        chips = result.exploitability_mbb * self.spot.state.definition.big_blind / 1000.0
        value = result.value_mbb if self.actor == 0 else -result.value_mbb
        return SpotProgress(self.iterations, self.seconds, result, 100.0 * chips / self.spot.pot, value)

    def strategy(self) -> dict[str, list[float]]:
        """What each hand of the player to act does at the root."""
        rows = self.game.strategy()
        return {pair_text(pair): rows[:, pair].tolist() for pair in self._hands(self.actor)}

    def values(self, player: int) -> dict[str, float]:
        """What each hand of a player wins on average over the whole hand, in thousandths of the big blind.

        Half of the pot is his own money: a hand that always folds has lost it.
        """
        unit = 1000.0 / self.spot.state.definition.big_blind
        showdown, other = RangeShowdown(self.spot.board), self.spot.ranges[1 - player]
        meets = showdown.meets(other)
        values = unit * self.game.values(player) / np.where(meets, showdown.fold(other), 1.0)
        return {pair_text(pair): float(values[pair]) for pair in self._hands(player) if meets[pair]}

    def class_rows(self) -> dict[str, list[float]]:
        """The strategy of AA, AKs, AKo and so on at the root: the mean of its hands, by their weights."""
        rows, weights = self.game.strategy(), self.spot.ranges[self.actor]
        found: dict[str, list[int]] = {}
        for pair in self._hands(self.actor):
            found.setdefault(_class_name(pair), []).append(pair)
        return {
            name: np.average(rows[:, pairs], axis=1, weights=weights[pairs]).tolist() for name, pairs in found.items()
        }

    def frequencies(self) -> list[float]:
        """How often the player to act takes each action, over his range alone."""
        weights = self.spot.ranges[self.actor]
        shares: list[float] = (self.game.strategy() @ (weights / weights.sum())).tolist()
        return shares

    def _hands(self, player: int) -> list[int]:
        """Pairs of a range, the strongest cards first."""
        return [int(pair) for pair in np.flatnonzero(self.spot.ranges[player])[::-1]]


def _class_name(pair: int) -> str:
    text = pair_text(pair)
    if text[0] == text[2]:
        return text[0] + text[2]
    return text[0] + text[2] + ("s" if text[1] == text[3] else "o")
