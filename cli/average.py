"""`foldwise average`: the average strategy of a later part of a run, without solving again."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from foldwise.cli.options import JsonOption, OverwriteOption, output_option
from foldwise.cli.support.output import ProgressLine, emit, stdout
from foldwise.cli.support.outputs import STRATEGY_KIND, check_manifest
from foldwise.cli.support.requests import holding
from foldwise.game.errors import DefinitionError


class Start(StrEnum):
    """Where in a run an average begins."""

    START = "start"
    THIRD = "third"
    HALF = "half"
    TWO_THIRDS = "two-thirds"


@dataclass(frozen=True, kw_only=True)
class AverageRequest:
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run, as solve writes it.")]
    output: Annotated[Path, output_option("The strategy folder to write.", "OUT")]
    start: Annotated[Start, typer.Option("--from", help="Where in the run the average begins.")] = Start.HALF
    overwrite: OverwriteOption = False
    as_json: JsonOption = False


AverageResult = TypedDict(
    "AverageResult",
    {
        "name": str,
        "game": str,
        "from": str,
        "averaged_from": int,
        "iterations": int,
        "infosets": int,
        "reached": int,
        "exploitability_mbb": float | None,
        "output": str,
    },
)


@holding(lambda request: request.output)
def average(request: AverageRequest) -> None:
    """Write the average strategy of a later part of a run: its later two thirds, half or third.

    A sampling run saves its strategy sums as it passes a third, a half and two thirds of its planned length; subtracting
    them leaves the later part. An unfinished run can be averaged up to its last checkpoint.

    Example: foldwise average runs/small --from half -o runs/small-later
    """
    from foldwise.solver.average import write_average

    output = request.output
    if output.resolve() == request.directory.resolve():
        raise DefinitionError(f"output {str(output)!r} is the run itself: give another folder")
    if output.exists() and not output.is_dir():
        raise DefinitionError(f"output {str(output)!r} is a file: give a folder")
    check_manifest(output, STRATEGY_KIND)
    if output.exists() and any(output.iterdir()):
        if not (output / "manifest.json").exists() or (output / "checkpoint.json").exists():
            raise DefinitionError(f"output {str(output)!r} holds other files: give a new folder")
        if not request.overwrite:
            raise DefinitionError(f"{str(output)!r} exists already: add --overwrite to replace it, or give another")
    line = ProgressLine("average")
    manifest = write_average(
        request.directory, request.start.value, output, lambda stage, share: line.update(stage, share)
    )
    result = AverageResult(
        {
            "name": manifest.name,
            "game": manifest.game,
            "from": request.start.value,
            "averaged_from": manifest.averaged_from,
            "iterations": manifest.iterations,
            "infosets": manifest.infosets,
            "reached": manifest.reached,
            "exploitability_mbb": manifest.history[-1].exploitability_mbb if manifest.history else None,
            "output": str(output),
        }
    )

    def show() -> None:
        first, last = manifest.averaged_from, manifest.iterations
        stdout.print(
            f"{manifest.name}: average of iterations {first + 1:,} to {last:,}, the last {1 - first / last:.0%} of the run"
        )
        stdout.print(f"{manifest.reached:,} of {manifest.infosets:,} infosets reached")
        if result["exploitability_mbb"] is not None:
            stdout.print(f"exploitability {result['exploitability_mbb']:.6g} mbb")
        stdout.print(f"written to {output}")

    emit(result, request.as_json, show)
