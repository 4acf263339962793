"""Hands from other sources, for review: ACPC logs, PHH files, PokerStars, a Slumbot table. Others' cards may be unknown.

Unlike a log of ours, which names all cards, an imported hand has empty hole cards where nobody showed them; what each
player won is then taken from the file, or left as the betting has it where it ended by a fold.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from foldwise.agent.clients.http_client import TableAnswer
from foldwise.game.betting import BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.hands.evaluator import rank_hand
from foldwise.game.library import find_definition
from foldwise.game.text.match_state import read_match_state
from foldwise.game.text.slumbot import read_slumbot
from foldwise.matches.plan import PLAN_FILE
from foldwise.matches.report.hand_files import log_definition, one_game
from foldwise.matches.report.phh import history_definition, play_history, read_phh
from foldwise.matches.report.pokerstars import is_pokerstars, read_pokerstars
from foldwise.matches.table.log import LoggedHand

_STATE, _HIDDEN_STATE, _HEADER = "STATE:", "# STATE:", "# name/game/hands/seed "
_SEATS = ("you", "table")
_MOST_HANDS = 200_000


@dataclass(frozen=True)
class ImportedHands:
    """The hands of a file or a folder, all of one game."""

    definition: GameDefinition
    hands: list[LoggedHand]


def read_one_game(source: Path, game: str | None = None) -> ImportedHands:
    """The hands of a log, a PHH file, a Slumbot session, or a folder of logs such as a match folder."""
    if source.is_dir():
        return _read_folder(source, game)
    try:
        text = source.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        text = source.read_text(encoding="latin-1")
    except OSError as error:
        raise DefinitionError(
            f"{str(source)!r}: {error.strerror}: give a log, a PHH file or a folder with logs"
        ) from None
    is_log = any(line.startswith((_STATE, _HIDDEN_STATE)) for line in text.splitlines())
    definition = log_definition(source, game) if is_log and _names_game(source, text) else None
    return import_hands(text, source.name, definition or (find_definition(game) if game is not None else None))


def _names_game(source: Path, text: str) -> bool:
    return (source.parent / PLAN_FILE).is_file() or text.startswith(_HEADER)


def _read_folder(folder: Path, game: str | None) -> ImportedHands:
    logs = sorted(folder.glob("*.log"))
    if not logs:
        raise DefinitionError(f"{str(folder)!r} holds no *.log: give a match folder, a session or a log")
    parts = [read_one_game(log, game) for log in logs]
    if any(part.definition != parts[0].definition for part in parts):
        raise DefinitionError(f"{str(folder)!r} holds logs of several games: review them one by one")
    return ImportedHands(parts[0].definition, [hand for part in parts for hand in part.hands])


def import_hands(text: str, source: str, definition: GameDefinition | None = None) -> ImportedHands:
    """Hands of a text in any known format; `definition` is the game if the text does not name it, by default hunl."""
    lines = text.splitlines()
    if any(line.startswith((_STATE, _HIDDEN_STATE)) for line in lines):
        rules = definition or _header_definition(lines, source)
        return _checked(
            rules, [_log_hand(line, rules) for line in lines if line.startswith((_STATE, _HIDDEN_STATE))], source
        )
    stripped = text.lstrip()
    if stripped.startswith("{") or stripped.lstrip("[ \n").startswith("{"):
        rules = definition or find_definition("hunl")
        return _checked(rules, _slumbot_hands(text, rules, source), source)
    if not stripped:
        raise FormatError(f"{source} is empty: expected an ACPC log, a PHH file or the answers of a Slumbot table")
    if is_pokerstars(text):
        return _room_hands(list(read_pokerstars(text, source)), source)
    if "=" not in text:
        raise FormatError(
            f"{source} holds no hands that can be read: expected an ACPC log (lines with STATE:), PHH, PokerStars hands or "
            "the answers of a Slumbot table"
        )
    histories = read_phh(text, source)
    rules = history_definition(histories[0])
    for number, history in enumerate(histories, start=1):
        if history_definition(history) != rules:
            raise FormatError(
                f"{source}, hand {number}: other stacks, blinds or rules than hand 1: give one game at a time"
            )
    hands = []
    for index, history in enumerate(histories):
        number = history.hand if history.hand is not None else index
        betting, holes, board = play_history(history, rules, number)
        names = history.players or [f"p{player + 1}" for player in range(rules.num_players)]
        values = None
        if history.finishing_stacks is not None:
            values = tuple(last - first for last, first in zip(history.finishing_stacks, rules.stacks))
        hands.append(_hand(number, betting, tuple(holes), board, values, tuple(names), source))
    return _checked(rules, hands, source)


def _room_hands(hands: list[LoggedHand], source: str) -> ImportedHands:
    instead = "make a log of each game with 'foldwise convert HANDS.txt FOLDER', and give one at a time"
    return _checked(one_game(hands, source, instead), hands, source)


def _checked(definition: GameDefinition, hands: list[LoggedHand], source: str) -> ImportedHands:
    if not hands:
        raise FormatError(
            f"{source} holds no finished hand: expected an ACPC log, a PHH file or answers of a Slumbot table"
        )
    if len(hands) > _MOST_HANDS:
        raise FormatError(f"{source} holds {len(hands):,} hands: at most {_MOST_HANDS:,} are read at a time")
    if definition.num_players != 2:
        raise DefinitionError(f"{source} is of a game for {definition.num_players} players: expected two")
    return ImportedHands(definition, hands)


def _header_definition(lines: Iterable[str], source: str) -> GameDefinition:
    """The built-in game a header names, hunl without a header. Pasted text has no folder with a game file."""
    for line in lines:
        if line.startswith(_HEADER) and len(words := line.split(" ")) >= 4:
            try:
                return find_definition(words[-3]) if not words[-3].endswith(".game") else find_definition("hunl")
            except DefinitionError:
                raise DefinitionError(
                    f"{source}: its header names the game {words[-3]!r}, which is not built in"
                ) from None
    return find_definition("hunl")


def _log_hand(line: str, definition: GameDefinition) -> LoggedHand:
    parts = line.removeprefix("# ").split(":")
    wrong = FormatError(f"log line {line[:200]!r}: expected STATE:hand:betting:cards:values:names of a finished hand")
    if len(parts) < 6:
        raise wrong
    number, betting, cards, values = parts[1:5]
    names = ":".join(parts[5:]).split("|")
    text = f"MATCHSTATE:0:{number}:{betting}:{cards}"
    # A hand with hidden cards is read like a state, from the seat of a player who showed cards.
    found = read_match_state(text, definition)
    try:
        amounts = tuple(float(value) for value in values.split("|"))
    except ValueError:
        raise wrong from None
    if found is None or found[1] != len(text) or not found[0].betting.finished:
        raise wrong
    state = found[0]
    if len(amounts) != definition.num_players or len(names) != definition.num_players:
        raise wrong
    return LoggedHand(state.hand_number, state.betting, tuple(state.hole_cards), state.board, amounts, tuple(names))


def _slumbot_hands(text: str, definition: GameDefinition, source: str) -> list[LoggedHand]:
    """The final answers of hands, as a list or one per line; answers in mid-hand are skipped."""
    try:
        data: Any = json.loads(text)
        answers = data if isinstance(data, list) else [data]
    except (ValueError, RecursionError):
        try:
            answers = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            raise FormatError(f"{source} is not JSON: expected the answers of a Slumbot table, one a line") from None
    hands: list[LoggedHand] = []
    for place, answer in enumerate(answers, start=1):
        try:
            one = TableAnswer.model_validate(answer)
        except ValidationError as error:
            raise FormatError(
                f"{source}, answer {place}: {error.errors()[0]['msg']}: expected a Slumbot table's"
            ) from None
        if one.winnings is None:
            continue
        state = read_slumbot(one.action, definition)
        if not state.betting.finished:
            raise FormatError(f"{source}, answer {place}: {one.action!r} is no end of a hand, although it has winnings")
        mine, theirs = parse_cards("".join(one.hole_cards)), parse_cards("".join(one.bot_hole_cards or []))
        board = parse_cards("".join(one.board))[: definition.board_sizes[state.betting.round]]
        first = one.client_pos == 0
        values = (one.winnings, -one.winnings) if first else (-one.winnings, one.winnings)
        holes = (mine, theirs) if first else (theirs, mine)
        names = _SEATS if first else _SEATS[::-1]
        hands.append(_hand(len(hands), state.betting, holes, board, values, names, source))
    return hands


def _hand(
    number: int,
    betting: BettingState,
    holes: tuple[tuple[int, ...], ...],
    board: tuple[int, ...],
    values: tuple[float, ...] | None,
    names: tuple[str, ...],
    source: str,
) -> LoggedHand:
    definition = betting.definition
    cards = [card for hole in holes for card in hole] + list(board)
    if len(set(cards)) < len(cards) or len(board) != definition.board_sizes[betting.round]:
        raise FormatError(f"{source}, hand {number}: a card stands there twice, or the board does not fit the betting")
    if values is None:
        if betting.is_showdown():
            if not all(holes):
                raise FormatError(
                    f"{source}, hand {number}: a showdown without cards and without results cannot be read"
                )
            values = tuple(betting.settle([rank_hand(hole + board) for hole in holes]))
        else:
            values = tuple(betting.settle())
    return LoggedHand(number, betting, holes, board, values, names)
