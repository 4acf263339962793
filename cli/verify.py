"""`foldwise verify`: is a folder of ours whole?"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from foldwise.cli.options import JsonOption
from foldwise.cli.support.output import emit, stdout
from foldwise.cli.support.strategies import typed_folder


@dataclass(frozen=True, kw_only=True)
class VerifyRequest:
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", callback=typed_folder, help="A folder written by any command.")
    ]
    as_json: JsonOption = False


class VerifyResult(TypedDict):
    kind: str
    files: int
    bytes: int
    ok: bool
    problems: list[str]


def verify(request: VerifyRequest) -> int:
    """Check any folder of ours completely: strategy, cards, checkpoint, match, comparison.

    Example: foldwise verify runs/small
    """
    from foldwise.matches.folder_check import check_folder

    found = check_folder(request.directory)
    result = VerifyResult(
        kind=" and ".join(found.kinds),
        files=len(found.files),
        bytes=found.num_bytes,
        ok=not found.problems,
        problems=found.problems,
    )

    def show() -> None:
        for problem in found.problems:
            stdout.print(problem, soft_wrap=True)
        state = "whole" if result["ok"] else f"{len(found.problems)} problems"
        stdout.print(f"{result['kind']}: {result['files']} files, {result['bytes']:,} bytes, {state}")

    emit(result, request.as_json, show)
    return 0 if result["ok"] else 1
