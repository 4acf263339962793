"""Reviewing in the browser: a session of this server, or hands pasted from elsewhere."""

from dataclasses import asdict
from functools import partial
from typing import Any, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.routing import BaseRoute

from foldwise.agent.reading.typed_state import read_betting
from foldwise.agent.strategy_player import check_same_game
from foldwise.game.cards import card_text
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.game.text.action_words import label_of
from foldwise.matches.report.hand_import import ImportedHands, import_hands
from foldwise.matches.report.replay import street_names
from foldwise.matches.scoring.review import BlueprintJudge, Judge, JudgedDecision, Review, SearchJudge, review_hands
from foldwise.matches.table.log import LoggedHand, read_log
from foldwise.web.routes.answers import Body, post
from foldwise.web.routes.play import PlayRoutes
from foldwise.web.table.betting_words import betting_words
from foldwise.web.table.opponents import Opponents
from foldwise.web.table.scores import StrategyValues
from foldwise.web.table.session import Session
from foldwise.web.table.solving import SolveQueue

_MOST_HANDS = 2000  # per request; larger reviews are left to 'foldwise review'
_MOST_SEARCHED = 30
_DEAREST = 10
_MOST_TEXT = 8 << 20


class _Review(Body):
    session: str | None = Field(default=None, max_length=100)
    text: str | None = Field(default=None, max_length=_MOST_TEXT)
    strategy: str | None = Field(default=None, max_length=100, description="None: the server's first; empty: nobody")
    search: Literal["off", "fast", "normal", "deep"] = "off"
    player: str | None = Field(default=None, max_length=100)


class ReviewRoutes:
    """The route of the review page."""

    def __init__(
        self,
        opponents: Opponents,
        values: StrategyValues,
        looking: SolveQueue,
        solving: SolveQueue,
        play: PlayRoutes,
    ):
        self._opponents = opponents
        self._values = values
        self._looking = looking
        self._solving = solving
        self._play = play

    def routes(self) -> list[BaseRoute]:
        return [post("/page/review", _Review, self._review)]

    async def _review(self, request: Request, body: _Review) -> dict[str, Any]:
        if (body.session is None) == (body.text is None):
            raise DefinitionError("review: expected a session or a text of hands")
        user = body.session or request.state.address
        session = None if body.session is None else self._play.find(body.session).session
        given = await self._looking.run(user, partial(_read, session, body.text))
        if body.search != "off" and len(given.hands) > _MOST_SEARCHED:
            raise DefinitionError(
                f"{len(given.hands):,} hands with search: at most {_MOST_SEARCHED} here, any number by 'foldwise review'"
            )
        imported = ImportedHands(given.definition, given.hands[-_MOST_HANDS:])
        player = body.player or (None if session is None else session.settings.player)
        player = _check_player(player, imported, is_typed=body.player is not None)
        names = self._opponents.names()
        name = body.strategy if body.strategy is not None else names[0] if names else ""
        if name:
            opened = self._opponents.open(name)
            check_same_game(imported.definition, opened.definition, f"strategy {name!r}")
            await self._values.prepare(name)
        queue = self._looking if body.search == "off" else self._solving
        found = await queue.run(user, partial(self._judge, imported, name, body.search, player))
        return {**found, "given_hands": len(given.hands)}

    def _judge(self, imported: ImportedHands, name: str, search: str, player: str | None) -> dict[str, Any]:
        judges: list[Judge] = []
        if name:
            opened = self._opponents.open(name)
            if search != "off":
                judges.append(SearchJudge(opened, search))
            judges.append(BlueprintJudge(opened, self._values.get(name)))
        found = review_hands(imported.hands, judges, None if player is None else [player])
        return _shown(imported, found, name or None, player)


def _read(session: Session | None, text: str | None) -> ImportedHands:
    """The hands of a session, or of a text; a long text takes seconds to read."""
    if session is None:
        return import_hands(text or "", "your text")
    hands = list(read_log(session.log_path, session.definition)) if session.log_path.is_file() else []
    if not hands:
        raise DefinitionError("this session has no finished hand yet: play one")
    return ImportedHands(session.definition, hands)


def _check_player(player: str | None, imported: ImportedHands, is_typed: bool) -> str | None:
    """The player to review; None for everybody."""
    known = sorted({name for hand in imported.hands for name in hand.names})
    if player in known:
        return player
    if is_typed:
        raise DefinitionError(f"nobody is called {player!r} here: expected {' or '.join(known[:10])}")
    return None


def _shown(imported: ImportedHands, found: Review, strategy: str | None, player: str | None) -> dict[str, Any]:
    unit = imported.definition.big_blind
    dearest = found.dearest(_DEAREST)
    costly = {id(decision) for decision in dearest}
    first_of_last = len(imported.hands) - _DEAREST
    played = [
        {**_hand(hand), "decisions": [_decision(one, imported.definition) for one in judged]}
        for place, (hand, judged) in enumerate(zip(imported.hands, found.by_hand, strict=True))
        if place >= first_of_last or not costly.isdisjoint(map(id, judged))
    ]
    return {
        "strategy": strategy,
        "player": player,
        "big_blind": unit,
        "streets": street_names(imported.definition),
        "hands": len(imported.hands),
        "decisions": len(found.decisions),
        "given_up_bb": found.given_up_bb,
        "given_up_mbb_a_hand": 1000 * found.given_up_bb / len(imported.hands),
        "players": [one.record(unit) for one in found.statistics],
        "mistakes": [_decision(decision, imported.definition) for decision in dearest],
        "played": played,
    }


def _decision(decision: JudgedDecision, definition: GameDefinition) -> dict[str, Any]:
    """A decision as 'foldwise review' prints it, with its actions in words."""
    betting = read_betting(definition, decision.betting)
    return {
        **asdict(decision),
        "so_far": betting_words(betting),
        "done_words": label_of(betting, decision.done),
        "action_words": [label_of(betting, action) for action in decision.actions],
    }


def _hand(hand: LoggedHand) -> dict[str, Any]:
    return {
        "number": hand.number,
        "names": list(hand.names),
        "cards": [[card_text(card) for card in cards] for cards in hand.hole_cards],
        "board": [card_text(card) for card in hand.board],
        "betting": betting_words(hand.betting),
        "values": list(hand.values),
    }
