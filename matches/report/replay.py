"""A finished hand step by step, as a replayer shows it: who did what, chips in front, in the pot and behind."""

from dataclasses import dataclass
from typing import NotRequired, TypedDict

from foldwise.game.betting import FOLD, BettingState
from foldwise.game.cards import card_text
from foldwise.game.definition import UNLIMITED_STACK, GameDefinition
from foldwise.game.text.action_words import YOU, action_words, label_of
from foldwise.matches.report.explanations import Explained, Explanation
from foldwise.matches.table.hand import format_value
from foldwise.matches.table.log import LoggedHand

_HOLDEM_STREETS = ("preflop", "flop", "turn", "river")


@dataclass(frozen=True)
class ReplayStep:
    """The table after one event."""

    text: str
    player: int  # position of the player who acted; -1 for the dealer
    street: int
    num_board: int  # board cards on the table
    bets: list[int]  # by position, on this street
    pot: int  # chips of earlier streets
    stacks: list[int | None]  # by position; None where there is no limit
    action_number: int | None = None  # counted from 0 over all players
    folds: bool = False


def street_names(definition: GameDefinition) -> list[str]:
    """Names of the betting rounds."""
    if definition.num_board_cards == (0, 3, 1, 1)[: definition.num_rounds]:
        return list(_HOLDEM_STREETS[: definition.num_rounds])
    return [f"round {street + 1}" for street in range(definition.num_rounds)]


def position_names(definition: GameDefinition) -> list[str]:
    """What the positions of a two-player game are called at a table."""
    first, second = definition.blinds
    if first == second:
        return ["acts first", "acts second"]
    return ["big blind", "button"] if first > second else ["button", "big blind"]


def replay_steps(hand: LoggedHand) -> list[ReplayStep]:
    """Every step of a hand, from the blinds to the chips being pushed."""
    definition = hand.betting.definition
    betting = BettingState(definition)
    before = [0] * definition.num_players  # spent before this street
    streets = street_names(definition)
    steps: list[ReplayStep] = []

    def add(text: str, player: int, street: int, number: int | None = None, folds: bool = False) -> None:
        steps.append(
            ReplayStep(
                text=text,
                player=player,
                street=street,
                num_board=definition.board_sizes[street],
                bets=[spent - earlier for spent, earlier in zip(betting.spent, before)],
                pot=sum(before),
                stacks=[
                    None if stack >= UNLIMITED_STACK else stack - spent
                    for stack, spent in zip(definition.stacks, betting.spent)
                ],
                action_number=number,
                folds=folds,
            )
        )

    add(f"blinds {' and '.join(f'{blind:,}' for blind in definition.blinds)}", -1, 0)
    number = 0
    for street, actions in enumerate(hand.betting.actions):
        if street:
            before = betting.spent.copy()
            new = hand.board[definition.board_sizes[street - 1] : definition.board_sizes[street]]
            add(f"{streets[street]} {' '.join(map(card_text, new))}".strip(), -1, street)
        for player, action in actions:
            text = action_words(betting, action, hand.names[player])
            betting.apply(action)
            add(f"{hand.names[player]} {text}", player, street, number, action.kind == FOLD)
            number += 1
    add(_end_words(hand), -1, hand.betting.round)
    return steps


def _end_words(hand: LoggedHand) -> str:
    winners = [name for name, value in zip(hand.names, hand.values) if value > 0]
    how = "at the showdown" if hand.betting.is_showdown() else "uncontested"
    if not winners:
        return "the pot is split"
    verb = "win" if winners == [YOU] or len(winners) > 1 else "wins"
    return f"{' and '.join(winners)} {verb} {chips_text(max(hand.values))} {how}"


def chips_text(value: float) -> str:
    """Chips with thousands marked; a split pot may halve one."""
    whole, _, rest = format_value(value).partition(".")
    return f"{int(whole):,}" + (f".{rest}" if rest else "")


class Why(TypedDict):
    """An explanation, as far as it fits on the page; actions in words."""

    abstract_betting: str
    bucket: int
    reached: bool
    actions: list[str]
    action: str
    logged: NotRequired[str]
    probabilities: list[float]
    postprocessed: list[float]


class StepRecord(TypedDict):
    """A step as the page's replayer reads it."""

    text: str
    player: int
    street: int
    board: int
    bets: list[int]
    pot: int
    stacks: list[int | None]
    folds: bool
    why: NotRequired[Why]


class ReplayRecord(TypedDict):
    """A hand as the page's replayer reads it."""

    label: str
    names: list[str]
    a: int
    cards: list[list[str]]
    board: list[str]
    values: list[float]
    steps: list[StepRecord]


def replay_record(hand: LoggedHand, label: str, position_of_a: int, explained: Explained) -> ReplayRecord:
    """A hand for the page's replayer."""
    steps = []
    for step in replay_steps(hand):
        record = StepRecord(
            text=step.text,
            player=step.player,
            street=step.street,
            board=step.num_board,
            bets=step.bets,
            pot=step.pot,
            stacks=step.stacks,
            folds=step.folds,
        )
        if step.action_number is not None and step.action_number in explained:
            record["why"] = _why(explained[step.action_number], _betting_before(hand, step.action_number))
        steps.append(record)
    return {
        "label": label,
        "names": list(hand.names),
        "a": position_of_a,
        "cards": [list(map(card_text, cards)) for cards in hand.hole_cards],
        "board": list(map(card_text, hand.board)),
        "values": list(hand.values),
        "steps": steps,
    }


def _betting_before(hand: LoggedHand, number: int) -> BettingState:
    """The betting of a hand before its action `number`, counted from 0."""
    betting = BettingState(hand.betting.definition)
    for _, action in [entry for actions in hand.betting.actions for entry in actions][:number]:
        betting.apply(action)
    return betting


def _why(record: Explanation, betting: BettingState) -> Why:
    """The part of an explanation that fits on the page, with actions in words."""
    why = Why(
        abstract_betting=record["abstract_betting"],
        bucket=record["bucket"],
        reached=record["reached"],
        actions=[label_of(betting, action) for action in record["actions"]],
        action=label_of(betting, record["action"]),
        probabilities=[round(value, 4) for value in record["probabilities"]],
        postprocessed=[round(value, 4) for value in record["postprocessed"]],
    )
    if "logged" in record:
        why["logged"] = label_of(betting, record["logged"])
    return why
