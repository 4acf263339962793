"""Training: a drill, the user's choice and what it costs; scores are kept on the server."""

import hashlib
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError
from starlette.requests import Request
from starlette.routing import BaseRoute

from foldwise.agent.human import read_turn
from foldwise.game.cards import card_text
from foldwise.game.errors import DefinitionError, IllegalActionError
from foldwise.game.text.action_words import label_of
from foldwise.game.text.match_state import MatchState, read_action
from foldwise.matches.report.replay import position_names, street_names
from foldwise.matches.scoring.review import BlueprintJudge, Choice
from foldwise.web.routes.answers import Body, post
from foldwise.web.routes.drills import DrillSpot, Situation, Street, find_spot, situation_of
from foldwise.web.table.betting_words import betting_words
from foldwise.web.table.opponents import Opponents
from foldwise.web.table.private_files import write_private
from foldwise.web.table.scores import StrategyValues
from foldwise.web.table.sessions import UnknownSessionError
from foldwise.web.table.solving import SolveQueue

GOOD_BB = 0.1  # big blinds: a choice that gives up less counts as good
_OVER = "this drill is over: ask for the next one"
_MOST_WAITING = 2000  # unanswered drills kept


class _Ask(Body):
    strategy: str | None = Field(default=None, max_length=100)
    street: Street = "any"
    situation: Situation = "any"
    trainee: str | None = Field(default=None, max_length=100)


class _Answer(Body):
    drill: str = Field(max_length=100)
    action: str = Field(max_length=20)


class KindTally(BaseModel):
    """A user's score at one kind of spot."""

    street: str
    situation: Situation
    drills: int = 0
    given_up_bb: float = 0.0


class Tally(BaseModel):
    """A user's score so far."""

    drills: int = 0
    given_up_bb: float = 0.0
    best: int = 0  # choices that gave up less than GOOD_BB
    streak: int = 0
    longest_streak: int = 0
    kinds: list[KindTally] = []  # in the order they came

    def after(self, street: str, situation: Situation, given_up_bb: float) -> "Tally":
        good = given_up_bb < GOOD_BB
        streak = self.streak + 1 if good else 0
        kinds = {(kind.street, kind.situation): kind for kind in self.kinds}
        kind = kinds.get((street, situation), KindTally(street=street, situation=situation))
        kinds[street, situation] = KindTally(
            street=street,
            situation=situation,
            drills=kind.drills + 1,
            given_up_bb=kind.given_up_bb + given_up_bb,
        )
        return Tally(
            drills=self.drills + 1,
            given_up_bb=self.given_up_bb + given_up_bb,
            best=self.best + good,
            streak=streak,
            longest_streak=max(self.longest_streak, streak),
            kinds=list(kinds.values()),
        )


@dataclass(frozen=True)
class _Drill:
    trainee: str
    strategy: str
    state: MatchState


class TrainRoutes:
    """The routes of the training page."""

    def __init__(self, folder: Path, opponents: Opponents, values: StrategyValues, solving: SolveQueue):
        self._folder = folder
        self._opponents = opponents
        self._values = values
        self._solving = solving
        self._judges: dict[str, BlueprintJudge] = {}
        self._drills: OrderedDict[str, _Drill] = OrderedDict()

    def routes(self) -> list[BaseRoute]:
        return [post("/page/drill", _Ask, self._ask), post("/page/answer", _Answer, self._answer)]

    async def _ask(self, request: Request, body: _Ask) -> dict[str, Any]:
        names = self._opponents.names()
        if not names:
            raise DefinitionError("no strategy to train with: start the server with 'foldwise serve STRATEGY'")
        strategy = body.strategy or names[0]
        trainee = body.trainee or secrets.token_urlsafe(18)
        await self._values.prepare(strategy)
        spot = await self._solving.run(trainee, partial(self._find, strategy, body.street, body.situation))
        key = secrets.token_urlsafe(12)
        self._drills[key] = _Drill(trainee, strategy, spot.state)
        while len(self._drills) > _MOST_WAITING:
            self._drills.popitem(last=False)
        return {
            "drill": key,
            "trainee": trainee,
            "score": self._score(trainee).model_dump(),
            **_shown(spot),
        }

    async def _answer(self, request: Request, body: _Answer) -> dict[str, Any]:
        drill = self._drills.get(body.drill)
        if drill is None:
            raise UnknownSessionError(_OVER)
        choice = await self._solving.run(drill.trainee, partial(self._judge_answer, drill, body.action))
        if self._drills.pop(body.drill, None) is None:  # answered twice at once: the first counts
            raise UnknownSessionError(_OVER)
        betting = drill.state.betting
        unit = betting.definition.big_blind
        given_up = max(0.0, max(choice.values) - choice.chosen_value) / unit
        street = street_names(betting.definition)[betting.round]
        score = self._score(drill.trainee).after(street, situation_of(betting), given_up)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(self._path(drill.trainee), score.model_dump_json())
        return {
            "actions": choice.actions,
            "words": [label_of(betting, action) for action in choice.actions],
            "probabilities": choice.probabilities,
            "values_bb": [value / unit for value in choice.values],
            "given_up_bb": given_up,
            "good": given_up < GOOD_BB,
            "score": score.model_dump(),
        }

    def _judge_answer(self, drill: _Drill, text: str) -> Choice:
        action, end = read_action(text, 0, drill.state.betting.definition)
        if action is None or end != len(text) or not drill.state.betting.is_legal(action):
            raise IllegalActionError(f"action {text!r} is not legal here: choose one of those offered")
        choice = self._judge(drill.strategy).judge(drill.state, action)
        assert choice is not None
        return choice

    def _judge(self, strategy: str) -> BlueprintJudge:
        if strategy not in self._judges:
            self._judges[strategy] = BlueprintJudge(self._opponents.open(strategy), self._values.get(strategy))
        return self._judges[strategy]

    def _find(self, strategy: str, street: Street, situation: Situation) -> DrillSpot:
        spot = find_spot(self._judge(strategy).player, street, situation)
        if spot is None:
            raise DefinitionError(f"{strategy!r} hardly ever comes to such a spot: choose another street or situation")
        return spot

    def _path(self, trainee: str) -> Path:
        return self._folder / f"{hashlib.sha256(trainee.encode()).hexdigest()[:24]}.json"

    def _score(self, trainee: str) -> Tally:
        try:
            return Tally.model_validate_json(self._path(trainee).read_bytes())
        except (FileNotFoundError, ValidationError):
            return Tally()


def _shown(spot: DrillSpot) -> dict[str, Any]:
    state = spot.state
    turn = read_turn(state)
    you = state.position
    definition = state.betting.definition
    return {
        "cards": [card_text(card) for card in turn.hole_cards],
        "board": [card_text(card) for card in turn.board],
        "street": street_names(definition)[turn.street],
        "situation": situation_of(state.betting),
        "position": position_names(definition)[you],
        "pot": turn.pot,
        "to_call": turn.to_call,
        "bets": {"you": turn.bets[you], "bot": turn.bets[1 - you]},
        "stacks": {"you": turn.stacks[you], "bot": turn.stacks[1 - you]},
        "betting": betting_words(state.betting),
        "actions": spot.actions,
        "words": [label_of(state.betting, action) for action in spot.actions],
    }
