"""Drills: a decision from a strategy's own play, the user's choice, and what it costs; scores are kept on the server."""

import hashlib
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError
from starlette.requests import Request
from starlette.routing import BaseRoute

from foldwise.agent.human import read_turn
from foldwise.game.cards import card_text
from foldwise.game.errors import DefinitionError, IllegalActionError
from foldwise.game.hands.dealing import Deal
from foldwise.game.text.action_words import label_of
from foldwise.game.text.match_state import MatchState, read_action
from foldwise.matches.report.replay import position_names, street_names
from foldwise.matches.scoring.review import BlueprintJudge, Choice
from foldwise.matches.table.hand import Hand
from foldwise.web.answers import Body, post
from foldwise.web.betting_words import betting_words
from foldwise.web.opponents import Opponents
from foldwise.web.private_files import write_private
from foldwise.web.scores import StrategyValues
from foldwise.web.sessions import UnknownSessionError
from foldwise.web.solving import SolveQueue

_KINDS = {"preflop": 0, "flop": 1, "turn": 2, "river": 3}
_MOST_WAITING = 2000  # unanswered drills kept
_MOST_HANDS = 400  # dealt while looking for a decision
_SYSTEM = secrets.SystemRandom()
Kind = Literal["any", "preflop", "flop", "turn", "river"]


class _Ask(Body):
    strategy: str | None = Field(default=None, max_length=100)
    kind: Kind = "any"
    trainee: str | None = Field(default=None, max_length=100)


class _Answer(Body):
    drill: str = Field(max_length=100)
    action: str = Field(max_length=20)


class Tally(BaseModel):
    """A user's score so far."""

    drills: int = 0
    given_up_bb: float = 0.0
    best: int = 0  # choices that gave up less than GOOD_BB
    streak: int = 0
    longest_streak: int = 0

    def after(self, given_up_bb: float) -> "Tally":
        good = given_up_bb < GOOD_BB
        streak = self.streak + 1 if good else 0
        return Tally(
            drills=self.drills + 1,
            given_up_bb=self.given_up_bb + given_up_bb,
            best=self.best + good,
            streak=streak,
            longest_streak=max(self.longest_streak, streak),
        )


GOOD_BB = 0.1  # big blinds: a choice that gives up less counts as good


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
        drill, actions = await self._solving.run(trainee, partial(self._find, strategy, body.kind, trainee))
        key = secrets.token_urlsafe(12)
        self._drills[key] = drill
        while len(self._drills) > _MOST_WAITING:
            self._drills.popitem(last=False)
        return {
            "drill": key,
            "trainee": trainee,
            "score": self._score(trainee).model_dump(),
            **_spot(drill.state, actions),
        }

    async def _answer(self, request: Request, body: _Answer) -> dict[str, Any]:
        drill = self._drills.get(body.drill)
        if drill is None:
            raise UnknownSessionError("this drill is over: ask for the next one")
        choice = await self._solving.run(drill.trainee, partial(self._judge_answer, drill, body.action))
        del self._drills[body.drill]
        unit = drill.state.betting.definition.big_blind
        given_up = max(0.0, max(choice.values) - choice.chosen_value) / unit
        score = self._score(drill.trainee).after(given_up)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(self._path(drill.trainee), score.model_dump_json())
        return {
            "actions": choice.actions,
            "words": [label_of(drill.state.betting, action) for action in choice.actions],
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

    def _find(self, strategy: str, kind: Kind, trainee: str) -> tuple[_Drill, list[str]]:
        """A random decision on the requested street, from hands the strategy plays against itself."""
        judge = self._judge(strategy)
        definition = judge.player.definition
        wanted = _KINDS.get(kind)
        if wanted is not None and wanted >= definition.num_rounds:
            raise DefinitionError(f"{strategy!r} has no {kind}: choose an earlier street")
        num_hole = definition.num_hole_cards
        for number in range(_MOST_HANDS):
            cards = _SYSTEM.sample(definition.deck, definition.cards_per_hand)
            deal = Deal((tuple(cards[:num_hole]), tuple(cards[num_hole : 2 * num_hole])), tuple(cards[2 * num_hole :]))
            hand = Hand(definition, deal, number)
            street = _SYSTEM.randrange(definition.num_rounds) if wanted is None else wanted
            spots: list[tuple[MatchState, list[str]]] = []
            while not hand.betting.finished:
                state = hand.state(hand.betting.player_to_act)
                decision, _ = judge.player.explain(state)
                if state.betting.round == street:
                    kept = MatchState(state.position, number, state.betting.copy(), list(state.hole_cards), state.board)
                    spots.append((kept, list(dict.fromkeys(decision.actions))))
                text = _SYSTEM.choices(decision.actions, decision.probabilities)[0]
                action, _ = read_action(text, 0, definition)
                assert action is not None
                hand.apply(action)
            spots = [spot for spot in spots if len(spot[1]) > 1]
            if spots:
                state, actions = _SYSTEM.choice(spots)
                if state.betting.can_fold() and "f" not in actions:
                    actions = ["f", *actions]
                return _Drill(trainee, strategy, state), actions
        raise DefinitionError(f"no {kind} spot came in {_MOST_HANDS} hands of {strategy!r}: choose another kind")

    def _path(self, trainee: str) -> Path:
        return self._folder / f"{hashlib.sha256(trainee.encode()).hexdigest()[:24]}.json"

    def _score(self, trainee: str) -> Tally:
        try:
            return Tally.model_validate_json(self._path(trainee).read_bytes())
        except (FileNotFoundError, ValidationError):
            return Tally()


def _spot(state: MatchState, actions: list[str]) -> dict[str, Any]:
    turn = read_turn(state)
    you = state.position
    definition = state.betting.definition
    return {
        "cards": [card_text(card) for card in turn.hole_cards],
        "board": [card_text(card) for card in turn.board],
        "street": street_names(definition)[turn.street],
        "position": position_names(definition)[you],
        "pot": turn.pot,
        "to_call": turn.to_call,
        "bets": {"you": turn.bets[you], "bot": turn.bets[1 - you]},
        "stacks": {"you": turn.stacks[you], "bot": turn.stacks[1 - you]},
        "betting": betting_words(state.betting),
        "actions": actions,
        "words": [label_of(state.betting, action) for action in actions],
    }
