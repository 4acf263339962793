"""Reading the states of one match: a line that goes on from the last one costs its new actions only."""

import re
from functools import lru_cache

from game.betting import CALL, FOLD, RAISE, Action, BettingState
from game.cards import parse_cards
from game.definition import GameDefinition
from game.errors import FormatError, IllegalActionError
from game.match_state import MatchState, read_match_state

_ACTION = re.compile(r"([fcr])(\d*)|/")
_KINDS = {"f": FOLD, "c": CALL, "r": RAISE}
_MAX_DIGITS = 10


@lru_cache(maxsize=4096)
def _cards(text: str) -> tuple[int, ...] | None:
    try:
        return parse_cards(text) if " " not in text else None
    except FormatError:
        return None


class StateReader:
    """Reads state lines in the order they come. Plain lines take the short way, all others `read_match_state`.

    The states share one `BettingState`, which the next line changes.
    """

    def __init__(self, definition: GameDefinition):
        self._definition = definition
        self._hand = ""
        self._betting_text = ""
        self._betting = BettingState(definition)

    def read(self, line: str) -> MatchState | None:
        """The state of a line without its end, or None where the line is none."""
        state = None if self._definition.num_board_cards[0] else self._read_plain(line)
        if state is not None:
            return state
        self._hand = ""
        result = read_match_state(line, self._definition)
        return None if result is None or result[1] != len(line) else result[0]

    def _read_plain(self, line: str) -> MatchState | None:
        parts = line.split(":")
        if len(parts) != 5:
            return None
        prefix, position, hand, betting_text, cards = parts
        if prefix != "MATCHSTATE" or not (position.isdecimal() and hand.isdecimal()):
            return None
        definition = self._definition
        if len(hand) > _MAX_DIGITS or len(position) > 1 or int(position) >= definition.num_players:
            return None
        if not self._follow(hand, betting_text):
            return None
        betting = self._betting
        holes_text, _, board_text = cards.partition("/")
        holes = [_cards(section) for section in holes_text.split("|")]
        board = _cards(board_text.replace("/", ""))
        hole_sizes = (0, definition.num_hole_cards)
        if (
            len(holes) != definition.num_players
            or any(hole is None or len(hole) not in hole_sizes for hole in holes)
            or board is None
            or len(board) != definition.board_sizes[betting.round]
            or cards.count("/") != betting.round
        ):
            return None
        hole_cards = [hole for hole in holes if hole is not None]
        return MatchState(int(position), int(hand), betting, hole_cards, board)

    def _follow(self, hand: str, text: str) -> bool:
        """Bring the betting to `text`; False where it is not plain and legal."""
        if hand != self._hand or not text.startswith(self._betting_text):
            self._hand = hand
            self._betting_text = ""
            self._betting = BettingState(self._definition)
        betting = self._betting
        at = len(self._betting_text)
        while at < len(text):
            match = _ACTION.match(text, at)
            if match is None:
                return False
            at = match.end()
            letter, digits = match.groups()
            if letter is None:
                continue
            if len(digits) > _MAX_DIGITS or bool(digits) != (letter == "r" and not self._definition.limit):
                return False
            try:
                betting.apply(Action(_KINDS[letter], int(digits or 0)))
            except IllegalActionError:
                return False
        self._betting_text = text
        return text.count("/") == betting.round
