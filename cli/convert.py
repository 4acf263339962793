"""`foldwise convert`: hand histories between ACPC logs, PHH and poker rooms."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from foldwise.cli.options import JsonOption, OverwriteOption
from foldwise.cli.support.output import emit, stdout
from foldwise.cli.support.outputs import check_new_file
from foldwise.game.errors import DefinitionError


@dataclass(frozen=True, kw_only=True)
class ConvertRequest:
    source: Annotated[
        Path,
        typer.Argument(metavar="SOURCE", help="A match folder, a .log, a .phh or .phhs file, or a PokerStars text."),
    ]
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="What to write: a folder, or a .phhs, .phh or .log file.")
    ]
    game: Annotated[
        str | None, typer.Option(help="The game of a log; by default the one in match.json or in its header.")
    ] = None
    overwrite: OverwriteOption = False
    as_json: JsonOption = False


class ConvertResult(TypedDict):
    hands: int
    output: str


def convert(request: ConvertRequest) -> None:
    """Convert hand histories: ACPC logs, PHH (the notation pokerkit reads), and heads-up hands of PokerStars into either.

    In a poker room stacks change from hand to hand, but a log holds one game: with a folder as the target, each game
    gets its own log.

    Example: foldwise convert runs/match runs/match-phh

    Example: foldwise convert runs/match/0000.AB.log hands.phhs

    Example: foldwise convert hands.phhs hands.log

    Example: foldwise convert pokerstars.txt room.phhs
    """
    from foldwise.matches.report.hand_files import convert_file, convert_folder, split_by_game

    source, target, game = request.source, request.target, request.game
    check_new_file(target, request.overwrite)
    if target.is_dir() and any(target.iterdir()) and not request.overwrite:
        raise DefinitionError(f"{str(target)!r} holds files: add --overwrite to write among them, or give a new folder")
    if source.is_dir():
        hands = convert_folder(source, target, game)
    elif target.is_dir() or not target.suffix:
        hands = split_by_game(source, target, game)
    else:
        hands = convert_file(source, target, game)
    result = ConvertResult(hands=hands, output=str(target))
    emit(result, request.as_json, lambda: stdout.print(f"{hands} hand{'s' * (hands != 1)} written to {target}"))
