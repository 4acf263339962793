"""A table drawn in a terminal, for a person who sits at it."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console as RichConsole

from foldwise.agent.human import OPPONENT, HandEnd, Turn, seat_names
from foldwise.game.cards import card_text, parse_cards, suit_of
from foldwise.game.text.action_words import YOU, label_of, spoken_actions
from foldwise.game.text.match_state import MatchState, parse_match_state

if TYPE_CHECKING:
    from foldwise.agent.strategy_player import Decision, StrategyPlayer
    from foldwise.game.definition import GameDefinition

_SUIT_MARKS = "♣♦♥♠"  # in the order of game.cards.SUITS
_SUIT_STYLES = ("green", "blue", "red", "default")
_BAR_WIDTH = 20


def read_keyboard(descriptor: int = 0) -> Callable[[], str | None]:
    """Lines typed. Bypasses Python's buffer, whose lock would block the exit after Ctrl-C while a thread waits in it."""
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
    """The table drawn in a terminal: `agent.human.Console`.

    `reveal` gives what the opponent considered in a hand, for `why` and, with `always`, after every hand. `adviser` is
    the strategy that `hint` asks.
    """

    def __init__(
        self,
        definition: "GameDefinition",
        screen: RichConsole,
        read_line: Callable[[], str | None],
        reveal: Reveal | None = None,
        always: bool = False,
        adviser: "StrategyPlayer | None" = None,
    ):
        from foldwise.matches.report.replay import position_names, street_names

        self._screen = screen
        self._read_line = read_line
        self._definition = definition
        self._reveal = reveal
        self._always = always
        self._adviser = adviser
        self._last_end: HandEnd | None = None
        self._heard = (-1, 0)  # hand, and how many of its actions have been shown
        self._streets = street_names(definition)
        two_players = definition.num_players == 2
        self._positions = position_names(definition) if two_players else [f"seat {p + 1}" for p in range(10)]
        self._limit = definition.limit

    def show_turn(self, turn: Turn) -> None:
        show = self._screen.print
        mine = turn.position
        show()
        show(f"[bold]hand {turn.hand_number}, {self._streets[turn.street]}[/bold]  you: {self._positions[mine]}")
        self._tell(turn.hand_number, turn.said)
        names = seat_names(len(turn.bets), mine, OPPONENT)
        for player, (bet, stack) in enumerate(zip(turn.bets, turn.stacks)):
            if player != mine:
                show(f"  {names[player]:<14}{_chips(stack)}  bet {bet:,}")
        show(f"  {'board':<14}{cards_markup(turn.board) or '-'}  pot {turn.pot:,}")
        show(f"  {'you':<14}{cards_markup(turn.hole_cards)}  {_chips(turn.stacks[mine])}  bet {turn.bets[mine]:,}")
        show(f"  {self._choices(turn)}")

    def _tell(self, hand_number: int, said: Sequence[str]) -> None:
        """Show what the others have done since the last report."""
        told = self._heard[1] if self._heard[0] == hand_number else 0
        for sentence in said[told:]:
            if not sentence.startswith(f"{YOU} "):
                self._screen.print(f"  {sentence}")
        self._heard = (hand_number, len(said))

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
        self._last_end = end
        names = seat_names(len(state.hole_cards), state.position, OPPONENT)
        self._tell(state.hand_number, spoken_actions(state.betting, names))
        show(f"[bold]hand {state.hand_number} is over[/bold]")
        if state.betting.is_showdown():
            show(f"  {'board':<14}{cards_markup(state.board)}")
            for name, cards in zip(names, state.hole_cards):
                show(f"  {name:<14}{cards_markup(cards) or 'not shown'}")
        if end.profit is not None:
            verb = "win" if end.profit > 0 else "lose" if end.profit < 0 else "split the pot:"
            style = "green" if end.profit > 0 else "red" if end.profit < 0 else "default"
            show(f"  [bold {style}]you {verb} {abs(end.profit):,.0f}[/bold {style}]   in all {end.total:+,.0f}")
        if self._always:
            self.show_why()

    def show_why(self) -> None:
        if self._last_end is None:
            self.complain("why explains the last hand: none is over yet")
        elif self._reveal is None:
            self.complain("why needs the bot's strategy: start with --reveal DIR")
        else:
            decisions = self._reveal(self._last_end)
            if not decisions:
                self.complain(f"nothing to reveal: {OPPONENT} made no decision, or did not show its cards")
            for decision in decisions:
                self._show_decision(decision, OPPONENT)

    def show_hint(self, state: MatchState) -> None:
        if self._adviser is None:
            self.complain("hint needs a strategy to ask: start with --reveal DIR")
            return
        self._show_decision(self._adviser.explain(state)[0], "the strategy in your place")

    def _show_decision(self, decision: "Decision", who: str) -> None:
        """A decision in words: what was done before, and a bar for each action; a star marks what was played."""
        state = parse_match_state(decision.state, self._definition)
        said = spoken_actions(state.betting, seat_names(len(state.hole_cards), state.position, YOU))
        before = said[-1].replace(f"{YOU} ", "", 1) if said else "the blinds"
        reached = "" if decision.reached else ", never reached by the solver"
        exact = self._limit or decision.abstract_betting == state.betting.betting_text()  # in limit, no other size
        read = "" if exact else f", read as {decision.abstract_betting or 'the start'}"
        self._screen.print(
            f"  [dim]{who} with {cards_markup(parse_cards(decision.hand))} on the {self._streets[state.betting.round]} "
            f"after {before}{read}, bucket {decision.bucket}{reached}:[/dim]"
        )
        labels = [label_of(state.betting, action) for action in decision.actions]
        width = max(map(len, labels))
        for label, action, raw, played in zip(labels, decision.actions, decision.probabilities, decision.postprocessed):
            mark = "*" if action == decision.action and who == OPPONENT else " "
            bar = "█" * round(_BAR_WIDTH * played)
            note = "" if abs(raw - played) < 5e-4 else f" (solved {raw:.1%})"
            self._screen.print(f"   {mark} {label:>{width}} {played:6.1%} {bar}{note}", markup=False)

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
    """The screen a person plays on: stderr if stdout carries JSON."""
    return RichConsole(highlight=False, soft_wrap=True, file=sys.stderr if as_json else sys.stdout)
