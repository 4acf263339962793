"""All-in expectation: where chips are in and cards to come, the average over the cards replaces the luck of one board.

The same estimate as the competition's all-in tool: it conditions on all hole cards, folded ones included.
"""

from functools import lru_cache

import numpy as np

from foldwise.game.betting import BettingState
from foldwise.game.definition import GameDefinition
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.matches.scoring import all_in_kernels as kernels
from foldwise.matches.table.log import LoggedHand, line_values, parse_state_line


def is_all_in(line: str) -> bool:
    """Whether cards were dealt without betting at the end of a `STATE` line's hand: its last round is empty.

    A round that two players could bet in has at least one action; a hand that ends by a fold ends with that action.
    """
    betting = line.split(":", 3)[2]
    return betting.endswith("/")


def last_betting_round(betting: BettingState) -> int:
    """The last round with an action in it."""
    return max((index for index, actions in enumerate(betting.actions) if actions), default=0)


def expected_values(hand: LoggedHand) -> list[float]:
    """Value of each position: over all boards where an all-in showdown had cards to come, else as played."""
    betting = hand.betting
    definition = betting.definition
    known = definition.board_sizes[last_betting_round(betting)]
    if not betting.is_showdown() or known == len(hand.board):
        return list(hand.values)
    return list(
        _over_boards(definition, hand.hole_cards, hand.board[:known], tuple(betting.spent), tuple(betting.folded))
    )


@lru_cache(maxsize=1 << 14)
def _over_boards(
    definition: GameDefinition,
    hole_cards: tuple[tuple[int, ...], ...],
    known_board: tuple[int, ...],
    spent: tuple[int, ...],
    folded: tuple[bool, ...],
) -> tuple[float, ...]:
    seen = {card for cards in hole_cards for card in cards} | set(known_board)
    deck = np.array([card for card in definition.deck if card not in seen], np.int64)
    levels = np.array(sorted({amount for amount in spent if amount > 0}), np.int64)
    spent_chips = np.array(spent, np.int64)
    out = np.array(folded, np.bool_)
    values = np.zeros(len(spent))
    standing = np.flatnonzero(~out)
    if standing.size == 2:
        num_known = definition.num_hole_cards + len(known_board)
        hands = np.zeros((2, definition.num_hole_cards + definition.board_sizes[-1]), np.int64)
        hands[:, :num_known] = [hole_cards[p] + known_board for p in standing]
        counts = np.zeros(3, np.int64)
        kernels.count_run_outs(evaluator_tables(), hands, num_known, deck, counts)
        for winner_ranks, count in zip(((1, 0), (0, 1), (0, 0)), counts):
            ranks = np.zeros(len(spent), np.int64)
            ranks[standing] = winner_ranks
            outcome = np.zeros(len(spent))
            kernels.add_showdown(spent_chips, out, levels, ranks, outcome)
            values += count * outcome
        return tuple((values / counts.sum()).tolist())
    board = np.zeros(definition.board_sizes[-1], np.int64)
    board[: len(known_board)] = known_board
    holes = np.array(hole_cards, np.int64)
    num_boards = kernels.sum_run_outs(
        evaluator_tables(), holes, board, len(known_board), deck, spent_chips, out, levels, values
    )
    return tuple((values / num_boards).tolist())


def expected_line_values(line: str, definition: GameDefinition) -> list[float]:
    """`line_values` with all-in expectation."""
    return expected_values(parse_state_line(line, definition)) if is_all_in(line) else line_values(line)
