"""A person as a player: what is asked, what may be answered, and what the answer means in chips.

Nothing is printed here: the screen and the keyboard are a `Console`, which the command line or a test provides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from foldwise.agent.player import safe_action
from foldwise.game.betting import CALL_ACTION, FOLD_ACTION, RAISE, Action
from foldwise.game.errors import FormatError
from foldwise.game.hands.payoffs import payoffs
from foldwise.game.text.action_words import YOU, spoken_actions, street_start
from foldwise.game.text.match_state import MatchState

HELP = (
    "f fold · c check or call · b 300 bet or raise to 300 chips on this street · b 0.5p half the pot · b 50% the same · "
    "b min the least · pot · a all-in · hint what the strategy would do · why the bot played the last hand so · ? help · "
    "q leave, checking or folding the rest of the hand"
)
_WORDS = {
    **dict.fromkeys(("f", "fold"), "f"),
    **dict.fromkeys(("c", "call"), "c"),
    **dict.fromkeys(("k", "check", "x"), "k"),
    **dict.fromkeys(("b", "bet", "r", "raise"), "b"),
    **dict.fromkeys(("a", "allin", "all-in", "all"), "a"),
}


OPPONENT = "the bot"


class SeatLeftError(BaseException):
    """The person has left the table, between two hands. Not an `Exception`, so that no fallback answers for them."""


class Console(Protocol):
    """A person's screen and keyboard."""

    def show_turn(self, turn: "Turn") -> None:
        """Show the table: the person is to act."""

    def show_end(self, end: "HandEnd") -> None:
        """Show how a hand ended."""

    def show_hint(self, state: MatchState) -> None:
        """Show what a strategy would do in the person's place."""

    def show_why(self) -> None:
        """Show what the opponent considered in the hand before."""

    def complain(self, message: str) -> None:
        """Say why an answer was refused."""

    def ask(self) -> str | None:
        """The next line typed; None at the end of the input."""


@dataclass(frozen=True)
class Turn:
    """The table as the person to act sees it. Chips; bets are those of this street."""

    hand_number: int
    position: int
    street: int
    hole_cards: tuple[int, ...]
    board: tuple[int, ...]
    pot: int  # all chips in, bets included
    bets: tuple[int, ...]  # by position
    stacks: tuple[int, ...]  # left, by position
    to_call: int
    can_fold: bool
    raise_range: tuple[int, int] | None  # on this street; None where no raise is possible
    limit: bool
    said: tuple[str, ...]  # the betting so far in words, one sentence an action


@dataclass(frozen=True)
class HandEnd:
    """A finished hand as one seat saw it."""

    state: MatchState
    profit: float | None  # of the viewer; None if it depends on hidden cards
    total: float  # of the viewer, this hand included


def seat_names(num_players: int, position: int, opponent: str) -> list[str]:
    """Names by position: you, and the others."""
    others = [opponent if num_players == 2 else f"{opponent} {p + 1}" for p in range(num_players)]
    return [YOU if p == position else others[p] for p in range(num_players)]


def read_turn(state: MatchState, opponent: str = OPPONENT) -> Turn:
    """What a person needs to see of a state."""
    betting = state.betting
    definition = betting.definition
    players = range(definition.num_players)
    start = [street_start(betting, player) for player in players]
    bounds = betting.raise_range()
    mine = state.position
    return Turn(
        hand_number=state.hand_number,
        position=mine,
        street=betting.round,
        hole_cards=state.hole_cards[mine],
        board=state.board,
        pot=sum(betting.spent),
        bets=tuple(betting.spent[player] - start[player] for player in players),
        stacks=tuple(definition.stacks[player] - betting.spent[player] for player in players),
        to_call=min(betting.max_spent, definition.stacks[mine]) - betting.spent[mine],
        can_fold=betting.can_fold(),
        raise_range=None if bounds is None else (bounds[0] - start[mine], bounds[1] - start[mine]),
        limit=definition.limit,
        said=tuple(spoken_actions(betting, seat_names(definition.num_players, mine, opponent))),
    )


def parse_answer(text: str, state: MatchState) -> Action:
    """The action a typed line means; raises `FormatError` that says what would have been legal.

    `b 300` is chips on this street, as at any table; `b 0.5p` raises by half the pot as it is after a call.
    """
    turn = read_turn(state)
    words = text.strip().lower().replace(",", "").split()
    if words and words[0] in ("pot", "min", "max"):
        words = ["b", *words]
    if len(words) == 1 and words[0][:1] in "br" and words[0] not in _WORDS:
        words = [words[0][0], words[0][1:]]  # b300
    kind = _WORDS.get(words[0]) if words else None
    if kind is None:
        raise FormatError(f"{text.strip()!r} is not an answer: {HELP}")
    if kind == "f":
        if not turn.can_fold:
            raise FormatError("checking is free: type c instead of folding")
        return FOLD_ACTION
    if kind == "k" and turn.to_call:
        raise FormatError(f"there is a bet of {turn.to_call:,} to call: type c to call it, or f to fold")
    if kind in "ck":
        return CALL_ACTION
    if turn.raise_range is None:
        raise FormatError("no raise is possible here: type c" + (" or f" if turn.can_fold else ""))
    start = street_start(state.betting, turn.position)
    low, high = turn.raise_range
    if turn.limit:
        return Action(RAISE, start + low)
    if kind == "a":
        return Action(RAISE, start + high)
    amount = _amount(words[1:], turn)
    if not low <= amount <= high:
        what = "raise to" if turn.to_call or turn.bets[turn.position] else "bet"
        raise FormatError(f"{amount} is not possible: {what} between {low} and {high} chips on this street")
    return Action(RAISE, start + amount)


def _amount(words: Sequence[str], turn: Turn) -> int:
    """Chips on this street: `300`, `0.5p`, `50%`, `pot`, `min`, `max`."""
    low, high = turn.raise_range or (0, 0)
    text = "".join(word for word in words if word not in ("to", "chips"))
    if text in ("min", "max", "pot"):
        return {"min": low, "max": high, "pot": _pot_share(1.0, turn)}[text]
    try:
        if text.endswith("%"):
            return _pot_share(float(text[:-1]) / 100, turn)
        if text.endswith(("p", "pot")):
            return _pot_share(float(text.removesuffix("ot").removesuffix("p")), turn)
        return int(text)
    except (ValueError, OverflowError):
        raise FormatError(f"b {text}: expected chips, as b 300, or a share of the pot, as b 0.5p") from None


def _pot_share(share: float, turn: Turn) -> int:
    """A raise by that share of the pot after a call, rounded to whole chips and clamped to the legal range."""
    level = turn.bets[turn.position] + turn.to_call
    low, high = turn.raise_range or (0, 0)
    raised = level + round(share * (turn.pot + turn.to_call))
    return min(high, max(low, raised)) if share > 0 else raised


class HumanPlayer:
    """A person at a console. Keeps a running total of what it sees won and lost.

    Leaving in the middle of a hand gives it up, and the result counts: it is folded at the first bet to face. Without one
    there is nothing to fold to (a dealer takes no fold there), so it is checked until then, to a showdown if no bet comes.
    """

    def __init__(self, console: Console):
        self._console = console
        self._last_hand = -1
        self._leaving = False
        self.total = 0.0
        self.hands = 0

    def choose(self, state: MatchState) -> Action:
        """Ask until the answer is a legal action."""
        console = self._console
        if not self._leaving:
            console.show_turn(read_turn(state))
        while not self._leaving:
            text = console.ask()
            word = "q" if text is None else text.strip().lower()
            if text is None or word in ("q", "quit", "exit"):
                self._leaving = True
                if not state.betting.can_fold():
                    console.complain("you leave: the rest of the hand is checked, and folded at the first bet")
                break
            if word in ("?", "h", "help", ""):
                console.complain(HELP)
                continue
            if word == "hint":
                console.show_hint(state)
                continue
            if word == "why":
                console.show_why()
                continue
            try:
                return parse_answer(text, state)
            except FormatError as error:
                console.complain(str(error))
        return safe_action(state)

    def observe(self, state: MatchState) -> None:
        """Show the end of each hand once."""
        if not state.betting.finished or state.hand_number == self._last_hand:
            return
        self._last_hand = state.hand_number
        self.hands += 1
        profit = hand_profit(state)
        self.total += profit if profit is not None else 0.0
        self._console.show_end(HandEnd(state, profit, self.total))
        if self._leaving:
            raise SeatLeftError


def hand_profit(state: MatchState) -> float | None:
    """What the viewer won in a finished hand; None if a hand in the showdown is not shown."""
    values = payoffs(state.betting, state.hole_cards, state.board)
    return None if values is None else values[state.position]
