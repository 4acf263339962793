"""`foldwise duel`: you against a strategy, in this terminal."""

import contextlib
import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foldwise.abstraction.named_strategy import DEFAULT
from foldwise.cli.options import JsonOption, PlayedArgument
from foldwise.cli.support.interrupts import going_on
from foldwise.cli.support.output import emit, stderr
from foldwise.cli.support.outputs import check_folder_for
from foldwise.cli.support.search_option import AUTO, SeatSearchOption, seat_steps
from foldwise.cli.support.strategies import strategy_folder

if TYPE_CHECKING:
    from foldwise.agent.strategy_player import OpenStrategy
    from foldwise.matches.report.duel import DuelGame


@dataclass(frozen=True, kw_only=True)
class DuelRequest:
    directory: PlayedArgument = Path(DEFAULT)
    hands: Annotated[int, typer.Option(help="Hands to play; leave earlier with q.", min=1)] = 100
    postprocess: Annotated[str | None, typer.Option(help="Post-processing of the strategy, as in new(0.2).")] = None
    search: SeatSearchOption = AUTO
    reveal: Annotated[
        bool, typer.Option("--reveal", help="After each hand, show the bot's cards and probabilities.")
    ] = False
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Folder that keeps your sessions, for report; by default one for each game, under FOLDWISE_DATA.",
        ),
    ] = None
    seed: Annotated[
        int | None, typer.Option(help="Seed of cards and bot, to repeat a session; by default a fresh one, printed.")
    ] = None
    as_json: JsonOption = False


def duel(request: DuelRequest) -> int:
    """Play against a strategy in this terminal, by default the one that comes with foldwise: starts a dealer, the bot
    and your seat.

    Your bankroll is kept from session to session; foldwise report draws it. While you play, type hint to see what the
    strategy would do in your place, why to see what the bot considered in the last hand, and q to leave. What is left of
    the hand is then checked while that is free and folded at the first bet; it counts.

    Example: foldwise duel

    Example: foldwise duel runs/small --reveal --postprocess "new(0.2)"

    Example: foldwise duel champion

    Example: foldwise duel runs/small -o my-duels
    """
    from foldwise.abstraction.storage.folder_lock import locked
    from foldwise.agent.strategy_player import OpenStrategy
    from foldwise.matches.report.duel import DUEL_FILE

    opened = OpenStrategy(strategy_folder(request.directory))
    folder = request.output or _default_folder(_game(opened))
    check_folder_for(folder, DUEL_FILE)
    with locked(folder):
        return _play(request, opened, folder)


def _play(request: DuelRequest, opened: "OpenStrategy", folder: Path) -> int:
    """One session; its folder is locked."""
    from foldwise.agent.human import SeatLeftError
    from foldwise.cli.support.human_seat import seat_person, seat_result, total_text
    from foldwise.matches.report.duel import DecisionBook, bankroll, duel_logs, next_session, play_duel
    from foldwise.matches.report.explanations import explanation_lines, explanation_path
    from foldwise.search.language import parse_steps
    from foldwise.search.player import SearchPlayer

    definition = opened.definition
    seed = request.seed % 2**32 if request.seed is not None else secrets.randbelow(2**32)
    steps = parse_steps(
        seat_steps(request.directory, opened.strategy.folder, request.postprocess, request.search) or "none"
    )
    table = opened.player(steps.pipeline, seed)
    bot = table if steps.search is None else SearchPlayer(table, steps.pipeline, steps.search)
    book = DecisionBook()
    bot.listener = book.add
    game = _game(opened)
    log = next_session(folder, game)
    person = seat_person(
        definition,
        lambda end: book.hands.get(end.state.hand_number, []),
        request.as_json,
        always=request.reveal,
        adviser=opened.player(steps.pipeline, seed),
    )
    stderr.print(f"seed {seed}: --seed {seed} deals the same cards again")
    faults = 0
    try:
        with (
            going_on(f"finished hands are in {log}; the same command begins the next session"),
            contextlib.suppress(SeatLeftError),
        ):
            faults = play_duel(definition, game.game, request.hands, seed, ("you", "bot"), person, bot, log).faults
    finally:
        with explanation_path(log).open("w", encoding="utf-8") as file:
            for number in sorted(book.hands):
                file.writelines(explanation_lines(number, book.explained(number)))
    total = seat_result(person, definition)
    total["log"], total["seed"] = str(log), seed
    total["bankroll_hands"], total["bankroll_chips"] = bankroll(folder)
    sessions = len(duel_logs(folder))

    def show() -> None:
        stderr.print(f"{total_text(total)}; written to {log}")
        stderr.print(
            f"bankroll {total['bankroll_chips']:+,.0f} chips after {total['bankroll_hands']:,} hands in {sessions} "
            f"session{'s' * (sessions != 1)}: foldwise report {folder}"
        )

    emit(total, request.as_json, show)
    return 1 if faults else 0


def _game(opened: "OpenStrategy") -> "DuelGame":
    from foldwise.matches.report.duel import DuelGame

    return DuelGame(game=opened.strategy.manifest.game, definition=opened.definition.to_text())


def _default_folder(game: "DuelGame") -> Path:
    """One folder for each game, since winnings at different games are not added up."""
    import platformdirs

    data = os.environ.get("FOLDWISE_DATA")
    root = Path(data).expanduser() if data else Path(platformdirs.user_data_dir("foldwise"))
    digest = hashlib.sha256(game.definition.encode()).hexdigest()[:8]
    return root / "duels" / f"{Path(game.game).stem}-{digest}"
