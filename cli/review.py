"""`foldwise review`: what each decision of a log gave up, by a strategy's values or by search."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from foldwise.cli.options import JsonOption
from foldwise.cli.support.output import ProgressLine, emit, stdout, text_table
from foldwise.cli.support.strategies import typed_folder
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.matches.scoring.player_statistics import PlayerRecord
    from foldwise.matches.scoring.review import JudgedDecision

_MODES = ("off", "fast", "normal", "deep")


@dataclass(frozen=True, kw_only=True)
class ReviewRequest:
    source: Annotated[
        Path,
        typer.Argument(
            metavar="LOG|FOLDER",
            help="An ACPC log, a PHH file, PokerStars hands, a Slumbot session, or a folder of logs.",
        ),
    ]
    strategy: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", callback=typed_folder, help="The strategy that judges; without it only statistics are shown."
        ),
    ] = None
    search: Annotated[
        str, typer.Option(metavar="MODE", help="Judge turn and river by a solve: off, fast, normal, deep.")
    ] = "off"
    player: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Whose decisions; by default everybody's; repeatable.")
    ] = None
    mistakes: Annotated[int, typer.Option(help="Decisions shown: those that gave up most.", min=1)] = 10
    game: Annotated[str | None, typer.Option(help="The log's game, if its header does not name it.")] = None
    as_json: JsonOption = False


class ReviewResult(TypedDict):
    source: str
    strategy: str | None
    search: str
    hands: int
    decisions: int
    given_up_bb: float
    given_up_mbb_a_hand: float
    players: "list[PlayerRecord]"
    mistakes: "list[JudgedDecision]"


def review(request: ReviewRequest) -> None:
    """Review hands: the strategy's probabilities, the value of each action, what each choice gave up in big blinds.

    Values are the strategy's own (computed at first use and kept in DIR/values), or with --search those of a solve on turn
    and river. Others' cards may be unknown. VPIP, PFR, aggression and showdowns are counted for every player.

    Example: foldwise review session.log --strategy runs/small --player you

    Example: foldwise review runs/match --strategy runs/small --search fast --json
    """
    from foldwise.agent.strategy_player import OpenStrategy, check_same_game
    from foldwise.cli.support.players import typed_strategy
    from foldwise.matches.duplicate.match import default_jobs
    from foldwise.matches.report.hand_import import read_one_game
    from foldwise.matches.scoring.review import BlueprintJudge, Judge, SearchJudge, review_hands
    from foldwise.matches.scoring.scorers import open_with_values

    source, strategy, search, player = request.source, request.strategy, request.search, request.player
    if search not in _MODES:
        raise DefinitionError(f"--search {search!r}: expected {', '.join(_MODES[:-1])} or {_MODES[-1]}")
    if strategy is None and search != "off":
        raise DefinitionError("--search: give --strategy DIR, whose ranges the solve begins with")
    imported = read_one_game(source, request.game)
    names = {name for hand in imported.hands for name in hand.names}
    for name in player or ():
        if name not in names:
            raise DefinitionError(f"--player {name!r}: expected one of {', '.join(sorted(names))}")
    line = ProgressLine("review")
    judges: list[Judge] = []
    if strategy is not None:
        opened = OpenStrategy(strategy)
        check_same_game(imported.definition, opened.definition, f"strategy {str(strategy)!r}")
        if search != "off":
            judges.append(SearchJudge(opened, search, default_jobs()))
        judges.append(
            BlueprintJudge(opened, open_with_values(typed_strategy(str(strategy)), default_jobs(), line.update)[1])
        )
    total = len(imported.hands)
    found = review_hands(
        imported.hands, judges, player, lambda done: line.update(f"{done:,} of {total:,} hands", done / total)
    )
    unit = imported.definition.big_blind
    result = ReviewResult(
        source=str(source),
        strategy=None if strategy is None else str(strategy),
        search=search,
        hands=total,
        decisions=len(found.decisions),
        given_up_bb=found.given_up_bb,
        given_up_mbb_a_hand=1000 * found.given_up_bb / total,
        players=[one.record(unit) for one in found.statistics],
        mistakes=found.dearest(request.mistakes),
    )
    emit(result, request.as_json, lambda: _show(result, unit))


def _show(result: ReviewResult, big_blind: int) -> None:
    table = text_table(
        ("player", "hands", "VPIP", "PFR", "aggression", "WTSD", "won at showdown", "mbb/h"),
        ("player",),
        f"{result['hands']:,} hands",
    )

    def share(value: float | None) -> str:
        return "-" if value is None else f"{value:.1%}"

    for player in result["players"]:
        aggression = "-" if player["aggression"] is None else f"{player['aggression']:.2f}"
        first, later = (
            (share(player["vpip"]), share(player["pfr"])),
            (share(player["wtsd"]), share(player["won_at_showdown"])),
        )
        mean = "-" if player["mean_mbb"] is None else f"{player['mean_mbb']:+,.1f}"
        table.add_row(player["name"], f"{player['hands']:,}", *first, aggression, *later, mean)
    stdout.print(table)
    if result["strategy"] is None:
        return
    stdout.print(
        f"{result['decisions']:,} decisions gave up {result['given_up_bb']:.2f} bb in all, "
        f"{result['given_up_mbb_a_hand']:.1f} mbb a hand, by {result['strategy']}"
    )
    for one in result["mistakes"]:
        stdout.print(
            f"hand {one.hand}, {one.name} with {one.cards} on {one.board or 'no board'} after "
            f"{one.betting or 'the blinds'}: {one.done} gave up {one.given_up_bb:.2f} bb ({one.method})"
        )
        for action, probability, value in zip(one.actions, one.probabilities, one.values):
            mark = "*" if action == one.done else " "
            stdout.print(f"   {mark} {action:>8} {probability:6.1%} {value / big_blind:+8.2f} bb")
