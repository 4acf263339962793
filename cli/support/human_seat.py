"""A person's seat: at a dealer somewhere, or across from a strategy in a duel."""

import contextlib
from pathlib import Path
from typing import NotRequired, TypedDict

from foldwise.agent.clients.client import play_match
from foldwise.agent.human import HandEnd, HumanPlayer, SeatLeftError
from foldwise.agent.player import warm_up
from foldwise.agent.strategy_player import Decision, OpenStrategy, StrategyPlayer
from foldwise.cli.support import terminal_table
from foldwise.cli.support.output import emit, stderr
from foldwise.cli.support.table_game import table_definition
from foldwise.cli.support.terminal_table import Reveal, TerminalTable
from foldwise.game.betting import BettingState
from foldwise.game.definition import GameDefinition
from foldwise.game.text.match_state import view
from foldwise.postprocess.pipeline import Pipeline


class SeatResult(TypedDict):
    hands: int
    chips: float
    mean_mbb: float
    log: NotRequired[str]
    seed: NotRequired[int]
    bankroll_hands: NotRequired[int]
    bankroll_chips: NotRequired[float]


def seat_person(
    definition: GameDefinition,
    reveal: Reveal | None,
    as_json: bool,
    always: bool = False,
    adviser: StrategyPlayer | None = None,
) -> HumanPlayer:
    """A person at this terminal."""
    screen = terminal_table.open_screen(as_json)
    keyboard = terminal_table.read_keyboard()
    return HumanPlayer(TerminalTable(definition, screen, keyboard, reveal, always, adviser))


def play_human(
    host: str, port: int, game: str | None, deadline_seconds: float, reveal: Path | None, as_json: bool
) -> int:
    """`foldwise play human`: a person at any dealer."""
    explain = strategy = None
    if reveal is not None:
        opened = OpenStrategy(reveal)
        strategy = opened.player(Pipeline(), seed=0)
        warm_up(strategy)
        definition = table_definition(game) if game is not None else opened.definition
        explain = _explain_shown(strategy)
    else:
        definition = table_definition(game or "hunl")
    person = seat_person(definition, explain, as_json, always=reveal is not None, adviser=strategy)
    faults = 0
    with contextlib.suppress(SeatLeftError):
        faults = play_match(person, definition, host, port, deadline_seconds).faults
    total = seat_result(person, definition)
    emit(total, as_json, lambda: stderr.print(total_text(total)))
    return 1 if faults else 0


def _explain_shown(strategy: StrategyPlayer) -> Reveal:
    """What a strategy would have done with the cards the opponent showed; empty if none were shown."""

    def explain(end: HandEnd) -> list[Decision]:
        state = end.state
        other = 1 - state.position
        if state.betting.definition.num_players != 2 or not state.hole_cards[other]:
            return []
        betting = BettingState(state.betting.definition)
        decisions = []
        for position, action in (entry for actions in state.betting.actions for entry in actions):
            if position == other:
                seen = view(betting, state.hole_cards, state.board, other, state.hand_number)
                decisions.append(strategy.explain(seen)[0])
            betting.apply(action)
        return decisions

    return explain


def seat_result(person: HumanPlayer, definition: GameDefinition) -> SeatResult:
    """What the person won."""
    per_hand = 1000 * person.total / definition.big_blind / person.hands if person.hands else 0.0
    return SeatResult(hands=person.hands, chips=person.total, mean_mbb=per_hand)


def total_text(result: SeatResult) -> str:
    return f"{result['hands']} hands, {result['chips']:+,.0f} chips, {result['mean_mbb']:+,.0f} mbb/h"
