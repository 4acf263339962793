"""The exact best response to a strategy as it is really played, by a responder who may bet every legal chip.

What Ganzfried and Sandholm (IJCAI 2013) measure translations by in no-limit Kuhn and Leduc: the abstract game says nothing of
bets outside its menu, the real one does. The agent is that of `agent.following`: it reads the responder's bets by its
translation, makes its own in real chips, and remembers how it read a bet for the rest of the hand. To the responder, who sees
none of that, it is a weighted set of abstract nodes for each hand the agent may hold; two ways to one node are one, since
nothing else is remembered. The responder knows these weights and takes, hand by hand, the best of all real actions.

What is computed is the mean over all seeds of the agent. For two players with one hole card each and one or two rounds, where
every deal and every betting can be walked.
"""

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.agent.following.tracker import Scratch, make_scratch
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.arrays import Float
from foldwise.game.betting import MAX_ACTIONS_PER_ROUND
from foldwise.game.betting_kernels import NUM_FIELDS
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.evaluator import rank_hand
from foldwise.game.trees.table_rules import table_rules
from foldwise.matches.scoring import real_bets_kernels as kernels
from foldwise.matches.scoring.expectation import Expectation

MOST_STATES = 100_000_000
_MOST_BOARDS = 100
_FIRST_CAPACITY = 8

Int = npt.NDArray[np.int64]


class Cards(NamedTuple):
    """All hands of the deck, n, on every board, B: board 0 is that of the first round, without cards."""

    buckets: Int  # [B, rounds, n]: of the agent's hands; any where cards clash
    classes: npt.NDArray[np.int32]  # [rounds, n]: every hand is a class of its own
    counts: Int  # [rounds]: n
    free: Float  # [B, n]: 1 where a hand has no card of the board
    meets: Float  # [B, n, n]: 1 where two hands may be dealt on the board
    beats: Float  # [B, n, n]: 1 where the first wins, -1 where it loses; on board 0 the mean over all boards to come
    share: float  # of a board among those two hands may see


class BettingFrames(NamedTuple):
    """The states from the root to where the walk is."""

    hands: Int  # [D, NUM_FIELDS]
    kinds: Int  # [D]: whose turn it is
    codes: Int  # [D]: what was walked last
    boards: Int  # [D]
    acted: npt.NDArray[np.bool_]  # [D]: the agent, before
    counts: Int  # [D]: particles
    nodes: Int  # [D, P]
    weights: Float  # [D, P, n]
    rows: Float  # [D, P, n, A]: what the agent plays
    answers: Int  # [D, P, A]: in chips
    num_answers: Int  # [D, P]
    values: Float  # [D, n]


class Memory(NamedTuple):
    """What a state is worked on in."""

    played: Float  # [n]
    decision: Scratch


class RealBets(NamedTuple):
    """What best responses with real bets win, in chips a hand."""

    best_response: tuple[float, float]  # of each player
    value: float  # of the strategy to player 0 against itself
    states: int  # betting states walked, over both players and all boards

    @property
    def exploitability(self) -> float:
        return sum(self.best_response) / 2.0


class RealBetsResponse:
    """Best responses with real bets to one player."""

    def __init__(self, player: StrategyPlayer, most_states: int = MOST_STATES):
        definition = player.definition
        _check_small(definition)
        self._player = player
        self._most_states = most_states
        self._rules = table_rules(definition)
        self._cards = _make_cards(player)
        self._memory = Memory(np.zeros(len(definition.deck)), make_scratch())

    def run(self) -> RealBets:
        """Of both players, against the strategy in the other's position."""
        first, second = self._respond(agent=1), self._respond(agent=0)
        players = (self._player, self._player)
        own = Expectation(self._player.definition, players).exact()
        assert own is not None
        return RealBets((first[0], second[0]), own[0], first[1] + second[1])

    def _respond(self, agent: int) -> tuple[float, int]:
        """What the best response wins a hand against the agent in a position, and the states walked."""
        definition, seat = self._player.definition, self._player.seat
        num_hands = len(definition.deck)
        most_actions = int(seat.tree.nodes["num_children"].max())
        capacity = _FIRST_CAPACITY
        while True:
            frames = _make_frames(definition, capacity, num_hands, most_actions)
            walked = kernels.respond(self._rules, seat, agent, self._cards, self._most_states, frames, self._memory)
            if walked == kernels.TOO_MANY:
                raise DefinitionError(
                    f"more than {self._most_states:,} states of betting where one player may bet every chip: expected a "
                    "game with smaller stacks, larger blinds or fewer raises"
                )
            if walked != kernels.FULL:
                return float(frames.values[0].sum()) / (num_hands * (num_hands - 1)), int(walked)
            capacity *= 2


def _check_small(definition: GameDefinition) -> None:
    """Refuse a game whose deals cannot all be walked."""
    sizes = definition.board_sizes
    boards = comb(len(definition.deck), sizes[-1])
    if definition.num_hole_cards != 1 or definition.num_rounds > 2 or sizes[0] or boards > _MOST_BOARDS:
        raise DefinitionError(
            f"hole cards {definition.num_hole_cards}, rounds {definition.num_rounds}, boards {boards:,}: a response with "
            f"real bets is for 1 hole card, 1 or 2 rounds and at most {_MOST_BOARDS} boards, dealt after the first round; "
            "'foldwise lbr' measures larger games"
        )


def _make_cards(player: StrategyPlayer) -> Cards:
    definition = player.definition
    deck, rounds = definition.deck, definition.num_rounds
    size = definition.board_sizes[-1]
    boards = list(combinations(deck, size))
    count = len(deck)
    apart = 1.0 - np.eye(count)
    free = np.array([[card not in board for card in deck] for board in boards], np.float64)
    meets = free[:, :, None] * free[:, None, :] * apart
    ranks = np.array([[rank_hand((card, *board)) if card not in board else 0 for card in deck] for board in boards])
    beats = np.sign(ranks[:, :, None] - ranks[:, None, :]) * meets
    share = 1.0 / comb(count - 2, size)
    buckets = np.zeros((1 + len(boards), rounds, count), np.int64)
    buckets[:, 0, :] = [player.lookup.bucket([card]) for card in deck]
    if rounds == 2:
        buckets[1:, 1, :] = [
            [player.lookup.bucket([card], board) if card not in board else 0 for card in deck] for board in boards
        ]
    return Cards(
        buckets=buckets,
        classes=np.tile(np.arange(count, dtype=np.int32), (rounds, 1)),
        counts=np.full(rounds, count, np.int64),
        free=np.concatenate([np.ones((1, count)), free]),
        meets=np.concatenate([apart[None], meets]),
        beats=np.concatenate([share * beats.sum(axis=0)[None], beats]),
        share=share,
    )


def _make_frames(definition: GameDefinition, capacity: int, num_hands: int, most_actions: int) -> BettingFrames:
    depth = definition.num_rounds * (MAX_ACTIONS_PER_ROUND + 1) + 1
    return BettingFrames(
        hands=np.zeros((depth, NUM_FIELDS), np.int64),
        kinds=np.zeros(depth, np.int64),
        codes=np.zeros(depth, np.int64),
        boards=np.zeros(depth, np.int64),
        acted=np.zeros(depth, np.bool_),
        counts=np.zeros(depth, np.int64),
        nodes=np.zeros((depth, capacity), np.int64),
        weights=np.zeros((depth, capacity, num_hands)),
        rows=np.zeros((depth, capacity, num_hands, most_actions)),
        answers=np.zeros((depth, capacity, most_actions), np.int64),
        num_answers=np.zeros((depth, capacity), np.int64),
        values=np.zeros((depth, num_hands)),
    )
