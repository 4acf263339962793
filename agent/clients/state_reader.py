"""Reading the states of one match: a line that continues the last one costs only its new actions."""

import re
from functools import lru_cache

from foldwise.game.betting import CALL, FOLD, RAISE, Action, BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import FormatError, IllegalActionError
from foldwise.game.text.match_state import MatchState, read_match_state

_HEAD = re.compile(r"MATCHSTATE:([0-9]):([0-9]{1,9}):([^:]*)")
_ACTION = re.compile(r"([fcr])([0-9]{0,9})|/")
_KINDS = {"f": FOLD, "c": CALL, "r": RAISE}


@lru_cache(maxsize=4096)
def _cards(text: str) -> tuple[int, ...] | None:
    try:
        return parse_cards(text) if " " not in text else None
    except FormatError:
        return None


class StateReader:
    """Reads state lines in the order they arrive. Plain lines are read quickly, all others by `read_match_state`.

    The states share one `BettingState`, which the next line changes.
    """

    def __init__(self, definition: GameDefinition):
        self._definition = definition
        self._betting = BettingState(definition)
        self._head = ""  # of the last line: everything up to its cards
        self._position = 0
        self._hand_number = 0
        self._cards_text: str | None = None  # of the last line
        self._hole_cards: list[tuple[int, ...]] = []
        self._board: tuple[int, ...] = ()

    def read(self, line: str) -> MatchState | None:
        """The state of a line without its end, or None where the line is not a state."""
        head, _, cards = line.rpartition(":")
        # Board cards in the first round follow the hole cards without a separator: leave those to `read_match_state`.
        if not self._definition.num_board_cards[0] and self._follow(head) and self._take_cards(cards):
            return MatchState(self._position, self._hand_number, self._betting, self._hole_cards, self._board)
        self._head = ""
        self._cards_text = None
        result = read_match_state(line, self._definition)
        return None if result is None or result[1] != len(line) else result[0]

    def _follow(self, head: str) -> bool:
        """Advance the betting to that of `head`; False if it is not plain and legal."""
        if self._head and head.startswith(self._head):
            new_actions = head[len(self._head) :]
        else:
            match = _HEAD.fullmatch(head)
            if match is None:
                return False
            self._position, self._hand_number = int(match[1]), int(match[2])
            self._betting = BettingState(self._definition)
            new_actions = match[3]
        betting = self._betting
        num_rounds = betting.round
        at = 0
        while at < len(new_actions):
            match = _ACTION.match(new_actions, at)
            if match is None:
                return False
            at = match.end()
            letter, digits = match.groups()
            if letter is None:
                num_rounds += 1
                continue
            if bool(digits) != (letter == "r" and not self._definition.limit):
                return False
            try:
                betting.apply(Action(_KINDS[letter], int(digits or 0)))
            except IllegalActionError:
                return False
        self._head = head
        return num_rounds == betting.round and self._position < self._definition.num_players

    def _take_cards(self, text: str) -> bool:
        """Read the cards of a line, or keep those of the last one; False if they do not fit the round."""
        definition = self._definition
        board_size = definition.board_sizes[self._betting.round]
        if text == self._cards_text:
            return len(self._board) == board_size
        self._cards_text = text
        holes_text, _, board_text = text.partition("/")
        holes = [_cards(section) for section in holes_text.split("|")]
        board = _cards(board_text.replace("/", ""))
        self._hole_cards = [hole for hole in holes if hole is not None]
        self._board = board or ()
        return (
            len(self._hole_cards) == len(holes) == definition.num_players
            and all(len(hole) in (0, definition.num_hole_cards) for hole in self._hole_cards)
            and board is not None
            and len(board) == board_size
            and text.count("/") == self._betting.round
        )
