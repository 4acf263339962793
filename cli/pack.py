"""`foldwise pack`: a strategy folder as one small file."""

import subprocess
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from foldwise.cli.options import JsonOption, OverwriteOption, StrategyArgument, output_option
from foldwise.cli.support.output import ProgressLine, emit, stderr, stdout
from foldwise.cli.support.outputs import check_new_file


@dataclass(frozen=True, kw_only=True)
class PackRequest:
    directory: StrategyArgument
    output: Annotated[Path, output_option("The file to write.", "FILE")]
    bits: Annotated[
        int, typer.Option(help="Bits per probability; fewer make a smaller file and a rougher strategy.", min=1, max=8)
    ] = 8
    overwrite: OverwriteOption = False
    as_json: JsonOption = False


class PackResult(TypedDict):
    output: str
    bytes: int
    bits: int
    entries: int
    packed_by: str


def pack(request: PackRequest) -> None:
    """Pack a strategy folder into one file, which every command takes in the folder's place.

    Cards and betting tree are left out: they are rebuilt at the file's first use, and kept. The centres of k-means
    buckets go along, so that the same buckets are found without training. The strategy called 'default' is such a file.

    Example: foldwise pack runs/small -o small.packed

    Example: foldwise match small.packed bot:strength
    """
    from foldwise.abstraction.packed_strategy import pack as pack_strategy
    from foldwise.abstraction.strategy import Strategy

    check_new_file(request.output, request.overwrite)
    strategy = Strategy(request.directory)
    if stderr.is_terminal:
        stderr.print("packing ...")
    line = ProgressLine("pack")  # of training centres that an older folder has not kept
    manifest = pack_strategy(strategy, request.output, 2**request.bits - 1, _packed_by(), line.update)
    size = request.output.stat().st_size
    result = PackResult(
        output=str(request.output),
        bytes=size,
        bits=request.bits,
        entries=manifest.entries,
        packed_by=manifest.packed_by,
    )
    words = f"{manifest.entries:,} probabilities of {request.bits} bits in {size:,} bytes: {request.output}"
    emit(result, request.as_json, lambda: stdout.print(words, soft_wrap=True))


def _packed_by() -> str:
    """The version, and in a checkout its commit."""
    words = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    here = Path(__file__).resolve().parent
    try:
        commit = subprocess.run(words, cwd=here, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # git is not installed
        commit = ""
    return f"foldwise {version('foldwise')}" + (f", commit {commit}" if commit else "")
