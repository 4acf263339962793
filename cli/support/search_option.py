"""`--search`: the short way to put a search in front of a player's post-processing."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.agent.player_spec import PlayerSpec

SearchOption = Annotated[
    str, typer.Option("--search", help="off, or solve turn and river while playing: fast, normal or deep.")
]

AUTO = "auto"
# For players at a table, where search wins more (docs/search.md).
SeatSearchOption = Annotated[
    str,
    typer.Option(
        "--search",
        help="Solve turn and river while playing: off, fast, normal or deep; auto is fast in no-limit hold'em, else off.",
    ),
]


def seat_mode(mode: str, folder: Path, postprocess: str) -> str:
    """What `auto` comes to for a strategy; a search that is named in its post-processing stands."""
    from foldwise.abstraction.strategy import Strategy
    from foldwise.game.definition import parse_definition
    from foldwise.search.language import is_search
    from foldwise.search.modes import MODES
    from foldwise.search.settings import OFF, seat_search

    if mode not in (AUTO, OFF, *MODES):
        raise DefinitionError(f"--search {mode!r}: expected {AUTO}, {OFF}, {', '.join(MODES)}")
    if mode != AUTO:
        return mode
    definition = Strategy(folder).manifest.definition
    if is_search(postprocess) or definition is None:
        return "off"
    return seat_search(mode, parse_definition(definition, source=str(folder)))


def with_search(postprocess: str, mode: str) -> str:
    """The post-processing text with the option's search in front of it."""
    from foldwise.search.language import is_search
    from foldwise.search.modes import MODES

    if mode == "off":
        return postprocess
    if mode not in MODES:
        raise DefinitionError(f"--search {mode!r}: expected off, {', '.join(MODES)}")
    if is_search(postprocess):
        raise DefinitionError(f"--search {mode} together with {postprocess!r}: give one of them")
    return f"search({mode})" if postprocess.strip() in ("", "none") else f"search({mode}) | {postprocess}"


def searching(spec: "PlayerSpec", mode: str) -> "PlayerSpec":
    """The player with the option's search, unless it is off."""
    from foldwise.agent.player_spec import PlayerKind

    if spec.kind == PlayerKind.STRATEGY:
        mode = seat_mode(mode, spec.folder, spec.postprocess)
    if mode in ("off", AUTO):
        return spec
    if spec.kind != PlayerKind.STRATEGY:
        raise DefinitionError(f"--search {mode}: player {str(spec)!r} is not a strategy")
    return replace(spec, postprocess=with_search(spec.postprocess, mode))
