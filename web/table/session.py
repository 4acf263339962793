"""One user's session against one opponent: hand after hand, kept on disk so that nothing is lost when the server dies.

A session is a folder:

- `session.json`: who plays whom, and the seeds; private, never sent.
- `session.log`: the finished hands, an ACPC log that every command reads.
- `hand.journal`: the cards and the betting of the hand in play (`hand_journal`); private, written before each answer.

Without a seed the cards come from the system's generator. A 32-bit seed could be found by trying all of them against the
cards a player has seen; a user who chooses the seed knows the cards, which is fine for practice.
"""

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from foldwise.agent.player import Player
from foldwise.agent.reading.typed_state import read_betting
from foldwise.game.betting import Action
from foldwise.game.definition import GameDefinition
from foldwise.game.hands.dealing import Deal, Shoe
from foldwise.matches.report.hand_files import game_name
from foldwise.matches.table.hand import Hand, position_of_seat, seat_of_position
from foldwise.matches.table.log import LogFile, header_text, line_values, state_lines
from foldwise.web.table.hand_journal import HandJournal, HandRecord
from foldwise.web.table.opponents import Opponent, Opponents, free_solutions, play_out
from foldwise.web.table.private_files import write_private

SETTINGS_FILE, LOG_FILE, HAND_FILE, GAME_FILE = "session.json", "session.log", "hand.journal", "session.game"
_LIMITS_MS = (600_000, 600_000, 7_000)
_NAME_MARKS = {ord(mark): "." for mark in ":|/\\"}
_SYSTEM = secrets.SystemRandom()


class SessionSettings(BaseModel):
    """The settings of a session, written when it begins."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[2] = 2
    kind: Literal["page", "door"]
    player: str = Field(max_length=60, description="the user's name, as logs have it")
    opponent: Opponent
    definition: str = Field(description="the game's ACPC text")
    seed: int | None = Field(default=None, ge=0, lt=2**32, description="of the cards; None: the system's generator")
    bot_seed: int = Field(ge=0, lt=2**63, description="of the opponent's choices")
    created: str = Field(description="UTC, ISO 8601")


@dataclass(frozen=True)
class Totals:
    """A session's totals."""

    hands: int = 0
    chips: float = 0.0
    baseline_chips: float = 0.0


@dataclass(frozen=True)
class FinishedHand:
    """How a hand ended, for the user."""

    number: int
    winnings: float
    won_pot: float
    baseline: float
    line: str  # its line in the log


def clean_name(text: str) -> str:
    """A name that fits into a log: one line of Latin letters without the log's separators."""
    shown = "".join(letter for letter in text.strip().translate(_NAME_MARKS) if letter.isprintable())
    return shown.encode("latin-1", "replace").decode("latin-1")[:40] or "player"


class Session:
    """A session in memory. `USER` is the user's seat; the button moves from hand to hand as at any dealer."""

    USER, BOT = 0, 1

    def __init__(self, folder: Path, settings: SessionSettings, definition: GameDefinition, opponents: Opponents):
        self.folder = folder
        self.settings = settings
        self.definition = definition
        self.bot: Player = opponents.player(settings.opponent, settings.bot_seed)
        self._measures = opponents.measures(settings.opponent)
        self.totals = Totals()
        self.hand: Hand | None = None  # the hand in play, or the last one
        self.finished: FinishedHand | None = None  # how `hand` ended; None while it is in play
        self._shoe = None if settings.seed is None else Shoe(definition, settings.seed).deals()
        self._dealt = 0
        self._journal = HandJournal(folder / HAND_FILE)
        self._log: LogFile | None = None  # open from the first hand that ends here
        self._take_up()

    @staticmethod
    def create(folder: Path, settings: SessionSettings, definition: GameDefinition, opponents: Opponents) -> "Session":
        """Begin a session in a new folder."""
        folder.mkdir(mode=0o700, parents=True)
        write_private(folder / SETTINGS_FILE, settings.model_dump_json(indent=1) + "\n")
        return Session(folder, settings, definition, opponents)

    @property
    def log_path(self) -> Path:
        return self.folder / LOG_FILE

    @property
    def position(self) -> int:
        """The user's position in the current hand."""
        return 0 if self.hand is None else position_of_seat(self.USER, self.hand.number, 2, False)

    @property
    def in_play(self) -> bool:
        return self.hand is not None and self.finished is None

    def bot_to_act(self) -> bool:
        """Whether the hand waits for the opponent."""
        return self.hand is not None and self.in_play and self.hand.betting.player_to_act != self.position

    def start_hand(self) -> None:
        """Deal the next hand."""
        assert not self.in_play
        number = self.totals.hands
        deal = self._deal(number)
        self.hand = Hand(self.definition, deal, number)
        self.finished = None
        baseline = self.totals.baseline_chips
        self._journal.begin(
            HandRecord(number=number, hole_cards=deal.hole_cards, board=deal.board, baseline_before=baseline)
        )

    def apply(self, action: Action) -> None:
        """Play and record a legal action of the player to act; a finished hand is logged."""
        assert self.hand is not None
        self.hand.apply(action)
        self._journal.add(self.hand.betting.betting_text())
        if self.hand.betting.finished:
            self._finish()

    def close(self) -> None:
        """Close the files; everything is in the folder."""
        if self._log is not None:
            self._log.close()
            self._log = None

    def _deal(self, number: int) -> Deal:
        if self._shoe is None:
            num_hole, players = self.definition.num_hole_cards, self.definition.num_players
            cards = _SYSTEM.sample(self.definition.deck, self.definition.cards_per_hand)
            split = players * num_hole
            holes = tuple(tuple(cards[start : start + num_hole]) for start in range(0, split, num_hole))
            return Deal(holes, tuple(cards[split:]))
        while self._dealt < number:
            next(self._shoe)
            self._dealt += 1
        self._dealt += 1
        return next(self._shoe)

    def _finish(self) -> None:
        hand = self.hand
        assert hand is not None
        values = hand.values()
        line = hand.log_line(values, self._names_by_position(hand.number))
        if self._log is None:
            self._log = LogFile(self.log_path, append=True)
            if self.log_path.stat().st_size == 0:
                self._log.write(self._header())
        self._log.write(line + "\n")
        self._count(values[self.position], line)
        free_solutions(self.bot)

    def _count(self, winnings: float, line: str) -> None:
        hand = self.hand
        assert hand is not None
        spent = hand.betting.spent
        baseline = self._baseline(hand)
        self.totals = Totals(self.totals.hands + 1, self.totals.chips + winnings, self.totals.baseline_chips + baseline)
        won_pot = winnings + spent[self.position] if winnings > -spent[self.position] else 0.0
        self.finished = FinishedHand(hand.number, winnings, won_pot, baseline, line)

    def _baseline(self, hand: Hand) -> float:
        """What the blueprint wins in the user's place with the same cards, against itself.

        Its mean over both positions is zero whatever the user does, so subtracting it removes luck without adding a bias.
        """
        return play_out(Hand(self.definition, hand.deal, hand.number), self._measures)[self.position]

    def _names_by_position(self, number: int) -> list[str]:
        names = (self.settings.player, clean_name(self.settings.opponent.label()))
        if names[0] == names[1]:
            names = (f"{names[0]}.user", names[1])
        return [names[seat_of_position(position, number, 2, False)] for position in range(2)]

    def _header(self) -> str:
        name = game_name(self.definition)
        if name is None:
            name = GAME_FILE
            write_private(self.folder / GAME_FILE, self.definition.to_text())
        return header_text(self.folder.name, name, 0, self.settings.seed or 0, _LIMITS_MS)

    def _take_up(self) -> None:
        """Continue from what the folder holds."""
        kept = self._journal.read()
        if kept is None:
            return
        record, betting = kept
        logged = list(state_lines(self.log_path)) if self.log_path.is_file() else []
        before = logged[: record.number]
        chips = sum(line_values(line)[position_of_seat(self.USER, n, 2, False)] for n, line in enumerate(before))
        self.totals = Totals(len(before), chips, record.baseline_before)
        self.hand = hand = Hand(self.definition, Deal(record.hole_cards, record.board), record.number)
        if self._shoe is not None:
            self._deal(record.number)
        for _, action in (entry for part in read_betting(self.definition, betting).actions for entry in part):
            hand.apply(action)
        if hand.betting.finished:
            if len(logged) > record.number:
                self._count(hand.values()[self.position], logged[record.number])
            else:
                self._finish()
