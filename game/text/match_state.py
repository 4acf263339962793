"""Match states: the line a dealer sends, the line a player answers, and how the dealer reads it.

Reading is as lenient as the reference dealer's, character by character; writing is exact. One reader serves both ends.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from foldwise.game.betting import CALL, FOLD, RAISE, Action, BettingState
from foldwise.game.cards import RANKS, SUITS, cards_text
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import FormatError

_PREFIX = "MATCHSTATE:"
_INTEGER = re.compile(r"[ \t\n\v\f\r]*([+-]?)0*([0-9]{1,21})[0-9]*")  # 21 digits do not fit into 64 bits
_KIND_OF_LETTER = {"f": FOLD, "c": CALL, "k": CALL, "r": RAISE, "b": RAISE}


@dataclass
class MatchState:
    """A hand as one position sees it. A position's hole cards are empty where they are hidden."""

    position: int
    hand_number: int
    betting: BettingState
    hole_cards: list[tuple[int, ...]]
    board: tuple[int, ...]

    def same_request(self, other: "MatchState") -> bool:
        """Whether an answer to `other` also answers this state; of the cards only the viewer's own are compared."""
        return (
            self.position == other.position
            and self.hand_number == other.hand_number
            and self.betting.actions == other.betting.actions
            and self.board == other.board
            and self.hole_cards[self.position] == other.hole_cards[self.position]
        )

    def is_turn(self) -> bool:
        """Whether the viewer has to act: the only signal a player gets."""
        return not self.betting.finished and self.betting.player_to_act == self.position

    def text(self) -> str:
        """The line without its end."""
        board = self.board
        sections = []
        start = 0
        for end in self.betting.definition.board_sizes[: self.betting.round + 1]:
            sections.append(cards_text(board[start:end]))
            start = end
        holes = "|".join(cards_text(cards) for cards in self.hole_cards)
        return f"{_PREFIX}{self.position}:{self.hand_number}:{self.betting.betting_text()}:{holes}{'/'.join(sections)}"


def visible_hole_cards(
    betting: BettingState, hole_cards: Sequence[tuple[int, ...]], position: int
) -> list[tuple[int, ...]]:
    """What `position` may see: its own cards, and at a showdown those of everyone who has not folded."""
    showdown = betting.is_showdown()
    return [
        cards if p == position or (showdown and not betting.folded[p]) else () for p, cards in enumerate(hole_cards)
    ]


def view(
    betting: BettingState,
    hole_cards: Sequence[tuple[int, ...]],
    full_board: tuple[int, ...],
    position: int,
    hand_number: int,
) -> MatchState:
    """The state of a hand as `position` sees it; `full_board` is the board of the last round."""
    board = full_board[: betting.definition.board_sizes[betting.round]]
    return MatchState(position, hand_number, betting, visible_hole_cards(betting, hole_cards, position), board)


def _read_unsigned(text: str, start: int, bits: int) -> tuple[int, int]:
    """An unsigned number as C's scanf reads it into `bits` bits; (value, end), or end -1."""
    match = _INTEGER.match(text, start)
    if match is None:
        return 0, -1
    value = int(match.group(1) + match.group(2))
    if abs(value) > 2**64 - 1:
        value = 2**64 - 1
    return value % 2**bits, match.end()


def _read_signed_32(text: str, start: int) -> tuple[int, int]:
    """A signed number saturated at 64 bits and cut to 32, as the reference reads raise sizes; (value, end)."""
    match = _INTEGER.match(text, start)
    if match is None:
        return 0, -1
    value = max(-(2**63), min(2**63 - 1, int(match.group(1) + match.group(2))))
    value %= 2**32
    return value - 2**32 if value >= 2**31 else value, match.end()


def behind_marks(text: str, at: int) -> int:
    """The place of the next action: marks between rounds are passed over, however many there are."""
    while text[at : at + 1] == "/":
        at += 1
    return at


def read_action(text: str, start: int, definition: GameDefinition) -> tuple[Action | None, int]:
    """Read an action at `start`: (action, end). The action is None for an unknown letter; end is -1 for no number."""
    kind = _KIND_OF_LETTER.get(text[start : start + 1].lower())
    if kind is None:
        return None, start + 1
    if kind == RAISE and not definition.limit:
        raise_to, end = _read_signed_32(text, start + 1)
        return Action(RAISE, raise_to), end
    return Action(kind), start + 1


def _read_cards(text: str, start: int, most: int) -> tuple[tuple[int, ...], int]:
    cards: list[int] = []
    while len(cards) < most:
        rank = RANKS.find(text[start : start + 1].upper())
        suit = SUITS.find(text[start + 1 : start + 2].lower())
        if rank < 0 or suit < 0 or start + 2 > len(text):
            break
        cards.append(4 * rank + suit)
        start += 2
    return tuple(cards), start


def read_match_state(line: str, definition: GameDefinition) -> tuple[MatchState, int] | None:
    """Read a state at the start of `line`, leniently: the state and where it ends, or None where there is none.

    Separators may be missing or doubled, letters of either case, `k` and `b` for call and raise; but every action must
    be legal, and the board complete for the round the betting reaches.
    """
    if not line.startswith(_PREFIX):
        return None
    position, at = _read_unsigned(line, len(_PREFIX), 8)
    if at < 0 or position >= definition.num_players or line[at : at + 1] != ":":
        return None
    hand_number, at = _read_unsigned(line, at + 1, 32)
    if at < 0 or line[at : at + 1] != ":":
        return None
    at += 1
    betting = BettingState(definition)
    while at < len(line) and line[at] != ":":
        if line[at] == "/":
            at += 1
            continue
        action, at = read_action(line, at, definition)
        if action is None or at < 0 or not betting.is_legal(action):
            return None
        betting.apply(action)
    if at >= len(line):
        return None
    at += 1
    hole_cards = []
    for p in range(definition.num_players):
        if p and line[at : at + 1] == "|":
            at += 1
        cards, at = _read_cards(line, at, definition.num_hole_cards)
        if 0 < len(cards) < definition.num_hole_cards:
            return None
        hole_cards.append(cards)
    board: tuple[int, ...] = ()
    for round_index, expected in enumerate(definition.num_board_cards[: betting.round + 1]):
        if round_index and line[at : at + 1] == "/":
            at += 1
        cards, at = _read_cards(line, at, expected)
        if len(cards) != expected:
            return None
        board += cards
    return MatchState(position, hand_number, betting, hole_cards, board), at


def parse_match_state(line: str, definition: GameDefinition) -> MatchState:
    """Read a whole state line; raises `FormatError` where the line is not a state, or continues after it."""
    text = line.rstrip("\r\n")
    result = read_match_state(text, definition)
    if result is None:
        raise FormatError(
            f"match state {text!r}: expected MATCHSTATE:position:hand:betting:cards with legal betting and full board"
        )
    state, end = result
    if end != len(text):
        raise FormatError(f"match state {text!r}: {text[end:]!r} after the cards: expected the end of the line")
    return state
