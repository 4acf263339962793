"""Built-in players: fixed rules for tests, demos and benchmarks. Their decisions are compiled (`agent.bots_kernels`),
so the in-memory engine plays the same bots without Python in between.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.agent import bots_kernels as kernels
from foldwise.game.betting import Action, BettingState
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.text.match_state import MatchState

BOT_CODES = {
    "call": kernels.CALL_BOT,  # checks and calls
    "fold": kernels.FOLD_BOT,  # folds whenever it faces a bet
    "raise": kernels.RAISE_BOT,  # the smallest raise whenever one is possible
    "random": kernels.RANDOM_BOT,  # folds 10%, calls 50%, else raises by any legal amount
    "strength": kernels.STRENGTH_BOT,  # bets by sampled hand strength, calls by pot odds
}


class BotScratch(NamedTuple):
    """Scratch memory for a bot's decision."""

    deck: npt.NDArray[np.int64]  # [52]
    hand: npt.NDArray[np.int64]  # [10]
    rng: npt.NDArray[np.uint64]  # [4]


def make_scratch() -> BotScratch:
    return BotScratch(np.zeros(52, np.int64), np.zeros(10, np.int64), np.zeros(4, np.uint64))


def decision_number(betting: BettingState) -> int:
    """Actions so far in the hand; together with the hand's number it is the counter of a decision's random numbers."""
    return sum(map(len, betting.actions))


class Bot:
    """One of the built-in players, by its name without the prefix `bot:`."""

    def __init__(self, name: str, seed: int = 0):
        if name not in BOT_CODES:
            raise DefinitionError(f"player 'bot:{name}': expected bot:{', bot:'.join(BOT_CODES)}")
        self.code = BOT_CODES[name]
        self.seed = seed % 2**64
        self._tables = evaluator_tables()
        self._scratch = make_scratch()
        self._cards = np.zeros(10, np.int64)
        self._deck = np.zeros(0, np.int64)
        self._definition: object = None
        self._warm_up()

    def _warm_up(self) -> None:
        """Compile the decision now, so that the first answer of a match is not delayed."""
        spot = (0, 0, 0, 0, 0, 1)
        self._deck = np.arange(52)
        kernels.choose(
            self.code, self.seed, 0, 0, spot, 0, self._tables, self._deck, self._cards, 2, 0, 0, self._scratch
        )

    def choose(self, state: MatchState) -> Action:
        betting = state.betting
        definition = betting.definition
        if self._definition is not definition:
            self._definition = definition
            self._deck = np.array(definition.deck, np.int64)
        cards = state.hole_cards[state.position] + state.board
        self._cards[: len(cards)] = cards
        bounds = betting.raise_range()
        smallest, largest = bounds if bounds is not None else (0, 0)
        spent = betting.spent[state.position]
        to_call = min(betting.max_spent, definition.stacks[state.position]) - spent
        opponents = definition.num_players - betting.num_folded() - 1
        kind, raise_to = kernels.choose(
            self.code,
            self.seed,
            state.hand_number,
            decision_number(betting),
            (to_call, sum(betting.spent), betting.max_spent, smallest, largest, opponents),
            betting.num_raises,
            self._tables,
            self._deck,
            self._cards,
            definition.num_hole_cards,
            len(state.board),
            definition.board_sizes[-1],
            self._scratch,
        )
        return Action(kind, raise_to)
