"""A state typed by a person: betting, board and the hole cards of the player to act, read like a dealer's line."""

import re

from foldwise.game.betting import BettingState
from foldwise.game.cards import cards_text, parse_cards
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import FormatError
from foldwise.game.text.match_state import MatchState, behind_marks, parse_match_state, read_action


def read_betting(definition: GameDefinition, betting: str) -> BettingState:
    """The betting of a text such as `r300c/`; separators between rounds may be left out."""
    past = BettingState(definition)
    at = behind_marks(betting, 0)
    while at < len(betting):
        action, end = read_action(betting, at, definition)
        if action is None or end < 0 or not past.is_legal(action):
            raise FormatError(
                f"betting {betting!r}: no legal action at character {at + 1}: expected f, c or r, as in r300c/"
            )
        past.apply(action)
        at = behind_marks(betting, end)
    return past


def typed_state(definition: GameDefinition, betting: str, board: str, hand: str) -> MatchState:
    """The state of the player to act after `betting`, as in ("r300c/", "AsKd2c", "QhQs")."""
    past = read_betting(definition, betting)
    if past.finished:
        raise FormatError(f"betting {betting!r} ends the hand: give a betting after which somebody is to act")
    cards, hole = parse_cards(board), parse_cards(hand)
    expected = definition.board_sizes[past.round]
    if len(cards) != expected or len(hole) != definition.num_hole_cards or set(cards) & set(hole):
        raise FormatError(
            f"board {board!r} and hand {hand!r}: expected {expected} board and {definition.num_hole_cards} hole cards, "
            f"all distinct, after the betting {betting!r}"
        )
    for card in (*hole, *cards):
        if card not in definition.deck:
            raise FormatError(
                f"card {cards_text([card])!r} is not in this game's deck: expected one of {cards_text(definition.deck)}"
            )
    sections, start = [], 0
    for size in definition.board_sizes[: past.round + 1]:
        sections.append(cards_text(cards[start:size]))
        start = size
    position = past.player_to_act
    holes = "|".join(cards_text(hole) if p == position else "" for p in range(definition.num_players))
    return parse_match_state(f"MATCHSTATE:{position}:0:{past.betting_text()}:{holes}{'/'.join(sections)}", definition)


_CLASS = re.compile(r"([2-9TJQKA])([2-9TJQKA])([so]?)", re.IGNORECASE)


def hand_of_class(text: str, definition: GameDefinition) -> str:
    """Two cards of a class such as `AKs`, `T9o` or `QQ` (all its hands are alike before the flop); else the text itself."""
    found = _CLASS.fullmatch(text)
    if found is None or definition.num_hole_cards != 2:
        return text
    first, second, suited = found[1].upper(), found[2].upper(), found[3].lower()
    if (first == second) == bool(suited):
        raise FormatError(f"hand {text!r}: expected a pair as QQ, or two ranks with s or o, as AKs or T9o")
    return f"{first}s{second}{'s' if suited == 's' else 'h'}"
