"""Why a strategy did what a log says it did: its decisions, recomputed from the log.

A strategy's choice is a function of the state, its seed and the hand's number (docs/agent.md), so the probabilities of
every decision can be computed after the match, over sockets or in memory alike, without slowing it down.
The result is compared with the log: an action that differs is marked (a late answer, or another folder).
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NotRequired

from foldwise.agent.decision_record import DecisionRecord
from foldwise.agent.player import Explainer, Player
from foldwise.agent.player_spec import PlayerKind
from foldwise.agent.strategy_player import Decision
from foldwise.game.betting import BettingState
from foldwise.game.definition import parse_definition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.text.match_state import view
from foldwise.matches.plan import PLAN_FILE, MatchPlan, Run
from foldwise.matches.table.hand import seat_of_position
from foldwise.matches.table.log import LoggedHand, read_log
from foldwise.search.players import make_player

ENDING = ".explain.jsonl"


class Explanation(DecisionRecord):
    """One decision as a line of the file."""

    hand: NotRequired[int]  # in the file
    action_number: int
    position: int
    logged: NotRequired[str]  # where that is another


Explained = dict[int, Explanation]  # of one hand, by action number, counted from 0 over both players


def explanation_path(log: Path) -> Path:
    """The file beside a log that explains it."""
    return log.with_name(log.name.removesuffix(".log") + ENDING)


def as_record(decision: Decision, position: int, number: int, logged: str) -> Explanation:
    """A decision beside the action that was logged."""
    record = Explanation(
        action_number=number,
        position=position,
        state=decision.state,
        abstract_betting=decision.abstract_betting,
        bucket=decision.bucket,
        reached=decision.reached,
        actions=decision.actions,
        abstract_actions=decision.abstract_actions,
        probabilities=decision.probabilities,
        postprocessed=decision.postprocessed,
        action=decision.action,
    )
    if decision.action != logged:
        record["logged"] = logged
    return record


def explain_hand(hand: LoggedHand, players: Sequence[Player]) -> Explained:
    """The decisions of every strategy among `players`, who are by position."""
    definition = hand.betting.definition
    betting = BettingState(definition)
    explained: Explained = {}
    number = 0
    for actions in hand.betting.actions:
        for position, action in actions:
            player = players[position]
            if isinstance(player, Explainer):
                state = view(betting, hand.hole_cards, hand.board, position, hand.number)
                decision, _ = player.explain(state)
                explained[number] = as_record(decision, position, number, action.text(definition.limit))
            betting.apply(action)
            number += 1
    return explained


def run_players(run: Run) -> tuple[Player | None, ...]:
    """The strategies of a run by seat, each with the seed it played with; None for players of other kinds."""
    return tuple(
        make_player(spec, seed) if spec.kind == PlayerKind.STRATEGY else None
        for spec, seed in zip(run.players(), run.player_seeds())
    )


def by_position(players: Sequence[Any], hand_number: int) -> list[Any]:
    """Players by seat as players by position."""
    return [players[seat_of_position(p, hand_number, len(players), False)] for p in range(len(players))]


def write_explanations(plan: MatchPlan, folder: Path, num_matches: int) -> int:
    """Explain every hand of a match's logs beside them; returns how many actions differ from what was logged."""
    if not any(player.kind == PlayerKind.STRATEGY for player in plan.players):
        raise DefinitionError(f"--explain: neither of {', '.join(map(str, plan.players))} is a strategy")
    definition = parse_definition(plan.definition, source=PLAN_FILE)
    differing = 0
    for run in (run for index in range(num_matches) for run in plan.runs(index)):
        players = run_players(run)
        with explanation_path(run.log_path(folder)).open("w", encoding="utf-8") as file:
            for hand in read_log(run.log_path(folder), definition):
                explained = explain_hand(hand, by_position(players, hand.number))
                differing += sum("logged" in record for record in explained.values())
                file.writelines(explanation_lines(hand.number, explained))
    return differing


def explanation_lines(hand_number: int, explained: Explained) -> Iterator[str]:
    """Lines of the file: one JSON object a decision."""
    for record in explained.values():
        yield json.dumps({"hand": hand_number, **record}) + "\n"


def read_explanations(path: Path) -> dict[int, Explained]:
    """Explanations by hand number; empty if there is no such file."""
    found: dict[int, Explained] = {}
    if not path.exists():
        return found
    with path.open(encoding="utf-8", errors="replace") as file:
        for place, line in enumerate(file, start=1):
            try:
                record = json.loads(line)
                float(sum([*record["probabilities"], *record["postprocessed"]]))
                found.setdefault(record["hand"], {})[record["action_number"]] = record
            except (ValueError, KeyError, TypeError) as error:
                raise FormatError(
                    f"{path}, line {place}: {error!r}: expected a decision as --explain writes it"
                ) from None
    return found
