"""`foldwise inspect`: what a strategy does in a typed state."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foldwise.agent.decision_record import DecisionRecord
from foldwise.cli.options import JsonOption, OverwriteOption, PostprocessOption, StrategyArgument
from foldwise.cli.support.output import emit, stdout
from foldwise.cli.support.outputs import check_picture
from foldwise.game.errors import DefinitionError, FormatError

if TYPE_CHECKING:
    from foldwise.abstraction.strategy import Strategy
    from foldwise.agent.strategy_player import Decision, StrategyPlayer
    from foldwise.game.betting import BettingState
    from foldwise.game.definition import GameDefinition
    from foldwise.game.text.match_state import MatchState

_BAR_WIDTH = 40
_RANKS = "AKQJT98765432"


@dataclass(frozen=True, kw_only=True)
class InspectRequest:
    directory: StrategyArgument
    states: Annotated[
        list[str] | None, typer.Option("--state", metavar="MATCHSTATE", help="A state line of a dealer; repeatable.")
    ] = None
    more: Annotated[list[str] | None, typer.Argument(metavar="[MATCHSTATE]...", help="Further states.")] = None
    betting: Annotated[str | None, typer.Option(help="The betting so far, as in r300c/.")] = None
    board: Annotated[str, typer.Option(help="The board, as in AsKd2c.")] = ""
    hand: Annotated[
        str | None, typer.Option(help="Hole cards of the player to act, as in QhQs; before the flop also AKs.")
    ] = None
    postprocess: PostprocessOption = "none"
    png: Annotated[
        Path | None, typer.Option("--png", metavar="FILE", help="Draw all hands of a preflop state, 13 by 13.")
    ] = None
    overwrite: OverwriteOption = False
    as_json: JsonOption = False


class InspectResult(DecisionRecord, total=False):
    """The first state's decision; all decisions if several states were given; only the picture if none was."""

    node: int
    steps: list[dict[str, object]]
    hand: str
    seconds: float
    visits: float | None
    states: list["InspectResult"]
    png: str


def inspect(request: InspectRequest) -> None:
    """Print a strategy's row in a state: the hand, its bucket, how often the solver reached it, and the probabilities.

    Example: foldwise inspect runs/small --betting r300c/ --board AsKd2c --hand QhQs

    Example: foldwise inspect runs/small --state "MATCHSTATE:0:0:r300:AhAs|" --postprocess "new(0.2)"

    Example: foldwise inspect runs/small --betting r300 --png facing-a-raise.png
    """
    from foldwise.agent.reading.typed_state import hand_of_class, typed_state
    from foldwise.agent.strategy_player import OpenStrategy
    from foldwise.game.text.match_state import parse_match_state
    from foldwise.postprocess.language import parse_pipeline

    betting, png = request.betting or "", request.png
    check_picture(png, request.overwrite)
    opened = OpenStrategy(request.directory)
    player = opened.player(parse_pipeline(request.postprocess), seed=0)
    definition = opened.definition
    looked_at = [parse_match_state(text, definition) for text in [*(request.states or []), *(request.more or [])]]
    if request.hand is not None:
        looked_at.append(typed_state(definition, betting, request.board, hand_of_class(request.hand, definition)))
    if not looked_at and png is None:
        raise DefinitionError("inspect: give --state MATCHSTATE, or --hand with --betting and --board, or --png FILE")
    for state in looked_at:
        _check_state(state)
    decisions = [player.explain(state)[0] for state in looked_at]
    visits = [_visits(opened.strategy, decision) for decision in decisions]
    described = [_described(decision, count) for decision, count in zip(decisions, visits)]
    result: InspectResult = {**described[0]} if described else {}
    if len(described) > 1:
        result["states"] = described
    if png is not None:
        _draw(player, definition, betting, png)
        result["png"] = str(png)

    def show() -> None:
        for decision, state, count in zip(decisions, looked_at, visits):
            _show(decision, state.betting, count, request.postprocess)
        if png is not None:
            stdout.print(f"written to {png}")

    emit(result, request.as_json, show)


def _check_state(state: "MatchState") -> None:
    from foldwise.game.cards import cards_text

    if not state.is_turn() or not state.hole_cards[state.position]:
        raise FormatError(f"state {state.text()!r}: expected one whose viewer is to act and sees his cards")
    deck = state.betting.definition.deck
    for card in (*state.hole_cards[state.position], *state.board):
        if card not in deck:
            raise FormatError(
                f"card {cards_text([card])!r} is not in this game's deck: expected one of {cards_text(deck)}"
            )


def _visits(strategy: "Strategy", decision: "Decision") -> float | None:
    """How often the solver reached the infoset, if its checkpoint is still beside the strategy."""
    from foldwise.solver.checkpoint import read_visits

    record = strategy.tree.nodes[decision.node]
    num_actions = int(record["num_children"])
    first_entry = int(record["base"]) + decision.bucket * num_actions
    return read_visits(strategy.folder, first_entry, num_actions, strategy.manifest.iterations)


def _described(decision: "Decision", visits: float | None) -> InspectResult:
    return {
        "state": decision.state,
        "node": decision.node,
        "abstract_betting": decision.abstract_betting,
        "steps": [step._asdict() for step in decision.steps],
        "hand": decision.hand,
        "bucket": decision.bucket,
        "reached": decision.reached,
        "actions": decision.actions,
        "abstract_actions": decision.abstract_actions,
        "probabilities": decision.probabilities,
        "postprocessed": decision.postprocessed,
        "action": decision.action,
        "seconds": decision.seconds,
        "visits": visits,
    }


def _show(decision: "Decision", betting: "BettingState", visits: float | None, postprocess: str) -> None:
    from foldwise.game.text.action_words import label_of

    stdout.print(decision.state, style="bold")
    reached = "" if decision.reached else ", never reached by the solver: uniform"
    count = "" if visits is None else f", visits {visits:,.1f}"
    stdout.print(f"hand {decision.hand}, bucket {decision.bucket}{count}{reached}")
    stdout.print(f"abstract betting {decision.abstract_betting or 'none yet'}, node {decision.node}")
    names = []
    for action, abstract in zip(decision.actions, decision.abstract_actions):
        words = label_of(betting, action)
        names.append(words if action == abstract else f"{words} ({abstract} in the tree)")
    width = max(map(len, names))
    for name, raw, played in zip(names, decision.probabilities, decision.postprocessed):
        bar = "#" * round(_BAR_WIDTH * raw)
        after = "" if postprocess == "none" else f"  {played:7.4f}"
        stdout.print(f"  {name:>{width}} {raw:7.4f}{after}  {bar}")


def _draw(player: "StrategyPlayer", definition: "GameDefinition", betting: str, output: Path) -> None:
    from foldwise.agent.reading.typed_state import read_betting, typed_state
    from foldwise.cli.support.comparison_pictures import draw_strategy_grid
    from foldwise.game.text.action_words import label_of, spoken_actions
    from foldwise.matches.report.replay import position_names

    if (definition.num_hole_cards, definition.num_suits, definition.num_ranks) != (2, 4, 13):
        raise DefinitionError("--png draws the 169 hands of hold'em: this game has other cards")
    rows = {}
    decision = None
    for i, high in enumerate(_RANKS):
        for low in _RANKS[i:]:
            for name, cards in _hands(high, low):
                decision, _ = player.explain(typed_state(definition, betting, "", cards))
                rows[name] = decision.postprocessed
    assert decision is not None
    kinds = [action[0] for action in decision.abstract_actions]
    past = read_betting(definition, betting)
    labels = [label_of(past, action) for action in decision.actions]
    said = spoken_actions(past, position_names(definition))
    draw_strategy_grid(labels, kinds, rows, f"preflop, {', '.join(said) or 'first action'}", output)


def _hands(high: str, low: str) -> list[tuple[str, str]]:
    """Names and cards of the classes with these two ranks."""
    if high == low:
        return [(high + low, f"{high}s{low}h")]
    return [(f"{high}{low}s", f"{high}s{low}s"), (f"{high}{low}o", f"{high}s{low}h")]
