"""Local best response with all hands of the responder at once, against an agent that answers for all of its hands.

The responder's rules are those of `local_best_response` (Lisy and Bowling, 2017): from a street on, each of its hands takes
the best of folding, calling and some raises as if both were to check and call after the agent's next answer. Here
one walk plays all 1,326 hands: hands that decide alike stay together, and what the agent answers is expanded by its
probabilities. So an answer of a searching agent costs one solve, however many hands ask for it.

- On streets before `expand_from` one of the branches that continue is drawn, by its mass times the root of the chips in it,
  and stands for all: what is won grows with the pot, but less than in proportion, since a small pot may still become
  large. Ends, folds and all-ins, count with their exact probability. From that street on every branch is walked; one whose
  mass times chips is less than `least` of that of the street's root is walked with its share of it, and then for all of it.
- Flop and turn are dealt. Where a turn ends `rivers` cards are drawn. A showdown before the flop is over drawn boards, on
  flop and turn over all cards to come.
- The agent's readings of bets are those drawn by its seed and the hand's number, and the responder knows them.
- Equities are exact from the flop on, and from `samples` drawn boards before it.

What one deal is worth is a mean over all pairs of hands, so that it deviates much less than a hand of `LocalBestResponse`;
the expectation is the same where the agent reads every bet exactly.
"""

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from foldwise.game.arrays import Float
from foldwise.game.betting import CALL_ACTION, FOLD, FOLD_ACTION, RAISE, Action, BettingState
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.matches.scoring.local_best_response import LbrSettings, bet_set
from foldwise.matches.scoring.range_ends import HIDDEN_RIVERS, showdown_on, showdown_values, unseen
from foldwise.search.ranges import Policy, PublicState

_TURN = 2
_NUM_RIVERS = 48
_FLOP_RUN_OUTS = 45 * 44 // 2


class RangeAgent(Protocol):
    """An agent that answers for all hands at once."""

    def rows(self, state: PublicState) -> Policy: ...


class Branch(NamedTuple):
    """A continuation of a hand, and the hands that take it."""

    betting: BettingState
    own: Float  # [1326] weights of the responder's hands
    other: Float  # [1326] reach of the agent's


class VectorResponse:
    """The responder against one agent; a `LocalBestResponse` for whole ranges."""

    def __init__(
        self,
        agent: RangeAgent,
        definition: GameDefinition,
        settings: LbrSettings,
        *,
        expand_from: int = _TURN,
        rivers: int = 2,
        run_outs: int = 100,
        least: float = 0.01,
    ):
        """`run_outs`: boards that an all-in before the flop is averaged over; 0 for the dealt board, on the flop too."""
        if definition.num_players != 2 or definition.board_sizes != (0, 3, 4, 5) or definition.limit:
            raise DefinitionError("lbr for all hands at once: expected heads-up no-limit hold'em; give --method hands")
        if settings.bets == "tree":
            raise DefinitionError("bets 'tree' for all hands at once: expected fc, fcpa, 8 or 56")
        self.agent = agent
        self.definition = definition
        self.settings = settings
        self.num_roots = 0  # turns that were played
        self._bets = bet_set(settings.bets)
        self._expand_from = expand_from
        self._num_rivers = rivers
        self._run_outs = run_outs
        self._least = least

    def values(
        self,
        deals: npt.NDArray[np.uint8],
        threads: int = 1,
        first_number: int = 0,
        listen: Callable[[int, Float], None] | None = None,
    ) -> Float:
        """[deals, 2]: what the responder wins in each position; the agent's solves have the threads."""
        del threads
        out = np.empty((len(deals), 2))
        for i, deal in enumerate(deals):
            board = tuple(int(card) for card in deal[2 * self.definition.num_hole_cards :])
            for position in range(2):
                out[i, position] = self.deal_value(board, position, 2 * (first_number + i) + position)
            if listen is not None:
                listen(i + 1, out)
        return out

    def deal_value(self, board: Sequence[int], position: int, number: int) -> float:
        """What the responder wins at `position` with any hand, on a full board, in chips."""
        walk = _Walk(self, tuple(board), position, number)
        everything = np.ones(NUM_PAIRS)
        value = walk.value(Branch(BettingState(self.definition), everything, everything), ())
        self.num_roots += walk.num_roots
        return value / walk.total

    def raises(self, betting: BettingState) -> list[int]:
        """Raise-to amounts to consider, ascending, each once."""
        bounds = betting.raise_range()
        if bounds is None:
            return []
        low, high = bounds
        most = betting.max_spent
        amounts = {min(max(most + math.floor(2.0 * most * share + 0.5), low), high) for share in self._bets.fractions}
        return sorted(amounts | ({high} if self._bets.all_in else set()))


class _Walk:
    """One deal from one position."""

    def __init__(self, response: VectorResponse, board: tuple[int, ...], position: int, number: int):
        self.response = response
        self.full_board = board
        self.me = position
        self.number = number
        self.num_roots = 0
        self.root_stake = 0.0  # mass times chips where every branch begins to be walked; there is one such place
        self.total = float(math.comb(52, 2) * math.comb(50, 2))
        self.rng = np.random.default_rng((response.settings.seed % 2**63, number))

    def value(self, branch: Branch, board: tuple[int, ...]) -> float:
        """What the responder wins, times the weights of both players' hands, summed over all pairs of hands."""
        betting = branch.betting
        if betting.finished:
            return self._end(branch, board)
        size = betting.definition.board_sizes[betting.round]
        if len(board) < size:
            return self._deal(branch, board, size)
        if self.root_stake == 0.0 and betting.round >= self.response._expand_from:
            mass = float(branch.own @ showdown_on(board).fold(branch.other))
            self.root_stake = mass * betting.max_spent
        branches = (
            self._own_branches(branch, board) if betting.player_to_act == self.me else self._answers(branch, board)
        )
        return self._follow(branches, board, betting.round >= self.response._expand_from)

    def _end(self, branch: Branch, board: tuple[int, ...]) -> float:
        betting = branch.betting
        own, other = branch.own, branch.other
        if not betting.is_showdown():
            folder = betting.folded.index(True)
            won = -betting.spent[folder] if folder == self.me else betting.spent[folder]
            return won * float(own @ showdown_on(board).fold(other))
        if len(board) < 4:
            return min(betting.spent) * self._run_out(own, other, board)
        return min(betting.spent) * float(own @ showdown_values(board, other))

    def _run_out(self, own: Float, other: Float, board: tuple[int, ...]) -> float:
        """What the responder wins of a chip at stake over the cards to come: on a flop over all, before it over some."""
        run_outs = self.response._run_outs
        if run_outs and board:
            return float(own @ self._showdown(board, other))
        boards = [self.full_board]
        if run_outs:  # not those the equities were taken from, which the responder's decisions know
            boards = [tuple(self.rng.choice(52, 5, replace=False).tolist()) for _ in range(run_outs)]
        seen = math.comb(52 - len(board), 5 - len(board)) / math.comb(48 - len(board), 5 - len(board))
        won = sum(float(_on_board(own, full) @ _showdown_once(full, _on_board(other, full))) for full in boards)
        return seen * won / len(boards)

    def _deal(self, branch: Branch, board: tuple[int, ...], size: int) -> float:
        """The dealt flop and turn, drawn rivers. A pair of hands sees fewer boards than are dealt, each more often."""
        if len(board) == 4:
            cards = self.rng.choice(unseen(board), self.response._num_rivers, replace=False).tolist()
            boards: list[tuple[int, ...]] = [(*board, card) for card in cards]
            scale = _NUM_RIVERS / (HIDDEN_RIVERS * len(cards))
        else:
            left, more = 52 - len(board), size - len(board)
            boards = [self.full_board[:size]]
            scale = math.comb(left, more) / math.comb(left - 4, more)
            self.num_roots += size == 4
        return scale * sum(
            self.value(Branch(branch.betting, _on_board(branch.own, to), _on_board(branch.other, to)), to)
            for to in boards
        )

    def _follow(self, branches: list[Branch], board: tuple[int, ...], expand: bool) -> float:
        """Every ended branch; of those that go on, all of them, or one drawn to represent them."""
        fold = showdown_on(board).fold
        going_on = [
            (branch, float(branch.own @ fold(branch.other))) for branch in branches if not branch.betting.finished
        ]
        total = sum(self.value(branch, board) for branch in branches if branch.betting.finished)
        if not expand:
            stakes = np.array([mass * math.sqrt(branch.betting.max_spent) for branch, mass in going_on])
            if stakes.sum() > 0.0:
                chosen = int(self.rng.choice(len(stakes), p=stakes / stakes.sum()))
                total += stakes.sum() / stakes[chosen] * self.value(going_on[chosen][0], board)
            return total
        least = self.response._least * self.root_stake
        for branch, mass in going_on:
            stake = mass * branch.betting.max_spent
            if stake >= least:
                total += self.value(branch, board)
            elif stake > 0.0 and self.rng.random() * least < stake:
                total += least / stake * self.value(branch, board)
        return total

    def _answers(self, branch: Branch, board: tuple[int, ...]) -> list[Branch]:
        policy = self._policy(branch.betting, board)
        return [
            Branch(_after(branch.betting, action), branch.own, branch.other * row)
            for action, row in zip(policy.actions, policy.rows)
            if row.any()
        ]

    def _policy(self, betting: BettingState, board: tuple[int, ...]) -> Policy:
        return self.response.agent.rows(PublicState(betting, board, 1 - self.me, self.number))

    def _own_branches(self, branch: Branch, board: tuple[int, ...]) -> list[Branch]:
        """Hands that decide alike go on together."""
        betting = branch.betting
        raises = self.response.raises(betting) if betting.round >= self.response.settings.from_street else []
        asked = betting.can_fold() and betting.round >= self.response.settings.from_street
        if not raises and not asked:
            return [Branch(_after(betting, CALL_ACTION), branch.own, branch.other)]
        actions, values = self._action_values(betting, board, branch.other, raises, asked)
        chosen = values.argmax(axis=0)  # the first of equals: folding, then calling, then the smallest raise
        return [
            Branch(_after(betting, action), np.where(chosen == a, branch.own, 0.0), branch.other)
            for a, action in enumerate(actions)
            if branch.own[chosen == a].any()
        ]

    def _action_values(
        self, betting: BettingState, board: tuple[int, ...], other: Float, raises: list[int], asked: bool
    ) -> tuple[list[Action], Float]:
        """[actions, 1326] what each is worth to each hand, times the agent's reach: algorithm 1 of the paper."""
        spent, stacks = betting.spent, betting.definition.stacks
        me, opponent = self.me, 1 - self.me
        called = min(betting.max_spent, stacks[me])
        fold = showdown_on(board).fold
        actions = [CALL_ACTION]
        values = [min(called, spent[opponent]) * self._showdown(board, other)]
        if asked:
            actions.insert(0, FOLD_ACTION)
            values.insert(0, -spent[me] * fold(other))
        for raise_to in raises:
            action = Action(RAISE, raise_to)
            policy = self._policy(_after(betting, action), board)
            away = other * sum(
                (row for answer, row in zip(policy.actions, policy.rows) if answer.kind == FOLD), np.zeros(NUM_PAIRS)
            )
            at_stake = min(raise_to, stacks[opponent])
            actions.append(action)
            values.append(spent[opponent] * fold(away) + at_stake * self._showdown(board, other - away))
        return actions, np.array(values)

    def _showdown(self, board: tuple[int, ...], other: Float) -> Float:
        """[1326] what each hand wins of the agent's reach if both check to the end, a chip at stake."""
        if len(board) >= 4:
            return showdown_values(board, other)
        if len(board) == 3:
            total = np.zeros(NUM_PAIRS)
            for pair in combinations(unseen(board), 2):
                full = (*board, *pair)
                total += _showdown_once(full, _on_board(other, full))
            return total / _FLOP_RUN_OUTS
        won, met = np.zeros(NUM_PAIRS), np.zeros(NUM_PAIRS)
        rng = np.random.default_rng((self.response.settings.seed % 2**63, self.number, len(self.full_board)))
        for _ in range(self.response.settings.samples):
            full = tuple(rng.choice(52, 5, replace=False).tolist())
            seen = _on_board(other, full)
            won += _showdown_once(full, seen)
            met += showdown_on.__wrapped__(full).fold(seen)
        return showdown_on(()).fold(other) * won / np.maximum(met, 1e-300)


def _showdown_once(board: tuple[int, ...], reach: Float) -> Float:
    """On a board that is not worth keeping."""
    return showdown_on.__wrapped__(board).showdown(reach)


def _on_board(weights: Float, board: tuple[int, ...]) -> Float:
    return np.where(np.isin(PAIR_CARDS, board).any(axis=1), 0.0, weights)


def _after(betting: BettingState, action: Action) -> BettingState:
    after = betting.copy()
    after.apply(action)
    return after
