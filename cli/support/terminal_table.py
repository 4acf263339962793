"""A table drawn in a terminal, for a person who sits at it."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console as RichConsole

from foldwise.agent.human import HandEnd, Turn
from foldwise.game.cards import card_text, suit_of

if TYPE_CHECKING:
    from foldwise.agent.strategy_player import Decision
    from foldwise.game.definition import GameDefinition

_SUIT_MARKS = "♣♦♥♠"  # in the order of game.cards.SUITS
_SUIT_STYLES = ("green", "blue", "red", "default")
_BAR_WIDTH = 20


def read_keyboard(descriptor: int = 0) -> Callable[[], str | None]:
    """Lines typed. Read without Python's buffer: its lock would hang the exit after Ctrl-C while a thread waits in it."""
    received = bytearray()

    def line() -> str | None:
        while b"\n" not in received:
            try:
                data = os.read(descriptor, 4096)
            except OSError:
                data = b""
            if not data:
                return None
            received.extend(data)
        text, _, rest = bytes(received).partition(b"\n")
        received[:] = rest
        return text.decode("utf-8", "replace")

    return line


Reveal = Callable[[HandEnd], "Sequence[Decision]"]


class TerminalTable:
    """The table drawn in a terminal: `agent.human.Console`."""

    def __init__(
        self,
        definition: "GameDefinition",
        screen: RichConsole,
        read_line: Callable[[], str | None],
        opponent: str = "bot",
        reveal: Reveal | None = None,
    ):
        from foldwise.matches.report.replay import position_names, street_names

        self._screen = screen
        self._read_line = read_line
        self._opponent = opponent
        self._reveal = reveal
        self._streets = street_names(definition)
        two_players = definition.num_players == 2
        self._positions = position_names(definition) if two_players else [f"seat {p + 1}" for p in range(10)]
        self._limit = definition.limit

    def show_turn(self, turn: Turn) -> None:
        show = self._screen.print
        mine = turn.position
        show()
        show(
            f"[bold]hand {turn.hand_number + 1}, {self._streets[turn.street]}[/bold]  you: {self._positions[mine]}"
            f"  betting: {turn.history or '-'}"
        )
        for player, (bet, stack) in enumerate(zip(turn.bets, turn.stacks)):
            if player != mine:
                show(f"  {self._opponent:<14}{_chips(stack)}  bet {bet:,}")
        show(f"  {'board':<14}{cards_markup(turn.board) or '-'}  pot {turn.pot:,}")
        show(f"  {'you':<14}{cards_markup(turn.hole_cards)}  {_chips(turn.stacks[mine])}  bet {turn.bets[mine]:,}")
        show(f"  {self._choices(turn)}")

    def _choices(self, turn: Turn) -> str:
        choices = ["[bold]f[/bold] fold"] if turn.can_fold else []
        choices.append(f"[bold]c[/bold] call {turn.to_call:,}" if turn.to_call else "[bold]c[/bold] check")
        if turn.raise_range is not None:
            low, high = turn.raise_range
            verb = "raise to" if turn.to_call or turn.bets[turn.position] else "bet"
            if self._limit:
                choices.append(f"[bold]r[/bold] {verb} {low:,}")
            else:
                choices.append(f"[bold]b N[/bold] {verb} {low:,} to {high:,}, or a share: [bold]b 0.5p[/bold]")
                choices.append("[bold]a[/bold] all-in")
        return " · ".join(choices)

    def show_end(self, end: HandEnd) -> None:
        show = self._screen.print
        state = end.state
        show(f"[bold]hand {state.hand_number + 1} is over[/bold]  betting: {state.betting.betting_text()}")
        if state.betting.is_showdown():
            show(f"  {'board':<14}{cards_markup(state.board)}")
            for player, cards in enumerate(state.hole_cards):
                name = "you" if player == state.position else self._opponent
                show(f"  {name:<14}{cards_markup(cards) or 'not shown'}")
        else:
            folder = state.betting.folded.index(True)
            show(f"  {'you fold' if folder == state.position else f'{self._opponent} folds'}")
        if end.profit is not None:
            verb = "win" if end.profit > 0 else "lose" if end.profit < 0 else "split the pot:"
            style = "green" if end.profit > 0 else "red" if end.profit < 0 else "default"
            show(f"  [bold {style}]you {verb} {abs(end.profit):,.0f}[/bold {style}]   in all {end.total:+,.0f}")
        if self._reveal is not None:
            decisions = self._reveal(end)
            if not decisions:
                show(f"  [dim]nothing to reveal: {self._opponent} made no decision, or did not show its cards[/dim]")
            for decision in decisions:
                self._show_decision(decision)

    def _show_decision(self, decision: "Decision") -> None:
        from foldwise.game.cards import parse_cards

        betting = decision.state.split(":", 4)[3]
        reached = "" if decision.reached else ", never reached by the solver"
        read = "" if decision.abstract_betting == betting else f", read as {decision.abstract_betting or 'the start'}"
        self._screen.print(
            f"  [dim]{self._opponent} with {cards_markup(parse_cards(decision.hand))} after {betting or 'the blinds'}{read}, "
            f"bucket {decision.bucket}{reached}:[/dim]"
        )
        for action, raw, played in zip(decision.actions, decision.probabilities, decision.postprocessed):
            mark = "*" if action == decision.action else " "
            bar = "█" * round(_BAR_WIDTH * played)
            note = "" if abs(raw - played) < 5e-4 else f" (solved {raw:.1%})"
            self._screen.print(f"   {mark} {action:>8} {played:6.1%} {bar}{note}", markup=False)

    def complain(self, message: str) -> None:
        self._screen.print(f"  {message}", style="yellow", markup=False)

    def ask(self) -> str | None:
        self._screen.print("> ", end="")
        self._screen.file.flush()
        return self._read_line()


def _chips(stack: int) -> str:
    return "" if stack > 10**9 else f"{stack:,} behind"


def cards_markup(cards: Sequence[int]) -> str:
    """Cards with coloured suits."""
    return " ".join(
        f"[bold {_SUIT_STYLES[suit_of(card)]}]{card_text(card)[0]}{_SUIT_MARKS[suit_of(card)]}[/]" for card in cards
    )


def open_screen(as_json: bool) -> RichConsole:
    """The screen a person plays on; stdout is kept clear where it carries JSON."""
    return RichConsole(highlight=False, soft_wrap=True, file=sys.stderr if as_json else sys.stdout)
