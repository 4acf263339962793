"""All sessions of a server: found by their tokens, few in memory, all on disk."""

import asyncio
import hashlib
import logging
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from foldwise.agent.player import guarded_choice
from foldwise.game.betting import Action
from foldwise.game.definition import parse_definition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.text.match_state import MatchState
from foldwise.web.table.opponents import Opponent, Opponents, free_solutions, is_quick
from foldwise.web.table.session import SETTINGS_FILE, Session, SessionSettings, clean_name
from foldwise.web.table.solving import SolveQueue

_log = logging.getLogger(__name__)
_MOST_IN_MEMORY = 256
_MOST_SOLUTIONS = 64  # hands whose solutions are kept, about 40 MB each with `fast`
_TOKEN_BYTES = 24
_LONGEST_TOKEN = 100


class UnknownSessionError(ValueError):
    """No session has this token."""


@dataclass
class Place:
    """A session in memory, and the order of its requests."""

    token: str
    session: Session
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Sessions:
    """Sessions by token. A folder is named by a hash of its token, so that a listing of folders gives no token away."""

    def __init__(self, folder: Path, opponents: Opponents, solving: SolveQueue):
        self.folder = folder
        self.opponents = opponents
        self._solving = solving
        self._places: OrderedDict[str, Place] = OrderedDict()
        self._searched: OrderedDict[str, Session] = OrderedDict()  # those that may keep solutions
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def create(self, kind: str, player: str, opponent: Opponent, seed: int | None = None) -> Place:
        """A new session with a token of its own."""
        self.opponents.check(opponent)
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        definition = self.opponents.definition(opponent)
        if definition.num_players != 2:
            raise DefinitionError(f"{opponent.name!r} plays a game for {definition.num_players}: a session is of two")
        settings = SessionSettings.model_validate(
            {
                "kind": kind,
                "player": clean_name(player),
                "opponent": opponent,
                "definition": definition.to_text(),
                "seed": seed,
                "bot_seed": secrets.randbits(63) if seed is None else seed,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
            }
        )
        session = Session.create(self._folder_of(token), settings, definition, self.opponents)
        return self._remember(Place(token, session))

    def find(self, token: str) -> Place:
        """The session of a token, from memory or from disk."""
        if token in self._places:
            self._places.move_to_end(token)
            return self._places[token]
        folder = self._folder_of(token)
        if len(token) > _LONGEST_TOKEN or not (folder / SETTINGS_FILE).is_file():
            raise UnknownSessionError("no session has this token: begin a new one without a token")
        try:
            settings = SessionSettings.model_validate_json((folder / SETTINGS_FILE).read_bytes())
        except ValidationError as error:
            raise FormatError(
                f"this session's settings cannot be read ({error.errors()[0]['msg']}): begin a new one"
            ) from None
        definition = parse_definition(settings.definition, source=SETTINGS_FILE)
        return self._remember(Place(token, Session(folder, settings, definition, self.opponents)))

    def _folder_of(self, token: str) -> Path:
        return self.folder / hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()[:24]

    def _remember(self, place: Place) -> Place:
        self._places[place.token] = place
        while len(self._places) > _MOST_IN_MEMORY:
            # A session in use stays: two objects of one folder would overwrite each other's files.
            idle = next((token for token, kept in self._places.items() if not kept.lock.locked()), None)
            if idle is None or idle == place.token:
                break
            self._places.pop(idle).session.close()
        return place

    async def let_bot_act(self, place: Place) -> None:
        """Let the opponent act until the user is to act or the hand is over. Search runs outside the event loop."""
        session = place.session
        while session.bot_to_act():
            hand = session.hand
            assert hand is not None
            state = hand.state(1 - session.position)
            if is_quick(session.bot, state.betting.round):
                action, error = guarded_choice(session.bot, state)
            else:
                action, error = await self._solving.run(place.token, partial(self._search, place, state))
            if error is not None:
                _log.error("the opponent failed; checked or folded", exc_info=error)
            session.apply(action)

    def _search(self, place: Place, state: MatchState) -> tuple[Action, Exception | None]:
        """The bot's choice by search. Only the sessions that searched last keep solutions; others would solve again.

        One search runs at a time, so that no solution is freed while it is used.
        """
        self._searched[place.token] = place.session
        self._searched.move_to_end(place.token)
        for token in [token for token, session in self._searched.items() if not session.in_play]:
            del self._searched[token]
        while len(self._searched) > _MOST_SOLUTIONS:
            _, longest_ago = self._searched.popitem(last=False)
            free_solutions(longest_ago.bot)
        return guarded_choice(place.session.bot, state)
