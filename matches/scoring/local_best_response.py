"""Local best response: a lower bound on what a strategy at a table can lose, in the real game.

Lisy and Bowling, Equilibrium approximation quality of current no-limit poker bots (AAAI workshop on computer poker,
2017), algorithm 1. The responder (LBR) plays hands against the agent as it would sit at a table, translation and
post-processing included:

- it keeps the opponent's range exactly: at each of his actions the policy is asked for all hands at once;
- from `from_street` on it takes the best of folding, calling and some raises, if both were to check and call to the end
  after the opponent's next answer: a call is worth the pot's showdown equity against the range, a raise the pot where he
  folds and the larger pot's equity against the hands he does not fold. Before that street it checks and calls;
- raises: none (`fc`), pot and all-in (`fcpa`), 0.05 * 1.15^k pots, k = 0..54, and all-in (`56`), eight of these (`8`:
  0.27, 0.47, 0.71, 0.94, 1.43, 2.50 and 5.03 pots and all-in), or what the strategy's
  own tree has (`tree`). A size below the smallest legal raise becomes it. Limit games have one raise.

What is our own: showdown equities are exact from the flop on (1,081 run-outs; 46 on the turn) and from `samples` drawn
boards before it. Where a bet is read as one of two sizes at random, the raise is valued over both readings; once made,
the agent draws as it does at a table and the range is kept under the reading drawn, as if its draws were public. A hand that
ends at a showdown counts the mean over the opponent's range, and over the run-outs where equities are exact: the
same expectation as the cards he was dealt, with less noise. Deals are played from both positions.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.agent.following.tracker import Scratch, make_scratch
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.arrays import Float
from foldwise.game.betting_kernels import NUM_FIELDS
from foldwise.game.cards import NUM_CARDS
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.hands.hole_cards import PAIR_CARDS
from foldwise.game.trees.table_rules import table_rules
from foldwise.matches.scoring import lbr_kernels as kernels
from foldwise.matches.scoring.ranges import View

DEFAULT_SAMPLES: Final = 1000
STREET_NAMES: Final = ("preflop", "flop", "turn", "river")
_LARGE_SET: Float = np.array([0.05 * 1.15**k for k in range(55)])
_SEVEN_OF_THEM: Float = _LARGE_SET[[12, 16, 19, 21, 24, 28, 33]]
_MOST_RAISES = 1 << 16
_DEALS_A_BLOCK = 8  # of each thread between two reports


class ResponderBets(NamedTuple):
    """Raises the responder considers, as kernels read them."""

    fractions: Float  # ascending, of the pot after the call
    all_in: bool
    tree: bool  # those of the strategy's tree instead


_BETS: Final = {
    "fc": ResponderBets(np.zeros(0), False, False),
    "fcpa": ResponderBets(np.ones(1), True, False),
    "8": ResponderBets(_SEVEN_OF_THEM, True, False),
    "56": ResponderBets(_LARGE_SET, True, False),
    "tree": ResponderBets(np.zeros(0), False, True),
}
BET_SETS: Final = tuple(_BETS)


def bet_set(name: str) -> ResponderBets:
    """The raises of a name of BET_SETS."""
    return _BETS[name]


class ResponderMemory(NamedTuple):
    """Memory of one thread."""

    hand: npt.NDArray[np.int64]
    after: npt.NDArray[np.int64]
    weights: Float  # [n]
    equity: Float  # [n]
    counts: npt.NDArray[np.int64]  # [n]
    ranks: npt.NDArray[np.uint16]  # [n]
    folds: Float  # [n], by class
    rows: Float  # [n, A]
    board: npt.NDArray[np.int64]
    deck: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.int64]
    cards: npt.NDArray[np.int64]
    raises: npt.NDArray[np.int64]
    state: npt.NDArray[np.uint64]
    decision: Scratch


def _make_work(num_hands: int, most_actions: int) -> ResponderMemory:
    return ResponderMemory(
        hand=np.zeros(NUM_FIELDS, np.int64),
        after=np.zeros(NUM_FIELDS, np.int64),
        weights=np.zeros(num_hands),
        equity=np.zeros(num_hands),
        counts=np.zeros(num_hands, np.int64),
        ranks=np.zeros(num_hands, np.uint16),
        folds=np.zeros(num_hands),
        rows=np.zeros((num_hands, most_actions)),
        board=np.zeros(8, np.int64),
        deck=np.zeros(NUM_CARDS, np.int64),
        chosen=np.zeros(8, np.int64),
        cards=np.zeros(16, np.int64),
        raises=np.empty(_MOST_RAISES, np.int64),
        state=np.zeros(4, np.uint64),
        decision=make_scratch(),
    )


def parse_street(definition: GameDefinition, text: str) -> int:
    """`turn` and so on, as far as the game has streets."""
    names = STREET_NAMES[: definition.num_rounds]
    if text not in names:
        raise DefinitionError(f"street {text!r}: expected one of {', '.join(names)}")
    return names.index(text)


def default_street(definition: GameDefinition) -> str:
    """The turn, from which figures are published, or the first street of a game that has none."""
    return "turn" if definition.num_rounds > 2 else "preflop"


@dataclass(frozen=True)
class LbrSettings:
    """How the responder plays."""

    bets: str = "fcpa"  # one of BET_SETS
    from_street: int = 2  # before it, the responder checks and calls
    samples: int = DEFAULT_SAMPLES  # boards an equity before the flop is drawn from
    seed: int = 0  # of those boards

    def __post_init__(self) -> None:
        if self.bets not in _BETS:
            raise DefinitionError(f"bets {self.bets!r}: expected one of {', '.join(BET_SETS)}")


class LocalBestResponse:
    """The responder against one strategy."""

    def __init__(self, player: StrategyPlayer, settings: LbrSettings):
        definition = player.definition
        if definition.num_players != 2:
            raise DefinitionError(f"lbr plays two-player games, this one has {definition.num_players} players")
        self.definition = definition
        self.settings = settings
        self._player = player
        self._rules = table_rules(definition)
        self._bets = _BETS[settings.bets]
        self._seed = np.uint64(settings.seed % 2**64)
        self._hands = _all_hands(definition)
        self._most_actions = int(player.seat.tree.nodes["num_children"].max())
        self._memory = threading.local()
        self._preflop = self._classes(0, ()) if definition.board_sizes[0] == 0 else None

    def hand_value(self, cards: Sequence[int], position: int, number: int) -> float:
        """What the responder wins at `position` of a deal: hole cards by position, then the full board."""
        dealt = np.array(cards, np.int64)
        return self._play(self._view(dealt), dealt, position, number)

    def _play(self, view: View, cards: npt.NDArray[np.int64], position: int, number: int) -> float:
        if not hasattr(self._memory, "work"):
            self._memory.work = _make_work(len(self._hands), self._most_actions)
        settings = self.settings
        value = kernels.play_hand(
            self._rules,
            evaluator_tables(),
            self._player.seat,
            self._bets,
            view,
            self._hands,
            cards,
            position,
            number,
            settings.from_street,
            settings.samples,
            self._seed,
            self._memory.work,
        )
        return float(value)

    def deal_values(self, cards: npt.NDArray[np.uint8], number: int) -> tuple[float, float]:
        """What the responder wins in position 0 and in position 1 of a deal, in chips."""
        dealt = cards.astype(np.int64)
        view = self._view(dealt)
        return self._play(view, dealt, 0, 2 * number), self._play(view, dealt, 1, 2 * number + 1)

    def _view(self, dealt: npt.NDArray[np.int64]) -> View:
        """Buckets of all hands on each street of the deal's board; a hand that clashes has class 0 and no weight."""
        board = dealt[2 * self.definition.num_hole_cards :].tolist()
        shape = (self.definition.num_rounds, len(self._hands))
        view = View(np.zeros(shape, np.int64), np.zeros(shape, np.int32), np.zeros(shape[0], np.int64))
        for street, size in enumerate(self.definition.board_sizes):
            known = street == 0 and self._preflop is not None
            distinct, classes = self._preflop if known and self._preflop else self._classes(street, board[:size])
            view.counts[street] = len(distinct)
            view.buckets[street, : len(distinct)] = distinct
            view.classes[street] = classes
        return view

    def _classes(self, street: int, board: Sequence[int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        possible = ~np.isin(self._hands, board).any(axis=1)
        hands = self._hands[possible].astype(np.uint8)
        dealt = np.tile(np.array(board, np.uint8), (len(hands), 1))
        found = self._player.lookup.bucket_hands(street, np.concatenate([hands, dealt], axis=1))
        distinct, inverse = np.unique(found, return_inverse=True)
        classes = np.zeros(len(self._hands), np.int32)
        classes[possible] = inverse
        return distinct, classes

    def values(
        self,
        deals: npt.NDArray[np.uint8],
        threads: int,
        first_number: int = 0,
        listen: Callable[[int, Float], None] | None = None,
    ) -> Float:
        """[deals, 2]: what the responder wins in each position; `listen` is told how many are done, and all values."""
        out = np.empty((len(deals), 2))
        block = _DEALS_A_BLOCK * threads
        with ThreadPoolExecutor(threads) as pool:
            try:
                for start in range(0, len(deals), block):
                    numbers = range(start, min(start + block, len(deals)))
                    found = pool.map(lambda i: self.deal_values(deals[i], first_number + i), numbers)
                    out[numbers.start : numbers.stop] = list(found)
                    if listen is not None:
                        listen(numbers.stop, out)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
        return out


def _all_hands(definition: GameDefinition) -> npt.NDArray[np.int64]:
    """Every hand of the deck; two of 52 cards as `game.hands.hole_cards` numbers them."""
    if definition.num_hole_cards == 2 and len(definition.deck) == NUM_CARDS:
        return PAIR_CARDS.astype(np.int64)
    return np.array(list(combinations(definition.deck, definition.num_hole_cards)), np.int64)
