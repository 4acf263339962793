"""Every hand two strategies can play in a small game, with its probability: in plain Python, one deal after the other."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.betting import FOLD, RAISE, Action, BettingState
from foldwise.game.definition import GameDefinition, parse_definition
from foldwise.game.hands.dealing import Deal
from foldwise.matches.table.hand import Hand
from foldwise.matches.table.log import LoggedHand
from foldwise.postprocess.language import parse_pipeline
from tests.oracles.naive_tracker import NaiveTracker

# Four cards, one hole card, one board card, two rounds of no-limit betting.
TINY_NO_LIMIT = parse_definition(
    "GAMEDEF\nnolimit\nnumPlayers = 2\nnumRounds = 2\nstack = 14 14\nblind = 1 2\nfirstPlayer = 1 2\nnumSuits = 1\n"
    "numRanks = 4\nnumHoleCards = 1\nnumBoardCards = 0 1\nEND GAMEDEF\n",
    "tiny",
)


# Seven cards, two hole cards and a flop, few chips.
TINY_FLOP = parse_definition(
    "GAMEDEF\nnolimit\nnumPlayers = 2\nnumRounds = 2\nstack = 6 6\nblind = 1 2\nfirstPlayer = 1 2\nnumSuits = 1\n"
    "numRanks = 7\nnumHoleCards = 2\nnumBoardCards = 0 3\nEND GAMEDEF\n",
    "tiny flop",
)


def all_deals(definition: GameDefinition) -> list[Deal]:
    """Every deal of a game that deals its board at once; all are equally likely."""
    num_hole, deck = definition.num_hole_cards, set(definition.deck)
    return [
        Deal((first, second), board)
        for first in combinations(sorted(deck), num_hole)
        for second in combinations(sorted(deck - {*first}), num_hole)
        for board in combinations(sorted(deck - {*first, *second}), definition.board_sizes[-1])
    ]


def play_all(
    definition: GameDefinition,
    players: tuple[StrategyPlayer, StrategyPlayer],
    pipelines: tuple[str, str] = ("none",) * 2,
) -> Iterator[tuple[LoggedHand, float]]:
    """All hands of two players by position, with probabilities that sum to 1 over deals, actions and readings."""
    trackers = [NaiveTracker(player.seat, parse_pipeline(text)) for player, text in zip(players, pipelines)]
    deals = all_deals(definition)
    for deal in deals:
        found: dict[tuple[Action, ...], float] = defaultdict(float)
        _walk(definition, players, trackers, deal, (), (0, 0), (False, False), 1.0 / len(deals), found)
        for actions, probability in found.items():
            hand = Hand(definition, deal, 0)
            for action in actions:
                hand.apply(action)
            board = deal.board[: definition.board_sizes[hand.betting.round]]
            yield LoggedHand(0, hand.betting, deal.hole_cards, board, tuple(hand.values()), ("A", "B")), probability


def _walk(definition, players, trackers, deal, actions, nodes, acted, probability, found):
    betting = BettingState(definition)
    for action in actions:
        betting.apply(action)
    if betting.finished:
        found[actions] += probability
        return
    player = betting.player_to_act
    tracker, other = trackers[player], trackers[1 - player]
    board = deal.board[: definition.board_sizes[betting.round]]
    bucket = players[player].lookup.bucket(deal.hole_cards[player], board)
    _, row = tracker.drawn(betting, nodes[player], bucket, not acted[player], 0, 0)
    now_acted = (True, acted[1]) if player == 0 else (acted[0], True)
    for child, chance in zip(tracker.children(nodes[player]).values(), row):
        if chance == 0.0:
            continue
        action = tracker.real(betting, nodes[player], child)
        own, readings = child, [(-1, 1.0)]
        if action.kind != FOLD:
            readings = [(other.call(nodes[1 - player]), 1.0)]
        if action.kind == RAISE:
            most = betting.max_spent
            raise_to = betting.raise_range()[1] if definition.limit else action.raise_to
            x = (raise_to - most) / (2 * max(1, most))
            readings = other.readings(nodes[1 - player], player, x, other.seat.randomised)
        elif action.kind != FOLD:
            own = tracker.call(nodes[player])
        after = betting.copy()
        after.apply(action)
        for read, share in readings:
            if share == 0.0:
                continue
            moved = (own, read) if player == 0 else (read, own)
            if not after.finished:
                moved = (trackers[0].settle(moved[0], after.round), trackers[1].settle(moved[1], after.round))
            _walk(
                definition,
                players,
                trackers,
                deal,
                (*actions, action),
                moved,
                now_acted,
                probability * chance * share,
                found,
            )
