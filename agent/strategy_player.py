"""A solved strategy as a player: `strategy:DIR`, or `strategy:DIR|POST-PROCESSING|TRANSLATION`."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from foldwise.abstraction.card_lookup import CardLookup, open_card_lookup
from foldwise.abstraction.strategy import Strategy
from foldwise.agent.following.tracker import Answer, Seat, Step, Tracker, abstract_history, strategy_seat
from foldwise.agent.mappings.translation import DEFAULT_TRANSLATION, Translation
from foldwise.agent.player_spec import PlayerSpec
from foldwise.game.betting import Action, BettingState
from foldwise.game.cards import cards_text
from foldwise.game.definition import GameDefinition, parse_definition
from foldwise.game.errors import DefinitionError
from foldwise.game.text.match_state import MatchState
from foldwise.game.trees.tree import action_of_code
from foldwise.postprocess.language import parse_pipeline
from foldwise.postprocess.pipeline import Pipeline


@dataclass(frozen=True)
class Decision:
    """One decision and everything it was derived from."""

    state: str
    node: int
    abstract_betting: str
    steps: list[Step]  # how each action of the history was read
    hand: str
    bucket: int
    reached: bool  # whether the solver ever reached this infoset
    actions: list[str]  # of the abstract node, as real chips
    abstract_actions: list[str]
    probabilities: list[float]
    postprocessed: list[float]
    action: str
    seconds: float

    def __str__(self) -> str:
        read = ", ".join(
            f"{step.text} as {step.smaller} ({step.chance:.3f}) or {step.larger}"
            for step in self.steps
            if step.smaller != step.larger
        )
        rows = ", ".join(
            f"{action} {raw:.4f} > {played:.4f}"
            for action, raw, played in zip(self.actions, self.probabilities, self.postprocessed)
        )
        return (
            f"{self.state} | node {self.node} {self.abstract_betting or 'root'} | read: {read or 'exactly'} | "
            f"bucket {self.bucket}{'' if self.reached else ' never reached, uniform'} | {rows} | "
            f"plays {self.action} | {1e6 * self.seconds:.0f} us"
        )


def check_same_game(played: GameDefinition, solved: GameDefinition, what: str) -> None:
    """Raise `DefinitionError` naming the first difference between the dealer's game and the strategy's."""
    for field in fields(GameDefinition):
        ours, theirs = getattr(solved, field.name), getattr(played, field.name)
        if ours != theirs:
            raise DefinitionError(
                f"{what} was solved for {field.name} = {ours}, the game to play has {field.name} = {theirs}: "
                "choose a strategy of this game"
            )


class StrategyPlayer:
    """Plays a strategy. `choose` is a function of the state and the seed."""

    def __init__(self, seat: Seat, definition: GameDefinition, lookup: CardLookup, name: str = "strategy"):
        self.seat = seat
        self.definition = definition
        self.lookup = lookup
        self.name = name
        self.listener: Callable[[Decision], None] | None = None
        self._tracker = Tracker(seat, definition)
        self._checked: GameDefinition | None = None
        self._last_buckets: tuple[tuple[int, ...], list[int]] = ((), [])  # hand and board, and the buckets on the way

    def warm_up(self) -> None:
        """Load the compiled code and read the first rows now rather than during a hand."""
        betting = BettingState(self.definition)
        self._tracker.answer(betting, betting.player_to_act, 0, [0])
        deck = self.definition.deck
        self.lookup.bucket(deck[: self.definition.num_hole_cards], self._first_board(deck))

    def _first_board(self, deck: Sequence[int]) -> Sequence[int]:
        num_hole = self.definition.num_hole_cards
        return deck[num_hole : num_hole + self.definition.board_sizes[0]]

    def choose(self, state: MatchState) -> Action:
        if self.listener is not None:
            decision, action = self.explain(state)
            self.listener(decision)
            return action
        return self.answer(state).action

    def answer(self, state: MatchState) -> Answer:
        """The choice, and the abstract node it was made at."""
        self._check_game(state.betting.definition)
        return self._tracker.answer(state.betting, state.position, state.hand_number, self.buckets(state))

    def explain(self, state: MatchState) -> tuple[Decision, Action]:
        """The same choice, with everything it was derived from."""
        start = time.perf_counter()
        self._check_game(state.betting.definition)
        buckets = self.buckets(state)
        tracker = self._tracker
        answer = tracker.answer(state.betting, state.position, state.hand_number, buckets)
        seconds = time.perf_counter() - start
        node, tree, limit = answer.node, self.seat.tree, self.definition.limit
        first, count = int(tree.nodes[node]["first_child"]), int(tree.nodes[node]["num_children"])
        codes = tree.action[first : first + count].tolist()
        decision = Decision(
            state=state.text(),
            node=node,
            abstract_betting=abstract_history(tree, node),
            steps=tracker.steps(state.betting),
            hand=cards_text(state.hole_cards[state.position]),
            bucket=buckets[-1],
            reached=bool(tracker.scratch.reached[0]),
            actions=[action.text(limit) for action in tracker.real_actions(node)],
            abstract_actions=[action_of_code(code).text(limit) for code in codes],
            probabilities=tracker.scratch.raw[:count].tolist(),
            postprocessed=tracker.scratch.row[:count].tolist(),
            action=answer.action.text(limit),
            seconds=seconds,
        )
        return decision, answer.action

    def buckets(self, state: MatchState) -> list[int]:
        """Our bucket on each street so far; within a hand only those of new streets are looked up."""
        hand = state.hole_cards[state.position]
        sizes = self.definition.board_sizes[: state.betting.round + 1]
        cards = (*hand, *state.board)
        before, known = self._last_buckets
        buckets = known[: len(sizes)] if cards[: len(before)] == before else []
        buckets += [self.lookup.bucket(hand, state.board[:size]) for size in sizes[len(buckets) :]]
        self._last_buckets = (cards, buckets)
        return buckets.copy()

    def _check_game(self, played: GameDefinition) -> None:
        if self._checked is not played:
            check_same_game(played, self.definition, self.name)
            self._checked = played


class OpenStrategy:
    """A strategy folder with its game and buckets: opened once, played with any post-processing and seed."""

    def __init__(self, folder: Path):
        self.strategy = Strategy(folder)
        definition = self.strategy.manifest.definition
        if definition is None:
            raise DefinitionError(
                f"strategy {str(folder)!r} is for {self.strategy.manifest.game!r}, a game without cards"
            )
        self.definition = parse_definition(definition, source=str(folder))
        # Verified before the first hand, large arrays included: 277 MB take a fraction of a second, and a damaged
        # file would silently play wrongly, or make a kernel read out of bounds.
        self.strategy.verify()
        self.lookup = open_card_lookup(self.strategy)
        self.strategy.check_rows(self.lookup.num_buckets)

    def player(self, pipeline: Pipeline, seed: int, translation: Translation = DEFAULT_TRANSLATION) -> StrategyPlayer:
        seat = strategy_seat(self.strategy, self.definition, pipeline, seed, translation)
        return StrategyPlayer(seat, self.definition, self.lookup, f"strategy {str(self.strategy.folder)!r}")


def parse_postprocess(spec: PlayerSpec) -> Pipeline:
    """The post-processing of a strategy's name."""
    return parse_pipeline(spec.postprocess) if spec.postprocess else Pipeline()


def make_strategy_player(spec: PlayerSpec, seed: int) -> StrategyPlayer:
    """The player of a strategy's name."""
    pipeline = parse_postprocess(spec)
    return OpenStrategy(spec.folder).player(pipeline, seed, spec.translation or DEFAULT_TRANSLATION)
