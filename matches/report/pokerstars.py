"""Heads-up hold'em hands of PokerStars' text histories, cash games and tournaments, no-limit and limit.

A room's history has what its player saw: cards nobody showed stay unknown. Amounts of money are read as cents. What a hand
pays follows from the cards by the rules or, if they were not shown, from who collected the pot; the room's rake is left
out in both cases. A line that is not understood is an error that names it: half a hand would be a wrong hand.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

from foldwise.game.betting import CALL_ACTION, FOLD_ACTION, RAISE, Action, BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import FormatError, IllegalActionError
from foldwise.game.hands.payoffs import payoffs
from foldwise.matches.report.phh import holdem_definition
from foldwise.matches.table.log import LoggedHand

_HEAD = "PokerStars "
_MONEY = r"[$€£]?([0-9][0-9,]*(?:\.[0-9]{1,2})?)"
_HEADER = re.compile(
    rf"PokerStars (?:Zoom |Home Game )?Hand #\S+:.*Hold'em (No Limit|Limit) .*?\(({_MONEY})/({_MONEY})(?: [A-Z]+)?\)"
)
_BUTTON = re.compile(r"Table '.*' .*Seat #([0-9]+) is the button")
_SEAT = re.compile(rf"Seat ([0-9]+): (.+) \(({_MONEY}) in chips(?:, .*)?\)( is sitting out| out of hand.*)?\s*")
_STREET = re.compile(r"\*\*\* (FLOP|TURN|RIVER) \*\*\* (?:\[.*\] )?\[([^\]]*)\]")
_SHOWN = re.compile(r"\[([2-9TJQKA][cdhs] [2-9TJQKA][cdhs])\]")
_SUMMARY_CARDS = re.compile(r"Seat ([0-9]+): .* (?:showed|mucked) (\[.*?\])")
_COLLECTED = re.compile(rf"(.+) collected {_MONEY} from (?:main pot|side pot|pot).*")
_RAISED = re.compile(rf"raises {_MONEY} to {_MONEY}( and is all-in)?")
_PAID = re.compile(rf"(bets|calls) {_MONEY}( and is all-in)?")
_BLIND = re.compile(rf"posts (small|big) blind {_MONEY}")
_SHOWING = re.compile(r"(shows|mucks|doesn't show)\b")
# Chat and table messages between the actions, which change nothing.
_TALK = re.compile(
    r'.+ said, ".*|.+: (is sitting out|sits out)|.+ (is (dis)?connected|leaves the table|joins the table at seat .*|'
    r"has returned|has timed out.*|was removed from the table.*|will be allowed to play.*|re-buys .*|has requested TIME|"
    r"is sitting out|cashed out .*|wins the tournament.*|finished the tournament.*)|Uncalled bet \(.*\) returned to .*|"
    r"\*\*\* SHOW DOWN \*\*\*|Dealt to .+|Betting is capped"
)


def is_pokerstars(text: str) -> bool:
    """Whether a text is such a history, by how it begins."""
    return text.lstrip("\ufeff \r\n").startswith(_HEAD)


def read_pokerstars(text: str, source: str) -> Iterator[LoggedHand]:
    """The hands of a history, numbered from 0 in their order; raises a `FormatError` that names the line."""
    reader: _HandReader | None = None
    number = 0
    for place, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        stripped = line.strip().lstrip("\ufeff")
        try:
            if stripped.startswith(_HEAD):
                if reader is not None:
                    yield reader.hand()
                reader = _HandReader(stripped, number)
                number += 1
            elif stripped and reader is not None:
                reader.read(stripped)
        except (FormatError, IllegalActionError) as error:
            raise FormatError(f"{source}, line {place}: {stripped[:120]!r}: {error}") from None
    if reader is None:
        raise FormatError(f"{source} holds no hand: expected lines that begin with 'PokerStars Hand #'")
    try:
        yield reader.hand()
    except FormatError as error:
        raise FormatError(f"{source}, its last hand: {error}") from None


class _HandReader:
    """One hand, line by line. Position 0 is the big blind, 1 the button, as in an ACPC game."""

    def __init__(self, header: str, number: int):
        found = _HEADER.match(header)
        if found is None:
            raise FormatError("expected a hand of Hold'em No Limit or Hold'em Limit with its stakes")
        self._number = number
        self._limit = found[1] == "Limit"
        self._cents = not found[2][0].isdigit()
        self._stakes = (self._chips(found[3]), self._chips(found[5]))
        self._button = -1
        self._stacks: dict[str, int] = {}
        self._seats: dict[int, str] = {}
        self._blinds: dict[str, int] = {}
        self._names: tuple[str, ...] = ()
        self._betting: BettingState | None = None
        self._street_start = [0, 0]
        self._holes: list[tuple[int, ...]] = [(), ()]
        self._board: tuple[int, ...] = ()
        self._collected: set[str] = set()
        self._in_summary = False

    def _chips(self, amount: str) -> int:
        return int(Decimal(amount.replace(",", "")) * (100 if self._cents else 1))

    def read(self, line: str) -> None:
        if self._in_summary:
            self._read_summary(line)
        elif line == "*** SUMMARY ***":
            self._in_summary = True
        elif self._betting is None:
            self._read_seating(line)
        else:
            self._read_play(line)

    def _read_seating(self, line: str) -> None:
        if line == "*** HOLE CARDS ***":
            self._begin()
            return
        seat, button = _SEAT.fullmatch(line), _BUTTON.match(line)
        name = next((name for name in self._stacks if line.startswith(f"{name}: posts ")), None)
        if button is not None:
            self._button = int(button[1])
        elif seat is not None:
            if not seat[5]:
                self._stacks[seat[2]] = self._chips(seat[4])
                self._seats[int(seat[1])] = seat[2]
        elif name is not None:
            blind = _BLIND.fullmatch(line.removeprefix(f"{name}: "))
            if blind is None:
                raise FormatError("expected one small and one big blind, nobody all-in by it, and no ante")
            self._blinds[blind[1]] = self._chips(blind[2])
        elif _TALK.fullmatch(line) is None:
            raise FormatError("expected the table, a seat or a blind")

    def _begin(self) -> None:
        if len(self._stacks) != 2 or set(self._blinds) != {"small", "big"} or self._button not in self._seats:
            raise FormatError(f"{len(self._stacks)} players are dealt in: expected two, their blinds and a button")
        button = self._seats[self._button]
        other = next(name for name in self._stacks if name != button)
        self._names = (other, button)
        self._betting = BettingState(self._definition())

    def _definition(self) -> GameDefinition:
        small_bet, big_bet = self._stakes if self._limit else (None, None)
        return holdem_definition(
            "FT" if self._limit else "NT",
            [self._blinds["small"], self._blinds["big"]],
            [self._stacks[name] for name in self._names],
            small_bet,
            big_bet,
        )

    def _read_play(self, line: str) -> None:
        street, collected = _STREET.match(line), _COLLECTED.fullmatch(line)
        name = next((name for name in self._names if line.startswith(f"{name}: ")), None)
        if line.startswith("Dealt to "):
            self._keep_cards(line.removeprefix("Dealt to ").rpartition(" [")[0], line)
        elif street is not None:
            self._board += parse_cards(street[2].replace(" ", ""))
        elif collected is not None:
            self._collected.add(collected[1])
        elif name is not None:
            self._read_action(name, line.removeprefix(f"{name}: "))
        elif _TALK.fullmatch(line) is None:
            raise FormatError("expected an action of one of the two players; boards run twice are not read")

    def _read_action(self, name: str, text: str) -> None:
        betting = self._betting
        assert betting is not None
        raised, paid = _RAISED.fullmatch(text), _PAID.fullmatch(text)
        position = self._names.index(name)
        start = self._street_start[position]
        if raised is not None:
            action = Action(RAISE, start + self._chips(raised[2]))
        elif paid is not None:
            action = CALL_ACTION if paid[1] == "calls" else Action(RAISE, start + self._chips(paid[2]))
        elif text == "checks":
            action = CALL_ACTION
        elif text.startswith("folds"):
            self._keep_cards(name, text)
            action = FOLD_ACTION
        elif _SHOWING.match(text):
            self._keep_cards(name, text)
            return
        elif text in ("is sitting out", "sits out"):
            return
        else:
            raise FormatError("expected folds, checks, calls, bets, raises, shows or mucks")
        if betting.finished or betting.player_to_act != position:
            raise FormatError(f"it is not the turn of {name}")
        before = betting.round
        betting.apply(action)
        if action.kind == RAISE and action.raise_to != betting.max_spent:
            raise FormatError(f"expected a bet of {betting.max_spent - start} in this limit game")
        if betting.round != before:
            self._street_start = betting.spent.copy()

    def _keep_cards(self, name: str, text: str) -> None:
        shown = _SHOWN.search(text)
        if shown is not None and name in self._names:
            self._holes[self._names.index(name)] = parse_cards(shown[1].replace(" ", ""))

    def _read_summary(self, line: str) -> None:
        if line.startswith("Hand was run"):
            raise FormatError("a board that is run twice has two results: leave the hand out")
        shown = _SUMMARY_CARDS.match(line)
        if shown is not None and int(shown[1]) in self._seats:
            self._keep_cards(self._seats[int(shown[1])], shown[2])

    def hand(self) -> LoggedHand:
        """The hand, once its last line is read."""
        betting = self._betting
        if betting is None or not betting.finished:
            raise FormatError(f"hand {self._number + 1} breaks off before its end: give whole hands")
        board = self._board[: betting.definition.board_sizes[betting.round]]
        if len(board) != betting.definition.board_sizes[betting.round]:
            raise FormatError(f"hand {self._number + 1} has {len(self._board)} board cards, too few for its betting")
        winners = [int(name in self._collected) for name in self._names]
        values = payoffs(betting, self._holes, board)
        if values is None:
            if not any(winners):
                raise FormatError(f"hand {self._number + 1}: nobody collected the pot, and not all cards were shown")
            values = betting.settle(winners)
        elif any(winners) and values != betting.settle(winners):
            raise FormatError(
                f"hand {self._number + 1}: {' and '.join(sorted(self._collected))} collected the pot, by the cards "
                "another wins it: the hand is damaged"
            )
        return LoggedHand(self._number, betting, tuple(self._holes), board, tuple(values), self._names)
