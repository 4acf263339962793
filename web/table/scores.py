"""What a session's hands were worth, and what the opponent considered: computed from the log by `matches.scoring`."""

import asyncio
import contextlib
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from foldwise.agent.reading.typed_state import read_betting
from foldwise.agent.strategy_player import OpenStrategy, StrategyPlayer
from foldwise.game.betting import BettingState
from foldwise.game.cards import card_text, cards_text
from foldwise.game.errors import FormatError
from foldwise.game.hands.hole_cards import PAIR_CARDS
from foldwise.game.text.action_words import label_of
from foldwise.game.text.match_state import view
from foldwise.matches.report.explanations import Explanation, explain_hand
from foldwise.matches.scoring.aivat import Aivat
from foldwise.matches.scoring.aivat_rows import RowsScorer, rows_player
from foldwise.matches.scoring.aivat_values import DEFAULT_BOARDS, Values, fit_values, load_values, make_values
from foldwise.matches.scoring.all_in import expected_values
from foldwise.matches.statistics import estimate
from foldwise.matches.table.hand import position_of_seat
from foldwise.matches.table.log import LoggedHand, parse_state_line, read_log, state_lines
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.player import SearchPlayer
from foldwise.search.ranges import TableRanges
from foldwise.web.table.betting_words import betting_words
from foldwise.web.table.opponents import Opponents
from foldwise.web.table.session import Session
from foldwise.web.table.solving import SolveQueue

_KEPT = 64
_STEP_SECONDS = 0.5  # of correcting hands at a time: in between, others have their turn at the solves
_MOST_POINTS = 500
_SHOWN_HANDS = 12


class StrategyValues:
    """The values of each strategy, computed at first use and kept beside it if the folder is writable.

    Computing them takes up to minutes, once: it has a queue of its own, so that no hand, lookup or solve waits behind it.
    """

    def __init__(self, opponents: Opponents):
        self._opponents = opponents
        self._values: dict[str, Values] = {}
        self._lock = threading.Lock()  # a review with search runs in another thread
        self._queue = SolveQueue()
        self._preparing: dict[str, asyncio.Future[Values]] = {}

    async def prepare(self, name: str) -> None:
        """Return once `get` answers at once."""
        if not self.is_ready(name):
            await asyncio.shield(self._preparing[name])

    def is_ready(self, name: str) -> bool:
        """Whether `get` answers at once; if not, the values are being computed from now on."""
        if name in self._values:
            return True
        if name not in self._preparing:
            preparing = asyncio.ensure_future(self._queue.run(name, partial(self.get, name)))
            preparing.add_done_callback(partial(self._prepared, name))
            self._preparing[name] = preparing
        return False

    def _prepared(self, name: str, preparing: "asyncio.Future[Values]") -> None:
        del self._preparing[name]
        if not preparing.cancelled():
            preparing.exception()  # retrieve it, as nobody may be awaiting it

    def get(self, name: str) -> Values:
        with self._lock:
            if name not in self._values:
                opened = self._opponents.open(name)
                self._values[name] = load_values(opened.strategy) or _made(opened)
            return self._values[name]


def _made(opened: OpenStrategy) -> Values:
    try:
        return make_values(opened, DEFAULT_BOARDS, 0, 1)
    except OSError:  # read-only folder: each server computes the values again
        return fit_values(opened.definition, opened.player(Pipeline(), 0).seat, opened.lookup)


@dataclass
class _Scored:
    """What the finished hands of a session won, by each method; corrected as far as that has come."""

    chips: list[float] = field(default_factory=list)
    all_in: list[float] = field(default_factory=list)
    aivat: list[float | None] = field(default_factory=list)  # None: a decision that search had to leave to the table


class SessionScores:
    """Scores of finished hands, each computed once."""

    def __init__(self, opponents: Opponents, values: StrategyValues):
        self._opponents = opponents
        self._values = values
        self._scored: OrderedDict[Path, _Scored] = OrderedDict()
        self._aivat: dict[tuple[str, str], Aivat] = {}
        self._lock = threading.Lock()  # sessions against a searching bot are scored in the solving thread

    def is_correctable(self, session: Session) -> bool:
        """Whether AIVAT knows the bot's strategy: it is no bot with rules."""
        return not session.settings.opponent.is_bot and session.definition.num_hole_cards <= 2

    def correct(self, session: Session) -> None:
        """Correct some more of a session's hands by AIVAT; at least one, if there is one."""
        scored = self._find_scored(session)
        start = time.monotonic()
        scorer = None
        for line in _logged(session)[len(scored.aivat) :]:
            scorer = scorer or self._scorer(session)
            hand = parse_state_line(line, session.definition)
            corrected = None
            with contextlib.suppress(FormatError):
                corrected = -scorer.score(hand, position_of_seat(Session.BOT, hand.number, 2, False))
            scored.aivat.append(corrected)
            if time.monotonic() - start > _STEP_SECONDS:
                break

    def curves(self, session: Session) -> dict[str, Any]:
        """Running totals in big blinds: as won, by all-in expectation and, of the hands corrected so far, by AIVAT."""
        scored = self._find_scored(session)
        for line in _logged(session)[len(scored.chips) :]:
            hand = parse_state_line(line, session.definition)
            position = position_of_seat(Session.USER, hand.number, 2, False)
            scored.chips.append(hand.values[position])
            scored.all_in.append(expected_values(hand)[position])
        unit = session.definition.big_blind
        methods: dict[str, Any] = {}
        corrected = [value for value in scored.aivat[: len(scored.chips)] if value is not None]
        if len(corrected) < min(len(scored.aivat), len(scored.chips)):
            corrected = []  # without some hands the mean would be biased
        columns = {"chips": scored.chips, "all-in": scored.all_in, "aivat": corrected}
        for name, column in columns.items():
            if not column:
                continue
            values = np.array(column, np.float64)
            found = estimate(values, unit)
            methods[name] = {
                "hands": found.count,
                "total_bb": _thinned(np.cumsum(values) / unit),
                "mean_mbb": found.mean_mbb,
                "ci95_mbb": found.ci95_mbb if found.count > 1 else None,
            }
        to_correct = max(0, len(scored.chips) - len(scored.aivat)) if self.is_correctable(session) else 0
        return {"hands": len(scored.chips), "to_correct": to_correct, "methods": methods}

    def _find_scored(self, session: Session) -> _Scored:
        with self._lock:
            scored = self._scored.setdefault(session.log_path, _Scored())
            self._scored.move_to_end(session.log_path)
            while len(self._scored) > _KEPT:
                self._scored.popitem(last=False)
            return scored

    def _scorer(self, session: Session) -> Aivat | RowsScorer:
        """An AIVAT scorer that knows the bot's strategy. Searches are repeated."""
        opponent = session.settings.opponent
        values = self._values.get(opponent.name)
        if opponent.search != "off":
            searching = self._opponents.player(opponent, session.settings.bot_seed)
            return RowsScorer(session.definition, rows_player(searching), values)
        key = (opponent.name, opponent.postprocess)
        if key not in self._aivat:
            player = self._opponents.player(opponent, 0)
            assert isinstance(player, StrategyPlayer)
            self._aivat[key] = Aivat(session.definition, player, values)
        return self._aivat[key]

    def reveal(self, session: Session, number: int) -> dict[str, Any]:
        """For a finished hand: the bot's cards, what it considered, and its range at the end."""
        hand = _find(session, number)
        bot = position_of_seat(Session.BOT, number, 2, False)
        revealed: dict[str, Any] = {
            "cards": [card_text(card) for card in hand.hole_cards[bot]],
            "decisions": [],
            "range": [],
            "weights": [],
        }
        opponent = session.settings.opponent
        if not opponent.is_bot:
            # The same seed gives the same choices; searched decisions are searched again.
            player = self._opponents.player(opponent, session.settings.bot_seed)
            assert isinstance(player, StrategyPlayer | SearchPlayer)
            players: list[Any] = [player, None] if bot == 0 else [None, player]
            revealed["decisions"] = [_considered(record, hand) for record in explain_hand(hand, players).values()]
            revealed |= _range(player, hand, bot)
        return revealed


def _logged(session: Session) -> list[str]:
    """The lines of the finished hands."""
    return list(state_lines(session.log_path)) if session.log_path.is_file() else []


def _find(session: Session, number: int) -> LoggedHand:
    for hand in read_log(session.log_path, session.definition):
        if hand.number == number:
            return hand
    raise FormatError(f"hand {number} is not in the session's log")


def _considered(record: Explanation, hand: LoggedHand) -> dict[str, Any]:
    betting = read_betting(hand.betting.definition, record["state"].split(":")[3])
    return {
        "betting": betting_words(betting),
        "actions": [label_of(betting, action) for action in record["actions"]],
        "probabilities": record["postprocessed"],
        "played": label_of(betting, record.get("logged", record["action"])),
        "reached": record["reached"],
    }


def _range(player: StrategyPlayer | SearchPlayer, hand: LoggedHand, position: int) -> dict[str, Any]:
    """What the bot could hold before its last decision, judged by its actions up to then.

    `range` has its likeliest hands; `weights` has every hand's, 1 for the likeliest, None where its cards were seen.
    """
    definition = hand.betting.definition
    if (definition.num_hole_cards, len(definition.deck)) != (2, 52):
        return {}
    betting = BettingState(definition)
    last = None
    for actor, action in (entry for part in hand.betting.actions for entry in part):
        if actor == position:
            last = view(betting.copy(), hand.hole_cards, hand.board, position, hand.number)
        betting.apply(action)
    if last is None:
        return {}
    if isinstance(player, SearchPlayer):
        ranges = player.ranges_before(last)
    else:
        buckets = player.buckets(last)
        ranges = TableRanges(player).follow(last.betting, last.board, position, hand.number, buckets).ranges
    seen = np.isin(PAIR_CARDS, [*hand.hole_cards[1 - position], *last.board]).any(axis=1)
    shares = np.where(seen, 0.0, ranges[position])
    total = float(shares.sum())
    if total <= 0.0:
        return {}
    order = np.argsort(-shares, kind="stable")[:_SHOWN_HANDS]
    weights = np.round(shares / shares.max(), 4).tolist()
    return {
        "range": [
            {"hand": cards_text(PAIR_CARDS[pair].tolist()), "share": float(shares[pair] / total)} for pair in order
        ],
        "weights": [None if gone else weight for gone, weight in zip(np.asarray(seen).tolist(), weights)],
    }


def _thinned(total: np.ndarray[Any, np.dtype[np.float64]]) -> list[tuple[int, float]]:
    """(hand, total), at most a few hundred points and always the last."""
    kept = np.unique(np.linspace(0, total.size - 1, min(_MOST_POINTS, total.size)).round().astype(int))
    return [(int(place) + 1, round(float(total[place]), 3)) for place in kept]
