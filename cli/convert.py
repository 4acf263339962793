"""`foldwise convert`: hand histories between ACPC logs and PHH."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from foldwise.cli.options import JsonOption
from foldwise.cli.support.output import emit, stdout
from foldwise.game.errors import DefinitionError


@dataclass(frozen=True, kw_only=True)
class ConvertRequest:
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A match folder, a .log, or a .phh or .phhs file.")]
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="What to write: a folder, a .phhs, .phh or .log.")]
    game: Annotated[
        str | None, typer.Option(help="The game of a log; by default what match.json or its header says.")
    ] = None
    as_json: JsonOption = False


class ConvertResult(TypedDict):
    hands: int
    output: str


def convert(request: ConvertRequest) -> None:
    """Convert hand histories between ACPC logs and PHH, the notation pokerkit reads.

    Example: foldwise convert runs/match runs/match-phh

    Example: foldwise convert runs/match/0000.AB.log hands.phhs

    Example: foldwise convert hands.phhs hands.log
    """
    from foldwise.matches.report.hand_files import LOG, PHH, PHHS, convert_folder, log_to_phh, phh_to_log

    source, target, game = request.source, request.target, request.game
    kinds = (source.suffix.lower(), target.suffix.lower())
    if source.is_dir():
        hands = convert_folder(source, target, game)
    elif kinds in ((LOG, PHH), (LOG, PHHS)):
        hands = log_to_phh(source, target, game)
    elif kinds in ((PHH, LOG), (PHHS, LOG)):
        hands = phh_to_log(source, target)
    else:
        raise DefinitionError(f"{source} to {target}: expected two folders, or files from .log to .phhs or back")
    result = ConvertResult(hands=hands, output=str(target))
    emit(result, request.as_json, lambda: stdout.print(f"{hands} hand{'s' * (hands != 1)} written to {target}"))
