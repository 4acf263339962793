"""Hand histories in PHH, the Poker Hand History notation, and back: a hand of an ACPC log as a small TOML table.

Source: Kim, "Recording and describing poker hands" (IEEE CoG 2024), as pokerkit reads and writes it. We write it
ourselves: the notation is a dozen lines of TOML, which the standard library reads, and pokerkit would otherwise be a
dependency of the player. The tests give every file to pokerkit's own parser and play it there to the same chips.

What differs between the two notations:

- Amounts. ACPC's `r` is what a player has put in over the whole hand, PHH's `cbr` what he has put in on this street.
- Blinds. Heads-up, PHH lists the small blind first although the big blind is p1: the list is turned round.
- Cards. The log names all hole cards and the board as far as the betting went; PHH deals them street by street, and at
  a showdown (`sm`) they are shown, before the run-out where all chips are in.
- Games. PHH knows no-limit (NT) and fixed-limit (FT) hold'em. Any other game, Leduc say, is written in the same way
  under the variant `ACPC`, which pokerkit does not know. Where the usual fields do not say all of the rules, the field
  `_definition` holds the game's ACPC text.
"""

import json
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from foldwise.game.betting import CALL_ACTION, FOLD, FOLD_ACTION, RAISE, Action, BettingState
from foldwise.game.cards import cards_text, parse_cards
from foldwise.game.definition import UNLIMITED_RAISES, GameDefinition, parse_definition
from foldwise.game.errors import DefinitionError, FormatError, IllegalActionError
from foldwise.game.hands.payoffs import payoffs
from foldwise.matches.table.hand import format_value
from foldwise.matches.table.log import LoggedHand, state_line

_HOLDEM_BOARD = (0, 3, 1, 1)
_ACPC_VARIANT = "ACPC"
_UNKNOWN = "??"  # a card nobody saw
_LIMIT_MAX_RAISES = (3, 4, 4, 4)  # the competition's; PHH does not have them
_NAME_MARKS = str.maketrans(":|\r\n", "....")  # the separators of a log line


class HandHistory(BaseModel):
    """The fields of one PHH hand that say how it went; all others are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    variant: str
    antes: list[float] = []
    blinds_or_straddles: list[int] = []
    starting_stacks: list[int]
    min_bet: int | None = None
    small_bet: int | None = None
    big_bet: int | None = None
    actions: list[str]
    hand: int | None = Field(default=None, ge=0, lt=2**32)
    players: list[str] | None = None
    finishing_stacks: list[float] | None = None
    definition: str | None = Field(default=None, alias="_definition")


# ---------------------------------------------------------------------------------------------------------- writing


def phh_text(hand: LoggedHand) -> str:
    """One hand as the text of a `.phh` file."""
    definition = hand.betting.definition
    fields = _rule_fields(definition)
    fields["actions"] = list(_actions(hand))
    fields["hand"] = hand.number
    fields["players"] = list(hand.names)
    stacks = [format_value(stack + value) for stack, value in zip(definition.stacks, hand.values)]
    lines = [f"{key} = {_toml(value)}" for key, value in fields.items()]
    lines.append(f"finishing_stacks = [{', '.join(stacks)}]")
    return "\n".join(lines) + "\n"


def phhs_text(hands: Iterable[LoggedHand]) -> Iterator[str]:
    """Many hands as the pieces of one `.phhs` file: a numbered table each."""
    for index, hand in enumerate(hands, start=1):
        yield f"{'' if index == 1 else chr(10)}[{index}]\n{phh_text(hand)}"


def _toml(value: Any) -> str:
    """A number, a string or a list of them. JSON's strings are TOML's but for the delete character."""
    if isinstance(value, list) and value and isinstance(value[0], str):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _rule_fields(definition: GameDefinition) -> dict[str, Any]:
    """The fields of the rules; `_definition` only if the others do not determine the game."""
    variant = _variant(definition)
    blinds = list(definition.blinds)
    fields: dict[str, Any] = {
        "variant": variant,
        "antes": [0] * definition.num_players,
        "blinds_or_straddles": blinds[::-1] if _is_turned_round(variant, blinds) else blinds,
        "starting_stacks": list(definition.stacks),
    }
    if variant == "NT":
        fields["min_bet"] = definition.big_blind
    elif variant == "FT":
        fields["small_bet"], fields["big_bet"] = definition.raise_sizes[0], definition.raise_sizes[-1]
    if variant == _ACPC_VARIANT or _usual_definition(variant, fields) != definition:
        fields["_definition"] = definition.to_text()
    return fields


def _is_turned_round(variant: str, blinds: Sequence[int]) -> bool:
    return variant != _ACPC_VARIANT and len(blinds) == 2


def _variant(definition: GameDefinition) -> str:
    """NT or FT where pokerkit plays the same game, by cards, blinds and who acts first."""
    blinds = definition.blinds
    first = 1 if definition.num_players == 2 else 2 % definition.num_players
    is_holdem = (
        len(definition.deck) == 52
        and definition.num_hole_cards == 2
        and definition.num_board_cards == _HOLDEM_BOARD
        and definition.first_players == (first, 0, 0, 0)
        and (blinds[1] <= blinds[0] if len(blinds) == 2 else blinds[0] <= blinds[1] and not any(blinds[2:]))
        and definition.big_blind > 0
    )
    if not is_holdem:
        return _ACPC_VARIANT
    if not definition.limit:
        return "NT" if min(definition.max_raises) >= UNLIMITED_RAISES else _ACPC_VARIANT
    small, flop, turn, big = definition.raise_sizes
    return "FT" if small == flop and turn == big else _ACPC_VARIANT


def _actions(hand: LoggedHand) -> Iterator[str]:
    betting = hand.betting
    definition = betting.definition
    for player, cards in enumerate(hand.hole_cards, start=1):
        yield f"d dh p{player} {cards_text(cards) or _UNKNOWN * definition.num_hole_cards}"
    shown = False
    replay = BettingState(definition)
    dealt = 0
    for street, actions in enumerate(betting.actions):
        if betting.is_showdown() and replay.finished and not shown:
            yield from _showing(hand)
            shown = True
        board = hand.board[dealt : definition.board_sizes[street]]
        dealt = definition.board_sizes[street]
        if board:
            yield f"d db {cards_text(board)}"
        before = replay.spent.copy() if street else [0] * definition.num_players  # blinds count on their street
        for player, action in actions:
            yield f"p{player + 1} {_action_text(action, before[player])}"
            replay.apply(action)
    if betting.is_showdown() and not shown:
        yield from _showing(hand)


def _action_text(action: Action, spent_before_street: int) -> str:
    if action.kind == RAISE:
        return f"cbr {action.raise_to - spent_before_street}"
    return "f" if action.kind == FOLD else "cc"


def _showing(hand: LoggedHand) -> Iterator[str]:
    for player, cards in enumerate(hand.hole_cards):
        if cards and not hand.betting.folded[player]:
            yield f"p{player + 1} sm {cards_text(cards)}"


# ---------------------------------------------------------------------------------------------------------- reading


def read_phh(text: str, source: str) -> list[HandHistory]:
    """The hands of a `.phh` (one) or `.phhs` (many) text; `source` names it in errors."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{source} is not PHH: {error}: expected TOML, as 'foldwise convert' writes it") from None
    tables = [data] if "variant" in data else list(data.values())
    histories = []
    for number, table in enumerate(tables, start=1):
        try:
            histories.append(HandHistory.model_validate(table))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "hand"
            raise FormatError(f"{source}, hand {number}: {place}: {first['msg']}: expected a PHH hand") from None
    if not histories:
        raise FormatError(f"{source} holds no hands: expected a PHH hand, or tables of them")
    return histories


def history_definition(history: HandHistory) -> GameDefinition:
    """The rules of a hand: from `_definition` where it is given, else from the usual fields."""
    if history.definition is not None:
        return parse_definition(history.definition, source="_definition")
    if history.variant not in ("NT", "FT"):
        raise DefinitionError(
            f"variant {history.variant!r}: expected NT or FT hold'em, or a _definition with the game's ACPC text"
        )
    if any(history.antes):
        raise DefinitionError(f"antes {history.antes}: ACPC games have blinds only; choose hands without antes")
    return _usual_definition(history.variant, history.model_dump())


def _usual_definition(variant: str, fields: dict[str, Any]) -> GameDefinition:
    return holdem_definition(
        variant,
        fields["blinds_or_straddles"],
        fields["starting_stacks"],
        fields.get("small_bet"),
        fields.get("big_bet"),
    )


def holdem_definition(
    variant: str, blinds: Sequence[int], stacks: Sequence[int], small_bet: int | None, big_bet: int | None
) -> GameDefinition:
    """What NT and FT hold'em mean with these blinds (heads-up the small one first), stacks and bets."""
    num_players = len(stacks)
    lines = ["GAMEDEF", "limit" if variant == "FT" else "nolimit", f"numPlayers = {num_players}", "numRounds = 4"]

    def add(key: str, values: Sequence[Any]) -> None:
        lines.append(f"{key} = {' '.join(map(str, values))}")

    add("stack", stacks)
    add("blind", blinds[::-1] if _is_turned_round(variant, blinds) else blinds)
    if variant == "FT":
        if small_bet is None or big_bet is None:
            raise DefinitionError("variant FT without small_bet and big_bet: expected both")
        add("raiseSize", (small_bet, small_bet, big_bet, big_bet))
        add("maxRaises", _LIMIT_MAX_RAISES)
    add("firstPlayer", (2 if num_players == 2 else 3 % num_players or num_players, 1, 1, 1))
    lines += ["numSuits = 4", "numRanks = 13", "numHoleCards = 2", "numBoardCards = 0 3 1 1", "END GAMEDEF"]
    return parse_definition("\n".join(lines), source="PHH hand")


def logged_hand(history: HandHistory, number: int) -> LoggedHand:
    """A PHH hand as a logged one; `number` is used if the hand has none."""
    definition = history_definition(history)
    number = history.hand if history.hand is not None else number
    names = history.players or [f"p{player + 1}" for player in range(definition.num_players)]
    if len(names) != definition.num_players:
        raise FormatError(f"hand {number}: {len(names)} players named, the game has {definition.num_players}")
    betting, holes, board = play_history(history, definition, number)
    values = payoffs(betting, holes, board)
    finishing = history.finishing_stacks
    if finishing is not None and len(finishing) != definition.num_players:
        raise FormatError(f"hand {number}: {len(finishing)} finishing_stacks for {definition.num_players} players")
    if finishing is None and values is None:
        raise FormatError(f"hand {number}: cards at the showdown are unknown, and no finishing_stacks say who won")
    if values is None and finishing is not None:
        values = [after - before for after, before in zip(finishing, definition.stacks)]
    elif finishing is not None and values is not None:
        for player, (stack, value) in enumerate(zip(definition.stacks, values)):
            if abs(finishing[player] - stack - value) > 1e-5:
                raise FormatError(
                    f"hand {number}: p{player + 1} finishes with {finishing[player]:g}, by the rules with "
                    f"{stack + value:g}: the hand is damaged, or of another game"
                )
    assert values is not None
    marked = tuple(name.translate(_NAME_MARKS) for name in names)
    return LoggedHand(number, betting, holes, board, tuple(values), marked)


def log_line(history: HandHistory, number: int) -> str:
    """The `STATE` line of a PHH hand; `number` is used if the hand has none."""
    return state_line(logged_hand(history, number))


def play_history(
    history: HandHistory, definition: GameDefinition, number: int
) -> tuple[BettingState, tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Play the actions of a hand under our rules: the betting, the hole cards and the board."""
    holes: list[tuple[int, ...]] = [()] * definition.num_players
    board: tuple[int, ...] = ()
    betting = BettingState(definition)
    street_start = [0] * definition.num_players  # blinds count on their street
    for text in history.actions:
        words = text.partition("#")[0].split()
        if not words:
            continue
        if len(words) > 1 and words[1] == "sm":  # cards dealt face down may be shown now
            if len(words) == 3 and "?" not in words[2]:
                holes[_player(words[0], definition, number, text)] = _cards(words[2], number)
            continue
        if words[:2] == ["d", "dh"] and len(words) == 4:
            unknown = words[3] == _UNKNOWN * definition.num_hole_cards
            holes[_player(words[2], definition, number, text)] = () if unknown else _cards(words[3], number)
        elif words[:2] == ["d", "db"] and len(words) == 3:
            board += _cards(words[2], number)
        else:
            player = _player(words[0], definition, number, text)
            if player != betting.player_to_act:
                expected = "nobody" if betting.finished else f"p{betting.player_to_act + 1}"
                raise FormatError(f"hand {number}, {text!r}: {expected} is to act")
            action = _read_action(words[1:], street_start[player], number, text)
            street = betting.round
            try:
                betting.apply(action)
            except IllegalActionError as error:
                raise FormatError(f"hand {number}, {text!r}: {error} (ACPC: over the whole hand)") from None
            if action.kind == RAISE and action.raise_to != betting.max_spent:  # in limit the rules fix the size
                raise FormatError(
                    f"hand {number}, {text!r}: expected cbr {betting.max_spent - street_start[player]} in this limit game"
                )
            if betting.round != street:
                street_start = betting.spent.copy()
    if not betting.finished:
        raise FormatError(f"hand {number} breaks off: p{betting.player_to_act + 1} is to act")
    if len(board) != definition.board_sizes[betting.round] or any(
        len(hole) not in (0, definition.num_hole_cards) for hole in holes
    ):
        raise FormatError(
            f"hand {number}: expected {definition.num_hole_cards} hole cards of every player, or ? for each, and "
            f"{definition.board_sizes[betting.round]} board cards"
        )
    return betting, tuple(holes), board


def _player(label: str, definition: GameDefinition, number: int, text: str) -> int:
    digits = label.removeprefix("p")
    if label[:1] != "p" or not digits.isdigit() or not 1 <= int(digits) <= definition.num_players:
        raise FormatError(f"hand {number}, {text!r}: expected p1 to p{definition.num_players}, or a deal")
    return int(digits) - 1


def _cards(text: str, number: int) -> tuple[int, ...]:
    if "?" in text:
        raise FormatError(f"hand {number}: cards {text!r}: expected all known, or hole cards all unknown")
    return parse_cards(text)


def _read_action(words: Sequence[str], street_start: int, number: int, text: str) -> Action:
    match words:
        case ["f"]:
            return FOLD_ACTION
        case ["cc"]:
            return CALL_ACTION
        case ["cbr", amount] if amount.isdigit():
            return Action(RAISE, street_start + int(amount))
    raise FormatError(f"hand {number}, {text!r}: expected f, cc or cbr with whole chips")
