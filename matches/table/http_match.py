"""A match at an HTTP table, written down as an ACPC log like any other."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from foldwise.agent.clients.http_client import HttpHand, HttpReport, HttpTable, play_hands
from foldwise.agent.player import Player
from foldwise.game.betting import BettingState
from foldwise.game.cards import cards_text
from foldwise.game.definition import GameDefinition
from foldwise.game.hands.dealing import Deal
from foldwise.matches.table.hand import Hand, format_value, position_of_seat, score_line
from foldwise.matches.table.log import LogFile, header_text

NAMES = ("agent", "table")
_LIMITS_MS = (600_000, 600_000, 7_000)
Listener = Callable[[int, float], None]  # hands, chips won so far


@dataclass
class HttpResult:
    """The result of a match, in chips won by the agent."""

    report: HttpReport
    chips: float = 0.0
    baseline_chips: float | None = 0.0  # None once the table has omitted one
    hidden: int = 0  # hands without the opponent's cards: comments in the log
    differing: int = 0  # hands in which the table's winnings are not what the rules say


def play_http_match(
    player: Player,
    definition: GameDefinition,
    table: HttpTable,
    num_hands: int,
    log_path: Path,
    game: str,
    listen: Listener,
) -> HttpResult:
    """Play `num_hands` and log them, the agent in the first seat. What is finished stays in the log whatever happens."""
    result = HttpResult(HttpReport())
    log = LogFile(log_path, append=False)
    log.write(header_text(log_path.stem, game, num_hands, 0, _LIMITS_MS))
    number = 0
    totals = [0.0, 0.0]
    try:
        for hand in play_hands(player, definition, table, num_hands, result.report):
            if hand.position != position_of_seat(0, number, 2, False):  # a hand was lost before this one
                number += 1
            line, value = _log_line(hand, definition, number)
            if value is None:
                result.hidden += 1
            elif abs(value - hand.winnings) > 0.5:
                result.differing += 1
            log.write(line + "\n")
            result.chips += hand.winnings
            totals[0] += hand.winnings
            totals[1] -= hand.winnings
            if hand.baseline is None:
                result.baseline_chips = None
            elif result.baseline_chips is not None:
                result.baseline_chips += hand.baseline
            number += 1
            listen(result.report.hands + 1, result.chips)
        log.write(score_line(totals, NAMES) + "\n")
    finally:
        log.close()
        table.close()
    return result


def _log_line(hand: HttpHand, definition: GameDefinition, number: int) -> tuple[str, float | None]:
    """The line, and what the agent won by the rules; None if the opponent's cards are unknown."""
    names = NAMES if hand.position == 0 else NAMES[::-1]
    betting = hand.state.betting
    if not all(hand.hole_cards):
        values = (hand.winnings, -hand.winnings) if hand.position == 0 else (-hand.winnings, hand.winnings)
        cards = "|".join(map(cards_text, hand.hole_cards)) + _board_text(betting, hand.board)
        amounts = "|".join(map(format_value, values))
        return f"# STATE:{number}:{betting.betting_text()}:{cards}:{amounts}:{'|'.join(names)}", None
    replay = Hand(definition, Deal(hand.hole_cards, hand.board), number)
    for actions in betting.actions:
        for _, action in actions:
            replay.apply(action)
    by_rules = replay.values()
    return replay.log_line(by_rules, names), by_rules[hand.position]


def _board_text(betting: BettingState, board: tuple[int, ...]) -> str:
    sizes = betting.definition.board_sizes
    starts = (0, *sizes)
    return "/".join(cards_text(board[starts[street] : sizes[street]]) for street in range(betting.round + 1))
