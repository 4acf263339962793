"""`foldwise plot`: convergence curves of one run or several."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from foldwise.cli.options import JsonOption, OverwriteOption, output_option
from foldwise.cli.support.output import emit, stdout
from foldwise.cli.support.outputs import check_picture
from foldwise.cli.support.strategies import typed_folders
from foldwise.game.errors import DefinitionError


@dataclass(frozen=True, kw_only=True)
class PlotRequest:
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", callback=typed_folders, help="Strategy folders.")
    ]
    x: Annotated[str, typer.Option(help="nodes, seconds or iterations.")] = "nodes"
    output: Annotated[Path, output_option("The picture: .png, .pdf or .svg.", "FILE")] = Path("convergence.png")
    overwrite: OverwriteOption = False
    as_json: JsonOption = False


class PlotResult(TypedDict):
    output: str
    curves: list[str]


def plot(request: PlotRequest) -> None:
    """Exploitability against nodes, seconds or iterations, on logarithmic axes; mean regret if no run has it.

    Runs that differ only in their seed become one curve with its 95% interval.

    Example: foldwise plot runs/leduc-es runs/leduc-as --x seconds -o leduc.png
    """
    from foldwise.abstraction.strategy import Strategy
    from foldwise.cli.support.pictures import draw_convergence

    if request.x not in ("nodes", "seconds", "iterations"):
        raise DefinitionError(f"--x {request.x!r}: expected nodes, seconds or iterations")
    check_picture(request.output, request.overwrite)
    manifests = [Strategy(directory).manifest for directory in request.directories]
    labels = draw_convergence(manifests, request.x, request.output)
    result = PlotResult(output=str(request.output), curves=labels)
    emit(result, request.as_json, lambda: stdout.print(f"{request.output}: {', '.join(labels)}"))
