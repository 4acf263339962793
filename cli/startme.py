"""`foldwise startme`: the script that competitions call."""

import shlex
import sys
from dataclasses import dataclass
from typing import Annotated, TypedDict

import typer

from foldwise.cli.options import JsonOption, PlayedArgument, SeedOption
from foldwise.cli.support.output import emit, stdout


@dataclass(frozen=True, kw_only=True)
class StartmeRequest:
    directory: PlayedArgument
    postprocess: Annotated[str | None, typer.Option(help="Post-processing to play with, as in new(0.2).")] = None
    seed: SeedOption = 0
    as_json: JsonOption = False


class StartmeResult(TypedDict):
    script: str


def startme(request: StartmeRequest) -> None:
    """Write startme.sh beside a strategy: `startme.sh HOST PORT` is what competition scripts call.

    The script searches as `foldwise play` does by default; champion's own search goes into it.

    Example: foldwise startme runs/small --postprocess "new(0.2)"

    Example: foldwise startme champion
    """
    from foldwise.agent.postprocessing.python_rules import resolve_rules
    from foldwise.agent.strategy_player import OpenStrategy
    from foldwise.cli.support.search_option import played_steps
    from foldwise.cli.support.strategies import strategy_folder
    from foldwise.search.language import parse_steps

    folder = strategy_folder(request.directory)
    OpenStrategy(folder)
    steps = parse_steps(resolve_rules(played_steps(request.directory, request.postprocess, None) or "none"))
    options = ["--postprocess", str(steps), "--seed", str(request.seed)]
    script = folder / "startme.sh"
    script.write_text(
        "#!/bin/sh\n"
        "# Plays this strategy at an ACPC dealer: startme.sh HOST PORT\n"
        # -P: do not import modules from the folder the dealer runs in.
        'folder=$(cd "$(dirname "$0")" && pwd)\n'
        f'exec {shlex.quote(sys.executable)} -P -m foldwise.cli.main play "$folder" "$1" "$2" {shlex.join(options)}\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    emit(StartmeResult(script=str(script)), request.as_json, lambda: stdout.print(f"written to {script}"))
