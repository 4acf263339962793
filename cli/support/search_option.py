"""`--search`: the short way to put a search in front of a player's post-processing."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.agent.player_spec import PlayerSpec

SearchOption = Annotated[
    str, typer.Option("--search", help="off, or solve turn and river while playing: fast, normal or deep.")
]


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

    if mode == "off":
        return spec
    if spec.kind != PlayerKind.STRATEGY:
        raise DefinitionError(f"--search {mode}: player {str(spec)!r} is not a strategy")
    return replace(spec, postprocess=with_search(spec.postprocess, mode))
