"""One hand at the table: its cards, its betting, and its texts for players and the log."""

from collections.abc import Sequence

import numpy as np

from foldwise.game.betting import Action, BettingState
from foldwise.game.cards import cards_text
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.dealing import Deal
from foldwise.game.hands.evaluator import MAX_CARDS, evaluator_tables
from foldwise.game.hands.evaluator_kernels import rank_of_hand
from foldwise.game.text.match_state import MatchState, view, visible_hole_cards


def check_playable(definition: GameDefinition) -> None:
    """Raise `DefinitionError` for a game whose hands cannot be ranked."""
    num_cards = definition.num_hole_cards + definition.board_sizes[-1]
    if num_cards > MAX_CARDS:
        raise DefinitionError(
            f"a player sees {num_cards} cards at a showdown, at most {MAX_CARDS} can be ranked: "
            "lower numHoleCards or numBoardCards"
        )


class Hand:
    """A hand in play. Texts grow with the betting, so that a line costs one concatenation."""

    __slots__ = ("_betting_text", "_boards", "_holes", "betting", "deal", "number")

    def __init__(self, definition: GameDefinition, deal: Deal, number: int):
        self.deal = deal
        self.number = number
        self.betting = BettingState(definition)
        self._betting_text = ""
        holes = [cards_text(cards) for cards in deal.hole_cards]
        last = len(holes) - 1
        self._holes = [
            f"{'|' * p}{hole}{'|' * (last - p)}" for p, hole in enumerate(holes)
        ]  # as each position sees them
        self._boards: list[str] = []
        start = 0
        text = ""
        for round_index, end in enumerate(definition.board_sizes):
            text += ("/" if round_index else "") + cards_text(deal.board[start:end])
            self._boards.append(text)
            start = end

    def apply(self, action: Action) -> None:
        """Play an action of the player to act."""
        betting = self.betting
        before = betting.round
        betting.apply(action)
        self._betting_text += action.text(betting.definition.limit) + "/" * (betting.round - before)
        if betting.is_showdown():
            hole_cards = self.deal.hole_cards
            visible = (visible_hole_cards(betting, hole_cards, position) for position in range(len(hole_cards)))
            self._holes = ["|".join(map(cards_text, holes)) for holes in visible]

    def line(self, position: int) -> str:
        """The state line `position` gets, without its end."""
        board = self._boards[self.betting.round]
        return f"MATCHSTATE:{position}:{self.number}:{self._betting_text}:{self._holes[position]}{board}"

    def state(self, position: int) -> MatchState:
        """The same, as a `MatchState`."""
        return view(self.betting, self.deal.hole_cards, self.deal.board, position, self.number)

    def values(self) -> list[float]:
        """Profit of each position, once the hand is over."""
        if not self.betting.is_showdown():
            return self.betting.settle()
        board = self.deal.board
        tables = evaluator_tables()
        hands = [np.array(cards + board) for cards in self.deal.hole_cards]
        return self.betting.settle([int(rank_of_hand(tables, hand, hand.size)) for hand in hands])

    def log_line(self, values: Sequence[float], names: Sequence[str]) -> str:
        """The `STATE` line of the log: all hole cards; values and names by position."""
        holes = "|".join(map(cards_text, self.deal.hole_cards))
        board = self._boards[self.betting.round]
        amounts = "|".join(map(format_value, values))
        return f"STATE:{self.number}:{self._betting_text}:{holes}{board}:{amounts}:{'|'.join(names)}"


def format_value(value: float) -> str:
    """Six decimals, then trailing zeros and a trailing point dropped: `100`, `-2.5`, `33.333333`."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def score_line(totals: Sequence[float], names: Sequence[str]) -> str:
    """The `SCORE` line: totals and names by seat."""
    return f"SCORE:{'|'.join(map(format_value, totals))}:{'|'.join(names)}"


def seat_of_position(position: int, hand_number: int, num_players: int, fixed_seats: bool) -> int:
    """Seat (from 0) that holds `position` in a hand: the button moves by one seat per hand."""
    return position if fixed_seats else (position + hand_number) % num_players


def position_of_seat(seat: int, hand_number: int, num_players: int, fixed_seats: bool) -> int:
    return seat if fixed_seats else (seat - hand_number) % num_players
