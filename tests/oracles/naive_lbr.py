"""Local best response in plain Python, straight from its definition: the live agent is asked about every single hand.

The opponent's answer to a raise is asked for after the raise, as the agent reads it then, so bets that are read at random
must not occur: use sizes of the tree, or a deterministic translation.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from foldwise.agent.following.tracker import Tracker
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.betting import CALL, FOLD, RAISE, Action, BettingState
from foldwise.game.hands.evaluator import rank_hand

Hand = tuple[int, ...]
Range = dict[Hand, float]
Row = list[tuple[Action, float]]
Raises = Callable[[BettingState], list[int]]


class NaiveResponder:
    """Against one strategy; `raises` lists the raise-to amounts to consider."""

    def __init__(self, player: StrategyPlayer, raises: Raises, from_street: int = 0, number: int = 0):
        self.player = player
        self.definition = player.definition
        self.raises = raises
        self.from_street = from_street
        self.number = number
        self.tracker = Tracker(player.seat, player.definition)

    def row(self, betting: BettingState, hand: Hand, board: Hand) -> Row:
        """What the agent plays with a hand, as real actions."""
        sizes = self.definition.board_sizes[: betting.round + 1]
        buckets = [self.player.lookup.bucket(hand, board[:size]) for size in sizes]
        answer = self.tracker.answer(betting, betting.player_to_act, self.number, buckets)
        actions = self.tracker.real_actions(answer.node)
        return list(zip(actions, self.tracker.scratch.row[: len(actions)].tolist()))

    def equity(self, own: Hand, other: Hand, board: Hand) -> float:
        """Mean result of a showdown over the completions of the board."""
        deck = [card for card in self.definition.deck if card not in (*own, *other, *board)]
        total, count = 0, 0
        for more in combinations(deck, self.definition.board_sizes[-1] - len(board)):
            mine, theirs = rank_hand((*own, *board, *more)), rank_hand((*other, *board, *more))
            total += (mine > theirs) - (mine < theirs)
            count += 1
        return total / count

    def mean(self, own: Hand, opponents: Range, board: Hand) -> float:
        total = sum(opponents.values())
        return sum(w * self.equity(own, hand, board) for hand, w in opponents.items() if w > 0.0) / total

    def choose(self, betting: BettingState, own: Hand, opponents: Range, board: Hand) -> Action:
        """Algorithm 1 of the paper, in its own terms: utilities count from folding now."""
        if betting.round < self.from_street:
            return Action(CALL, 0)
        me = betting.player_to_act
        spent, stacks = betting.spent, self.definition.stacks
        pot = sum(spent)
        asked = min(max(spent), stacks[me]) - spent[me]
        chance = (1.0 + self.mean(own, opponents, board)) / 2.0
        best, action = chance * pot - (1.0 - chance) * asked, Action(CALL, 0)
        if asked > 0 and best <= 0.0:
            best, action = 0.0, Action(FOLD, 0)
        for raise_to in self.raises(betting):
            after = betting.copy()
            after.apply(Action(RAISE, raise_to))
            extra = after.spent[me] - spent[me] - asked
            fold = {
                hand: sum(p for played, p in self.row(after, hand, board) if played.kind == FOLD) for hand in opponents
            }
            total = sum(opponents.values())
            folded = sum(w * fold[hand] for hand, w in opponents.items()) / total
            stay = {hand: w * (1.0 - fold[hand]) for hand, w in opponents.items()}
            value = folded * pot
            if sum(stay.values()) > 0.0:
                chance = (1.0 + self.mean(own, stay, board)) / 2.0
                value += (1.0 - folded) * (chance * (pot + extra) - (1.0 - chance) * (asked + extra))
            if value > best:
                best, action = value, Action(RAISE, raise_to)
        return action

    def expected(self, me: int, own: Hand) -> float:
        """What the responder wins with a hand at a position, over all boards and all that the opponent may do."""
        deck = [card for card in self.definition.deck if card not in own]
        opponents = dict.fromkeys(combinations(deck, self.definition.num_hole_cards), 1.0)
        value = self._expected(BettingState(self.definition), me, own, opponents, ())
        return value / len(opponents)

    def _expected(self, betting: BettingState, me: int, own: Hand, opponents: Range, board: Hand) -> float:
        """Weighted by the opponent's reach, not normalised."""
        mass = sum(opponents.values())
        if mass == 0.0:
            return 0.0
        if betting.finished:
            if any(betting.folded):
                loser = betting.folded.index(True)
                return mass * betting.spent[loser] * (-1 if loser == me else 1)
            return mass * min(betting.spent) * self.mean(own, opponents, board)
        missing = self.definition.board_sizes[betting.round] - len(board)
        if missing:
            return sum(
                self._expected(betting, me, own, left, (*board, *more))
                for more, left in deals(self, own, opponents, board, missing)
            )
        if betting.player_to_act == me:
            after = betting.copy()
            after.apply(self.choose(betting, own, opponents, board))
            return self._expected(after, me, own, opponents, board)
        rows = {hand: dict_of(self.row(betting, hand, board)) for hand in opponents}
        total = 0.0
        for action in {action for row in rows.values() for action in row}:
            after = betting.copy()
            after.apply(action)
            left = {hand: w * rows[hand].get(action, 0.0) for hand, w in opponents.items()}
            total += self._expected(after, me, own, left, board)
        return total

    def replay(self, cards: Sequence[int], me: int) -> float:
        """The value of one dealt hand, the opponent's actions drawn as he draws them, a showdown over his range."""
        num_hole = self.definition.num_hole_cards
        hands = [tuple(cards[p * num_hole : (p + 1) * num_hole]) for p in range(2)]
        full = tuple(cards[2 * num_hole :])
        own, held = tuple(sorted(hands[me])), tuple(sorted(hands[1 - me]))
        deck = [card for card in self.definition.deck if card not in own]
        opponents = dict.fromkeys(combinations(sorted(deck), num_hole), 1.0)
        betting = BettingState(self.definition)
        street = 0
        while not betting.finished:
            street = betting.round
            board = full[: self.definition.board_sizes[betting.round]]
            opponents = {hand: w for hand, w in opponents.items() if w > 0.0 and not set(hand) & set(board)}
            if betting.player_to_act == me:
                action = self.choose(betting, own, opponents, board)
            else:
                rows = {hand: dict_of(self.row(betting, hand, board)) for hand in opponents}
                buckets = [
                    self.player.lookup.bucket(held, board[:size])
                    for size in self.definition.board_sizes[: betting.round + 1]
                ]
                action = self.tracker.answer(betting, 1 - me, self.number, buckets).action
                opponents = {hand: w * rows[hand].get(action, 0.0) for hand, w in opponents.items()}
            betting.apply(action)
        if any(betting.folded):
            loser = betting.folded.index(True)
            return betting.spent[loser] * (-1.0 if loser == me else 1.0)
        # What is known when the betting ends: the kernels average over the run-outs from there.
        board = full[: self.definition.board_sizes[street]] if street >= self.from_street else full
        opponents = {hand: w for hand, w in opponents.items() if w > 0.0 and not set(hand) & set(board)}
        return min(betting.spent) * self.mean(own, opponents, board)


def deals(
    responder: NaiveResponder, own: Hand, opponents: Range, board: Hand, count: int
) -> Iterator[tuple[Hand, Range]]:
    """Cards that may come next, each with the range left after it, weighted by its chance for every hand."""
    deck = [card for card in responder.definition.deck if card not in (*own, *board)]
    for more in combinations(deck, count):
        left = {hand: w for hand, w in opponents.items() if not set(hand) & set(more)}
        size = len(deck) - responder.definition.num_hole_cards
        chance = 1.0
        for i in range(count):
            chance *= (i + 1) / (size - i)
        yield more, {hand: w * chance for hand, w in left.items()}


def dict_of(row: Row) -> dict[Action, float]:
    """Equal actions summed: a raise may become a call."""
    found: dict[Action, float] = {}
    for action, probability in row:
        found[action] = found.get(action, 0.0) + probability
    return found
