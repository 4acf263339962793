"""`foldwise duel`: you against a strategy, in this terminal."""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from foldwise.cli.options import JsonOption, PostprocessOption, SeedOption, StrategyArgument
from foldwise.cli.support.search_option import SearchOption, with_search
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.cli.support.terminal_table import Reveal


@dataclass(frozen=True, kw_only=True)
class DuelRequest:
    directory: StrategyArgument
    hands: Annotated[int, typer.Option(help="Hands to play; leave earlier with q.", min=1)] = 100
    postprocess: PostprocessOption = "none"
    search: SearchOption = "off"
    reveal: Annotated[
        bool, typer.Option("--reveal", help="After each hand, show the bot's cards and probabilities.")
    ] = False
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder for duel.log, which report reads.")
    ] = None
    seed: SeedOption = 0
    as_json: JsonOption = False


def duel(request: DuelRequest) -> int:
    """Play against a strategy in this terminal: starts a dealer, the bot and your seat.

    Example: foldwise duel runs/small --reveal --postprocess "new(0.2)"
    """
    from foldwise.agent.human import SeatLeftError
    from foldwise.agent.strategy_player import OpenStrategy
    from foldwise.cli.support.human_seat import seat_person, show_total
    from foldwise.matches.report.duel import DecisionBook, play_duel
    from foldwise.matches.report.explanations import explanation_lines, explanation_path
    from foldwise.search.language import parse_steps
    from foldwise.search.player import SearchPlayer

    opened = OpenStrategy(request.directory)
    definition = opened.definition
    steps = parse_steps(with_search(request.postprocess, request.search))
    table = opened.player(steps.pipeline, request.seed)
    bot = table if steps.search is None else SearchPlayer(table, steps.pipeline, steps.search)
    book = DecisionBook()
    bot.listener = book.add
    reveal: Reveal | None = (lambda end: book.hands.get(end.state.hand_number, [])) if request.reveal else None
    person = seat_person(definition, reveal, request.as_json)
    with TemporaryDirectory(prefix="foldwise-duel-") as temporary:
        folder = request.output or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        log = folder / "duel.log"
        if log.exists():
            raise DefinitionError(f"{str(folder)!r} holds a duel: give another folder with -o")
        faults = 0
        try:
            with contextlib.suppress(SeatLeftError):
                game = opened.strategy.manifest.game
                seed = request.seed % 2**32
                faults = play_duel(definition, game, request.hands, seed, ("you", "bot"), person, bot, log).faults
        finally:
            with explanation_path(log).open("w", encoding="utf-8") as file:
                for number in sorted(book.hands):
                    file.writelines(explanation_lines(number, book.explained(number)))
        show_total(person, definition, request.as_json, log if request.output is not None else None)
    return 1 if faults else 0
